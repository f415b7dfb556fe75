/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Talk with the kernel module over generic netlink: structs in, structs out.
 * genl.c alone includes libnl. Every failure is told on stderr where it
 * happens: what was tried, the kernel's sentence, the name of the errno.
 */
#ifndef KIPT_GENL_H
#define KIPT_GENL_H

#include "session.h"

struct genl;

/**
 * genl_open() - connect to the module
 * @quiet: do not tell why it failed
 *
 * Return: the connection, the caller's until genl_close(); NULL if the module
 * is not there (told unless @quiet).
 */
struct genl *genl_open(bool quiet);

/**
 * genl_close() - end the connection, and with it the sessions it owns
 * @genl: may be NULL
 */
void genl_close(struct genl *genl);

/**
 * genl_info() - versions, limits, capabilities
 * @genl: connection
 * @info: filled on success
 *
 * Return: 0 or a negative errno; told.
 */
int genl_info(struct genl *genl, struct kipt_info *info);

/**
 * genl_session_new() - make a session
 * @genl: connection
 * @session: cpus, mode, size, ctl, flags are asked for; id is filled
 *
 * Return: 0 or a negative errno; told.
 */
int genl_session_new(struct genl *genl, struct kipt_session *session);

/**
 * genl_session_start() - start tracing
 * @genl: connection
 * @id: session
 *
 * Return: 0 or a negative errno; told.
 */
int genl_session_start(struct genl *genl, u32 id);

/**
 * genl_session_stop() - stop tracing
 * @genl: connection
 * @id: session
 *
 * Return: 0 or a negative errno; told.
 */
int genl_session_stop(struct genl *genl, u32 id);

/**
 * genl_session_delete() - free a session
 * @genl: connection
 * @id: session
 *
 * Return: 0 or a negative errno; told.
 */
int genl_session_delete(struct genl *genl, u32 id);

/**
 * genl_session_get() - one session
 * @genl: connection
 * @id: session
 * @session: filled on success; the caller frees it with session_free()
 *
 * Return: 0 or a negative errno; told.
 */
int genl_session_get(struct genl *genl, u32 id, struct kipt_session *session);

/**
 * genl_session_each() - all sessions
 * @genl: connection
 * @found: called for each; must not keep the session
 * @ctx: its first argument
 *
 * Return: 0 or a negative errno; told.
 */
int genl_session_each(struct genl *genl,
		      void (*found)(void *ctx, const struct kipt_session *s),
		      void *ctx);

/**
 * struct genl_fetch - a fetch as asked for
 * @id: session
 * @cpu: only this CPU, or -1
 * @output: KIPT_OUTPUT_*
 * @credit: messages to be sent before more credit is given
 * @trace_bytes: filled by genl_fetch_start(): bytes to decode
 */
struct genl_fetch {
	u32 id;
	int cpu;
	u32 output;
	u32 credit;
	u64 trace_bytes;
};

/**
 * genl_fetch_start() - ask for the decoded records
 * @genl: connection
 * @fetch: what
 * @batch: called by this function and genl_fetch_wait() for each message
 * @ctx: its first argument
 *
 * Return: 0 or a negative errno; told.
 */
int genl_fetch_start(struct genl *genl, struct genl_fetch *fetch,
		     void (*batch)(void *ctx, const struct kipt_batch *b),
		     void *ctx);

/**
 * genl_fetch_wait() - take the messages that are there
 * @genl: connection
 * @timeout_ms: how long to wait for the first
 *
 * Return:
 * 1: messages were taken.
 * 0: none came in that time, or a signal did.
 * -ENOBUFS: the kernel dropped messages; the gap shows in their numbers.
 * Another negative errno: told.
 */
int genl_fetch_wait(struct genl *genl, int timeout_ms);

/**
 * genl_fetch_credit() - allow more messages; does not wait for an answer
 * @genl: connection
 * @id: session
 * @credit: how many
 *
 * Return: 0 or a negative errno; told.
 */
int genl_fetch_credit(struct genl *genl, u32 id, u32 credit);

/**
 * genl_fetch_cancel() - ask for the end of the fetch
 * @genl: connection
 * @id: session
 *
 * Return: 0 or a negative errno; told.
 */
int genl_fetch_cancel(struct genl *genl, u32 id);

/**
 * genl_fetch_end() - the callback of the fetch is not to be called any more
 * @genl: connection
 */
void genl_fetch_end(struct genl *genl);

#endif /* KIPT_GENL_H */
