// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes sessions follow, and what that means for the CPU a thread
 * is about to run on. Owns the sets; leaves the registers to trace.c and the
 * probes to sideband.c.
 *
 * A set is read in probes, under RCU; sets_lock guards all changes.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <asm/cpufeature.h>
#include <asm/page.h>

#include "../lib/compat.h"
#include "follow.h"
#include "../hw/hw_regs.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "../trace/trace.h"

/*
 * With page-table isolation user code runs on the second page of a pair.
 * CR3 filtering compares CR3[63:12] (Intel SDM Vol. 3C, "Filtering by CR3").
 */
#define CR3_USER_HALF	BIT_ULL(12)

/* So many are looked at for those that ended, each time one is added. */
#define LOOKS_MAX	64U
/* So many are looked at before others may have the lock. */
#define ALIVE_AT_ONCE	64U
/* What a process takes at most, alone in a node. */
#define PROCESS_CHARGE	(sizeof(struct pid) + sizeof(struct xa_node))

/**
 * struct kipt_follow - a set of processes
 * @node: in the list of sets
 * @forks: children of these are followed
 * @by_cr3: the CPU itself traces this process alone
 * @dead: none is added any more
 * @since: ktime_get_ns() when it was made
 * @count: processes in the set
 * @looked: number of the process that was looked at last
 * @lost: children that were not followed
 * @memcg: of who made the set; children are charged to it, not to their parent
 * @rcu: frees it
 * @processes: struct pid of each thread group, referenced, by its number. Under
 *	RCU alone they are compared and nothing else.
 */
struct kipt_follow {
	struct list_head node;
	bool forks;
	bool by_cr3;
	bool dead;
	u64 since;
	u32 count;
	unsigned long looked;
	u64 lost;
	struct mem_cgroup *memcg;
	struct rcu_head rcu;
	struct xarray processes;
};

static DEFINE_SPINLOCK(sets_lock);
static LIST_HEAD(sets);

static bool contains(const struct kipt_follow *follow, struct pid *pid)
{
	return xa_load((struct xarray *)&follow->processes, pid_nr(pid)) == pid;
}

static bool is_followed(const struct kipt_follow *follow,
			struct task_struct *task)
{
	/* A thread that was unhashed on its way out has none. */
	struct pid *pid = task_tgid(task);

	return pid && contains(follow, pid);
}

static void drop(struct kipt_follow *follow, struct pid *pid)
{
	lockdep_assert_held(&sets_lock);
	xa_erase(&follow->processes, pid_nr(pid));
	put_pid(pid);
	follow->count--;
	kipt_memory_uncharge(PROCESS_CHARGE);
}

static void drop_ended(struct kipt_follow *follow)
{
	struct pid *pid;
	u32 i;

	lockdep_assert_held(&sets_lock);
	for (i = 0; i < min(LOOKS_MAX, follow->count); i++) {
		pid = xa_find_after(&follow->processes, &follow->looked,
				    ULONG_MAX, XA_PRESENT);
		if (!pid)
			follow->looked = 0;
		else if (!pid_has_task(pid, PIDTYPE_TGID))
			drop(follow, pid);
	}
}

static int store(struct kipt_follow *follow, struct pid *pid)
{
	struct mem_cgroup *old = set_active_memcg(follow->memcg);
	int err = xa_insert(&follow->processes, pid_nr(pid), pid,
			    GFP_ATOMIC | __GFP_NOWARN);

	set_active_memcg(old);
	return err;
}

static int add(struct kipt_follow *follow, struct pid *pid)
{
	struct pid *ended;
	int err;

	lockdep_assert_held(&sets_lock);
	/* Whoever had the number before. */
	ended = xa_load(&follow->processes, pid_nr(pid));
	if (ended)
		drop(follow, ended);
	drop_ended(follow);
	if (follow->count >= kipt_limits()->processes)
		return -ENOSPC;
	err = kipt_memory_charge(PROCESS_CHARGE);
	if (err)
		return err;
	err = store(follow, pid);
	if (err) {
		kipt_memory_uncharge(PROCESS_CHARGE);
		return -ENOMEM;
	}
	get_pid(pid);
	follow->count++;
	return 0;
}

/* Return: its thread group, referenced. */
static struct pid *group_of(struct pid *pid)
{
	struct pid *group = ERR_PTR(-ESRCH);
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_PID);
	if (task && task->flags & PF_KTHREAD)
		group = ERR_PTR(-EINVAL);
	else if (task && task_tgid(task))
		group = get_pid(task_tgid(task));
	rcu_read_unlock();
	return group;
}

struct kipt_follow *kipt_follow_create(struct pid *pid, bool forks,
				       struct kipt_hw_config *config,
				       bool cr3_filter)
{
	struct pid *group = group_of(pid);
	struct kipt_follow *follow;
	int err;

	if (IS_ERR(group))
		return ERR_CAST(group);
	follow = kzalloc(sizeof(*follow), GFP_KERNEL_ACCOUNT);
	if (!follow) {
		put_pid(group);
		return ERR_PTR(-ENOMEM);
	}
	xa_init_flags(&follow->processes, XA_FLAGS_ACCOUNT);
	follow->since = ktime_get_ns();
	follow->forks = forks;
	follow->by_cr3 = cr3_filter && !(config->ctl & RTIT_CTL_OS);
	follow->memcg = get_mem_cgroup_from_mm(current->mm);
	spin_lock(&sets_lock);
	err = add(follow, group);
	if (!err)
		list_add_tail_rcu(&follow->node, &sets);
	spin_unlock(&sets_lock);
	put_pid(group);
	if (err) {
		mem_cgroup_put(follow->memcg);
		kfree(follow);
		return ERR_PTR(err);
	}
	if (follow->by_cr3)
		config->ctl |= RTIT_CTL_CR3FILTER;
	return follow;
}

/* Probes may look at it still: they see it empty itself. */
void kipt_follow_destroy(struct kipt_follow *follow)
{
	struct pid *pid;
	unsigned long number;

	if (!follow)
		return;
	spin_lock(&sets_lock);
	list_del_rcu(&follow->node);
	follow->dead = true;
	spin_unlock(&sets_lock);
	xa_for_each(&follow->processes, number, pid) {
		spin_lock(&sets_lock);
		drop(follow, pid);
		spin_unlock(&sets_lock);
		cond_resched();
	}
	mem_cgroup_put(follow->memcg);
	kfree_rcu(follow, rcu);
}

u64 kipt_follow_lost(const struct kipt_follow *follow)
{
	return READ_ONCE(follow->lost);
}

u32 kipt_follow_alive(const struct kipt_follow *follow)
{
	unsigned long number;
	struct pid *pid;
	u32 alive = 0, looked = 0;

	spin_lock(&sets_lock);
	xa_for_each((struct xarray *)&follow->processes, number, pid) {
		alive += pid_has_task(pid, PIDTYPE_TGID);
		if (++looked % ALIVE_AT_ONCE)
			continue;
		/* A process that is followed waits for it when it forks. */
		spin_unlock(&sets_lock);
		cond_resched();
		spin_lock(&sets_lock);
	}
	spin_unlock(&sets_lock);
	return alive;
}

static u64 user_cr3(const struct mm_struct *mm)
{
	u64 cr3 = __pa(mm->pgd) | kipt_compat_lam_bits(mm);

	return boot_cpu_has(X86_FEATURE_PTI) ? cr3 | CR3_USER_HALF : cr3;
}

/*
 * The register is left alone while others run: it does not match them. Only
 * where a page table was freed and came again, or is shared after vfork, it
 * would, and 0 is no page table's address.
 *
 * Return: whether the CPU is to trace while the thread runs.
 */
static bool aim_at(const struct kipt_follow *follow, struct task_struct *task,
		   bool followed, u64 *cr3_match)
{
	const struct mm_struct *mm = task->mm;

	if (!follow->by_cr3)
		return followed;
	if (mm && followed)
		*cr3_match = user_cr3(mm);
	else if (mm && *cr3_match == user_cr3(mm))
		*cr3_match = 0;
	return true;
}

bool kipt_follow_aim_local(const struct kipt_follow *follow,
			   struct task_struct *task, u64 *cr3_match)
{
	return aim_at(follow, task, is_followed(follow, task), cr3_match);
}

bool kipt_follow_has_local(struct task_struct *task)
{
	const struct kipt_trace *trace = kipt_trace_here();

	return !trace || !trace->follow || is_followed(trace->follow, task);
}

void kipt_follow_switch_local(struct task_struct *next, bool followed, bool psb)
{
	struct kipt_trace *trace = kipt_trace_here();
	bool go = true;
	u64 cr3_match;

	if (!trace || trace->state == KIPT_TRACE_OFF)
		return;
	cr3_match = trace->config.cr3_match;
	if (trace->follow)
		go = aim_at(trace->follow, next, followed, &cr3_match);
	kipt_trace_steer_local(trace, go, cr3_match, psb && followed);
}

static void follow_child(struct kipt_follow *follow, struct pid *child)
{
	spin_lock(&sets_lock);
	if (!follow->dead && !contains(follow, child) && add(follow, child))
		WRITE_ONCE(follow->lost, follow->lost + 1);
	spin_unlock(&sets_lock);
}

void kipt_follow_fork(void *unused, struct task_struct *parent, struct task_struct *child)
{
	struct kipt_follow *follow;

	/* A thread belongs to its process already. */
	if (same_thread_group(parent, child))
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(follow, &sets, node)
		if (follow->forks && is_followed(follow, parent))
			follow_child(follow, task_tgid(child));
	rcu_read_unlock();
}

void kipt_follow_catch_up(struct kipt_follow *follow)
{
	struct task_struct *task;

	if (!follow->forks)
		return;
	rcu_read_lock();
	/* Children come after their parents. */
	for_each_process(task)
		if (task->start_time >= follow->since && task_tgid(task) &&
		    is_followed(follow, rcu_dereference(task->real_parent)))
			follow_child(follow, task_tgid(task));
	rcu_read_unlock();
}
