/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the views of a profile share.
 */
#ifndef KIPT_VIEW_TOTALS_H
#define KIPT_VIEW_TOTALS_H

#include "profile_feed.h"

struct json_object;

/**
 * totals_text() - the name of a function
 * @symbol: function
 * @text: buffer
 * @size: its bytes
 *
 * Makes "symbol [object]", without a symbol "0x1234 [object]" of what was called
 * there, or "[object]" of the rest. Return: @text.
 */
const char *totals_text(const struct profile_symbol *symbol, char *text,
			size_t size);

/**
 * struct totals_columns - what rows of functions have beside calls and branches
 * @tsc_khz: frequency of the TSC; 0: times are in ticks
 * @times: times
 * @cycles: core cycles, and instructions per cycle
 */
struct totals_columns {
	u64 tsc_khz;
	bool times, cycles;
};

/**
 * struct totals_sums - the numbers of a function, as in struct profile_symbol
 * @longest: ticks of its longest call
 */
struct totals_sums {
	u64 self, total, longest;
	u64 insns, cycles;
	u64 calls, branches;
};

/**
 * totals_head() - print the names of columns
 * @out: where to
 * @columns: which
 */
void totals_head(FILE *out, const struct totals_columns *columns);

/**
 * totals_row() - print the numbers of a function, for its name to follow
 * @out: where to
 * @columns: which
 * @sums: numbers
 */
void totals_row(FILE *out, const struct totals_columns *columns, const struct totals_sums *sums);

/**
 * totals_json() - print a function as a line of JSON
 * @view: the view
 * @profile: profile
 * @symbol: function
 */
void totals_json(struct view *view, const struct profile *profile,
		 const struct profile_symbol *symbol);

/**
 * screen_print() - print one screen
 * @view: the view
 * @profile: nothing is added any more
 * @list: functions in the order of profile_sort()
 * @count: how many
 */
void screen_print(struct view *view, const struct profile *profile,
		  const struct profile_symbol **list, size_t count);

/**
 * screen_json() - the same in lines of JSON
 * @view: the view
 * @profile: nothing is added any more
 * @list: functions in the order of profile_sort()
 * @count: how many
 */
void screen_json(struct view *view, const struct profile *profile,
		 const struct profile_symbol **list, size_t count);

/**
 * losses_print() - print each stretch of time that is lost, and the sums
 * @view: the view; as text or JSON
 * @feed: nothing comes any more
 */
void losses_print(struct view *view, const struct profile_feed *feed);

/**
 * folded_print() - print each stack of calls and how long it was the stack
 * @view: the view; as text or JSON
 * @feed: nothing comes any more
 */
void folded_print(struct view *view, const struct profile_feed *feed);

/**
 * slowest_print() - print the slowest runs, what came before the slowest and what it
 *	called
 * @view: the view; as text or JSON; fails where a function is not in the trace
 * @feed: nothing comes any more
 */
void slowest_print(struct view *view, const struct profile_feed *feed);

/**
 * view_nanoseconds() - a time in nanoseconds, in ticks where it is not known how fast the
 *	TSC is
 * @view: the view
 * @ticks: the time
 *
 * Return: it.
 */
u64 view_nanoseconds(const struct view *view, u64 ticks);

/**
 * view_duration() - a time in words: "12.345 ms", in ticks where it is not known how
 *	fast the TSC is
 * @view: the view
 * @ticks: the time
 * @text: buffer
 * @size: its bytes
 *
 * Return: @text.
 */
const char *view_duration(const struct view *view, u64 ticks, char *text,
			  size_t size);

/**
 * view_since() - the same of a time that may be before the one it counts from, as
 *	where a TSC was set back
 * @view: the view
 * @ticks: the time
 * @text: buffer
 * @size: its bytes
 *
 * Return: @text.
 */
const char *view_since(const struct view *view, s64 ticks, char *text,
		       size_t size);

/**
 * view_cpu() - the number of a CPU, or "unknown"
 * @cpu: its number, or PROFILE_CPU_UNKNOWN
 * @text: buffer
 * @size: its bytes
 *
 * Return: @text.
 */
const char *view_cpu(u64 cpu, char *text, size_t size);

/**
 * view_task() - a task as "12 name"
 * @view: the view
 * @tid: thread
 * @pid: its process; 0: not known
 * @text: buffer
 * @size: its bytes
 */
void view_task(struct view *view, u32 tid, u32 pid, char *text, size_t size);

/* Characters of a column of tasks. */
#define VIEW_TASK_WIDTH	18

/**
 * view_task_cell() - a task in such a column
 * @view: the view
 * @known: it is known; else it is "-"
 * @tid: thread
 * @pid: its process; 0: not known
 * @text: buffer
 * @size: its bytes, more than VIEW_TASK_WIDTH
 *
 * Return: @text, which is cut where it is too long.
 */
const char *view_task_cell(struct view *view, bool known, u32 tid, u32 pid,
			   char *text, size_t size);

/**
 * view_cpu_cell() - a CPU in a column
 * @cpu: its number, or PROFILE_CPU_UNKNOWN, which is "-"
 * @text: buffer
 * @size: its bytes
 *
 * Return: @text.
 */
const char *view_cpu_cell(u64 cpu, char *text, size_t size);

/**
 * view_lost_json() - add what is lost by each kind of gap
 * @line: gets a member "lost"
 * @profile: nothing is added any more
 */
void view_lost_json(struct json_object *line, const struct profile *profile);

#endif /* KIPT_VIEW_TOTALS_H */
