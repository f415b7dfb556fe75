// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables for people, see report.h. User space.
 */
#include <stdio.h>
#include <string.h>

#include "report.h"

/* Columns are wide enough for two numbers. */
#define COLUMN	15

static const struct bench_row *find(const char *trace, int mode)
{
	const struct bench_row *row;

	for (row = bench_report_rows(); row; row = row->next) {
		if (row->mode == mode && (!trace || !strcmp(row->trace, trace)))
			return row;
	}
	return NULL;
}

/* A line of cells, one for each mode that was measured. */
static void line_print(const char *head, const char *trace,
		       void (*cell_print)(int mode, const struct bench_row *row))
{
	const struct bench_row *row;
	int mode;

	printf("# %-24s", head);
	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (!find(NULL, mode))
			continue;
		row = trace ? find(trace, mode) : NULL;
		if (trace && !row)
			printf(" %*s", COLUMN, "-");
		else
			cell_print(mode, row);
	}
	printf("\n");
}

static void name_cell(int mode, const struct bench_row *row)
{
	(void)row;
	printf(" %*s", COLUMN, bench_modes[mode].name);
}

static void ratio_cell(int mode, const struct bench_row *row)
{
	(void)mode;
	printf(" %*.2f", COLUMN, bench_spread_of(&row->ratios).median);
}

static void memory_cell(int mode, const struct bench_row *row)
{
	char text[64];

	(void)mode;
	snprintf(text, sizeof(text), "%.1f/%.1f", row->memory,
		 row->peer_memory);
	printf(" %*s", COLUMN, text);
}

static void mean_cell(int mode, int group)
{
	struct bench_ratios mean;

	if (bench_report_mean(mode, group, &mean))
		printf(" %*.2f", COLUMN, bench_spread_of(&mean).median);
	else
		printf(" %*s", COLUMN, "-");
}

static void retc_cell(int mode, const struct bench_row *row)
{
	(void)row;
	mean_cell(mode, BENCH_GROUP_RETC);
}

static void noretc_cell(int mode, const struct bench_row *row)
{
	(void)row;
	mean_cell(mode, BENCH_GROUP_NORETC);
}

static void lines_print(void (*cell_print)(int mode, const struct bench_row *row))
{
	const char *trace = "";
	const struct bench_row *row;

	line_print("trace", NULL, name_cell);
	for (row = bench_report_rows(); row; row = row->next) {
		if (!strcmp(row->trace, trace))
			continue;
		trace = row->trace;
		line_print(trace, trace, cell_print);
	}
}

void bench_table_print(void)
{
	printf("#\n# How many times as fast as what it is compared with, median of the rounds:\n"
	       "# libipt in its own first pass; again: in its second; threads2: one thread of\n"
	       "# ours; -kernel: the same with the tool's flags and memory; -1617e1e: the core of\n"
	       "# that commit. Traces of less than 1 MiB are in no mean.\n#\n");
	lines_print(ratio_cell);
	line_print("geometric mean, RETC", NULL, retc_cell);
	line_print("geometric mean, DisRETC", NULL, noretc_cell);
	printf("#\n# MiB by which the peak of memory grew, ours/peer. Of libipt the pages of code\n"
	       "# that it mapped are in it.\n#\n");
	lines_print(memory_cell);
	printf("#\n");
}
