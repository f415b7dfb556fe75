/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command fetch: a dump of decoded records, made in its reader's own
 * recvmsg(). Parses, asks permission.c at each call, and writes messages;
 * leaves decoding to fetch.c. Process context.
 */
#ifndef KIPT_FETCH_MESSAGE_H
#define KIPT_FETCH_MESSAGE_H

struct kipt_reply_dump_ops;

/* Begins a fetch, or takes part in one; then decodes for a while before each message. */
extern const struct kipt_reply_dump_ops kipt_fetch_dump;

#endif /* KIPT_FETCH_MESSAGE_H */
