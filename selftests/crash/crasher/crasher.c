// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kills its machine, in the way and in the context that are written to
 * /sys/kernel/debug/crasher as "FAULT" or "FAULT@CONTEXT", such as "null@irq".
 * Before the fault it makes a few hundred calls, so that the end of the trace
 * is known by its look. A context may be a function of kipt, of which "@CONTEXT"
 * is written before. In the context "patched" code that runs just before the fault was patched
 * just before.
 * Never to be loaded where anything matters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/panic.h>
#include <linux/platform_device.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <asm/apic.h>
#include <asm/msr.h>
#include <asm/nmi.h>

#define STEPS	200
/* Well below KIPT_TEXT_SLACK_MS. */
#define PATCH_MS	20ULL
#define PATCH_TRIES	200
#define FRAME	512
/* Watchdogs of lockups wait for six, of tasks for four to six. */
#define WATCHED_SECONDS	9ULL

static struct dentry *file;
static DEFINE_SPINLOCK(spin);
static volatile unsigned int seen;
static void (*fault)(void);
static atomic_t waited_for;
static DEFINE_PER_CPU(struct task_struct *, together);
static atomic_t nmi_wanted;
static atomic_t stuck;
static DEFINE_STATIC_KEY_FALSE(patched);

static noinline void crasher_leaf(unsigned int n)
{
	if (n & 1)
		seen += n;
}

static noinline void crasher_step(unsigned int n)
{
	crasher_leaf(n);
	if (n % 3 == 0)
		crasher_leaf(n + 1);
}

static noinline void crasher_walk(void)
{
	unsigned int n;

	for (n = 0; n < STEPS; n++)
		crasher_step(n);
}

static noinline void crasher_null(void)
{
	int *volatile nowhere = NULL;

	*nowhere = 1;
}

static noinline void crasher_call(void)
{
	void (*volatile nowhere)(void) = NULL;

	nowhere();
}

static noinline void crasher_bug(void)
{
	BUG();
}

/* An address that is not canonical: #GP, not a page fault. */
static noinline void crasher_gp(void)
{
	int *volatile nowhere = (int *)0x4141000000000000UL;

	*nowhere = 1;
}

static noinline void crasher_panic(void)
{
	panic("crasher: panics");
}

static noinline unsigned int crasher_deep(unsigned int depth)
{
	volatile unsigned char frame[FRAME];

	frame[depth % FRAME] = (unsigned char)depth;
	if (depth == UINT_MAX)
		return 0;
	return crasher_deep(depth + 1) + frame[depth % FRAME];
}

/* The page below the stack is not there, and no stack for a page fault: #DF. */
static noinline void crasher_overflow(void)
{
	seen += crasher_deep(0);
}

/* No page fault has a stack, and this is no guard page's. */
static noinline void crasher_double(void)
{
	asm volatile("mov $0x800, %%esp; push %%rax" : : : "memory");
}
STACK_FRAME_NON_STANDARD(crasher_double);

static noinline void crasher_warn(void)
{
	WARN(1, "crasher: warns\n");
}

static noinline void move(void)
{
	unsigned int other = cpumask_any_but(cpu_online_mask, task_cpu(current));

	if (other < nr_cpu_ids)
		set_cpus_allowed_ptr(current, cpumask_of(other));
}

/* The same, and the scheduler moves the task after the text. */
static noinline void crasher_moved(void)
{
	__warn_printk("crasher: warns\n");
	move();
	WARN_ON(1);
}

/* A warning that is survived, and a panic right after it. */
static noinline void crasher_twice(void)
{
	WARN_ON(1);
	panic("crasher: panics after a warning");
}

static noinline void crasher_warnon(void)
{
	WARN_ON(1);
}

/* The kernel finds that the list is none. */
static noinline void crasher_list(void)
{
	struct list_head first, second;

	INIT_LIST_HEAD(&first);
	list_add(&second, &first);
	first.next = &first;
	list_del(&second);
}

static noinline void crasher_atomic(void)
{
	preempt_disable();
	schedule();
	/* A kernel that reports this takes the count back by itself. */
	if (preempt_count())
		preempt_enable();
}

/* Long enough for the watchdogs, and then it goes on. */
static noinline void crasher_stall(void)
{
	u64 end = ktime_get_ns() + WATCHED_SECONDS * NSEC_PER_SEC;

	preempt_disable();
	while (ktime_get_ns() < end)
		cpu_relax();
	preempt_enable();
}

static noinline void crasher_late(void)
{
	schedule_timeout_uninterruptible(WATCHED_SECONDS * HZ);
}

/* Where the watchdogs are to find it. */
/*
 * Loops until a watchdog comes. The loop has a condition: a trace does not say how
 * often one without a condition goes round. And it goes round slowly, as otherwise
 * the ring would hold nothing else.
 */
static noinline void crasher_spin(void)
{
	static u8 room[1 << 16];

	spin_lock(&spin);
	while (seen) {
		void *to = room;
		unsigned long count = sizeof(room);

		asm volatile("rep stosb" : "+D" (to), "+c" (count) : "a" (0)
			     : "memory");
	}
}

static noinline void crasher_hang(void)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
}

static void crasher_die(void)
{
	crasher_walk();
	fault();
}

static void die_in_work(struct irq_work *work)
{
	crasher_die();
}

static void die_in_timer(struct timer_list *timer)
{
	crasher_die();
}

static int die_in_nmi(unsigned int kind, struct pt_regs *regs)
{
	if (!atomic_xchg(&nmi_wanted, 0))
		return NMI_DONE;
	crasher_die();
	return NMI_HANDLED;
}

/* The CPU hears nothing until this ends, which it does not. */
static int stay_in_nmi(unsigned int kind, struct pt_regs *regs)
{
	if (smp_processor_id() == atomic_read(&nmi_wanted) - 1)
		return NMI_DONE;
	atomic_inc(&stuck);
	/* So that there are no branches. It has no interrupts, and no other NMI. */
	for (;;)
		native_halt();
}

/*
 * When the function that is probed is called next, on whatever CPU, this goes
 * on in its place: after the probe, so that others fire.
 */
static int go_to_death(struct kprobe *probe, struct pt_regs *regs)
{
	if (!atomic_xchg(&nmi_wanted, 0))
		return 0;
	regs->ip = (unsigned long)crasher_die;
	return 1;
}

static int die_in_thread(void *unused)
{
	crasher_die();
	/* What was survived; the thread is stopped by nobody. */
	return 0;
}

/* All at the same moment, each on its CPU. */
static int die_together(void *unused)
{
	local_irq_disable();
	atomic_dec(&waited_for);
	while (atomic_read(&waited_for) > 0)
		cpu_relax();
	crasher_die();
	local_irq_enable();
	return 0;
}

static int here(void)
{
	crasher_die();
	return 0;
}

/* In one call, and once more where other CPUs held it up: it counts as new for 50 ms. */
static int patched_here(void)
{
	unsigned int tries;
	u64 begun;

	for (tries = 0; tries < PATCH_TRIES; tries++) {
		begun = ktime_get_ns();
		if (static_key_enabled(&patched))
			static_branch_disable(&patched);
		else
			static_branch_enable(&patched);
		if (ktime_get_ns() - begun < PATCH_MS * NSEC_PER_MSEC)
			break;
	}
	if (static_branch_unlikely(&patched))
		seen++;
	crasher_die();
	return 0;
}

static int in_irq_work(void)
{
	static struct irq_work work;

	init_irq_work(&work, die_in_work);
	irq_work_queue(&work);
	irq_work_sync(&work);
	return 0;
}

static int in_timer_handler(void)
{
	static struct timer_list timer;

	timer_setup(&timer, die_in_timer, 0);
	mod_timer(&timer, jiffies + 1);
	msleep(200);
	return 0;
}

static void send_nmi(void)
{
	preempt_disable();
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
	preempt_enable();
	mdelay(20);
}

static int in_nmi_handler(void)
{
	int err = register_nmi_handler(NMI_LOCAL, die_in_nmi, 0, "crasher");

	if (err)
		return err;
	atomic_set(&nmi_wanted, 1);
	send_nmi();
	unregister_nmi_handler(NMI_LOCAL, "crasher");
	return 0;
}

static int with_others_stuck(void)
{
	int err = register_nmi_handler(NMI_LOCAL, stay_in_nmi, NMI_FLAG_FIRST,
				       "crasher");
	unsigned int cpu;

	if (err)
		return err;
	preempt_disable();
	atomic_set(&nmi_wanted, smp_processor_id() + 1);
	for_each_online_cpu(cpu)
		if (cpu != smp_processor_id())
			apic->send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	while (atomic_read(&stuck) < num_online_cpus() - 1)
		cpu_relax();
	crasher_die();
	preempt_enable();
	return 0;
}

static noinline void crasher_probed(void)
{
	seen = 0;
}

static int die_in_probe(struct kprobe *probe, struct pt_regs *regs)
{
	crasher_die();
	return 0;
}

/* Where no other kprobe fires. */
static int in_probe_handler(void)
{
	static struct kprobe probe;
	int err;

	probe = (struct kprobe){
		.addr = (kprobe_opcode_t *)crasher_probed,
		.pre_handler = die_in_probe,
	};
	err = register_kprobe(&probe);
	if (err)
		return err;
	crasher_probed();
	unregister_kprobe(&probe);
	return 0;
}

static int probe_function(const char *name)
{
	static struct kprobe probe;

	probe.symbol_name = name;
	probe.pre_handler = go_to_death;
	return register_kprobe(&probe);
}

static void die_in_shutdown(struct platform_device *device)
{
	crasher_die();
}

static struct platform_driver shutdown_driver = {
	.shutdown = die_in_shutdown,
	.driver = { .name = "crasher" },
};

/* Dies after all reboot notifiers, when the machine reboots and shuts its first device down. */
static int in_shutdown(void)
{
	struct platform_device *device;
	int err = platform_driver_register(&shutdown_driver);

	if (err)
		return err;
	device = platform_device_register_simple("crasher", PLATFORM_DEVID_NONE,
						 NULL, 0);
	return PTR_ERR_OR_ZERO(device);
}

static int in_thread(void)
{
	struct task_struct *task = kthread_run(die_in_thread, NULL, "crasher");

	if (IS_ERR(task))
		return PTR_ERR(task);
	msleep(200);
	return 0;
}

static int on_all(void)
{
	struct task_struct *task;
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		task = kthread_create_on_cpu(die_together, NULL, cpu, "crasher/%u");
		if (IS_ERR(task))
			return PTR_ERR(task);
		per_cpu(together, cpu) = task;
	}
	/*
	 * A CPU that waits does nothing else: all threads are there before the
	 * first runs, and the one of this CPU does not run before the others.
	 */
	atomic_set(&waited_for, num_online_cpus());
	preempt_disable();
	for_each_online_cpu(cpu)
		wake_up_process(per_cpu(together, cpu));
	preempt_enable();
	msleep(1000);
	return 0;
}

static const struct {
	const char *name;
	void (*fault)(void);
} faults[] = {
	{ "null", crasher_null },
	{ "call", crasher_call },
	{ "bug", crasher_bug },
	{ "gp", crasher_gp },
	{ "panic", crasher_panic },
	{ "overflow", crasher_overflow },
	{ "double", crasher_double },
	{ "warn", crasher_warn },
	{ "warnon", crasher_warnon },
	{ "moved", crasher_moved },
	{ "twice", crasher_twice },
	{ "list", crasher_list },
	{ "atomic", crasher_atomic },
	{ "stall", crasher_stall },
	{ "late", crasher_late },
	{ "spin", crasher_spin },
	/* The same, where those of RCU are faster. */
	{ "rcu", crasher_spin },
	{ "hang", crasher_hang },
	/* An NMI that is nobody's. */
	{ "nmi", send_nmi },
};

static const struct {
	const char *name;
	int (*reach)(void);
} contexts[] = {
	{ "task", here },
	{ "patched", patched_here },
	{ "thread", in_thread },
	{ "irq", in_irq_work },
	{ "softirq", in_timer_handler },
	{ "nmi", in_nmi_handler },
	{ "all", on_all },
	{ "stuck", with_others_stuck },
	{ "reboot", in_shutdown },
	{ "probe", in_probe_handler },
};

static void nothing(void *unused)
{
}

/* What CPUs are in the same warning, and how many trace after it. */
static atomic_t meeting, tracing;

static noinline void crasher_once(void)
{
	WARN_ON_ONCE(1);
}

static void warn_once(void *unused)
{
	unsigned long flags;
	u32 low, __maybe_unused high;

	local_irq_save(flags);
	atomic_dec(&meeting);
	while (atomic_read(&meeting) > 0)
		cpu_relax();
	crasher_once();
	rdmsr(MSR_IA32_RTIT_CTL, low, high);
	if (low & RTIT_CTL_TRACEEN)
		atomic_inc(&tracing);
	local_irq_restore(flags);
}

/* Two CPUs meet it at the same moment, one of them in an interrupt. */
static int warn_together(void)
{
	unsigned int other;
	int cpu = get_cpu(), err;

	other = cpumask_any_but(cpu_online_mask, cpu);
	atomic_set(&meeting, 2);
	atomic_set(&tracing, 0);
	err = smp_call_function_single(other, warn_once, NULL, 0);
	if (!err)
		warn_once(NULL);
	/* The call is over. */
	if (!err)
		err = smp_call_function_single(other, nothing, NULL, 1);
	put_cpu();
	return err ?: atomic_read(&tracing) == 2 ? 0 : -EIO;
}

/* Inside kipt: in a function that is called there next. */
static const struct {
	const char *name;
	const char *function;
	/* It is part of dying. */
	bool dies;
} places[] = {
	{ "decoder", "kipt_insn_decode" },
	/* With the lock of a session and that of CPU hotplug. */
	{ "session", "kipt_trace_stop_all" },
	/* In netlink's notifier. */
	{ "owner", "kipt_session_socket_closed" },
	/* With the lock of a run queue, a raw one. */
	{ "switch", "kipt_sideband_on_switch" },
	{ "pmi", "kipt_trace_pmi_local" },
	{ "hotplug", "kipt_trace_stop_offline" },
	{ "hook", "kipt_dump_stop_local", true },
	{ "excerpt", "kipt_excerpt_lines_add", true },
};

static int die(const char *what, const char *where)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (!*what && !strcmp(where, places[i].name))
			return probe_function(places[i].function);
	if (!strcmp(what, "once"))
		return warn_together();
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		if (!strcmp(what, faults[i].name))
			break;
	if (i == ARRAY_SIZE(faults))
		return -EINVAL;
	fault = faults[i].fault;
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		if (strcmp(where, contexts[i].name))
			continue;
		pr_notice("begins with %s@%s\n", what, where);
		return contexts[i].reach();
	}
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (strcmp(where, places[i].name))
			continue;
		pr_notice("is to begin with %s@%s\n", what, where);
		atomic_set(&nmi_wanted, 1);
		return places[i].dies ? here() : 0;
	}
	return -EINVAL;
}

static ssize_t crasher_write(struct file *opened, const char __user *from,
			     size_t size, loff_t *offset)
{
	char text[32], *where = text, *what;
	int err;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	text[size] = 0;
	strim(text);
	what = strsep(&where, "@");
	err = die(what, where ? where : "task");
	return err ? err : size;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.write = crasher_write,
};

static int __init crasher_init(void)
{
	file = debugfs_create_file("crasher", 0200, NULL, NULL, &operations);
	return PTR_ERR_OR_ZERO(file);
}

static void __exit crasher_exit(void)
{
	debugfs_remove(file);
}

module_init(crasher_init);
module_exit(crasher_exit);
MODULE_DESCRIPTION("Kills its machine, for tests");
MODULE_LICENSE("GPL");
