/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command fetch: a dump of decoded records, made in its reader's own
 * recvmsg(). Parses, asks permission.c at each call, and writes messages;
 * leaves decoding to fetch.c. Process context.
 */
#ifndef KIPT_FETCH_MESSAGE_H
#define KIPT_FETCH_MESSAGE_H

struct netlink_callback;
struct kipt_refusal;
struct nlattr;
struct sk_buff;

/**
 * kipt_fetch_message_start() - begin a fetch, or take part in one
 * @cb: the dump
 * @attrs: attributes of the request
 * @refusal: where a refusal is explained
 *
 * Return: 0 or an errno.
 */
int kipt_fetch_message_start(struct netlink_callback *cb,
			     struct nlattr **attrs,
			     struct kipt_refusal *refusal);

/**
 * kipt_fetch_message() - decode for a while, and write a message
 * @skb: to be filled
 * @cb: the dump
 * @refusal: where a refusal is explained
 *
 * Return: as a dump: bytes in @skb, 0 at the end, or an errno.
 */
int kipt_fetch_message(struct sk_buff *skb, struct netlink_callback *cb,
		       struct kipt_refusal *refusal);

/**
 * kipt_fetch_message_done() - the dump has ended, or its socket
 * @cb: the dump
 */
void kipt_fetch_message_done(struct netlink_callback *cb);

#endif /* KIPT_FETCH_MESSAGE_H */
