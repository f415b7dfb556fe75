/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a walk did, as the records a right decoder makes of its trace. What
 * was executed since the last packet waits: the trace does not prove it yet,
 * and never will if packets are lost or the trace ends. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_TRUTH_H
#define KIPT_SELFTESTS_RANDOM_TRUTH_H

#include "../../kmod/decode/port.h"

#define TRUTH_RECORDS	32768

/**
 * struct truth - the records of a walk so far
 * @count: records in @records, the waiting ones included
 * @proven: those that the packets prove
 * @at: address execution has provably reached; valid if @on
 * @on: packets were on there
 * @insns: INSN records among the proven ones
 * @cr3_waits: a CONTEXT record waits
 * @cr3_mark: @count after the first CONTEXT record that waits
 * @records: INSN records included; counts in aux are not filled in
 */
struct truth {
	u32 count;
	u32 proven;
	u64 at;
	bool on;
	bool cr3_waits;
	u32 cr3_mark;
	struct kipt_record records[TRUTH_RECORDS];
};

/**
 * struct record_list - records one after the other
 * @count: how many
 * @room: how many fit
 * @records: the records
 */
struct record_list {
	u32 count;
	u32 room;
	struct kipt_record *records;
};

/**
 * truth_init() - nothing happened
 * @truth: the truth
 */
void truth_init(struct truth *truth);

/**
 * truth_add() - something happened; it waits for a packet
 * @truth: the truth
 * @record: copied
 */
void truth_add(struct truth *truth, const struct kipt_record *record);

/**
 * truth_prove() - a packet proves all that waits
 * @truth: the truth
 * @on: packets are on after it
 * @at: where execution is now
 */
void truth_prove(struct truth *truth, bool on, u64 at);

/**
 * truth_prove_cr3() - a second PIP proves that the MOV CR3 of the first ran
 * @truth: the truth
 */
void truth_prove_cr3(struct truth *truth);

/**
 * truth_side() - a packet said something that has no place in the code
 * @truth: the truth
 * @record: copied before all that waits
 */
void truth_side(struct truth *truth, const struct kipt_record *record);

/**
 * truth_lose() - what waits will never be proven
 * @truth: the truth
 */
void truth_lose(struct truth *truth);

/**
 * truth_waits() - did an instruction at an address run since the last packet
 * @truth: the truth
 * @ip: address
 *
 * A FUP or PSB+ that names such an address would mean the first time.
 *
 * Return: true if so.
 */
bool truth_waits(const struct truth *truth, u64 ip);

/**
 * truth_expect() - the records a decoder makes for some outputs
 * @truth: the truth
 * @list: filled; has room for all
 * @output: KIPT_FLOW_BRANCHES, KIPT_FLOW_CALLS, KIPT_FLOW_INSNS
 */
void truth_expect(const struct truth *truth, struct record_list *list,
		  u32 output);

#endif /* KIPT_SELFTESTS_RANDOM_TRUTH_H */
