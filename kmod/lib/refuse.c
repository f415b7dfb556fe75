// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the sentences of refusals and sends the answers that carry them.
 * Leaves the memory to the requests. Any context, but for sending.
 */
#include <linux/kernel.h>
#include <net/netlink.h>

#include "refuse.h"

int kipt_refuse(struct kipt_refusal *refusal, const struct nlattr *attr,
		int err, const char *format, ...)
{
	va_list args;

	if (!refusal)
		return err;
	va_start(args, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, args);
	va_end(args);
	refusal->extack._msg = refusal->text;
	if (attr)
		refusal->extack.bad_attr = attr;
	return err;
}

int kipt_refuse_send(struct sk_buff *skb, int err,
		     const struct kipt_refusal *refusal)
{
	netlink_ack(skb, nlmsg_hdr(skb), err, &refusal->extack);
	return -EINTR;
}
