// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records into a profile, see profile_feed.h. A trace has times at some places
 * only: what passed between two of them is the function's that executes at the
 * later one.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_feed.h"

/* Symbols of frames that are counted for a stack with no frames are none. */
#define ACTIVE_KEPT	1024

static struct profile_symbol *symbol_at(struct profile_feed *feed, u32 symbol)
{
	return &feed->profile->symbols[symbol];
}

static u32 symbol_of(struct profile_feed *feed, u64 address)
{
	const struct view_state *state = &feed->view->state;

	return profile_symbol(feed->profile, state->pid, state->cr3, address);
}

static void place_find(void *ctx, u64 address, struct place *place)
{
	struct profile_feed *feed = ctx;

	profile_place(feed->profile, symbol_of(feed, address), address, place);
}

static bool is_call(const struct frame *frame)
{
	return frame->kind == FRAME_CALL || frame->kind == FRAME_TAIL ||
	       frame->kind == FRAME_ENTRY;
}

/* The function of a frame is in one call more; is that the outermost? */
static bool active_add(struct profile_feed *feed, struct call_stack *stack,
		       u32 symbol)
{
	size_t *count = lookup_get(&stack->active, symbol);

	if (count)
		return !(*count)++;
	if (!lookup_add(&stack->active, symbol, 1))
		feed->profile->failed = true;
	return true;
}

static void active_drop(struct call_stack *stack, u32 symbol)
{
	size_t *count = lookup_get(&stack->active, symbol);

	if (count && *count)
		--*count;
}

static void frame_name(struct profile_feed *feed, struct call_stack *stack,
		       struct frame *frame)
{
	const struct view_state *state = &feed->view->state;

	frame->symbol = is_call(frame) ?
			profile_function(feed->profile, state->pid, state->cr3,
					 frame->function) :
			symbol_of(feed, frame->function);
	frame->outer = active_add(feed, stack, frame->symbol);
	if (is_call(frame))
		symbol_at(feed, frame->symbol)->calls++;
}

static void frame_enter(void *ctx, struct call_stack *stack,
			struct frame *frame)
{
	struct profile_feed *feed = ctx;

	/* The first above the root: no other is active. */
	if (stack->count == 2 && stack->active.count > ACTIVE_KEPT)
		lookup_free(&stack->active);
	frame->begun = feed->now;
	frame->gaps = feed->profile->gaps;
	frame_name(feed, stack, frame);
}

/* What a thunk did is done by the function that it leads to. */
static void frame_rename(void *ctx, struct call_stack *stack,
			 struct frame *frame)
{
	struct profile_feed *feed = ctx;

	active_drop(stack, frame->symbol);
	if (is_call(frame))
		symbol_at(feed, frame->symbol)->calls--;
	frame_name(feed, stack, frame);
}

static void longest_take(struct profile_feed *feed, struct frame *frame,
			 u64 ticks)
{
	struct profile_call *longest =
		&symbol_at(feed, frame->symbol)->longest;
	const struct view_state *state = &feed->view->state;

	if (ticks <= longest->ticks)
		return;
	*longest = (struct profile_call){
		.ticks = ticks,
		.begun = frame->begun,
		.cpu = state->cpu,
		.tid = state->tid,
		.pid = state->pid,
		.gap = frame->gaps != feed->profile->gaps,
	};
}

/* The last time at which its task ran. A TSC that was set back is no time to go by. */
static u64 stack_seen(struct profile_feed *feed, const struct call_stack *stack)
{
	if (stack == feed->track.stack && stack->seen > feed->now)
		return feed->now;
	return stack->seen;
}

/* A frame is forgotten while others of its function are above it: the next of
 * them lasts from where it began. False: there is none.
 */
static bool outer_pass(struct call_stack *stack, const struct frame *frame)
{
	const struct frame *end = stack->frames + stack->count;
	struct frame *above;

	for (above = (struct frame *)frame + 1; above < end; above++) {
		if (above->symbol != frame->symbol)
			continue;
		above->outer = true;
		above->begun = frame->begun;
		return true;
	}
	return false;
}

/* A call that nobody saw the end of lasts as long as its task was seen to run. */
static void frame_leave(void *ctx, struct call_stack *stack,
			struct frame *frame, bool returned)
{
	struct profile_feed *feed = ctx;
	u64 end = returned ? feed->now : stack_seen(feed, stack);
	u64 ticks = frame->begun && end > frame->begun ? end - frame->begun :
							 0;

	active_drop(stack, frame->symbol);
	if (frame->outer && !(!returned && outer_pass(stack, frame)))
		symbol_at(feed, frame->symbol)->total += ticks;
	if (returned && is_call(frame))
		longest_take(feed, frame, ticks);
}

static const struct call_watch watch = {
	.enter = frame_enter,
	.leave = frame_leave,
	.rename = frame_rename,
};

static const struct call_track_ops track_ops = {
	.find = place_find,
	.watch = &watch,
};

struct profile_feed *profile_feed_create(struct view *view)
{
	struct profile_feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return NULL;
	feed->view = view;
	feed->profile = profile_create(view->names);
	feed->track.ops = &track_ops;
	feed->track.ctx = feed;
	feed->cpu = -1;
	feed->task = -1;
	if (feed->profile)
		return feed;
	free(feed);
	return NULL;
}

void profile_feed_destroy(struct profile_feed *feed)
{
	if (!feed)
		return;
	call_track_end(&feed->track);
	profile_destroy(feed->profile);
	free(feed);
}

void profile_feed_end(struct profile_feed *feed)
{
	call_track_end(&feed->track);
}

static void cpu_take(struct profile_feed *feed, u32 number)
{
	struct profile_cpu *cpu;

	if (!call_track_begin(&feed->track))
		feed->profile->failed = true;
	cpu = profile_cpu(feed->profile, number);
	feed->cpu = cpu ? cpu - feed->profile->cpus : -1;
	feed->task = -1;
	feed->now = 0;
	feed->running = false;
	feed->lost = 0;
}

static void task_take(struct profile_feed *feed)
{
	const struct view_state *state = &feed->view->state;
	struct profile_task *task;

	feed->track.stack->seen = stack_seen(feed, feed->track.stack);
	call_track_task(&feed->track, state->tid);
	task = profile_task(feed->profile, state->tid, state->pid);
	feed->task = task ? task - feed->profile->tasks : -1;
}

/* What came before the first time began then, as far as one knows. */
static void time_begin(struct profile_feed *feed, u64 now)
{
	struct call_stack *stack = feed->track.stack;
	u32 i;

	for (i = 1; i < stack->count; i++) {
		if (!stack->frames[i].begun)
			stack->frames[i].begun = now;
	}
}

static void time_spend(struct profile_feed *feed, u64 ticks)
{
	struct call_stack *stack = feed->track.stack;
	struct profile *profile = feed->profile;

	if (feed->lost) {
		profile->lost[feed->lost] += ticks;
		if (feed->cpu >= 0)
			profile->cpus[feed->cpu].lost += ticks;
		feed->timed = true;
		if (feed->resumed)
			feed->lost = 0;
	} else if (feed->running) {
		profile->traced += ticks;
		if (stack->count > 1)
			symbol_at(feed, call_stack_top(stack)->symbol)->self +=
				ticks;
		if (feed->task >= 0)
			profile->tasks[feed->task].ticks += ticks;
	}
}

static void time_take(struct profile_feed *feed, u64 now)
{
	struct profile_cpu *cpu = feed->cpu < 0 ? NULL :
				  &feed->profile->cpus[feed->cpu];
	bool ran = feed->running && !feed->lost;

	if (!feed->now) {
		time_begin(feed, now);
	} else if (now > feed->now) {
		time_spend(feed, now - feed->now);
		if (cpu)
			cpu->ticks += now - feed->now;
	}
	/* A TSC that was set back goes on from there. */
	feed->now = now;
	if (ran)
		feed->track.stack->seen = now;
	if (cpu && (!cpu->first || now < cpu->first))
		cpu->first = now;
	if (cpu && now > cpu->last)
		cpu->last = now;
}

/* The others say that something is not known, while execution goes on. */
static bool gap_loses_time(u32 kind)
{
	switch (kind) {
	case KIPT_GAP_SWITCHES:
	case KIPT_GAP_SPACES:
	case KIPT_GAP_CODE_DROPPED:
	case KIPT_GAP_PATCHES:
	case KIPT_GAP_PROCESSES:
		return false;
	}
	return true;
}

static void gap_take(struct profile_feed *feed, u32 kind)
{
	feed->profile->gaps++;
	if (!gap_loses_time(kind))
		return;
	/* Of several the first is why. */
	if (!feed->lost)
		feed->lost = kind && kind <= KIPT_GAP_KIND_MAX ?
			     kind : KIPT_GAP_DECODE;
	feed->resumed = false;
	feed->timed = false;
}

/* Whether code runs is known again. */
static void run_set(struct profile_feed *feed, bool running)
{
	feed->running = running;
	feed->resumed = true;
	if (feed->timed)
		feed->lost = 0;
}

/* Where there are no symbols, a branch is in what was called last, if that is
 * the same file's.
 */
static struct profile_symbol *branch_symbol(struct profile_feed *feed, u64 ip)
{
	struct profile_symbol *symbol = symbol_at(feed, symbol_of(feed, ip));
	struct call_stack *stack = feed->track.stack;
	struct profile_symbol *top;

	if (symbol->name || stack->count == 1)
		return symbol;
	top = symbol_at(feed, call_stack_top(stack)->symbol);
	return top->called && top->space == symbol->space &&
	       symbol->object && top->object &&
	       !strcmp(top->object, symbol->object) ? top : symbol;
}

static void branch_take(struct profile_feed *feed, const struct kipt_record *r)
{
	branch_symbol(feed, r->ip)->branches++;
	if (feed->task >= 0)
		feed->profile->tasks[feed->task].branches++;
	run_set(feed, true);
}

/* They were counted: who ran, and when, nobody knows. */
static void edge_take(struct profile_feed *feed, const struct kipt_record *r)
{
	const struct view_state *state = &feed->view->state;
	u32 from = profile_symbol(feed->profile, state->edge_pid,
				  state->edge_cr3, r->ip);
	u32 to;

	symbol_at(feed, from)->branches += r->aux;
	if (r->kind != KIPT_BRANCH_CALL && r->kind != KIPT_BRANCH_CALL_IND)
		return;
	to = profile_function(feed->profile, state->edge_pid, state->edge_cr3,
			      r->value);
	symbol_at(feed, to)->calls += r->aux;
}

static void flow_take(struct profile_feed *feed, const struct kipt_record *r)
{
	switch (r->type) {
	case KIPT_RECORD_BRANCH:
		branch_take(feed, r);
		break;
	case KIPT_RECORD_ENABLE:
		run_set(feed, true);
		break;
	case KIPT_RECORD_DISABLE:
		run_set(feed, false);
		break;
	case KIPT_RECORD_SYNC:
		if (r->kind == KIPT_SYNC_START)
			run_set(feed, !(r->flags & KIPT_RF_NO_IP));
		break;
	case KIPT_RECORD_GAP:
		gap_take(feed, r->kind);
	}
	call_track_take(&feed->track, r);
}

void profile_feed_take(struct profile_feed *feed, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_CPU)
		cpu_take(feed, r->aux);
	else if (!feed->track.stack)
		cpu_take(feed, feed->view->state.cpu);
	if (!feed->track.stack)
		return;
	switch (r->type) {
	case KIPT_RECORD_TASK:
		task_take(feed);
		break;
	case KIPT_RECORD_TIME:
		if (r->value)
			time_take(feed, r->value);
		break;
	case KIPT_RECORD_EDGE:
		edge_take(feed, r);
		break;
	default:
		flow_take(feed, r);
	}
}
