// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets the hooks. They run whatever the kernel was doing, also in NMIs: kprobes and
 * notifiers with preemption off, the probe of the tracepoint within printk(), with
 * interrupts off. A kprobe that hits inside another is lost, and then the next in line is
 * heard: oops_enter(), panic(), __crash_kexec(), the notifiers.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/jhash.h>
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <asm/trapnr.h>
#include <asm/tsc.h>

#include "../lib/compat.h"
#include "../trace/capture.h"
#include "crash.h"
#include "crash_hooks.h"
#include "crash_report.h"
#include "../lib/probe.h"
#include "../lib/refuse.h"
#include "../shared/task_notes.h"

/* As much of a line is looked at. */
#define LINE_BYTES	80
/* From the call that prints the text of a warning to the instruction that traps. */
#define WARNING_BYTES	64U
/* Notes have the TSC shifted by so much: in 32 bits, days pass before it wraps. */
#define NOTE_SHIFT	20U
/* What a task does for so long after an oops belongs to that. */
#define OOPS_MS		10000ULL

/* When tasks had an oops, whether a snapshot could be taken or not. */
static struct kipt_task_notes oopsed;
/* Where tasks have met a warning by its text, until they trap. */
static struct kipt_task_notes warned;

/* Each CPU's idle task has number 0. */
static u32 this_task(void)
{
	return current->pid ?: ~smp_processor_id();
}

static void die_or_survive(enum kipt_crash_hook hook, struct pt_regs *regs,
			   u64 ip, u32 trap, bool is_end)
{
	if (is_end)
		kipt_crash_die(hook, regs, ip, trap);
	else
		kipt_crash_survive(hook, regs, ip, trap);
}

/* Of an oops the first hook counts, unless it is the end after all. */
static void meet_oops(enum kipt_crash_hook hook, struct pt_regs *regs, u64 ip,
		      u32 trap, bool trapped)
{
	bool is_end = kipt_crash_end_of_oops(trapped);
	u32 now = rdtsc() >> NOTE_SHIFT;

	if (!is_end && kipt_task_notes_has(&oopsed, this_task(), now,
					   OOPS_MS * tsc_khz >> NOTE_SHIFT))
		return;
	kipt_task_notes_add(&oopsed, this_task(), now);
	die_or_survive(hook, regs, ip, trap, is_end);
}

static int on_oops(struct kprobe *probe, struct pt_regs *regs)
{
	meet_oops(KIPT_CRASH_HOOK_OOPS, regs, 0, KIPT_CRASH_NO_TRAP,
		  !kprobe_ftrace(probe));
	return 0;
}

/* handle_stack_overflow(regs, ...), which prints before the oops begins. */
static int on_overflow(struct kprobe *probe, struct pt_regs *regs)
{
	const struct pt_regs *fault = (void *)regs->di;
	unsigned long ip;

	if (get_kernel_nofault(ip, &fault->ip))
		ip = 0;
	meet_oops(KIPT_CRASH_HOOK_OOPS, regs, ip, KIPT_CRASH_NO_TRAP,
		  !kprobe_ftrace(probe));
	return 0;
}

static void meet_warning(struct pt_regs *regs, u64 ip, u32 trap)
{
	die_or_survive(KIPT_CRASH_HOOK_WARN, regs, ip, trap,
		       kipt_crash_end_at(KIPT_KNOB_WARN));
}

/* What a BUGFLAG_ONCE warned of already is silent. */
static void meet_bug(const struct bug_entry *bug, struct pt_regs *regs, u64 ip,
		     bool trapped)
{
	unsigned short flags;

	if (!bug || get_kernel_nofault(flags, &bug->flags))
		return;
	if (!(flags & BUGFLAG_WARNING))
		meet_oops(KIPT_CRASH_HOOK_OOPS, regs, ip, X86_TRAP_UD, trapped);
	else if (!kipt_task_notes_take(&warned, this_task(), ip,
				       WARNING_BYTES) &&
		 !(flags & BUGFLAG_ONCE && flags & BUGFLAG_DONE))
		meet_warning(regs, ip, X86_TRAP_UD);
}

/* find_bug(address): what it finds is a warning or will be an oops. */
static int on_bug_sought(struct kretprobe_instance *call, struct pt_regs *regs)
{
	*(unsigned long *)call->data = regs->di;
	return 0;
}

static int on_bug_found(struct kretprobe_instance *call, struct pt_regs *regs)
{
	meet_bug((void *)regs_return_value(regs), regs,
		 *(unsigned long *)call->data, false);
	return 0;
}

/* report_bug_entry(bug, regs), which has no need to look for it. */
static int on_bug_entry(struct kprobe *probe, struct pt_regs *regs)
{
	const struct pt_regs *fault = (void *)regs->si;
	unsigned long ip;

	if (!get_kernel_nofault(ip, &fault->ip))
		meet_bug((void *)regs->di, regs, ip, !kprobe_ftrace(probe));
	return 0;
}

/* At its first instruction: what it returns to is on top of the stack. */
static u64 caller_of(const struct kprobe *probe, const struct pt_regs *regs)
{
	unsigned long next;

	if (get_kernel_nofault(next, (unsigned long *)regs->sp))
		return 0;
	return kipt_crash_call_before((unsigned long)probe->addr, next);
}

static int on_panic(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_die(KIPT_CRASH_HOOK_PANIC, regs, caller_of(probe, regs),
		       KIPT_CRASH_NO_TRAP);
	return 0;
}

/*
 * __warn_printk(format, ...), before the instruction that warns: that does not
 * count once more. In between the task may go to another CPU, and others may warn.
 */
static int on_warn_text(struct kprobe *probe, struct pt_regs *regs)
{
	u64 call = caller_of(probe, regs);

	kipt_task_notes_add(&warned, this_task(), call);
	meet_warning(regs, call, KIPT_CRASH_NO_TRAP);
	return 0;
}

static int on_kexec(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_die(KIPT_CRASH_HOOK_KEXEC, regs, 0, KIPT_CRASH_NO_TRAP);
	kipt_crash_print();
	return 0;
}

static void meet_line(const char *text, size_t len, struct pt_regs *regs)
{
	const struct kipt_crash_words *report = kipt_crash_words_find(text, len);
	u64 call;

	kipt_crash_hear();
	if (!report || !report->hook ||
	    (report->more && !strnstr(text, report->more, len)))
		return;
	call = kipt_crash_call_of_printk(report->words);
	if (call)
		die_or_survive(report->hook, regs, call, KIPT_CRASH_NO_TRAP,
			       report->knob != KIPT_KNOBS &&
			       kipt_crash_end_at(report->knob));
}

/* A line goes into the log; no console has it yet. */
static void on_console(void *unused, const char *text, size_t len)
{
	meet_line(text, len, NULL);
}

/*
 * printk_sprint(text, size, facility, flags, format, ...), where that tracepoint cannot
 * be used: as far as the table goes, formats are what they become.
 */
static int on_sprint(struct kprobe *probe, struct pt_regs *regs)
{
	char bytes[LINE_BYTES];
	const char *format = kipt_crash_read_format(regs->r8, bytes, sizeof(bytes)) ?: "";

	meet_line(format, strlen(format), regs);
	return 0;
}

/**
 * struct hook - a probe
 * @symbol: of what
 * @late: what status says is seen late where it cannot be set; NULL: it names the symbol alone,
 *	and a crash may be missed
 * @handler: what is called; NULL: the next two are
 * @entry: what is called where the function begins
 * @found: what is called where it returns
 * @newer: a kernel without the function is an older one, and needs no probe of it
 * @absent: it is not set in this kernel: another hook sees the same
 * @lost: it could not be set
 * @set: it is registered
 * @probe: the probe; without @found only its @probe.kp is used
 */
struct hook {
	const char *symbol;
	const char *late;
	kprobe_pre_handler_t handler;
	kretprobe_handler_t entry, found;
	bool newer;
	bool absent;
	bool lost;
	bool set;
	struct kretprobe probe;
};

#define LATE_BUG	"a BUG is seen after its first line, a warning not at all"
#define LATE_REPORT	"lockups, hung tasks and reports of the kernel are not seen"

static struct hook hooks[] = {
	{ .symbol = "oops_enter", .handler = on_oops },
	{ .symbol = "panic", .handler = on_panic },
	/* What panic() calls since 6.16, and others may. */
	{ .symbol = "vpanic", .handler = on_panic, .newer = true },
	{ .symbol = "__crash_kexec", .handler = on_kexec },
	{ .symbol = "__warn_printk", .handler = on_warn_text,
	  .late = "warnings with a text are seen after that" },
	{ .symbol = "report_bug_entry", .handler = on_bug_entry,
	  .newer = true, .late = LATE_BUG },
	{ .symbol = "printk_sprint", .handler = on_sprint,
	  .absent = KIPT_COMPAT_CONSOLE, .late = LATE_REPORT },
	{ .symbol = "handle_stack_overflow", .handler = on_overflow,
	  .late = "a stack that overflows is seen after the first line of that" },
	{ .symbol = "find_bug", .entry = on_bug_sought, .found = on_bug_found,
	  .late = LATE_BUG },
};

/* A page fault does not leave its vector in the thread, but it has a name. */
static u32 trap_of(const struct die_args *args)
{
	if (args->str && !strcmp(args->str, "Oops"))
		return X86_TRAP_PF;
	return args->trapnr;
}

static int on_die(struct notifier_block *block, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (!args->regs)
		return NOTIFY_DONE;
	/* Of a double fault the kernel prints a line before the oops begins, and then panics. */
	if (what == DIE_TRAP && args->trapnr == X86_TRAP_DF)
		kipt_crash_die(KIPT_CRASH_HOOK_DIE, args->regs, args->regs->ip,
			       KIPT_CRASH_NO_TRAP);
	if (what != DIE_OOPS)
		return NOTIFY_DONE;
	if (!kipt_capture_number())
		meet_oops(KIPT_CRASH_HOOK_DIE, args->regs, 0,
			  KIPT_CRASH_NO_TRAP, false);
	kipt_crash_fault(args->regs->ip, trap_of(args));
	return NOTIFY_DONE;
}

static int on_panic_notifier(struct notifier_block *block, unsigned long what,
			     void *data)
{
	kipt_crash_die(KIPT_CRASH_HOOK_NOTIFIER, NULL, 0, KIPT_CRASH_NO_TRAP);
	kipt_crash_print();
	return NOTIFY_DONE;
}

static struct notifier_block die_block = {
	.notifier_call = on_die,
	.priority = INT_MAX,
};

static struct notifier_block panic_block = {
	.notifier_call = on_panic_notifier,
	.priority = INT_MAX,
};

static bool console_set;

/* Guards the hooks; armed sessions are counted. */
static DEFINE_MUTEX(users_lock);
static u32 users;

static void set_hook(struct hook *hook)
{
	int err;

	if (hook->absent)
		return;
	hook->probe = (struct kretprobe){
		.kp.symbol_name = hook->symbol,
		.kp.pre_handler = hook->handler,
		.entry_handler = hook->entry,
		.handler = hook->found,
		.data_size = sizeof(unsigned long),
	};
	err = hook->found ? register_kretprobe(&hook->probe) :
			    register_kprobe(&hook->probe.kp);
	hook->set = !err;
	hook->lost = err && !(hook->newer && err == -ENOENT);
}

/* Not exported before 6.2, but known by its name. */
static struct tracepoint *console;

static void match_console(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "console"))
		console = tracepoint;
}

static bool set_console_hook(void)
{
	if (!KIPT_COMPAT_CONSOLE)
		return false;
	if (!console)
		for_each_kernel_tracepoint(match_console, NULL);
	return console && !tracepoint_probe_register(console, on_console, NULL);
}

static bool is_any_disarmed(void)
{
	const struct hook *hook;

	for (hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++)
		if (hook->set && !kipt_probe_is_armed(&hook->probe.kp))
			return true;
	return false;
}

/*
 * Since the hooks were set: in the handler of another kprobe none fires; and more
 * threads may be between the call of find_bug() and its return than are counted on.
 */
static unsigned long count_missed(void)
{
	unsigned long count = 0;
	const struct hook *hook;

	for (hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++)
		if (hook->set)
			count += READ_ONCE(hook->probe.kp.nmissed) +
				 READ_ONCE(hook->probe.nmissed);
	return count;
}

/* Separates a reason from the one before it. */
static void begin_reason(struct seq_buf *why)
{
	if (seq_buf_used(why))
		seq_buf_printf(why, "; ");
}

/* Those without which a crash may be missed come first. */
static void name_lost(struct seq_buf *why, const char *symbol, const char *late)
{
	begin_reason(why);
	seq_buf_printf(why, "%s cannot be probed%s%s", symbol, late ? ": " : "", late ?: "");
}

static void name_all_lost(struct seq_buf *why)
{
	const struct hook *hook;

	for (hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++)
		if (hook->lost)
			name_lost(why, hook->symbol, hook->late);
	if (KIPT_COMPAT_CONSOLE && !console_set)
		name_lost(why, "the tracepoint console", LATE_REPORT);
}

/* What the log has said last. */
static u32 logged;

bool kipt_crash_hooks_fire(char *why, size_t size)
{
	unsigned long missed = count_missed();
	const char *words = kipt_crash_words_unknown();
	struct seq_buf all;
	u32 hash;

	strscpy(why, "", size);
	seq_buf_init(&all, why, size);
	/* A session that is being armed has none yet. */
	if (!READ_ONCE(users))
		return true;
	if (is_any_disarmed())
		seq_buf_printf(&all, "%s", KIPT_PROBES_OFF);
	name_all_lost(&all);
	if (missed) {
		begin_reason(&all);
		seq_buf_printf(&all, "hooks of crashes missed %lu calls, most in the handler of another kprobe: an event then was seen late or not at all",
			       missed);
	}
	if (!kipt_crash_end_is_known()) {
		begin_reason(&all);
		seq_buf_printf(&all, "panic_on_oops is not found, as without CONFIG_KALLSYMS_ALL: what the machine dies of counts as survived until it does");
	}
	if (words) {
		begin_reason(&all);
		seq_buf_printf(&all, "%s are not seen: this kernel has other words for them",
			       words);
	}
	hash = why[0] ? jhash(why, strlen(why), 0) : 0;
	if (xchg(&logged, hash) != hash && hash)
		pr_warn("a crash may be seen late or not at all: %s\n", why);
	return !why[0];
}

/* Logs what is new. */
static void log_new(void)
{
	char why[KIPT_REFUSE_BYTES];

	kipt_crash_hooks_fire(why, sizeof(why));
}

static void set_all(void)
{
	u32 i;

	kipt_crash_end_init();
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		set_hook(&hooks[i]);
	/* These fail only for a block that is registered already. */
	register_die_notifier(&die_block);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	console_set = set_console_hook();
	kipt_crash_words_look();
	logged = 0;
}

static void take_all(void)
{
	struct hook *hook;

	if (console_set)
		tracepoint_probe_unregister(console, on_console, NULL);
	tracepoint_synchronize_unregister();
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
	unregister_die_notifier(&die_block);
	for (hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++)
		if (hook->set && hook->found)
			unregister_kretprobe(&hook->probe);
		else if (hook->set)
			unregister_kprobe(&hook->probe.kp);
}

void kipt_crash_hooks_get(void)
{
	mutex_lock(&users_lock);
	if (!users)
		set_all();
	WRITE_ONCE(users, users + 1);
	log_new();
	mutex_unlock(&users_lock);
}

void kipt_crash_hooks_put(void)
{
	mutex_lock(&users_lock);
	log_new();
	WRITE_ONCE(users, users - 1);
	if (!users)
		take_all();
	mutex_unlock(&users_lock);
}
