/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a stream of records is: the last record of each kind that holds until
 * the next one of it, such as CPU, address space, thread, mode, time.
 */
#ifndef KIPT_RECORD_STATE_H
#define KIPT_RECORD_STATE_H

#include <stdbool.h>

#include "../../../kmod/shared/excerpt_end.h"

/* CPUs whose state is kept, of a stream in which they take turns; the kernel has at most
 * 8192.
 */
#define RECORD_CPUS_MAX	(1 << 16)

/* In the order in which they are given; a thread is named after its address space. */
enum record_state_kind {
	RECORD_STATE_CPU,
	RECORD_STATE_CONTEXT,
	RECORD_STATE_TASK,
	RECORD_STATE_MODE,
	RECORD_STATE_TIME,
	RECORD_STATE_CBR,
	RECORD_STATES,
};

/**
 * struct record_state - where a stream is; all 0 at its begin
 * @last: of each kind, in the order in which they are given; type 0: none
 */
struct record_state {
	struct kipt_record last[RECORD_STATES];
};

/**
 * record_state_see() - one record went by
 * @state: where the stream was
 * @record: the record
 */
void record_state_see(struct record_state *state,
		      const struct kipt_record *record);

/**
 * record_state_kind() - what a record says of where the stream is
 * @record: any
 *
 * Return: the kind; RECORD_STATES if it says something else.
 */
enum record_state_kind record_state_kind(const struct kipt_record *record);

/**
 * record_state_last() - the record of a kind that holds
 * @state: where the stream is
 * @kind: less than RECORD_STATES
 *
 * Return: the record, or NULL before the first.
 */
const struct kipt_record *record_state_last(const struct record_state *state,
					    enum record_state_kind kind);

/**
 * record_state_give() - say where the stream is
 * @state: where it is
 * @time: its time, too
 * @give: called with records; false ends it
 * @ctx: its first argument
 *
 * Return: what @give returned last; true if it was not called.
 */
bool record_state_give(const struct record_state *state, bool time,
		       bool (*give)(void *ctx,
				    const struct kipt_record *records,
				    u32 count),
		       void *ctx);

/**
 * record_drops_insns() - whether instructions that no record has counted are counted by none
 * @record: any
 *
 * uapi/linux/kipt_record.h has the rule.
 */
static inline bool record_drops_insns(const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_ENABLE || record->type == KIPT_RECORD_GAP ||
	       (record->type == KIPT_RECORD_SYNC && record->kind == KIPT_SYNC_START);
}

/**
 * insns_add() - the sum of two counts of instructions
 * @insns: as a record has it
 * @more: any number
 *
 * Return: the sum; the largest number: that many or more, as in records.
 */
static inline u32 insns_add(u32 insns, u64 more)
{
	return more < ~insns ? insns + more : ~0U;
}

/**
 * kind_crosses_vm() - whether one end of a branch is a guest's, and the other is not
 * @kind: enum kipt_branch_kind
 */
static inline bool kind_crosses_vm(u32 kind)
{
	return kind == KIPT_BRANCH_VMENTRY || kind == KIPT_BRANCH_VMEXIT;
}

/**
 * record_crosses_vm() - the same of a record
 * @record: any
 */
static inline bool record_crosses_vm(const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_BRANCH && kind_crosses_vm(record->kind);
}

/**
 * record_runs() - whether code runs, and is traced, after a record
 * @record: any
 * @running: set if @record says so
 *
 * Return: whether it does; a GAP says nothing.
 */
bool record_runs(const struct kipt_record *record, bool *running);

/**
 * record_gap_loses_time() - whether the trace of a CPU has a hole
 * @kind: enum kipt_gap_kind
 *
 * Return: false if something is not known, while execution goes on and is traced.
 */
bool record_gap_loses_time(u32 kind);

#endif /* KIPT_RECORD_STATE_H */
