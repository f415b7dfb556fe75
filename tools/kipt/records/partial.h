/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream of records from which some are left out. CPUs may take turns in it: the
 * records of a CPU come in parts, each after a CPU record.
 */
#ifndef KIPT_PARTIAL_H
#define KIPT_PARTIAL_H

#include <stddef.h>

#include "../cli/lookup.h"
#include "record_state.h"

/* The number of the CPU whose records come before the first CPU record. */
#define PARTIAL_CPU_NONE	(~0ULL)

/**
 * struct partial_cpu - where the records of a CPU are; the first member of what the
 *	user of the stream keeps of a CPU
 * @state: the last of each kind
 * @pending: bits of enum record_state_kind: the record that holds was left out
 * @begun: the CPU record of this part was given
 * @timed: a TIME of this CPU was given
 * @first: its first time, which times count from; 0: none yet
 * @first_given: a TIME with the first time was given
 * @next: another CPU
 */
struct partial_cpu {
	struct record_state state;
	u32 pending;
	bool begun;
	bool timed;
	u64 first;
	bool first_given;
	struct partial_cpu *next;
};

/**
 * struct partial - a stream; all 0 at its begin but the first three
 * @give: gets what is not left out, in order; false ends the stream
 * @ctx: its first argument
 * @cpu_size: bytes of what is kept of a CPU
 * @cpus: the CPUs that are known, by number
 * @list: all of them
 * @others: a CPU for which there is no room, each anew
 * @at: the CPU whose records come; NULL before the first record
 * @failed: there was no memory
 */
struct partial {
	bool (*give)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	size_t cpu_size;
	struct lookup cpus;
	struct partial_cpu *list, *others, *at;
	bool failed;
};

/**
 * partial_cpu_begin() - records of a CPU come from here on
 * @partial: the stream
 * @number: of the CPU, or PARTIAL_CPU_NONE
 * @known: whether records of it came before, and it goes on where they ended; NULL:
 *	nobody wants to know
 *
 * Return: it is @partial->at; NULL without memory (@partial->failed).
 */
struct partial_cpu *partial_cpu_begin(struct partial *partial, u64 number,
				      bool *known);

/**
 * partial_give() - pass a record on
 * @partial: the stream
 * @record: the record
 *
 * Before the first of a part comes its CPU record, and before the first of a CPU a
 * TIME record of kind KIPT_TIME_FIRST, unless @first_given says that it is there.
 *
 * Return: what @partial->give did last.
 */
bool partial_give(struct partial *partial, const struct kipt_record *record);

/**
 * partial_pending() - pass on the last record of a kind, if it was left out
 * @partial: the stream
 * @kind: the kind
 *
 * Return: as partial_give(); true if it was not left out.
 */
bool partial_pending(struct partial *partial, enum record_state_kind kind);

/**
 * partial_where() - the same of all kinds but CPU and time
 * @partial: the stream
 *
 * Return: as partial_pending().
 */
bool partial_where(struct partial *partial);

/**
 * partial_leave() - say that what executes from here on is left out
 * @partial: the stream
 *
 * By a DISABLE record of kind KIPT_DISABLE_OTHERS. Return: as partial_give().
 */
bool partial_leave(struct partial *partial);

/**
 * partial_resume() - say that what executes from here on is not left out
 * @partial: the stream
 * @ip: where execution is
 * @known: it is known
 *
 * By an ENABLE record of kind KIPT_ENABLE_CHOSEN. Return: as partial_give().
 */
bool partial_resume(struct partial *partial, u64 ip, bool known);

/**
 * partial_end() - forget all CPUs
 * @partial: the stream
 */
void partial_end(struct partial *partial);

#endif /* KIPT_PARTIAL_H */
