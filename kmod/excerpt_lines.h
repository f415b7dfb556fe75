/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last calls of a trace as a list of lines, made while records come: a
 * call that returns is one line with a count of all below it, calls that repeat
 * are counted, and calls that are open are the stack. Memory is the caller's
 * and bounded: of what does not fit, the oldest that returned goes first.
 * excerpt_text.c shows it. Pure functions, any context.
 */
#ifndef KIPT_EXCERPT_LINES_H
#define KIPT_EXCERPT_LINES_H

#include "decode/port.h"

/* Least room there may be, in lines. */
#define KIPT_EXCERPT_ROOM_MIN	16U
/* Jumps taken in the function that runs, that are remembered. */
#define KIPT_EXCERPT_JUMPS	4U
/* Branches of user code that are remembered. */
#define KIPT_EXCERPT_USER_MOST	64U

/**
 * enum kipt_excerpt_kind - what a line tells
 * @KIPT_EXCERPT_CALL: a call
 * @KIPT_EXCERPT_LOCAL: a call to the bytes behind it, as thunks make; never
 *	shown
 * @KIPT_EXCERPT_EVENT: an interrupt or exception
 * @KIPT_EXCERPT_ENTRY: from user space, or from where nothing is traced
 * @KIPT_EXCERPT_BEFORE: a function that returned, of which the begin was not
 *	seen
 * @KIPT_EXCERPT_GAP: something is missing; all that was open is unknown
 * @KIPT_EXCERPT_STACK: a return that fitted no call: execution went on
 *	with another stack, as the next task. While it is open a trampoline is
 *	possible, that returns to where the call came from
 */
enum kipt_excerpt_kind {
	KIPT_EXCERPT_CALL = 1,
	KIPT_EXCERPT_LOCAL,
	KIPT_EXCERPT_EVENT,
	KIPT_EXCERPT_ENTRY,
	KIPT_EXCERPT_BEFORE,
	KIPT_EXCERPT_GAP,
	KIPT_EXCERPT_STACK,
};

/**
 * struct kipt_excerpt_line - one line
 * @ip: where control went: the begin of a function, mostly; of BEFORE an
 *	address in it
 * @site: where it came from; 0: not known. Of ENTRY that returned: the function
 *	two calls below it that made the most, which is the system call
 * @jumped: where the last jump in it went: its name, if it is another
 * @jumped_before: where the one before went
 * @time: TSC, as far as the trace says; 0: unknown
 * @times: how often it came
 * @calls: all calls below it that returned
 * @dropped: calls behind this line that had no room
 * @most: of ENTRY: how many the function at @site made, and itself
 * @depth: of calls; counts from 0 behind each GAP and STACK, may be negative
 * @below: the line it was called from, or -1
 * @kind: enum kipt_excerpt_kind
 * @gap: enum kipt_gap_kind of GAP; 0: tracing was off
 * @open: it has not returned
 * @left: it had not when it was lost sight of
 */
struct kipt_excerpt_line {
	u64 ip;
	u64 site;
	u64 jumped;
	u64 jumped_before;
	u64 time;
	u32 times;
	u32 calls;
	u32 dropped;
	u32 most;
	s32 depth;
	s32 below;
	u8 kind;
	u8 gap;
	bool open;
	bool left;
};

/**
 * struct kipt_excerpt_jump - a taken jump, or a branch of user code
 * @from: the instruction
 * @to: where it went
 * @times: how often in a row
 * @kind: enum kipt_branch_kind
 */
struct kipt_excerpt_jump {
	u64 from;
	u64 to;
	u32 times;
	u8 kind;
};

/**
 * struct kipt_excerpt_lines - the list
 * @lines: @count of them, @room is there
 * @room: at least KIPT_EXCERPT_ROOM_MIN
 * @count: the newest is the last
 * @segment: the first behind the last GAP or STACK
 * @top: the last that is open, or -1; all behind it returned
 * @strange: the open line of kind STACK, or -1
 * @depth: of what runs
 * @time: TSC now; 0: unknown
 * @here: the address known last
 * @user: user code runs
 * @off: tracing was turned off in the kernel
 * @waits: the last line is a GAP, and it is not known where it goes on
 * @nr_jumps: jumps since the last call or return, those in a row as one; as
 *	many of @jumps as there are, a ring
 * @jumps: they
 * @nr_user: branches of user code up to the last entry into the kernel, which is
 *	the last of them, as far as they are known without a gap; those in a
 *	row as one
 * @user_branches: they, a ring
 */
struct kipt_excerpt_lines {
	struct kipt_excerpt_line *lines;
	u32 room;
	u32 count;
	u32 segment;
	s32 top;
	s32 strange;
	s32 depth;
	u64 time;
	u64 here;
	bool user;
	bool off;
	bool waits;
	u32 nr_jumps;
	struct kipt_excerpt_jump jumps[KIPT_EXCERPT_JUMPS];
	u32 nr_user;
	struct kipt_excerpt_jump user_branches[KIPT_EXCERPT_USER_MOST];
};

/**
 * kipt_excerpt_lines_init() - an empty list
 * @list: filled in
 * @memory: of @room lines, the caller's
 * @room: at least KIPT_EXCERPT_ROOM_MIN
 */
void kipt_excerpt_lines_init(struct kipt_excerpt_lines *list,
			     struct kipt_excerpt_line *memory, u32 room);

/**
 * kipt_excerpt_lines_add() - the next record
 * @list: the list
 * @record: of a flow with BRANCHES, with or without TIME; any other is ignored
 */
void kipt_excerpt_lines_add(struct kipt_excerpt_lines *list,
			    const struct kipt_record *record);

/**
 * kipt_excerpt_lines_trim() - leave what is to be shown
 * @list: no record is added any more
 * @most: lines, at least 1
 *
 * What repeats is folded, open calls too. Of more than @most lines those that
 * returned last stay and the innermost that are open, half of either if there
 * are enough.
 */
void kipt_excerpt_lines_trim(struct kipt_excerpt_lines *list, u32 most);

#endif /* KIPT_EXCERPT_LINES_H */
