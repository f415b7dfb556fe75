// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots, for a module that was built with CONFIG_KIPT_CRASH=n: it takes none. In
 * place of snapshot_message.c.
 */
#include "../lib/refuse.h"
#include "snapshot_message.h"

static int refuse(struct kipt_refusal *refusal)
{
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
			   "this module was built with CONFIG_KIPT_CRASH=n: it keeps no snapshots");
}

int kipt_snapshot_message_start(struct netlink_callback *cb,
				struct nlattr **attrs,
				struct kipt_refusal *refusal)
{
	return refuse(refusal);
}

int kipt_snapshot_message(struct sk_buff *skb, struct netlink_callback *cb,
			  struct kipt_refusal *refusal)
{
	return -EOPNOTSUPP;
}

void kipt_snapshot_message_done(struct netlink_callback *cb)
{
}

int kipt_snapshot_message_del(struct sk_buff *skb, struct genl_info *info,
			      struct kipt_refusal *refusal)
{
	return refuse(refusal);
}
