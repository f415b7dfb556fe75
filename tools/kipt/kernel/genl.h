/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Talk with the kernel module over generic netlink: structs in, structs out.
 * genl.c alone includes libnl. Every failure is reported on stderr where it
 * happens: what was tried, the kernel's sentence, the name of the errno.
 */
#ifndef KIPT_GENL_H
#define KIPT_GENL_H

#include "session_words.h"

struct genl;

/**
 * genl_open() - connect to the module
 * @quiet: do not say why it failed, and take a module of any version, of
 *	which nothing but genl_info() makes sense
 *
 * Return: the connection, the caller's until genl_close(); NULL if the module
 * is not there, or has another interface (with a message unless @quiet).
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
 * Return: 0 or a negative errno, after a message.
 */
int genl_info(struct genl *genl, struct kipt_info *info);

/**
 * genl_version_fits() - is the module one that this tool was built for
 * @info: what it says
 *
 * Return: true, or false after a sentence.
 */
bool genl_version_fits(const struct kipt_info *info);

/**
 * genl_session_new() - make a session
 * @genl: connection
 * @session: cpus, mode, size, ctl, flags, filters, pid, cr3 and, if it is to be
 *	armed, print_branches are asked for; id is filled
 * @progress: called again and again, or NULL; memory and memory_total of the
 *	session say how far it is
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_session_new(struct genl *genl, struct kipt_session *session,
		     void (*progress)(const struct kipt_session *session));

/**
 * genl_session_start() - start tracing
 * @genl: connection
 * @id: session
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_session_start(struct genl *genl, u32 id);

/**
 * genl_session_stop() - stop tracing
 * @genl: connection
 * @id: session
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_session_stop(struct genl *genl, u32 id);

/**
 * genl_session_delete() - free a session
 * @genl: connection
 * @id: session
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_session_delete(struct genl *genl, u32 id);

/**
 * genl_session_get() - one session
 * @genl: connection
 * @id: session
 * @session: filled on success; the caller frees it with session_free()
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_session_get(struct genl *genl, u32 id, struct kipt_session *session);

/**
 * genl_session_each() - all sessions
 * @genl: connection
 * @found: called for each; must not keep the session
 * @ctx: its first argument
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_session_each(struct genl *genl,
		      void (*found)(void *ctx, const struct kipt_session *s),
		      void *ctx);

/**
 * genl_snapshot_each() - all snapshots
 * @genl: connection
 * @found: called for each; must not keep it
 * @ctx: its first argument
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_snapshot_each(struct genl *genl,
		       void (*found)(void *ctx,
				     const struct kipt_snapshot *snapshot),
		       void *ctx);

/**
 * genl_snapshot_get() - one snapshot with its data
 * @genl: connection
 * @id: its number
 * @snapshot: filled; the caller frees its @data
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_snapshot_get(struct genl *genl, u32 id,
		      struct kipt_snapshot *snapshot);

/**
 * genl_snapshot_delete() - make room for another
 * @genl: connection
 * @id: its number
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_snapshot_delete(struct genl *genl, u32 id);

/**
 * struct genl_fetch - a fetch as asked for
 * @id: session
 * @fetch: number of the fetch to take part in, or 0: begin one
 * @cpu: only this CPU, or -1; with @fetch it is not asked for
 * @output: KIPT_OUTPUT_*; with @fetch it is not asked for
 * @memory: bytes of working memory of each reader, 0: as the module says; with
 *	@fetch it is not asked for
 */
struct genl_fetch {
	u32 id;
	u32 fetch;
	int cpu;
	u32 output;
	u64 memory;
};

/**
 * genl_fetch_start() - ask for the decoded records
 * @genl: connection; one fetch at a time
 * @fetch: what
 * @piece: called by genl_fetch_wait() for each message
 * @ctx: its first argument
 *
 * Return: 0 or a negative errno, after a message.
 */
int genl_fetch_start(struct genl *genl, const struct genl_fetch *fetch,
		     void (*piece)(void *ctx, const struct kipt_piece *piece),
		     void *ctx);

/**
 * genl_fetch_wait() - take the messages that are there
 * @genl: connection
 * @timeout_ms: how long to wait for the first
 *
 * The kernel decodes while this waits.
 *
 * Return:
 * 1: messages were taken.
 * 0: none came in that time, or a signal did; or the fetch is over, see
 *	genl_fetch_over().
 * A negative errno: the fetch is over, after a message.
 */
int genl_fetch_wait(struct genl *genl, int timeout_ms);

/**
 * genl_fetch_over() - whether all was received
 * @genl: connection
 *
 * Return: true after the last message.
 */
bool genl_fetch_over(const struct genl *genl);

#endif /* KIPT_GENL_H */
