// SPDX-License-Identifier: GPL-2.0-only
/*
 * Listens to the scheduler. The probes run with interrupts off or preemption
 * disabled, on the CPU they are about, and take one raw spinlock when they
 * see an address space for the first time. The rest is process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <asm/cpufeature.h>
#include <asm/io.h>

#include "compat.h"
#include "follow.h"
#include "sideband.h"

#define BUCKET_BITS	8
/* One switch makes more trace than this, so the log outlasts the ring. */
#define TRACE_PER_SWITCH	256
#define LOG_MIN		256U
#define LOG_MAX		65536U

/* An address space that ran; @mm is counted as keep_mm says. */
struct known_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	u64 space;
	u32 tgid;
};

struct kipt_sideband {
	cpumask_var_t cpus;
	bool keep_mm;
	bool mark_switches;
	bool running;
	/* Guards adding; lookups go without, entries stay until reset. */
	raw_spinlock_t lock;
	u32 nr_known;
	u64 missed;
	struct hlist_head buckets[1 << BUCKET_BITS];
	struct known_mm *known;
	struct kipt_switch_log *logs;
};

static DEFINE_PER_CPU(struct kipt_sideband *, listener);

/* Guards the probes' registration, which sessions share. */
static DEFINE_MUTEX(probes_lock);
static u32 probes_users;
static struct tracepoint *tp_fork;
static struct tracepoint *tp_switch, *tp_exec, *tp_fork;

u64 kipt_sideband_space(u64 cr3)
{
	u64 space = cr3 & PHYSICAL_PAGE_MASK;

	/* The user half is the page after the kernel half. */
	if (boot_cpu_has(X86_FEATURE_PTI))
		space &= ~(u64)PAGE_SIZE;
	return space;
}

static u64 space_of_mm(const struct mm_struct *mm)
{
	return __pa(mm->pgd);
}

static struct hlist_head *bucket(struct kipt_sideband *sideband, u64 space)
{
	return &sideband->buckets[hash_64(space, BUCKET_BITS)];
}

static struct known_mm *find_known(struct kipt_sideband *sideband, u64 space)
{
	struct known_mm *known;

	hlist_for_each_entry_rcu(known, bucket(sideband, space), node,
				 rcu_read_lock_sched_held() ||
				 !READ_ONCE(sideband->running))
		if (known->space == space)
			return known;
	return NULL;
}

/*
 * @mm is of a task that runs or is about to, so it is alive. A page table
 * that is referenced is not freed, so no two entries have the same name.
 */
static void add_known(struct kipt_sideband *sideband, struct mm_struct *mm,
		      u32 tgid)
{
	struct known_mm *known;
	unsigned long flags;

	raw_spin_lock_irqsave(&sideband->lock, flags);
	if (find_known(sideband, space_of_mm(mm)))
		goto out;
	if (sideband->nr_known == KIPT_SIDEBAND_MAX_MMS) {
		sideband->missed++;
		goto out;
	}
	if (sideband->keep_mm)
		mmget(mm);
	else
		mmgrab(mm);
	known = &sideband->known[sideband->nr_known++];
	known->mm = mm;
	known->space = space_of_mm(mm);
	known->tgid = tgid;
	hlist_add_head_rcu(&known->node, bucket(sideband, known->space));
out:
	raw_spin_unlock_irqrestore(&sideband->lock, flags);
}

static void learn(struct kipt_sideband *sideband, struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	if (!mm || task->flags & PF_KTHREAD)
		return;
	if (!find_known(sideband, space_of_mm(mm)))
		add_known(sideband, mm, task->tgid);
}

static void log_switch(struct kipt_sideband *sideband,
		       struct task_struct *task)
{
	struct kipt_switch_log *log = &sideband->logs[smp_processor_id()];
	struct kipt_switch *entry = &log->entries[log->written & log->mask];

	entry->tsc = rdtsc();
	entry->space = task->mm && !(task->flags & PF_KTHREAD) ?
		       space_of_mm(task->mm) : 0;
	entry->tid = task->pid;
	entry->tgid = task->tgid;
	log->written++;
	/* After the time was taken, so that the PSB+ is not older. */
	kipt_follow_switch_local(task, sideband->mark_switches);
}

static struct kipt_sideband *listener_local(void)
{
	struct kipt_sideband *sideband = READ_ONCE(*this_cpu_ptr(&listener));

	return sideband && READ_ONCE(sideband->running) ? sideband : NULL;
}

static void kipt_sideband_on_switch(void *data, bool preempt,
				    struct task_struct *prev,
				    struct task_struct *next,
				    unsigned int prev_state)
{
	struct kipt_sideband *sideband = listener_local();

	if (!sideband)
		return;
	learn(sideband, next);
	log_switch(sideband, next);
}

static void kipt_sideband_on_exec(void *data, struct task_struct *task,
				  pid_t old_pid, struct linux_binprm *bprm)
{
	struct kipt_sideband *sideband;
	unsigned long flags;

	/* Newer kernels call probes with preemption on. */
	local_irq_save(flags);
	sideband = listener_local();
	if (sideband) {
		learn(sideband, task);
		log_switch(sideband, task);
	}
	local_irq_restore(flags);
}

void kipt_sideband_begin_local(struct kipt_sideband *sideband)
{
	learn(sideband, current);
	log_switch(sideband, current);
}

static void kipt_sideband_on_fork(void *data, struct task_struct *parent,
				  struct task_struct *child)
{
	kipt_follow_fork(parent, child);
}

static void match_tracepoint(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		tp_switch = tp;
	else if (!strcmp(tp->name, "sched_process_exec"))
		tp_exec = tp;
	else if (!strcmp(tp->name, "sched_process_fork"))
		tp_fork = tp;
}

/* Without them user code cannot be read, and no task be named; all else can. */
static void get_probes(void)
{
	mutex_lock(&probes_lock);
	if (probes_users++)
		goto out;
	for_each_kernel_tracepoint(match_tracepoint, NULL);
	if (!tp_switch ||
	    tracepoint_probe_register(tp_switch, kipt_sideband_on_switch, NULL))
		pr_warn("no sched_switch tracepoint: tasks stay unknown\n");
	if (!tp_exec ||
	    tracepoint_probe_register(tp_exec, kipt_sideband_on_exec, NULL))
		pr_warn("no sched_process_exec tracepoint\n");
	if (!tp_fork ||
	    tracepoint_probe_register(tp_fork, kipt_sideband_on_fork, NULL))
		pr_warn("no sched_process_fork tracepoint\n");
out:
	mutex_unlock(&probes_lock);
}

static void put_probes(void)
{
	mutex_lock(&probes_lock);
	if (--probes_users)
		goto out;
	if (tp_switch)
		tracepoint_probe_unregister(tp_switch,
					    kipt_sideband_on_switch, NULL);
	if (tp_exec)
		tracepoint_probe_unregister(tp_exec, kipt_sideband_on_exec,
					    NULL);
	if (tp_fork)
		tracepoint_probe_unregister(tp_fork, kipt_sideband_on_fork,
					    NULL);
	tracepoint_synchronize_unregister();
out:
	mutex_unlock(&probes_lock);
}

static void free_sideband(struct kipt_sideband *sideband)
{
	unsigned int cpu;

	if (sideband->logs)
		for_each_cpu(cpu, sideband->cpus)
			kvfree(sideband->logs[cpu].entries);
	kvfree(sideband->logs);
	kvfree(sideband->known);
	free_cpumask_var(sideband->cpus);
	kfree(sideband);
}

static int alloc_logs(struct kipt_sideband *sideband, u64 size)
{
	u32 count = clamp_t(u64, size / TRACE_PER_SWITCH, LOG_MIN, LOG_MAX);
	struct kipt_switch_log *log;
	unsigned int cpu;

	sideband->logs = kvcalloc(nr_cpu_ids, sizeof(*log), GFP_KERNEL);
	if (!sideband->logs)
		return -ENOMEM;
	for_each_cpu(cpu, sideband->cpus) {
		log = &sideband->logs[cpu];
		log->mask = count - 1;
		log->entries = kvcalloc(count, sizeof(*log->entries),
					GFP_KERNEL);
		if (!log->entries)
			return -ENOMEM;
	}
	return 0;
}

struct kipt_sideband *kipt_sideband_create(const struct cpumask *cpus,
					   u64 size, bool keep_mm,
					   bool mark_switches)
{
	struct kipt_sideband *sideband;
	unsigned int cpu;

	sideband = kzalloc(sizeof(*sideband), GFP_KERNEL);
	if (!sideband)
		return NULL;
	if (!alloc_cpumask_var(&sideband->cpus, GFP_KERNEL)) {
		kfree(sideband);
		return NULL;
	}
	cpumask_copy(sideband->cpus, cpus);
	raw_spin_lock_init(&sideband->lock);
	sideband->keep_mm = keep_mm;
	sideband->mark_switches = mark_switches;
	sideband->known = kvcalloc(KIPT_SIDEBAND_MAX_MMS,
				   sizeof(*sideband->known), GFP_KERNEL);
	if (!sideband->known || alloc_logs(sideband, size)) {
		free_sideband(sideband);
		return NULL;
	}
	get_probes();
	for_each_cpu(cpu, cpus)
		WRITE_ONCE(per_cpu(listener, cpu), sideband);
	return sideband;
}

void kipt_sideband_destroy(struct kipt_sideband *sideband)
{
	unsigned int cpu;

	if (!sideband)
		return;
	/* The next session of a CPU may listen already. */
	for_each_cpu(cpu, sideband->cpus)
		cmpxchg(&per_cpu(listener, cpu), sideband, NULL);
	put_probes();
	kipt_sideband_pause(sideband);
	kipt_sideband_reset(sideband);
	free_sideband(sideband);
}

void kipt_sideband_reset(struct kipt_sideband *sideband)
{
	unsigned int cpu;
	u32 i;

	for (i = 0; i < sideband->nr_known; i++) {
		if (sideband->keep_mm)
			mmput(sideband->known[i].mm);
		else
			mmdrop(sideband->known[i].mm);
	}
	sideband->nr_known = 0;
	sideband->missed = 0;
	memset(sideband->buckets, 0, sizeof(sideband->buckets));
	for_each_cpu(cpu, sideband->cpus)
		sideband->logs[cpu].written = 0;
}

void kipt_sideband_run(struct kipt_sideband *sideband)
{
	WRITE_ONCE(sideband->running, true);
}

void kipt_sideband_pause(struct kipt_sideband *sideband)
{
	if (sideband->missed)
		pr_info_ratelimited("%llu address spaces beyond %u were not kept\n",
				    sideband->missed, KIPT_SIDEBAND_MAX_MMS);
	WRITE_ONCE(sideband->running, false);
	/* Probes run with interrupts off: this waits for those under way. */
	synchronize_rcu();
}

struct mm_struct *kipt_sideband_mm(struct kipt_sideband *sideband, u64 space)
{
	struct known_mm *known = find_known(sideband, space);

	if (!known || !mmget_not_zero(known->mm))
		return NULL;
	return known->mm;
}

bool kipt_sideband_tgid(struct kipt_sideband *sideband, u64 space, u32 *tgid)
{
	struct known_mm *known = find_known(sideband, space);

	if (!known)
		return false;
	*tgid = known->tgid;
	return true;
}

const struct kipt_switch_log *kipt_sideband_log(struct kipt_sideband *sideband,
						unsigned int cpu)
{
	return &sideband->logs[cpu];
}

/* The one space of a log, or 0 if there are several. */
static u64 only_space(const struct kipt_switch_log *log, u64 first)
{
	u64 space = 0, i;

	for (i = first; i < log->written; i++) {
		u64 one = log->entries[i & log->mask].space;

		if (!one || one == space)
			continue;
		if (space)
			return 0;
		space = one;
	}
	return space;
}

u64 kipt_sideband_running_at(struct kipt_sideband *sideband, unsigned int cpu,
			     u64 tsc)
{
	const struct kipt_switch_log *log = &sideband->logs[cpu];
	u64 first = log->written > log->mask ? log->written - log->mask - 1 : 0;
	u64 space = only_space(log, first), i;

	if (space || !tsc)
		return space;
	for (i = first; i < log->written; i++) {
		const struct kipt_switch *entry = &log->entries[i & log->mask];

		if (entry->tsc > tsc && space)
			break;
		if (entry->space)
			space = entry->space;
	}
	return space;
}
