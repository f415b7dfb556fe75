// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivers records in order. Runs in one work item of a fetch; leaves the
 * format of messages to netlink.c and the cutting into chunks to
 * decode_worker.c. Process context, may wait for the receiver for long.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>

#include "chunk.h"
#include "decode/status.h"
#include "deliver.h"
#include "netlink.h"
#include "hw_regs.h"
#include "trace.h"
#include "../uapi/linux/kipt.h"

/*
 * With credit the receiver promised room. If there is none all the same, it
 * gets this long to make some before records are dropped and counted.
 */
#define RECEIVER_PATIENCE	(10 * HZ)
#define RETRY_MS		5

static bool cancelled(const struct kipt_deliver *deliver)
{
	return READ_ONCE(deliver->queue->cancelled);
}

void kipt_deliver_credit(struct kipt_deliver *deliver, u32 messages)
{
	spin_lock(&deliver->queue->lock);
	deliver->credit += messages;
	spin_unlock(&deliver->queue->lock);
	wake_up_all(&deliver->queue->wait);
}

void kipt_deliver_cancel(struct kipt_deliver *deliver, int err,
			 bool receiver_gone)
{
	if (receiver_gone)
		WRITE_ONCE(deliver->receiver_gone, true);
	cmpxchg(&deliver->stop_errno, 0, err);
	kipt_chunk_queue_cancel(deliver->queue);
}

static bool take_credit(struct kipt_deliver *deliver)
{
	bool taken;

	spin_lock(&deliver->queue->lock);
	taken = deliver->credit > 0;
	if (taken)
		deliver->credit--;
	spin_unlock(&deliver->queue->lock);
	return taken;
}

/* Return: 0; -EAGAIN if the receiver has no room for too long; or fatal. */
static int send_patiently(struct kipt_deliver *deliver,
			  const struct kipt_records_message *message)
{
	unsigned long limit = jiffies + RECEIVER_PATIENCE;
	int err;

	for (;;) {
		err = kipt_netlink_records(message);
		if (err != -EAGAIN || READ_ONCE(deliver->receiver_gone) ||
		    time_after(jiffies, limit))
			return err;
		msleep(RETRY_MS);
	}
}

static void send_out(struct kipt_deliver *deliver)
{
	struct kipt_records_message message = {
		.portid = deliver->portid,
		.id = deliver->id,
		.cpu = deliver->cpu,
		.seq = deliver->seq,
		.lost = deliver->lost,
		.trace_done = deliver->trace_done,
		.records = deliver->out,
		.count = deliver->count,
	};
	int err = send_patiently(deliver, &message);

	if (!err)
		deliver->seq++;
	else if (err == -EAGAIN)
		deliver->lost += deliver->count;
	else
		kipt_deliver_cancel(deliver, -err, err == -ECONNREFUSED);
}

static void flush(struct kipt_deliver *deliver)
{
	bool paid = false;

	if (!deliver->count)
		return;
	wait_event_idle(deliver->queue->wait, cancelled(deliver) ||
			(paid = take_credit(deliver)));
	if (paid)
		send_out(deliver);
	deliver->count = 0;
}

static void put_record(struct kipt_deliver *deliver,
		       const struct kipt_record *record)
{
	deliver->out[deliver->count++] = *record;
	deliver->total++;
	if (deliver->count == KIPT_BATCH_RECORDS)
		flush(deliver);
}

static void put_gap(struct kipt_deliver *deliver, u8 kind, u64 value)
{
	struct kipt_record gap = {
		.type = KIPT_RECORD_GAP,
		.kind = kind,
		.flags = KIPT_RF_NO_IP,
		.value = value,
	};

	put_record(deliver, &gap);
}

/* A loss is told where it happened: before what is delivered next. */
static void tell_loss(struct kipt_deliver *deliver)
{
	u64 count = deliver->lost - deliver->lost_before;

	if (!count)
		return;
	deliver->lost_before = deliver->lost;
	put_gap(deliver, KIPT_GAP_RECEIVER, count);
}

static bool wanted(const struct kipt_deliver *deliver,
		   const struct kipt_record *record)
{
	return deliver->output & KIPT_OUTPUT_TIME ||
	       (record->type != KIPT_RECORD_TIME &&
		record->type != KIPT_RECORD_CBR);
}

/*
 * A ring that was written round starts inside a packet, so its first bytes are
 * never decoded; the RING gap before them says it already.
 */
static bool repeats_ring_gap(struct kipt_deliver *deliver,
			     const struct kipt_record *record)
{
	bool repeats = deliver->ring_begins && record->type == KIPT_RECORD_GAP &&
		       record->kind == KIPT_GAP_DECODE &&
		       record->aux == KIPT_NO_PSB;

	if (repeats || record->type == KIPT_RECORD_SYNC)
		deliver->ring_begins = false;
	return repeats;
}

static void put_batch(struct kipt_deliver *deliver,
		      const struct kipt_batch *batch)
{
	struct kipt_record task;
	u32 i;

	for (i = 0; i < batch->count && !cancelled(deliver); i++) {
		tell_loss(deliver);
		if (repeats_ring_gap(deliver, &batch->records[i]))
			continue;
		if (wanted(deliver, &batch->records[i]))
			put_record(deliver, &batch->records[i]);
		if (kipt_task_merge_see(&deliver->merge, &batch->records[i],
					&task))
			put_record(deliver, &task);
	}
}

void kipt_deliver_begin_cpu(struct kipt_deliver *deliver,
			    struct kipt_trace *trace)
{
	struct kipt_trace_result result;
	struct kipt_record begin = {
		.type = KIPT_RECORD_CPU,
		.flags = KIPT_RF_NO_IP,
		.aux = trace->cpu,
	};

	deliver->cpu = trace->cpu;
	kipt_task_merge_init(&deliver->merge, deliver->sideband, trace->cpu);
	put_record(deliver, &begin);
	kipt_trace_result(trace, &result);
	deliver->ring_begins = result.tail;
	if (result.tail)
		put_gap(deliver, KIPT_GAP_RING, 0);
	if (result.lost)
		put_gap(deliver, KIPT_GAP_HW_ERROR, result.registers.status);
}

void kipt_deliver_chunk(struct kipt_deliver *deliver, struct kipt_chunk *chunk,
			struct kipt_trace *trace)
{
	struct kipt_batch *batch;

	while ((batch = kipt_chunk_pull(deliver->queue, chunk))) {
		atomic64_add(batch->count, &trace->records);
		put_batch(deliver, batch);
		kipt_chunk_free_batch(deliver->queue, batch);
	}
	deliver->trace_done += chunk->to - chunk->from;
}

void kipt_deliver_end_cpu(struct kipt_deliver *deliver,
			  struct kipt_trace *trace)
{
	struct kipt_trace_result result;

	kipt_trace_result(trace, &result);
	if (result.registers.status & RTIT_STATUS_ERROR)
		put_gap(deliver, KIPT_GAP_HW_ERROR, result.registers.status);
	if (result.cause == KIPT_STOP_CAUSE_FULL)
		put_gap(deliver, KIPT_GAP_STOPPED, result.head);
	if (result.cause == KIPT_STOP_CAUSE_OFFLINE)
		put_gap(deliver, KIPT_GAP_OFFLINE, result.head - result.tail);
	tell_loss(deliver);
	flush(deliver);
}

void kipt_deliver_last(struct kipt_deliver *deliver)
{
	struct kipt_records_message message = {
		.portid = deliver->portid,
		.id = deliver->id,
		.cpu = deliver->cpu,
		.seq = deliver->seq,
		.lost = deliver->lost,
		.trace_done = deliver->trace_done,
		.last = true,
		.done = READ_ONCE(deliver->stop_errno),
		.total = deliver->total,
	};

	if (!READ_ONCE(deliver->receiver_gone))
		send_patiently(deliver, &message);
}
