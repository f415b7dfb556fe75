// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of chosen functions, see chosen_calls.h. A profile follows all calls of the
 * whole stream; what is passed on begins and ends where a chosen function does.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli/messages.h"
#include "../records/partial.h"
#include "chosen_calls.h"
#include "profile_feed.h"
#include "wanted.h"

/**
 * struct chosen_cpu - where the records of a CPU are
 * @cpu: the CPU in @stream
 * @inside: a chosen function is called, and has not returned
 * @in_gap: after a gap, before it is known again where execution is
 * @closing: the next TIME is given: how much a gap loses is in it
 * @call: the last call that was left out; type 0: none, or not of this task
 * @call_time: the TIME that held then
 */
struct chosen_cpu {
	struct partial_cpu cpu;
	bool inside, in_gap, closing;
	struct kipt_record call, call_time;
};

struct chosen_calls {
	struct view view;
	struct view_options options;
	struct profile_feed *feed;
	struct partial stream;
	bool any, counted;
};

static struct chosen_cpu *here(const struct chosen_calls *calls)
{
	return (struct chosen_cpu *)calls->stream.at;
}

static void record_follow(struct view *view, const struct kipt_record *r)
{
	profile_feed_take(view->self, r);
}

struct chosen_calls *
chosen_calls_create(const struct view_options *options, struct names *names,
		    bool (*give)(void *ctx, const struct kipt_record *records,
				 u32 count),
		    void *ctx)
{
	struct chosen_calls *calls = calloc(1, sizeof(*calls));

	if (!calls)
		return NULL;
	calls->options.mode = VIEW_TOTALS;
	calls->view.options = &calls->options;
	calls->view.names = names;
	calls->view.print = record_follow;
	calls->stream.give = give;
	calls->stream.ctx = ctx;
	calls->stream.cpu_size = sizeof(struct chosen_cpu);
	tally_init(&calls->view.tally);
	calls->feed = profile_feed_create(&calls->view);
	if (!calls->feed) {
		free(calls);
		return NULL;
	}
	calls->feed->profile->wanted = options->syms;
	calls->view.self = calls->feed;
	return calls;
}

static bool is_inside(const struct chosen_calls *calls)
{
	const struct feed_cpu *at = calls->feed->at;

	return at && at->track.stack && at->track.stack->wanted;
}

/* The call whose thunk this jump is of; NULL: none. */
static const struct kipt_record *call_before(const struct chosen_calls *calls,
					     const struct kipt_record *record)
{
	const struct kipt_record *call = &here(calls)->call;
	struct frame *top = call_stack_top(calls->feed->at->track.stack);

	if (record->kind != KIPT_BRANCH_JUMP &&
	    record->kind != KIPT_BRANCH_JUMP_IND)
		return NULL;
	return call->type && top->ret == call->ip ? call : NULL;
}

/* The time that the call had is not that of the record, if there was one between. */
static bool call_give(struct chosen_calls *calls,
		      const struct kipt_record *call)
{
	struct chosen_cpu *at = here(calls);
	bool good = true;

	if (!at->call_time.type ||
	    at->call_time.value == at->cpu.state.last[RECORD_STATE_TIME].value)
		good = partial_pending(&calls->stream, RECORD_STATE_TIME);
	else if (at->cpu.pending & 1U << RECORD_STATE_TIME)
		good = partial_give(&calls->stream, &at->call_time);
	return good && partial_where(&calls->stream) &&
	       partial_resume(&calls->stream, call->ip, true) && partial_give(&calls->stream, call) &&
	       partial_pending(&calls->stream, RECORD_STATE_TIME);
}

static bool enter(struct chosen_calls *calls, const struct kipt_record *record)
{
	const struct kipt_record *call;
	bool branch = record->type == KIPT_RECORD_BRANCH;

	calls->any = true;
	call = branch ? call_before(calls, record) : NULL;
	if (call)
		return call_give(calls, call) && partial_give(&calls->stream, record);
	return partial_pending(&calls->stream, RECORD_STATE_TIME) && partial_where(&calls->stream) &&
	       partial_resume(&calls->stream, record->ip,
			   !(record->flags & KIPT_RF_NO_IP)) &&
	       (!branch || partial_give(&calls->stream, record));
}

/* It is known that instructions are traced. */
static bool is_running(const struct chosen_calls *calls)
{
	return calls->feed->at->running && !here(calls)->in_gap;
}

/* After it, it is known whether instructions are traced. */
static bool is_place(const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_INSN:
	case KIPT_RECORD_ENABLE:
	case KIPT_RECORD_DISABLE:
		return true;
	case KIPT_RECORD_SYNC:
		return record->kind == KIPT_SYNC_START;
	}
	return false;
}

/* What its task did goes on, unless it went on elsewhere meanwhile. */
static bool cpu_take(struct chosen_calls *calls,
		     const struct kipt_record *record)
{
	struct chosen_cpu *at;
	bool was;

	if (!partial_cpu_begin(&calls->stream, record->aux, NULL))
		return false;
	at = here(calls);
	record_state_see(&at->cpu.state, record);
	was = at->inside;
	at->inside = is_inside(calls);
	return !was || at->inside || !is_running(calls) || partial_leave(&calls->stream);
}

static bool task_take(struct chosen_calls *calls,
		      const struct kipt_record *record, bool was)
{
	struct chosen_cpu *at = here(calls);
	const struct kipt_record *last =
		record_state_last(&at->cpu.state, RECORD_STATE_TASK);
	bool same = last && last->aux == record->aux;

	record_state_see(&at->cpu.state, record);
	if (!same)
		at->call.type = 0;
	if (was)
		return partial_give(&calls->stream, record) &&
		       (at->inside || !is_running(calls) || partial_leave(&calls->stream));
	at->cpu.pending |= 1U << RECORD_STATE_TASK;
	if (!at->inside)
		return true;
	calls->any = true;
	return partial_pending(&calls->stream, RECORD_STATE_TIME) && partial_where(&calls->stream) &&
	       (!is_running(calls) || partial_resume(&calls->stream, 0, false));
}

static bool time_take(struct chosen_calls *calls,
		      const struct kipt_record *record)
{
	struct chosen_cpu *at = here(calls);
	bool wanted = at->inside || at->closing;

	if (!at->cpu.first)
		at->cpu.first = record->value;
	if (record->kind == KIPT_TIME_FIRST)
		return true;
	at->cpu.first_given |= wanted && record->value == at->cpu.first;
	at->closing &= at->in_gap || !at->cpu.timed;
	record_state_see(&at->cpu.state, record);
	if (wanted)
		return partial_give(&calls->stream, record);
	at->cpu.pending |= 1U << RECORD_STATE_TIME;
	return true;
}

/* Of calls that are left out the last may turn out to lead to a chosen function. */
static void call_see(struct chosen_cpu *at, const struct kipt_record *record)
{
	if (record->type != KIPT_RECORD_BRANCH)
		return;
	if (record->kind != KIPT_BRANCH_CALL &&
	    record->kind != KIPT_BRANCH_CALL_IND)
		return;
	at->call = *record;
	at->call_time = at->cpu.state.last[RECORD_STATE_TIME];
}

static bool flow_take(struct chosen_calls *calls,
		      const struct kipt_record *record, bool was)
{
	struct chosen_cpu *at = here(calls);
	enum record_state_kind kind = record_state_kind(record);
	bool gap_ends = at->in_gap && is_place(record);

	at->in_gap &= !gap_ends;
	record_state_see(&at->cpu.state, record);
	if (was && at->inside)
		return partial_give(&calls->stream, record);
	if (was)
		return (record->type != KIPT_RECORD_BRANCH ||
			partial_give(&calls->stream, record)) && partial_leave(&calls->stream);
	if (at->inside)
		return enter(calls, record);
	if (kind < RECORD_STATES)
		at->cpu.pending |= 1U << kind;
	call_see(at, record);
	return !gap_ends || partial_leave(&calls->stream);
}

/* A chosen function may have run in it. */
static bool gap_take(struct chosen_calls *calls,
		     const struct kipt_record *record)
{
	bool loses = record_gap_loses_time(record->kind);
	struct chosen_cpu *at = here(calls);

	at->call.type = 0;
	at->closing |= loses;
	at->in_gap |= loses;
	return partial_pending(&calls->stream, RECORD_STATE_TIME) && partial_give(&calls->stream, record);
}

static bool take(struct chosen_calls *calls, const struct kipt_record *record)
{
	bool was;

	if (record->type == KIPT_RECORD_CPU)
		return cpu_take(calls, record);
	was = here(calls)->inside;
	here(calls)->inside = is_inside(calls);
	switch (record->type) {
	case KIPT_RECORD_TASK:
		return task_take(calls, record, was);
	case KIPT_RECORD_TIME:
		return time_take(calls, record);
	case KIPT_RECORD_SPACE:
	case KIPT_RECORD_EDGE:
		calls->counted = true;
		return true;
	case KIPT_RECORD_GAP:
		return gap_take(calls, record);
	}
	return flow_take(calls, record, was);
}

bool chosen_calls_take(struct chosen_calls *calls,
		       const struct kipt_record *records, u32 count)
{
	bool good = calls->stream.at ||
		    partial_cpu_begin(&calls->stream, PARTIAL_CPU_NONE, NULL);
	u32 i;

	for (i = 0; i < count && good; i++) {
		view_records(&calls->view, &records[i], 1);
		good = !calls->feed->profile->failed && take(calls, &records[i]);
	}
	return good;
}

bool chosen_calls_end(struct chosen_calls *calls)
{
	/* Nothing was read, and a sentence says why. */
	if (!calls->stream.at)
		return true;
	if (calls->stream.failed || calls->feed->profile->failed) {
		say_errno(ENOMEM, "cannot choose calls of %s",
			  calls->feed->profile->wanted);
		return false;
	}
	if (calls->counted) {
		say_error("--sym %s: the branches were only counted, which has no calls; allowed are traces and records of each branch",
			  calls->feed->profile->wanted);
		return false;
	}
	if (!wanted_check(calls->feed->profile, "sym"))
		return false;
	if (!calls->any)
		say_note("no call of %s is in the trace",
			 calls->feed->profile->wanted);
	return true;
}

void chosen_calls_destroy(struct chosen_calls *calls)
{
	if (!calls)
		return;
	partial_end(&calls->stream);
	lookup_free(&calls->view.first_of);
	lookup_free(&calls->view.guests);
	profile_feed_destroy(calls->feed);
	free(calls);
}
