// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which task had which stack when, see firefox.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "firefox.h"
#include "profile_feed.h"

/* Changes of stacks: more than that the profiler could hardly show. */
#define SAMPLES_MAX	(1U << 22)
#define THREADS_MAX	(1U << 16)

struct firefox *firefox_create(const char *path)
{
	struct firefox *firefox = calloc(1, sizeof(*firefox));

	if (!firefox) {
		say_errno(ENOMEM, "cannot make %s", path);
		return NULL;
	}
	if (fresh_open(&firefox->file, path))
		return firefox;
	free(firefox);
	return NULL;
}

void firefox_destroy(struct firefox *firefox)
{
	if (!firefox)
		return;
	if (firefox->file.out)
		fresh_close(&firefox->file);
	lookup_free(&firefox->thread_of);
	free(firefox->threads);
	free(firefox->ran.samples);
	free(firefox->lost.samples);
	free(firefox);
}

static s64 thread_add(struct firefox *firefox, u64 key, const struct firefox_thread *thread)
{
	struct firefox_thread *threads = NULL;

	if (firefox->thread_count < THREADS_MAX)
		threads = list_room(firefox->threads, firefox->thread_count, sizeof(*threads));
	if (threads)
		firefox->threads = threads;
	if (!threads || !lookup_add(&firefox->thread_of, key, firefox->thread_count))
		return -1;
	threads[firefox->thread_count] = *thread;
	return firefox->thread_count++;
}

/* Whose a stack of the CPU whose records come is; -1: there is no room. */
static s64 thread_get(struct profile_feed *feed, const struct call_stack *stack)
{
	struct firefox *firefox = feed->firefox;
	const struct view_state *state = &feed->view->state;
	struct firefox_thread thread = {
		.tid = stack->tid,
		.pid = stack->tid == state->tid ? state->pid : 0,
		.cpu = feed->at->number,
	};
	u64 key = thread.tid ? thread.tid : thread.cpu << 32 | 1ULL << 63;
	size_t *found = lookup_get(&firefox->thread_of, key);

	if (!found)
		return thread_add(firefox, key, &thread);
	if (!firefox->threads[*found].pid)
		firefox->threads[*found].pid = thread.pid;
	return *found;
}

/* The same goes on. */
static bool sample_extend(struct firefox_list *list, const struct firefox_sample *sample)
{
	struct firefox_sample *last = list->count ? &list->samples[list->count - 1] : NULL;

	if (!last || last->thread != sample->thread || last->node != sample->node ||
	    last->to != sample->from)
		return false;
	last->to = sample->to;
	return true;
}

static void sample_add(struct profile_feed *feed, struct firefox_list *list, u32 node, u64 from,
		       u64 to)
{
	s64 thread = thread_get(feed, feed->at->track.stack);
	struct firefox_sample sample = { .from = from, .to = to, .node = node, .thread = thread };
	struct firefox_sample *samples = NULL;

	if (thread >= 0 && sample_extend(list, &sample))
		return;
	if (thread >= 0 && list->count < SAMPLES_MAX)
		samples = list_room(list->samples, list->count, sizeof(*samples));
	feed->firefox->full |= !samples;
	if (!samples)
		return;
	list->samples = samples;
	samples[list->count++] = sample;
}

/* With the root alone nobody knows what a task is in. */
static bool is_due(const struct call_stack *stack, const struct frame *top, u64 until)
{
	return stack->sampled && stack->sampled < until && top->kind != FRAME_ROOT;
}

void firefox_fill(struct profile_feed *feed, struct call_stack *stack, const struct frame *top)
{
	u64 now = feed->at->now;

	if (is_due(stack, top, now))
		sample_add(feed, &feed->firefox->ran,
			   folded_child(feed->folded, top->node,
					stack->lost ? FIREFOX_LOST : FIREFOX_AWAY),
			   stack->sampled, now);
	stack->sampled = now;
	stack->lost = false;
}

void firefox_spend(struct profile_feed *feed, u64 ticks)
{
	struct call_stack *stack = feed->at->track.stack;
	const struct frame *top = call_stack_top(stack);
	u64 until = feed->at->now + ticks;

	firefox_fill(feed, stack, top);
	if (is_due(stack, top, until))
		sample_add(feed, &feed->firefox->ran, top->node, stack->sampled, until);
	stack->sampled = until;
}

void firefox_lose(struct profile_feed *feed, u64 ticks)
{
	struct feed_cpu *at = feed->at;

	at->track.stack->lost = true;
	sample_add(feed, &feed->firefox->lost, at->lost, at->now, at->now + ticks);
}

static int sample_compare(const void *a, const void *b)
{
	const struct firefox_sample *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return left->to < right->to ? -1 : left->to > right->to;
}

static void list_sort(struct firefox_list *list)
{
	if (list->count)
		qsort(list->samples, list->count, sizeof(*list->samples), sample_compare);
}

bool firefox_end(struct profile_feed *feed)
{
	struct firefox *firefox = feed->firefox;
	bool times = profile_has_times(feed->profile);
	bool ok;

	if (firefox->full)
		say_error("--firefox: there are more than %u changes of stacks, or %u tasks, which is too much for the profiler: narrow the trace with --time, --cpu, --tid or --sym",
			  SAMPLES_MAX, THREADS_MAX);
	else if (!times && feed->view->tally.records)
		say_error("--firefox: the trace has no times");
	else if (feed->folded->full)
		say_error("--firefox: there are more than %u different stacks: narrow the trace with --time, --cpu, --tid or --sym",
			  feed->folded->count - 1);
	times &= !firefox->full && !feed->folded->full;
	if (times) {
		list_sort(&firefox->ran);
		list_sort(&firefox->lost);
		firefox_write(feed);
	}
	ok = fresh_close(&firefox->file);
	firefox->file.out = NULL;
	return ok && times;
}
