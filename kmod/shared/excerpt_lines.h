/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last calls of a trace as a flat list, made while records come: a call
 * that returns becomes one line with a count of all below it, one that follows
 * its like is counted there, and calls that are open are the stack. Memory is
 * the caller's and bounded: of what does not fit, the oldest goes first.
 * excerpt_text.c shows it. Pure functions, any context.
 */
#ifndef KIPT_EXCERPT_LINES_H
#define KIPT_EXCERPT_LINES_H

#include "../decode/port.h"

/* Least room there may be, in lines. */
#define KIPT_EXCERPT_ROOM_MIN	16U
/* Branches of user code that are remembered. */
#define KIPT_EXCERPT_USER_MOST	64U

/**
 * enum kipt_excerpt_kind - what a line says
 * @KIPT_EXCERPT_CALL: a call
 * @KIPT_EXCERPT_LOCAL: a call to the bytes after it, as thunks make; never
 *	shown
 * @KIPT_EXCERPT_EVENT: an interrupt or exception
 * @KIPT_EXCERPT_ENTRY: from user space, or from where nothing is traced
 * @KIPT_EXCERPT_BEFORE: a function that returned, of which the begin was not
 *	seen
 * @KIPT_EXCERPT_BREAK: what follows does not belong to the stack before: the kinds
 *	from here on, always open
 * @KIPT_EXCERPT_GAP: something is missing; @ip is 0 until it goes on
 * @KIPT_EXCERPT_STACK: a return fitted no call: execution went on with another
 *	stack, as the next task. Until that is certain the calls below it are
 *	looked at: it may be a trampoline, that returns to where the call came from
 */
enum kipt_excerpt_kind {
	KIPT_EXCERPT_CALL = 1,
	KIPT_EXCERPT_LOCAL,
	KIPT_EXCERPT_EVENT,
	KIPT_EXCERPT_ENTRY,
	KIPT_EXCERPT_BEFORE,
	KIPT_EXCERPT_BREAK,
	KIPT_EXCERPT_GAP = KIPT_EXCERPT_BREAK,
	KIPT_EXCERPT_STACK,
};

/**
 * struct kipt_excerpt_line - one line
 * @ip: where control went: the begin of a function, mostly; of BEFORE an
 *	address in it
 * @site: where it came from; 0: not known. Of ENTRY that returned: the function
 *	two calls below it that made the most, which is the system call
 * @now: where the last jump in it went; 0: there was none
 * @time: TSC, as far as the trace says; 0: unknown
 * @times: how often it came
 * @calls: all calls below it that returned
 * @dropped: calls after this line that had no room
 * @most: of ENTRY: how many the function at @site made, and itself
 * @depth: of calls, from 0 after each break
 * @below: the open line it was called from, or -1
 * @kind: enum kipt_excerpt_kind
 * @gap: enum kipt_gap_kind of GAP; 0: tracing was off
 * @open: it has not returned
 */
struct kipt_excerpt_line {
	u64 ip;
	u64 site;
	u64 now;
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
};

/**
 * struct kipt_excerpt_branch - a branch of user code
 * @from: the instruction
 * @to: where it went
 * @times: how often in a row
 */
struct kipt_excerpt_branch {
	u64 from;
	u64 to;
	u32 times;
};

/**
 * struct kipt_excerpt_lines - the list
 * @lines: @count of them, @room is there
 * @room: at least KIPT_EXCERPT_ROOM_MIN
 * @count: the newest is the last
 * @top: the last that is open, or -1; all after it returned
 * @depth: of what runs
 * @time: TSC now; 0: unknown
 * @here: the address known last
 * @jump_from: the last jump since the last call or return
 * @jump_to: where it went; 0: there was none
 * @jump_before: @now of the line it was in before it
 * @user: user code runs
 * @off: tracing was turned off in the kernel
 * @guest: a guest runs, of which nothing is listed
 * @back: a guest ran before the next ENABLE: what is open goes on there
 * @nr_user: branches of user code up to the last entry into the kernel, which is
 *	the last of them, as far as they are known without a gap; those in a
 *	row as one
 * @user_branches: they, a ring
 */
struct kipt_excerpt_lines {
	struct kipt_excerpt_line *lines;
	u32 room;
	u32 count;
	s32 top;
	s32 depth;
	u64 time;
	u64 here;
	u64 jump_from;
	u64 jump_to;
	u64 jump_before;
	bool user;
	bool off;
	bool guest;
	bool back;
	u32 nr_user;
	struct kipt_excerpt_branch user_branches[KIPT_EXCERPT_USER_MOST];
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
 * @list: the list
 * @most: lines, at least 1
 *
 * Of more than @most lines those that returned last stay and the innermost that
 * are open, half of either if there are enough. What goes is counted at the line
 * before it, the call it was made in.
 */
void kipt_excerpt_lines_trim(struct kipt_excerpt_lines *list, u32 most);

#endif /* KIPT_EXCERPT_LINES_H */
