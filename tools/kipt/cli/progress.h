/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line of progress on stderr while it is a terminal, and the flag that
 * Ctrl-C sets. The line is gone before anything else is written there.
 */
#ifndef KIPT_PROGRESS_H
#define KIPT_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../../kmod/decode/port.h"

/**
 * progress_show() - show how far it is, at most five times a second
 * @what: a word for the work, a string that stays
 * @done: bytes done
 * @total: bytes there are; 0: unknown
 *
 * After a second also how fast, and how long it still takes. Work ends where progress_clear()
 * is called, or where @done falls.
 */
void progress_show(const char *what, u64 done, u64 total);

/**
 * progress_total() - for progress_show(): how long a file is
 * @file: open
 *
 * Return: bytes; 0 if it is a pipe, or nobody knows.
 */
u64 progress_total(FILE *file);

/**
 * progress_lines() - say whether results go to standard output as they are found
 * @lines: they do. No progress is shown among them if standard output is a terminal.
 */
void progress_lines(bool lines);

/**
 * progress_leave() - whether this thread shows nothing and leaves signals alone
 * @leave: it does from now on, or it is as ever again
 */
void progress_leave(bool leave);

/**
 * progress_seconds() - how late it is
 *
 * Return: seconds since some moment.
 */
double progress_seconds(void);

/** progress_clear() - remove the line, if there is one */
void progress_clear(void);

/**
 * progress_catch() - from now on SIGINT, SIGTERM and SIGHUP only set a flag
 *
 * A second signal ends the process in the usual way.
 */
void progress_catch(void);

/**
 * progress_interrupted() - did somebody press Ctrl-C since progress_catch()
 *
 * Return: true if so.
 */
bool progress_interrupted(void);

#endif /* KIPT_PROGRESS_H */
