// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does one wrong thing when it is loaded, the one that `what` names, so that
 * tests see each kernel's own report of it. What a kernel does not watch for
 * passes in silence. Never to be loaded where anything matters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *what = "";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "which wrong thing to do");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);
static unsigned long shared;
static void *volatile lost;

static void do_nothing(void)
{
}

static void do_warn(void)
{
	WARN(1, "a warning with words\n");
}

static void do_warn_on(void)
{
	int wrong = 1;

	WARN_ON(wrong);
}

static void do_refcount(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_inc(&count);
}

static void do_sleep(void)
{
	spin_lock(&spin);
	msleep(20);
	spin_unlock(&spin);
}

static void do_atomic(void)
{
	spin_lock(&spin);
	mutex_lock(&first);
	mutex_unlock(&first);
	spin_unlock(&spin);
}

static void do_hang(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(12 * HZ);
}

static void do_null(void)
{
	int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void do_lock(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void do_rcu(void)
{
	static int value;
	static int __rcu *pointer = (int __rcu __force *)&value;

	WRITE_ONCE(shared, *rcu_dereference(pointer));
}

static void do_preempt(void)
{
	WRITE_ONCE(shared, smp_processor_id());
}

static void do_freed(void)
{
	char *volatile bytes = kmalloc(64, GFP_KERNEL);

	if (!bytes)
		return;
	kfree(bytes);
	WRITE_ONCE(shared, bytes[8]);
}

static void do_shift(void)
{
	volatile int count = 40, one = 1;

	WRITE_ONCE(shared, one << count);
}

static void do_bounds(void)
{
	static int table[4];
	volatile int index = 5;

	WRITE_ONCE(shared, table[index]);
}

static void timer_ends(struct timer_list *timer)
{
}

static void do_object(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, timer_ends, 0);
	mod_timer(timer, jiffies + 100 * HZ);
	kfree(timer);
}

static void do_list(void)
{
	static LIST_HEAD(list);
	static struct list_head entry;

	list_add(&entry, &list);
	list_add(&entry, &list);
}

static void do_leak(void)
{
	int i;

	for (i = 0; i < 10; i++)
		lost = kmalloc(192, GFP_KERNEL);
	lost = NULL;
}

static void do_leak_page(void)
{
	lost = alloc_page(GFP_KERNEL);
	lost = NULL;
}

static int race(void *unused)
{
	unsigned long end = jiffies + 4 * HZ;

	while (time_before(jiffies, end)) {
		shared++;
		cond_resched();
	}
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void do_race(void)
{
	struct task_struct *other = kthread_run(race, NULL, "complain");
	unsigned long end = jiffies + 4 * HZ;

	while (time_before(jiffies, end)) {
		shared++;
		cond_resched();
	}
	if (!IS_ERR(other))
		kthread_stop(other);
}

static const struct {
	const char *name;
	void (*act)(void);
} wrongs[] = {
	{ "nothing", do_nothing },
	{ "warn", do_warn },
	{ "warn_on", do_warn_on },
	{ "refcount", do_refcount },
	{ "sleep", do_sleep },
	{ "atomic", do_atomic },
	{ "hang", do_hang },
	{ "null", do_null },
	{ "lock", do_lock },
	{ "rcu", do_rcu },
	{ "preempt", do_preempt },
	{ "freed", do_freed },
	{ "shift", do_shift },
	{ "bounds", do_bounds },
	{ "object", do_object },
	{ "list", do_list },
	{ "leak", do_leak },
	{ "leak_page", do_leak_page },
	{ "race", do_race },
};

static int __init complain_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(wrongs); i++) {
		if (strcmp(what, wrongs[i].name))
			continue;
		pr_notice("begins with %s\n", what);
		wrongs[i].act();
		pr_notice("ends with %s\n", what);
		return 0;
	}
	return -EINVAL;
}

static void __exit complain_exit(void)
{
}

module_init(complain_init);
module_exit(complain_exit);
MODULE_DESCRIPTION("Does wrong on purpose, for tests");
MODULE_LICENSE("GPL");
