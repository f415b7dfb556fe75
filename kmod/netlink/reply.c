// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the family, see reply.h. Process context.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>

#include "reply.h"

static const struct genl_family *family;

void kipt_reply_init(const struct genl_family *of)
{
	WRITE_ONCE(family, of);
}

struct kipt_reply_dump *kipt_reply_dump(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct kipt_reply_dump) > sizeof(cb->ctx));
	return (void *)cb->ctx;
}

void *kipt_reply_state(struct netlink_callback *cb)
{
	return kipt_reply_dump(cb)->state;
}

struct sk_buff *kipt_reply_begin(struct genl_info *info, size_t size,
				 void **header)
{
	struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL_ACCOUNT);

	if (!skb)
		return NULL;
	*header = genlmsg_put_reply(skb, info, family, 0, info->genlhdr->cmd);
	if (*header)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

void *kipt_reply_part(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			   cb->nlh->nlmsg_seq, family, NLM_F_MULTI, cmd);
}

int kipt_reply_missing(const struct nlattr *attr, const char *name,
		       struct kipt_refusal *refusal)
{
	if (attr)
		return 0;
	return kipt_refuse(refusal, NULL, -EINVAL,
			   "attribute \"%s\" is missing", name);
}

int kipt_reply_find(const struct nlattr *attr, struct kipt_session **session,
		    struct kipt_refusal *refusal)
{
	int err = kipt_reply_missing(attr, "id", refusal);

	if (err)
		return err;
	*session = kipt_session_find(nla_get_u32(attr));
	if (*session)
		return 0;
	return kipt_refuse(refusal, attr, -ENOENT, "no session %u",
			   nla_get_u32(attr));
}

int kipt_reply_take(struct netlink_callback *cb, const struct nlattr *attr,
		    int (*may)(struct sk_buff *request, struct kipt_session *session,
			       struct kipt_refusal *refusal),
		    struct kipt_refusal *refusal)
{
	struct kipt_reply_dump *dump = kipt_reply_dump(cb);

	return kipt_permission_trace(cb->skb, refusal) ?:
	       kipt_reply_find(attr, &dump->session, refusal) ?:
	       may(cb->skb, dump->session, refusal);
}

int kipt_reply_put_cpus(struct sk_buff *skb, int attr,
			const struct cpumask *cpus)
{
	char *text = kasprintf(GFP_KERNEL, "%*pbl", cpumask_pr_args(cpus));
	int err;

	if (!text)
		return -ENOMEM;
	err = nla_put_string(skb, attr, text);
	kfree(text);
	return err;
}

u8 kipt_reply_command(struct netlink_callback *cb)
{
	const struct genlmsghdr *header = nlmsg_data(cb->nlh);

	return header->cmd;
}

static int put_event(struct sk_buff *skb, const struct genl_family *of, u32 id, u32 state,
		     u32 cpu, u32 cause)
{
	void *header = genlmsg_put(skb, 0, 0, of, 0, KIPT_CMD_SESSION_EVENT);

	if (!header || nla_put_u32(skb, KIPT_A_EVENT_ID, id) ||
	    nla_put_u32(skb, KIPT_A_EVENT_STATE, state) ||
	    (cpu != KIPT_EVENT_NO_CPU &&
	     nla_put_u32(skb, KIPT_A_EVENT_CPU, cpu)) ||
	    (cause && nla_put_u32(skb, KIPT_A_EVENT_CAUSE, cause)))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return 0;
}

void kipt_reply_event(u32 id, u32 state, u32 cpu, u32 cause)
{
	/* Another family may have the group's number once this one is gone. */
	const struct genl_family *of = READ_ONCE(family);
	struct sk_buff *skb;

	if (!of || !genl_has_listeners(of, &init_net, 0))
		return;
	skb = genlmsg_new(4 * nla_total_size(sizeof(u32)), GFP_KERNEL);
	if (!skb) {
		/* Their next recvmsg() says that something is missing. */
		genl_set_err(of, &init_net, 0, 0, -ENOBUFS);
		return;
	}
	if (WARN_ON_ONCE(put_event(skb, of, id, state, cpu, cause)))
		nlmsg_free(skb);
	else
		genlmsg_multicast(of, skb, 0, 0, GFP_KERNEL);
}
