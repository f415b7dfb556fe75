// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures, their lines and the verdict, see report.h. Leaves the table to
 * table.c, and what rounds say to verdict.c. User space.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static struct bench_row *rows, **last = &rows;

static const char *const groups[BENCH_GROUPS] = { "retc", "noretc" };

static void row_print(const struct bench_row *row)
{
	struct bench_spread spread = bench_spread_of(&row->ratios);
	const char *comma = "";
	int i;

	printf("bench %s %s ours=%.3f peer=%.3f ratio=%.2f low=%.2f high=%.2f target=%g least=%g memory=%.1f peer-memory=%.1f bytes=%llu disturbed=%d rounds=",
	       row->trace, bench_modes[row->mode].name, row->ours, row->peer,
	       spread.median, spread.low, spread.high,
	       bench_mode_target(row->mode, bench_report_group(row) != BENCH_GROUP_NORETC),
	       bench_mode_least(row->mode, row->trace), row->memory,
	       row->peer_memory, row->bytes, row->ratios.disturbed);
	for (i = 0; i < row->ratios.count; i++, comma = ",")
		printf("%s%.4f", comma, row->ratios.round[i]);
	printf("\n");
}

void bench_report_add(const struct bench_row *row)
{
	struct bench_row *own = malloc(sizeof(*own));

	if (!own) {
		fprintf(stderr, "bench: no memory for a figure\n");
		exit(2);
	}
	*own = *row;
	own->next = NULL;
	*last = own;
	last = &own->next;
	row_print(own);
	fflush(stdout);
}

const struct bench_row *bench_report_rows(void)
{
	return rows;
}

enum bench_group bench_report_group(const struct bench_row *row)
{
	const char *end = strrchr(row->trace, '-');
	int group = BENCH_GROUP_NONE;

	if (end && row->bytes >= BENCH_TRACE_BEGINNING) {
		for (group = 0; group < BENCH_GROUPS; group++) {
			if (!strcmp(end + 1, groups[group]))
				break;
		}
	}
	return group;
}

static void mean_add(struct bench_ratios *mean, const struct bench_ratios *more,
		     bool first)
{
	int i;

	if (first || more->count < mean->count)
		mean->count = more->count;
	mean->disturbed += more->disturbed;
	for (i = 0; i < mean->count; i++)
		mean->round[i] += log(more->round[i]);
}

int bench_report_mean(int mode, int group, struct bench_ratios *mean)
{
	const struct bench_row *row;
	int count = 0, i;

	memset(mean, 0, sizeof(*mean));
	for (row = rows; row; row = row->next) {
		if (row->mode == mode &&
		    (int)bench_report_group(row) == group)
			mean_add(mean, &row->ratios, !count++);
	}
	for (i = 0; i < mean->count; i++)
		mean->round[i] = exp(mean->round[i] / count);
	return count;
}

static bool rounds_read(struct bench_ratios *ratios, const char *list)
{
	char *end;

	ratios->count = 0;
	do {
		ratios->round[ratios->count] = strtod(list, &end);
		if (end == list || ratios->round[ratios->count] <= 0)
			return false;
		ratios->count++;
		list = end + 1;
	} while (*end == ',' && ratios->count < BENCH_ROUNDS_MOST);
	return !*end || *end == '\n';
}

/* The same order as in row_print(). */
static bool row_read(const char *line)
{
	struct bench_row row = { 0 };
	char mode[32];
	int at = 0;

	if (sscanf(line, "bench %255s %31s ours=%lf peer=%lf ratio=%*f low=%*f high=%*f target=%*f least=%*f memory=%lf peer-memory=%lf bytes=%llu disturbed=%d rounds=%n",
		   row.trace, mode, &row.ours, &row.peer, &row.memory,
		   &row.peer_memory, &row.bytes, &row.ratios.disturbed,
		   &at) != 8 || !at)
		return false;
	row.mode = bench_mode_find(mode);
	if (row.mode < 0 || !rounds_read(&row.ratios, line + at))
		return false;
	bench_report_add(&row);
	return true;
}

bool bench_report_read(const char *path)
{
	FILE *in = fopen(path, "re");
	char line[4096];
	bool good = in;

	if (!in)
		fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
	while (good && fgets(line, sizeof(line), in)) {
		good = strncmp(line, "bench ", 6) || strstr(line, " traces=") ||
		       row_read(line);
		if (!good)
			fprintf(stderr, "bench: %s: no line of this program: %s",
				path, line);
	}
	if (in)
		fclose(in);
	return good;
}

static void mean_print(int mode, int group)
{
	struct bench_ratios mean;
	int count = bench_report_mean(mode, group, &mean);
	struct bench_spread spread;

	if (!count)
		return;
	spread = bench_spread_of(&mean);
	printf("bench geomean-%s %s ratio=%.2f low=%.2f high=%.2f target=%g traces=%d\n",
	       groups[group], bench_modes[mode].name, spread.median, spread.low,
	       spread.high, bench_mode_target(mode, group == BENCH_GROUP_RETC), count);
}

/* Says what is not met, and of what. */
static enum bench_verdict judge(int mode, const char *of,
				const struct bench_ratios *ratios, double target)
{
	enum bench_verdict verdict = bench_verdict_of(ratios, target);
	struct bench_spread spread = bench_spread_of(ratios);

	if (verdict == BENCH_MISSED)
		printf("# %s of %s misses its target: %.2f (%.2f to %.2f) is less than %g\n",
		       bench_modes[mode].name, of, spread.median, spread.low,
		       spread.high, target);
	if (verdict == BENCH_NOISY && ratios->count >= BENCH_ROUNDS_LEAST)
		printf("# %s of %s is too noisy to judge: %.2f to %.2f of a target of %g, %d measurements disturbed by other programs\n",
		       bench_modes[mode].name, of, spread.low, spread.high,
		       target, ratios->disturbed);
	return verdict;
}

/* Of a figure of a trace. */
static enum bench_verdict judge_memory(const struct bench_row *row, double scale)
{
	if (!bench_modes[row->mode].memory ||
	    row->memory * scale <= row->peer_memory)
		return BENCH_MET;
	printf("# %s of %s takes more memory than what it is compared with: %.1f MiB, %.1f MiB\n",
	       bench_modes[row->mode].name, row->trace, row->memory,
	       row->peer_memory);
	return BENCH_MISSED;
}

static void worse(enum bench_verdict *all, enum bench_verdict verdict)
{
	if (verdict > *all)
		*all = verdict;
}

static enum bench_verdict judge_all(double scale)
{
	enum bench_verdict all = BENCH_MET;
	const struct bench_row *row;
	struct bench_ratios mean;
	char name[32];
	int mode, group;

	for (mode = 0; mode < BENCH_MODES; mode++) {
		for (group = 0; group < BENCH_GROUPS; group++) {
			if (!bench_report_mean(mode, group, &mean))
				continue;
			snprintf(name, sizeof(name), "the mean of %s",
				 groups[group]);
			worse(&all, judge(mode, name, &mean,
					  bench_mode_target(mode, group == BENCH_GROUP_RETC) *
						  scale));
		}
	}
	for (row = rows; row; row = row->next) {
		if (bench_report_group(row) == BENCH_GROUP_NONE)
			continue;
		worse(&all, judge(row->mode, row->trace, &row->ratios,
				  bench_mode_least(row->mode, row->trace) *
					  scale));
		worse(&all, judge_memory(row, scale));
	}
	return all;
}

enum bench_verdict bench_report_print(double scale)
{
	enum bench_verdict verdict;
	int mode, group;

	if (!rows) {
		fprintf(stderr, "bench: nothing was measured\n");
		return BENCH_MISSED;
	}
	bench_table_print();
	verdict = judge_all(scale);
	if (rows->ratios.count < BENCH_ROUNDS_LEAST && verdict != BENCH_MET)
		printf("# Fewer than %d rounds prove nothing.\n",
		       BENCH_ROUNDS_LEAST);
	for (mode = 0; mode < BENCH_MODES; mode++) {
		for (group = 0; group < BENCH_GROUPS; group++)
			mean_print(mode, group);
	}
	return verdict;
}
