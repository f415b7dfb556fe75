/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fetches: the records of a stopped session. A fetch has one reader or
 * several, each a dump of its own socket: a reader takes the next chunk when it
 * has none and decodes it piece by piece, in the context of who reads. Put
 * together by the numbers of the chunks, the records are those of a serial
 * decode. Process context; nothing here waits for a reader.
 */
#ifndef KIPT_FETCH_H
#define KIPT_FETCH_H

#include <linux/types.h>

struct kipt_fetch_reader;
struct kipt_record;
struct kipt_session;
struct kipt_refusal;

#define KIPT_FETCH_ALL_CPUS	(~0U)

/**
 * struct kipt_fetch_request - what is asked for
 * @fetch: take part in this one; 0: begin one
 * @only_cpu: a CPU of the session, or KIPT_FETCH_ALL_CPUS; of a new one
 * @output: enum kipt_output; of a new one
 * @memory: bytes of working memory of each reader, 0: as the module's
 *	parameter says; of a new one
 */
struct kipt_fetch_request {
	u32 fetch;
	u32 only_cpu;
	u32 output;
	u64 memory;
};

/**
 * struct kipt_fetch_piece - what a reader gets at a time
 * @fetch: number of the fetch
 * @total: trace bytes it has to decode
 * @done: of these, decoded by all readers
 * @in_chunk: the members below are filled in; else it is about progress alone
 * @cpu: whose trace it is
 * @chunk: number of the chunk
 * @from: place of its first byte in the trace of its CPU
 * @to: and of the first after it
 * @lost: trace bytes of the CPU that were overwritten
 * @end: the chunk is complete with this piece
 * @records: valid until the next call
 * @count: of @records; may be 0
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
 * @session: the caller may read it, and has a reference
 * @request: what is asked for
 * @refusal: where a refusal is explained
 * @reader: for kipt_fetch_leave(), on success; has a pin of the session
 *
 * Quick: what is large is allocated by the first kipt_fetch_read().
 *
 * Return: 0 or an errno as under fetch in uapi/kipt.yaml.
 */
int kipt_fetch_join(struct kipt_session *session,
		    const struct kipt_fetch_request *request,
		    struct kipt_refusal *refusal,
		    struct kipt_fetch_reader **reader);

/**
 * kipt_fetch_leave() - take part no more
 * @reader: gone afterwards; a chunk it was at stays incomplete
 */
void kipt_fetch_leave(struct kipt_fetch_reader *reader);

/**
 * kipt_fetch_progress() - how far a fetch is
 * @reader: takes part in it
 * @piece: filled in, without a chunk
 */
void kipt_fetch_progress(const struct kipt_fetch_reader *reader,
			 struct kipt_fetch_piece *piece);

/**
 * kipt_fetch_read() - decode for a while
 * @reader: one call at a time
 * @most: records the piece may have, at least 1
 * @piece: filled in
 * @refusal: where a refusal is explained
 *
 * Context: process; takes some milliseconds at most.
 *
 * Return:
 * 1: there is a piece; it may be about progress alone.
 * 0: the reader has no more to do.
 * -ENOENT: the session was deleted.
 * -ENOMEM: no memory, or the limit of the module is reached.
 * -EINTR: the task is being killed.
 */
int kipt_fetch_read(struct kipt_fetch_reader *reader, u32 most,
		    struct kipt_fetch_piece *piece,
		    struct kipt_refusal *refusal);

#endif /* KIPT_FETCH_H */
