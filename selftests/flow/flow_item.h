/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One thing a CPU did, in a form in which the ground truth and the decoded
 * records can be compared, and a cursor over a file of either. This only reads
 * the two formats; match.c decides what may differ. Runs in user space on the host.
 */
#ifndef KIPT_FLOW_ITEM_H
#define KIPT_FLOW_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kipt_record.h>

#include "../../tools/testcpu/truth.h"

/**
 * enum flow_kind - what an item is
 * @FLOW_END: no item is left
 * @FLOW_COND: taken conditional branch, and so on: @from to @to
 * @FLOW_EVENT: interrupt, exception, NMI, software interrupt
 * @FLOW_ENABLE: tracing begins at @to
 * @FLOW_DISABLE: tracing ended at @from; @aux: 1 if by a branch
 * @FLOW_PTWRITE: @from wrote @to, @aux bytes wide
 * @FLOW_IDLE: the CPU went to sleep at @from, @aux hints (FLOW_HLT: HLT)
 * @FLOW_WAKE: it woke for reason @aux
 * @FLOW_OVERFLOW: truth only: nothing was written up to @to
 * @FLOW_RESUME: records only: the decoder found its way again at @to
 * @FLOW_SYNC: records only: a PSB says that execution was at @to
 * @FLOW_GAP: records only: something is missing; @aux enum kipt_gap_kind
 * @FLOW_BAD: the entry is none the format knows
 */
enum flow_kind {
	FLOW_END = 0,
	FLOW_COND,
	FLOW_JUMP,
	FLOW_CALL,
	FLOW_JUMP_IND,
	FLOW_CALL_IND,
	FLOW_RET,
	FLOW_SYSCALL,
	FLOW_SYSRET,
	FLOW_IRET,
	FLOW_FAR,
	FLOW_EVENT,
	FLOW_ENABLE,
	FLOW_DISABLE,
	FLOW_PTWRITE,
	FLOW_IDLE,
	FLOW_WAKE,
	FLOW_OVERFLOW,
	FLOW_RESUME,
	FLOW_SYNC,
	FLOW_GAP,
	FLOW_BAD,

	FLOW_KIND_COUNT
};

/*
 * Aux of a FLOW_IDLE that was HLT: it has no hints. Of an MWAIT that an event
 * ended at once, bits 7:4 are those of its state, inverted.
 */
#define FLOW_HLT	0xffffffffU

/* struct flow_item.flags: the trace does not say this member. */
#define FLOW_NO_FROM	(1U << 0)
#define FLOW_NO_TO	(1U << 1)
#define FLOW_NO_AUX	(1U << 2)
/* Of branches: in which address space, nobody has said. */
#define FLOW_NO_SPACE	(1U << 3)

/**
 * struct flow_item - one item
 * @kind: enum flow_kind
 * @flags: FLOW_NO_*
 * @aux: depends on @kind
 * @from: address it came from
 * @to: address it went to, or a value
 * @space: of branches, CR3 without its low bits before it
 * @index: number of the entry in its file, from 0
 */
struct flow_item {
	uint8_t kind;
	uint8_t flags;
	uint32_t aux;
	uint64_t from;
	uint64_t to;
	uint64_t space;
	size_t index;
};

/**
 * struct flow_file - a file of entries in memory, private and writable
 * @path: name for messages
 * @map: whole file
 * @map_size: its bytes
 * @entries: first entry
 * @count: entries
 */
struct flow_file {
	const char *path;
	void *map;
	size_t map_size;
	void *entries;
	size_t count;
};

/**
 * struct flow_cursor - a place in a file; may be copied
 * @file: the file
 * @next: number of the entry to read next
 * @cpu: records only: CPU wanted, or -1
 * @skipping: records only: what is here is of another CPU
 * @ctl: truth only: IA32_RTIT_CTL at the last TRUTH_MARK_ON
 * @based_first: truth only: the records know the addresses from here ...
 * @based_last: ... to here as offsets from the first; 0: none
 * @space: CR3 without its low bits, by the last MOV CR3 or PIP
 * @knows_space: there was one, and nothing is missing since
 * @power: records only: hints and state of the sleep that is being entered
 */
struct flow_cursor {
	const struct flow_file *file;
	size_t next;
	int cpu;
	bool skipping;
	uint64_t ctl;
	uint64_t based_first;
	uint64_t based_last;
	uint64_t space;
	bool knows_space;
	struct {
		bool mwait;
		bool pwre;
		uint32_t hints;
		uint32_t state;
	} power;
};

/**
 * flow_open_truth() - map a truth file
 * @file: filled on success
 * @path: its name, kept
 *
 * Return: true, or false after a sentence on stderr.
 */
bool flow_open_truth(struct flow_file *file, const char *path);

/**
 * flow_select_run() - narrow a truth file to one run
 * @file: from flow_open_truth()
 * @run: which one, from 1: from the @run-th TRUTH_MARK_ON to the next
 *
 * Return: true, or false after a sentence on stderr.
 */
bool flow_select_run(struct flow_file *file, unsigned int run);

/**
 * flow_select_ctl() - narrow a truth file to runs that belong together
 * @file: from flow_open_truth()
 * @ctl: from the first TRUTH_MARK_ON whose IA32_RTIT_CTL has its PSBFreq and
 *	CycThresh to the next one after it that has others
 *
 * Return: true, or false after a sentence on stderr.
 */
bool flow_select_ctl(struct flow_file *file, uint64_t ctl);

/**
 * flow_open_records() - map a records file as kipt -o writes it
 * @file: filled on success
 * @path: its name, kept
 *
 * Return: true, or false after a sentence on stderr.
 */
bool flow_open_records(struct flow_file *file, const char *path);

/**
 * flow_close() - unmap a file
 * @file: was opened
 */
void flow_close(struct flow_file *file);

/**
 * flow_truth_next() - the next item of a truth file
 * @cursor: advances
 *
 * Marks, sums and CR3 entries are passed over, and PTWRITE and sleep entries
 * while IA32_RTIT_CTL did not ask for them.
 *
 * Return: the item; FLOW_END at the end.
 */
struct flow_item flow_truth_next(struct flow_cursor *cursor);

/**
 * flow_record_next() - the next item of a record file
 * @cursor: advances
 *
 * Records that say how things are rather than what happened are passed over.
 *
 * Return: the item; FLOW_END at the end.
 */
struct flow_item flow_record_next(struct flow_cursor *cursor);

/**
 * flow_kind_name() - a kind in a word
 * @kind: enum flow_kind
 *
 * Return: a constant string.
 */
const char *flow_kind_name(unsigned int kind);

/**
 * flow_is_branch() - is it a control transfer
 * @kind: enum flow_kind
 *
 * Return: true for FLOW_COND to FLOW_EVENT.
 */
static inline bool flow_is_branch(unsigned int kind)
{
	return kind >= FLOW_COND && kind <= FLOW_EVENT;
}

#endif /* KIPT_FLOW_ITEM_H */
