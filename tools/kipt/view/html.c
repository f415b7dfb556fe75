// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums and calls for the page, see html.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli/messages.h"
#include "html.h"
#include "profile_feed.h"

/* Sums that are kept while records come. */
#define SUMS_MAX	(1U << 20)
/* Without a page if they cannot be fewer than these. */
#define SUMS_HARD	(1U << 22)
/* Rounds in which a short call is merged with its caller alone. */
#define ROUNDS_NEAR	8

struct html *html_create(const char *path, struct names *lines)
{
	struct html *html = calloc(1, sizeof(*html));

	if (html && lines)
		html->lines = calloc(1, sizeof(*html->lines));
	if (!html || (lines && !html->lines)) {
		say_errno(ENOMEM, "cannot make %s", path);
		html_destroy(html);
		return NULL;
	}
	if (lines)
		html->lines->names = lines;
	html->sums_most = SUMS_MAX;
	if (fresh_open(&html->file, path))
		return html;
	html_destroy(html);
	return NULL;
}

void html_destroy(struct html *html)
{
	if (!html)
		return;
	if (html->file.out)
		fresh_close(&html->file);
	free(html->sums.paths.cells);
	free(html->sums.runs.cells);
	free(html->sums.losses.cells);
	free(html->calls);
	free(html->joined);
	if (html->lines)
		html_lines_free(html->lines);
	free(html->lines);
	free(html);
}

static size_t sums_count(const struct html *html)
{
	return html->sums.paths.count + html->sums.runs.count + html->sums.losses.count;
}

static void sums_sort(struct html *html)
{
	html_cells_sort(&html->sums.paths);
	html_cells_sort(&html->sums.runs);
	html_cells_sort(&html->sums.losses);
}

/* The path that a short one is merged with, @up calls nearer to the process. */
static u32 merge_with(struct folded *folded, u32 node, u32 up)
{
	u32 at = node;

	for (; up && folded->nodes[at].parent != FOLDED_ROOT; up--)
		at = folded->nodes[at].parent;
	/* What was merged before goes to the caller of what it was merged in. */
	if (folded->nodes[node].symbol == HTML_MERGED && folded->nodes[at].parent != FOLDED_ROOT)
		at = folded->nodes[at].parent;
	if (folded->nodes[node].parent == FOLDED_ROOT || at == node)
		return node;
	return folded_child(folded, at, HTML_MERGED);
}

static void paths_merge(struct profile_feed *feed, u32 up)
{
	struct html_cells *paths = &feed->html->sums.paths;
	size_t i;

	for (i = 0; i < paths->count; i++) {
		if (paths->cells[i].ticks < feed->html->floor)
			paths->cells[i].key = merge_with(feed->folded, paths->cells[i].key, up);
	}
}

/* Merging paths would help less than longer buckets, or not any more. */
static bool is_to_widen(const struct html *html)
{
	u64 buckets = html_sums_buckets(&html->sums);

	return buckets > 1 && (buckets > HTML_BUCKETS / 2 || html->floor >> 62 ||
			       html->sums.paths.count < sums_count(html) / 2);
}

/* There is one bucket, and more in it of tasks than of paths. */
static bool is_to_join(const struct html *html)
{
	return html_sums_buckets(&html->sums) <= 1 &&
	       html->sums.runs.count > sums_count(html) / 2;
}

/* Longer buckets as long as there are many, then fewer paths or tasks. */
bool html_shrink(struct profile_feed *feed, size_t most)
{
	struct html *html = feed->html;
	u32 round = 0;

	sums_sort(html);
	while (sums_count(html) > most) {
		if (is_to_widen(html)) {
			html_sums_widen(&html->sums);
		} else if (is_to_join(html) && html_tasks_halve(feed)) {
			continue;
		} else if (!(html->floor >> 62)) {
			html->floor = html->floor ? html->floor * 2 : 2;
			paths_merge(feed, ++round <= ROUNDS_NEAR ? 1 : round);
		} else if (!html_tasks_halve(feed)) {
			break;
		}
		sums_sort(html);
	}
	return !html->failed;
}

/* Where sums cannot become so few, they are tried again when there are twice as many. */
static bool sums_bound(struct profile_feed *feed)
{
	struct html *html = feed->html;

	if (sums_count(html) < html->sums_most || html->too_much)
		return !html->too_much;
	html_shrink(feed, SUMS_MAX / 2);
	if (sums_count(html) > html->sums_most / 2)
		html->sums_most = sums_count(html) * 2;
	html->too_much = html->sums_most > SUMS_HARD;
	return !html->too_much;
}

static void stretch_add(struct profile_feed *feed, struct html_cells *cells, u64 key, u64 ticks)
{
	struct html *html = feed->html;
	u64 from = feed->at->now;

	if (!sums_bound(feed))
		return;
	html_sums_reach(&html->sums, from, HTML_BUCKETS);
	html_sums_reach(&html->sums, from + ticks - 1, HTML_BUCKETS);
	html->failed |= !html_sums_spread(&html->sums, cells, key, from, from + ticks);
}

static u64 lane_key(const struct feed_cpu *at, u32 what)
{
	u32 cpu = at->cpu < 0 ? HTML_NOBODY : at->cpu;

	return (u64)cpu << 32 | what;
}

void html_spend(struct profile_feed *feed, u32 node, u64 ticks)
{
	struct html_sums *sums = &feed->html->sums;
	u32 task = feed->at->task < 0 ? HTML_NOBODY : feed->at->task;

	if (html_task_joined(feed->html, task))
		task = HTML_NOBODY;
	stretch_add(feed, &sums->paths, node, ticks);
	stretch_add(feed, &sums->runs, lane_key(feed->at, task), ticks);
}

void html_lose(struct profile_feed *feed, u64 ticks)
{
	stretch_add(feed, &feed->html->sums.losses, lane_key(feed->at, feed->at->lost), ticks);
}

static void count_add(struct profile_feed *feed, struct html_cells *cells, u64 key, u64 tsc)
{
	struct html *html = feed->html;
	struct html_cell cell = { .key = key, .count = 1 };

	if (!sums_bound(feed))
		return;
	html_sums_reach(&html->sums, tsc, HTML_BUCKETS);
	cell.bucket = tsc >> html->sums.shift;
	html->failed |= !html_cells_add(cells, &cell);
}

void html_gap(struct profile_feed *feed, u32 kind)
{
	if (!kind || kind > KIPT_GAP_KIND_MAX)
		kind = KIPT_GAP_DECODE;
	if (feed->at->now)
		count_add(feed, &feed->html->sums.losses, lane_key(feed->at, kind),
			  feed->at->now);
	else
		feed->html->untimed_gaps++;
}

static int call_compare(const void *a, const void *b)
{
	const struct html_call *left = a, *right = b;

	if (left->ticks != right->ticks)
		return left->ticks > right->ticks ? -1 : 1;
	if (left->begun != right->begun)
		return left->begun < right->begun ? -1 : 1;
	return left->level < right->level ? -1 : left->level > right->level;
}

void html_longest(struct html *html, size_t most)
{
	if (html->call_count)
		qsort(html->calls, html->call_count, sizeof(*html->calls), call_compare);
	if (html->call_count > most)
		html->call_count = most;
}

static void call_keep(struct html *html, const struct html_call *call)
{
	if (call->ticks < html->calls_floor)
		return;
	if (html->call_count == HTML_CALLS_ALL) {
		html_longest(html, HTML_CALLS_LONGEST);
		html->calls_floor = html->calls[html->call_count - 1].ticks;
	}
	if (!html->calls)
		html->calls = malloc(HTML_CALLS_ALL * sizeof(*call));
	html->failed |= !html->calls;
	if (html->calls)
		html->calls[html->call_count++] = *call;
}

void html_leave(struct profile_feed *feed, const struct call_stack *stack,
		const struct frame *frame, u64 ticks, bool returned)
{
	const struct feed_cpu *at = feed->leaving ? feed->leaving : feed->at;
	struct html_call call = {
		.begun = frame->begun,
		.ticks = ticks,
		.symbol = frame->symbol,
		.cpu = !at || at->cpu < 0 ? HTML_NOBODY : at->cpu,
		.tid = stack->tid,
		.level = frame->level,
		.source = frame->source,
		.unseen = !returned,
		.gap = at && frame->gaps != at->gaps,
	};

	feed->html->calls_seen++;
	feed->html->untimed_calls += !frame->begun;
	if (!frame->begun)
		return;
	count_add(feed, &feed->html->sums.paths, frame->node, frame->begun);
	call_keep(feed->html, &call);
}

/* Of each CPU also the time in which nothing ran. */
static void cpus_reach(struct profile_feed *feed)
{
	const struct profile_cpu *cpu = feed->profile->cpus;
	const struct profile_cpu *end = cpu + feed->profile->cpu_count;

	for (; cpu < end; cpu++) {
		if (!cpu->first)
			continue;
		html_sums_reach(&feed->html->sums, cpu->first, HTML_BUCKETS);
		html_sums_reach(&feed->html->sums, cpu->last, HTML_BUCKETS);
	}
}

bool html_end(struct profile_feed *feed)
{
	struct html *html = feed->html;
	bool times = profile_has_times(feed->profile);
	bool ok;

	cpus_reach(feed);
	if (!times && feed->view->tally.records)
		say_error("--html: the trace has no times");
	if (times && (html->failed || html->too_much || !html_write(feed))) {
		if (html->too_much)
			say_error("--html: the page would be larger than 20 MB: narrow the trace with --time, --cpu, --tid or --sym");
		else
			say_errno(ENOMEM, "--html: there is no page");
		times = false;
	}
	ok = fresh_close(&html->file);
	html->file.out = NULL;
	return ok && times;
}
