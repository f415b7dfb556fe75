/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel reports, and whether it means the end. The words with which the kernel
 * begins its reports, and whether this kernel has them: a later one may use others. Which
 * call led to a hook, and whether it prints a report. Whether the kernel will panic after
 * what just happened: it decides so by its sysctls, which may be set at any time, and by
 * what it was doing. Where a sysctl cannot be found in this kernel, the answer is no, and
 * the panic itself is seen. Leaves to crash_hooks.c whether a line is the kernel's.
 */
#ifndef KIPT_CRASH_REPORT_H
#define KIPT_CRASH_REPORT_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"

/**
 * enum kipt_crash_knob - sysctls after which the kernel panics
 * @KIPT_KNOB_OOPS: kernel.panic_on_oops
 * @KIPT_KNOB_WARN: kernel.panic_on_warn
 * @KIPT_KNOB_SOFTLOCKUP: kernel.softlockup_panic
 * @KIPT_KNOB_HARDLOCKUP: kernel.hardlockup_panic
 * @KIPT_KNOB_HUNG: kernel.hung_task_panic
 * @KIPT_KNOB_RCU: kernel.panic_on_rcu_stall
 * @KIPT_KNOB_RCU_MOST: kernel.max_rcu_stall_to_panic, how many it takes
 * @KIPT_KNOBS: how many there are
 */
enum kipt_crash_knob {
	KIPT_KNOB_OOPS,
	KIPT_KNOB_WARN,
	KIPT_KNOB_SOFTLOCKUP,
	KIPT_KNOB_HARDLOCKUP,
	KIPT_KNOB_HUNG,
	KIPT_KNOB_RCU,
	KIPT_KNOB_RCU_MOST,
	KIPT_KNOBS,
};

/**
 * kipt_crash_end_init() - look where the kernel has its sysctls
 *
 * Context: may sleep. The other functions may be called before.
 */
void kipt_crash_end_init(void);

/**
 * kipt_crash_end_is_known() - whether kipt_crash_end_init() found the sysctls
 *
 * Context: any.
 *
 * Return: false where the kernel does not name its variables, without CONFIG_KALLSYMS_ALL: then
 * no sysctl is set, as far as the others know.
 */
bool kipt_crash_end_is_known(void);

/**
 * kipt_crash_end_at() - whether a sysctl has the kernel panic the first time
 * @knob: which
 *
 * Context: any, also NMI.
 */
bool kipt_crash_end_at(enum kipt_crash_knob knob);

/**
 * kipt_crash_end_of_oops() - whether an oops of this thread is the end
 * @trapped: the caller may run in a breakpoint's handler
 *
 * As oops_end() and make_task_dead() of the kernel decide. Context: the handler of
 * a kprobe, or a notifier; also NMI.
 */
bool kipt_crash_end_of_oops(bool trapped);

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

/**
 * kipt_crash_call_before() - the call that an address comes after
 * @function: its first instruction
 * @next: a return address
 *
 * Context: any, NMI included.
 *
 * Return: the address of the CALL, or @next if that of @function is not before it.
 */
u64 kipt_crash_call_before(u64 function, unsigned long next);

/**
 * kipt_crash_read_format() - the beginning of a format of printk(), without its level
 * @address: where it is
 * @bytes: memory of the caller
 * @size: of @bytes, 3 or more
 *
 * Context: any, NMI included.
 *
 * Return: a string in @bytes; NULL if there is no such memory.
 */
const char *kipt_crash_read_format(u64 address, char *bytes, size_t size);

/**
 * kipt_crash_call_of_printk() - the call of _printk() that prints a report
 * @words: the report begins with
 *
 * What the call returns to is on the stack, in the frame of a function that this one was
 * called by. A line of the log may come from a program, by its name or by /dev/kmsg; the format
 * cannot.
 *
 * Context: any, NMI included.
 *
 * Return: the address of the CALL; 0 if there is none.
 */
u64 kipt_crash_call_of_printk(const char *words);

#endif /* KIPT_CRASH_REPORT_H */
