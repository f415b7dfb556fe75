// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of an excerpt, see excerpt_text.h. Any context.
 */
#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/stdarg.h>
#else
#include <stdarg.h>
#include <stdio.h>
#define __printf(format, first)
#endif

#include "excerpt_text.h"

#define NAME_BYTES	64U
/* The time, right-aligned, and a space. */
#define TIME_BYTES	10
/* Calls are indented by two spaces, by one where they are deep, so far at most. */
#define DEPTH_WIDE	12
#define INDENT_MOST	40
/* Ticks that can be turned into time without overflow. */
#define TICKS_MOST	(1ULL << 50)

/**
 * struct writer - a line that is being written
 * @text: of which
 * @len: bytes of it
 * @bytes: it, with a 0
 * @least: the depth that is not indented
 * @step: spaces for each call
 */
struct writer {
	const struct kipt_excerpt_text *text;
	u32 len;
	char bytes[KIPT_EXCERPT_WIDTH];
	s32 least;
	s32 step;
};

static void __printf(2, 3) add(struct writer *to, const char *format, ...)
{
	u32 room = sizeof(to->bytes) - to->len;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(to->bytes + to->len, room, format, args);
	va_end(args);
	if (n > 0)
		to->len += (u32)n < room ? (u32)n : room - 1;
}

static void put(struct writer *to)
{
	to->text->put(to->text->ctx, to->bytes);
	to->len = 0;
	to->bytes[0] = 0;
}

static void name(const struct writer *to, u64 ip, bool place, char *buf)
{
	buf[0] = 0;
	to->text->name(to->text->ctx, ip, place, buf, NAME_BYTES);
	buf[NAME_BYTES - 1] = 0;
}

/* The place, or the function if its name is followed by something. */
static void add_name(struct writer *to, const char *before, u64 ip, const char *after)
{
	char buf[NAME_BYTES];

	name(to, ip, !after[0], buf);
	add(to, "%s%s%s", before, buf, after);
}

static void add_place(struct writer *to, const char *before, u64 ip)
{
	add_name(to, before, ip, "");
}

static void indent(struct writer *to, s32 depth)
{
	s32 deep = (depth - to->least) * to->step;

	add(to, "%*s", deep < 0 ? 0 : deep < INDENT_MOST ? deep : INDENT_MOST, "");
}

static void add_times(struct writer *to, u32 times)
{
	if (times > 1)
		add(to, "  x %u", times);
}

static bool is_user(u64 ip)
{
	return !(ip >> 63);
}

/* Microseconds; nothing if they are not known. */
static void add_ticks(struct writer *to, u64 ticks, const char *sign, int width)
{
	unsigned long long tenths;
	char buf[24] = "";

	if (to->text->tsc_khz && ticks <= TICKS_MOST) {
		tenths = ticks * 10000 / to->text->tsc_khz;
		snprintf(buf, sizeof(buf), "%s%llu.%llu", tenths ? sign : "",
			 tenths / 10, tenths % 10);
	}
	add(to, "%*s", width, buf);
}

static void add_time(struct writer *to, u64 time, u64 now)
{
	add_ticks(to, time && now ? now - time : ~0ULL, "-", TIME_BYTES);
	add(to, " ");
}

/* "the fault at NAME", "the call of panic() at NAME" */
static void add_end(struct writer *to)
{
	const struct kipt_excerpt_text *text = to->text;
	const struct kipt_excerpt_end *end = &text->end;

	if (end->nmi) {
		add(to, "the NMI ");
		add_ticks(to, text->later, "", 0);
		add(to, " us later");
	} else if (end->faulted || !text->last) {
		add(to, end->faulted ? "the fault" : "the call");
	} else {
		add_name(to, "the call of ", text->last->value, "()");
	}
	if (end->nmi && is_user(end->ip))
		add(to, " in user code");
	else
		add_place(to, " at ", text->last && !end->faulted && !end->nmi ?
			  text->last->ip : end->ip);
}

/* One text explains how to read it. */
static void show_head(struct writer *to)
{
	const struct kipt_excerpt_text *text = to->text;
	bool ends = text->end.known && (text->last || !text->end.nmi);

	add(to, "CPU %u, %s", text->cpu, ends ? "calls before " : "the last calls");
	if (ends)
		add_end(to);
	put(to);
	if (text->end.nmi)
		return;
	add(to, "%*s \"f() {\" did not return, \"f();\" did, with N calls in it",
	    TIME_BYTES, text->tsc_khz ? "us" : "");
	put(to);
}

/* The least depth after the last break. */
static void measure(struct writer *to, const struct kipt_excerpt_lines *list)
{
	u32 i;

	to->least = list->depth;
	for (i = 0; i < list->count; i++)
		if (list->lines[i].kind >= KIPT_EXCERPT_BREAK)
			to->least = list->depth;
		else if (list->lines[i].depth < to->least)
			to->least = list->lines[i].depth;
	to->step = list->depth - to->least > DEPTH_WIDE ? 1 : 2;
}

/* Of any other kind trace and code do not fit. */
static const char *const gap_names[__KIPT_GAP_KIND_MAX] = {
	[0] = "was not traced",
	[KIPT_GAP_OVERFLOW] = "lost by the CPU",
	[KIPT_GAP_NO_CODE] = "code that cannot be read",
	[KIPT_GAP_CODE_CHANGED] = "code that was patched",
	[KIPT_GAP_STOPPED] = "time was up",
};

static void add_break(struct writer *to, const struct kipt_excerpt_line *line)
{
	const char *gap = line->gap < __KIPT_GAP_KIND_MAX ? gap_names[line->gap] : NULL;

	if (line->kind == KIPT_EXCERPT_STACK)
		add(to, "--- another stack");
	else
		add(to, "--- gap: %s", gap ? gap : "trace and code do not fit");
	if (line->ip)
		add_place(to, ", then in ", line->ip);
	add(to, " ---");
	add_times(to, line->times);
}

/* A function that jumped to another goes on as that; entries are labels. */
static void add_call(struct writer *to, const struct kipt_excerpt_line *line)
{
	bool entry = line->kind == KIPT_EXCERPT_ENTRY;
	u64 other = entry && !line->open ? line->site : entry ? 0 : line->now;
	char first[NAME_BYTES], second[NAME_BYTES];

	indent(to, line->depth);
	name(to, line->ip, false, first);
	add(to, "%s", first);
	if (other && line->kind != KIPT_EXCERPT_EVENT) {
		name(to, other, false, second);
		if (strcmp(first, second))
			add(to, "%s%s", entry ? ": " : " -> ", second);
	}
	add(to, line->open ? "() {" : "();");
	if (line->kind == KIPT_EXCERPT_EVENT && line->site)
		add_place(to, "  at ", line->site);
	if (line->kind == KIPT_EXCERPT_BEFORE)
		add(to, "  called before that");
	if (line->calls)
		add(to, "  %u in it", line->calls);
	add_times(to, line->times);
	if (line->dropped)
		add(to, "  ... %u more", line->dropped);
}

/* The branches in user code that led to the last entry into the kernel. */
static void show_user(struct writer *to, const struct kipt_excerpt_lines *list)
{
	const struct kipt_excerpt_text *text = to->text;
	u32 most = text->user < KIPT_EXCERPT_USER_MOST ? text->user : KIPT_EXCERPT_USER_MOST;
	u32 i = list->nr_user;

	if (!most || !i)
		return;
	add(to, "%*suser code of %.15s (%u)", TIME_BYTES + 1, "", text->task,
	    text->tid);
	if (text->program)
		add(to, ", its program's code is at 0x%llx",
		    (unsigned long long)text->program);
	put(to);
	for (i = i > most ? i - most : 0; i < list->nr_user; i++) {
		const struct kipt_excerpt_branch *branch =
			&list->user_branches[i % KIPT_EXCERPT_USER_MOST];

		add(to, "%*s0x%llx -> ", TIME_BYTES + 3, "",
		    (unsigned long long)branch->from);
		if (is_user(branch->to))
			add(to, "0x%llx", (unsigned long long)branch->to);
		else
			add_name(to, "", branch->to, "()");
		add_times(to, branch->times);
		put(to);
	}
}

static void show_lines(struct writer *to, const struct kipt_excerpt_lines *list)
{
	s32 entry = list->top, i;
	u64 time = 0;

	/* The entry that is open comes after the user code. */
	while (entry > 0 && list->lines[entry].kind != KIPT_EXCERPT_ENTRY)
		entry = list->lines[entry].below;
	measure(to, list);
	for (i = 0; i < (s32)list->count; i++) {
		const struct kipt_excerpt_line *line = &list->lines[i];

		if (line->kind == KIPT_EXCERPT_LOCAL)
			continue;
		if (i == entry)
			show_user(to, list);
		add_time(to, line->time == time ? 0 : line->time, list->time);
		time = line->time;
		if (line->kind >= KIPT_EXCERPT_BREAK)
			add_break(to, line);
		else
			add_call(to, line);
		put(to);
	}
}

/* The last line of calls, and what ran from there to the end of the trace. */
static void show_end(struct writer *to, const struct kipt_excerpt_lines *list)
{
	const struct kipt_excerpt_text *text = to->text;
	const struct kipt_excerpt_end *end = &text->end;

	add_time(to, list->time, list->time);
	indent(to, list->depth);
	if (!text->last) {
		add_place(to, text->cut ? "here time was up: " :
			  "here tracing stopped: ", list->here);
	} else if (end->nmi && is_user(end->ip)) {
		add(to, "user code: NMI");
	} else if (end->nmi || end->faulted) {
		add_place(to, "", end->ip);
		add(to, end->nmi ? ": NMI" : ": fault");
	} else {
		add_place(to, "", text->last->ip);
		add_name(to, " calls ", text->last->value, "()");
	}
	put(to);
	if (end->nmi || (!text->last && !end->known))
		return;
	if (text->last) {
		add_name(to, "then ", text->last->value, "()");
		add(to, ", %llu instructions until tracing stopped",
		    (unsigned long long)text->insns);
	} else {
		add_end(to);
		add(to, text->over ? " was not reached in time" :
				     " is not in the trace");
	}
	put(to);
}

void kipt_excerpt_show(const struct kipt_excerpt_text *text,
		       struct kipt_excerpt_lines *list, u32 most)
{
	struct writer to = { .text = text };

	kipt_excerpt_lines_trim(list, most);
	show_head(&to);
	show_lines(&to, list);
	show_end(&to, list);
}
