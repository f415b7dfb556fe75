/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands that list, read and delete snapshots. Process context.
 */
#ifndef KIPT_SNAPSHOT_MESSAGE_H
#define KIPT_SNAPSHOT_MESSAGE_H

struct genl_info;
struct kipt_refusal;
struct kipt_reply_dump_ops;
struct sk_buff;

/* snapshot-get */
extern const struct kipt_reply_dump_ops kipt_snapshot_dump;

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
