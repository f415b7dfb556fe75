/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ordered end of a fetch: takes the records of chunks in the order of
 * the trace, adds what is said per CPU, and sends messages against credit.
 * One delivery runs at a time; credit and cancelling come from anywhere in
 * process context.
 */
#ifndef KIPT_DELIVER_H
#define KIPT_DELIVER_H

#include <linux/types.h>

#include "task_merge.h"
#include "../uapi/linux/kipt_record.h"

struct kipt_chunk;
struct kipt_chunk_queue;
struct kipt_sideband;
struct kipt_trace;

/**
 * struct kipt_deliver - state of a delivery
 * @queue: where records come from; its lock guards @credit
 * @sideband: what the scheduler said
 * @id: session
 * @portid: receiver
 * @output: enum kipt_output the receiver asked for
 * @credit: messages it is ready to take
 * @receiver_gone: it closed its socket
 * @stop_errno: 0, or why the delivery ends early; positive
 * @merge: TASK records of the CPU under way
 * @cpu: CPU of the records in @out
 * @out: the message being filled, KIPT_BATCH_RECORDS
 * @count: records in @out
 * @seq: number of the next message
 * @total: records handed to the message layer
 * @lost: records dropped so far
 * @lost_before: of these, told in a GAP record
 * @trace_done: trace bytes delivered
 * @ring_begins: of a ring that was written round, no PSB was reached yet
 */
struct kipt_deliver {
	struct kipt_chunk_queue *queue;
	struct kipt_sideband *sideband;
	u32 id;
	u32 portid;
	u32 output;
	u64 credit;
	bool receiver_gone;
	int stop_errno;
	struct kipt_task_merge merge;
	u32 cpu;
	struct kipt_record *out;
	u32 count;
	u64 seq;
	u64 total;
	u64 lost;
	u64 lost_before;
	u64 trace_done;
	bool ring_begins;
};

/**
 * kipt_deliver_begin_cpu() - the chunks that follow are of another CPU
 * @deliver: the delivery
 * @trace: the CPU's trace
 */
void kipt_deliver_begin_cpu(struct kipt_deliver *deliver,
			    struct kipt_trace *trace);

/**
 * kipt_deliver_chunk() - deliver the chunk at the head
 * @deliver: the delivery
 * @chunk: from kipt_chunk_head()
 * @trace: its CPU's trace, whose count of records it adds to
 */
void kipt_deliver_chunk(struct kipt_deliver *deliver, struct kipt_chunk *chunk,
			struct kipt_trace *trace);

/**
 * kipt_deliver_end_cpu() - all chunks of a CPU were delivered
 * @deliver: the delivery
 * @trace: the CPU's trace
 */
void kipt_deliver_end_cpu(struct kipt_deliver *deliver,
			  struct kipt_trace *trace);

/**
 * kipt_deliver_last() - send the last message
 * @deliver: the delivery
 *
 * Needs no credit; not sent if the receiver is gone.
 */
void kipt_deliver_last(struct kipt_deliver *deliver);

/**
 * kipt_deliver_credit() - allow more messages
 * @deliver: the delivery
 * @messages: how many
 */
void kipt_deliver_credit(struct kipt_deliver *deliver, u32 messages);

/**
 * kipt_deliver_cancel() - end early
 * @deliver: the delivery
 * @err: errno for the last message, positive; the first one counts
 * @receiver_gone: send nothing more
 */
void kipt_deliver_cancel(struct kipt_deliver *deliver, int err,
			 bool receiver_gone);

#endif /* KIPT_DELIVER_H */
