// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listens to the scheduler. The probes run with interrupts off or preemption
 * disabled, on the CPU they are about. Leaves address spaces to
 * space_table.c, questions about the logs to switch_log.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>
#include <asm/cpufeature.h>
#include <asm/io.h>

#include "../lib/compat.h"
#include "follow.h"
#include "../hw/hw.h"
#include "../hw/hw_regs.h"
#include "images.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "sideband.h"
#include "space_table.h"

/*
 * One switch makes more trace than this, so the log outlasts the ring: two
 * threads that yield to each other were seen to make 149 bytes of kernel trace
 * a switch. Where the kernel is not traced, it is the PSB+ that marks it.
 */
#define TRACE_PER_SWITCH	64
#define TRACE_PER_MARK		32
#define LOG_MIN		256U
/* Switches of a CPU, after which it is looked for what has ended. */
#define TIDY_SWITCHES	4096U
/* How often that is looked for when nobody logs any more. */
#define TIDY_APART	(5 * HZ)
/* Processes that share an address space, each the child of the one before. */
#define SHARERS	8U

struct kipt_sideband {
	struct list_head node;
	const struct cpumask *cpus;
	bool stops;
	bool mark_switches;
	struct kipt_spaces *spaces;
	struct irq_work wake;
	struct delayed_work tidy;
	struct kipt_images *images;
	/* By number of CPU; those of @cpus have entries. */
	struct kipt_switch_log logs[];
};

/* Written on its CPU, or when that does not trace; read on it. */
static DEFINE_PER_CPU(struct kipt_sideband *, listener);

/* Guards the probes' registration. */
static DEFINE_MUTEX(probes_lock);
/* All there are: while there is any, so are the probes. Read under RCU, written with the lock. */
static LIST_HEAD(sidebands);

u64 kipt_sideband_space(u64 cr3)
{
	u64 space = cr3 & PHYSICAL_PAGE_MASK;

	/* The user half is the page after the kernel half. */
	if (boot_cpu_has(X86_FEATURE_PTI))
		space &= ~(u64)PAGE_SIZE;
	return space;
}

static bool has_user_code(const struct task_struct *task)
{
	return task->mm && !(task->flags & PF_KTHREAD);
}

static void tidy_later(struct kipt_sideband *sideband)
{
	schedule_delayed_work(&sideband->tidy, round_jiffies_relative(TIDY_APART));
}

static void tidy_work(struct work_struct *work)
{
	struct kipt_sideband *sideband =
		container_of(to_delayed_work(work), struct kipt_sideband, tidy);

	if (kipt_spaces_tidy(sideband->spaces))
		tidy_later(sideband);
}

static void wake_tidy(struct irq_work *wake)
{
	struct kipt_sideband *sideband = container_of(wake, struct kipt_sideband, wake);

	/* What waits for its next turn comes now; what is queued already is left there. */
	if (timer_pending(&sideband->tidy.timer))
		cancel_delayed_work(&sideband->tidy);
	schedule_delayed_work(&sideband->tidy, 0);
}

static u64 learn(struct kipt_sideband *sideband, struct mm_struct *mm, u32 tgid)
{
	u64 id = kipt_spaces_learn(sideband->spaces, mm, tgid);

	if (unlikely(kipt_spaces_untidy(sideband->spaces)))
		irq_work_queue(&sideband->wake);
	return id;
}

/*
 * The process whose address space a task runs in. After vfork() or posix_spawn() that is
 * the parent's, until the child executes a program.
 */
static u32 owner_of_space(const struct task_struct *task)
{
	const struct task_struct *parent;
	u32 i, tgid;

	rcu_read_lock();
	for (i = 0; i < SHARERS && task->vfork_done; i++) {
		parent = rcu_dereference(task->real_parent);
		if (parent->mm != task->mm)
			break;
		task = parent;
	}
	tgid = task->tgid;
	rcu_read_unlock();
	return tgid;
}

/*
 * The log is full, and the CPU stopped by itself: its buffer is, or TraceStop.
 * Then the oldest switches are needed and those to come are not. Reading the
 * register is an exit of a virtual machine, so only where it may say so.
 */
static bool is_over_local(const struct kipt_sideband *sideband,
			  const struct kipt_switch_log *log)
{
	return sideband->stops && log->written >= log->mask &&
	       kipt_hw_status_local() & RTIT_STATUS_STOPPED;
}

/* While others run there is no trace of user code: one entry says that. */
static bool is_worth_an_entry(struct kipt_switch_log *log, bool followed)
{
	bool same = log->others && !followed;

	log->others = !followed;
	return !same;
}

static void add_entry(struct kipt_sideband *sideband,
		      struct kipt_switch_log *log, struct task_struct *task,
		      bool followed)
{
	struct kipt_crash_switch *entry = &log->entries[log->written & log->mask];
	bool user = has_user_code(task);

	entry->tsc = rdtsc();
	entry->space = user ? kipt_spaces_name(task->mm) : 0;
	entry->id = user && followed ?
		    learn(sideband, task->mm, owner_of_space(task)) : 0;
	entry->tid = task->pid;
	entry->tgid = task->tgid;
	/* An NMI that ends the log here finds only whole entries. */
	barrier();
	WRITE_ONCE(log->written, log->written + 1);
	/* Programs that end do so between two switches. */
	if (unlikely(!(log->written % TIDY_SWITCHES)))
		irq_work_queue(&sideband->wake);
}

static void log_task(struct kipt_sideband *sideband, struct task_struct *task)
{
	struct kipt_switch_log *log = &sideband->logs[smp_processor_id()];
	bool followed = kipt_follow_has_local(task);

	lockdep_assert_irqs_disabled();
	if (is_over_local(sideband, log)) {
		kipt_sideband_end_local();
		return;
	}
	if (is_worth_an_entry(log, followed))
		add_entry(sideband, log, task, followed);
	/* After the time was taken, so that the PSB+ is not older. */
	kipt_follow_switch_local(task, followed, sideband->mark_switches);
}

static void kipt_sideband_on_switch(void *data, bool preempt,
				    struct task_struct *prev,
				    struct task_struct *next,
				    unsigned int prev_state)
{
	struct kipt_sideband *sideband = this_cpu_read(listener);

	if (sideband)
		log_task(sideband, next);
}

static void kipt_sideband_on_exec(void *data, struct task_struct *task,
				  pid_t old_pid, struct linux_binprm *bprm)
{
	struct kipt_sideband *sideband;
	unsigned long flags;

	/* Newer kernels call probes with preemption on. */
	local_irq_save(flags);
	sideband = this_cpu_read(listener);
	if (sideband)
		log_task(sideband, task);
	/* Another CPU may have seen the address space on its way here. */
	list_for_each_entry_rcu(sideband, &sidebands, node, true)
		kipt_spaces_exec(sideband->spaces, task->mm);
	local_irq_restore(flags);
}

/* A tracepoint, and whether its probe is registered. */
struct sched_probe {
	const char *name;
	void *func;
	struct tracepoint *tp;
	bool registered;
};

enum { ON_SWITCH, ON_EXEC, ON_FORK };

static struct sched_probe sched_probes[] = {
	[ON_SWITCH] = { .name = "sched_switch", .func = kipt_sideband_on_switch },
	[ON_EXEC] = { .name = "sched_process_exec", .func = kipt_sideband_on_exec },
	[ON_FORK] = { .name = "sched_process_fork", .func = kipt_follow_fork },
};

/* Compiles only if this kernel calls the probes with what they take. */
static void __maybe_unused check_prototypes(void)
{
	check_trace_callback_type_sched_switch(kipt_sideband_on_switch);
	check_trace_callback_type_sched_process_exec(kipt_sideband_on_exec);
	check_trace_callback_type_sched_process_fork(kipt_follow_fork);
}

void kipt_sideband_begin_local(struct kipt_sideband *sideband)
{
	struct kipt_switch_log *log = &sideband->logs[smp_processor_id()];

	lockdep_assert_irqs_disabled();
	log->written = 0;
	log->others = false;
	/* Half a log would name the wrong task. */
	if (!sched_probes[ON_SWITCH].registered)
		return;
	this_cpu_write(listener, sideband);
	log_task(sideband, current);
	/* Let address spaces that end go from now on, however few switches come. */
	irq_work_queue(&sideband->wake);
}

void kipt_sideband_end_local(void)
{
	this_cpu_write(listener, NULL);
}

static void match_tracepoint(struct tracepoint *tp, void *data)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sched_probes); i++)
		if (!strcmp(tp->name, sched_probes[i].name))
			sched_probes[i].tp = tp;
}

/* Return: 0, also if this kernel has no such tracepoint; or -ENOMEM. */
static int register_sched_probe(struct sched_probe *probe)
{
	int err = probe->tp ? tracepoint_probe_register(probe->tp, probe->func,
							NULL) : -ENOENT;

	probe->registered = !err;
	if (err == -ENOMEM)
		return err;
	if (err)
		pr_warn("tracepoint %s cannot be used: tasks and user code may stay unknown\n",
			probe->name);
	return 0;
}

static void unregister_probes(void)
{
	struct sched_probe *probe;

	lockdep_assert_held(&probes_lock);
	for (probe = sched_probes; probe < sched_probes + ARRAY_SIZE(sched_probes); probe++) {
		if (probe->registered)
			tracepoint_probe_unregister(probe->tp, probe->func, NULL);
		probe->registered = false;
	}
	tracepoint_synchronize_unregister();
}

/* Without them user code cannot be read, and no task be named; all else can. */
static int register_probes(void)
{
	int err = 0;
	u32 i;

	lockdep_assert_held(&probes_lock);
	for_each_kernel_tracepoint(match_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(sched_probes) && !err; i++)
		err = register_sched_probe(&sched_probes[i]);
	if (err)
		unregister_probes();
	return err;
}

static int get_probes(struct kipt_sideband *sideband)
{
	int err = 0;

	mutex_lock(&probes_lock);
	if (list_empty(&sidebands))
		err = register_probes();
	if (!err)
		list_add_tail_rcu(&sideband->node, &sidebands);
	mutex_unlock(&probes_lock);
	return err;
}

/* Nobody listens to the probes any more. */
static void put_probes(struct kipt_sideband *sideband)
{
	mutex_lock(&probes_lock);
	list_del_rcu(&sideband->node);
	if (list_empty(&sidebands))
		unregister_probes();
	mutex_unlock(&probes_lock);
	/*
	 * For handlers that found it in the list, or as the listener. Who makes a
	 * session does not wait for that, unless it was the last.
	 */
	synchronize_rcu();
}

static size_t log_bytes(const struct kipt_switch_log *log)
{
	return ((size_t)log->mask + 1) * sizeof(*log->entries);
}

static void free_logs(struct kipt_sideband *sideband)
{
	unsigned int cpu;

	for_each_cpu(cpu, sideband->cpus)
		kipt_memory_free(sideband->logs[cpu].entries,
				 log_bytes(&sideband->logs[cpu]));
}

static void free_sideband(struct kipt_sideband *sideband)
{
	free_logs(sideband);
	kipt_images_destroy(sideband->images);
	kipt_spaces_destroy(sideband->spaces);
	kipt_memory_free(sideband, struct_size(sideband, logs, nr_cpu_ids));
}

static int alloc_logs(struct kipt_sideband *sideband, u64 size)
{
	u64 least = sideband->mark_switches ? TRACE_PER_MARK :
					      TRACE_PER_SWITCH;
	u64 wish = rounddown_pow_of_two(max_t(u64, size / least, LOG_MIN));
	struct kipt_switch_log *log;
	unsigned int cpu;

	for_each_cpu(cpu, sideband->cpus) {
		log = &sideband->logs[cpu];
		log->mask = min_t(u64, wish, kipt_limits()->switches) - 1;
		log->entries = kipt_memory_alloc(log_bytes(log));
		if (!log->entries || fatal_signal_pending(current))
			return -ENOMEM;
	}
	return 0;
}

struct kipt_sideband *kipt_sideband_create(const struct cpumask *cpus,
					   u64 size, bool stops,
					   bool mark_switches)
{
	struct kipt_sideband *sideband =
		kipt_memory_alloc(struct_size(sideband, logs, nr_cpu_ids));

	if (!sideband)
		return NULL;
	sideband->cpus = cpus;
	sideband->stops = stops;
	sideband->mark_switches = mark_switches;
	init_irq_work(&sideband->wake, wake_tidy);
	INIT_DELAYED_WORK(&sideband->tidy, tidy_work);
	sideband->spaces = kipt_spaces_create();
	if (sideband->spaces && !alloc_logs(sideband, size) && !get_probes(sideband))
		return sideband;
	free_sideband(sideband);
	return NULL;
}

void kipt_sideband_destroy(struct kipt_sideband *sideband)
{
	if (!sideband)
		return;
	kipt_sideband_stop(sideband);
	put_probes(sideband);
	irq_work_sync(&sideband->wake);
	cancel_delayed_work_sync(&sideband->tidy);
	free_sideband(sideband);
}

void kipt_sideband_reset(struct kipt_sideband *sideband)
{
	unsigned int cpu;

	cancel_delayed_work_sync(&sideband->tidy);
	kipt_sideband_give(sideband, NULL);
	kipt_spaces_clear(sideband->spaces);
	for_each_cpu(cpu, sideband->cpus)
		sideband->logs[cpu].written = 0;
}

void kipt_sideband_stop(struct kipt_sideband *sideband)
{
	unsigned int cpu;

	for_each_cpu(cpu, sideband->cpus)
		cmpxchg(per_cpu_ptr(&listener, cpu), sideband, NULL);
	kipt_spaces_over(sideband->spaces);
	tidy_later(sideband);
}

struct kipt_spaces *kipt_sideband_spaces(struct kipt_sideband *sideband)
{
	return sideband->spaces;
}

const struct kipt_switch_log *kipt_sideband_log(struct kipt_sideband *sideband,
						unsigned int cpu)
{
	return &sideband->logs[cpu];
}

void kipt_sideband_give(struct kipt_sideband *sideband, struct kipt_images *images)
{
	kipt_images_destroy(sideband->images);
	sideband->images = images;
}

const struct kipt_images *kipt_sideband_images(const struct kipt_sideband *sideband)
{
	return sideband->images;
}

u64 kipt_sideband_switches_lost(const struct kipt_sideband *sideband)
{
	unsigned int cpu;
	u64 lost = 0;

	for_each_cpu(cpu, sideband->cpus) {
		/* A CPU that still logs is a little further than this. */
		lost += data_race(kipt_switch_log_first(&sideband->logs[cpu]));
	}
	return lost;
}
