/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fetches: decoding of a stopped session, by its readers. Process context.
 */
#ifndef KIPT_FETCH_H
#define KIPT_FETCH_H

#include <linux/types.h>

struct kipt_fetch_reader;
struct kipt_record;
struct kipt_session;
struct netlink_ext_ack;

#define KIPT_FETCH_ALL_CPUS	(~0U)

/**
 * struct kipt_fetch_request - what a reader asks for
 * @fetch: number of the fetch to take part in; 0: begin one
 * @only_cpu: a CPU of the session, or KIPT_FETCH_ALL_CPUS
 * @output: enum kipt_output
 */
struct kipt_fetch_request {
	u32 fetch;
	u32 only_cpu;
	u32 output;
};

/**
 * struct kipt_fetch_piece - some records, or how far it is
 * @fetch: number of the fetch
 * @total: trace bytes to decode
 * @done: decoded so far by all readers
 * @in_chunk: what follows is set
 * @cpu: whose trace it is
 * @chunk: number of the chunk
 * @from: its first byte
 * @to: the byte behind it
 * @lost: trace bytes that were overwritten
 * @end: the chunk is complete
 * @records: @count of them
 * @count: may be 0
 */
struct kipt_fetch_piece {
	u32 fetch;
	u64 total;
	u64 done;
	bool in_chunk;
	u32 cpu;
	u64 chunk;
	u64 from;
	u64 to;
	u64 lost;
	bool end;
	const struct kipt_record *records;
	u32 count;
};

/**
 * kipt_fetch_join() - begin a fetch, or take part in one
 * @session: referenced
 * @request: what is asked for
 * @extack: where a refusal is explained
 * @reader: for the caller, until kipt_fetch_leave()
 *
 * Return: 0 or an errno.
 */
int kipt_fetch_join(struct kipt_session *session,
		    const struct kipt_fetch_request *request,
		    struct netlink_ext_ack *extack,
		    struct kipt_fetch_reader **reader);

/**
 * kipt_fetch_progress() - how far it is
 * @reader: from kipt_fetch_join()
 * @piece: filled in, without a chunk
 */
void kipt_fetch_progress(struct kipt_fetch_reader *reader,
			 struct kipt_fetch_piece *piece);

/**
 * kipt_fetch_read() - decode some milliseconds
 * @reader: from kipt_fetch_join()
 * @max_records: at most so many
 * @piece: filled in
 * @extack: where a refusal is explained
 *
 * Return: 1, 0 at the end, or an errno.
 */
int kipt_fetch_read(struct kipt_fetch_reader *reader, u32 max_records,
		    struct kipt_fetch_piece *piece,
		    struct netlink_ext_ack *extack);

/**
 * kipt_fetch_leave() - take part no longer
 * @reader: from kipt_fetch_join()
 */
void kipt_fetch_leave(struct kipt_fetch_reader *reader);

#endif /* KIPT_FETCH_H */
