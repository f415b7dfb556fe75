// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of chosen CPUs and tasks, see narrow.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "narrow.h"

/* The highest number of a task, PID_MAX_LIMIT. */
#define TASK_MAX	4194304
/* CPUs whose parts are put together; the kernel has at most 8192. */
#define CPUS_MAX	(1 << 16)
/* The number of the one whose records come before the first CPU record. */
#define CPU_NONE	(~0ULL)

bool narrow_any(const struct narrow_options *options)
{
	return options->cpus.count || options->pids.count ||
	       options->tids.count || options->comm;
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

static bool task_is_chosen(const struct narrow *n)
{
	const struct narrow_options *options = n->options;
	const struct kipt_record *task =
		record_state_last(&n->at->state, RECORD_STATE_TASK);
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
		       n->comm(n->ctx, task->aux,
			       process_known ? (u32)task->value : 0));
}

/* The first of a part of a CPU comes after its CPU record. */
static bool give(struct narrow *n, const struct kipt_record *record)
{
	struct narrow_cpu *at = n->at;
	const struct kipt_record *cpu =
		record_state_last(&at->state, RECORD_STATE_CPU);

	at->timed |= record->type == KIPT_RECORD_TIME;
	if (!at->begun) {
		at->begun = true;
		if (cpu && !n->give(n->ctx, cpu, 1))
			return false;
	}
	return n->give(n->ctx, record, 1);
}

/* What changed of a kind while records were dropped, and still holds. */
static bool pending_give(struct narrow *n, enum record_state_kind kind)
{
	struct narrow_cpu *at = n->at;
	bool pending = at->pending & 1U << kind;

	at->pending &= ~(1U << kind);
	return !pending || give(n, &at->state.last[kind]);
}

static bool others_begin(struct narrow *n)
{
	static const struct kipt_record others = {
		.type = KIPT_RECORD_DISABLE,
		.kind = KIPT_DISABLE_OTHERS,
		.flags = KIPT_RF_NO_IP | KIPT_RF_NO_VALUE,
	};

	return give(n, &others);
}

static bool chosen_begin(struct narrow *n)
{
	static const struct kipt_record chosen = {
		.type = KIPT_RECORD_ENABLE,
		.kind = KIPT_ENABLE_CHOSEN,
		.flags = KIPT_RF_NO_IP,
	};

	return give(n, &chosen);
}

/* A CPU of which nothing is known yet. */
static struct narrow_cpu *cpu_add(struct narrow *n, u64 number)
{
	struct narrow_cpu *at;

	if (n->cpus.count >= CPUS_MAX) {
		memset(&n->others, 0, sizeof(n->others));
		return &n->others;
	}
	at = calloc(1, sizeof(*at));
	if (!at || !lookup_add(&n->cpus, number, (size_t)at)) {
		free(at);
		n->failed = true;
		return NULL;
	}
	at->next = n->first;
	n->first = at;
	return at;
}

/* What a CPU did in its last part goes on. */
static bool cpu_begin(struct narrow *n, u64 number, bool chosen)
{
	size_t *known = lookup_get(&n->cpus, number);

	n->at = known ? (struct narrow_cpu *)*known : cpu_add(n, number);
	if (!n->at)
		return false;
	if (!known) {
		n->at->on = chosen;
		n->at->passing = chosen && task_is_chosen(n);
	}
	n->at->begun = false;
	return true;
}

static bool cpu_take(struct narrow *n, const struct kipt_record *record)
{
	bool chosen = narrow_has(&n->options->cpus, record->aux);

	if (!cpu_begin(n, record->aux, chosen))
		return false;
	record_state_see(&n->at->state, record);
	n->seen |= n->at->passing;
	return true;
}

/* A chosen task runs after another: all of where the stream is, and its time first,
 * since what passed until then is not this task's.
 */
static bool enter(struct narrow *n, const struct kipt_record *task)
{
	struct narrow_cpu *at = n->at;

	n->seen = true;
	at->closing = false;
	return pending_give(n, RECORD_STATE_TIME) &&
	       pending_give(n, RECORD_STATE_CONTEXT) && give(n, task) &&
	       pending_give(n, RECORD_STATE_MODE) &&
	       pending_give(n, RECORD_STATE_CBR) &&
	       (!at->running || at->in_gap || chosen_begin(n));
}

/* The other task is named, since it took the CPU. */
static bool leave(struct narrow *n, const struct kipt_record *task)
{
	struct narrow_cpu *at = n->at;

	at->closing = true;
	return give(n, task) &&
	       (!at->running || at->in_gap || others_begin(n));
}

static bool task_take(struct narrow *n, const struct kipt_record *record)
{
	struct narrow_cpu *at = n->at;
	bool was = at->passing;

	record_state_see(&at->state, record);
	at->passing = at->on && task_is_chosen(n);
	if (at->passing)
		return was ? give(n, record) : enter(n, record);
	return !was || leave(n, record);
}

/* Whether, after a record, it is known again that instructions are traced. */
static bool run_see(struct narrow_cpu *at, const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_INSN:
	case KIPT_RECORD_ENABLE:
		at->running = true;
		break;
	case KIPT_RECORD_DISABLE:
		at->running = false;
		break;
	case KIPT_RECORD_SYNC:
		if (record->kind != KIPT_SYNC_START)
			return false;
		at->running = !(record->flags & KIPT_RF_NO_IP);
		break;
	default:
		return false;
	}
	return true;
}

static bool gap_take(struct narrow *n, const struct kipt_record *record)
{
	struct narrow_cpu *at = n->at;

	if (record_gap_loses_time(record->kind)) {
		at->in_gap = true;
		at->closing = true;
	}
	return pending_give(n, RECORD_STATE_TIME) && give(n, record);
}

/* A record of a task that was not chosen. How long a gap is, or when a chosen task
 * was left, is in the next TIME.
 */
static bool other_take(struct narrow *n, const struct kipt_record *record,
		       bool resumed)
{
	enum record_state_kind kind = record_state_kind(record);
	struct narrow_cpu *at = n->at;

	if (resumed && at->in_gap) {
		at->in_gap = false;
		return others_begin(n);
	}
	if (kind < RECORD_STATES)
		at->pending |= 1U << kind;
	if (kind != RECORD_STATE_TIME || !at->closing)
		return true;
	/* From the first one on there are spans of time. */
	at->closing = at->in_gap || !at->timed;
	return pending_give(n, kind);
}

static bool edge_take(struct narrow *n, const struct kipt_record *record)
{
	const struct narrow_options *options = n->options;

	if (options->cpus.count || options->tids.count || options->comm) {
		n->counted = true;
		return true;
	}
	if (record->type == KIPT_RECORD_SPACE)
		n->edges = lookup_get(&options->pids, record->aux);
	n->seen |= n->edges;
	return !n->edges || n->give(n->ctx, record, 1);
}

static bool take(struct narrow *n, const struct kipt_record *record)
{
	struct narrow_cpu *at = n->at;
	bool resumed;

	switch (record->type) {
	case KIPT_RECORD_CPU:
		return cpu_take(n, record);
	case KIPT_RECORD_TASK:
		return task_take(n, record);
	case KIPT_RECORD_SPACE:
	case KIPT_RECORD_EDGE:
		return edge_take(n, record);
	}
	record_state_see(&at->state, record);
	resumed = run_see(at, record);
	if (!at->on)
		return true;
	if (record->type == KIPT_RECORD_GAP)
		return gap_take(n, record);
	if (!at->passing)
		return other_take(n, record, resumed);
	if (resumed)
		at->in_gap = false;
	return give(n, record);
}

bool narrow_take(struct narrow *narrow, const struct kipt_record *records,
		 u32 count)
{
	bool good = narrow->at ||
		    cpu_begin(narrow, CPU_NONE, !narrow->options->cpus.count);
	u32 i;

	for (i = 0; i < count && good; i++)
		good = take(narrow, &records[i]);
	return good;
}

void narrow_end(struct narrow *narrow)
{
	struct narrow_cpu *at;

	while ((at = narrow->first)) {
		narrow->first = at->next;
		free(at);
	}
	lookup_free(&narrow->cpus);
	narrow->at = NULL;
}
