// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of the kernel, see crash_report.h: their words, the calls that print them, and
 * the kernel's own sysctls, which are exported to nobody.
 */
#include <linux/bits.h>
#include <linux/kern_levels.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/ibt.h>
#include <asm/text-patching.h>

#include "crash_report.h"
#include "../lib/probe.h"

/* No kernel has as many constants; they are read in such pieces. */
#define CONSTANTS_MOST	(256UL << 20)
#define PIECE_BYTES	4096UL
/* Of a format that goes on with an argument: "BUG: %s". */
#define FORMAT_LEAST	5U
/* Before a call, in which its format is loaded. */
#define CODE_BYTES	96
/* A call may go to the padding before a function. */
#define PADDING_BYTES	16
/* Words of the stack that are looked through for a return address. */
#define STACK_WORDS	512U

/* What a kernel has to have words for, if it is built to report it. */
#define SOFT	(IS_ENABLED(CONFIG_SOFTLOCKUP_DETECTOR) ? "soft lockups" : NULL)
#define HARD	(IS_ENABLED(CONFIG_HARDLOCKUP_DETECTOR) ? "hard lockups" : NULL)
#define STALL	(IS_ENABLED(CONFIG_RCU_STALL_COMMON) ? "stalls of RCU" : NULL)
#define HUNG	(IS_ENABLED(CONFIG_DETECT_HUNG_TASK) ? "tasks that hang" : NULL)
#define KASAN	(IS_ENABLED(CONFIG_KASAN) ? "reports of KASAN" : NULL)
#define KFENCE	(IS_ENABLED(CONFIG_KFENCE) ? "reports of KFENCE" : NULL)

static const struct kipt_crash_words reports[] = {
	{ "watchdog: BUG: ", NULL, KIPT_CRASH_HOOK_LOCKUP, KIPT_KNOB_SOFTLOCKUP,
	  SOFT },
	{ "watchdog: Watchdog detected ", NULL, KIPT_CRASH_HOOK_LOCKUP,
	  KIPT_KNOB_HARDLOCKUP, HARD },
	{ "watchdog: CPU", NULL, KIPT_CRASH_HOOK_LOCKUP, KIPT_KNOB_HARDLOCKUP,
	  HARD },
	{ "NMI watchdog: Watchdog ", NULL, KIPT_CRASH_HOOK_LOCKUP,
	  KIPT_KNOB_HARDLOCKUP, HARD },
	{ "rcu: INFO: ", NULL, KIPT_CRASH_HOOK_LOCKUP, KIPT_KNOB_RCU, STALL },
	{ "INFO: rcu_tasks", NULL, KIPT_CRASH_HOOK_LOCKUP, KIPT_KNOBS, NULL },
	{ "INFO: task ", " for more than ", KIPT_CRASH_HOOK_HUNG, KIPT_KNOB_HUNG,
	  HUNG },
	{ "BUG: KASAN: ", NULL, KIPT_CRASH_HOOK_REPORT, KIPT_KNOB_WARN, KASAN },
	{ "BUG: KFENCE: ", NULL, KIPT_CRASH_HOOK_REPORT, KIPT_KNOB_WARN,
	  KFENCE },
	{ "BUG: scheduling while atomic: ", NULL, KIPT_CRASH_HOOK_REPORT,
	  KIPT_KNOB_WARN, "threads that sleep where they may not" },
	/* These come with an oops, whose hooks know more. */
	{ "BUG: kernel NULL pointer ", NULL, 0, KIPT_KNOBS, NULL },
	{ "BUG: unable to handle page fault ", NULL, 0, KIPT_KNOBS, NULL },
	{ "BUG: stack guard page ", NULL, 0, KIPT_KNOBS, NULL },
	{ "BUG: TASK stack guard page ", NULL, 0, KIPT_KNOBS, NULL },
	{ "BUG: IRQ stack guard page ", NULL, 0, KIPT_KNOBS, NULL },
	{ "BUG: ", NULL, KIPT_CRASH_HOOK_REPORT, KIPT_KNOBS, NULL },
};

static_assert(ARRAY_SIZE(reports) < 32);

/* The words that this kernel has, a bit each; LOOKED: that is known. */
static u32 present;
#define LOOKED	BIT(31)

static bool begins(const char *text, size_t len, const char *words)
{
	size_t size = strlen(words);

	return size <= len && !memcmp(text, words, size);
}

const struct kipt_crash_words *kipt_crash_words_find(const char *text,
						     size_t len)
{
	const struct kipt_crash_words *report;

	for (report = reports; report < reports + ARRAY_SIZE(reports); report++)
		if (begins(text, len, report->words))
			return report;
	return NULL;
}

/* @piece has room for words that begin at the end of it. */
static u32 look_through(const char *from, const char *to, char *piece)
{
	const struct kipt_crash_words *report;
	/* Most characters begin none of the words. */
	bool firsts[256] = {};
	u32 found = LOOKED;
	size_t len, i;

	for (i = 0; i < ARRAY_SIZE(reports); i++)
		firsts[(u8)reports[i].words[0]] = true;
	for (; from < to; from += PIECE_BYTES) {
		len = min_t(size_t, to - from,
			    PIECE_BYTES + KIPT_CRASH_WORDS_BYTES);
		if (copy_from_kernel_nofault(piece, from, len))
			continue;
		for (i = 0; i < min(len, PIECE_BYTES); i++) {
			report = firsts[(u8)piece[i]] ?
				 kipt_crash_words_find(piece + i, len - i) : NULL;
			if (report)
				found |= BIT(report - reports);
		}
		cond_resched();
	}
	return found;
}

void kipt_crash_words_look(void)
{
	const char *from, *to;
	char *piece;

	if (present)
		return;
	from = kipt_probe_variable("__start_rodata");
	/* After all strings of formats; __end_rodata itself is not known. */
	to = kipt_probe_variable("__start___ksymtab");
	if (!from || to <= from || (size_t)(to - from) > CONSTANTS_MOST)
		return;
	piece = kmalloc(PIECE_BYTES + KIPT_CRASH_WORDS_BYTES, GFP_KERNEL);
	if (!piece)
		return;
	WRITE_ONCE(present, look_through(from, to, piece));
	kfree(piece);
}

static bool has_words_for(const char *what)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(reports); i++)
		if (reports[i].what && !strcmp(reports[i].what, what) &&
		    READ_ONCE(present) & BIT(i))
			return true;
	return false;
}

const char *kipt_crash_words_unknown(void)
{
	u32 i;

	if (!READ_ONCE(present))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(reports); i++)
		if (reports[i].what && !has_words_for(reports[i].what))
			return reports[i].what;
	return NULL;
}

u64 kipt_crash_call_before(u64 function, unsigned long next)
{
	u8 opcode;
	s32 distance;
	u64 target;

	if (get_kernel_nofault(opcode, (u8 *)next - CALL_INSN_SIZE) ||
	    get_kernel_nofault(distance, (s32 *)next - 1) ||
	    opcode != CALL_INSN_OPCODE)
		return next;
	/*
	 * Either may be the address of ENDBR, the other that of what follows; and
	 * there may be padding before it that is called.
	 */
	target = next + distance;
	if (target > function + ENDBR_INSN_SIZE ||
	    target + ENDBR_INSN_SIZE + PADDING_BYTES < function)
		return next;
	return next - CALL_INSN_SIZE;
}

const char *kipt_crash_read_format(u64 address, char *bytes, size_t size)
{
	if (copy_from_kernel_nofault(bytes, (void *)address, size))
		return NULL;
	bytes[size - 1] = 0;
	return bytes[0] == KERN_SOH_ASCII && bytes[1] ? bytes + 2 : bytes;
}

/* Whether a format begins as a report does: up to its first argument, at least. */
static bool is_format(u64 address, const char *words)
{
	char bytes[KIPT_CRASH_WORDS_BYTES + 2];
	const char *at = kipt_crash_read_format(address, bytes, sizeof(bytes));
	u32 same = 0;

	if (!at)
		return false;
	while (words[same] && at[same] == words[same])
		same++;
	return !words[same] || (at[same] == '%' && same >= FORMAT_LEAST);
}

/*
 * Whether a call of _printk() has such a format: "mov $format, %rdi" or "lea
 * format(%rip), %rdi" is a few instructions before it.
 */
static bool prints(u64 call, const char *words)
{
	u8 code[CODE_BYTES];
	s32 value;
	u32 i;

	if (copy_from_kernel_nofault(code, (void *)(call - CODE_BYTES),
				     CODE_BYTES))
		return false;
	for (i = 0; i + 7 <= CODE_BYTES; i++) {
		memcpy(&value, code + i + 3, sizeof(value));
		if (code[i] != 0x48)
			continue;
		if (code[i + 1] == 0xc7 && code[i + 2] == 0xc7 &&
		    is_format((s64)value, words))
			return true;
		if (code[i + 1] == 0x8d && code[i + 2] == 0x3d &&
		    is_format(call - CODE_BYTES + i + 7 + value, words))
			return true;
	}
	return false;
}

u64 kipt_crash_call_of_printk(const char *words)
{
	const unsigned long *word = __builtin_frame_address(0);
	unsigned long next;
	u64 call;
	u32 i;

	for (i = 0; i < STACK_WORDS; i++) {
		if (get_kernel_nofault(next, word + i))
			return 0;
		if (next < __START_KERNEL_map || next >= MODULES_VADDR)
			continue;
		call = kipt_crash_call_before((unsigned long)_printk, next);
		if (call != next && prints(call, words))
			return call;
	}
	return 0;
}

static const char *const symbols[KIPT_KNOBS] = {
	[KIPT_KNOB_OOPS] = "panic_on_oops",
	[KIPT_KNOB_WARN] = "panic_on_warn",
	[KIPT_KNOB_SOFTLOCKUP] = "softlockup_panic",
	[KIPT_KNOB_HARDLOCKUP] = "hardlockup_panic",
	[KIPT_KNOB_HUNG] = "sysctl_hung_task_panic",
	[KIPT_KNOB_RCU] = "sysctl_panic_on_rcu_stall",
	[KIPT_KNOB_RCU_MOST] = "sysctl_max_rcu_stall_to_panic",
};

static const int *knobs[KIPT_KNOBS];

void kipt_crash_end_init(void)
{
	u32 i;

	for (i = 0; i < KIPT_KNOBS; i++)
		if (!knobs[i])
			WRITE_ONCE(knobs[i], kipt_probe_variable(symbols[i]));
}

bool kipt_crash_end_is_known(void)
{
	return READ_ONCE(knobs[KIPT_KNOB_OOPS]);
}

/* 0 where this kernel has no such sysctl. */
static int value_of(enum kipt_crash_knob knob)
{
	const int *at = READ_ONCE(knobs[knob]);
	int value;

	return !at || get_kernel_nofault(value, at) ? 0 : value;
}

/* In newer kernels some are how many it takes. */
bool kipt_crash_end_at(enum kipt_crash_knob knob)
{
	switch (knob) {
	case KIPT_KNOB_SOFTLOCKUP:
	case KIPT_KNOB_HUNG:
		return value_of(knob) == 1;
	case KIPT_KNOB_RCU:
		return value_of(knob) && value_of(KIPT_KNOB_RCU_MOST) <= 1;
	default:
		return value_of(knob);
	}
}

bool kipt_crash_end_of_oops(bool trapped)
{
	const int interrupt = NMI_MASK | HARDIRQ_MASK | SOFTIRQ_MASK;

	return kipt_crash_end_at(KIPT_KNOB_OOPS) ||
	       kipt_probe_preempt_count(trapped) & interrupt ||
	       !current->pid || is_global_init(current);
}
