/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holds what the decoder said against what the CPU executed, item for item.
 * Decides what may differ and what may be missing; reads no format itself.
 * Runs in user space on the host.
 */
#ifndef KIPT_FLOW_MATCH_H
#define KIPT_FLOW_MATCH_H

#include "flow_item.h"

#define MATCH_SKIPS_MAX	4096
/* Items from which on a match is no chance. */
#define MATCH_PART_LEAST	1024
#define MATCH_GAP_KINDS	(KIPT_GAP_KIND_MAX + 1)

/* Missed transfers allowed, one in this many compared ones. */
#define MATCH_MISSED_RATIO	100000

/**
 * struct match_options - what may differ
 * @late_start: the oldest trace may be missing (ring)
 * @early_end: the newest may be missing (buffer full, CPU offline)
 * @no_code: code may be missing, and a lot of it
 * @all_gaps: gaps of every kind are allowed, whatever they hide, and after a
 *	difference the comparison goes on at the next PSB: the caller judges
 *	what was missed
 */
struct match_options {
	bool late_start;
	bool early_end;
	bool no_code;
	bool all_gaps;
};

/**
 * struct match_skip - truth entries without a record
 * @begin: first entry
 * @end: last entry + 1
 */
struct match_skip {
	size_t begin;
	size_t end;
};

/**
 * struct match_result - how the two compared
 * @equal: nothing differs but what may
 * @why: if not, a sentence; a constant string
 * @truth: the item at the first difference
 * @record: its counterpart
 * @compared: items that matched, by enum flow_kind
 * @branches: control transfers that matched
 * @spaces: those of them whose address space is known on both sides
 * @gaps: gaps, by enum kipt_gap_kind
 * @missed: control transfers of the truth inside gaps
 * @hidden: those of @missed in gaps that neither a full ring nor an overflow of
 *          the CPU explains
 * @tail: control transfers of the truth after the last record
 * @skips: where @missed and @tail are, in order
 * @skip_count: how many; at most MATCH_SKIPS_MAX are kept
 */
struct match_result {
	bool equal;
	const char *why;
	struct flow_item truth;
	struct flow_item record;
	uint64_t compared[FLOW_KIND_COUNT];
	uint64_t branches;
	uint64_t spaces;
	uint64_t gaps[MATCH_GAP_KINDS];
	uint64_t missed;
	uint64_t hidden;
	uint64_t tail;
	struct match_skip skips[MATCH_SKIPS_MAX];
	size_t skip_count;
};

/**
 * match_run() - compare
 * @result: filled
 * @truth: where the truth starts
 * @records: where the records start
 * @options: what may differ
 *
 * The truth must have the records between two gaps in the same order and with
 * nothing in between; a gap may hide only what its kind explains.
 */
void match_run(struct match_result *result, struct flow_cursor truth,
	       struct flow_cursor records, const struct match_options *options);

/**
 * match_skipped() - was a truth entry hidden by a gap
 * @result: of match_run()
 * @index: number of the truth entry
 *
 * Return: true if so, or if too many skips were found to know.
 */
bool match_skipped(const struct match_result *result, size_t index);

/**
 * match_gap_name() - a gap in words
 * @kind: enum kipt_gap_kind
 *
 * Return: a constant string.
 */
const char *match_gap_name(unsigned int kind);

#endif /* KIPT_FLOW_MATCH_H */
