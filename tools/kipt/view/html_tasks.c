// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks of the page: where there are too many, those that ran little have no sums of their own.
 */
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "profile_feed.h"

bool html_task_joined(const struct html *html, u32 task)
{
	return task < html->joined_room && html->joined[task];
}

static bool joined_grow(struct html *html, u32 count)
{
	bool *joined;

	if (count <= html->joined_room)
		return true;
	joined = realloc(html->joined, count * sizeof(*joined));
	if (!joined)
		return false;
	memset(joined + html->joined_room, 0, (count - html->joined_room) * sizeof(*joined));
	html->joined = joined;
	html->joined_room = count;
	return true;
}

/* The most time first, of the same time what came first. */
static int task_compare(const void *a, const void *b)
{
	const struct profile_task *left = *(const struct profile_task **)a;
	const struct profile_task *right = *(const struct profile_task **)b;

	if (left->ticks != right->ticks)
		return left->ticks > right->ticks ? -1 : 1;
	return left < right ? -1 : left > right;
}

static void runs_join(struct html *html)
{
	struct html_cells *runs = &html->sums.runs;
	size_t i;

	for (i = 0; i < runs->count; i++) {
		if (html_task_joined(html, (u32)runs->cells[i].key))
			runs->cells[i].key |= HTML_NOBODY;
	}
	html_cells_sort(runs);
}

bool html_tasks_keep(struct profile_feed *feed, u32 most)
{
	const struct profile *profile = feed->profile;
	struct html *html = feed->html;
	const struct profile_task **list;
	u32 i, count = 0;

	if (profile->task_count - html->joined_count <= most)
		return true;
	list = malloc(profile->task_count * sizeof(*list));
	if (!list || !joined_grow(html, profile->task_count)) {
		html->failed = true;
		free(list);
		return false;
	}
	for (i = 0; i < profile->task_count; i++) {
		if (!html->joined[i])
			list[count++] = &profile->tasks[i];
	}
	qsort(list, count, sizeof(*list), task_compare);
	for (i = most; i < count; i++)
		html->joined[list[i] - profile->tasks] = true;
	html->joined_count += count - most;
	free(list);
	runs_join(html);
	return true;
}

bool html_tasks_halve(struct profile_feed *feed)
{
	u32 kept = feed->profile->task_count - feed->html->joined_count;

	return kept && html_tasks_keep(feed, kept / 2);
}
