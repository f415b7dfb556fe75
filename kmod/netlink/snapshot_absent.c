// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots, for a module that was built with CONFIG_KIPT_CRASH=n: it takes none. In
 * place of snapshot_message.c.
 */
#include "reply.h"

static int refuse(struct kipt_refusal *refusal)
{
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
			   "this module was built with CONFIG_KIPT_CRASH=n: it keeps no snapshots");
}

static int snapshot_start(struct netlink_callback *cb, struct nlattr **attrs,
			  struct kipt_refusal *refusal)
{
	return refuse(refusal);
}

const struct kipt_reply_dump_ops kipt_snapshot_dump = {
	.start = snapshot_start,
};

int kipt_snapshot_message_del(struct sk_buff *skb, struct genl_info *info,
			      struct kipt_refusal *refusal)
{
	return refuse(refusal);
}
