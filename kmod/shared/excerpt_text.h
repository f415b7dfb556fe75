/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of an excerpt: lines that read like the function graph of ftrace,
 * the oldest first, ending where the machine died. Pure functions, any
 * context; names of addresses come by a callback.
 */
#ifndef KIPT_EXCERPT_TEXT_H
#define KIPT_EXCERPT_TEXT_H

#include "excerpt_end.h"
#include "excerpt_lines.h"

/* Bytes of a line with its 0, without what the log puts before it. */
#define KIPT_EXCERPT_WIDTH	94U
/* Lines beside those asked for, of calls and of user code, at most. */
#define KIPT_EXCERPT_LINES_MORE	5U

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
 * @task: name of the thread that executed them
 * @tid: its number
 * @program: address of the code of its program; 0: unknown
 * @name: writes the name of @ip, cut to @size bytes with its 0: of the function,
 *	"crash_write [crasher]", or with @place "vfs_read+0x12/0x80"
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
	char task[16];
	u32 tid;
	u64 program;
	void (*name)(void *ctx, u64 ip, bool place, char *buf, u32 size);
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
