/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of an excerpt: lines that read like the function graph of ftrace,
 * the oldest first, ending where the machine died. Pure functions, any
 * context; names of addresses come by a callback.
 */
#ifndef KIPT_EXCERPT_TEXT_H
#define KIPT_EXCERPT_TEXT_H

#include "excerpt_lines.h"

/* Bytes of a line with its 0, without what the log puts before it. */
#define KIPT_EXCERPT_WIDTH	94U
/* Lines beside those asked for, of calls and of user code, at most. */
#define KIPT_EXCERPT_LINES_MORE	6U

/**
 * struct kipt_excerpt_end - where execution died
 * @ip: instruction that faulted, or that called, or the address behind that
 *	call
 * @known: @ip is valid; else the end is where tracing stopped
 * @faulted: @ip is of an instruction that faulted
 * @nmi: it did not die, @ip is where an NMI met it; @faulted and @trap do not
 *	count
 * @trap: vector of the exception; ~0: none
 */
struct kipt_excerpt_end {
	u64 ip;
	bool known;
	bool faulted;
	bool nmi;
	u32 trap;
};

/**
 * kipt_excerpt_ends() - is this where execution died
 * @end: where
 * @record: any record
 *
 * The last one of a trace for which this holds is the end.
 *
 * Return: true if @record is the exception of the instruction that faulted, the
 * call, or the NMI; where an NMI came in user code, also if the trace begins
 * anew, since that may be untraced.
 */
bool kipt_excerpt_ends(const struct kipt_excerpt_end *end,
		       const struct kipt_record *record);

/**
 * kipt_excerpt_insns() - instructions that a record counts
 * @record: any record of a flow with BRANCHES
 *
 * Return: how many were executed since the last that counts any.
 */
static inline u32 kipt_excerpt_insns(const struct kipt_record *record)
{
	if (record->type == KIPT_RECORD_BRANCH ||
	    record->type == KIPT_RECORD_DISABLE ||
	    (record->type == KIPT_RECORD_SYNC &&
	     record->kind == KIPT_SYNC_REACHED))
		return record->aux;
	return 0;
}

/**
 * enum kipt_excerpt_name - how an address is to be named
 * @KIPT_EXCERPT_NAME: its function: "vfs_read", "crash_write [crasher]"
 * @KIPT_EXCERPT_PLACE: "vfs_read+0x12/0x80"
 * @KIPT_EXCERPT_OFFSET: in its function: "+0x12"
 */
enum kipt_excerpt_name {
	KIPT_EXCERPT_NAME,
	KIPT_EXCERPT_PLACE,
	KIPT_EXCERPT_OFFSET,
};

/**
 * struct kipt_excerpt_task - who ran on the CPU that died
 * @name: of the thread, cut off
 * @tid: its number
 * @program: address of the code of its program; 0: unknown
 */
struct kipt_excerpt_task {
	char name[16];
	u32 tid;
	u64 program;
};

/**
 * struct kipt_excerpt_text - what the text is made of, beside the lines
 * @cpu: whose trace it is
 * @tsc_khz: of the time; 0: no time is shown
 * @end: where execution died, or the NMI came
 * @later: with @end.nmi: ticks from the death to the stop of this CPU
 * @last: the record for which kipt_excerpt_ends() held; NULL: there was none
 * @cut: time was up before the lines were whole
 * @over: time was up before all was looked at
 * @insns: instructions that were traced after @last
 * @user: branches of user code to be shown, at most
 * @task: whose; its name has a 0
 * @name: writes the name of @ip, cut to @size bytes with its 0
 * @put: takes a line of at most KIPT_EXCERPT_WIDTH bytes with its 0
 * @ctx: first argument of both
 */
struct kipt_excerpt_text {
	u32 cpu;
	u32 tsc_khz;
	struct kipt_excerpt_end end;
	u64 later;
	const struct kipt_record *last;
	bool cut;
	bool over;
	u64 insns;
	u32 user;
	struct kipt_excerpt_task task;
	void (*name)(void *ctx, u64 ip, enum kipt_excerpt_name how, char *buf,
		     u32 size);
	void (*put)(void *ctx, const char *line);
	void *ctx;
};

/**
 * kipt_excerpt_show() - make the text
 * @text: what it is made of
 * @list: all records up to @text->last, or to the end of the trace; trimmed
 *	here
 * @most: lines of calls, at least 1; those of user code, and up to
 *	KIPT_EXCERPT_LINES_MORE, come beside them
 */
void kipt_excerpt_show(const struct kipt_excerpt_text *text,
		       struct kipt_excerpt_lines *list, u32 most);

#endif /* KIPT_EXCERPT_TEXT_H */
