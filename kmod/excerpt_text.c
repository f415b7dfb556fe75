// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of an excerpt, see excerpt_text.h. Any context.
 */
#include "excerpt_text.h"

#define NAME_BYTES	64U
/* The time, right-aligned, and a space. */
#define TIME_BYTES	10U
#define INDENT_MOST	40U
/* More than this deep, calls are indented by one space and not by two. */
#define DEPTH_WIDE	12
/* Tenths of microseconds: more are shown as seconds. */
#define TENTHS_MOST	10000000ULL
/* Ticks that can be turned into time without overflow. */
#define TICKS_MOST	(1ULL << 50)
/* Bytes of a near call that may lead to the end of the machine. */
#define CALL_BYTES_MIN	2U
#define CALL_BYTES_MAX	7U
#define HANDLER_PREFIX	"asm_exc_"

/**
 * struct line_text - a line that is being written
 * @len: bytes of it
 * @bytes: it, with a 0
 */
struct line_text {
	u32 len;
	char bytes[KIPT_EXCERPT_WIDTH];
};

static void add_char(struct line_text *line, char c)
{
	if (line->len + 1 < sizeof(line->bytes))
		line->bytes[line->len++] = c;
	line->bytes[line->len] = 0;
}

static void add(struct line_text *line, const char *text)
{
	while (*text)
		add_char(line, *text++);
}

static void add_number(struct line_text *line, u64 number)
{
	char digits[24];
	u32 n = sizeof(digits);

	digits[--n] = 0;
	do {
		digits[--n] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	add(line, digits + n);
}

static void add_spaces(struct line_text *line, u32 to)
{
	while (line->len < to)
		add_char(line, ' ');
}

static void add_address(struct line_text *line, u64 ip)
{
	s32 shift = 60;

	add(line, "0x");
	while (shift > 0 && !(ip >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		add_char(line, "0123456789abcdef"[ip >> shift & 15]);
}

static void add_name(struct line_text *line,
		     const struct kipt_excerpt_text *text, u64 ip,
		     enum kipt_excerpt_name how)
{
	char name[NAME_BYTES] = "";

	text->name(text->ctx, ip, how, name, sizeof(name));
	name[sizeof(name) - 1] = 0;
	add(line, name);
}

static void put(const struct kipt_excerpt_text *text, struct line_text *line)
{
	text->put(text->ctx, line->bytes);
	line->len = 0;
	line->bytes[0] = 0;
}

static const char *trap_name(u32 trap)
{
	switch (trap) {
	case 0:
		return "divide error";
	case 3:
		return "breakpoint";
	case 6:
		return "invalid opcode (BUG)";
	case 8:
		return "double fault";
	case 12:
		return "stack fault";
	case 13:
		return "general protection fault";
	case 14:
		return "page fault";
	case 18:
		return "machine check";
	default:
		return "exception";
	}
}

static bool is_user(u64 ip)
{
	return !(ip >> 63);
}

bool kipt_excerpt_ends(const struct kipt_excerpt_end *end,
		       const struct kipt_record *record)
{
	u64 behind = end->ip - record->ip;

	if (end->known && end->nmi && is_user(end->ip) &&
	    record->type == KIPT_RECORD_ENABLE)
		return true;
	if (!end->known || record->type != KIPT_RECORD_BRANCH ||
	    record->flags & KIPT_RF_NO_IP)
		return false;
	if (end->faulted || end->nmi)
		return record->kind == KIPT_BRANCH_EVENT && !behind;
	if (record->kind != KIPT_BRANCH_CALL &&
	    record->kind != KIPT_BRANCH_CALL_IND)
		return false;
	return !behind ||
	       (behind >= CALL_BYTES_MIN && behind <= CALL_BYTES_MAX);
}

/* The handler tells what happened: asm_exc_page_fault. */
static void add_trap(struct line_text *line,
		     const struct kipt_excerpt_text *text)
{
	u32 prefix = sizeof(HANDLER_PREFIX) - 1, i;
	char name[NAME_BYTES] = "";

	if (text->last)
		text->name(text->ctx, text->last->value, KIPT_EXCERPT_NAME,
			   name, sizeof(name));
	name[sizeof(name) - 1] = 0;
	if (strncmp(name, HANDLER_PREFIX, prefix)) {
		add(line, trap_name(text->end.trap));
		return;
	}
	if (!strcmp(name + prefix, "invalid_op")) {
		add(line, trap_name(6));
		return;
	}
	for (i = prefix; name[i]; i++)
		add_char(line, name[i] == '_' ? ' ' : name[i]);
}

/* Return: tenths of microseconds, or ~0. */
static u64 tenths(const struct kipt_excerpt_text *text, u64 ticks)
{
	if (!text->tsc_khz || ticks > TICKS_MOST)
		return ~0ULL;
	return ticks * 10000 / text->tsc_khz;
}

/* Microseconds, or seconds. */
static void add_ticks(struct line_text *line,
		      const struct kipt_excerpt_text *text, u64 ticks)
{
	u64 number = tenths(text, ticks);

	if (number > TENTHS_MOST) {
		add_number(line, number / TENTHS_MOST);
		add(line, " s");
	} else {
		add_number(line, number / 10);
		add(line, ".");
		add_number(line, number % 10);
	}
}

static void add_time(struct line_text *line,
		     const struct kipt_excerpt_text *text, u64 time, u64 now)
{
	struct line_text number = { .len = 0 };
	u64 before = tenths(text, now - time);

	if (time && now && before != ~0ULL) {
		if (before)
			add(&number, "-");
		add_ticks(&number, text, now - time);
		add_spaces(line, number.len < TIME_BYTES ?
			   TIME_BYTES - number.len : 0);
		add(line, number.bytes);
	}
	add_spaces(line, TIME_BYTES);
	add_char(line, ' ');
}

/* Where the NMI came, and when. */
static void add_nmi(struct line_text *line,
		    const struct kipt_excerpt_text *text)
{
	add(line, "the NMI ");
	if (tenths(text, text->later) != ~0ULL) {
		add_ticks(line, text, text->later);
		add(line, tenths(text, text->later) > TENTHS_MOST ?
			  " later " : " us later ");
	}
	if (is_user(text->end.ip)) {
		add(line, "in user code");
	} else {
		add(line, "at ");
		add_name(line, text, text->end.ip, KIPT_EXCERPT_PLACE);
	}
}

/* "the page fault at NAME", "the call of panic() at NAME" */
static void add_end(struct line_text *line,
		    const struct kipt_excerpt_text *text)
{
	const struct kipt_excerpt_end *end = &text->end;

	if (end->nmi) {
		add_nmi(line, text);
		return;
	}
	add(line, "the ");
	if (end->faulted) {
		add_trap(line, text);
	} else if (text->last) {
		add(line, "call of ");
		add_name(line, text, text->last->value, KIPT_EXCERPT_NAME);
		add(line, "()");
	} else {
		add(line, "call");
	}
	add(line, " at ");
	add_name(line, text, text->last && !end->faulted ? text->last->ip :
		 end->ip, KIPT_EXCERPT_PLACE);
}

/* One text explains how to read it. */
static void show_head(const struct kipt_excerpt_text *text)
{
	struct line_text line = { .len = 0 };

	add(&line, "CPU ");
	add_number(&line, text->cpu);
	if (text->end.known && (text->last || !text->end.nmi)) {
		add(&line, ", calls before ");
		add_end(&line, text);
	} else {
		add(&line, ", the last calls");
	}
	put(text, &line);
	if (text->end.nmi)
		return;
	add(&line, text->tsc_khz ? "        us" : "");
	add_spaces(&line, TIME_BYTES);
	add(&line, " \"f() {\" did not return, \"f();\" did, with N calls in it");
	put(text, &line);
}

/**
 * struct shape - how deep lines are indented
 * @list: all lines
 * @least: the least depth of the segment at hand
 * @step: spaces for each call
 */
struct shape {
	const struct kipt_excerpt_lines *list;
	s32 least;
	u32 step;
};

static bool ends_segment(const struct kipt_excerpt_line *line)
{
	return line->kind == KIPT_EXCERPT_GAP ||
	       line->kind == KIPT_EXCERPT_STACK;
}

static void measure(struct shape *shape, u32 from)
{
	const struct kipt_excerpt_lines *list = shape->list;
	s32 most = list->depth;
	u32 i;

	shape->least = list->depth;
	for (i = from; i < list->count; i++) {
		const struct kipt_excerpt_line *line = &list->lines[i];

		if (ends_segment(line))
			break;
		if (i == from)
			most = shape->least = line->depth;
		if (line->depth < shape->least)
			shape->least = line->depth;
		if (line->depth > most)
			most = line->depth;
	}
	shape->step = most - shape->least > DEPTH_WIDE ? 1 : 2;
}

static void indent(struct line_text *line, const struct shape *shape, s32 depth)
{
	s32 deep = depth - shape->least;
	u32 spaces = deep > 0 ? (u32)deep * shape->step : 0;

	add_spaces(line, line->len +
		   (spaces < INDENT_MOST ? spaces : INDENT_MOST));
}

static const char *gap_name(u8 gap)
{
	switch (gap) {
	case 0:
		return "was not traced";
	case KIPT_GAP_OVERFLOW:
		return "lost by the CPU";
	case KIPT_GAP_NO_CODE:
		return "code that cannot be read";
	case KIPT_GAP_CODE_CHANGED:
		return "code that was patched";
	case KIPT_GAP_STOPPED:
		return "time was up";
	case KIPT_GAP_TRUNCATED:
		return "the trace is cut off";
	default:
		return "trace and code do not fit";
	}
}

static void add_times(struct line_text *line, const char *by, u32 times)
{
	if (times < 2)
		return;
	add(line, by);
	add_number(line, times);
}

static void show_break(const struct kipt_excerpt_text *text,
		       struct line_text *line,
		       const struct kipt_excerpt_line *from)
{
	add(line, "--- ");
	add(line, from->kind == KIPT_EXCERPT_STACK ? "another stack" :
						     "gap: ");
	if (from->kind == KIPT_EXCERPT_GAP)
		add(line, gap_name(from->gap));
	if (from->ip) {
		add(line, ", then in ");
		add_name(line, text, from->ip, KIPT_EXCERPT_PLACE);
	}
	add(line, " ---");
	add_times(line, "  x ", from->times);
	put(text, line);
}

/* A function that jumped to another goes on as that. */
static void add_function(struct line_text *line,
			 const struct kipt_excerpt_text *text,
			 const struct kipt_excerpt_line *from)
{
	bool entry = from->kind == KIPT_EXCERPT_ENTRY;
	bool returned = !from->open && !from->left;
	u64 ip = entry ? from->site : from->jumped;
	char name[NAME_BYTES] = "", other[NAME_BYTES] = "";

	text->name(text->ctx, from->ip, KIPT_EXCERPT_NAME, name, sizeof(name));
	name[sizeof(name) - 1] = 0;
	add(line, name);
	/* Entries are labels, between which they jump. */
	if (!ip || from->kind == KIPT_EXCERPT_EVENT || (entry && !returned))
		return;
	text->name(text->ctx, ip, KIPT_EXCERPT_NAME, other, sizeof(other));
	other[sizeof(other) - 1] = 0;
	if (!strcmp(name, other))
		return;
	add(line, entry ? ": " : " -> ");
	add(line, other);
}

static void add_remarks(struct line_text *line,
			const struct kipt_excerpt_text *text,
			const struct kipt_excerpt_line *from)
{
	if (from->kind == KIPT_EXCERPT_EVENT && from->site) {
		add(line, "  at ");
		add_name(line, text, from->site, KIPT_EXCERPT_PLACE);
	} else if (from->kind == KIPT_EXCERPT_BEFORE) {
		add(line, "  called before that");
	}
	if (from->calls) {
		add(line, "  ");
		add_number(line, from->calls);
		add(line, " in it");
	}
	add_times(line, "  x ", from->times);
	if (from->dropped) {
		add(line, "  ... ");
		add_number(line, from->dropped);
		add(line, " more");
	}
}

static void show_line(const struct kipt_excerpt_text *text,
		      const struct shape *shape,
		      const struct kipt_excerpt_line *from, u64 time)
{
	struct line_text line = { .len = 0 };

	add_time(&line, text, time, shape->list->time);
	if (ends_segment(from)) {
		show_break(text, &line, from);
		return;
	}
	indent(&line, shape, from->depth);
	add_function(&line, text, from);
	add(&line, from->open || from->left ? "() {" : "();");
	add_remarks(&line, text, from);
	put(text, &line);
}

/* What a branch of user code did, and where it went. */
static void add_user_branch(struct line_text *line,
			    const struct kipt_excerpt_jump *branch)
{
	const char *what = " jumps to ";

	switch (branch->kind) {
	case KIPT_BRANCH_CALL:
	case KIPT_BRANCH_CALL_IND:
		what = " calls ";
		break;
	case KIPT_BRANCH_RET:
		what = " returns to ";
		break;
	case KIPT_BRANCH_SYSCALL:
		what = ": system call";
		break;
	case KIPT_BRANCH_EVENT:
		what = ": interrupt or exception";
		break;
	default:
		break;
	}
	add_address(line, branch->from);
	add(line, what);
	if (what[0] == ' ')
		add_address(line, branch->to);
	add_times(line, "  x ", branch->times);
}

/* The branches in user code that led to the last entry into the kernel. */
static void show_user(const struct kipt_excerpt_text *text,
		      const struct kipt_excerpt_lines *list)
{
	u32 n = list->nr_user, shown = n;
	struct line_text line = { .len = 0 };

	if (shown > text->user)
		shown = text->user;
	if (shown > KIPT_EXCERPT_USER_MOST)
		shown = KIPT_EXCERPT_USER_MOST;
	if (!shown)
		return;
	add_spaces(&line, TIME_BYTES + 1);
	add(&line, "user code of ");
	add(&line, text->task.name);
	add(&line, " (");
	add_number(&line, text->task.tid);
	add_char(&line, ')');
	if (text->task.program) {
		add(&line, ", its program's code is at ");
		add_address(&line, text->task.program);
	}
	put(text, &line);
	for (; shown; shown--) {
		add_spaces(&line, TIME_BYTES + 3);
		add_user_branch(&line, &list->user_branches[(n - shown) %
						KIPT_EXCERPT_USER_MOST]);
		put(text, &line);
	}
}

/* The line before which user code ran: the last entry that is open. */
static u32 last_entry(const struct kipt_excerpt_lines *list)
{
	u32 i = list->count;

	while (i && !(list->lines[i - 1].open &&
		      list->lines[i - 1].kind == KIPT_EXCERPT_ENTRY))
		i--;
	return i ? i - 1 : 0;
}

/* How control went in the function, from its last call on. */
static void show_jumps(const struct kipt_excerpt_text *text,
		       const struct shape *shape)
{
	const struct kipt_excerpt_lines *list = shape->list;
	u32 n = list->nr_jumps, i;
	struct line_text line = { .len = 0 };

	if (!n)
		return;
	i = n > KIPT_EXCERPT_JUMPS ? n - KIPT_EXCERPT_JUMPS : 0;
	add_spaces(&line, TIME_BYTES + 1);
	indent(&line, shape, list->depth);
	add(&line, i ? "... jumps" : "jumps");
	for (; i < n; i++) {
		const struct kipt_excerpt_jump *jump =
			&list->jumps[i % KIPT_EXCERPT_JUMPS];

		add(&line, " ");
		add_name(&line, text, jump->from, KIPT_EXCERPT_OFFSET);
		add(&line, "->");
		add_name(&line, text, jump->to, KIPT_EXCERPT_OFFSET);
		add_times(&line, " x ", jump->times);
	}
	put(text, &line);
}

/* What ran from there on, to the end of the trace. */
static void show_after(const struct kipt_excerpt_text *text)
{
	struct line_text line = { .len = 0 };

	add(&line, "then ");
	add_name(&line, text, text->last->value, KIPT_EXCERPT_NAME);
	add(&line, "(), ");
	add_number(&line, text->insns);
	add(&line, " instructions until tracing stopped");
	put(text, &line);
}

static void show_end(const struct kipt_excerpt_text *text,
		     const struct shape *shape)
{
	struct line_text line = { .len = 0 };

	add_time(&line, text, shape->list->time, shape->list->time);
	indent(&line, shape, shape->list->depth);
	if (!text->last) {
		add(&line, text->cut ? "here time was up: " :
				       "here tracing stopped: ");
		add_name(&line, text, shape->list->here, KIPT_EXCERPT_PLACE);
	} else if (text->end.nmi && is_user(text->end.ip)) {
		add(&line, "user code: NMI");
	} else if (text->end.nmi) {
		add_name(&line, text, text->end.ip, KIPT_EXCERPT_PLACE);
		add(&line, ": NMI");
	} else if (text->end.faulted) {
		add_name(&line, text, text->last->ip, KIPT_EXCERPT_PLACE);
		add(&line, ": ");
		add_trap(&line, text);
	} else {
		add_name(&line, text, text->last->ip, KIPT_EXCERPT_PLACE);
		add(&line, " calls ");
		add_name(&line, text, text->last->value, KIPT_EXCERPT_NAME);
		add(&line, "()");
	}
	put(text, &line);
}

static void show_not_found(const struct kipt_excerpt_text *text)
{
	struct line_text line = { .len = 0 };

	add_end(&line, text);
	add(&line, text->over ? " was not reached in time" :
				" is not in the trace");
	put(text, &line);
}

void kipt_excerpt_show(const struct kipt_excerpt_text *text,
		       struct kipt_excerpt_lines *list, u32 most)
{
	struct shape shape = { .list = list };
	u64 time = 0;
	u32 entry, i;

	kipt_excerpt_lines_trim(list, most);
	show_head(text);
	measure(&shape, 0);
	entry = last_entry(list);
	for (i = 0; i < list->count; i++) {
		const struct kipt_excerpt_line *line = &list->lines[i];

		if (i == entry)
			show_user(text, list);
		if (ends_segment(line))
			measure(&shape, i + 1);
		show_line(text, &shape, line, line->time == time ? 0 :
							line->time);
		time = line->time;
	}
	show_jumps(text, &shape);
	show_end(text, &shape);
	if (text->end.nmi)
		return;
	if (text->last)
		show_after(text);
	else if (text->end.known)
		show_not_found(text);
}
