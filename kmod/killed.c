// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hears of programs that are killed, see killed.h. What is copied at once goes
 * to one of a few slots, whose memory is there before; the work item has
 * snapshots made of them. Leaves to killed_code.c what a program has in memory,
 * to killed_quota.c whether there is room, to killed_snapshot.c what a snapshot
 * looks like.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <asm/cpufeature.h>
#include <asm/ptrace.h>
#include <asm/tsc.h>

#include "arm.h"
#include "buffer.h"
#include "crash_pages.h"
#include "killed.h"
#include "killed_code.h"
#include "killed_quota.h"
#include "killed_snapshot.h"
#include "limits.h"
#include "memory.h"
#include "probe.h"
#include "refuse.h"
#include "session.h"
#include "sideband.h"
#include "snapshot.h"
#include "trace.h"

/* Programs that may wait for the work item. */
#define SLOTS		4U

/**
 * enum slot_state - what a slot has
 * @FREE: nothing
 * @FILLING: the thread that is killed is at it
 * @FULL: the work item is to take it
 */
enum slot_state {
	FREE,
	FILLING,
	FULL,
};

/**
 * struct slot - a program that was killed
 * @state: enum slot_state
 * @killed: it
 */
struct slot {
	atomic_t state;
	struct kipt_killed killed;
};

/* Guards who listens, and all memory. */
static DEFINE_MUTEX(users_lock);
static u32 users;
static struct slot slots[SLOTS];
static struct kprobe probe;
static bool probe_set;

static void make_snapshots(struct work_struct *work);
static DECLARE_WORK(snapshots_work, make_snapshots);

static void queue_snapshots(struct irq_work *work)
{
	queue_work(system_unbound_wq, &snapshots_work);
}

static struct irq_work snapshots_irq_work = IRQ_WORK_INIT(queue_snapshots);

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
	const struct pt_regs *regs = task_pt_regs(current);

	memset(signal, 0, sizeof(*signal));
	signal->tsc = rdtsc();
	signal->ip = regs->ip;
	signal->sp = regs->sp;
	signal->is_32bit = !user_64bit_mode((struct pt_regs *)regs);
	signal->address = address_of(info);
	fill_cr3(signal);
	signal->tid = current->pid;
	signal->pid = current->tgid;
	signal->uid = __kuid_val(current_uid());
	signal->signal = info->si_signo;
	signal->code = info->si_code;
	memcpy(signal->comm, current->comm, sizeof(signal->comm));
}

/* Interrupts are off, the trace is paused. Return: false if there is none. */
static bool copy_trace(struct kipt_killed *killed, struct kipt_trace *trace, u64 ip)
{
	struct kipt_crash_cpu *cpu = killed->cpu;
	struct kipt_crash_stop *stop = &cpu->stop;

	lockdep_assert_irqs_disabled();
	kipt_crash_pages_copy_local(trace, ip, cpu);
	if (stop->state != KIPT_CRASH_STOPPED)
		return false;
	stop->tail = max(stop->tail,
			 stop->head - min(stop->head, killed->size));
	kipt_buffer_copy(trace->buffer, stop->tail, stop->head, killed->trace,
			 killed->size);
	return true;
}

static bool is_wanted(const struct kipt_trace *trace)
{
	return trace && trace->crash && READ_ONCE(trace->running) &&
	       trace->session->flags & KIPT_SESSION_FLAGS_USER;
}

/* Return: false if this CPU's trace is nothing to be kept. */
static bool take_trace(struct slot *slot)
{
	struct kipt_trace *trace;
	unsigned long flags;
	bool got = false;

	local_irq_save(flags);
	trace = kipt_trace_here();
	if (is_wanted(trace) && kipt_trace_pause_local(trace)) {
		got = copy_trace(&slot->killed, trace,
				 slot->killed.signal.ip);
		kipt_trace_go_on_local(trace);
	}
	local_irq_restore(flags);
	return got;
}

static struct slot *find_slot(enum slot_state from, enum slot_state to)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		if (atomic_cmpxchg(&slots[i].state, from, to) == (int)from)
			return &slots[i];
	return NULL;
}

static void set_state(struct slot *slot, enum slot_state state)
{
	/* Pairs with atomic_cmpxchg() in find_slot(). */
	atomic_set_release(&slot->state, state);
}

static void free_slot(struct slot *slot)
{
	kipt_killed_code_drop(&slot->killed.code);
	kipt_killed_quota_give(slot->killed.place);
	slot->killed.place = 0;
	set_state(slot, FREE);
}

/* The trace first, so that it is of the kernel no more than can be helped. */
static void fill_slot(struct slot *slot, const struct kernel_siginfo *info)
{
	fill_signal(&slot->killed.signal, info);
	if (!take_trace(slot)) {
		free_slot(slot);
		return;
	}
	kipt_killed_code_find(&slot->killed.code, slot->killed.signal.ip);
	slot->killed.signal.maps_lost = slot->killed.code.maps_lost;
	slot->killed.signal.code_lost = slot->killed.code.code_lost;
	slot->killed.time = ktime_get_real_ns();
	set_state(slot, FULL);
	irq_work_queue(&snapshots_irq_work);
}

/* Of a process whose threads are killed together the first one counts. */
static void on_crash(const struct kernel_siginfo *info)
{
	struct slot *slot;
	u32 place;

	if (!is_wanted(kipt_trace_here()) ||
	    READ_ONCE(current->signal->flags) & SIGNAL_GROUP_EXIT)
		return;
	place = kipt_killed_quota_take();
	if (!place)
		return;
	slot = find_slot(FREE, FILLING);
	if (slot) {
		slot->killed.place = place;
		fill_slot(slot, info);
		return;
	}
	kipt_killed_quota_give(place);
	pr_notice_ratelimited("process %d was killed, and is not kept: too many are at once\n",
			      current->tgid);
}

static bool is_crash(int number)
{
	return number == SIGSEGV || number == SIGABRT || number == SIGILL ||
	       number == SIGBUS || number == SIGFPE;
}

/* vfs_coredump(info): no handler, no tracer and nobody else keeps it alive. */
static int kipt_killed_on_coredump(struct kprobe *kprobe, struct pt_regs *regs)
{
	const struct kernel_siginfo *info = (void *)regs->di;

	if (is_crash(info->si_signo) && current->mm &&
	    !(current->flags & PF_KTHREAD))
		on_crash(info);
	return 0;
}

static void keep(struct kipt_killed *killed)
{
	const struct kipt_crash_signal *signal = &killed->signal;
	struct kipt_snapshot *snapshot = kipt_killed_snapshot(killed);
	u32 id;

	if (snapshot) {
		id = kipt_snapshot_add(snapshot);
		pr_notice("process %u of user %u was killed by signal %u: 'kipt crash show %u' shows how it came there\n",
			  signal->pid, signal->uid, signal->signal, id);
	} else {
		pr_notice_ratelimited("process %u of user %u was killed by signal %u, and is not kept: there is no memory for it\n",
				      signal->pid, signal->uid, signal->signal);
	}
}

static void make_snapshots(struct work_struct *work)
{
	struct slot *slot;

	while ((slot = find_slot(FULL, FILLING))) {
		keep(&slot->killed);
		free_slot(slot);
	}
}

static int alloc_slot(struct kipt_killed *killed)
{
	killed->size = kipt_limits()->user_snapshot_trace;
	killed->cpu = kipt_memory_alloc(PAGE_SIZE);
	killed->trace = kipt_memory_alloc(killed->size);
	if (!killed->cpu || !killed->trace)
		return -ENOMEM;
	return kipt_killed_code_create(&killed->code,
				       kipt_limits()->user_snapshot_code >>
				       PAGE_SHIFT);
}

static void free_slots(void)
{
	struct kipt_killed *killed;
	u32 i;

	for (i = 0; i < SLOTS; i++) {
		killed = &slots[i].killed;
		kipt_killed_code_destroy(&killed->code);
		kipt_memory_free(killed->trace, killed->size);
		kipt_memory_free(killed->cpu, PAGE_SIZE);
		memset(&slots[i], 0, sizeof(slots[i]));
	}
}

static int alloc_slots(struct netlink_ext_ack *extack)
{
	u64 each = kipt_limits()->user_snapshot_trace;
	u32 i;

	for (i = 0; i < SLOTS; i++) {
		if (!alloc_slot(&slots[i].killed))
			continue;
		free_slots();
		return kipt_memory_refuse(extack, "what programs leave that are killed",
					  SLOTS * each);
	}
	return 0;
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

int kipt_killed_get(struct netlink_ext_ack *extack)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!users)
		err = alloc_slots(extack);
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
		irq_work_sync(&snapshots_irq_work);
		flush_work(&snapshots_work);
		free_slots();
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
