/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up what --counts --json and --totals --json showed of several traces. Sums are of
 * whole numbers, and the order of rows is one of their contents: files may come in any
 * order, and sums may be added to others again.
 */
#ifndef KIPT_MERGE_H
#define KIPT_MERGE_H

#include <stdbool.h>
#include <stdio.h>

#include "../../../uapi/linux/kipt_record.h"
#include "../cli/lookup.h"

/* What is added up of a row: those of totals, and of counts. */
enum merge_sum {
	MERGE_BRANCHES = 0,
	MERGE_CALLS,
	MERGE_SELF,
	MERGE_TOTAL,
	MERGE_INSNS,
	MERGE_CYCLES,
	MERGE_COUNT,
	MERGE_SUMS,
};

/* What is added up of the summaries. */
enum merge_whole {
	MERGE_RECORDS = 0,
	MERGE_ALL_BRANCHES,
	MERGE_ALL_INSNS,
	MERGE_EXECUTED,
	MERGE_CALLS_CUT,
	MERGE_TRACE_BYTES,
	MERGE_MICROSECONDS,
	MERGE_WHOLES,
};

/**
 * enum merge_kind - what rows are of
 * @MERGE_NOTHING: there are none
 * @MERGE_OF_COUNTS: --counts
 * @MERGE_OF_TOTALS: --totals
 */
enum merge_kind {
	MERGE_NOTHING = 0,
	MERGE_OF_COUNTS,
	MERGE_OF_TOTALS,
};

/**
 * struct merge_longest - the longest call of a function
 * @ticks: how long; 0: there is none
 * @tsc, @cpu, @tid: when and where, the last two if @has_cpu, @has_tid
 * @gap: there is a gap in it
 */
struct merge_longest {
	u64 ticks, tsc, cpu, tid;
	bool has_cpu, has_tid, gap;
};

/**
 * struct merge_row - a function, or a branch
 * @key: what makes it another one than others, as JSON; owned
 * @at: address to sort by; of a branch: from where
 * @to: of a branch: where to
 * @kind: of a branch: to sort by
 * @sums: numbers, those of its kind
 * @timed: it has times
 * @counted: it has cycles
 * @longest: of a function
 * @next: index + 1 of another one with the same hash
 */
struct merge_row {
	char *key;
	u64 at, to;
	u32 kind;
	u64 sums[MERGE_SUMS];
	bool timed, counted;
	struct merge_longest longest;
	size_t next;
};

/**
 * struct merge - sums; empty if all zero
 * @kind: of all rows
 * @rows: rows
 * @count: how many
 * @unit_known: a row said what times are in: @tsc_khz, 0: in ticks
 * @timed: some row has times
 * @counted: some row has cycles
 * @wholes: sums of the summaries
 * @gaps: those by kind
 * @seed: of the hashes
 * @row_of: their indices + 1 by hash
 */
struct merge {
	enum merge_kind kind;
	struct merge_row *rows;
	size_t count;
	bool unit_known;
	u64 tsc_khz;
	bool timed, counted;
	u64 wholes[MERGE_WHOLES];
	u64 gaps[KIPT_GAP_KIND_MAX + 1];
	u64 seed;
	struct lookup row_of;
};

/**
 * merge_file() - add a file
 * @merge: grows; of no use after a failure
 * @path: its name, "-": standard input
 *
 * Return: true, or false after a sentence that names the file: it cannot be read, it is
 * damaged or not whole, or it cannot be added to those before.
 */
bool merge_file(struct merge *merge, const char *path);

/**
 * merge_print() - show the sums, most first
 * @merge: all files were added; rows are sorted here
 * @json: as JSON Lines, as they were
 * @top: so many rows; 0: all
 * @out: where to
 */
void merge_print(struct merge *merge, bool json, u32 top, FILE *out);

/**
 * merge_free() - free it
 * @merge: empty afterwards
 */
void merge_free(struct merge *merge);

#endif /* KIPT_MERGE_H */
