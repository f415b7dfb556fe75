// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hears of programs that are killed, see killed.h. Leaves to killed_quota.c whether
 * there is room, to killed_maps.c what a program has mapped, to snapshot.c the
 * memory, who reads it and what is logged.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mutex.h>
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
#include "killed_maps.h"
#include "../shared/killed_quota.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "../lib/probe.h"
#include "../lib/refuse.h"
#include "../watch/sideband.h"
#include "snapshot.h"
#include "../trace/trace.h"

/* Guards who listens, and memory. */
static DEFINE_MUTEX(users_lock);
static u32 users;
/* KIPT_KILLED_SCRATCH bytes for each place. */
static u8 *scratch;
static struct kprobe probe;
static bool probe_set;

/* Guards who gets which place; each is a slot of snapshot.c. */
static DEFINE_RAW_SPINLOCK(places_lock);
static struct kipt_killed_place places[KIPT_SNAPSHOTS_MAX];
static bool full_logged;

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

/* The mapping of the instruction is the first one, if it is known. */
static void tell_killed(struct kipt_snapshot *snapshot,
			const struct kipt_crash_signal *signal)
{
	const struct kipt_crash_maps *maps = (const void *)signal + PAGE_SIZE;
	const struct kipt_crash_map *map = maps->maps;
	struct kipt_snapshot_killed *killed = &snapshot->killed;
	u64 ip = signal->ip;

	snapshot->dump.event = (struct kipt_crash_event){
		.hook = KIPT_CRASH_HOOK_SIGNAL,
		.cpu = smp_processor_id(),
		.tsc = signal->tsc,
		.ip = ip,
		.trap = ~0,
	};
	*killed = (struct kipt_snapshot_killed){
		.signal = signal->signal,
		.process = signal->pid,
		.uid = signal->uid,
	};
	if (!maps->nr_here || ip < map->start || ip >= map->end)
		return;
	memcpy(killed->file, map->path, sizeof(map->path));
	killed->file_offset = ip - map->start + map->offset;
}

/* The trace first, so that it is of the kernel no more than can be helped. */
static bool fill(struct kipt_snapshot *snapshot, u32 place,
		 const struct kernel_siginfo *info)
{
	struct kipt_crash_signal *signal = kipt_snapshot_killed_pages(snapshot);
	u64 at = kipt_snapshot_killed_at() + PAGE_SIZE;

	memset(signal, 0, (1 + KIPT_KILLED_MAP_PAGES) * PAGE_SIZE);
	fill_signal(signal, info);
	if (!take_trace(snapshot, signal->ip))
		return false;
	kipt_killed_maps(signal, at, scratch + place * KIPT_KILLED_SCRATCH);
	tell_killed(snapshot, signal);
	return true;
}

/*
 * A program that finds no room costs a look, and the log a line until another
 * finds some.
 */
static struct kipt_snapshot *take_place(u32 *number)
{
	struct kipt_killed_place wish = {
		.owner = kipt_killed_owner(current_cred()),
		.pid = current->tgid,
		.born = current->group_leader->start_boottime,
	};
	u32 count = kipt_limits()->user_snapshots_all, i;
	struct kipt_snapshot *snapshot = NULL;
	bool log = false;
	unsigned long flags;
	int found;

	raw_spin_lock_irqsave(&places_lock, flags);
	for (i = 0; i < count; i++)
		places[i].state = kipt_snapshot_killed_state(i);
	found = kipt_killed_choose(places, count, kipt_limits()->user_snapshots,
				   &wish);
	if (found != -EEXIST)
		snapshot = kipt_snapshot_killed_take(found);
	if (snapshot) {
		*number = found;
		places[found] = wish;
		places[found].id = snapshot->dump.id;
	}
	if (snapshot || found == -ENOSPC) {
		log = !snapshot && !full_logged;
		full_logged = !snapshot;
	}
	raw_spin_unlock_irqrestore(&places_lock, flags);
	if (log)
		pr_notice_ratelimited("process %d was killed, and is not kept: there is no room, see 'kipt crash list'\n",
				      current->tgid);
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
	kipt_memory_free(scratch, kipt_limits()->user_snapshots_all *
				  KIPT_KILLED_SCRATCH);
	scratch = NULL;
	kipt_snapshot_killed_withdraw();
}

static int make_memory(struct kipt_refusal *refusal)
{
	u64 each = kipt_limits()->user_snapshot_trace + KIPT_KILLED_SCRATCH +
		   (2 + KIPT_KILLED_MAP_PAGES) * PAGE_SIZE;
	u64 count = kipt_limits()->user_snapshots_all;

	if (!count)
		return 0;
	scratch = kipt_memory_alloc(count * KIPT_KILLED_SCRATCH);
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
	if (!err && !users++)
		set_probe();
	mutex_unlock(&users_lock);
	return err;
}

/* No thread is in the probe when it is gone. */
void kipt_killed_put(void)
{
	mutex_lock(&users_lock);
	if (!--users) {
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
	if (!READ_ONCE(probe_set))
		strscpy(why, "programs that are killed are not seen: core dumps could not be probed",
			size);
	else if (!kipt_probe_is_armed(&probe))
		strscpy(why, KIPT_PROBES_OFF, size);
	return !why[0];
}
