/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command while armed sessions let perf have Intel PT.
 */
#ifndef KIPT_LEND_H
#define KIPT_LEND_H

#include "../../../kmod/decode/port.h"
#include "../../../uapi/linux/kipt_raw.h"

/**
 * lend_run() - run a command while Intel PT is lent
 * @argv: the command; NULL ends it
 * @seconds: until it is interrupted, and killed if that does not end it; 0: never
 *
 * Return: its exit status, 128 and the number of the signal that killed it, 127 if
 * it cannot be run; or KIPT_EXIT_FAILED after a sentence.
 */
int lend_run(char **argv, u32 seconds);

#endif /* KIPT_LEND_H */
