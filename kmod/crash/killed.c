// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hears of programs that are killed, see killed.h. Walks the mappings of the task: one that
 * has pages of the process's own, which a debugger, a uprobe or the process itself has written
 * to, is listed in parts: what ran there is in no file. Leaves to killed_quota.c whether there
 * is room, to snapshot.c the memory, who reads it and what is logged.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/elf.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/kdev_t.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mutex.h>
#include <linux/page-flags.h>
#include <linux/pagemap.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <asm/cpufeature.h>
#include <asm/ptrace.h>
#include <asm/tsc.h>

#include "../lib/compat.h"
#include "../trace/config.h"
#include "killed.h"
#include "../shared/killed_quota.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "../lib/probe.h"
#include "../lib/refuse.h"
#include "../watch/resident.h"
#include "../watch/sideband.h"
#include "snapshot_slot.h"
#include "../trace/trace.h"

/* Mappings, and pages that may have been written to, that are looked at. */
#define VMAS_MAX	4096U
#define LOOKS_MAX	4096U
#define NOTE_BUILD_ID	3
/* For a path and for the first page of a file. */
#define SCRATCH_BYTES	(2 * PAGE_SIZE)
/* Linkers write a few into a file. */
#define NOTES_MOST	64U
#define MAPS_HERE	((PAGE_SIZE - sizeof(struct kipt_crash_maps)) /	\
			 sizeof(struct kipt_crash_map))
#define MAPS		(KIPT_KILLED_MAP_PAGES * MAPS_HERE)

static_assert(sizeof(struct kipt_crash_map) == 256);

/* Guards who listens, and memory. */
static DEFINE_MUTEX(users_lock);
static u32 users;
/* SCRATCH_BYTES bytes for each place. */
static u8 *scratch;
static struct kprobe probe;
static bool probe_set;

/* Guards who gets which place; each is a slot of snapshot.c. */
static DEFINE_RAW_SPINLOCK(places_lock);
static struct kipt_killed_place places[KIPT_SNAPSHOTS_MAX];

/* A page table's own half is the second page where the kernel has another. */
static void fill_cr3(struct kipt_crash_signal *signal)
{
	signal->cr3 = kipt_sideband_space(__read_cr3());
	signal->cr3_user = signal->cr3;
	if (boot_cpu_has(X86_FEATURE_PTI))
		signal->cr3_user |= PAGE_SIZE;
}

/* Who was sent a signal by somebody has no address. */
static u64 address_of(const struct kernel_siginfo *info)
{
	bool fault = info->si_code > 0 && info->si_code != SI_KERNEL;

	return fault && info->si_signo != SIGABRT ?
	       (unsigned long)info->si_addr : 0;
}

static void fill_signal(struct kipt_crash_signal *signal,
			const struct kernel_siginfo *info)
{
	struct pt_regs *regs = task_pt_regs(current);

	signal->page.version = KIPT_CRASH_VERSION;
	signal->page.kind = KIPT_CRASH_SIGNAL;
	signal->page.size = sizeof(*signal);
	signal->tsc = rdtsc();
	signal->ip = regs->ip;
	signal->sp = regs->sp;
	signal->is_32bit = !user_64bit_mode(regs);
	signal->address = address_of(info);
	fill_cr3(signal);
	signal->tid = current->pid;
	signal->pid = current->tgid;
	signal->uid = __kuid_val(current_uid());
	signal->signal = info->si_signo;
	signal->code = info->si_code;
	memcpy(signal->comm, current->comm, sizeof(signal->comm));
}

static bool is_wanted(const struct kipt_trace *trace)
{
	return trace && trace->crash && READ_ONCE(trace->running) &&
	       trace->group->config.flags & KIPT_SESSION_FLAGS_USER;
}

/* Return: false if this CPU's trace is nothing to be kept. */
static bool take_trace(struct kipt_snapshot *snapshot, u64 ip)
{
	struct kipt_trace *trace;
	unsigned long flags;
	bool got = false;

	local_irq_save(flags);
	trace = kipt_trace_here();
	if (is_wanted(trace))
		got = kipt_snapshot_killed_copy(snapshot, trace, ip);
	local_irq_restore(flags);
	return got;
}

static void fill_event(struct kipt_snapshot *snapshot, const struct kipt_crash_signal *signal)
{
	snapshot->dump.event = (struct kipt_crash_event){
		.hook = KIPT_CRASH_HOOK_SIGNAL,
		.cpu = smp_processor_id(),
		.tsc = signal->tsc,
		.ip = signal->ip,
		.trap = ~0,
	};
	snapshot->killed = (struct kipt_snapshot_killed){
		.signal = signal->signal,
		.process = signal->pid,
		.uid = signal->uid,
	};
}

/**
 * struct walk - a walk over the mappings
 * @signal: what is filled
 * @killed: where the file of @signal->ip is noted
 * @scratch: SCRATCH_BYTES bytes
 * @count: mappings that were listed
 * @looks: pages that were looked at
 * @map: what the parts of the current mapping share
 */
struct walk {
	struct kipt_crash_signal *signal;
	struct kipt_snapshot_killed *killed;
	u8 *scratch;
	u32 count;
	u32 looks;
	struct kipt_crash_map map;
};

/* Return: bytes of the build id that [@at, @at + @size) of a file's head has. @budget: how many
 * notes may still be looked at: preemption is off.
 */
static u32 read_notes(const u8 *head, u64 at, u64 size, u32 *budget, u8 *id)
{
	u64 end = PAGE_SIZE, name, desc;
	const Elf64_Nhdr *note;

	if (at < end && size < end - at)
		end = at + size;
	while (at < end && sizeof(*note) <= end - at && *budget) {
		(*budget)--;
		note = (const void *)(head + at);
		name = at + sizeof(*note);
		desc = name + ALIGN((u64)note->n_namesz, 4);
		if (note->n_type == NOTE_BUILD_ID && note->n_namesz == 4 &&
		    note->n_descsz && note->n_descsz <= KIPT_CRASH_ID_BYTES &&
		    desc + note->n_descsz <= end &&
		    !memcmp(head + name, "GNU", 4)) {
			memcpy(id, head + desc, note->n_descsz);
			return note->n_descsz;
		}
		at = desc + ALIGN((u64)note->n_descsz, 4);
	}
	return 0;
}

/* Nothing in @head, the first page of a file, is believed. */
static u32 read_build_id(const u8 *head, u8 *id)
{
	bool is_32bit = head[EI_CLASS] == ELFCLASS32;
	const Elf32_Ehdr *elf_32 = (const void *)head;
	const Elf64_Ehdr *elf = (const void *)head;
	u64 at = is_32bit ? elf_32->e_phoff : elf->e_phoff;
	u32 count = is_32bit ? elf_32->e_phnum : elf->e_phnum, i, found = 0;
	u32 budget = NOTES_MOST;
	u64 size = is_32bit ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);

	if (memcmp(head, ELFMAG, SELFMAG))
		return 0;
	for (i = 0; i < count && at <= PAGE_SIZE - size && !found; i++) {
		const Elf32_Phdr *part_32 = (const void *)(head + at);
		const Elf64_Phdr *part = (const void *)(head + at);

		at += size;
		if (part->p_type != PT_NOTE)
			continue;
		found = is_32bit ?
			read_notes(head, part_32->p_offset, part_32->p_filesz,
				   &budget, id) :
			read_notes(head, part->p_offset, part->p_filesz, &budget, id);
	}
	return found;
}

/* Who reads memory that is broken dies; of a huge page its head says. */
static bool read_page(struct page *page, u8 *to)
{
	return PageUptodate(page) && !PageHWPoison(page) &&
	       !PageHWPoison(compound_head(page)) &&
	       kipt_resident_copy(page, to);
}

static void take_file(struct walk *walk, const struct file *file)
{
	const struct inode *inode = file_inode(file);
	struct page *page = find_get_page(file->f_mapping, 0);
	u8 *head = walk->scratch + PAGE_SIZE;
	struct kipt_crash_map *map = &walk->map;

	map->inode = inode->i_ino;
	map->dev = new_encode_dev(inode->i_sb->s_dev);
	if (!page)
		return;
	if (read_page(page, head))
		map->build_id_bytes = read_build_id(head, map->build_id);
	put_page(page);
}

/* The end of a long path says more than its begin. */
static void take_path(struct kipt_crash_map *map, const char *path)
{
	size_t len = strlen(path), room = sizeof(map->path) - 1;

	if (len <= room)
		memcpy(map->path, path, len);
	else
		snprintf(map->path, sizeof(map->path), "...%s",
			 path + len - (room - 3));
}

static void begin_map(struct walk *walk, const struct vm_area_struct *vma)
{
	const char *path = NULL;

	memset(&walk->map, 0, sizeof(walk->map));
	if (vma->vm_file) {
		take_file(walk, vma->vm_file);
		path = kipt_compat_user_path(vma->vm_file, walk->scratch, PAGE_SIZE);
	} else if (vma->vm_start == (unsigned long)vma->vm_mm->context.vdso) {
		path = "[vdso]";
	}
	if (!IS_ERR_OR_NULL(path))
		take_path(&walk->map, path);
}

static void add_part(struct walk *walk, const struct vm_area_struct *vma,
		     u64 start, u64 end, bool changed)
{
	struct kipt_crash_maps *page;
	struct kipt_crash_map *map;

	if (start == end)
		return;
	if (walk->count == MAPS) {
		walk->signal->maps_lost++;
		return;
	}
	/* The page of kind SIGNAL is before them. */
	page = (void *)walk->signal + (walk->count / MAPS_HERE + 1) * PAGE_SIZE;
	page->page.version = KIPT_CRASH_VERSION;
	page->page.kind = KIPT_CRASH_MAPS;
	page->page.number = walk->count++ / MAPS_HERE;
	map = &page->maps[page->nr_here++];
	page->page.size = struct_size(page, maps, page->nr_here);
	*map = walk->map;
	map->start = start;
	map->end = end;
	map->changed = changed;
	if (vma->vm_file)
		map->offset = ((u64)vma->vm_pgoff << PAGE_SHIFT) + start -
			      vma->vm_start;
	if (walk->signal->ip < start || walk->signal->ip >= end)
		return;
	memcpy(walk->killed->file, map->path, sizeof(map->path));
	walk->killed->file_offset = walk->signal->ip - start + map->offset;
}

/* Return: for @span bytes; true if too many were looked at already. */
static bool is_changed(struct walk *walk, const struct vm_area_struct *vma,
		       u64 addr, unsigned long *span)
{
	struct page *page;
	bool changed;

	*span = vma->vm_end - addr;
	if (walk->looks == LOOKS_MAX)
		return true;
	walk->looks++;
	page = kipt_resident_get(vma->vm_mm, addr, span);
	changed = page && PageAnon(page);
	if (page)
		put_page(page);
	return changed;
}

/* What ran just before is in memory: a page that is not there is the file's. */
static void add_map(struct walk *walk, const struct vm_area_struct *vma)
{
	u64 begin = vma->vm_start, addr = begin;
	unsigned long span;
	bool changed = false, here;

	if (walk->count == MAPS) {
		walk->signal->maps_lost++;
		return;
	}
	begin_map(walk, vma);
	if (!vma->vm_file || !vma->anon_vma ||
	    vma->vm_flags & (VM_IO | VM_PFNMAP)) {
		add_part(walk, vma, begin, vma->vm_end, false);
		return;
	}
	for (; addr < vma->vm_end; addr += span) {
		here = is_changed(walk, vma, addr, &span);
		if (here == changed)
			continue;
		add_part(walk, vma, begin, addr, changed);
		begin = addr;
		changed = here;
	}
	add_part(walk, vma, begin, vma->vm_end, changed);
}

/* That of the instruction first, if it is known. */
static void add_all(struct walk *walk, u64 ip)
{
	VMA_ITERATOR(vmi, current->mm, 0);
	struct vm_area_struct *vma, *here;
	u32 count = 0;

	here = find_vma(current->mm, ip);
	if (here && here->vm_start <= ip && here->vm_flags & VM_EXEC)
		add_map(walk, here);
	else
		here = NULL;
	for_each_vma(vmi, vma) {
		if (count++ == VMAS_MAX) {
			walk->signal->maps_lost +=
				current->mm->map_count - VMAS_MAX;
			return;
		}
		if (vma != here && vma->vm_flags & VM_EXEC)
			add_map(walk, vma);
	}
}

/*
 * Write down the mappings of the running task into the pages after @signal, all of them zero;
 * @signal->ip says which comes first. Never faults and waits for nobody: where another thread
 * is changing the mappings for long, nothing is found.
 */
static void fill_maps(struct kipt_crash_signal *signal, struct kipt_snapshot_killed *killed,
		      u8 *scratch)
{
	struct walk walk = { .signal = signal, .killed = killed, .scratch = scratch };

	if (!kipt_resident_try_lock(current->mm)) {
		signal->maps_lost = ~0;
		return;
	}
	add_all(&walk, signal->ip);
	mmap_read_unlock(current->mm);
}

/* The trace first, so that it is of the kernel no more than can be helped. */
static bool fill(struct kipt_snapshot *snapshot, u32 place,
		 const struct kernel_siginfo *info)
{
	struct kipt_crash_signal *signal = (void *)kipt_area_logs(kipt_slot_killed_area(snapshot));

	memset(signal, 0, (1 + KIPT_KILLED_MAP_PAGES) * PAGE_SIZE);
	fill_signal(signal, info);
	if (!take_trace(snapshot, signal->ip))
		return false;
	fill_event(snapshot, signal);
	fill_maps(signal, &snapshot->killed, scratch + place * SCRATCH_BYTES);
	return true;
}

/* A program that finds no room costs a look. */
static struct kipt_snapshot *take_place(u32 *number)
{
	struct kipt_killed_place wish = {
		.owner = kipt_killed_owner(current_cred()),
		.pid = current->tgid,
		.born = current->group_leader->start_boottime,
	};
	u32 count = kipt_limits()->user_snapshots_all, i;
	struct kipt_snapshot *snapshot = NULL;
	unsigned long flags;
	int found;

	raw_spin_lock_irqsave(&places_lock, flags);
	for (i = 0; i < count; i++)
		places[i].state = atomic_read(&kipt_slots[kipt_nr_slots + i].state);
	found = kipt_killed_choose(places, count, kipt_limits()->user_snapshots,
				   &wish);
	if (found != -EEXIST)
		snapshot = kipt_snapshot_killed_take(found);
	if (snapshot) {
		*number = found;
		places[found] = wish;
		places[found].id = snapshot->dump.id;
	}
	raw_spin_unlock_irqrestore(&places_lock, flags);
	return snapshot;
}

static bool is_crash(int number)
{
	return number == SIGSEGV || number == SIGABRT || number == SIGILL ||
	       number == SIGBUS || number == SIGFPE;
}

/*
 * vfs_coredump(info): no handler, no tracer and nobody else keeps it alive. Of a
 * process whose threads are killed together the first one counts. Who may not
 * leave a core dump leaves nothing here.
 */
static int kipt_killed_on_coredump(struct kprobe *kprobe, struct pt_regs *regs)
{
	const struct kernel_siginfo *info = (void *)regs->di;
	struct kipt_snapshot *snapshot;
	u32 place;

	if (!is_crash(info->si_signo) || !current->mm ||
	    current->flags & PF_KTHREAD || !kipt_compat_may_dump() ||
	    !is_wanted(kipt_trace_here()) ||
	    READ_ONCE(current->signal->flags) & SIGNAL_GROUP_EXIT ||
	    !kipt_limits()->user_snapshots)
		return 0;
	snapshot = take_place(&place);
	if (snapshot)
		kipt_snapshot_killed_end(snapshot, fill(snapshot, place, info));
	return 0;
}

static void free_memory(void)
{
	kipt_memory_free(scratch, kipt_limits()->user_snapshots_all * SCRATCH_BYTES);
	scratch = NULL;
	kipt_snapshot_killed_withdraw();
}

static int make_memory(struct kipt_refusal *refusal)
{
	u64 each = kipt_limits()->user_snapshot_trace + SCRATCH_BYTES +
		   (2 + KIPT_KILLED_MAP_PAGES) * PAGE_SIZE;
	u64 count = kipt_limits()->user_snapshots_all;

	if (!count)
		return 0;
	scratch = kipt_memory_alloc(count * SCRATCH_BYTES);
	if (scratch && !kipt_snapshot_killed_prepare())
		return 0;
	free_memory();
	return kipt_memory_refuse(refusal, "programs that are killed",
				  count * each);
}

/* What writes core dumps got its new name in 6.17. */
static void set_probe(void)
{
	static const char *const symbols[] = { "vfs_coredump", "do_coredump" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(symbols) && !probe_set; i++) {
		probe = (struct kprobe){
			.symbol_name = symbols[i],
			.pre_handler = kipt_killed_on_coredump,
		};
		probe_set = !register_kprobe(&probe);
	}
	if (!probe_set)
		pr_warn("this kernel's core dumps cannot be probed: programs that are killed are not kept\n");
}

int kipt_killed_get(struct kipt_refusal *refusal)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!users)
		err = make_memory(refusal);
	if (!err && !users)
		set_probe();
	if (!err)
		WRITE_ONCE(users, users + 1);
	mutex_unlock(&users_lock);
	return err;
}

/* No thread is in the probe when it is gone. */
void kipt_killed_put(void)
{
	mutex_lock(&users_lock);
	WRITE_ONCE(users, users - 1);
	if (!users) {
		if (probe_set)
			unregister_kprobe(&probe);
		probe_set = false;
		free_memory();
	}
	mutex_unlock(&users_lock);
}

bool kipt_killed_fires(char *why, size_t size)
{
	strscpy(why, "", size);
	/* A session that is being armed has none yet. */
	if (!READ_ONCE(users))
		return true;
	if (!READ_ONCE(probe_set))
		strscpy(why, "programs that are killed are not seen: core dumps could not be probed",
			size);
	else if (!kipt_probe_is_armed(&probe))
		strscpy(why, KIPT_PROBES_OFF, size);
	return !why[0];
}
