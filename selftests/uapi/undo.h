/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a test changes of the whole machine is put back, also when the test is
 * killed: a process that watches it does so then. Knows no test.
 */
#ifndef KIPT_UNDO_H
#define KIPT_UNDO_H

#include <sys/types.h>

#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

/*
 * Start a process that calls @put_back once: when undo_now() says so, or when
 * this process ends. It is in no group of the test, which a timeout kills. Of
 * the files open here it keeps @keep_fd only, -1: none. Return: its number, or
 * a negative errno.
 */
pid_t undo_begin(void (*put_back)(void *arg), void *arg, int keep_fd);

/* Let it do that now, and wait for it. No process: nothing is done. */
void undo_now(pid_t *keeper);

/*
 * Write @text to a file of the kernel. What was in it is written back by
 * knob_back(), or when this process ends. One knob at a time. Return: 0 or a
 * negative errno.
 */
int knob_set(const char *path, const char *text);
int knob_back(void);

#endif /* KIPT_UNDO_H */
