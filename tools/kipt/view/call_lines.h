/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of the call view on their way out. They are held back for a
 * while, so that what turns out to be a repetition can be taken back.
 */
#ifndef KIPT_CALL_LINES_H
#define KIPT_CALL_LINES_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/**
 * enum call_line_kind - what a line shows
 * @LINE_CALL: a function that was called
 * @LINE_BASE: a function that was being executed when it came into view
 * @LINE_SYSCALL: entry into the kernel by a system call
 * @LINE_EVENT: interrupt or exception
 * @LINE_NOTE: a sentence
 * @LINE_HEAD: a CPU or task that what follows is of
 */
enum call_line_kind {
	LINE_CALL = 0,
	LINE_BASE,
	LINE_SYSCALL,
	LINE_EVENT,
	LINE_NOTE,
	LINE_HEAD,
};

struct inlined;

/**
 * struct call_line - one line
 * @kind: enum call_line_kind
 * @depth: calls it is below
 * @count: how often it came in a row, with all below it
 * @group: it and this many following siblings, less one, came ...
 * @group_count: ... this often in a row; 0: they did not
 * @address: of the function
 * @inlined: the innermost inlined function whose code made the call; NULL: none
 * @pid: process it is of
 * @version: names_version_of() when it was made
 * @instances: calls that it is of, with those that were folded into it
 * @measured: of which so many are in the sums that follow
 * @ticks: from calls to their returns
 * @cycles: core cycles of that in which its task ran and was traced
 * @insns: instructions that ran in these
 * @tsc: time, or 0
 * @tsc_first: the first time there was on its CPU
 * @text: sentence or head, owned by the line; else NULL
 */
struct call_line {
	u8 kind;
	u32 depth;
	u32 count;
	u32 group;
	u32 group_count;
	u64 address;
	const struct inlined *inlined;
	u32 pid;
	u32 version;
	u64 instances, measured;
	u64 ticks, cycles, insns;
	u64 tsc, tsc_first;
	char *text;
};

struct call_lines;

/**
 * call_lines_create() - no lines yet
 * @print: called for each line, in order, when it leaves
 * @ctx: its first argument
 *
 * Return: the caller's until call_lines_destroy(); NULL without memory.
 */
struct call_lines *call_lines_create(void (*print)(void *ctx,
						   const struct call_line *l),
				     void *ctx);

/**
 * call_lines_destroy() - print what is left, and free it
 * @lines: may be NULL
 */
void call_lines_destroy(struct call_lines *lines);

/**
 * call_lines_add() - one more line
 * @lines: lines
 *
 * Return: to be filled, all of it; its text becomes the lines'.
 */
struct call_line *call_lines_add(struct call_lines *lines);

/**
 * call_lines_last() - the number of the line that was added last
 * @lines: lines
 */
u64 call_lines_last(const struct call_lines *lines);

/**
 * call_lines_at() - look at a line
 * @lines: lines
 * @number: from call_lines_last()
 *
 * Return: the line, or NULL if it is printed already.
 */
struct call_line *call_lines_at(struct call_lines *lines, u64 number);

/**
 * call_lines_fold() - take lines back that repeat those before them
 * @lines: lines
 * @first: the first of those that are repeated; what each of the others lasted is added to
 *	one of them
 * @number: the first to be taken back; not printed yet
 */
void call_lines_fold(struct call_lines *lines, u64 first, u64 number);

#endif /* KIPT_CALL_LINES_H */
