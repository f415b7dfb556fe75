/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoding in the kernel: a fetch cuts the traces of a stopped session at
 * PSBs, workers decode the chunks in parallel, and the records are delivered
 * in order, the same as a serial decode would make. Process context.
 */
#ifndef KIPT_DECODE_WORKER_H
#define KIPT_DECODE_WORKER_H

#include <linux/types.h>

struct kipt_fetch;
struct kipt_session;

#define KIPT_FETCH_ALL_CPUS	(~0U)

/**
 * struct kipt_fetch_request - what is asked for
 * @portid: who asks and receives
 * @only_cpu: a CPU of the session, or KIPT_FETCH_ALL_CPUS
 * @output: enum kipt_output
 */
struct kipt_fetch_request {
	u32 portid;
	u32 only_cpu;
	u32 output;
};

/**
 * kipt_decode_init() - ready the workers
 *
 * Return: 0 or -ENOMEM.
 */
int kipt_decode_init(void);

/**
 * kipt_decode_uninit() - no fetch exists any more
 */
void kipt_decode_uninit(void);

/**
 * kipt_fetch_create() - get ready to decode
 * @session: stopped; stays so, and stays alive, while the fetch runs
 * @request: what is asked for
 *
 * Return: the fetch, for kipt_fetch_run() and kipt_fetch_destroy(), or NULL
 * without memory.
 */
struct kipt_fetch *kipt_fetch_create(struct kipt_session *session,
				     const struct kipt_fetch_request *request);

/**
 * kipt_fetch_run() - begin
 * @fetch: not run yet
 * @credit: messages the receiver is ready to take
 */
void kipt_fetch_run(struct kipt_fetch *fetch, u32 credit);

/**
 * kipt_fetch_running() - whether a fetch still reads the session
 * @fetch: the fetch
 *
 * Return: true between kipt_fetch_create() and the last message, which is
 * sent when it is false already.
 */
bool kipt_fetch_running(const struct kipt_fetch *fetch);

/**
 * kipt_fetch_trace_bytes() - trace bytes a fetch is to decode
 * @fetch: the fetch
 *
 * Return: bytes.
 */
u64 kipt_fetch_trace_bytes(const struct kipt_fetch *fetch);

/**
 * kipt_fetch_credit() - let a receiver have more messages
 * @fetch: the fetch
 * @portid: who says so
 * @messages: how many more
 *
 * Return: 0; -ENOENT if it does not run; -EPERM if @portid is not its
 * receiver.
 */
int kipt_fetch_credit(struct kipt_fetch *fetch, u32 portid, u32 messages);

/**
 * kipt_fetch_cancel() - end a fetch early; its last message says ECANCELED
 * @fetch: the fetch
 *
 * Return: 0, or -ENOENT if it does not run.
 */
int kipt_fetch_cancel(struct kipt_fetch *fetch);

/**
 * kipt_fetch_owner_gone() - a socket was closed
 * @fetch: the fetch; it ends if the socket is its receiver
 * @portid: number of the socket
 */
void kipt_fetch_owner_gone(struct kipt_fetch *fetch, u32 portid);

/**
 * kipt_fetch_destroy() - end a fetch, wait for its workers, free it
 * @fetch: may be NULL
 */
void kipt_fetch_destroy(struct kipt_fetch *fetch);

#endif /* KIPT_DECODE_WORKER_H */
