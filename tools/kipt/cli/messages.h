/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sentences on stderr. Every failure of the tool goes through here, once,
 * by whoever knows what was tried.
 */
#ifndef KIPT_MESSAGES_H
#define KIPT_MESSAGES_H

#include <stdbool.h>
#include <stdio.h>

/* The compiler checks arguments against the format, the @text-th argument. */
#define SAY_CHECK		__format__
#define __printf(text, first)	__attribute__((SAY_CHECK(__printf__, text, first)))

/**
 * say_error() - say what failed
 * @format: a sentence without "kipt: " and without newline
 */
void __printf(1, 2) say_error(const char *format, ...);

/**
 * say_errno() - say what failed and why
 * @err: an errno, positive
 * @format: what was tried; ": text (ENAME)" is added
 */
void __printf(2, 3) say_errno(int err, const char *format, ...);

/**
 * say_note() - say what a person should know, though nothing failed
 * @format: a sentence
 */
void __printf(1, 2) say_note(const char *format, ...);

/**
 * say_to() - give the sentences of this thread to somebody, and not to stderr
 * @take: gets each, and whether it says what failed; NULL: to stderr again
 * @ctx: its first argument
 *
 * The progress line and the signals of progress_catch() are left out then, too.
 */
void say_to(void (*take)(void *ctx, bool failed, const char *sentence),
	    void *ctx);

/**
 * say_errno_name() - the name of an errno
 * @err: positive
 *
 * Return: such as "EBUSY", or "unknown error".
 */
const char *say_errno_name(int err);

#endif /* KIPT_MESSAGES_H */
