// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes sessions follow, and what that means for the CPU a thread
 * is about to run on. Owns the sets; leaves the registers to trace.c and the
 * probes to sideband.c.
 *
 * A set is read in probes, under RCU; sets_lock guards all changes.
 */
#include <linux/hashtable.h>
#include <linux/err.h>
#include <linux/memcontrol.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <asm/cpufeature.h>
#include <asm/page.h>

#include "compat.h"
#include "follow.h"
#include "hw_regs.h"
#include "limits.h"
#include "memory.h"
#include "trace.h"

/*
 * With page-table isolation user code runs on the second page of a pair.
 * CR3 filtering compares CR3[63:12] (Intel SDM Vol. 3C, "Filtering by CR3").
 */
#define CR3_USER_HALF	BIT_ULL(12)

/*
 * So many are added between two looks for those that ended, which thus takes
 * no longer than to find one in the table.
 */
#define ENDED_MAX	64U

/**
 * struct process - one that is followed
 * @node: in the set
 * @pid: of the thread group; the number may be used again, this is not
 * @rcu: frees it
 */
struct process {
	struct hlist_node node;
	struct pid *pid;
	struct rcu_head rcu;
};

/**
 * struct kipt_follow - a set of processes
 * @node: in the list of sets
 * @forks: children of these are followed
 * @by_cr3: the CPU itself tells the processes apart
 * @count: processes in the set
 * @added: processes that ever were, from 0 again after 2^32
 * @lost: children that were not followed
 * @memcg: of who made the set; children are charged to it, not to their parent
 * @rcu: frees it
 * @processes: by the address of struct pid
 */
struct kipt_follow {
	struct list_head node;
	bool forks;
	bool by_cr3;
	u32 count;
	u32 added;
	u64 lost;
	struct mem_cgroup *memcg;
	struct rcu_head rcu;
	DECLARE_HASHTABLE(processes, 6);
};

static DEFINE_SPINLOCK(sets_lock);
static LIST_HEAD(sets);

static bool contains(const struct kipt_follow *follow, const struct pid *pid)
{
	const struct process *process;
	bool found = false;

	rcu_read_lock();
	hash_for_each_possible_rcu(follow->processes, process, node,
				   (unsigned long)pid) {
		found = process->pid == pid;
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

static bool is_followed(const struct kipt_follow *follow,
			struct task_struct *task)
{
	/* A thread that was unhashed on its way out has none. */
	struct pid *pid = task_tgid(task);

	return pid && contains(follow, pid);
}

static void free_process(struct rcu_head *rcu)
{
	struct process *process = container_of(rcu, struct process, rcu);

	put_pid(process->pid);
	kfree(process);
	kipt_memory_uncharge(sizeof(*process));
}

static void drop_ended(struct kipt_follow *follow)
{
	struct process *process;
	struct hlist_node *next;
	int bucket;

	lockdep_assert_held(&sets_lock);
	hash_for_each_safe(follow->processes, bucket, next, process, node) {
		if (pid_has_task(process->pid, PIDTYPE_TGID))
			continue;
		hash_del_rcu(&process->node);
		follow->count--;
		call_rcu(&process->rcu, free_process);
	}
}

static struct process *alloc_process(const struct kipt_follow *follow)
{
	struct process *process;
	struct mem_cgroup *old;

	if (kipt_memory_charge(sizeof(*process)))
		return NULL;
	old = set_active_memcg(follow->memcg);
	process = kzalloc(sizeof(*process),
			  GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	set_active_memcg(old);
	if (!process)
		kipt_memory_uncharge(sizeof(*process));
	return process;
}

static int add(struct kipt_follow *follow, struct pid *pid)
{
	u32 most = kipt_limits()->processes;
	struct process *process;

	lockdep_assert_held(&sets_lock);
	if (!(++follow->added % ENDED_MAX) || follow->count >= most)
		drop_ended(follow);
	if (follow->count >= most)
		return -ENOSPC;
	process = alloc_process(follow);
	if (!process)
		return -ENOMEM;
	process->pid = get_pid(pid);
	hash_add_rcu(follow->processes, &process->node, (unsigned long)pid);
	follow->count++;
	return 0;
}

/* Return: the thread group of a number, referenced. */
static struct pid *find_group(pid_t number)
{
	struct pid *group = ERR_PTR(-ESRCH);
	struct task_struct *task;
	struct pid *pid;

	pid = find_get_pid(number);
	rcu_read_lock();
	task = pid_task(pid, PIDTYPE_PID);
	if (task && task->flags & PF_KTHREAD)
		group = ERR_PTR(-EINVAL);
	else if (task && task_tgid(task))
		group = get_pid(task_tgid(task));
	rcu_read_unlock();
	put_pid(pid);
	return group;
}

struct kipt_follow *kipt_follow_create(pid_t pid, bool forks,
				       struct kipt_hw_config *config,
				       bool cr3_filter)
{
	struct pid *group = find_group(pid);
	struct kipt_follow *follow;
	int err;

	if (IS_ERR(group))
		return ERR_CAST(group);
	follow = kzalloc(sizeof(*follow), GFP_KERNEL_ACCOUNT);
	if (!follow) {
		put_pid(group);
		return ERR_PTR(-ENOMEM);
	}
	hash_init(follow->processes);
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

static void free_set(struct rcu_head *rcu)
{
	struct kipt_follow *follow =
		container_of(rcu, struct kipt_follow, rcu);
	struct process *process;
	struct hlist_node *next;
	int bucket;

	hash_for_each_safe(follow->processes, bucket, next, process, node)
		free_process(&process->rcu);
	mem_cgroup_put(follow->memcg);
	kfree(follow);
}

void kipt_follow_destroy(struct kipt_follow *follow)
{
	if (!follow)
		return;
	spin_lock(&sets_lock);
	list_del_rcu(&follow->node);
	spin_unlock(&sets_lock);
	/* Probes may look at it still. */
	call_rcu(&follow->rcu, free_set);
}

void kipt_follow_uninit(void)
{
	rcu_barrier();
}

u64 kipt_follow_lost(const struct kipt_follow *follow)
{
	return READ_ONCE(follow->lost);
}

u32 kipt_follow_alive(const struct kipt_follow *follow)
{
	const struct process *process;
	u32 alive = 0;
	int bucket;

	rcu_read_lock();
	hash_for_each_rcu(follow->processes, bucket, process, node)
		alive += pid_has_task(process->pid, PIDTYPE_TGID);
	rcu_read_unlock();
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
 */
static void aim(struct task_struct *task, bool followed, u64 *cr3_match)
{
	const struct mm_struct *mm = task->mm;

	if (!mm)
		return;
	if (followed)
		*cr3_match = user_cr3(mm);
	else if (*cr3_match == user_cr3(mm))
		*cr3_match = 0;
}

/* Return: whether the CPU is to trace while the thread runs. */
static bool aim_at(const struct kipt_follow *follow, struct task_struct *task,
		   bool followed, u64 *cr3_match)
{
	if (!follow->by_cr3)
		return followed;
	aim(task, followed, cr3_match);
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

void kipt_follow_switch_local(struct task_struct *next, bool followed,
			      bool psb)
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
	if (!contains(follow, child) && add(follow, child))
		WRITE_ONCE(follow->lost, follow->lost + 1);
	spin_unlock(&sets_lock);
}

void kipt_follow_fork(struct task_struct *parent, struct task_struct *child)
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
