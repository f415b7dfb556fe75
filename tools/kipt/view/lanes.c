// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who has which lane, and what is on it, see lanes.h. Times of a lane never go back. A
 * slice begins in the file when something follows on its lane: until then its function may
 * still change, and the first time of the trace may come.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../symbols/inlined.h"
#include "lanes.h"
#include "profile_feed.h"
#include "view_totals.h"

/* Lanes of all kinds; tasks that come when there are so many have none. */
#define LANES_MAX	(1U << 18)
/* Names of inlined functions have numbers from here on, above those of symbols. */
#define INLINED_NUMBERS	(1ULL << 32)

/**
 * struct lanes - the file and its lanes, whose numbers are those of their tracks
 * @perfetto: the file
 * @last: time of what is last on each lane, in nanoseconds
 * @count: lanes, with number 0, which is none
 * @of_task: lanes of tasks by CPU and thread
 * @first_of: the first of them by thread
 * @processes: that have a track
 * @named: functions whose names are in the file
 * @inlined: numbers of inlined functions whose names are, above INLINED_NUMBERS
 * @flows: how many there were
 * @untimed: calls that ended before the first time
 * @full: there were as many lanes as there may be
 * @failed: there was no memory
 */
struct lanes {
	struct perfetto *perfetto;
	u64 *last;
	u32 count;
	struct lookup of_task;
	struct lookup first_of;
	struct lookup processes;
	struct lookup named;
	struct lookup inlined;
	u64 flows;
	u64 untimed;
	bool full;
	bool failed;
};

struct lanes *lanes_create(const char *path)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes) {
		say_errno(ENOMEM, "cannot make %s", path);
		return NULL;
	}
	lanes->count = 1;
	lanes->last = calloc(1, sizeof(*lanes->last));
	if (lanes->last)
		lanes->perfetto = perfetto_create(path);
	else
		say_errno(ENOMEM, "cannot make %s", path);
	if (lanes->perfetto)
		return lanes;
	lanes_destroy(lanes);
	return NULL;
}

void lanes_destroy(struct lanes *lanes)
{
	if (!lanes)
		return;
	perfetto_close(lanes->perfetto, false);
	lookup_free(&lanes->of_task);
	lookup_free(&lanes->first_of);
	lookup_free(&lanes->processes);
	lookup_free(&lanes->named);
	lookup_free(&lanes->inlined);
	free(lanes->last);
	free(lanes);
}

/* Another lane, which @track is completed for. 0: there is no room. */
static u32 lane_add(struct lanes *lanes, struct perfetto_track *track)
{
	u64 *last;

	lanes->full |= lanes->count == LANES_MAX;
	if (lanes->count == LANES_MAX)
		return 0;
	last = list_room(lanes->last, lanes->count, sizeof(*last));
	lanes->failed |= !last;
	if (!last)
		return 0;
	lanes->last = last;
	last[lanes->count] = 0;
	track->uuid = lanes->count++;
	perfetto_track(lanes->perfetto, track);
	return track->uuid;
}

static void event_put(struct profile_feed *feed, u32 lane, u64 tsc,
		      struct perfetto_event *event)
{
	struct lanes *lanes = feed->lanes;
	u64 time = view_nanoseconds(feed->view, tsc);

	if (!lane)
		return;
	if (time > lanes->last[lane])
		lanes->last[lane] = time;
	event->time = lanes->last[lane];
	event->track = lane;
	perfetto_event(lanes->perfetto, event);
}

static void process_add(struct profile_feed *feed, u32 pid)
{
	struct lanes *lanes = feed->lanes;
	struct perfetto_track track = {
		.kind = PERFETTO_PROCESS,
		.name = names_comm(feed->view->names, pid, pid),
		.pid = pid,
	};

	if (lookup_get(&lanes->processes, pid))
		return;
	if (lane_add(lanes, &track) && !lookup_add(&lanes->processes, pid, 1))
		lanes->failed = true;
}

/* The lane of the tasks of the CPU whose records come. 0: there is none. */
static u32 cpu_lane(struct profile_feed *feed)
{
	struct feed_cpu *at = feed->at;
	struct perfetto_track track = { .kind = PERFETTO_PLAIN };
	char cpu[32], name[48];

	if (at->cpu < 0)
		return 0;
	if (at->lanes.tasks)
		return at->lanes.tasks;
	snprintf(name, sizeof(name), "CPU %s", view_cpu(at->number, cpu, sizeof(cpu)));
	track.name = name;
	return at->lanes.tasks = lane_add(feed->lanes, &track);
}

/* Of a thread that ran elsewhere before, and of who is nobody. */
static u32 lane_below(struct profile_feed *feed, u32 parent, const char *what)
{
	struct perfetto_track track = { .kind = PERFETTO_PLAIN, .parent = parent };
	char cpu[32], name[64];

	snprintf(name, sizeof(name), "%s CPU %s", what,
		 view_cpu(feed->at->number, cpu, sizeof(cpu)));
	track.name = name;
	return lane_add(feed->lanes, &track);
}

/* The first lane of a thread is the thread's own. */
static u32 thread_lane(struct profile_feed *feed, u32 tid, u32 pid)
{
	struct lanes *lanes = feed->lanes;
	size_t *first = lookup_get(&lanes->first_of, tid);
	struct perfetto_track track = {
		.kind = PERFETTO_THREAD,
		.name = names_comm(feed->view->names, tid, pid),
		.pid = pid ? pid : tid,
		.tid = tid,
	};
	u32 lane;

	if (!tid)
		return lane_below(feed, cpu_lane(feed), "idle or unknown on");
	if (first)
		return lane_below(feed, *first, "on");
	process_add(feed, track.pid);
	lane = lane_add(lanes, &track);
	if (lane && !lookup_add(&lanes->first_of, tid, lane))
		lanes->failed = true;
	return lane;
}

/* The lane of a stack of the CPU whose records come. 0: there is none. */
static u32 stack_lane(struct profile_feed *feed, const struct call_stack *stack)
{
	struct lanes *lanes = feed->lanes;
	u64 key = (u64)(u32)feed->at->cpu << 32 | stack->tid;
	size_t *found = lookup_get(&lanes->of_task, key);
	u32 pid = stack->tid == feed->view->state.tid ? feed->view->state.pid : 0;
	u32 lane;

	if (found)
		return *found;
	lane = thread_lane(feed, stack->tid, pid);
	if (lane && !lookup_add(&lanes->of_task, key, lane)) {
		lanes->failed = true;
		return 0;
	}
	return lane;
}

static void slice_begin(struct profile_feed *feed, u32 lane, const struct frame *frame,
			u64 tsc, u32 category)
{
	struct lanes *lanes = feed->lanes;
	struct perfetto_event event = {
		.type = PERFETTO_BEGIN,
		.category = category,
		.number = frame->symbol + 1ULL,
	};
	char text[PERFETTO_NAME_MAX];

	/* A name is in the file from its first slice on. */
	if (!lane)
		return;
	if (!lookup_get(&lanes->named, frame->symbol)) {
		if (lookup_add(&lanes->named, frame->symbol, 1))
			event.name = totals_text(&feed->profile->symbols[frame->symbol],
						 text, sizeof(text));
		else
			lanes->failed = true;
	}
	event_put(feed, lane, tsc, &event);
}

static void slice_end(struct profile_feed *feed, u32 lane, u64 tsc)
{
	struct perfetto_event event = { .type = PERFETTO_END };

	event_put(feed, lane, tsc, &event);
}

static void inlined_begin(struct profile_feed *feed, u32 lane,
			  const struct inlined *inlined, u64 tsc)
{
	struct lanes *lanes = feed->lanes;
	u64 key = (size_t)inlined;
	size_t *known = lookup_get(&lanes->inlined, key);
	struct perfetto_event event = {
		.type = PERFETTO_BEGIN,
		.category = PERFETTO_INLINED,
		.number = INLINED_NUMBERS + (known ? *known : lanes->inlined.count),
	};
	char text[PERFETTO_NAME_MAX];

	if (!lane)
		return;
	if (!known) {
		snprintf(text, sizeof(text), "%s (inlined)",
			 names_inlined_name(feed->view->names, inlined));
		event.name = text;
		if (!lookup_add(&lanes->inlined, key, lanes->inlined.count))
			lanes->failed = true;
	}
	event_put(feed, lane, tsc, &event);
}

/* Of the slices of inlined functions that are open in a frame those from @level on begin or
 * end: which call comes next, and whether the same code makes it, is known when it does.
 */
static void within_begin(struct profile_feed *feed, u32 lane, struct frame *frame,
			 const struct inlined *inlined, u64 tsc)
{
	u32 level = frame->within ? frame->within->level : 0;

	while (inlined && level < inlined->level)
		inlined_begin(feed, lane, inlined_outer(inlined, ++level), tsc);
	frame->within = inlined;
}

static void within_end(struct profile_feed *feed, u32 lane, struct frame *frame, u32 level,
		       u64 tsc)
{
	for (; frame->within && frame->within->level > level;
	     frame->within = frame->within->outer)
		slice_end(feed, lane, tsc);
}

/* The frame whose code made a call; the root, which is never shown, if there is none. */
static struct frame *caller_of(const struct call_stack *stack, const struct frame *frame)
{
	u32 i = frame - stack->frames - 1;

	while (i && stack->frames[i].kind == FRAME_LOCAL)
		i--;
	return &stack->frames[i];
}

static u32 category_of(const struct frame *frame)
{
	return frame->kind == FRAME_BASE ? PERFETTO_SEEN : PERFETTO_CALL;
}

/* The arrow ends where the task's lane says that it runs. */
static void arrow_end(struct profile_feed *feed, struct feed_cpu *at)
{
	char text[64], cpu[32];
	struct perfetto_event event = {
		.type = PERFETTO_INSTANT,
		.name = text,
		.flow = at->lanes.flow,
		.flow_ends = true,
	};

	if (!at->lanes.arrow_to)
		return;
	snprintf(text, sizeof(text), "runs on CPU %s", view_cpu(at->number, cpu, sizeof(cpu)));
	event_put(feed, at->lanes.arrow_to, at->lanes.arrived, &event);
	at->lanes.arrow_to = 0;
}

/* The slice of a frame begins, within those of the inlined functions whose code made the
 * call.
 */
static void slice_show(struct profile_feed *feed, struct call_stack *stack, struct frame *frame,
		       u64 begun)
{
	struct lane_cpu *lanes = &feed->at->lanes;
	struct frame *caller = caller_of(stack, frame);
	const struct inlined *inlined = caller->shown ? frame->inlined : NULL;

	within_end(feed, stack->lane, caller, inlined_shared(caller->within, inlined),
		   caller->within_end);
	if (lanes->arrow_to == stack->lane && begun >= lanes->arrived)
		arrow_end(feed, feed->at);
	within_begin(feed, stack->lane, caller, inlined, begun);
	slice_begin(feed, stack->lane, frame, begun, category_of(frame));
	frame->shown = true;
}

/* The slices of all frames up to @count begin, if they have a time, not later than @end. */
static void slices_show(struct profile_feed *feed, struct call_stack *stack, u32 count, u64 end)
{
	struct frame *frame;
	u32 i = count;

	if (!stack->lane)
		return;
	while (i > 1 && !stack->frames[i - 1].shown)
		i--;
	for (; i < count; i++) {
		frame = &stack->frames[i];
		if (!frame->begun || frame->kind == FRAME_LOCAL)
			continue;
		slice_show(feed, stack, frame, frame->begun < end ? frame->begun : end);
	}
}

/* Until its task is seen to run after it, nobody knows whether a frame began where the last
 * one ended.
 */
void lanes_enter(struct profile_feed *feed, struct call_stack *stack)
{
	const struct frame *below = call_stack_top(stack) - 1;

	if (!stack->lane && feed->at->now)
		stack->lane = stack_lane(feed, stack);
	if (!below->shown && below->begun <= stack->seen)
		slices_show(feed, stack, stack->count - 1, feed->at->now);
}

void lanes_rename(struct profile_feed *feed, struct call_stack *stack, struct frame *frame)
{
	if (!frame->shown)
		return;
	within_end(feed, stack->lane, frame, 0, frame->within_end);
	slice_end(feed, stack->lane, feed->at->now);
	slice_begin(feed, stack->lane, frame, feed->at->now, PERFETTO_GOES_ON);
}

static void slice_leave(struct profile_feed *feed, struct call_stack *stack,
			struct frame *frame, u64 end)
{
	within_end(feed, stack->lane, frame, 0, frame->within_end);
	slice_end(feed, stack->lane, end);
	caller_of(stack, frame)->within_end = end;
}

/* A slice below others cannot end before they do: it does with the last of them. */
void lanes_leave(struct profile_feed *feed, struct call_stack *stack, struct frame *frame,
		 u64 end)
{
	slices_show(feed, stack, stack->count, end);
	if (frame != call_stack_top(stack)) {
		stack->open += frame->shown + (frame->within ? frame->within->level : 0);
		return;
	}
	if (frame->shown)
		slice_leave(feed, stack, frame, end);
	else if (frame->kind != FRAME_LOCAL && frame->kind != FRAME_BASE && !frame->begun)
		feed->lanes->untimed++;
	for (; stack->count == 2 && stack->open; stack->open--)
		slice_end(feed, stack->lane, end);
}

/* All slices of a lane end. Each frame keeps what is within it, but for that which is not in a
 * call of its inlined functions now.
 */
static void slices_end(struct profile_feed *feed, struct call_stack *stack, u32 lane, u64 end)
{
	bool calls = false;
	struct frame *frame;
	u32 i, level;

	for (i = stack->count - 1; i; i--) {
		frame = &stack->frames[i];
		if (!frame->shown)
			continue;
		if (!calls)
			within_end(feed, lane, frame, 0, frame->within_end);
		for (level = frame->within ? frame->within->level : 0; level; level--)
			slice_end(feed, lane, end);
		slice_end(feed, lane, end);
		calls = true;
	}
	for (; stack->open; stack->open--)
		slice_end(feed, lane, end);
}

/* What ran before its task was named goes on on the task's lane. */
static void stack_move(struct profile_feed *feed, struct call_stack *stack)
{
	u64 end = stack->seen < feed->at->now ? stack->seen : feed->at->now;
	const struct inlined *within;
	u32 i, from = stack->lane;
	struct frame *frame;

	if (!from)
		return;
	slices_show(feed, stack, stack->count, end);
	stack->lane = stack_lane(feed, stack);
	if (from == stack->lane)
		return;
	slices_end(feed, stack, from, end);
	for (i = 1; i < stack->count; i++) {
		frame = &stack->frames[i];
		if (!frame->shown)
			continue;
		slice_begin(feed, stack->lane, frame, end, PERFETTO_GOES_ON);
		within = frame->within;
		frame->within = NULL;
		within_begin(feed, stack->lane, frame, within, end);
	}
}

static void run_end(struct profile_feed *feed, struct feed_cpu *at)
{
	arrow_end(feed, at);
	if (at->lanes.open)
		slice_end(feed, at->lanes.tasks, at->now);
	at->lanes.open = false;
}

/* A slice of the CPU's lane, from which an arrow goes to the task's. */
static void run_begin(struct profile_feed *feed)
{
	struct feed_cpu *at = feed->at;
	struct perfetto_event event = { .type = PERFETTO_BEGIN };
	char text[96];

	view_task(feed->view, at->tid, at->pid, text, sizeof(text));
	event.name = text;
	event.flow = ++feed->lanes->flows;
	event_put(feed, cpu_lane(feed), at->now, &event);
	at->lanes.open = true;
	at->lanes.tid = at->tid;
	at->lanes.pid = at->pid;
	at->lanes.arrow_to = at->track.stack->lane;
	at->lanes.arrived = at->now;
	at->lanes.flow = event.flow;
}

/* Whoever runs on the CPU whose records come, as soon as there is a time. */
static void run_show(struct profile_feed *feed)
{
	struct feed_cpu *at = feed->at;
	bool known = at->task >= 0;

	if (!at->now || (at->lanes.open == known &&
			 (!known || (at->lanes.tid == at->tid && at->lanes.pid == at->pid))))
		return;
	run_end(feed, at);
	if (!known || !cpu_lane(feed))
		return;
	if (!at->track.stack->lane)
		at->track.stack->lane = stack_lane(feed, at->track.stack);
	if (at->track.stack->lane)
		run_begin(feed);
}

void lanes_away(struct profile_feed *feed)
{
	struct call_stack *stack = feed->at->track.stack;

	if (!feed->at->lanes.arrow_to || stack->lane != feed->at->lanes.arrow_to)
		return;
	slices_show(feed, stack, stack->count, feed->at->now);
	arrow_end(feed, feed->at);
}

void lanes_task(struct profile_feed *feed, bool named)
{
	if (named)
		stack_move(feed, feed->at->track.stack);
	run_show(feed);
}

static void mark_put(struct profile_feed *feed, const struct kipt_record *r)
{
	struct perfetto_event event = {
		.type = PERFETTO_INSTANT,
		.category = r->type == KIPT_RECORD_GAP ? PERFETTO_LOST : 0,
	};
	char text[PERFETTO_NAME_MAX];

	event.name = view_sentence(feed->view, r, text, sizeof(text));
	event_put(feed, cpu_lane(feed), feed->at->now, &event);
}

static void mark_take(struct profile_feed *feed, const struct kipt_record *r)
{
	struct lane_cpu *lanes = &feed->at->lanes;

	if (feed->at->now)
		mark_put(feed, r);
	else if (lanes->held_count < sizeof(lanes->held) / sizeof(lanes->held[0]))
		lanes->held[lanes->held_count++] = *r;
}

static void value_put(struct profile_feed *feed, u32 *lane, const char *name, u64 value)
{
	struct perfetto_track track = {
		.kind = PERFETTO_COUNTER,
		.name = name,
	};
	struct perfetto_event event = { .type = PERFETTO_VALUE, .value = value };

	if (!feed->at->now)
		return;
	track.parent = cpu_lane(feed);
	if (!*lane && track.parent)
		*lane = lane_add(feed->lanes, &track);
	event_put(feed, *lane, feed->at->now, &event);
}

/* States as Linux counts them: the nibble of the MWAIT hint plus one. */
static void power_take(struct profile_feed *feed, const struct kipt_record *r)
{
	mark_take(feed, r);
	if (r->kind == KIPT_POWER_PWRE)
		value_put(feed, &feed->at->lanes.power, "C-state",
			  ((r->aux >> 4) + 1) & 15);
	else if (r->kind == KIPT_POWER_PWRX)
		value_put(feed, &feed->at->lanes.power, "C-state", 0);
}

/* No slice of its task ends before the time at which that was seen to run. */
static void arrow_show(struct profile_feed *feed)
{
	struct feed_cpu *at = feed->at;
	struct call_stack *stack = at->track.stack;

	if (!at->lanes.arrow_to || stack->lane != at->lanes.arrow_to ||
	    stack->seen <= at->lanes.arrived)
		return;
	slices_show(feed, stack, stack->count, at->now);
	arrow_end(feed, at);
}

void lanes_take(struct profile_feed *feed, const struct kipt_record *r)
{
	struct lane_cpu *lanes = &feed->at->lanes;
	u32 i;

	switch (r->type) {
	case KIPT_RECORD_CPU:
	case KIPT_RECORD_TIME:
		for (i = 0; feed->at->now && i < lanes->held_count; i++)
			mark_put(feed, &lanes->held[i]);
		if (feed->at->now)
			lanes->held_count = 0;
		run_show(feed);
		if (feed->at->now && !feed->at->track.stack->lane)
			feed->at->track.stack->lane =
				stack_lane(feed, feed->at->track.stack);
		arrow_show(feed);
		break;
	case KIPT_RECORD_GAP:
		mark_take(feed, r);
		break;
	case KIPT_RECORD_CBR:
		value_put(feed, &lanes->ratio, "core:bus ratio", r->aux);
		break;
	case KIPT_RECORD_POWER:
		power_take(feed, r);
	}
}

static void notes_say(const struct lanes *lanes)
{
	if (lanes->untimed)
		say_note("%llu calls ended before the first time of the trace, and are not shown",
			 (unsigned long long)lanes->untimed);
	if (lanes->full)
		say_note("there are more than %u tasks: those that came later have no lane",
			 lanes->count - 1);
}

bool lanes_end(struct profile_feed *feed)
{
	struct lanes *lanes = feed->lanes;
	bool ok, times = profile_has_times(feed->profile);
	u32 i;

	for (i = 0; i < feed->cpu_count; i++)
		run_end(feed, feed->cpus[i]);
	if (times)
		notes_say(lanes);
	else if (feed->view->tally.records)
		say_error("--perfetto: the trace has no times");
	if (lanes->failed)
		say_errno(ENOMEM, "--perfetto: a part of the trace is not shown");
	ok = perfetto_close(lanes->perfetto, times);
	lanes->perfetto = NULL;
	return ok && times && !lanes->failed;
}
