// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets the hooks. Kprobes run with preemption off, whatever the kernel was
 * doing, and so do the notifiers; one that hits inside another is lost, and
 * then the next in line is heard: oops_enter(), panic(), __crash_kexec(), the
 * notifiers.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/ibt.h>
#include <asm/text-patching.h>
#include <asm/trapnr.h>

#include "crash.h"
#include "crash_hooks.h"
#include "crash_report.h"
#include "probe.h"

static int on_oops(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_hit(KIPT_CRASH_HOOK_OOPS, regs, 0);
	return 0;
}

/* handle_stack_overflow(regs, ...), which prints before the oops begins. */
static int on_overflow(struct kprobe *probe, struct pt_regs *regs)
{
	const struct pt_regs *fault = (void *)regs->di;
	unsigned long ip;

	if (get_kernel_nofault(ip, &fault->ip))
		ip = 0;
	kipt_crash_hit(KIPT_CRASH_HOOK_OOPS, regs, ip);
	return 0;
}

/* What a BUGFLAG_ONCE warned of already is silent. */
static void meet_bug(const struct bug_entry *bug, struct pt_regs *regs, u64 ip)
{
	unsigned short flags;

	if (!bug || get_kernel_nofault(flags, &bug->flags))
		return;
	if (!(flags & BUGFLAG_WARNING))
		kipt_crash_bug(regs, ip);
	else if (!(flags & BUGFLAG_ONCE) || !(flags & BUGFLAG_DONE))
		kipt_crash_warn(regs, ip, true);
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
		 *(unsigned long *)call->data);
	return 0;
}

/* report_bug_entry(bug, regs), which has no need to look for it. */
static int on_bug_entry(struct kprobe *probe, struct pt_regs *regs)
{
	const struct pt_regs *fault = (void *)regs->si;
	unsigned long ip;

	if (!get_kernel_nofault(ip, &fault->ip))
		meet_bug((void *)regs->di, regs, ip);
	return 0;
}

/* The instruction before @behind, if it is a call of what is probed. */
static u64 call_before(const struct kprobe *probe, unsigned long behind)
{
	u8 opcode;
	s32 distance;

	if (get_kernel_nofault(opcode, (u8 *)behind - CALL_INSN_SIZE) ||
	    get_kernel_nofault(distance, (s32 *)behind - 1) ||
	    opcode != CALL_INSN_OPCODE)
		return behind;
	/* The probe is behind ENDBR, the call may be. */
	if ((unsigned long)probe->addr - (behind + distance) > ENDBR_INSN_SIZE)
		return behind;
	return behind - CALL_INSN_SIZE;
}

/* At its first instruction: what it returns to is on top of the stack. */
static u64 caller_of(const struct kprobe *probe, const struct pt_regs *regs)
{
	unsigned long behind;

	if (get_kernel_nofault(behind, (unsigned long *)regs->sp))
		return 0;
	return call_before(probe, behind);
}

static int on_panic(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_hit(KIPT_CRASH_HOOK_PANIC, regs, caller_of(probe, regs));
	return 0;
}

/* _printk(format, ...) */
static int on_printk(struct kprobe *probe, struct pt_regs *regs)
{
	enum kipt_crash_hook hook = kipt_crash_report_find((void *)regs->di);

	if (hook == KIPT_CRASH_HOOK_OOPS)
		kipt_crash_hit(hook, regs, caller_of(probe, regs));
	else if (hook)
		kipt_crash_report_begin(hook, regs, caller_of(probe, regs),
					!kprobe_ftrace(probe));
	return 0;
}

/* __warn_printk(format, ...), before the instruction that warns. */
static int on_warn_text(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_warn(regs, caller_of(probe, regs), false);
	return 0;
}

static int on_kexec(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_hit(KIPT_CRASH_HOOK_KEXEC, regs, 0);
	kipt_crash_tell();
	return 0;
}

static int on_task_dead(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_survived(!kprobe_ftrace(probe));
	return 0;
}

/* __warn(file, line, caller, ...): the caller is the instruction that warns. */
static int on_warn(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_warn(regs, regs->dx, true);
	return 0;
}

/* The last thing that __warn() does, and others do too. */
static int on_taint(struct kprobe *probe, struct pt_regs *regs)
{
	kipt_crash_warned();
	return 0;
}

/**
 * struct hook - a probe
 * @symbol: of what
 * @late: what is seen late without it; NULL: a crash, at worst
 * @handler: what is called
 * @newer: older kernels do without the function
 * @lost: it should be there and is not
 * @set: it is registered
 * @probe: the probe
 */
struct hook {
	const char *symbol;
	const char *late;
	kprobe_pre_handler_t handler;
	bool newer;
	bool lost;
	bool set;
	struct kprobe probe;
};

#define LATE_BUG	"a BUG and warnings are seen behind their first line"

static struct hook hooks[] = {
	{ .symbol = "oops_enter", .handler = on_oops },
	{ .symbol = "panic", .handler = on_panic },
	/* What panic() calls since 6.16, and others may. */
	{ .symbol = "vpanic", .handler = on_panic, .newer = true },
	{ .symbol = "__crash_kexec", .handler = on_kexec },
	{ .symbol = "make_task_dead", .handler = on_task_dead },
	{ .symbol = "__warn", .handler = on_warn },
	{ .symbol = "add_taint", .handler = on_taint },
	{ .symbol = "__warn_printk", .handler = on_warn_text,
	  .late = "warnings with a text are seen behind that" },
	{ .symbol = "report_bug_entry", .handler = on_bug_entry,
	  .newer = true, .late = LATE_BUG },
	{ .symbol = "_printk", .handler = on_printk,
	  .late = "lockups, hung tasks and other reports are seen behind their lines" },
	{ .symbol = "handle_stack_overflow", .handler = on_overflow,
	  .late = "a stack that overflows is seen behind the first line of that" },
};

/* The same for a BUG. */
static struct kretprobe bug_probe;
static bool bug_set;

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

	if (what != DIE_OOPS || !args->regs)
		return NOTIFY_DONE;
	kipt_crash_hit(KIPT_CRASH_HOOK_DIE, args->regs, 0);
	kipt_crash_fault(args->regs->ip, trap_of(args));
	return NOTIFY_DONE;
}

static int on_panic_notifier(struct notifier_block *block, unsigned long what,
			     void *data)
{
	kipt_crash_hit(KIPT_CRASH_HOOK_NOTIFIER, NULL, 0);
	kipt_crash_tell();
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

static bool die_set, panic_set;

static void warn_of(const char *symbol, int err, const char *late)
{
	pr_warn("%s cannot be probed (error %d): %s\n", symbol, err,
		late ?: "a crash may be seen late");
}

static void set_hook(struct hook *hook)
{
	int err;

	hook->probe = (struct kprobe){
		.symbol_name = hook->symbol,
		.pre_handler = hook->handler,
	};
	err = register_kprobe(&hook->probe);
	hook->set = !err;
	hook->lost = err && !(hook->newer && err == -ENOENT);
	if (hook->lost)
		warn_of(hook->symbol, err, hook->late);
}

static void set_bug_hook(void)
{
	int err;

	bug_probe = (struct kretprobe){
		.kp.symbol_name = "find_bug",
		.entry_handler = on_bug_sought,
		.handler = on_bug_found,
		.data_size = sizeof(unsigned long),
	};
	err = register_kretprobe(&bug_probe);
	bug_set = !err;
	if (err)
		warn_of("find_bug", err, LATE_BUG);
}

void kipt_crash_hooks_init(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		set_hook(&hooks[i]);
	set_bug_hook();
	die_set = !register_die_notifier(&die_block);
	panic_set = !atomic_notifier_chain_register(&panic_notifier_list,
						    &panic_block);
}

void kipt_crash_hooks_uninit(void)
{
	u32 i;

	if (panic_set)
		atomic_notifier_chain_unregister(&panic_notifier_list,
						 &panic_block);
	if (die_set)
		unregister_die_notifier(&die_block);
	if (bug_set)
		unregister_kretprobe(&bug_probe);
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].set)
			unregister_kprobe(&hooks[i].probe);
}

static bool is_any_disarmed(void)
{
	const struct hook *hook;

	for (hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++)
		if (hook->set && !kipt_probe_is_armed(&hook->probe))
			return true;
	return bug_set && !kipt_probe_is_armed(&bug_probe.kp);
}

/* One after the other, those without which a crash may be missed first. */
static void name_lost(const char *symbol, const char *late, char *why,
		      size_t size)
{
	size_t used = strlen(why);

	snprintf(why + used, size - used, "%s%s could not be probed%s%s",
		 used ? "; " : "", symbol, late ? ": " : "", late ?: "");
}

bool kipt_crash_hooks_fire(char *why, size_t size)
{
	const struct hook *hook;

	strscpy(why, "", size);
	if (is_any_disarmed())
		strscpy(why, KIPT_PROBES_OFF, size);
	for (hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++)
		if (hook->lost)
			name_lost(hook->symbol, hook->late, why, size);
	if (!bug_set)
		name_lost("find_bug", LATE_BUG, why, size);
	return !why[0];
}
