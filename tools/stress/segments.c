// SPDX-License-Identifier: GPL-2.0-only
/*
 * segments TRUTH: the truth of one vCPU falls into segments, each from one
 * setting of TraceEn to the next. Lists them, and holds fetched records
 * against the segments that they are of. Who traced when is the judge's
 * business. Runs in user space on the host.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../selftests/flow/match.h"

static const char usage[] =
"usage: segments TRUTH list\n"
"       segments TRUTH match <JOBS\n"
"\n"
"list prints for each segment: number, TSC at its start and at its end (0: it\n"
"has none), IA32_RTIT_CTL, transfers.\n"
"A job is a line: NAME FIRST LAST CPU RING FILE. The records of CPU in FILE are\n"
"compared with the segments FIRST to LAST; RING 1: the oldest may be missing.\n"
"Printed for each: NAME, 1 or 0 for equal, transfers that were equal, missing\n"
"before the first record or in gaps, of these before the first record, missing\n"
"at the end, truth entry of the difference, gaps as KIND:COUNT,..., and why they differ and where.\n";

/**
 * struct segment - from one setting of TraceEn to the next
 * @begin: first entry
 * @end: last entry + 1
 */
struct segment {
	size_t begin;
	size_t end;
};

struct segments {
	struct segment *all;
	size_t count;
	size_t room;
};

static bool add(struct segments *segments, size_t begin)
{
	if (segments->count == segments->room) {
		segments->room = segments->room ? 2 * segments->room : 1024;
		segments->all = realloc(segments->all, segments->room *
					sizeof(*segments->all));
		if (!segments->all)
			return false;
	}
	segments->all[segments->count++].begin = begin;
	return true;
}

static bool find_segments(const struct flow_file *truth,
			  struct segments *segments)
{
	const struct truth_entry *entries = truth->entries;
	size_t i;

	for (i = 0; i < truth->count; i++) {
		if (entries[i].kind != TRUTH_MARK_ON)
			continue;
		if (segments->count)
			segments->all[segments->count - 1].end = i;
		if (!add(segments, i))
			return false;
	}
	if (segments->count)
		segments->all[segments->count - 1].end = truth->count;
	return true;
}

static void list(const struct flow_file *truth, const struct segments *segments)
{
	const struct truth_entry *entries = truth->entries;
	size_t i, k;

	for (i = 0; i < segments->count; i++) {
		const struct segment *s = &segments->all[i];
		uint64_t off = 0, transfers = 0;

		for (k = s->begin; k < s->end; k++) {
			transfers += entries[k].kind < TRUTH_ENABLE;
			if (entries[k].kind == TRUTH_MARK_OFF)
				off = entries[k].from;
		}
		printf("%zu %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIu64 "\n",
		       i, entries[s->begin].from, off, entries[s->begin].to,
		       transfers);
	}
}

/* Transfers before the first that a record covers. */
static uint64_t missed_early(const struct flow_file *part,
			     const struct match_result *result)
{
	const struct truth_entry *entries = part->entries;
	uint64_t transfers = 0;
	size_t i;

	if (!result->skip_count || result->skips[0].begin)
		return 0;
	for (i = 0; i < result->skips[0].end; i++)
		transfers += entries[i].kind < TRUTH_ENABLE;
	return transfers;
}

static void print_result(const char *name, const struct match_result *result,
			 size_t begin, uint64_t early)
{
	const char *comma = "";
	unsigned int kind;

	printf("%s %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu ",
	       name, result->equal, result->branches, result->missed, early,
	       result->tail, result->equal ? 0 : begin + result->truth.index);
	for (kind = 0; kind < MATCH_GAP_KINDS; kind++)
		if (result->gaps[kind]) {
			printf("%s%s:%" PRIu64, comma, match_gap_name(kind),
			       result->gaps[kind]);
			comma = ",";
		}
	printf("%s %s", *comma ? "" : "-", result->equal ? "" : result->why);
	if (!result->equal)
		printf(": %" PRIx64 " to %" PRIx64 " ran, record %zu says %" PRIx64 " to %" PRIx64,
		       result->truth.from, result->truth.to,
		       result->record.index, result->record.from,
		       result->record.to);
	printf("\n");
	fflush(stdout);
}

/* struct job - a line of input */
struct job {
	char name[64];
	char path[512];
	size_t first;
	size_t last;
	int cpu;
	int ring;
};

static bool match(const struct flow_file *truth,
		  const struct segments *segments, const struct job *job)
{
	static struct match_result result;
	struct match_options options = {
		.late_start = job->ring,
		.early_end = true,
		.all_gaps = true,
	};
	struct flow_file part = *truth, records;
	struct flow_cursor truth_cursor = { .file = &part, .cpu = -1 };
	struct flow_cursor record_cursor = { .file = &records, .cpu = job->cpu };
	size_t begin;

	if (job->first > job->last || job->last >= segments->count ||
	    !flow_open_records(&records, job->path))
		return false;
	begin = segments->all[job->first].begin;
	part.entries = (struct truth_entry *)truth->entries + begin;
	part.count = segments->all[job->last].end - begin;
	match_run(&result, truth_cursor, record_cursor, &options);
	print_result(job->name, &result, begin, missed_early(&part, &result));
	flow_close(&records);
	return true;
}

static int match_all(const struct flow_file *truth,
		     const struct segments *segments)
{
	char line[1024];
	struct job job;

	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%63s %zu %zu %d %d %511s", job.name,
			   &job.first, &job.last, &job.cpu, &job.ring,
			   job.path) != 6 ||
		    !match(truth, segments, &job)) {
			fprintf(stderr, "segments: not a job that can be done: %s",
				line);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct segments segments = { NULL, 0, 0 };
	struct flow_file truth;
	int status = 2;

	if (argc != 3 || (strcmp(argv[2], "list") && strcmp(argv[2], "match"))) {
		fputs(usage, stderr);
		return 2;
	}
	if (!flow_open_truth(&truth, argv[1]))
		return 1;
	if (!find_segments(&truth, &segments)) {
		fprintf(stderr, "segments: no memory\n");
	} else if (!strcmp(argv[2], "list")) {
		list(&truth, &segments);
		status = 0;
	} else {
		status = match_all(&truth, &segments);
	}
	free(segments.all);
	flow_close(&truth);
	return status;
}
