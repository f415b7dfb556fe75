/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The words with which the kernel begins its reports, and whether this kernel has them:
 * a later one may use others. Leaves to crash_hooks.c whether a line is the kernel's.
 */
#ifndef KIPT_CRASH_WORDS_H
#define KIPT_CRASH_WORDS_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"
#include "crash_end.h"

/* The words of each report are fewer. */
#define KIPT_CRASH_WORDS_BYTES	40

/**
 * struct kipt_crash_words - a line that the kernel begins a report with
 * @words: its first words, after the level
 * @more: words that follow in the line; NULL: any
 * @hook: what it reports; 0: nothing that counts
 * @knob: the sysctl that has the kernel panic after it; KIPT_KNOBS: none
 * @what: what is not seen where a kernel has none of the words with the same @what;
 *	NULL: some kernels do without
 */
struct kipt_crash_words {
	const char *words;
	const char *more;
	enum kipt_crash_hook hook;
	enum kipt_crash_knob knob;
	const char *what;
};

/**
 * kipt_crash_words_find() - what a line of the log reports
 * @text: the line, after its level
 * @len: its bytes
 *
 * Context: any, also NMI.
 *
 * Return: NULL if it does not begin as a report.
 */
const struct kipt_crash_words *kipt_crash_words_find(const char *text,
						     size_t len);

/**
 * kipt_crash_words_look() - look which words this kernel has
 *
 * Once; it reads all of the kernel's constants, tens of milliseconds. Context: may
 * sleep.
 */
void kipt_crash_words_look(void);

/**
 * kipt_crash_words_unknown() - what is not seen, as the kernel has other words
 *
 * Context: any.
 *
 * Return: the first of those; NULL: nothing is known to be missing.
 */
const char *kipt_crash_words_unknown(void);

#endif /* KIPT_CRASH_WORDS_H */
