/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands that list, read and delete snapshots. Process context.
 */
#ifndef KIPT_SNAPSHOT_MESSAGE_H
#define KIPT_SNAPSHOT_MESSAGE_H

struct genl_info;
struct netlink_callback;
struct kipt_refusal;
struct nlattr;
struct sk_buff;

/**
 * kipt_snapshot_message_start() - snapshot-get begins
 * @cb: the dump
 * @attrs: of the request
 * @refusal: where a refusal is explained
 *
 * Return: 0, or an errno as under snapshot-get.
 */
int kipt_snapshot_message_start(struct netlink_callback *cb,
				struct nlattr **attrs,
				struct kipt_refusal *refusal);

/**
 * kipt_snapshot_message() - the next message of snapshot-get
 * @skb: where to
 * @cb: the dump
 * @refusal: where a refusal is explained
 *
 * Return: bytes of the message, 0 at the end, or an errno.
 */
int kipt_snapshot_message(struct sk_buff *skb, struct netlink_callback *cb,
			  struct kipt_refusal *refusal);

/**
 * kipt_snapshot_message_done() - snapshot-get is over
 * @cb: the dump
 */
void kipt_snapshot_message_done(struct netlink_callback *cb);

/**
 * kipt_snapshot_message_del() - snapshot-del
 * @skb: the request
 * @info: the request, parsed
 * @refusal: where a refusal is explained
 *
 * Return: 0, or an errno as under snapshot-del.
 */
int kipt_snapshot_message_del(struct sk_buff *skb, struct genl_info *info,
			      struct kipt_refusal *refusal);

#endif /* KIPT_SNAPSHOT_MESSAGE_H */
