/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts over a stream of records, and the summary that ends each output.
 */
#ifndef KIPT_SUMMARY_H
#define KIPT_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "../../../kmod/decode/port.h"

/* Start and prime of the hash over addresses (FNV-1a's). */
#define TALLY_HASH_START	1469598103934665603ULL
#define TALLY_HASH_PRIME	1099511628211ULL

/**
 * struct tally - counts
 * @records: all but EDGE records, of which as many come as it happens
 * @types: by enum kipt_record_type, 0: unknown ones
 * @gaps: by enum kipt_gap_kind, 0: unknown ones
 * @executed: instructions executed, as far as the records say
 * @counted: branches that EDGE records count
 * @hash_kinds: 0: INSN records are hashed, else BRANCH records of these kinds,
 *	a bit for each enum kipt_branch_kind
 * @sums_up: flows of this run make RECORD_SUMS, which are counted
 * @hashed: how many records were
 * @hash: over the addresses of the instructions, or over from and to of the
 *	branches: h = (h ^ address) * prime for each address
 * @trace_bytes: trace that was decoded, filled by who knows
 * @trace_left: trace that was not, since it has none of what is shown
 * @seconds: time it took, filled by who knows
 * @calls_cut: calls that begin in what is shown and end in a later part
 * @rows_left: rows of counts or totals that were not shown
 * @unfinished: something failed or was interrupted, and the counts are not of the whole
 */
struct tally {
	u64 records;
	u64 types[KIPT_RECORD_TYPE_MAX + 1];
	u64 gaps[KIPT_GAP_KIND_MAX + 1];
	u64 executed;
	u64 counted;
	u32 hash_kinds;
	bool sums_up;
	u64 hashed;
	u64 hash;
	u64 trace_bytes;
	u64 trace_left;
	double seconds;
	u64 calls_cut;
	u64 rows_left;
	bool unfinished;
};

/**
 * tally_init() - all zero
 * @tally: the counts
 */
void tally_init(struct tally *tally);

/**
 * tally_record() - count one record
 * @tally: the counts
 * @record: what
 */
void tally_record(struct tally *tally, const struct kipt_record *record);

/**
 * tally_records() - count records
 * @tally: the counts
 * @records: what
 * @count: how many
 */
void tally_records(struct tally *tally, const struct kipt_record *records,
		   u32 count);

/**
 * tally_branches() - all branches
 * @tally: the counts
 *
 * Return: their number, those that EDGE records count included.
 */
u64 tally_branches(const struct tally *tally);

/**
 * tally_gaps() - all gaps
 * @tally: the counts
 *
 * Return: their number.
 */
u64 tally_gaps(const struct tally *tally);

/**
 * tally_show() - the summary in one or two lines
 * @tally: the counts
 * @out: where to
 */
void tally_show(const struct tally *tally, FILE *out);

/**
 * tally_show_json() - the summary as one JSON line
 * @tally: the counts
 * @out: where to
 */
void tally_show_json(const struct tally *tally, FILE *out);

#endif /* KIPT_SUMMARY_H */
