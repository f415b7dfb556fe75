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

/* find_bug(address): what it finds is a warning or will be an oops. */
static int on_bug_sought(struct kretprobe_instance *call, struct pt_regs *regs)
{
	*(unsigned long *)call->data = regs->di;
	return 0;
}

static int on_bug_found(struct kretprobe_instance *call, struct pt_regs *regs)
{
	const struct bug_entry *bug = (void *)regs_return_value(regs);
	unsigned short flags;

	if (bug && !get_kernel_nofault(flags, &bug->flags) &&
	    !(flags & BUGFLAG_WARNING))
		kipt_crash_hit(KIPT_CRASH_HOOK_OOPS, regs,
			       *(unsigned long *)call->data);
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
static int on_panic(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long behind;
	u64 caller = 0;

	if (!get_kernel_nofault(behind, (unsigned long *)regs->sp))
		caller = call_before(probe, behind);
	kipt_crash_hit(KIPT_CRASH_HOOK_PANIC, regs, caller);
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
	kipt_crash_warn(regs, regs->dx);
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
 * @handler: what is called
 * @optional: the kernel need not have it
 * @set: it is registered
 * @probe: the probe
 */
struct hook {
	const char *symbol;
	kprobe_pre_handler_t handler;
	bool optional;
	bool set;
	struct kprobe probe;
};

static struct hook hooks[] = {
	{ .symbol = "oops_enter", .handler = on_oops },
	{ .symbol = "panic", .handler = on_panic },
	/* What panic() calls since 6.16, and others may. */
	{ .symbol = "vpanic", .handler = on_panic, .optional = true },
	{ .symbol = "__crash_kexec", .handler = on_kexec },
	{ .symbol = "make_task_dead", .handler = on_task_dead },
	{ .symbol = "__warn", .handler = on_warn },
	{ .symbol = "add_taint", .handler = on_taint },
	/* Without it the trace has what is printed before oops_enter(). */
	{ .symbol = "handle_stack_overflow", .handler = on_overflow,
	  .optional = true },
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

static void set_hook(struct hook *hook)
{
	int err;

	hook->probe = (struct kprobe){
		.symbol_name = hook->symbol,
		.pre_handler = hook->handler,
	};
	err = register_kprobe(&hook->probe);
	hook->set = !err;
	if (err && !hook->optional)
		pr_warn("%s cannot be probed (error %d): a crash may be seen late\n",
			hook->symbol, err);
}

static void set_bug_hook(void)
{
	bug_probe = (struct kretprobe){
		.kp.symbol_name = "find_bug",
		.entry_handler = on_bug_sought,
		.handler = on_bug_found,
		.data_size = sizeof(unsigned long),
	};
	bug_set = !register_kretprobe(&bug_probe);
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

bool kipt_crash_hooks_fire(char *why, size_t size)
{
	const struct hook *hook;

	strscpy(why, "", size);
	for (hook = hooks; hook < hooks + ARRAY_SIZE(hooks); hook++) {
		if (!hook->set && hook->optional)
			continue;
		if (!hook->set) {
			snprintf(why, size, "%s could not be probed",
				 hook->symbol);
			return false;
		}
		if (!kipt_probe_is_armed(&hook->probe)) {
			strscpy(why, "kprobes do not fire: the sysctl kernel.ftrace_enabled or kprobes/enabled in debugfs is 0; set it to 1",
				size);
			return false;
		}
	}
	return true;
}
