/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was measured: a table for people, a line for each figure for programs,
 * from which it can be read again, and the verdict. User space.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "mode.h"
#include "verdict.h"

/* Whose geometric mean a trace belongs to, by the end of its name. */
enum bench_group {
	BENCH_GROUP_RETC,	/* -retc: returns are compressed */
	BENCH_GROUP_NORETC,	/* -noretc: DisRETC */

	BENCH_GROUPS,
	BENCH_GROUP_NONE = BENCH_GROUPS	/* shown, and not judged */
};

/**
 * struct bench_row - a mode on a trace
 * @next: the next one
 * @trace: name of the trace
 * @bytes: of the trace
 * @mode: enum bench_mode_id
 * @ours: nanoseconds per branch, or packet; median of the rounds
 * @peer: the same of what it is compared with
 * @memory: MiB by which the peak of memory grew, most of the rounds
 * @peer_memory: likewise
 * @ratios: @peer through @ours by round
 */
struct bench_row {
	struct bench_row *next;
	char trace[256];
	unsigned long long bytes;
	int mode;
	double ours;
	double peer;
	double memory;
	double peer_memory;
	struct bench_ratios ratios;
};

/**
 * bench_report_add() - a figure; its line is printed
 * @row: copied
 */
void bench_report_add(const struct bench_row *row);

/**
 * bench_report_read() - the figures of lines that were printed before
 * @path: the file; lines about no trace are passed over
 *
 * Return: false after a sentence on stderr.
 */
bool bench_report_read(const char *path);

/**
 * bench_report_rows() - all figures
 *
 * Return: the first one, or NULL.
 */
const struct bench_row *bench_report_rows(void);

/**
 * bench_report_group() - where a figure belongs
 * @row: the figure
 *
 * Return: enum bench_group. Traces of less than a megabyte are not judged.
 */
enum bench_group bench_report_group(const struct bench_row *row);

/**
 * bench_report_mean() - geometric means of a mode, round by round
 * @mode: enum bench_mode_id
 * @group: enum bench_group
 * @mean: written; of the rounds that all traces of the group have
 *
 * Return: of how many traces.
 */
int bench_report_mean(int mode, int group, struct bench_ratios *mean);

/**
 * bench_report_print() - tables, verdict and means on stdout
 * @scale: what targets are multiplied with before they are judged
 *
 * Return: the worst verdict: of each mode, on each trace and in the mean of
 * each group.
 */
enum bench_verdict bench_report_print(double scale);

/**
 * bench_table_print() - the part for people; half of bench_report_print()
 */
void bench_table_print(void);

#endif /* BENCH_REPORT_H */
