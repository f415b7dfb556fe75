// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples beside the trace, see perf_samples.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "perf_sample.h"
#include "perf_samples.h"

/* 64 MiB of them. */
#define SAMPLES_MOST	(1U << 21)

bool perf_samples_take(struct perf_samples *samples, const struct perf_file *file,
		       const struct perf_event *event)
{
	const struct perf_attr *attr;
	struct perf_sample sample;
	struct perf_moment *list;

	if (event->type != PERF_EVENT_SAMPLE)
		return true;
	attr = perf_file_attr_of(file, event);
	if (!attr || !perf_sample_read(attr, event, &sample) ||
	    !(sample.has & PERF_SAMPLE_BIT_TIME)) {
		samples->nowhere++;
		return true;
	}
	if (samples->count == SAMPLES_MOST) {
		samples->left++;
		return true;
	}
	list = list_room(samples->list, samples->count, sizeof(*list));
	if (!list) {
		say_errno(ENOMEM, "cannot hold the samples of perf");
		return false;
	}
	samples->list = list;
	list[samples->count++] = (struct perf_moment){
		.tsc = sample.time,
		.ip = sample.ip,
		.place = sample.cpu,
		.tid = sample.tid,
		.attr = attr - perf_file_attr(file, 0),
		.has_ip = sample.has & PERF_SAMPLE_BIT_IP &&
			  !perf_misc_is_guest(event->misc),
		.has_cpu = !!(sample.has & PERF_SAMPLE_BIT_CPU),
		.has_tid = !!(sample.has & PERF_SAMPLE_BIT_TID),
	};
	return true;
}

static int moment_compare(const void *left, const void *right)
{
	const struct perf_moment *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->tsc < b->tsc ? -1 : a->tsc > b->tsc;
}

void perf_samples_settle(struct perf_samples *samples, const struct perf_clock *clock,
			 bool by_cpu)
{
	struct perf_moment *at;
	size_t i, kept = 0;

	for (i = 0; i < samples->count; i++) {
		at = &samples->list[i];
		if (!clock->mult || !(by_cpu ? at->has_cpu : at->has_tid))
			continue;
		if (!by_cpu)
			at->place = at->tid;
		at->tsc = perf_clock_tsc(clock, at->tsc);
		samples->list[kept++] = *at;
	}
	samples->nowhere += samples->count - kept;
	samples->count = kept;
	if (kept)
		qsort(samples->list, kept, sizeof(*samples->list), moment_compare);
}

/* The first sample of a place or a later one. */
static size_t place_begin(const struct perf_samples *samples, u64 place)
{
	size_t low = 0, high = samples->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (samples->list[middle].place < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct perf_moment *perf_samples_of(const struct perf_samples *samples, u32 place,
					  size_t *count)
{
	size_t first = place_begin(samples, place);

	*count = place_begin(samples, place + 1ULL) - first;
	return *count ? samples->list + first : NULL;
}

void perf_samples_free(struct perf_samples *samples)
{
	free(samples->list);
	*samples = (struct perf_samples){ 0 };
}
