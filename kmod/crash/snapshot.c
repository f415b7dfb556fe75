// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the ends of traces of events that the machine survived, see snapshot.h.
 * Leaves to crash_hooks.c what an event is, to trace.c how a CPU pauses, to
 * crash_pages.c what a page looks like, to snapshot_message.c who reads them.
 *
 * A slot is one event; an area is what one CPU copied of it. Whoever meets an
 * event takes a slot and sets the slot's bit for each armed CPU. A CPU that
 * copies has the area to itself, and so has a reader, so that neither sees half
 * of what the other does; none of them waits for the other but for a moment.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>

#include "../trace/buffer.h"
#include "crash_pages.h"
#include "../trace/dump_page.h"
#include "excerpt.h"
#include "killed_maps.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "../hw/nmi_claim.h"
#include "snapshot.h"
#include "../shared/snapshot_logs.h"
#include "../trace/trace.h"

/* A reader waits so long for CPUs that were asked and have not copied yet. */
#define WAIT_US		100
#define WAITS		1000
/* To read a slot that events may be replacing. */
#define TRIES		8U
/* A snapshot is not replaced sooner. */
#define APART_MS	1000ULL
/* An area that a CPU copies into is waited for so long. */
#define BUSY_US		10
#define BUSY_LOOKS	100
/* Something that the machine dies of so soon after is taken for its cause. */
#define RELATED_MS	10000ULL
/* And this, of the same thread. */
#define RELATED_TASK_MS	60000ULL

/**
 * enum slot_state - what a slot has
 * @FREE: nothing
 * @FILLING: an event that is being written down
 * @FULL: an event; CPUs may still be copying
 * @READING: the same, and nobody else changes it
 */
enum slot_state {
	FREE,
	FILLING,
	FULL,
	READING,
};

/**
 * struct kipt_area - what one CPU copies of one event
 * @dump: whose it is, how large, and of which snapshot its bytes are; a dump is told
 *	the same
 * @node: in the slot's list
 * @logs: what a dump is told of the CPU beside its trace
 * @orphan: the session is gone; what is here is kept
 * @busy: the CPU copies, or somebody reads
 * @read: it is the reader who made it busy
 * @data: a page of kind CPU, the trace, a page of kind LOGS, switches
 */
struct kipt_area {
	struct kipt_crash_area dump;
	struct list_head node;
	const struct kipt_crash_logs *logs;
	bool orphan;
	atomic_t busy;
	bool read;
	u8 *data;
};

/**
 * struct slot - one event
 * @snapshot: what a reader is told; its @dump, where a dump finds it, is written by
 *	who has the slot FILLING, the rest under list_lock
 * @state: enum slot_state
 * @task: who met it
 * @pid: its number, as another may be at that address later
 * @areas: of all CPUs that may copy, under list_lock
 * @header: a page of kind HEADER, of a slot that is READING
 * @readers: references, under list_lock
 * @deleted: it is FREE when the last reference is gone
 * @told_id: that snapshot is in the log; tell_all() alone writes it
 * @replaced: of a program that was killed: it is not the first one here
 */
struct slot {
	struct kipt_snapshot snapshot;
	atomic_t state;
	struct task_struct *task;
	pid_t pid;
	struct list_head areas;
	struct kipt_crash_header *header;
	u32 readers;
	bool deleted;
	u32 told_id;
	bool replaced;
};

static_assert(offsetof(struct slot, snapshot.dump) == 0);

/* Guards the list, and who reads. Ranks below every lock of a session. */
static DEFINE_MUTEX(list_lock);
/*
 * The first nr_slots are of events. The others are of programs that were killed; each of
 * those has one area, whatever CPU it is of.
 */
static struct slot *slots;
static u32 nr_slots, nr_all;
static atomic_t last_id = ATOMIC_INIT(0);
/* Events since the last snapshot of which nothing is kept. */
static atomic_t missed = ATOMIC_INIT(0);
static atomic_t killed_missed = ATOMIC_INIT(0);
/* CPUs of armed sessions. */
static atomic_t armed = ATOMIC_INIT(0);

/* Slots that this CPU is to copy into; and where an NMI met it. */
static DEFINE_PER_CPU(atomic64_t, asked);
static DEFINE_PER_CPU(u64, met);
/* That of a program that was killed, and where it was. */
static DEFINE_PER_CPU(struct kipt_area *, killed_asked);
static DEFINE_PER_CPU(u64, killed_ip);

static void tell_all(struct irq_work *work);
static struct irq_work tell_work = IRQ_WORK_INIT(tell_all);
static void tell_listener(struct work_struct *work);
static DECLARE_WORK(listener_work, tell_listener);
static void (*listener)(u32 id);
static atomic_t newest_told = ATOMIC_INIT(0);

static struct slot *slot_of(const struct kipt_snapshot *snapshot)
{
	return container_of(snapshot, struct slot, snapshot);
}

static bool is_killed(const struct slot *slot)
{
	return slot >= slots + nr_slots;
}

/* Whole pages: byte n of the trace stands at n modulo this. */
static size_t trace_bytes(u64 ring)
{
	return min_t(u64, ring, kipt_limits()->snapshot_trace) & PAGE_MASK;
}

static size_t area_bytes(u64 ring)
{
	size_t trace = trace_bytes(ring);

	return PAGE_SIZE + trace + kipt_snapshot_logs_size(trace);
}

u64 kipt_snapshot_bytes(u64 ring)
{
	return (u64)kipt_limits()->snapshots * area_bytes(ring);
}

static struct kipt_crash_cpu *cpu_page(const struct kipt_area *area)
{
	return (void *)area->data;
}

static struct kipt_crash_logs *logs_page(const struct kipt_area *area)
{
	return (void *)(area->data + PAGE_SIZE + area->dump.trace);
}

static bool lock_area(struct kipt_area *area)
{
	return !atomic_cmpxchg(&area->busy, 0, 1);
}

static void unlock_area(struct kipt_area *area)
{
	atomic_set_release(&area->busy, 0);
}

/* The same list for who reads a dump. */
static void link_areas(struct slot *slot)
{
	u64 *link = &slot->snapshot.dump.areas;
	struct kipt_area *area;

	list_for_each_entry(area, &slot->areas, node) {
		WRITE_ONCE(*link, (unsigned long)&area->dump);
		link = &area->dump.next;
	}
	WRITE_ONCE(*link, 0);
}

static void free_area(struct slot *slot, struct kipt_area *area)
{
	list_del(&area->node);
	link_areas(slot);
	kipt_memory_free(area->data, area->dump.size);
	kfree(area);
}

static bool has_bytes_of(const struct kipt_area *area, const struct slot *slot)
{
	return area->dump.id && area->dump.id == slot->snapshot.dump.id &&
	       atomic_read(&slot->state) != FREE;
}

/* Memory of sessions that are gone, in a slot that has another event since. */
static void drop_orphans(struct slot *slot)
{
	struct kipt_area *area, *next;

	lockdep_assert_held(&list_lock);
	list_for_each_entry_safe(area, next, &slot->areas, node)
		if (area->orphan && !has_bytes_of(area, slot) &&
		    !atomic_read(&area->busy))
			free_area(slot, area);
}

/* The trace that it has room for is @trace bytes. */
static struct kipt_area *add_area(struct slot *slot, size_t trace, size_t size)
{
	struct kipt_area *area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);

	if (!area)
		return NULL;
	area->data = kipt_memory_alloc(size);
	if (!area->data) {
		kfree(area);
		return NULL;
	}
	area->dump = (struct kipt_crash_area){
		.data = (unsigned long)area->data,
		.size = size,
		.trace = trace,
	};
	mutex_lock(&list_lock);
	drop_orphans(slot);
	list_add_tail(&area->node, &slot->areas);
	link_areas(slot);
	mutex_unlock(&list_lock);
	return area;
}

static struct kipt_area *make_area(struct slot *slot,
				   const struct kipt_trace *trace)
{
	u64 ring = trace->buffer->size;
	struct kipt_area *area = add_area(slot, trace_bytes(ring),
					  area_bytes(ring));

	if (!area)
		return NULL;
	area->dump.cpu = trace->cpu;
	area->logs = kipt_crash_pages_logs(trace->crash);
	return area;
}

int kipt_snapshot_prepare(struct kipt_trace *trace)
{
	struct kipt_area **areas;
	u32 i;

	areas = kcalloc(max(nr_slots, 1U), sizeof(*areas), GFP_KERNEL_ACCOUNT);
	if (!areas)
		return -ENOMEM;
	trace->areas = areas;
	for (i = 0; i < nr_slots; i++) {
		areas[i] = make_area(&slots[i], trace);
		if (!areas[i])
			return -ENOMEM;
	}
	atomic_inc(&armed);
	trace->snapshots = true;
	return 0;
}

void kipt_snapshot_withdraw(struct kipt_trace *trace)
{
	struct kipt_area *area;
	u32 i;

	if (!trace->areas)
		return;
	if (trace->snapshots)
		atomic_dec(&armed);
	trace->snapshots = false;
	mutex_lock(&list_lock);
	for (i = 0; i < nr_slots; i++) {
		area = trace->areas[i];
		if (!area)
			continue;
		area->orphan = true;
		area->logs = NULL;
		drop_orphans(&slots[i]);
	}
	mutex_unlock(&list_lock);
	kfree(trace->areas);
	trace->areas = NULL;
}

void kipt_snapshot_miss(void)
{
	if (atomic_read(&armed))
		atomic_inc(&missed);
}

void kipt_snapshot_forget_local(void)
{
	atomic64_set(this_cpu_ptr(&asked), 0);
}

void kipt_snapshot_nmi_local(struct kipt_trace *trace, u64 ip)
{
	if (!atomic64_read(this_cpu_ptr(&asked)) && !this_cpu_read(killed_asked))
		return;
	if (!trace) {
		kipt_snapshot_forget_local();
		return;
	}
	this_cpu_write(met, ip);
	kipt_trace_copy_local(trace);
}

/* The area is this CPU's. */
static void fill_area(struct kipt_area *area, struct kipt_trace *trace, u64 ip)
{
	struct kipt_crash_cpu *cpu = cpu_page(area);
	struct kipt_crash_stop *stop = &cpu->stop;

	kipt_dump_copy_local(trace, ip, cpu);
	kipt_crash_pages_mark(&cpu->page);
	if (stop->state != KIPT_CRASH_STOPPED)
		return;
	stop->tail = max(stop->tail,
			 stop->head - min_t(u64, stop->head, area->dump.trace));
	kipt_buffer_copy(trace->buffer, stop->tail, stop->head,
			 area->data + PAGE_SIZE);
	/* Of a ring that just holds it. */
	stop->head -= stop->tail;
	if (stop->tail)
		stop->head += area->dump.trace;
	stop->tail = stop->tail ? area->dump.trace : 0;
	if (!area->logs)
		return;
	kipt_snapshot_logs_copy(logs_page(area), area->dump.trace, area->logs,
				stop->tsc);
	kipt_crash_pages_mark(&logs_page(area)->page);
}

static void copy_into(struct slot *slot, struct kipt_area *area,
		      struct kipt_trace *trace, u64 ip)
{
	int state;
	u32 id;

	if (!area || !lock_area(area))
		return;
	/* Pairs with the release of who fills the slot: its number is whole. */
	state = atomic_read_acquire(&slot->state);
	id = READ_ONCE(slot->snapshot.dump.id);
	if (state == FILLING || state == FULL) {
		WRITE_ONCE(area->dump.id, 0);
		fill_area(area, trace, ip);
		WRITE_ONCE(area->dump.id, id);
	}
	unlock_area(area);
}

void kipt_snapshot_copy_local(struct kipt_trace *trace)
{
	u64 bits = atomic64_xchg(this_cpu_ptr(&asked), 0);
	struct kipt_area *killed = this_cpu_xchg(killed_asked, NULL);
	u64 ip = this_cpu_xchg(met, 0);
	u32 i;

	if (!trace->areas || trace->state == KIPT_TRACE_OFF)
		return;
	if (killed)
		fill_area(killed, trace, this_cpu_read(killed_ip));
	for (i = 0; i < nr_slots; i++)
		if (bits & BIT_ULL(i))
			copy_into(&slots[i], trace->areas[i], trace, ip);
}

static struct slot *newest_of_all(void)
{
	struct slot *found = NULL;
	u32 i;

	for (i = 0; i < nr_slots; i++)
		if (atomic_read(&slots[i].state) != FREE &&
		    (!found || (s32)(READ_ONCE(slots[i].snapshot.dump.id) -
				     READ_ONCE(found->snapshot.dump.id)) > 0))
			found = &slots[i];
	return found;
}

/* Return: NULL also while somebody has the newest one, or fills any. */
static struct slot *find_newest(void)
{
	struct slot *found = newest_of_all();
	u32 i;

	for (i = 0; i < nr_slots; i++)
		if (atomic_read(&slots[i].state) == FILLING)
			return NULL;
	return found && atomic_read(&found->state) == FULL ? found : NULL;
}

/*
 * A free one, or else that of the newest event: the first ones stay. That one may be
 * replaced when it is a second old, so that no storm of events keeps CPUs copying; of
 * events at the same moment, when there is no room, the first one is kept.
 */
static struct slot *take_slot(u64 tsc)
{
	struct slot *slot;
	u32 i, id;

	for (i = 0; i < nr_slots; i++)
		if (atomic_cmpxchg(&slots[i].state, FREE, FILLING) == FREE)
			return &slots[i];
	slot = find_newest();
	if (!slot)
		return NULL;
	id = READ_ONCE(slot->snapshot.dump.id);
	/* The number before the age: who replaces the event changes the number. */
	smp_rmb();
	if ((s64)(tsc - slot->snapshot.dump.event.tsc) <
		    (s64)(APART_MS * tsc_khz) ||
	    atomic_cmpxchg(&slot->state, FULL, FILLING) != FULL)
		return NULL;
	if (READ_ONCE(slot->snapshot.dump.id) != id) {
		/* Another CPU has just put its event here. */
		atomic_set_release(&slot->state, FULL);
		irq_work_queue(&tell_work);
		return NULL;
	}
	/* It stands for itself, and for those that it stood for. */
	atomic_add(slot->snapshot.dump.missed + 1, &missed);
	return slot;
}

static bool copies(const struct kipt_trace *trace)
{
	return trace && trace->areas && READ_ONCE(trace->running);
}

/* Armed sessions may be stopped, and the machine be on its way to sleep. */
static bool is_any_running(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (copies(kipt_trace_of(cpu)))
			return true;
	return false;
}

/* Return: how many other CPUs were sent an NMI. */
static u32 ask_all(u32 number)
{
	unsigned int cpu, here = smp_processor_id();
	u32 count = 0;

	for_each_online_cpu(cpu) {
		if (!copies(kipt_trace_of(cpu)))
			continue;
		atomic64_fetch_or(BIT_ULL(number), per_cpu_ptr(&asked, cpu));
		kipt_trace_want_copy(cpu);
		if (cpu == here)
			continue;
		kipt_nmi_send(cpu);
		count++;
	}
	return count;
}

void kipt_snapshot_take(const struct kipt_crash_event *event, u64 ip)
{
	struct kipt_trace *trace = kipt_trace_here();
	struct kipt_crash_slot *dump;
	struct slot *slot;

	if (!atomic_read(&armed))
		return;
	slot = is_any_running() ? take_slot(event->tsc) : NULL;
	if (!slot) {
		atomic_inc(&missed);
		return;
	}
	dump = &slot->snapshot.dump;
	WRITE_ONCE(dump->id, 0);
	dump->missed = atomic_xchg(&missed, 0);
	dump->time = ktime_get_real_fast_ns();
	WRITE_ONCE(slot->task, current);
	WRITE_ONCE(slot->pid, current->pid);
	/* Pairs with smp_rmb() in is_oops_of_mine(). */
	smp_wmb();
	/* Hooks on other CPUs may read it at this moment. */
	data_race(dump->event = *event);
	WRITE_ONCE(dump->id, atomic_inc_return(&last_id));
	dump->event.asked = ask_all(slot - slots);
	this_cpu_write(met, ip);
	if (trace)
		kipt_trace_copy_local(trace);
	/* Pairs with atomic_read_acquire() in copy_into(), and with who reads. */
	atomic_set_release(&slot->state, FULL);
	irq_work_queue(&tell_work);
}

/*
 * Another CPU may be filling the slot for its own thread. It writes whose it is first:
 * if that is this thread, after the event was read, the event is this thread's, too.
 */
static bool is_oops_of_mine(const struct slot *slot)
{
	/* Of another thread, perhaps. */
	u64 tsc = data_race(slot->snapshot.dump.event.tsc);
	/* The same. */
	u32 hook = data_race(slot->snapshot.dump.event.hook);

	/* Pairs with smp_wmb() in kipt_snapshot_take(). */
	smp_rmb();
	return READ_ONCE(slot->task) == current &&
	       READ_ONCE(slot->pid) == current->pid &&
	       rdtsc() - tsc < RELATED_MS * tsc_khz &&
	       (hook == KIPT_CRASH_HOOK_OOPS || hook == KIPT_CRASH_HOOK_DIE);
}

/* Of an oops of this thread that is under way. */
static struct slot *find_mine(void)
{
	u32 i;

	for (i = 0; i < nr_slots; i++)
		if (atomic_read(&slots[i].state) != FREE &&
		    is_oops_of_mine(&slots[i]))
			return &slots[i];
	return NULL;
}

void kipt_snapshot_fault(u64 ip, u32 trap)
{
	struct slot *slot = find_mine();
	struct kipt_crash_event *event;

	if (!slot || atomic_cmpxchg(&slot->state, FULL, FILLING) != FULL)
		return;
	event = &slot->snapshot.dump.event;
	if (!event->faulted) {
		event->ip = ip;
		event->trap = trap;
		event->faulted = 1;
	}
	atomic_set_release(&slot->state, FULL);
	/* tell_all() may have passed over the slot while it was FILLING. */
	irq_work_queue(&tell_work);
}

u32 kipt_snapshot_before(const struct kipt_crash_event *death,
			 struct kipt_crash_event *event,
			 struct kipt_excerpt_source *source)
{
	const struct slot *slot = newest_of_all();
	const struct kipt_area *area;
	const struct kipt_trace *trace;

	/* Should an event be filling the slot just now, its area is of another number. */
	if (!slot || (s64)(death->tsc - data_race(slot->snapshot.dump.event.tsc)) >
		     (s64)((READ_ONCE(slot->task) == current && current->pid ?
			    RELATED_TASK_MS : RELATED_MS) * tsc_khz))
		return 0;
	trace = kipt_trace_of(slot->snapshot.dump.event.cpu);
	area = trace && trace->areas ? trace->areas[slot - slots] : NULL;
	if (!area || area->dump.id != slot->snapshot.dump.id)
		return 0;
	*event = slot->snapshot.dump.event;
	*source = (struct kipt_excerpt_source){
		.trace = trace,
		.stop = &cpu_page(area)->stop,
		.bytes = area->data + PAGE_SIZE,
		.size = area->dump.trace,
	};
	return slot->snapshot.dump.id;
}

static void tell_event(u32 id)
{
	pr_notice_ratelimited("the traces before this are kept: 'kipt crash show %u' shows them\n",
			      id);
	atomic_set(&newest_told, id);
	schedule_work(&listener_work);
}

static void tell_killed(const struct slot *slot, u32 id)
{
	const struct kipt_snapshot_killed *killed = &slot->snapshot.killed;

	pr_notice("process %u of user %u was killed by signal %u: 'kipt crash show %u' shows how it came there%s\n",
		  killed->process, killed->uid, killed->signal, id,
		  slot->replaced ? ", until the next one is: there is no room for more" : "");
}

/* An interrupt, or a moment after an event in one. */
static void tell_all(struct irq_work *work)
{
	struct slot *slot;
	u32 id;

	for (slot = slots; slot < slots + nr_all; slot++) {
		/* Another CPU may replace it meanwhile, and queues this again. */
		id = READ_ONCE(slot->snapshot.dump.id);
		if (atomic_read(&slot->state) != FULL || slot->told_id == id)
			continue;
		slot->told_id = id;
		if (is_killed(slot))
			tell_killed(slot, id);
		else
			tell_event(id);
	}
}

static void tell_listener(struct work_struct *work)
{
	void (*kept)(u32 id) = READ_ONCE(listener);

	if (kept)
		kept(atomic_read(&newest_told));
}

void kipt_snapshot_listen(void (*kept)(u32 id))
{
	WRITE_ONCE(listener, kept);
	if (kept)
		return;
	irq_work_sync(&tell_work);
	cancel_work_sync(&listener_work);
}

static bool is_anybody_asked(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (kipt_trace_of(cpu) &&
		    atomic64_read(per_cpu_ptr(&asked, cpu)))
			return true;
	return false;
}

/* A CPU that a hypervisor does not run is not waited for. */
static void wait_for_copies(void)
{
	u32 waits = 0;

	while (is_anybody_asked() && ++waits < WAITS)
		usleep_range(WAIT_US, 2 * WAIT_US);
}

/* The addresses of an area that begins at an offset of its snapshot. */
static void place_cpu(struct kipt_area *area, u64 at, u64 next, u64 more)
{
	struct kipt_crash_cpu *cpu = cpu_page(area);

	cpu->page.next = next;
	cpu->page.more = more;
	cpu->page.size = struct_size(cpu, regions, 1);
	cpu->size = area->dump.trace;
	cpu->nr_regions = 1;
	cpu->nr_here = 1;
	cpu->regions[0].address = at + PAGE_SIZE;
	cpu->regions[0].size = area->dump.trace;
	kipt_crash_pages_hide(&cpu->page);
}

static void place_area(struct kipt_area *area, u64 at, u64 next)
{
	struct kipt_crash_logs *logs = logs_page(area);
	u64 logs_at = at + PAGE_SIZE + area->dump.trace;

	place_cpu(area, at, next, logs_at);
	logs->switches.entries = logs_at + PAGE_SIZE;
	logs->switches.written = logs_at + sizeof(*logs);
	kipt_crash_pages_hide(&logs->page);
}

/* What is behind the trace is linked already, by offsets in the snapshot. */
static void place_killed(struct kipt_area *area)
{
	u64 begin = kipt_snapshot_killed_at(), at = begin, i;
	struct kipt_crash_page *page;

	place_cpu(area, PAGE_SIZE, begin, 0);
	for (i = 0; at && i <= KIPT_KILLED_MAP_PAGES; i++) {
		page = (void *)(area->data + (at - PAGE_SIZE));
		page->id = cpu_page(area)->page.id;
		kipt_crash_pages_hide(page);
		at = page->more;
	}
}

static void place_areas(struct slot *slot)
{
	struct kipt_snapshot *snapshot = &slot->snapshot;
	u64 at = PAGE_SIZE, left = snapshot->cpus;
	struct kipt_area *area;

	list_for_each_entry(area, &slot->areas, node) {
		if (!area->read)
			continue;
		left--;
		if (is_killed(slot))
			place_killed(area);
		else
			place_area(area, at, left ? at + area->dump.size : 0);
		at += area->dump.size;
		if (area->dump.cpu != snapshot->dump.event.cpu)
			continue;
		snapshot->pid = cpu_page(area)->stop.pid;
		memcpy(snapshot->comm, cpu_page(area)->stop.comm,
		       sizeof(snapshot->comm));
		snapshot->comm[sizeof(snapshot->comm) - 1] = 0;
	}
	snapshot->size = at;
}

/* The slot is READING: each area that is not being copied into is ours. */
static void take_areas(struct slot *slot)
{
	struct kipt_snapshot *snapshot = &slot->snapshot;
	struct kipt_area *area;
	u32 cpus = 0, looks;
	bool locked;

	list_for_each_entry(area, &slot->areas, node) {
		locked = lock_area(area);
		for (looks = 0; !locked && looks < BUSY_LOOKS; looks++) {
			udelay(BUSY_US);
			locked = lock_area(area);
		}
		if (!locked)
			continue;
		area->read = has_bytes_of(area, slot) &&
			     cpu_page(area)->stop.state == KIPT_CRASH_STOPPED;
		if (area->read)
			cpus++;
		else
			unlock_area(area);
	}
	snapshot->cpus = cpus;
	snapshot->dump.event.answered = min(cpus, snapshot->dump.event.asked);
}

static bool begin_reading(struct slot *slot)
{
	struct kipt_snapshot *snapshot = &slot->snapshot;
	struct kipt_crash_header *header = slot->header;

	lockdep_assert_held(&list_lock);
	if (slot->readers++)
		return true;
	if (atomic_cmpxchg(&slot->state, FULL, READING) != FULL) {
		slot->readers--;
		return false;
	}
	snapshot->pid = 0;
	memset(snapshot->comm, 0, sizeof(snapshot->comm));
	take_areas(slot);
	place_areas(slot);
	kipt_crash_pages_header(header);
	header->page.next = snapshot->cpus ? PAGE_SIZE : 0;
	header->nr_cpus = snapshot->cpus;
	header->event = snapshot->dump.event;
	kipt_crash_pages_seal_event(&header->event);
	kipt_crash_pages_hide(&header->page);
	return true;
}

static void end_reading(struct slot *slot)
{
	struct kipt_area *area;

	lockdep_assert_held(&list_lock);
	if (--slot->readers)
		return;
	list_for_each_entry(area, &slot->areas, node) {
		if (!area->read)
			continue;
		area->read = false;
		unlock_area(area);
	}
	if (slot->deleted)
		WRITE_ONCE(slot->snapshot.dump.id, 0);
	atomic_set_release(&slot->state, slot->deleted ? FREE : FULL);
	slot->deleted = false;
	/* tell_all() may have passed over the slot while it was READING. */
	if (READ_ONCE(slot->told_id) != slot->snapshot.dump.id)
		irq_work_queue(&tell_work);
	drop_orphans(slot);
}

/* What of [@offset, @offset + @len) is in a part of a snapshot that begins at @begin. */
static void read_part(u8 *to, u64 offset, u64 len, const u8 *part, u64 begin,
		      u64 size)
{
	u64 first = max(offset, begin), end = min(offset + len, begin + size);

	if (first < end)
		memcpy(to + (first - offset), part + (first - begin),
		       end - first);
}

void kipt_snapshot_read(const struct kipt_snapshot *snapshot, u64 offset,
			u8 *to, u64 len)
{
	const struct slot *slot = slot_of(snapshot);
	const struct kipt_area *area;
	u64 begin = PAGE_SIZE;

	mutex_lock(&list_lock);
	read_part(to, offset, len, (u8 *)slot->header, 0, PAGE_SIZE);
	list_for_each_entry(area, &slot->areas, node) {
		if (!area->read)
			continue;
		read_part(to, offset, len, area->data, begin, area->dump.size);
		begin += area->dump.size;
	}
	mutex_unlock(&list_lock);
}

/* Whole pages, as those of an area. */
static size_t killed_trace(void)
{
	return kipt_limits()->user_snapshot_trace & PAGE_MASK;
}

u64 kipt_snapshot_killed_at(void)
{
	return 2 * PAGE_SIZE + killed_trace();
}

/* That of a slot for a program, which exists from prepare to withdraw. */
static struct kipt_area *killed_area(const struct kipt_snapshot *snapshot)
{
	return list_first_entry_or_null(&slot_of(snapshot)->areas,
					struct kipt_area, node);
}

/* What is kept since the last session has memory, which is as good as new. */
static bool adopt_area(struct slot *slot)
{
	struct kipt_area *area;

	mutex_lock(&list_lock);
	area = killed_area(&slot->snapshot);
	if (area)
		area->orphan = false;
	mutex_unlock(&list_lock);
	return area;
}

int kipt_snapshot_killed_prepare(void)
{
	size_t trace = killed_trace();
	size_t size = (2 + KIPT_KILLED_MAP_PAGES) * PAGE_SIZE + trace;
	u32 i;

	for (i = nr_slots; i < nr_all; i++)
		if (!adopt_area(&slots[i]) &&
		    !add_area(&slots[i], trace, size))
			return -ENOMEM;
	return 0;
}

void kipt_snapshot_killed_withdraw(void)
{
	struct kipt_area *area;
	u32 i;

	mutex_lock(&list_lock);
	for (i = nr_slots; i < nr_all; i++) {
		area = killed_area(&slots[i].snapshot);
		if (!area)
			continue;
		area->orphan = true;
		drop_orphans(&slots[i]);
	}
	mutex_unlock(&list_lock);
}

enum kipt_killed_state kipt_snapshot_killed_state(u32 number)
{
	int state = atomic_read(&slots[nr_slots + number].state);

	if (state == FREE)
		return KIPT_KILLED_FREE;
	return state == FULL ? KIPT_KILLED_KEPT : KIPT_KILLED_BUSY;
}

struct kipt_snapshot *kipt_snapshot_killed_take(int number)
{
	struct slot *slot = &slots[nr_slots + max(number, 0)];
	struct kipt_crash_slot *dump = &slot->snapshot.dump;
	int state = number < 0 ? READING : atomic_read(&slot->state);

	if ((state != FREE && state != FULL) ||
	    atomic_cmpxchg(&slot->state, state, FILLING) != state) {
		atomic_inc(&killed_missed);
		return NULL;
	}
	/* It stands for itself, and for those that it stood for. */
	if (state == FULL)
		atomic_add(dump->missed + 1, &killed_missed);
	WRITE_ONCE(dump->id, atomic_inc_return(&last_id));
	dump->missed = atomic_xchg(&killed_missed, 0);
	dump->time = ktime_get_real_fast_ns();
	/* Of those that replace others the log is told once. */
	if (state == FULL && slot->replaced)
		slot->told_id = dump->id;
	slot->replaced = state == FULL;
	return &slot->snapshot;
}

bool kipt_snapshot_killed_copy(struct kipt_snapshot *snapshot,
			       struct kipt_trace *trace, u64 ip)
{
	struct kipt_area *area = killed_area(snapshot);
	struct kipt_crash_stop *stop = &cpu_page(area)->stop;

	lockdep_assert_irqs_disabled();
	area->dump.cpu = trace->cpu;
	area->dump.id = snapshot->dump.id;
	stop->state = KIPT_CRASH_NOT_TRACED;
	this_cpu_write(killed_ip, ip);
	this_cpu_write(killed_asked, area);
	kipt_trace_want_copy(trace->cpu);
	/* An NMI that comes now does it just as well. */
	kipt_trace_copy_local(trace);
	this_cpu_write(killed_asked, NULL);
	return stop->state == KIPT_CRASH_STOPPED;
}

void *kipt_snapshot_killed_pages(const struct kipt_snapshot *snapshot)
{
	return logs_page(killed_area(snapshot));
}

void kipt_snapshot_killed_end(struct kipt_snapshot *snapshot, bool keep)
{
	struct slot *slot = slot_of(snapshot);

	if (!keep)
		atomic_add(snapshot->dump.missed + 1, &killed_missed);
	/* Pairs with atomic_read_acquire() in lowest_above(). */
	atomic_set_release(&slot->state, keep ? FULL : FREE);
	if (keep)
		irq_work_queue(&tell_work);
}

/* Return: that with the lowest number above @id, of those that can be read. */
static struct kipt_snapshot *lowest_above(u32 id)
{
	struct kipt_snapshot *snapshot, *found = NULL;
	int state;
	u32 i;

	lockdep_assert_held(&list_lock);
	for (i = 0; i < nr_all; i++) {
		snapshot = &slots[i].snapshot;
		state = atomic_read_acquire(&slots[i].state);
		if ((state == FULL || state == READING) && !slots[i].deleted &&
		    READ_ONCE(snapshot->dump.id) > id &&
		    (!found || snapshot->dump.id < found->dump.id))
			found = snapshot;
	}
	return found;
}

struct kipt_snapshot *kipt_snapshot_next(u32 id)
{
	struct kipt_snapshot *found;
	u32 tries = 0;

	wait_for_copies();
	mutex_lock(&list_lock);
	do {
		found = lowest_above(id);
		/* One that an event replaced just now has a higher number. */
	} while (found && !begin_reading(slot_of(found)) && ++tries < TRIES);
	mutex_unlock(&list_lock);
	return tries < TRIES ? found : NULL;
}

struct kipt_snapshot *kipt_snapshot_find(u32 id)
{
	struct kipt_snapshot *snapshot = id ? kipt_snapshot_next(id - 1) : NULL;

	if (!snapshot || snapshot->dump.id == id)
		return snapshot;
	kipt_snapshot_put(snapshot);
	return NULL;
}

void kipt_snapshot_put(struct kipt_snapshot *snapshot)
{
	mutex_lock(&list_lock);
	end_reading(slot_of(snapshot));
	mutex_unlock(&list_lock);
}

void kipt_snapshot_delete(struct kipt_snapshot *snapshot)
{
	mutex_lock(&list_lock);
	slot_of(snapshot)->deleted = true;
	mutex_unlock(&list_lock);
}

int kipt_snapshot_init(void)
{
	u32 count = kipt_limits()->snapshots + kipt_limits()->user_snapshots_all;

	slots = kcalloc(max(count, 1U), sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return -ENOMEM;
	for (; nr_all < count; nr_all++) {
		INIT_LIST_HEAD(&slots[nr_all].areas);
		slots[nr_all].header = (void *)get_zeroed_page(GFP_KERNEL);
		if (!slots[nr_all].header) {
			kipt_snapshot_uninit();
			return -ENOMEM;
		}
	}
	nr_slots = kipt_limits()->snapshots;
	kipt_crash_pages_slots(slots, nr_slots, sizeof(*slots));
	return 0;
}

void kipt_snapshot_uninit(void)
{
	struct kipt_area *area, *next;
	u32 i;

	irq_work_sync(&tell_work);
	cancel_work_sync(&listener_work);
	for (i = 0; i < nr_all; i++) {
		list_for_each_entry_safe(area, next, &slots[i].areas, node)
			free_area(&slots[i], area);
		free_page((unsigned long)slots[i].header);
	}
	kfree(slots);
}
