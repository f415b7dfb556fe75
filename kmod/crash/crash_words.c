// SPDX-License-Identifier: GPL-2.0-only
/*
 * Knows how the kernel's reports begin, see crash_words.h. Formats are constants of the
 * kernel's image, which is read as memory that may not be there.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "crash_words.h"
#include "../lib/probe.h"

/* No kernel has as many constants; they are read in such pieces. */
#define CONSTANTS_MOST	(256UL << 20)
#define PIECE_BYTES	4096UL

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

static_assert(ARRAY_SIZE(reports) <= 32);

/* The words that this kernel has, a bit each; and whether that is known. */
static u32 present;
static bool looked;

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

static u32 look_at(const char *text, size_t len)
{
	u32 found = 0, i;

	for (i = 0; i < ARRAY_SIZE(reports); i++)
		if (begins(text, len, reports[i].words))
			found |= BIT(i);
	return found;
}

/* Whether any words begin with a character, by which most are passed over. */
static void fill_firsts(bool *firsts)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(reports); i++)
		firsts[(u8)reports[i].words[0]] = true;
}

/* @piece has room for words that begin at the end of it. */
static u32 look_through(const char *from, const char *to, char *piece)
{
	bool firsts[256] = {};
	size_t len, i;
	u32 found = 0;

	fill_firsts(firsts);
	for (; from < to; from += PIECE_BYTES) {
		len = min_t(size_t, to - from,
			    PIECE_BYTES + KIPT_CRASH_WORDS_BYTES);
		if (copy_from_kernel_nofault(piece, from, len))
			continue;
		for (i = 0; i < min(len, PIECE_BYTES); i++)
			if (firsts[(u8)piece[i]])
				found |= look_at(piece + i, len - i);
		cond_resched();
	}
	return found;
}

void kipt_crash_words_look(void)
{
	const char *from, *to;
	char *piece;

	if (looked)
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
	/* Pairs with smp_load_acquire() in kipt_crash_words_unknown(). */
	smp_store_release(&looked, true);
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

	/* Pairs with smp_store_release() in kipt_crash_words_look(). */
	if (!smp_load_acquire(&looked))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(reports); i++)
		if (reports[i].what && !has_words_for(reports[i].what))
			return reports[i].what;
	return NULL;
}
