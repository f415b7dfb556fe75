// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records into a profile, see profile_feed.h. A trace has times at some places
 * only: what passed between two of them is the function's that executes at the
 * later one.
 */
#include <stdlib.h>

#include "../cli/list_room.h"
#include "../records/record_state.h"
#include "profile_feed.h"

/* Tasks whose calls are remembered, of all CPUs; those of the CPU that came longest
 * ago are forgotten.
 */
#define STACKS_MAX	(1 << 13)
/* Threads of which it is known where they were last. */
#define WHERE_MAX	(1 << 16)
/* Losses that are kept to be shown. */
#define LOSSES_MAX	(1 << 20)
/* Symbols of frames that are counted for a stack with no frames are none. */
#define ACTIVE_KEPT	1024
/* So many of the slowest runs are kept unless somebody says otherwise. */
#define SLOWEST_TOP	10

static struct profile_symbol *symbol_at(struct profile_feed *feed, u32 symbol)
{
	return &feed->profile->symbols[symbol];
}

static u32 symbol_of(struct profile_feed *feed, u64 address)
{
	const struct view_state *state = &feed->view->state;

	return profile_symbol(feed->profile, view_code_pid(state), state->cr3, address);
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

/* How many calls of a function a stack has. Of the stack that had one last, the symbol
 * has it, of others the stack.
 */
static u32 *active_get(struct profile_feed *feed, struct call_stack *stack,
		       u32 symbol)
{
	struct profile_symbol *at = symbol_at(feed, symbol);
	size_t *kept;

	if (at->active_of == stack)
		return &at->active;
	if (at->active && !lookup_add(&at->active_of->active, symbol, at->active))
		feed->profile->failed = true;
	kept = lookup_get(&stack->active, symbol);
	at->active_of = stack;
	at->active = kept ? *kept : 0;
	if (kept)
		*kept = 0;
	return &at->active;
}

/* The function of a frame is in one call more; is that the outermost? */
static bool active_add(struct profile_feed *feed, struct call_stack *stack,
		       u32 symbol)
{
	return !(*active_get(feed, stack, symbol))++;
}

static void active_drop(struct profile_feed *feed, struct call_stack *stack,
			u32 symbol)
{
	u32 *count = active_get(feed, stack, symbol);

	*count -= !!*count;
}

/* The stack that ends with a frame; with the root alone it is the process. */
static u32 node_of(struct profile_feed *feed, const struct frame *frame)
{
	if (frame->kind == FRAME_ROOT)
		return folded_child(feed->folded, FOLDED_ROOT,
				    feed->view->state.pid);
	return frame->node;
}

static void frame_fold(struct profile_feed *feed, struct frame *frame)
{
	u32 below;

	if (!feed->folded)
		return;
	below = node_of(feed, frame - 1);
	frame->node = frame->kind == FRAME_LOCAL ? below :
		      folded_child(feed->folded, below, frame->symbol);
}

static void frame_name(struct profile_feed *feed, struct call_stack *stack,
		       struct frame *frame)
{
	const struct view_state *state = &feed->view->state;

	frame->symbol = is_call(frame) ?
			profile_function(feed->profile, view_code_pid(state), state->cr3,
					 frame->function) :
			symbol_of(feed, frame->function);
	frame->outer = active_add(feed, stack, frame->symbol);
	frame_fold(feed, frame);
	if (is_call(frame) && feed->html && feed->html->lines)
		frame->source = html_lines_place(feed->html->lines, view_code_pid(state),
						 frame->function);
	if (is_call(frame))
		symbol_at(feed, frame->symbol)->calls++;
	if (!symbol_at(feed, frame->symbol)->wanted)
		return;
	stack->wanted++;
	if (frame->outer && feed->slowest && is_call(frame))
		slowest_begin(feed->slowest, stack, frame);
}

/* The frame's function is no more what it was named for. */
static void frame_unname(struct profile_feed *feed, struct call_stack *stack,
			 const struct frame *frame)
{
	active_drop(feed, stack, frame->symbol);
	stack->wanted -= symbol_at(feed, frame->symbol)->wanted;
}

static void frame_enter(void *ctx, struct call_stack *stack,
			struct frame *frame)
{
	struct profile_feed *feed = ctx;

	/* The first above the root: no other is active. */
	if (stack->count == 2 && stack->active.count > ACTIVE_KEPT)
		lookup_free(&stack->active);
	frame->begun = feed->at->now;
	frame->outer_begun = frame->begun;
	frame->gaps = feed->at->gaps;
	frame->branches = stack->branches;
	frame->number = feed->frames++;
	frame->level = frame[-1].level + (frame->kind != FRAME_LOCAL);
	if (feed->lanes)
		lanes_enter(feed, stack);
	if (feed->firefox)
		firefox_fill(feed, stack, frame - 1);
	frame_name(feed, stack, frame);
}

static u64 ticks_from(u64 begun, u64 end)
{
	return begun && end > begun ? end - begun : 0;
}

/* What a thunk did is done by the function that it leads to. */
static void frame_rename(void *ctx, struct call_stack *stack,
			 struct frame *frame)
{
	struct profile_feed *feed = ctx;

	if (feed->firefox)
		firefox_fill(feed, stack, frame);
	frame_unname(feed, stack, frame);
	/* What it did itself. */
	if (frame->outer)
		profile_add(&symbol_at(feed, frame->symbol)->total,
			    ticks_from(frame->outer_begun, feed->at->now));
	if (is_call(frame))
		symbol_at(feed, frame->symbol)->calls--;
	slowest_drop(stack, frame->number);
	frame->outer_begun = frame->begun;
	frame_name(feed, stack, frame);
	if (feed->lanes)
		lanes_rename(feed, stack, frame);
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
		.cpu = feed->at->number,
		.tid = state->tid,
		.pid = state->pid,
		.gap = frame->gaps != feed->at->gaps,
	};
}

static void slowest_take(struct profile_feed *feed, struct call_stack *stack,
			 const struct frame *frame, u64 ticks, bool returned)
{
	struct slow_run run = {
		.line = {
			.symbol = frame->symbol,
			.level = frame->level,
			.number = frame->number,
			.ticks = ticks,
			.branches = stack->branches - frame->branches,
			.unseen = !returned,
			.gap = frame->gaps != feed->at->gaps,
		},
		.call = {
			.begun = frame->begun,
			.cpu = feed->at->number,
			.tid = feed->view->state.tid,
			.pid = feed->view->state.pid,
		},
		.zero = feed->view->state.tsc_first,
	};

	slowest_end(feed->slowest, stack, &run);
	feed->profile->failed |= feed->slowest->failed;
}

/* The last time at which its task ran. A TSC that was set back is no time to go by. */
static u64 stack_seen(struct profile_feed *feed, const struct call_stack *stack)
{
	if (stack == feed->at->track.stack && stack->seen > feed->at->now)
		return feed->at->now;
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
		above->outer_begun = frame->outer_begun;
		return true;
	}
	return false;
}

/* A call that nobody saw the end of lasts as long as its task was seen to run. */
static void frame_leave(void *ctx, struct call_stack *stack,
			struct frame *frame, bool returned)
{
	struct profile_feed *feed = ctx;
	u64 end = returned ? feed->at->now : stack_seen(feed, stack);
	u64 ticks = ticks_from(frame->begun, end);

	if (feed->lanes)
		lanes_leave(feed, stack, frame, end);
	if (feed->firefox && returned)
		firefox_fill(feed, stack, frame);
	frame_unname(feed, stack, frame);
	if (frame->outer && !(!returned && outer_pass(stack, frame)))
		profile_add(&symbol_at(feed, frame->symbol)->total,
			    ticks_from(frame->outer_begun, end));
	if (returned && is_call(frame))
		longest_take(feed, frame, ticks);
	if (feed->slowest && is_call(frame))
		slowest_take(feed, stack, frame, ticks, returned);
	if (feed->html && is_call(frame))
		html_leave(feed, stack, frame, ticks, returned);
}

static const struct call_watch watch = {
	.enter = frame_enter,
	.leave = frame_leave,
	.rename = frame_rename,
};

static const struct inlined *inlined_at(void *ctx, u64 site)
{
	struct profile_feed *feed = ctx;
	struct view *view = feed->view;

	if (!feed->lanes || !view->options->inlined)
		return NULL;
	return names_inlined(view->names, view_code_pid(&view->state), site, view->options->source);
}

static const struct call_track_ops track_ops = {
	.find = place_find,
	.inlined = inlined_at,
	.watch = &watch,
};

/* The file that a view writes for another program; a message says what fails. */
static bool own_file_create(struct profile_feed *feed, const struct view_options *options)
{
	switch (options->mode) {
	case VIEW_PERFETTO:
		feed->lanes = lanes_create(options->perfetto);
		return feed->lanes;
	case VIEW_FIREFOX:
		feed->firefox = firefox_create(options->firefox);
		return feed->firefox;
	case VIEW_HTML:
		feed->html = html_create(options->html,
					 options->source ? feed->profile->names : NULL);
		return feed->html;
	default:
		return true;
	}
}

/* What the view keeps beside the profile; false without memory. */
static bool extras_create(struct profile_feed *feed, const struct view_options *options)
{
	switch (options->mode) {
	case VIEW_FOLDED:
	case VIEW_FIREFOX:
	case VIEW_HTML:
		feed->folded = folded_create();
		return feed->folded;
	case VIEW_SLOWEST:
		feed->profile->wanted = options->slowest;
		feed->slowest = slowest_create(options->top_given ? options->top :
								    SLOWEST_TOP);
		return feed->slowest;
	default:
		return true;
	}
}

struct profile_feed *profile_feed_create(struct view *view)
{
	struct profile_feed *feed = calloc(1, sizeof(*feed));

	if (!feed)
		return NULL;
	feed->view = view;
	view->leaves_guests = true;
	feed->profile = profile_create(view->names);
	if (feed->profile && extras_create(feed, view->options)) {
		if (own_file_create(feed, view->options))
			return feed;
		view->failed = true;
	}
	profile_feed_destroy(feed);
	return NULL;
}

static void cpu_unlink(struct profile_feed *feed, struct feed_cpu *at)
{
	*(at->newer ? &at->newer->older : &feed->newest) = at->older;
	*(at->older ? &at->older->newer : &feed->oldest) = at->newer;
	at->newer = NULL;
	at->older = NULL;
}

static void cpu_link(struct profile_feed *feed, struct feed_cpu *at)
{
	at->older = feed->newest;
	*(at->older ? &at->older->newer : &feed->oldest) = at;
	feed->newest = at;
}

static void stacks_forget(struct profile_feed *feed, struct feed_cpu *at)
{
	feed->stacks -= at->track.stack_count;
	feed->leaving = at;
	call_track_end(&at->track);
	feed->leaving = NULL;
	cpu_unlink(feed, at);
}

void profile_feed_end(struct profile_feed *feed)
{
	while (feed->oldest)
		stacks_forget(feed, feed->oldest);
}

void profile_feed_destroy(struct profile_feed *feed)
{
	u32 i;

	if (!feed)
		return;
	profile_feed_end(feed);
	for (i = 0; i < feed->cpu_count; i++)
		free(feed->cpus[i]);
	free(feed->cpus);
	lookup_free(&feed->where);
	free(feed->losses);
	slowest_destroy(feed->slowest);
	folded_destroy(feed->folded);
	lanes_destroy(feed->lanes);
	firefox_destroy(feed->firefox);
	html_destroy(feed->html);
	profile_destroy(feed->profile);
	free(feed);
}

static void cpu_begin(struct profile_feed *feed, struct feed_cpu *at, u64 number, s64 cpu)
{
	*at = (struct feed_cpu){
		.track.ops = &track_ops,
		.track.ctx = feed,
		.number = number,
		.cpu = cpu,
		.task = -1,
	};
}

/* The profile numbers CPUs as they come. */
static struct feed_cpu *cpu_add(struct profile_feed *feed, u64 number)
{
	size_t size = (feed->cpu_count + 1) * sizeof(*feed->cpus);
	struct feed_cpu **cpus = realloc(feed->cpus, size);
	struct feed_cpu *at = malloc(sizeof(*at));

	if (cpus)
		feed->cpus = cpus;
	if (!cpus || !at) {
		free(at);
		return NULL;
	}
	cpu_begin(feed, at, number, feed->cpu_count);
	return feed->cpus[feed->cpu_count++] = at;
}

static struct feed_cpu *cpu_get(struct profile_feed *feed, u64 number)
{
	struct profile_cpu *cpu = profile_cpu(feed->profile, number);
	size_t index = cpu ? cpu - feed->profile->cpus : 0;
	struct feed_cpu *at = NULL;

	if (cpu && index < feed->cpu_count)
		return feed->cpus[index];
	if (cpu && index == feed->cpu_count)
		at = cpu_add(feed, number);
	if (at)
		return at;
	if (cpu)
		feed->profile->failed = true;
	if (feed->others.track.stack)
		stacks_forget(feed, &feed->others);
	cpu_begin(feed, &feed->others, number, -1);
	return &feed->others;
}

/* As many as there is room for, and those of the CPU that has the word. */
static void stacks_bound(struct profile_feed *feed)
{
	while (feed->stacks > STACKS_MAX && feed->oldest != feed->at)
		stacks_forget(feed, feed->oldest);
}

/* Each CPU has an idle thread, whose number is 0. */
static bool is_elsewhere(const struct profile_feed *feed, u32 tid)
{
	size_t *where = tid ? lookup_get(&feed->where, tid) : NULL;

	return where && *where != (size_t)feed->at->cpu;
}

/* It is here now. True: it was elsewhere since it was here, or nobody knows. */
static bool task_arrives(struct profile_feed *feed, u32 tid)
{
	size_t *where = tid ? lookup_get(&feed->where, tid) : NULL;
	bool moved = is_elsewhere(feed, tid);

	if (where)
		*where = feed->at->cpu;
	else if (tid && (feed->where.count == WHERE_MAX ||
			 !lookup_add(&feed->where, tid, feed->at->cpu)))
		moved = feed->cpu_count > 1;
	return moved;
}

/* What a CPU did last goes on when it has the word again, unless its task went
 * to another one meanwhile.
 */
static void cpu_resume(struct profile_feed *feed)
{
	struct view_state *state = &feed->view->state;
	struct feed_cpu *at = feed->at;

	if (is_elsewhere(feed, at->tid)) {
		call_stack_drop(at->track.stack, 1);
		at->task = -1;
		at->tid = 0;
		at->pid = 0;
		call_track_context(&at->track, 0);
	}
	state->tid = at->tid;
	state->pid = at->pid;
	state->cr3 = at->track.cr3;
}

static void cpu_take(struct profile_feed *feed, u64 number)
{
	struct feed_cpu *at = feed->at;

	if (at && at->track.stack)
		at->track.stack->seen = stack_seen(feed, at->track.stack);
	at = cpu_get(feed, number);
	feed->at = at;
	if (at->track.stack) {
		cpu_unlink(feed, at);
		cpu_link(feed, at);
		cpu_resume(feed);
		return;
	}
	if (!call_track_begin(&at->track)) {
		feed->profile->failed = true;
		return;
	}
	feed->stacks++;
	cpu_link(feed, at);
	cpu_resume(feed);
	stacks_bound(feed);
}

static void task_take(struct profile_feed *feed)
{
	const struct view_state *state = &feed->view->state;
	struct feed_cpu *at = feed->at;
	bool known = at->track.task_known;
	u32 stacks = at->track.stack_count;
	struct profile_task *task;

	if (feed->lanes && state->tid != at->tid)
		lanes_away(feed);
	at->tid = state->tid;
	at->pid = state->pid;
	at->track.stack->seen = stack_seen(feed, at->track.stack);
	call_track_task(&at->track, state->tid);
	feed->stacks += at->track.stack_count - stacks;
	stacks_bound(feed);
	/* It may have returned from all of them there. */
	if (task_arrives(feed, state->tid) && known)
		call_stack_drop(at->track.stack, 1);
	task = profile_task(feed->profile, state->tid, state->pid);
	at->task = task ? task - feed->profile->tasks : -1;
	if (feed->lanes)
		lanes_task(feed, !known);
}

/* What came before the first time began then, as far as one knows. */
static void time_begin(struct profile_feed *feed, u64 now)
{
	struct call_stack *stack = feed->at->track.stack;
	u32 i;

	for (i = 1; i < stack->count; i++) {
		if (!stack->frames[i].begun)
			stack->frames[i].begun = now;
		if (!stack->frames[i].outer_begun)
			stack->frames[i].outer_begun = now;
	}
	stack->sampled = now;
	if (feed->at->loss) {
		feed->losses[feed->at->loss - 1].from = now;
		feed->losses[feed->at->loss - 1].zero =
			feed->view->state.tsc_first;
	}
}

/* Room for one more; NULL: there is none. */
static struct feed_loss *loss_room(struct profile_feed *feed)
{
	struct feed_loss *losses;

	feed->losses_full |= feed->loss_count == LOSSES_MAX;
	if (feed->losses_full)
		return NULL;
	losses = list_room(feed->losses, feed->loss_count, sizeof(*losses));
	feed->profile->failed |= !losses;
	if (!losses)
		return NULL;
	feed->losses = losses;
	return &losses[feed->loss_count++];
}

static void loss_begin(struct profile_feed *feed)
{
	struct feed_cpu *at = feed->at;
	struct feed_loss *loss;

	if (feed->view->options->mode != VIEW_LOST)
		return;
	loss = loss_room(feed);
	at->loss = loss ? feed->loss_count : 0;
	if (!loss)
		return;
	*loss = (struct feed_loss){
		.kind = at->lost,
		.cpu = at->number,
		.from = at->now,
		.zero = feed->view->state.tsc_first,
		.tid = feed->view->state.tid,
		.pid = feed->view->state.pid,
		.known = at->task >= 0,
	};
}

static void lost_end(struct profile_feed *feed)
{
	const struct view_state *state = &feed->view->state;
	struct feed_cpu *at = feed->at;
	struct feed_loss *loss;

	at->lost = 0;
	if (!at->loss)
		return;
	loss = &feed->losses[at->loss - 1];
	loss->tid_after = state->tid;
	loss->pid_after = state->pid;
	loss->known_after = at->task >= 0;
	at->loss = 0;
}

static struct folded_node *node_now(struct profile_feed *feed)
{
	const struct frame *top = call_stack_top(feed->at->track.stack);
	u32 node = node_of(feed, top);

	/* node_of() may add a node, and so move all of them. */
	return &feed->folded->nodes[node];
}

static void time_spend(struct profile_feed *feed, u64 ticks)
{
	struct feed_cpu *at = feed->at;
	struct call_stack *stack = at->track.stack;
	struct profile *profile = feed->profile;

	if (at->lost) {
		if (feed->firefox)
			firefox_lose(feed, ticks);
		if (feed->html)
			html_lose(feed, ticks);
		profile_add(&profile->lost[at->lost], ticks);
		if (at->cpu >= 0)
			profile_add(&profile->cpus[at->cpu].lost, ticks);
		if (at->loss)
			profile_add(&feed->losses[at->loss - 1].ticks, ticks);
	} else if (at->running) {
		profile_add(&profile->traced, ticks);
		if (feed->folded)
			profile_add(&node_now(feed)->ticks, ticks);
		if (feed->firefox)
			firefox_spend(feed, ticks);
		if (feed->html)
			html_spend(feed, node_of(feed, call_stack_top(stack)), ticks);
		if (stack->count > 1)
			profile_add(&symbol_at(feed, call_stack_top(stack)->symbol)->self,
				    ticks);
		if (at->task >= 0)
			profile_add(&profile->tasks[at->task].ticks, ticks);
	}
}

/* What passed between two times is the function's that executes at the later one. */
static void cycles_spend(struct profile_feed *feed, u64 cycles)
{
	const struct feed_cpu *at = feed->at;
	const struct frame *top = call_stack_top(at->track.stack);

	if (!cycles || at->lost || !at->running)
		return;
	profile_add(&feed->profile->cycles, cycles);
	if (top->kind != FRAME_ROOT)
		profile_add(&symbol_at(feed, top->symbol)->cycles, cycles);
}

static void time_take(struct profile_feed *feed, u64 now)
{
	struct feed_cpu *at = feed->at;
	struct profile_cpu *cpu = at->cpu < 0 ? NULL :
				  &feed->profile->cpus[at->cpu];
	bool ran = at->running && !at->lost;

	if (!at->now) {
		time_begin(feed, now);
	} else if (now > at->now) {
		time_spend(feed, now - at->now);
		if (cpu)
			profile_add(&cpu->ticks, now - at->now);
	}
	at->timed = true;
	if (at->resumed)
		lost_end(feed);
	/* A TSC that was set back goes on from there. */
	at->now = now;
	if (ran)
		at->track.stack->seen = now;
	if (ran && feed->firefox)
		firefox_fill(feed, at->track.stack, call_stack_top(at->track.stack));
	if (cpu && (!cpu->first || now < cpu->first))
		cpu->first = now;
	if (cpu && now > cpu->last)
		cpu->last = now;
	if (cpu)
		cpu->zero = feed->view->state.tsc_first;
}

static void gap_take(struct profile_feed *feed, u32 kind)
{
	struct feed_cpu *at = feed->at;

	at->gaps++;
	if (feed->html)
		html_gap(feed, kind);
	if (!record_gap_loses_time(kind))
		return;
	/* Of several the first is why. */
	if (!at->lost) {
		at->lost = kind && kind <= KIPT_GAP_KIND_MAX ?
			     kind : KIPT_GAP_DECODE;
		loss_begin(feed);
	}
	at->resumed = false;
	at->timed = false;
}

/* Whether code runs is known again. */
static void run_set(struct profile_feed *feed, bool running)
{
	struct feed_cpu *at = feed->at;

	at->running = running;
	at->resumed = true;
	if (at->timed)
		lost_end(feed);
}

/* Where there are no symbols, a branch is in what was called last, @called, if that
 * is the same file's.
 */
static bool is_callees(const struct profile_symbol *symbol,
		       const struct profile_symbol *called)
{
	return !symbol->name && called && called->space == symbol->space &&
	       symbol->object && called->object == symbol->object;
}

/* @code: of profile_code(), now. */
static struct profile_symbol *branch_symbol(struct profile_feed *feed, u32 code, u64 ip)
{
	struct call_stack *stack = feed->at->track.stack;
	struct profile_symbol *top = symbol_at(feed, call_stack_top(stack)->symbol), *symbol;

	if (stack->count > 1 && profile_has(top, code, ip))
		return top;
	symbol = symbol_at(feed, symbol_of(feed, ip));
	/* The symbols may have moved. */
	top = symbol_at(feed, call_stack_top(stack)->symbol);
	if (symbol->name || stack->count == 1)
		return symbol;
	return is_callees(symbol, top->called ? top : NULL) ? top : symbol;
}

static void branches_add(struct profile_feed *feed, u32 count)
{
	feed->at->track.stack->branches += count;
	if (feed->folded)
		node_now(feed)->branches += count;
	if (feed->at->task >= 0)
		feed->profile->tasks[feed->at->task].branches += count;
	run_set(feed, true);
}

static u32 code_now(struct profile_feed *feed)
{
	const struct view_state *state = &feed->view->state;

	return profile_code(feed->profile, view_code_pid(state), state->cr3);
}

static void branch_take(struct profile_feed *feed, u32 code, const struct kipt_record *r)
{
	struct profile_symbol *symbol = branch_symbol(feed, code, r->ip);

	symbol->branches++;
	symbol->insns += r->aux;
	branches_add(feed, 1);
	call_track_branches(&feed->at->track, r, 1);
}

/* Of an address that was looked up not long ago; NULL: it was not. */
static struct profile_symbol *recent_symbol(struct profile *profile,
					    u32 code, u64 address)
{
	const struct profile_recent *recent = profile_recent(profile, address);

	if (recent->key != address || recent->code != code)
		return NULL;
	return &profile->symbols[recent->symbol];
}

/* A jump that certainly stays in its function. */
static bool is_inside(struct profile *profile, u32 code,
		      const struct frame *top, u64 target)
{
	const struct profile_symbol *symbol;

	if (top->kind == FRAME_ROOT || top->function == target)
		return true;
	symbol = recent_symbol(profile, code, target);
	return symbol && !(symbol->name && symbol->start == target);
}

static bool is_plain(const struct kipt_record *r)
{
	return r->type == KIPT_RECORD_BRANCH &&
	       (r->kind == KIPT_BRANCH_COND || r->kind == KIPT_BRANCH_JUMP ||
		r->kind == KIPT_BRANCH_JUMP_IND);
}

/* How many of the records are conditional branches in the function on top, and jumps that stay
 * in it, one after the other.
 */
static u32 skim_top(struct profile_symbol *top, u32 code, const struct kipt_record *records,
		    u32 count)
{
	const u64 first = top->first, size = top->code == code ? top->size : 0;
	/* A jump there may be a call. */
	const u64 start = top->name ? top->start - first : ~0ULL;
	u64 insns = 0, to;
	u32 n;

	for (n = 0; n < count; n++) {
		const struct kipt_record *r = &records[n];

		if (!is_plain(r) || r->ip - first >= size)
			break;
		to = r->value - first;
		if (r->kind != KIPT_BRANCH_COND && (to >= size || to == start))
			break;
		insns += r->aux;
	}
	top->branches += n;
	top->insns += insns;
	return n;
}

/* How many of the records certainly begin and end no call, and are of addresses that were
 * looked up not long ago: they are counted.
 */
static u32 plain_skim(struct profile_feed *feed, u32 code, const struct kipt_record *records,
		      u32 count)
{
	struct profile *profile = feed->profile;
	const struct frame *top = call_stack_top(feed->at->track.stack);
	struct profile_symbol *symbol, *on_top;
	const struct kipt_record *r;
	u32 n = 0, some;

	on_top = top->kind == FRAME_ROOT ? NULL : symbol_at(feed, top->symbol);
	while (n < count) {
		r = &records[n];
		some = on_top ? skim_top(on_top, code, r, count - n) : 0;
		n += some;
		if (some)
			continue;
		if (!is_plain(r) || (r->kind != KIPT_BRANCH_COND &&
				     !is_inside(profile, code, top, r->value)))
			break;
		symbol = recent_symbol(profile, code, r->ip);
		if (!symbol)
			break;
		if (is_callees(symbol, on_top && on_top->called ? on_top : NULL))
			symbol = on_top;
		symbol->branches++;
		symbol->insns += r->aux;
		n++;
	}
	if (n)
		branches_add(feed, n);
	return n;
}

u32 profile_feed_skim(struct profile_feed *feed,
		      const struct kipt_record *records, u32 count)
{
	u32 n = 0, code;

	if (!feed->at || !feed->at->track.stack)
		return 0;
	while (n < count && records[n].type == KIPT_RECORD_BRANCH) {
		code = code_now(feed);
		if (is_plain(&records[n]))
			n += plain_skim(feed, code, records + n, count - n);
		if (n < count && record_crosses_vm(&records[n]))
			break;
		if (n < count && records[n].type == KIPT_RECORD_BRANCH)
			branch_take(feed, code, &records[n++]);
	}
	return n;
}

/* They were counted: who ran, and when, nobody knows. */
static void edge_take(struct profile_feed *feed, const struct kipt_record *r)
{
	const struct view_state *state = &feed->view->state;
	u32 from = profile_symbol(feed->profile, state->edge_pid,
				  state->edge_cr3, r->ip);
	u32 to;

	profile_add(&symbol_at(feed, from)->branches, r->aux);
	if (r->kind != KIPT_BRANCH_CALL && r->kind != KIPT_BRANCH_CALL_IND)
		return;
	to = profile_function(feed->profile, state->edge_pid, state->edge_cr3,
			      r->value);
	profile_add(&symbol_at(feed, to)->calls, r->aux);
}

/* Those since the last branch, where something else than one ends them. */
static void insns_take(struct profile_feed *feed, const struct kipt_record *r)
{
	if (r->aux && !(r->flags & KIPT_RF_NO_IP))
		branch_symbol(feed, code_now(feed), r->ip)->insns += r->aux;
}

/* Whether code runs, and whether time is lost, without any sum. */
static void flow_follow(struct profile_feed *feed, const struct kipt_record *r)
{
	bool running;

	if (r->type == KIPT_RECORD_GAP)
		gap_take(feed, r->kind);
	else if (record_runs(r, &running))
		run_set(feed, running);
}

static void flow_take(struct profile_feed *feed, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_DISABLE || r->type == KIPT_RECORD_SYNC)
		insns_take(feed, r);
	if (r->type == KIPT_RECORD_BRANCH) {
		branch_take(feed, code_now(feed), r);
		return;
	}
	flow_follow(feed, r);
	call_track_take(&feed->at->track, r);
}

void profile_feed_follow(struct profile_feed *feed, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_CPU || r->type == KIPT_RECORD_TASK ||
	    r->type == KIPT_RECORD_TIME || r->type == KIPT_RECORD_CONTEXT)
		profile_feed_take(feed, r);
	else if (feed->at && feed->at->track.stack)
		flow_follow(feed, r);
}

void profile_feed_take(struct profile_feed *feed, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_CPU)
		cpu_take(feed, r->aux);
	else if (!feed->at)
		cpu_take(feed, PROFILE_CPU_UNKNOWN);
	if (!feed->at->track.stack)
		return;
	switch (r->type) {
	case KIPT_RECORD_TASK:
		task_take(feed);
		break;
	case KIPT_RECORD_TIME:
		if (!r->value || r->kind == KIPT_TIME_FIRST)
			break;
		cycles_spend(feed, r->ip);
		time_take(feed, r->value);
		break;
	case KIPT_RECORD_CONTEXT:
		call_track_context(&feed->at->track, feed->view->state.cr3);
		break;
	case KIPT_RECORD_EDGE:
		edge_take(feed, r);
		break;
	default:
		flow_take(feed, r);
	}
	if (feed->lanes)
		lanes_take(feed, r);
}
