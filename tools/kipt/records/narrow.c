// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of chosen CPUs, tasks and times, see narrow.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "narrow.h"

/* The highest number of a task, PID_MAX_LIMIT. */
#define TASK_MAX	4194304

bool narrow_any(const struct narrow_options *options)
{
	return options->cpus.count || options->pids.count ||
	       options->tids.count || options->comm ||
	       time_range_any(&options->time);
}

struct adding {
	struct lookup *chosen;
	bool failed;
};

static void chosen_add(void *ctx, u32 cpu)
{
	struct adding *adding = ctx;

	if (!lookup_add(adding->chosen, cpu, 0))
		adding->failed = true;
}

bool narrow_cpus(struct narrow_options *options, const char *list)
{
	struct adding adding = { .chosen = &options->cpus };

	if (!args_cpus(list, NULL, NULL)) {
		say_error("--cpu %s: no CPU list; allowed are numbers and ranges, as 0-3,6",
			  list);
		return false;
	}
	args_cpus(list, chosen_add, &adding);
	if (adding.failed)
		say_errno(ENOMEM, "--cpu %s", list);
	return !adding.failed;
}

static bool tasks_add(struct lookup *chosen, const char *option,
		      const char *list)
{
	char text[16];
	u64 number;
	size_t length;

	for (;; list += length + 1) {
		length = strcspn(list, ",");
		if (length < sizeof(text))
			snprintf(text, sizeof(text), "%.*s", (int)length, list);
		if (length >= sizeof(text) ||
		    !args_number(text, TASK_MAX, &number)) {
			say_error("--%s %s: allowed are numbers of 0 to %u with commas between them",
				  option, list, TASK_MAX);
			return false;
		}
		if (!lookup_add(chosen, number, 0)) {
			say_errno(ENOMEM, "--%s %s", option, list);
			return false;
		}
		if (!list[length])
			return true;
	}
}

bool narrow_pids(struct narrow_options *options, const char *list)
{
	return tasks_add(&options->pids, "pid", list);
}

bool narrow_tids(struct narrow_options *options, const char *list)
{
	return tasks_add(&options->tids, "tid", list);
}

void narrow_free(struct narrow_options *options)
{
	lookup_free(&options->cpus);
	lookup_free(&options->pids);
	lookup_free(&options->tids);
	options->comm = NULL;
}

bool narrow_has(const struct lookup *chosen, u64 number)
{
	return !chosen->count || lookup_get(chosen, number);
}

static struct narrow_cpu *here(const struct narrow *n)
{
	return (struct narrow_cpu *)n->stream.at;
}

static bool task_is_chosen(const struct narrow *n)
{
	const struct narrow_options *options = n->options;
	const struct kipt_record *task =
		record_state_last(&n->stream.at->state, RECORD_STATE_TASK);
	bool process_known = task && !(task->flags & KIPT_RF_NO_VALUE);

	if (!options->pids.count && !options->tids.count && !options->comm)
		return true;
	if (!task || !narrow_has(&options->tids, task->aux))
		return false;
	if (options->pids.count &&
	    (!process_known || !lookup_get(&options->pids, task->value)))
		return false;
	return !options->comm ||
	       !strcmp(options->comm,
		       n->comm(n->stream.ctx, task->aux,
			       process_known ? (u32)task->value : 0));
}

/* The first TIME needs no other one that says when it was. */
static void first_see(struct partial_cpu *cpu, const struct kipt_record *record)
{
	if (cpu->first && record->type == KIPT_RECORD_TIME &&
	    record->value == cpu->first)
		cpu->first_given = true;
}

static bool give(struct narrow *n, const struct kipt_record *record)
{
	first_see(n->stream.at, record);
	return partial_give(&n->stream, record);
}

static bool time_pending(struct narrow *n)
{
	struct partial_cpu *cpu = n->stream.at;

	if (cpu->pending & 1U << RECORD_STATE_TIME)
		first_see(cpu, &cpu->state.last[RECORD_STATE_TIME]);
	return partial_pending(&n->stream, RECORD_STATE_TIME);
}

static void passing_set(struct narrow_cpu *at)
{
	at->passing = at->on && at->chosen && at->within;
}

static bool in_stretch(const struct narrow *n, s64 ticks)
{
	return ticks >= n->from && ticks <= n->to;
}

/* A CPU that comes for the first time. */
static void cpu_add(struct narrow *n, bool chosen)
{
	struct narrow_cpu *at = here(n);

	at->on = chosen;
	at->chosen = task_is_chosen(n);
	at->within = in_stretch(n, 0);
	passing_set(at);
}

/* What a CPU did in its last part goes on. */
static bool cpu_begin(struct narrow *n, u64 number, bool chosen)
{
	bool known;

	if (!partial_cpu_begin(&n->stream, number, &known))
		return false;
	if (!known)
		cpu_add(n, chosen);
	return true;
}

static bool cpu_take(struct narrow *n, const struct kipt_record *record)
{
	bool chosen = narrow_has(&n->options->cpus, record->aux);

	if (!cpu_begin(n, record->aux, chosen))
		return false;
	record_state_see(&n->stream.at->state, record);
	n->seen |= here(n)->passing;
	return true;
}

/* All that is pending. */
static bool state_give(struct narrow *n)
{
	n->seen = true;
	here(n)->closing = false;
	return time_pending(n) && partial_where(&n->stream);
}

/* A chosen task runs after another: all of where the stream is, and its time first,
 * since what passed until then is not this task's.
 */
static bool enter(struct narrow *n)
{
	struct narrow_cpu *at = here(n);

	at->cpu.pending |= 1U << RECORD_STATE_TASK;
	return state_give(n) &&
	       (!at->running || at->in_gap || partial_resume(&n->stream, 0, false));
}

/* The other task is named, since it took the CPU. */
static bool leave(struct narrow *n, const struct kipt_record *task)
{
	struct narrow_cpu *at = here(n);

	at->closing = true;
	return give(n, task) &&
	       (!at->running || at->in_gap || partial_leave(&n->stream));
}

static bool task_take(struct narrow *n, const struct kipt_record *record)
{
	struct narrow_cpu *at = here(n);
	bool was = at->passing;

	record_state_see(&at->cpu.state, record);
	at->chosen = task_is_chosen(n);
	passing_set(at);
	if (!at->within)
		return true;
	if (at->passing)
		return was ? give(n, record) : enter(n);
	return !was || leave(n, record);
}

/* Whether, after a record, it is known again that instructions are traced. */
static bool run_see(struct narrow_cpu *at, const struct kipt_record *record)
{
	bool branch = record->type == KIPT_RECORD_BRANCH;
	u16 unknown = branch ? KIPT_RF_NO_VALUE : KIPT_RF_NO_IP;

	if (!record_runs(record, &at->running))
		return false;
	at->ip_known = at->running && !(record->flags & unknown);
	at->ip = branch ? record->value : record->ip;
	return true;
}

/* Of several gaps the first is why. */
static void gap_see(struct narrow_cpu *at, const struct kipt_record *record)
{
	if (!record_gap_loses_time(record->kind))
		return;
	if (!at->lost)
		at->gap = *record;
	at->lost = true;
	at->in_gap = true;
	at->gap_timed = false;
}

/* It is known again where execution is. */
static void gap_resumed(struct narrow_cpu *at)
{
	at->in_gap = false;
	at->lost &= !at->gap_timed;
}

static void gap_time(struct narrow_cpu *at)
{
	at->gap_timed = true;
	at->lost &= at->in_gap;
}

static bool gap_take(struct narrow *n, const struct kipt_record *record)
{
	here(n)->closing |= record_gap_loses_time(record->kind);
	return time_pending(n) && give(n, record);
}

/* A record of a task that was not chosen. How long a gap is, or when a chosen task
 * was left, is in the next TIME.
 */
static bool other_take(struct narrow *n, const struct kipt_record *record,
		       bool gap_ends)
{
	enum record_state_kind kind = record_state_kind(record);
	struct narrow_cpu *at = here(n);

	if (gap_ends)
		return partial_leave(&n->stream);
	if (kind < RECORD_STATES)
		at->cpu.pending |= 1U << kind;
	if (kind != RECORD_STATE_TIME || !at->closing)
		return true;
	/* From the first one on there are spans of time. */
	at->closing = at->in_gap || !at->cpu.timed;
	return time_pending(n);
}

static s64 ticks_of(const struct narrow_cpu *at, const struct kipt_record *time)
{
	return (s64)(time->value - at->cpu.first);
}

/* The share that a part of the time between two times has of the core cycles between them. */
static u64 cycles_of(u64 cycles, s64 part, s64 whole)
{
	return whole > 0 && part < whole ? (u64)((double)cycles * part / whole) : cycles;
}

/* Between two times of the trace, at an end of the stretch. */
static struct kipt_record cut_at(const struct narrow_cpu *at, s64 ticks, u64 cycles)
{
	return (struct kipt_record){
		.type = KIPT_RECORD_TIME,
		.kind = KIPT_TIME_CUT,
		.flags = KIPT_RF_NO_IP,
		.aux = ~0U,
		.ip = cycles,
		.value = at->cpu.first + (u64)ticks,
	};
}

static bool time_pass(struct narrow *n, const struct kipt_record *time)
{
	struct narrow_cpu *at = here(n);

	record_state_see(&at->cpu.state, time);
	if (!at->on)
		return true;
	return at->passing ? give(n, time) : other_take(n, time, false);
}

/* Where a CPU is when the stretch begins. Whether a gap ends as soon as execution is
 * known again depends on the times that came since.
 */
static bool where_give(struct narrow *n)
{
	struct narrow_cpu *at = here(n);
	bool good = !at->lost || !at->gap_timed || give(n, &at->gap);

	if (good && at->passing)
		good = state_give(n);
	else if (good)
		good = time_pending(n);
	at->closing = at->lost;
	return good && (!at->lost || at->gap_timed || give(n, &at->gap));
}

static bool stretch_enter(struct narrow *n, const struct kipt_record *time)
{
	struct narrow_cpu *at = here(n);
	bool away = at->away, good;
	u32 kind;

	at->within = true;
	at->away = false;
	passing_set(at);
	record_state_see(&at->cpu.state, time);
	for (kind = RECORD_STATE_CONTEXT; kind < RECORD_STATES; kind++)
		at->cpu.pending |= !!record_state_last(&at->cpu.state, kind) << kind;
	if (!at->on || (!at->passing && !at->lost))
		return true;
	good = (!away || partial_leave(&n->stream)) && where_give(n);
	if (!good || at->in_gap)
		return good;
	if (at->passing && at->running)
		return partial_resume(&n->stream, at->ip, at->ip_known);
	return !at->lost || partial_leave(&n->stream);
}

static void stretch_leave(struct narrow *n)
{
	struct narrow_cpu *at = here(n);

	at->away |= at->passing && at->running;
	at->within = false;
	at->closing = false;
	passing_set(at);
}

/* The stretch may begin, end, or both before this time. */
static bool stretch_time(struct narrow *n, struct kipt_record *time)
{
	struct narrow_cpu *at = here(n);
	const struct kipt_record *last =
		record_state_last(&at->cpu.state, RECORD_STATE_TIME);
	s64 now = ticks_of(at, time), was = last ? ticks_of(at, last) : now;
	struct kipt_record cut;
	bool good = true;

	if (!at->within && was < n->from && now > n->from) {
		cut = cut_at(at, n->from, 0);
		good = stretch_enter(n, &cut);
		time->ip = cycles_of(time->ip, now - n->from, now - was);
		was = n->from;
	}
	if (at->within && in_stretch(n, now))
		return good && time_pass(n, time);
	if (at->within) {
		cut = cut_at(at, n->to, cycles_of(time->ip, n->to - was, now - was));
		good = good && (was >= n->to || now < n->to ||
				time_pass(n, &cut));
		stretch_leave(n);
	} else if (in_stretch(n, now)) {
		gap_time(at);
		return stretch_enter(n, time);
	}
	record_state_see(&at->cpu.state, time);
	return good;
}

static bool time_take(struct narrow *n, const struct kipt_record *time)
{
	struct narrow_cpu *at = here(n);
	struct kipt_record rest = *time;
	bool good;

	if (!at->cpu.first)
		at->cpu.first = time->value;
	if (time->kind == KIPT_TIME_FIRST)
		return true;
	n->times = true;
	good = stretch_time(n, &rest);
	gap_time(at);
	return good;
}

static bool edge_take(struct narrow *n, const struct kipt_record *record)
{
	const struct narrow_options *options = n->options;

	if (options->cpus.count || options->tids.count || options->comm ||
	    time_range_any(&options->time)) {
		n->counted = true;
		return true;
	}
	if (record->type == KIPT_RECORD_SPACE)
		n->edges = lookup_get(&options->pids, record->aux);
	n->seen |= n->edges;
	return !n->edges || n->stream.give(n->stream.ctx, record, 1);
}

static bool take(struct narrow *n, const struct kipt_record *record)
{
	struct narrow_cpu *at = here(n);
	bool resumed, gap_ends;

	switch (record->type) {
	case KIPT_RECORD_CPU:
		return cpu_take(n, record);
	case KIPT_RECORD_TASK:
		return task_take(n, record);
	case KIPT_RECORD_TIME:
		return time_take(n, record);
	case KIPT_RECORD_SPACE:
	case KIPT_RECORD_EDGE:
		return edge_take(n, record);
	case KIPT_RECORD_GAP:
		gap_see(at, record);
		return !at->on || !at->within || gap_take(n, record);
	}
	record_state_see(&at->cpu.state, record);
	resumed = run_see(at, record);
	gap_ends = resumed && at->in_gap;
	if (resumed)
		gap_resumed(at);
	if (!at->on || !at->within)
		return true;
	return at->passing ? give(n, record) :
			     other_take(n, record, gap_ends);
}

static bool begin(struct narrow *n)
{
	n->stream.cpu_size = sizeof(struct narrow_cpu);
	if (time_range_ticks(&n->options->time, n->tsc_khz, &n->from, &n->to))
		return cpu_begin(n, PARTIAL_CPU_NONE, !n->options->cpus.count);
	n->refused = true;
	return false;
}

bool narrow_take(struct narrow *narrow, const struct kipt_record *records,
		 u32 count)
{
	bool good = narrow->stream.at || begin(narrow);
	u32 i;

	for (i = 0; i < count && good; i++)
		good = take(narrow, &records[i]);
	return good;
}

bool narrow_timeless(const struct narrow *narrow)
{
	return narrow->stream.at && !narrow->times &&
	       time_range_any(&narrow->options->time);
}

void narrow_end(struct narrow *narrow)
{
	partial_end(&narrow->stream);
}
