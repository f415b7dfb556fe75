// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetches, for a module that was built with CONFIG_KIPT_DECODE=n: all are refused. In
 * place of fetch_message.c.
 */
#include "reply.h"

static int fetch_start(struct netlink_callback *cb, struct nlattr **attrs,
		       struct kipt_refusal *refusal)
{
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
			   "this module was built with CONFIG_KIPT_DECODE=n: 'kipt fetch --raw DIR' writes the trace to files, and 'kipt decode' decodes those");
}

const struct kipt_reply_dump_ops kipt_fetch_dump = {
	.start = fetch_start,
};
