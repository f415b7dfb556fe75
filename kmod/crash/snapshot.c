// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the ends of traces at events that the machine survived, see snapshot.h.
 * Leaves to crash_hooks.c what an event is, to trace.c how a CPU pauses, to
 * crash_pages.c what a page looks like, to snapshot_read.c how they are read.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>

#include "../trace/buffer.h"
#include "crash_pages.h"
#include "../trace/dump_page.h"
#include "excerpt.h"
#include "../hw/nmi_claim.h"
#include "snapshot_slot.h"
#include "../shared/snapshot_logs.h"
#include "../shared/tsc_age.h"
#include "../trace/trace.h"

/* A reader waits so long for CPUs that were asked and have not copied yet. */
#define WAIT_US		100
#define WAITS		1000
/* A snapshot is not replaced sooner. */
#define APART_MS	1000ULL
/* Something that the machine dies of so soon after is taken for its cause. */
#define RELATED_MS	10000ULL
/* And this, of the same thread. */
#define RELATED_TASK_MS	60000ULL

static atomic_t last_id = ATOMIC_INIT(0);
/* Events since the last snapshot of which nothing is kept. */
static atomic_t missed = ATOMIC_INIT(0);
static atomic_t killed_missed = ATOMIC_INIT(0);
/* Slots that this CPU is to copy into; and where an NMI met it. */
static DEFINE_PER_CPU(atomic64_t, asked);
static DEFINE_PER_CPU(u64, met);
/* That of a program that was killed, and where it was. */
static DEFINE_PER_CPU(struct kipt_area *, killed_asked);
static DEFINE_PER_CPU(u64, killed_ip);

static void announce_all(struct irq_work *work);
static struct irq_work announce_work = IRQ_WORK_INIT(announce_all);
static void announce_late(struct work_struct *work);
static DECLARE_DELAYED_WORK(late_work, announce_late);
static void call_listener(struct work_struct *work);
static DECLARE_WORK(listener_work, call_listener);
static void (*listener)(u32 id);
static atomic_t newest_announced = ATOMIC_INIT(0);

void kipt_snapshot_miss(void)
{
	if (atomic_read(&kipt_slots_armed))
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
	struct kipt_crash_cpu *cpu = kipt_area_cpu(area);
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
	kipt_snapshot_logs_copy(kipt_area_logs(area), area->dump.trace, area->logs,
				stop->tsc);
	kipt_crash_pages_mark(&kipt_area_logs(area)->page);
}

static void copy_into(struct kipt_slot *slot, struct kipt_area *area,
		      struct kipt_trace *trace, u64 ip)
{
	int state;
	u32 id;

	if (!area || !kipt_area_lock(area))
		return;
	/* Pairs with the release of who fills the slot: its number is whole. */
	state = atomic_read_acquire(&slot->state);
	id = READ_ONCE(slot->snapshot.dump.id);
	if (state == KIPT_SLOT_FILLING || state == KIPT_SLOT_FULL) {
		WRITE_ONCE(area->dump.id, 0);
		fill_area(area, trace, ip);
		WRITE_ONCE(area->dump.id, id);
	}
	kipt_area_unlock(area);
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
	for (i = 0; i < kipt_nr_slots; i++)
		if (bits & BIT_ULL(i))
			copy_into(&kipt_slots[i], trace->areas[i], trace, ip);
}

static struct kipt_slot *newest_of_all(void)
{
	struct kipt_slot *found = NULL;
	u32 i;

	for (i = 0; i < kipt_nr_slots; i++)
		if (atomic_read(&kipt_slots[i].state) != KIPT_SLOT_FREE &&
		    (!found || (s32)(READ_ONCE(kipt_slots[i].snapshot.dump.id) -
				     READ_ONCE(found->snapshot.dump.id)) > 0))
			found = &kipt_slots[i];
	return found;
}

/* Return: NULL also while somebody has the newest one, or fills any. */
static struct kipt_slot *find_newest(void)
{
	struct kipt_slot *found = newest_of_all();
	u32 i;

	for (i = 0; i < kipt_nr_slots; i++)
		if (atomic_read(&kipt_slots[i].state) == KIPT_SLOT_FILLING)
			return NULL;
	return found && atomic_read(&found->state) == KIPT_SLOT_FULL ? found : NULL;
}

/*
 * A free one, or else that of the newest event: the first ones stay. That one may be
 * replaced when it is a second old, so that no storm of events keeps CPUs copying; of
 * events at the same moment, when there is no room, the first one is kept.
 */
static struct kipt_slot *take_slot(u64 tsc)
{
	struct kipt_slot *slot;
	u32 i, id;

	for (i = 0; i < kipt_nr_slots; i++)
		if (atomic_cmpxchg(&kipt_slots[i].state, KIPT_SLOT_FREE, KIPT_SLOT_FILLING) == KIPT_SLOT_FREE)
			return &kipt_slots[i];
	slot = find_newest();
	if (!slot)
		return NULL;
	id = READ_ONCE(slot->snapshot.dump.id);
	/* The number before the age: who replaces the event changes the number. */
	smp_rmb();
	if (kipt_tsc_is_near(tsc, slot->snapshot.dump.event.tsc, APART_MS * tsc_khz) ||
	    atomic_cmpxchg(&slot->state, KIPT_SLOT_FULL, KIPT_SLOT_FILLING) != KIPT_SLOT_FULL)
		return NULL;
	if (READ_ONCE(slot->snapshot.dump.id) != id) {
		/* Another CPU has just put its event here. */
		atomic_set_release(&slot->state, KIPT_SLOT_FULL);
		irq_work_queue(&announce_work);
		return NULL;
	}
	/* It counts for itself, and for those that it counted for. */
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
	struct kipt_slot *slot;

	if (!atomic_read(&kipt_slots_armed))
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
	WRITE_ONCE(slot->pid, current->pid);
	/* Pairs with smp_rmb() in is_oops_of_mine(). */
	smp_wmb();
	/* Hooks on other CPUs may read it at this moment. */
	data_race(dump->event = *event);
	WRITE_ONCE(dump->id, atomic_inc_return(&last_id));
	dump->event.asked = ask_all(slot - kipt_slots);
	this_cpu_write(met, ip);
	if (trace)
		kipt_trace_copy_local(trace);
	/* Pairs with atomic_read_acquire() in copy_into(), and with who reads. */
	atomic_set_release(&slot->state, KIPT_SLOT_FULL);
	irq_work_queue(&announce_work);
}

/*
 * Another CPU may be filling the slot for its own thread. It writes whose it is first:
 * if that is this thread, after the event was read, the event is this thread's, too.
 */
static bool is_oops_of_mine(const struct kipt_slot *slot)
{
	/* Of another thread, perhaps. */
	u64 tsc = data_race(slot->snapshot.dump.event.tsc);
	/* The same. */
	u32 hook = data_race(slot->snapshot.dump.event.hook);

	/* Pairs with smp_wmb() in kipt_snapshot_take(). */
	smp_rmb();
	return READ_ONCE(slot->pid) == current->pid &&
	       rdtsc() - tsc < RELATED_MS * tsc_khz &&
	       (hook == KIPT_CRASH_HOOK_OOPS || hook == KIPT_CRASH_HOOK_DIE);
}

/* Of an oops of this thread that is under way. */
static struct kipt_slot *find_mine(void)
{
	u32 i;

	for (i = 0; i < kipt_nr_slots; i++)
		if (atomic_read(&kipt_slots[i].state) != KIPT_SLOT_FREE &&
		    is_oops_of_mine(&kipt_slots[i]))
			return &kipt_slots[i];
	return NULL;
}

void kipt_snapshot_fault(u64 ip, u32 trap)
{
	struct kipt_slot *slot = find_mine();
	struct kipt_crash_event *event;

	if (!slot || atomic_cmpxchg(&slot->state, KIPT_SLOT_FULL, KIPT_SLOT_FILLING) != KIPT_SLOT_FULL)
		return;
	event = &slot->snapshot.dump.event;
	if (!event->faulted) {
		event->ip = ip;
		event->trap = trap;
		event->faulted = 1;
	}
	atomic_set_release(&slot->state, KIPT_SLOT_FULL);
	/* announce_all() may have passed over the slot while it was KIPT_SLOT_FILLING. */
	irq_work_queue(&announce_work);
}

bool kipt_snapshot_is_whole(const struct kipt_slot *slot)
{
	/* Another CPU may replace the event meanwhile; it is announced then. */
	struct kipt_crash_event event = data_race(slot->snapshot.dump.event);

	return event.hook != KIPT_CRASH_HOOK_OOPS || event.ip || event.faulted ||
	       !kipt_tsc_is_near(rdtsc(), event.tsc, RELATED_MS * tsc_khz);
}

static bool is_related(const struct kipt_crash_event *death, const struct kipt_slot *slot)
{
	/* Each CPU's idle thread has number 0. */
	bool same_task = READ_ONCE(slot->pid) == current->pid && current->pid;
	/* An event may be filling the slot just now. */
	u64 tsc = data_race(slot->snapshot.dump.event.tsc);

	return kipt_tsc_follows(death->tsc, tsc,
				(same_task ? RELATED_TASK_MS : RELATED_MS) * tsc_khz,
				KIPT_TSC_SKEW_MS * tsc_khz);
}

u32 kipt_snapshot_before(const struct kipt_crash_event *death,
			 struct kipt_crash_event *event,
			 struct kipt_excerpt_source *source)
{
	const struct kipt_slot *slot = newest_of_all();
	const struct kipt_area *area;
	const struct kipt_trace *trace;

	/* Should an event be filling the slot, its area is of another number. */
	if (!slot || !is_related(death, slot))
		return 0;
	trace = kipt_trace_of(slot->snapshot.dump.event.cpu);
	area = trace && trace->areas ? trace->areas[slot - kipt_slots] : NULL;
	if (!area || area->dump.id != slot->snapshot.dump.id)
		return 0;
	*event = slot->snapshot.dump.event;
	*source = (struct kipt_excerpt_source){
		.trace = trace,
		.stop = &kipt_area_cpu(area)->stop,
		.bytes = area->data + PAGE_SIZE,
		.size = area->dump.trace,
	};
	return slot->snapshot.dump.id;
}

static DEFINE_RATELIMIT_STATE(killed_lines, DEFAULT_RATELIMIT_INTERVAL, 32);

static void announce_event(u32 id)
{
	pr_notice_ratelimited("the traces before this are kept: see 'kipt crash show %u', or /var/lib/kipt if kipt-collect runs\n",
			      id);
	atomic_set(&newest_announced, id);
	schedule_work(&listener_work);
}

static void announce_killed(const struct kipt_slot *slot, u32 id)
{
	const struct kipt_snapshot_killed *killed = &slot->snapshot.killed;

	/* Any user may have programs crash, in a loop. */
	if (!__ratelimit(&killed_lines))
		return;
	pr_notice("process %u of user %u was killed by signal %u: 'kipt crash show %u' shows how it came there%s\n",
		  killed->process, killed->uid, killed->signal, id,
		  slot->replaced ? ", until the next one is: there is no room for more" : "");
}

/* An interrupt, or a moment after an event in one. */
static void announce_all(struct irq_work *work)
{
	struct kipt_slot *slot;
	u32 id;

	for (slot = kipt_slots; slot < kipt_slots + kipt_nr_slots_all; slot++) {
		/* Another CPU may replace it meanwhile, and queues this again. */
		id = READ_ONCE(slot->snapshot.dump.id);
		if (atomic_read_acquire(&slot->state) != KIPT_SLOT_FULL || slot->logged_id == id)
			continue;
		if (!kipt_snapshot_is_whole(slot)) {
			/* Should the kernel never say where it faulted. */
			if (READ_ONCE(listener))
				schedule_delayed_work(&late_work, msecs_to_jiffies(RELATED_MS));
			continue;
		}
		slot->logged_id = id;
		if (kipt_slot_is_killed(slot))
			announce_killed(slot, id);
		else
			announce_event(id);
	}
}

static void announce_late(struct work_struct *work)
{
	irq_work_queue(&announce_work);
}

static void call_listener(struct work_struct *work)
{
	void (*kept)(u32 id) = READ_ONCE(listener);

	if (kept)
		kept(atomic_read(&newest_announced));
}

void kipt_snapshot_listen(void (*kept)(u32 id))
{
	WRITE_ONCE(listener, kept);
	if (kept)
		return;
	irq_work_sync(&announce_work);
	cancel_delayed_work_sync(&late_work);
	/* announce_late() may have queued it once more. */
	irq_work_sync(&announce_work);
	cancel_work_sync(&listener_work);
}

void kipt_snapshot_announce(void)
{
	irq_work_queue(&announce_work);
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
void kipt_snapshot_wait(void)
{
	u32 waits = 0;

	while (is_anybody_asked() && ++waits < WAITS)
		usleep_range(WAIT_US, 2 * WAIT_US);
}

struct kipt_snapshot *kipt_snapshot_killed_take(int number)
{
	struct kipt_slot *slot = &kipt_slots[kipt_nr_slots + max(number, 0)];
	struct kipt_crash_slot *dump = &slot->snapshot.dump;
	int state = number < 0 ? KIPT_SLOT_READING : atomic_read(&slot->state);

	if ((state != KIPT_SLOT_FREE && state != KIPT_SLOT_FULL) ||
	    atomic_cmpxchg(&slot->state, state, KIPT_SLOT_FILLING) != state) {
		atomic_inc(&killed_missed);
		return NULL;
	}
	/* It counts for itself, and for those that it counted for. */
	if (state == KIPT_SLOT_FULL)
		atomic_add(dump->missed + 1, &killed_missed);
	WRITE_ONCE(dump->id, atomic_inc_return(&last_id));
	dump->missed = atomic_xchg(&killed_missed, 0);
	dump->time = ktime_get_real_fast_ns();
	/* Of those that replace others the first one alone is logged. */
	if (state == KIPT_SLOT_FULL && slot->replaced)
		slot->logged_id = dump->id;
	slot->replaced = state == KIPT_SLOT_FULL;
	return &slot->snapshot;
}

bool kipt_snapshot_killed_copy(struct kipt_snapshot *snapshot,
			       struct kipt_trace *trace, u64 ip)
{
	struct kipt_area *area = kipt_slot_killed_area(snapshot);
	struct kipt_crash_stop *stop = &kipt_area_cpu(area)->stop;

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

void kipt_snapshot_killed_end(struct kipt_snapshot *snapshot, bool keep)
{
	struct kipt_slot *slot = kipt_slot_of(snapshot);

	if (!keep)
		atomic_add(snapshot->dump.missed + 1, &killed_missed);
	/* Pairs with atomic_read_acquire() in lowest_above(). */
	atomic_set_release(&slot->state, keep ? KIPT_SLOT_FULL : KIPT_SLOT_FREE);
	if (keep)
		irq_work_queue(&announce_work);
}

void kipt_snapshot_uninit(void)
{
	kipt_snapshot_listen(NULL);
	kipt_slots_free();
}
