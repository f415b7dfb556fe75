/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Follows processes: decides at context switches, exec and fork whether
 * a CPU of a session traces. Owns the set of processes. One struct kipt_follow
 * belongs to one session; struct kipt_trace points to it.
 *
 * A process is its thread group: all its threads, across exec; its children
 * too if that is asked for.
 */
#ifndef KIPT_FOLLOW_H
#define KIPT_FOLLOW_H

#include <linux/types.h>

struct kipt_follow;
struct kipt_hw_config;
struct task_struct;

/**
 * kipt_follow_create() - follow a process
 * @pid: of a process, or of one of its threads; NULL: of none
 * @forks: follow what it forks, too
 * @config: of the session. Without OS it gets CR3Filter, if the CPUs have it:
 *	user code of the process, found by its CR3. Otherwise CPUs pause while
 *	other processes run.
 * @cr3_filter: whether the CPUs have CR3 filtering
 *
 * Its struct pid distinguishes a process from later ones with its number.
 * That, and with it its PID namespace, is held until the process has ended and
 * then some more were forked, one for each 64 in the set at most, or the set is
 * gone; nothing else of it is.
 * What that takes is charged to the caller's memory cgroup, children too.
 *
 * Context: may sleep; of the caller.
 *
 * Return:
 * The set.
 * ERR_PTR(-ESRCH): there is no such process.
 * ERR_PTR(-EINVAL): it is a thread of the kernel.
 * ERR_PTR(-ENOMEM): no memory.
 */
struct kipt_follow *kipt_follow_create(struct pid *pid, bool forks,
				       struct kipt_hw_config *config,
				       bool cr3_filter);

/**
 * kipt_follow_destroy() - follow no more
 * @follow: no started trace points to it any more; may be NULL
 *
 * Context: may sleep, for no longer than its processes take to be freed.
 */
void kipt_follow_destroy(struct kipt_follow *follow);

/**
 * kipt_follow_lost() - processes that were forked and could not be followed
 * @follow: the set
 *
 * Context: any.
 *
 * Return: how many; there was no memory, or too many processes.
 */
u64 kipt_follow_lost(const struct kipt_follow *follow);

/**
 * kipt_follow_alive() - processes that are being followed
 * @follow: the set
 *
 * Context: may sleep.
 *
 * Return: how many; 0 if all have ended.
 */
u32 kipt_follow_alive(const struct kipt_follow *follow);

/**
 * kipt_follow_has_local() - whether a thread is one of those to be traced here
 * @task: the current thread or the next one
 *
 * Context: this CPU, interrupts off.
 *
 * Return: whether it is followed; true where no session follows anybody.
 */
bool kipt_follow_has_local(struct task_struct *task);

/**
 * kipt_follow_aim_local() - whether a thread is to be traced
 * @follow: the set
 * @task: the current thread or the next one
 * @cr3_match: what IA32_RTIT_CR3_MATCH is; becomes what it is to be
 *
 * Context: this CPU, interrupts off.
 *
 * Return: whether the CPU is to trace while @task runs.
 */
bool kipt_follow_aim_local(const struct kipt_follow *follow,
			   struct task_struct *task, u64 *cr3_match);

/**
 * kipt_follow_switch_local() - a thread is about to run on this CPU
 * @next: the thread
 * @followed: what kipt_follow_has_local() says of it
 * @psb: put a PSB+ into the trace where it begins, if it is traced
 *
 * For the sched_switch probe, after it has logged the switch, and for the
 * sched_process_exec probe, where @next is the current thread: it has a new
 * address space. Does nothing if no started trace is attached to this CPU, or
 * with @psb false and nothing to follow.
 *
 * Context: this CPU, interrupts off.
 */
void kipt_follow_switch_local(struct task_struct *next, bool followed,
			      bool psb);

/**
 * kipt_follow_fork() - follow a new thread, which did not run yet
 * @unused: of the probe
 * @parent: who made it
 * @child: the thread
 *
 * For the sched_process_fork probe, on all CPUs, traced or not. Context:
 * process; does not sleep.
 */
void kipt_follow_fork(void *unused, struct task_struct *parent, struct task_struct *child);

/**
 * kipt_follow_catch_up() - follow what was forked since the set was made
 * @follow: the set
 *
 * For a set that was made before the probes. What a child forked that has ended
 * since is not found.
 *
 * Context: process; does not sleep.
 */
void kipt_follow_catch_up(struct kipt_follow *follow);

#endif /* KIPT_FOLLOW_H */
