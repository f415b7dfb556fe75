// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of chosen functions, see chosen_calls.h. A profile follows all calls of the
 * whole stream; what is passed on begins and ends where a chosen function does.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli/messages.h"
#include "../records/record_state.h"
#include "chosen_calls.h"
#include "profile_feed.h"
#include "wanted.h"

/* The number of the one whose records come before the first CPU record. */
#define CPU_NONE	(~0ULL)
/* CPUs whose parts are put together; the kernel has at most 8192. */
#define CPUS_MAX	(1 << 16)

/* Where the records of a CPU are: @call is the last that was not passed on, as of
 * which the time was @call_time. @skipped instructions are of branches that were left
 * out within a call. @in_gap: it is not known where execution is; @closing: the next
 * TIME is given, how much a gap loses is in it; @timed: one was given.
 */
struct chosen_cpu {
	struct record_state state;
	u32 pending;
	bool begun, inside, in_gap, closing, timed;
	bool first_given;
	u64 first;
	struct kipt_record call, call_time;
	u32 skipped;
	struct chosen_cpu *next;
};

struct chosen_calls {
	struct view view;
	struct view_options options;
	struct profile_feed *feed;
	u32 kinds;
	bool (*give)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	struct lookup cpus;
	struct chosen_cpu *list, *at;
	struct chosen_cpu others;
	bool any, counted, failed;
};

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
	calls->kinds = view_kinds(options);
	calls->give = give;
	calls->ctx = ctx;
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

/* The first of a part of a CPU comes after its CPU record, and after its first time. */
static bool give(struct chosen_calls *calls, const struct kipt_record *record)
{
	struct chosen_cpu *at = calls->at;
	const struct kipt_record *cpu =
		record_state_last(&at->state, RECORD_STATE_CPU);
	const struct kipt_record first = {
		.type = KIPT_RECORD_TIME,
		.kind = KIPT_TIME_FIRST,
		.flags = KIPT_RF_NO_IP,
		.value = at->first,
	};
	bool good = true;

	at->timed |= record->type == KIPT_RECORD_TIME;
	if (!at->begun && cpu)
		good = calls->give(calls->ctx, cpu, 1);
	at->begun = true;
	if (!at->first_given && at->first) {
		at->first_given = true;
		good = good && calls->give(calls->ctx, &first, 1);
	}
	return good && calls->give(calls->ctx, record, 1);
}

static bool pending_give(struct chosen_calls *calls,
			 enum record_state_kind kind)
{
	struct chosen_cpu *at = calls->at;
	bool pending = at->pending & 1U << kind;

	at->pending &= ~(1U << kind);
	return !pending || give(calls, &at->state.last[kind]);
}

static bool state_give(struct chosen_calls *calls)
{
	return pending_give(calls, RECORD_STATE_CONTEXT) &&
	       pending_give(calls, RECORD_STATE_TASK) &&
	       pending_give(calls, RECORD_STATE_MODE) &&
	       pending_give(calls, RECORD_STATE_CBR);
}

/* Those that nobody asked for are only counted. */
static bool branch_give(struct chosen_calls *calls,
			const struct kipt_record *record)
{
	struct chosen_cpu *at = calls->at;
	struct kipt_record branch = *record;

	if (!(calls->kinds >> record->kind % 32 & 1)) {
		at->skipped += record->aux;
		return true;
	}
	branch.aux += at->skipped;
	at->skipped = 0;
	return give(calls, &branch);
}

static bool record_give(struct chosen_calls *calls,
			const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_BRANCH ?
	       branch_give(calls, record) : give(calls, record);
}

/* The call whose thunk this jump is of; NULL: none. */
static const struct kipt_record *call_before(const struct chosen_calls *calls,
					     const struct kipt_record *record)
{
	const struct kipt_record *call = &calls->at->call;
	struct frame *top = call_stack_top(calls->feed->at->track.stack);

	if (record->kind != KIPT_BRANCH_JUMP &&
	    record->kind != KIPT_BRANCH_JUMP_IND)
		return NULL;
	return call->type && top->ret == call->ip ? call : NULL;
}

static bool enable_give(struct chosen_calls *calls, u64 ip, bool known)
{
	const struct kipt_record enable = {
		.type = KIPT_RECORD_ENABLE,
		.kind = KIPT_ENABLE_CHOSEN,
		.flags = known ? 0 : KIPT_RF_NO_IP,
		.ip = known ? ip : 0,
	};

	return give(calls, &enable);
}

/* The time that the call had is not that of the record, if there was one between. */
static bool call_give(struct chosen_calls *calls,
		      const struct kipt_record *call)
{
	struct chosen_cpu *at = calls->at;
	bool good = true;

	if (!at->call_time.type ||
	    at->call_time.value == at->state.last[RECORD_STATE_TIME].value)
		good = pending_give(calls, RECORD_STATE_TIME);
	else if (at->pending & 1U << RECORD_STATE_TIME)
		good = give(calls, &at->call_time);
	return good && state_give(calls) &&
	       enable_give(calls, call->ip, true) && branch_give(calls, call) &&
	       pending_give(calls, RECORD_STATE_TIME);
}

static bool enter(struct chosen_calls *calls, const struct kipt_record *record)
{
	const struct kipt_record *call;
	bool branch = record->type == KIPT_RECORD_BRANCH;

	calls->any = true;
	calls->at->skipped = 0;
	call = branch ? call_before(calls, record) : NULL;
	if (call)
		return call_give(calls, call) && branch_give(calls, record);
	return pending_give(calls, RECORD_STATE_TIME) && state_give(calls) &&
	       enable_give(calls, record->ip,
			   !(record->flags & KIPT_RF_NO_IP)) &&
	       (!branch || branch_give(calls, record));
}

/* It is known that instructions are traced. */
static bool is_running(const struct chosen_calls *calls)
{
	return calls->feed->at->running && !calls->at->in_gap;
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

static bool leave(struct chosen_calls *calls)
{
	static const struct kipt_record others = {
		.type = KIPT_RECORD_DISABLE,
		.kind = KIPT_DISABLE_OTHERS,
		.flags = KIPT_RF_NO_IP | KIPT_RF_NO_VALUE,
	};

	return give(calls, &others);
}

static struct chosen_cpu *cpu_add(struct chosen_calls *calls, u64 number)
{
	struct chosen_cpu *at;

	if (calls->cpus.count >= CPUS_MAX) {
		calls->others = (struct chosen_cpu){ 0 };
		return &calls->others;
	}
	at = calloc(1, sizeof(*at));
	if (!at || !lookup_add(&calls->cpus, number, (size_t)at)) {
		free(at);
		calls->failed = true;
		return NULL;
	}
	at->next = calls->list;
	calls->list = at;
	return at;
}

static bool cpu_begin(struct chosen_calls *calls, u64 number)
{
	size_t *known = lookup_get(&calls->cpus, number);

	calls->at = known ? (struct chosen_cpu *)*known :
		    cpu_add(calls, number);
	if (calls->at)
		calls->at->begun = false;
	return calls->at;
}

/* What its task did goes on, unless it went on elsewhere meanwhile. */
static bool cpu_take(struct chosen_calls *calls,
		     const struct kipt_record *record)
{
	struct chosen_cpu *at;
	bool was;

	if (!cpu_begin(calls, record->aux))
		return false;
	at = calls->at;
	record_state_see(&at->state, record);
	was = at->inside;
	at->inside = is_inside(calls);
	return !was || at->inside || !is_running(calls) || leave(calls);
}

static bool task_take(struct chosen_calls *calls,
		      const struct kipt_record *record, bool was)
{
	struct chosen_cpu *at = calls->at;
	const struct kipt_record *last =
		record_state_last(&at->state, RECORD_STATE_TASK);
	bool same = last && last->aux == record->aux;

	record_state_see(&at->state, record);
	if (!same)
		at->call.type = 0;
	if (was)
		return give(calls, record) &&
		       (at->inside || !is_running(calls) || leave(calls));
	at->pending |= 1U << RECORD_STATE_TASK;
	if (!at->inside)
		return true;
	calls->any = true;
	return pending_give(calls, RECORD_STATE_TIME) && state_give(calls) &&
	       (!is_running(calls) || enable_give(calls, 0, false));
}

static bool time_take(struct chosen_calls *calls,
		      const struct kipt_record *record)
{
	struct chosen_cpu *at = calls->at;
	bool wanted = at->inside || at->closing;

	if (!at->first)
		at->first = record->value;
	if (record->kind == KIPT_TIME_FIRST)
		return true;
	at->first_given |= wanted && record->value == at->first;
	at->closing &= at->in_gap || !at->timed;
	record_state_see(&at->state, record);
	if (wanted)
		return give(calls, record);
	at->pending |= 1U << RECORD_STATE_TIME;
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
	at->call_time = at->state.last[RECORD_STATE_TIME];
}

static bool flow_take(struct chosen_calls *calls,
		      const struct kipt_record *record, bool was)
{
	struct chosen_cpu *at = calls->at;
	enum record_state_kind kind = record_state_kind(record);
	bool gap_ends = at->in_gap && is_place(record);

	at->in_gap &= !gap_ends;
	record_state_see(&at->state, record);
	if (was && at->inside)
		return record_give(calls, record);
	if (was)
		return (record->type != KIPT_RECORD_BRANCH ||
			branch_give(calls, record)) && leave(calls);
	if (at->inside)
		return enter(calls, record);
	if (kind < RECORD_STATES)
		at->pending |= 1U << kind;
	call_see(at, record);
	return !gap_ends || leave(calls);
}

/* A chosen function may have run in it. */
static bool gap_take(struct chosen_calls *calls,
		     const struct kipt_record *record)
{
	bool loses = record_gap_loses_time(record->kind);
	struct chosen_cpu *at = calls->at;

	at->call.type = 0;
	at->closing |= loses;
	at->in_gap |= loses;
	return pending_give(calls, RECORD_STATE_TIME) && give(calls, record);
}

static bool take(struct chosen_calls *calls, const struct kipt_record *record)
{
	bool was;

	if (record->type == KIPT_RECORD_CPU)
		return cpu_take(calls, record);
	was = calls->at->inside;
	calls->at->inside = is_inside(calls);
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
	bool good = calls->at || cpu_begin(calls, CPU_NONE);
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
	if (!calls->at)
		return true;
	if (calls->failed || calls->feed->profile->failed) {
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
	struct chosen_cpu *at;

	if (!calls)
		return;
	while ((at = calls->list)) {
		calls->list = at->next;
		free(at);
	}
	lookup_free(&calls->cpus);
	lookup_free(&calls->view.first_of);
	profile_feed_destroy(calls->feed);
	free(calls);
}
