// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink family. Owns the policies, which are those of uapi/kipt.yaml,
 * and the table of commands; sees to it that each refusal is answered with its
 * sentence. Leaves commands to the *_message.c files. Process context.
 *
 * A dump runs in the recvmsg() of its reader, but for its first call, which
 * comes within the request. So a dump may take its time from the second call
 * on; everything else has to be quick.
 */
#include <linux/slab.h>

#include "../lib/compat.h"
#include "reply.h"

#define FLAGS_ALL	(KIPT_SESSION_FLAGS_DETACHED | \
			 KIPT_SESSION_FLAGS_KEEP_CODE | \
			 KIPT_SESSION_FLAGS_FOLLOW_FORK | \
			 KIPT_SESSION_FLAGS_ARMED | \
			 KIPT_SESSION_FLAGS_USER | \
			 KIPT_SESSION_FLAGS_YIELD)
#define OUTPUT_ALL	(KIPT_OUTPUT_BRANCHES | KIPT_OUTPUT_CALLS | \
			 KIPT_OUTPUT_INSNS | KIPT_OUTPUT_TIME | \
			 KIPT_OUTPUT_PACKED | KIPT_OUTPUT_COUNTS)

/* Not const: the policies of 6.1 have a plain pointer to them. */
static struct netlink_range_validation size_range = {
	.min = KIPT_SIZE_MIN,
	.max = KIPT_SIZE_MAX,
};

static struct netlink_range_validation pid_range = {
	.min = 1,
	.max = 2147483647,
};

static struct netlink_range_validation memory_range = {
	.min = 262144,
	.max = 1073741824,
};

static const struct nla_policy filter_policy[] = {
	[KIPT_A_FILTER_KIND] = NLA_POLICY_RANGE(NLA_U32,
						KIPT_FILTER_KIND_TRACE,
						KIPT_FILTER_KIND_STOP),
	[KIPT_A_FILTER_FIRST] = { .type = NLA_U64 },
	[KIPT_A_FILTER_LAST] = { .type = NLA_U64 },
};

static const struct nla_policy session_new_policy[] = {
	[KIPT_A_SESSION_CPUS] = { .type = NLA_NUL_STRING,
				  .len = KIPT_CPUS_LEN },
	[KIPT_A_SESSION_MODE] = NLA_POLICY_RANGE(NLA_U32, KIPT_MODE_RING,
						 KIPT_MODE_ONCE),
	[KIPT_A_SESSION_SIZE] = NLA_POLICY_FULL_RANGE(NLA_U64, &size_range),
	[KIPT_A_SESSION_CTL] = { .type = NLA_U64 },
	[KIPT_A_SESSION_FLAGS] = NLA_POLICY_MASK(NLA_U32, FLAGS_ALL),
	[KIPT_A_SESSION_FILTER] = NLA_POLICY_NESTED(filter_policy),
	[KIPT_A_SESSION_PID] = NLA_POLICY_FULL_RANGE(NLA_U32, &pid_range),
	[KIPT_A_SESSION_CR3] = { .type = NLA_U64 },
	[KIPT_A_SESSION_PRINT_BRANCHES] = NLA_POLICY_MAX(NLA_U32, KIPT_PRINT_BRANCHES_MAX),
	[KIPT_A_SESSION_PRINT_CPUS] = NLA_POLICY_MAX(NLA_U32, KIPT_PRINT_BRANCHES_MAX),
	[KIPT_A_SESSION_PRINT_USER] = NLA_POLICY_MAX(NLA_U32, KIPT_PRINT_USER_MAX),
};

static const struct nla_policy session_id_policy[] = {
	[KIPT_A_SESSION_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy fetch_policy[] = {
	[KIPT_A_FETCH_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[KIPT_A_FETCH_FETCH] = NLA_POLICY_MIN(NLA_U32, 1),
	[KIPT_A_FETCH_CPU] = { .type = NLA_U32 },
	[KIPT_A_FETCH_OUTPUT] = NLA_POLICY_MASK(NLA_U32, OUTPUT_ALL),
	[KIPT_A_FETCH_MEMORY] = NLA_POLICY_FULL_RANGE(NLA_U64, &memory_range),
};

static const struct nla_policy snapshot_policy[] = {
	[KIPT_A_SNAPSHOT_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* A request has one answer (@call), or is answered by a dump (@dump). */
static const struct {
	int (*call)(struct sk_buff *skb, struct genl_info *info,
		    struct kipt_refusal *refusal);
	const struct kipt_reply_dump_ops *dump;
} commands[] = {
	[KIPT_CMD_GET_INFO] = { .call = kipt_info_get },
	[KIPT_CMD_SESSION_NEW] = { .dump = &kipt_session_new_dump },
	[KIPT_CMD_SESSION_START] = { .dump = &kipt_session_control_dump },
	[KIPT_CMD_SESSION_STOP] = { .dump = &kipt_session_control_dump },
	[KIPT_CMD_SESSION_DEL] = { .dump = &kipt_session_control_dump },
	[KIPT_CMD_SESSION_GET] = { kipt_session_message_get, &kipt_session_list_dump },
	[KIPT_CMD_FETCH] = { .dump = &kipt_fetch_dump },
	[KIPT_CMD_SNAPSHOT_GET] = { .dump = &kipt_snapshot_dump },
	[KIPT_CMD_SNAPSHOT_DEL] = { .call = kipt_snapshot_message_del },
};

/* Not every allocation that fails has a sentence of its own. */
static int explain_memory(int err, struct kipt_refusal *refusal)
{
	if (err != -ENOMEM || refusal->extack._msg)
		return err;
	return kipt_refuse(refusal, NULL, err, "no memory to answer the request");
}

static int family_do(struct sk_buff *skb, struct genl_info *info)
{
	struct kipt_refusal refusal = {};
	int err;

	err = explain_memory(commands[info->genlhdr->cmd].call(skb, info, &refusal), &refusal);
	return err ? kipt_refuse_send(skb, err, &refusal) : 0;
}

static const struct kipt_reply_dump_ops *dump_ops(struct netlink_callback *cb)
{
	return commands[kipt_reply_command(cb)].dump;
}

static int refuse_start(struct netlink_callback *cb)
{
	struct kipt_refusal refusal = {};
	int err = explain_memory(-ENOMEM, &refusal);

	return kipt_refuse_send(cb->skb, err, &refusal);
}

static void free_dump(struct netlink_callback *cb)
{
	struct kipt_reply_dump *dump = kipt_reply_dump(cb);

	if (dump->session)
		kipt_session_put(dump->session);
	kfree(dump->refusal);
}

/* When it fails, there will be no call of family_done(). */
static int family_start(struct netlink_callback *cb)
{
	struct kipt_refusal *refusal = kzalloc(sizeof(*refusal), GFP_KERNEL);
	int err;

	if (!refusal)
		return refuse_start(cb);
	*kipt_reply_dump(cb) = (struct kipt_reply_dump){ .refusal = refusal };
	err = dump_ops(cb)->start(cb, kipt_compat_dump_attrs(cb), refusal);
	err = explain_memory(err, refusal);
	if (!err)
		return 0;
	err = kipt_refuse_send(cb->skb, err, refusal);
	free_dump(cb);
	return err;
}

/* The sentence is copied to the last message before family_done(). */
static int family_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kipt_refusal *refusal = kipt_reply_dump(cb)->refusal;
	int ret = dump_ops(cb)->fill(skb, cb, refusal);

	ret = explain_memory(ret, refusal);
	if (ret < 0 && cb->extack)
		cb->extack->_msg = refusal->extack._msg;
	return ret;
}

static int family_done(struct netlink_callback *cb)
{
	const struct kipt_reply_dump_ops *ops = dump_ops(cb);

	if (ops->done)
		ops->done(cb);
	free_dump(cb);
	return 0;
}

#define DO								\
	.doit = family_do
#define DUMP								\
	.start = family_start, .dumpit = family_dump,	\
	.done = family_done
#define POLICY(_policy)							\
	.policy = _policy, .maxattr = ARRAY_SIZE(_policy) - 1

static const struct genl_ops ops[] = {
	{ .cmd = KIPT_CMD_GET_INFO, DO },
	{ .cmd = KIPT_CMD_SESSION_NEW, DUMP, POLICY(session_new_policy) },
	{ .cmd = KIPT_CMD_SESSION_START, DUMP, POLICY(session_id_policy) },
	{ .cmd = KIPT_CMD_SESSION_STOP, DUMP, POLICY(session_id_policy) },
	{ .cmd = KIPT_CMD_SESSION_DEL, DUMP, POLICY(session_id_policy) },
	{ .cmd = KIPT_CMD_SESSION_GET, DO, DUMP, POLICY(session_id_policy) },
	{ .cmd = KIPT_CMD_FETCH, DUMP, POLICY(fetch_policy) },
	{ .cmd = KIPT_CMD_SNAPSHOT_GET, DUMP, POLICY(snapshot_policy) },
	{ .cmd = KIPT_CMD_SNAPSHOT_DEL, DO, POLICY(snapshot_policy) },
};

static const struct genl_multicast_group groups[] = {
	{ .name = KIPT_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_SYS_ADMIN },
};

static struct genl_family family __ro_after_init = {
	.name = KIPT_FAMILY_NAME,
	.version = KIPT_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = false,
	.parallel_ops = true,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = KIPT_CMD_GET_INFO,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

static int socket_closed(struct notifier_block *block, unsigned long what,
			 void *data)
{
	struct netlink_notify *notify = data;

	if (what == NETLINK_URELEASE &&
	    notify->protocol == NETLINK_GENERIC &&
	    net_eq(notify->net, &init_net) && notify->portid)
		kipt_session_socket_closed(notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_closed,
};

int kipt_family_init(void)
{
	int err;

	/* This fails only for a block that is registered already. */
	netlink_register_notifier(&socket_notifier);
	kipt_reply_init(&family);
	err = genl_register_family(&family);
	if (err)
		netlink_unregister_notifier(&socket_notifier);
	return err;
}

void kipt_family_uninit(void)
{
	genl_unregister_family(&family);
	kipt_reply_init(NULL);
	netlink_unregister_notifier(&socket_notifier);
}
