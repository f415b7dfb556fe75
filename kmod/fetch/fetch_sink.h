/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the records of a fetch go: a queue, from which messages are filled.
 */
#ifndef KIPT_FETCH_SINK_H
#define KIPT_FETCH_SINK_H

#include "fetch_reader.h"

/**
 * kipt_fetch_put() - put records into the queue
 * @reader: whose; an error stays in its @err
 * @records: copied
 * @count: of them
 *
 * Context: process, may sleep.
 */
void kipt_fetch_put(struct kipt_fetch_reader *reader, const struct kipt_record *records,
		    u32 count);

/**
 * kipt_fetch_put_gap() - put a gap into the queue
 * @reader: whose
 * @kind: enum kipt_gap_kind
 * @value: as the kind says
 *
 * Context: process, may sleep.
 */
void kipt_fetch_put_gap(struct kipt_fetch_reader *reader, u8 kind, u64 value);

/**
 * kipt_fetch_wants_time() - does whoever reads want TIME records
 * @reader: the reader
 *
 * Time is made to place tasks also where it is not wanted.
 *
 * Context: any. Return: true if so.
 */
bool kipt_fetch_wants_time(const struct kipt_fetch_reader *reader);

/**
 * kipt_fetch_is_enough() - may the next records of the flow be too many for the message
 * @reader: the reader
 *
 * Context: process. Return: true if so, and there are some.
 */
bool kipt_fetch_is_enough(const struct kipt_fetch_reader *reader);

/**
 * kipt_fetch_emit() - take records from the flow
 * @ctx: struct kipt_fetch_reader, whose flow is paused when there is enough
 * @records: copied
 * @n: of them
 *
 * Context: process, may sleep; the sink of the flow.
 *
 * Return: false after an error, which is in @err of the reader.
 */
bool kipt_fetch_emit(void *ctx, const struct kipt_record *records, u32 n);

#endif /* KIPT_FETCH_SINK_H */
