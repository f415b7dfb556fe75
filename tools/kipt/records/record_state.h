/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a stream of records is: the last record of each kind that holds until
 * the next one of it, such as CPU, address space, thread, mode, time.
 */
#ifndef KIPT_RECORD_STATE_H
#define KIPT_RECORD_STATE_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

#define RECORD_STATES	6

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
 * record_state_time() - the time that holds
 * @state: where the stream is
 *
 * Return: its TIME record, or NULL before the first.
 */
const struct kipt_record *record_state_time(const struct record_state *state);

/**
 * record_state_cpu() - the CPU that holds
 * @state: where the stream is
 *
 * Return: its CPU record, or NULL before the first.
 */
const struct kipt_record *record_state_cpu(const struct record_state *state);

/**
 * record_state_task() - the task that holds
 * @state: where the stream is
 *
 * Return: its TASK record, or NULL before the first.
 */
const struct kipt_record *record_state_task(const struct record_state *state);

/**
 * record_state_has() - does a record say where the stream is, and no more
 * @record: any
 *
 * Return: true if so.
 */
bool record_state_has(const struct kipt_record *record);

/**
 * record_state_give() - tell where the stream is
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

#endif /* KIPT_RECORD_STATE_H */
