// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at what the kernel prints, before it does. Most lines are told from a
 * report by their level; nothing is printed from a format in the module.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kern_levels.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>

#include "crash.h"
#include "crash_report.h"
#include "probe.h"
#include "snapshot.h"

/* Of a format, the longest of the words below is shorter. */
#define WORDS_BYTES	32
/*
 * Where no snapshot is kept a storm of reports is not to blind the rings: so
 * long after one, and so many times as long as nothing was traced for it.
 */
#define APART_MS	1000
#define APART_TIMES	4
#define LOOK_AGAIN	(HZ / 10)
/* What a thread that does not sleep has printed after that. */
#define OVER_AFTER	(5 * HZ)

/*
 * After the level. A double fault is an oops, of which the kernel says a line
 * first. The stack's and a NULL's BUG were captured before they are printed.
 */
static const struct {
	const char *words;
	enum kipt_crash_hook hook;
} reports[] = {
	{ "watchdog: BUG: ", KIPT_CRASH_HOOK_LOCKUP },
	{ "watchdog: Watchdog detected ", KIPT_CRASH_HOOK_LOCKUP },
	{ "watchdog: CPU%u: Watchdog ", KIPT_CRASH_HOOK_LOCKUP },
	{ "NMI watchdog: Watchdog ", KIPT_CRASH_HOOK_LOCKUP },
	{ "rcu: INFO: ", KIPT_CRASH_HOOK_LOCKUP },
	{ "INFO: rcu_tasks", KIPT_CRASH_HOOK_LOCKUP },
	{ "INFO: task ", KIPT_CRASH_HOOK_HUNG },
	{ "traps: PANIC: double fault", KIPT_CRASH_HOOK_OOPS },
	{ "BUG: ", KIPT_CRASH_HOOK_REPORT },
	{ "list_add corruption", KIPT_CRASH_HOOK_REPORT },
	{ "list_del corruption", KIPT_CRASH_HOOK_REPORT },
	{ "usercopy: Kernel memory ", KIPT_CRASH_HOOK_REPORT },
	{ "Uhhuh. NMI received ", KIPT_CRASH_HOOK_REPORT },
	{ "NMI: PCI system error", KIPT_CRASH_HOOK_REPORT },
	{ "NMI: IOCK error", KIPT_CRASH_HOOK_REPORT },
};

/**
 * struct report - the one that is waited for
 * @capture: number of what was captured
 * @task: what ran when it began; a reference
 * @switches: how often that thread had slept, or been switched from at all
 * @any_switch: that is enough: a softirq reports, or the idle thread, which
 *	never sleeps
 * @began: in jiffies
 * @began_tsc: the same, for what comes next
 * @interrupted: an interrupt reports, which is over where a work may run
 * @watcher: the thread that looks for hung tasks: it prints until it sleeps
 */
struct report {
	u32 capture;
	struct task_struct *task;
	unsigned long switches;
	bool any_switch;
	unsigned long began;
	u64 began_tsc;
	bool interrupted;
	bool watcher;
};

static struct report report;
/* @report is in use. */
static atomic_t waiting = ATOMIC_INIT(0);
/* Not before that, where no snapshot is kept. */
static u64 next_tsc;

static void look(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look);
static void begin_look(struct irq_work *work);
static struct irq_work begin_work = IRQ_WORK_INIT(begin_look);

static unsigned long switches_of(const struct task_struct *task, bool any)
{
	return READ_ONCE(task->nvcsw) + (any ? READ_ONCE(task->nivcsw) : 0);
}

static bool is_over(void)
{
	if (report.interrupted || READ_ONCE(report.task->flags) & PF_EXITING ||
	    switches_of(report.task, report.any_switch) != report.switches)
		return true;
	return !report.watcher && time_after(jiffies, report.began + OVER_AFTER);
}

static void forget(void)
{
	u64 now = rdtsc(), took = now - report.began_tsc;

	WRITE_ONCE(next_tsc, now + max((u64)APART_MS * tsc_khz,
				       took * APART_TIMES));
	put_task_struct(report.task);
	atomic_set_release(&waiting, 0);
}

static void look(struct work_struct *work)
{
	if (kipt_crash_report_is_on(report.capture) && !is_over()) {
		queue_delayed_work(system_unbound_wq, &look_work, LOOK_AGAIN);
		return;
	}
	kipt_crash_report_over(report.capture);
	forget();
}

/* An interrupt that reports is over: this one had to wait for it. */
static void begin_look(struct irq_work *work)
{
	queue_delayed_work(system_unbound_wq, &look_work,
			   report.interrupted ? 0 : LOOK_AGAIN);
}

static bool may_begin(void)
{
	if (!kipt_snapshot_wanted() && (s64)(rdtsc() - READ_ONCE(next_tsc)) < 0)
		return false;
	return !atomic_cmpxchg(&waiting, 0, 1);
}

void kipt_crash_report_begin(enum kipt_crash_hook hook, struct pt_regs *regs,
			     u64 ip, bool trapped)
{
	bool any = in_serving_softirq() || is_idle_task(current);
	u64 tsc = rdtsc();
	u32 capture;

	if (!kipt_crash_may_report() || !may_begin())
		return;
	capture = kipt_crash_report(hook, regs, ip);
	if (!capture) {
		atomic_set(&waiting, 0);
		return;
	}
	report = (struct report){
		.capture = capture,
		.task = get_task_struct(current),
		.switches = switches_of(current, any),
		.any_switch = any,
		.began = jiffies,
		.began_tsc = tsc,
		.interrupted = kipt_probe_preempt_count(trapped) &
			       (NMI_MASK | HARDIRQ_MASK),
		.watcher = hook == KIPT_CRASH_HOOK_HUNG,
	};
	irq_work_queue(&begin_work);
}

/* Of the kernel itself: modules may say what they like. */
static bool is_of_kernel(const char *format)
{
	return (unsigned long)format >= __START_KERNEL_map &&
	       (unsigned long)format < MODULES_VADDR;
}

static bool has_level(const char *format)
{
	char start[2];

	if (get_kernel_nofault(start[0], format) ||
	    get_kernel_nofault(start[1], format + 1))
		return false;
	return start[0] == KERN_SOH_ASCII &&
	       start[1] >= LOGLEVEL_EMERG + '0' &&
	       start[1] <= LOGLEVEL_ERR + '0';
}

enum kipt_crash_hook kipt_crash_report_find(const char *format)
{
	char words[WORDS_BYTES];
	u32 i;

	if (!is_of_kernel(format) || !has_level(format) ||
	    copy_from_kernel_nofault(words, format + 2, sizeof(words)))
		return 0;
	words[WORDS_BYTES - 1] = 0;
	for (i = 0; i < ARRAY_SIZE(reports); i++)
		if (!strncmp(words, reports[i].words, strlen(reports[i].words)))
			return reports[i].hook;
	return 0;
}

void kipt_crash_report_uninit(void)
{
	irq_work_sync(&begin_work);
	cancel_delayed_work_sync(&look_work);
	if (atomic_read(&waiting))
		forget();
}
