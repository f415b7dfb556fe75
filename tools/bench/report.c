// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures and verdict, see report.h. User space.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/**
 * struct mode - how a mode is judged
 * @name: in the lines
 * @target: ratio that is wanted
 * @informs: nothing fails if it is missed
 */
struct mode {
	const char *name;
	double target;
	bool informs;
};

static const struct mode modes[BENCH_MODES] = {
	[BENCH_COUNTS] = { "counts", 50, false },
	[BENCH_PACKED] = { "packed", 20, false },
	[BENCH_CALLS] = { "calls", 20, false },
	[BENCH_JOBS2] = { "jobs2", 1.9, false },
	[BENCH_PACKETS] = { "packets", 6, false },
	[BENCH_COLD] = { "cold", 3, false },
	[BENCH_BRANCHES] = { "branches", 0, true },
	[BENCH_COUNTS_KERNEL] = { "counts-kernel-flags", 0.8, false },
	[BENCH_PACKED_KERNEL] = { "packed-kernel-flags", 0.8, false },
	[BENCH_CALLS_KERNEL] = { "calls-kernel-flags", 0.8, false },
	[BENCH_PACKETS_KERNEL] = { "packets-kernel-flags", 0.8, false },
};

struct row {
	struct row *next;
	const char *trace;
	int mode;
	double ours;
	double peer;
};

static struct row *rows, **last = &rows;

const char *bench_mode_name(int mode)
{
	return modes[mode].name;
}

void bench_report_add(const char *trace, int mode, double ours, double peer)
{
	struct row *row = calloc(1, sizeof(*row));

	if (!row) {
		fprintf(stderr, "bench: no memory for a figure\n");
		exit(2);
	}
	row->trace = trace;
	row->mode = mode;
	row->ours = ours;
	row->peer = peer;
	*last = row;
	last = &row->next;
}

static const struct row *find(const char *trace, int mode)
{
	const struct row *row;

	for (row = rows; row; row = row->next) {
		if (row->mode == mode && !strcmp(row->trace, trace))
			return row;
	}
	return NULL;
}

/* Geometric mean of a mode's ratios; 0 if there is none. */
static double mean(int mode)
{
	const struct row *row;
	double sum = 0;
	int count = 0;

	for (row = rows; row; row = row->next) {
		if (row->mode == mode) {
			sum += log(row->peer / row->ours);
			count++;
		}
	}
	return count ? exp(sum / count) : 0;
}

/* The table has a column for each mode that was measured. */
static int width(int mode)
{
	int length = (int)strlen(modes[mode].name);

	return length < 8 ? 8 : length;
}

static void table_line(const char *head, const char *trace)
{
	const struct row *cell;
	int mode;

	printf("# %-24s", head);
	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (!mean(mode))
			continue;
		cell = trace ? find(trace, mode) : NULL;
		if (trace && !cell)
			printf(" %*s", width(mode), "-");
		else
			printf(" %*.2f", width(mode),
			       cell ? cell->peer / cell->ours : mean(mode));
	}
	printf("\n");
}

static void table_head(void)
{
	int mode;

	printf("#\n# How many times as fast as what it is compared with: libipt, warm, one core;\n"
	       "# jobs2: one thread of ours; kernel-flags: the same with the tool's flags.\n"
	       "# ns are per branch, of packets per packet.\n#\n");
	printf("# %-24s", "trace");
	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (mean(mode))
			printf(" %*s", width(mode), modes[mode].name);
	}
	printf("\n");
}

static void table_print(void)
{
	const char *trace = "";
	const struct row *row;

	table_head();
	for (row = rows; row; row = row->next) {
		if (!strcmp(row->trace, trace))
			continue;
		trace = row->trace;
		table_line(trace, trace);
	}
	table_line("geometric mean", NULL);
	printf("#\n");
}

static bool judge(int mode, double scale)
{
	const struct mode *about = &modes[mode];
	double target = about->target * scale;
	bool good = mean(mode) >= target;
	const struct row *row;

	if (!good)
		printf("# %s misses its target of %g\n", about->name, target);
	for (row = rows; row; row = row->next) {
		if (row->mode != mode ||
		    row->peer / row->ours >= target / 2)
			continue;
		printf("# %s of %s is under half of its target\n",
		       about->name, row->trace);
		good = false;
	}
	return good;
}

bool bench_report_print(double scale)
{
	const struct row *row;
	bool good = true;
	int mode;

	if (!rows) {
		fprintf(stderr, "bench: nothing was measured\n");
		return false;
	}
	table_print();
	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (mean(mode) && !modes[mode].informs)
			good = judge(mode, scale) && good;
	}
	for (row = rows; row; row = row->next)
		printf("bench %s %s ours=%.3f peer=%.3f ratio=%.2f target=%g\n",
		       row->trace, modes[row->mode].name, row->ours, row->peer,
		       row->peer / row->ours, modes[row->mode].target);
	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (mean(mode))
			printf("bench geomean %s ratio=%.2f target=%g\n",
			       modes[mode].name, mean(mode),
			       modes[mode].target);
	}
	return good;
}
