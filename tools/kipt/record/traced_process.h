/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that runs already and is traced by its id.
 */
#ifndef KIPT_TRACED_PROCESS_H
#define KIPT_TRACED_PROCESS_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/**
 * target_open() - take a process
 * @pid: its id
 *
 * Return: a descriptor for it, or -1 after a sentence.
 */
int target_open(u32 pid);

/**
 * target_signal() - have SIGUSR2 wait for target_wait() from now on
 *
 * Return: a descriptor for it, or -1 after a sentence.
 */
int target_signal(void);

/**
 * target_wait() - wait until it has ended, or progress_interrupted(), or SIGUSR2
 * @target: from target_open()
 * @signal: from target_signal(), one that came before does not count; -1: SIGUSR2 is
 *	not waited for
 *
 * Return: true if SIGUSR2 ended it.
 */
bool target_wait(int target, int signal);

/**
 * target_lives() - has it not ended yet
 * @target: from target_open()
 *
 * Return: true if so.
 */
bool target_lives(int target);

#endif /* KIPT_TRACED_PROCESS_H */
