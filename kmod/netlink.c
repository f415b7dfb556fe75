// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink family. Each command is a function that parses, finds the
 * session, asks session.c to act, and replies. Policies are those of
 * uapi/kipt.yaml; ranges are checked here and in session.c, where a refusal
 * can say what is allowed. Process context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#include "buffer.h"
#include "decode_worker.h"
#include "netlink.h"
#include "refuse.h"
#include "session.h"
#include "sideband.h"
#include "../uapi/linux/kipt.h"
#include "../uapi/linux/kipt_record.h"

/* A CPU list longer than this names no CPU set a kernel has. */
#define CPU_LIST_MAX		4095
/* In a dump, larger sessions are told without their CPUs; ask for one then. */
#define CPUS_IN_DUMP_MAX	128

#define FLAGS_ALL	(KIPT_SESSION_FLAGS_DETACHED | \
			 KIPT_SESSION_FLAGS_KEEP_MM)
#define OUTPUT_ALL	(KIPT_OUTPUT_BRANCHES | KIPT_OUTPUT_CALLS | \
			 KIPT_OUTPUT_INSNS | KIPT_OUTPUT_TIME)

static const struct nla_policy session_new_policy[] = {
	[KIPT_A_SESSION_CPUS] = { .type = NLA_NUL_STRING, .len = CPU_LIST_MAX },
	[KIPT_A_SESSION_MODE] = { .type = NLA_U32 },
	[KIPT_A_SESSION_SIZE] = { .type = NLA_U64 },
	[KIPT_A_SESSION_CTL] = { .type = NLA_U64 },
	[KIPT_A_SESSION_FLAGS] = { .type = NLA_U32 },
};

static const struct nla_policy id_policy[] = {
	[KIPT_A_SESSION_ID] = { .type = NLA_U32 },
};

static const struct nla_policy fetch_policy[] = {
	[KIPT_A_SESSION_ID] = { .type = NLA_U32 },
	[KIPT_A_SESSION_OUTPUT] = { .type = NLA_U32 },
	[KIPT_A_SESSION_CREDIT] = { .type = NLA_U32 },
	[KIPT_A_SESSION_CPU_ID] = { .type = NLA_U32 },
};

static const struct nla_policy credit_policy[] = {
	[KIPT_A_SESSION_ID] = { .type = NLA_U32 },
	[KIPT_A_SESSION_CREDIT] = { .type = NLA_U32 },
};

static struct genl_family family;

static int check_permission(struct sk_buff *skb,
			    struct netlink_ext_ack *extack)
{
	if (!netlink_capable(skb, CAP_PERFMON) &&
	    !netlink_capable(skb, CAP_SYS_ADMIN))
		return kipt_refuse(extack, NULL, -EPERM,
				   "needs CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace");
	if (security_locked_down(LOCKDOWN_PERF))
		return kipt_refuse(extack, NULL, -EPERM,
				   "kernel lockdown forbids tracing");
	return 0;
}

static int check_pt(struct netlink_ext_ack *extack)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (kipt_caps_cpu_has_pt(cpu))
			return 0;
	return kipt_refuse(extack, NULL, -ENODEV,
			   "no CPU here has Intel PT (CPUID.07H:EBX[25] is 0)");
}

static int require(struct genl_info *info, u32 attr, const char *name)
{
	if (info->attrs[attr])
		return 0;
	return kipt_refuse(info->extack, NULL, -EINVAL,
			   "attribute \"%s\" is missing", name);
}

/* Return: 0 with a reference in @session for the caller, or an errno. */
static int find_session(struct genl_info *info, struct kipt_session **session)
{
	struct nlattr *attr = info->attrs[KIPT_A_SESSION_ID];
	int err;

	err = require(info, KIPT_A_SESSION_ID, "id");
	if (err)
		return err;
	*session = kipt_session_find(nla_get_u32(attr));
	if (*session)
		return 0;
	return kipt_refuse(info->extack, attr, -ENOENT, "no session %u",
			   nla_get_u32(attr));
}

/* As find_session(), for commands only the owner may give. */
static int find_own_session(struct sk_buff *skb, struct genl_info *info,
			    struct kipt_session **session)
{
	int err;

	err = check_permission(skb, info->extack);
	err = err ?: find_session(info, session);
	if (err)
		return err;
	if (!(*session)->portid || (*session)->portid == info->snd_portid)
		return 0;
	err = kipt_refuse(info->extack, info->attrs[KIPT_A_SESSION_ID], -EPERM,
			  "session %u belongs to another socket (port %u)",
			  (*session)->id, (*session)->portid);
	kipt_session_put(*session);
	return err;
}

static int put_caps(struct sk_buff *skb, const struct kipt_caps *caps)
{
	struct nlattr *nest = nla_nest_start(skb, KIPT_A_SESSION_CAPS);

	if (!nest ||
	    nla_put_u32(skb, KIPT_A_CAP_LEAF0_EAX, caps->leaf0_eax) ||
	    nla_put_u32(skb, KIPT_A_CAP_LEAF0_EBX, caps->leaf0_ebx) ||
	    nla_put_u32(skb, KIPT_A_CAP_LEAF0_ECX, caps->leaf0_ecx) ||
	    nla_put_u32(skb, KIPT_A_CAP_LEAF1_EAX, caps->leaf1_eax) ||
	    nla_put_u32(skb, KIPT_A_CAP_LEAF1_EBX, caps->leaf1_ebx) ||
	    nla_put_u32(skb, KIPT_A_CAP_TSC_DEN, caps->tsc_den) ||
	    nla_put_u32(skb, KIPT_A_CAP_TSC_NUM, caps->tsc_num) ||
	    nla_put_u32(skb, KIPT_A_CAP_CRYSTAL_HZ, caps->crystal_hz) ||
	    nla_put_u32(skb, KIPT_A_CAP_TSC_KHZ, tsc_khz) ||
	    nla_put_u32(skb, KIPT_A_CAP_MAX_NONTURBO_RATIO,
			caps->max_nonturbo_ratio) ||
	    nla_put_u32(skb, KIPT_A_CAP_CPU_FAMILY, boot_cpu_data.x86) ||
	    nla_put_u32(skb, KIPT_A_CAP_CPU_MODEL, boot_cpu_data.x86_model) ||
	    nla_put_u32(skb, KIPT_A_CAP_VMX_PT, caps->vmx_pt) ||
	    nla_put_u64_64bit(skb, KIPT_A_CAP_CTL_ALLOWED,
			      kipt_caps_ctl_allowed(caps), KIPT_A_CAP_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_cpu_list(struct sk_buff *skb, int attr, const struct cpumask *cpus)
{
	char *text = kasprintf(GFP_KERNEL, "%*pbl", cpumask_pr_args(cpus));
	int err;

	if (!text)
		return -ENOMEM;
	err = nla_put_string(skb, attr, text);
	kfree(text);
	return err;
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, KIPT_A_SESSION_PAD);
}

/* Return: a message with the header of a reply, or NULL without memory. */
static struct sk_buff *new_reply(struct genl_info *info, size_t size,
				 void **header)
{
	struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL);

	if (!skb)
		return NULL;
	*header = genlmsg_put_reply(skb, info, &family, 0, info->genlhdr->cmd);
	if (*header)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

static int put_info(struct sk_buff *skb, struct cpumask *cpus)
{
	struct kipt_caps caps;
	unsigned int cpu;

	cpumask_clear(cpus);
	for_each_online_cpu(cpu)
		if (kipt_caps_cpu_has_pt(cpu))
			cpumask_set_cpu(cpu, cpus);
	kipt_caps_of(cpus, &caps);
	if (nla_put_string(skb, KIPT_A_SESSION_VERSION, THIS_MODULE->version) ||
	    nla_put_u32(skb, KIPT_A_SESSION_ABI, KIPT_NETLINK_ABI) ||
	    nla_put_u32(skb, KIPT_A_SESSION_RECORD_VERSION,
			KIPT_RECORD_VERSION) ||
	    put_caps(skb, &caps) ||
	    put_u64(skb, KIPT_A_SESSION_SIZE_MIN, KIPT_BUFFER_SIZE_MIN) ||
	    put_u64(skb, KIPT_A_SESSION_SIZE_MAX, KIPT_BUFFER_SIZE_MAX) ||
	    nla_put_u32(skb, KIPT_A_SESSION_MAX_MMS, KIPT_SIDEBAND_MAX_MMS) ||
	    put_cpu_list(skb, KIPT_A_SESSION_ONLINE, cpus))
		return -EMSGSIZE;
	kipt_session_busy(cpus);
	return put_cpu_list(skb, KIPT_A_SESSION_BUSY, cpus);
}

static int kipt_netlink_get_info(struct sk_buff *request,
				 struct genl_info *info)
{
	struct sk_buff *skb;
	cpumask_var_t cpus;
	void *header;
	int err;

	if (!alloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	skb = new_reply(info, 2 * CPU_LIST_MAX, &header);
	if (!skb) {
		free_cpumask_var(cpus);
		return -ENOMEM;
	}
	err = put_info(skb, cpus);
	free_cpumask_var(cpus);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

static int parse_cpus(struct genl_info *info, struct cpumask *cpus)
{
	struct nlattr *attr = info->attrs[KIPT_A_SESSION_CPUS];
	const char *text = nla_data(attr);
	int err = cpulist_parse(text, cpus);

	if (err == -ERANGE || err == -EOVERFLOW)
		return kipt_refuse(info->extack, attr, -ENXIO,
				   "CPU list \"%.64s\" names a CPU that does not exist; online CPUs: %*pbl",
				   text, cpumask_pr_args(cpu_online_mask));
	if (err)
		return kipt_refuse(info->extack, attr, -EINVAL,
				   "CPU list \"%.64s\" is malformed; write it like 0-3,6",
				   text);
	if (cpumask_empty(cpus))
		return kipt_refuse(info->extack, attr, -EINVAL,
				   "CPU list is empty; online CPUs: %*pbl",
				   cpumask_pr_args(cpu_online_mask));
	return 0;
}

static int parse_mode(struct genl_info *info, u32 *mode)
{
	struct nlattr *attr = info->attrs[KIPT_A_SESSION_MODE];

	*mode = attr ? nla_get_u32(attr) : KIPT_MODE_RING;
	if (*mode == KIPT_MODE_RING || *mode == KIPT_MODE_ONCE)
		return 0;
	return kipt_refuse(info->extack, attr, -EINVAL,
			   "mode %u is unknown; allowed: %u (ring), %u (once)",
			   *mode, KIPT_MODE_RING, KIPT_MODE_ONCE);
}

static int parse_bits(struct genl_info *info, u32 type, const char *name,
		      u32 allowed, u32 *bits)
{
	struct nlattr *attr = info->attrs[type];

	*bits = attr ? nla_get_u32(attr) : 0;
	if (!(*bits & ~allowed))
		return 0;
	return kipt_refuse(info->extack, attr, -EINVAL,
			   "%s %#x has unknown bits; allowed: %#x", name,
			   *bits, allowed);
}

static int parse_new(struct genl_info *info,
		     struct kipt_session_config *config)
{
	int err;

	err = require(info, KIPT_A_SESSION_CPUS, "cpus");
	err = err ?: require(info, KIPT_A_SESSION_SIZE, "size");
	err = err ?: require(info, KIPT_A_SESSION_CTL, "ctl");
	err = err ?: parse_cpus(info, config->cpus);
	err = err ?: parse_mode(info, &config->mode);
	err = err ?: parse_bits(info, KIPT_A_SESSION_FLAGS, "flags", FLAGS_ALL,
				&config->flags);
	if (err)
		return err;
	config->size = nla_get_u64(info->attrs[KIPT_A_SESSION_SIZE]);
	config->ctl = nla_get_u64(info->attrs[KIPT_A_SESSION_CTL]);
	config->portid = info->snd_portid;
	return 0;
}

static int reply_id(struct genl_info *info, u32 id)
{
	struct sk_buff *skb;
	void *header;

	skb = new_reply(info, nla_total_size(sizeof(u32)), &header);
	if (!skb)
		return -ENOMEM;
	if (nla_put_u32(skb, KIPT_A_SESSION_ID, id)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

/* A session nobody learns the number of would be lost: take it back then. */
static int create_and_reply(struct genl_info *info,
			    const struct kipt_session_config *config)
{
	struct kipt_session *session;
	u32 id;
	int err;

	err = kipt_session_create(config, info->extack, &id);
	if (err)
		return err;
	err = reply_id(info, id);
	if (!err)
		return 0;
	session = kipt_session_find(id);
	if (session) {
		kipt_session_destroy(session);
		kipt_session_put(session);
	}
	return err;
}

static int kipt_netlink_session_new(struct sk_buff *request,
				    struct genl_info *info)
{
	struct kipt_session_config config = {};
	int err;

	err = check_permission(request, info->extack);
	err = err ?: check_pt(info->extack);
	if (err)
		return err;
	if (!zalloc_cpumask_var(&config.cpus, GFP_KERNEL))
		return -ENOMEM;
	err = parse_new(info, &config);
	err = err ?: create_and_reply(info, &config);
	free_cpumask_var(config.cpus);
	return err;
}

static int kipt_netlink_session_start(struct sk_buff *request,
				      struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = find_own_session(request, info, &session);
	if (err)
		return err;
	err = kipt_session_start(session, info->extack);
	kipt_session_put(session);
	return err;
}

static int kipt_netlink_session_stop(struct sk_buff *request,
				     struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = find_own_session(request, info, &session);
	if (err)
		return err;
	err = kipt_session_stop(session, info->extack);
	kipt_session_put(session);
	return err;
}

static int kipt_netlink_session_del(struct sk_buff *request,
				    struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = find_own_session(request, info, &session);
	if (err)
		return err;
	kipt_session_destroy(session);
	kipt_session_put(session);
	return 0;
}

static u32 trace_state(const struct kipt_trace *trace)
{
	if (READ_ONCE(trace->running))
		return KIPT_STATE_RUNNING;
	return trace->session->generation ? KIPT_STATE_STOPPED :
					    KIPT_STATE_NEW;
}

static int put_trace(struct sk_buff *skb, struct kipt_trace *trace)
{
	struct kipt_trace_result result;
	struct nlattr *nest = nla_nest_start(skb, KIPT_A_SESSION_CPU);
	const struct kipt_buffer *buffer = trace->buffer;

	kipt_trace_result(trace, &result);
	if (!nest || nla_put_u32(skb, KIPT_A_CPU_ID, trace->cpu) ||
	    nla_put_u32(skb, KIPT_A_CPU_STATE, trace_state(trace)) ||
	    nla_put_u64_64bit(skb, KIPT_A_CPU_SIZE, buffer->size,
			      KIPT_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, KIPT_A_CPU_BYTES,
			      result.head - result.tail,
			      KIPT_A_CPU_PAD) ||
	    nla_put_u64_64bit(skb, KIPT_A_CPU_HEAD,
			      result.tail ? result.tail : result.head,
			      KIPT_A_CPU_PAD) ||
	    nla_put_u32(skb, KIPT_A_CPU_WRAPPED,
			result.head > buffer->size) ||
	    nla_put_u64_64bit(skb, KIPT_A_CPU_STATUS,
			      result.registers.status, KIPT_A_CPU_PAD) ||
	    nla_put_u32(skb, KIPT_A_CPU_BLOCKS, buffer->nr_regions) ||
	    nla_put_u32(skb, KIPT_A_CPU_BLOCK_MIN,
			PAGE_SIZE << buffer->order_min) ||
	    nla_put_u32(skb, KIPT_A_CPU_BLOCK_MAX,
			PAGE_SIZE << buffer->order_max) ||
	    nla_put_u64_64bit(skb, KIPT_A_CPU_PMIS,
			      atomic64_read(&trace->pmis), KIPT_A_CPU_PAD) ||
	    nla_put_u32(skb, KIPT_A_CPU_OFFLINE,
			result.cause == KIPT_STOP_CAUSE_OFFLINE) ||
	    nla_put_u64_64bit(skb, KIPT_A_CPU_RECORDS,
			      atomic64_read(&trace->records), KIPT_A_CPU_PAD) ||
	    (result.cause &&
	     nla_put_u32(skb, KIPT_A_CPU_CAUSE, result.cause)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_session(struct sk_buff *skb, struct kipt_session *session,
		       bool all_cpus)
{
	u32 i;

	if (nla_put_u32(skb, KIPT_A_SESSION_ID, session->id) ||
	    put_cpu_list(skb, KIPT_A_SESSION_CPUS, session->cpus) ||
	    nla_put_u32(skb, KIPT_A_SESSION_MODE, session->mode) ||
	    put_u64(skb, KIPT_A_SESSION_SIZE, session->size) ||
	    put_u64(skb, KIPT_A_SESSION_CTL, session->ctl) ||
	    nla_put_u32(skb, KIPT_A_SESSION_FLAGS, session->flags) ||
	    nla_put_u32(skb, KIPT_A_SESSION_STATE, session->state))
		return -EMSGSIZE;
	if (!all_cpus && session->nr_traces > CPUS_IN_DUMP_MAX)
		return 0;
	for (i = 0; i < session->nr_traces; i++)
		if (put_trace(skb, &session->traces[i]))
			return -EMSGSIZE;
	return 0;
}

static size_t session_size(const struct kipt_session *session)
{
	return NLMSG_GOODSIZE + CPU_LIST_MAX + session->nr_traces * 256;
}

static int kipt_netlink_session_get(struct sk_buff *request,
				    struct genl_info *info)
{
	struct kipt_session *session;
	struct sk_buff *skb;
	void *header;
	int err;

	err = check_permission(request, info->extack);
	err = err ?: find_session(info, &session);
	if (err)
		return err;
	skb = new_reply(info, session_size(session), &header);
	if (!skb) {
		err = -ENOMEM;
		goto out;
	}
	mutex_lock(&session->lock);
	err = session->dead ? -ENOENT : put_session(skb, session, true);
	mutex_unlock(&session->lock);
	if (err) {
		nlmsg_free(skb);
		goto out;
	}
	genlmsg_end(skb, header);
	err = genlmsg_reply(skb, info);
out:
	kipt_session_put(session);
	return err;
}

static int kipt_netlink_dump_start(struct netlink_callback *cb)
{
	return check_permission(cb->skb, cb->extack);
}

/* Return: 0, or -EMSGSIZE if it goes into the next message. */
static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    struct kipt_session *session)
{
	void *header;
	int err = 0;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			     cb->nlh->nlmsg_seq, &family, NLM_F_MULTI,
			     KIPT_CMD_SESSION_GET);
	if (!header)
		return -EMSGSIZE;
	mutex_lock(&session->lock);
	if (session->dead)
		genlmsg_cancel(skb, header);
	else
		err = put_session(skb, session, false);
	if (!session->dead && err)
		genlmsg_cancel(skb, header);
	else if (!session->dead)
		genlmsg_end(skb, header);
	mutex_unlock(&session->lock);
	return err;
}

/* cb->args[0] is the number of the session told last. */
static int kipt_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct kipt_session *session;
	int err;

	while ((session = kipt_session_next(cb->args[0]))) {
		err = dump_one(skb, cb, session);
		if (!err)
			cb->args[0] = session->id;
		kipt_session_put(session);
		if (err)
			return skb->len ?: err;
	}
	return skb->len;
}

static int parse_fetch(struct genl_info *info,
		       struct kipt_fetch_request *request)
{
	struct nlattr *cpu = info->attrs[KIPT_A_SESSION_CPU_ID];

	request->portid = info->snd_portid;
	request->only_cpu = cpu ? nla_get_u32(cpu) : KIPT_FETCH_ALL_CPUS;
	return parse_bits(info, KIPT_A_SESSION_OUTPUT, "output", OUTPUT_ALL,
			  &request->output);
}

static int reply_fetch(struct genl_info *info, struct kipt_session *session)
{
	struct sk_buff *skb;
	void *header;

	skb = new_reply(info, NLMSG_GOODSIZE, &header);
	if (!skb)
		return -ENOMEM;
	if (nla_put_u32(skb, KIPT_A_SESSION_ID, session->id) ||
	    put_u64(skb, KIPT_A_SESSION_TRACE_BYTES,
		    kipt_fetch_trace_bytes(session->fetch))) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

/* The reply goes out before the first records can. */
static int fetch_locked(struct genl_info *info, struct kipt_session *session,
			const struct kipt_fetch_request *request)
{
	struct nlattr *credit = info->attrs[KIPT_A_SESSION_CREDIT];
	int err;

	err = kipt_session_fetch(session, request, info->extack);
	if (err)
		return err;
	err = reply_fetch(info, session);
	if (err) {
		kipt_fetch_destroy(session->fetch);
		session->fetch = NULL;
		return err;
	}
	kipt_fetch_run(session->fetch, credit ? nla_get_u32(credit) : 0);
	return 0;
}

static int kipt_netlink_fetch(struct sk_buff *skb, struct genl_info *info)
{
	struct kipt_fetch_request request;
	struct kipt_session *session;
	int err;

	err = find_own_session(skb, info, &session);
	if (err)
		return err;
	err = parse_fetch(info, &request);
	if (!err) {
		mutex_lock(&session->lock);
		err = fetch_locked(info, session, &request);
		mutex_unlock(&session->lock);
	}
	kipt_session_put(session);
	return err;
}

static int refuse_no_fetch(struct genl_info *info, u32 id, int err)
{
	if (err == -EPERM)
		return kipt_refuse(info->extack, NULL, err,
				   "the fetch of session %u is another socket's",
				   id);
	return kipt_refuse(info->extack, NULL, -ENOENT,
			   "no fetch of session %u is under way", id);
}

static int kipt_netlink_credit(struct sk_buff *skb, struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = require(info, KIPT_A_SESSION_CREDIT, "credit");
	err = err ?: find_own_session(skb, info, &session);
	if (err)
		return err;
	mutex_lock(&session->lock);
	err = session->fetch ?
	      kipt_fetch_credit(session->fetch, info->snd_portid,
				nla_get_u32(info->attrs[KIPT_A_SESSION_CREDIT])) :
	      -ENOENT;
	mutex_unlock(&session->lock);
	if (err)
		err = refuse_no_fetch(info, session->id, err);
	kipt_session_put(session);
	return err;
}

static int kipt_netlink_fetch_cancel(struct sk_buff *skb,
				     struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = find_own_session(skb, info, &session);
	if (err)
		return err;
	mutex_lock(&session->lock);
	err = session->fetch ? kipt_fetch_cancel(session->fetch) : -ENOENT;
	mutex_unlock(&session->lock);
	if (err)
		err = refuse_no_fetch(info, session->id, err);
	kipt_session_put(session);
	return err;
}

static int put_records(struct sk_buff *skb,
		       const struct kipt_records_message *message)
{
	if (nla_put_u32(skb, KIPT_A_SESSION_ID, message->id) ||
	    nla_put_u32(skb, KIPT_A_SESSION_CPU_ID, message->cpu) ||
	    put_u64(skb, KIPT_A_SESSION_SEQ, message->seq) ||
	    put_u64(skb, KIPT_A_SESSION_LOST, message->lost) ||
	    put_u64(skb, KIPT_A_SESSION_TRACE_DONE, message->trace_done))
		return -EMSGSIZE;
	if (message->count &&
	    nla_put(skb, KIPT_A_SESSION_DATA,
		    message->count * sizeof(*message->records),
		    message->records))
		return -EMSGSIZE;
	if (message->last &&
	    (nla_put_u32(skb, KIPT_A_SESSION_DONE, message->done) ||
	     put_u64(skb, KIPT_A_SESSION_TOTAL, message->total)))
		return -EMSGSIZE;
	return 0;
}

/* Two u32 and five u64 with their padding, and the records. */
static size_t records_size(const struct kipt_records_message *message)
{
	return 3 * nla_total_size(sizeof(u32)) +
	       4 * nla_total_size_64bit(sizeof(u64)) +
	       nla_total_size(message->count * sizeof(*message->records));
}

int kipt_netlink_records(const struct kipt_records_message *message)
{
	struct sk_buff *skb;
	void *header;

	skb = genlmsg_new(records_size(message), GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	header = genlmsg_put(skb, message->portid, 0, &family, 0,
			     KIPT_CMD_RECORDS);
	if (!header || put_records(skb, message)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_unicast(&init_net, skb, message->portid);
}

void kipt_netlink_event(u32 id, u32 state)
{
	struct sk_buff *skb;
	void *header;

	if (!genl_has_listeners(&family, &init_net, 0))
		return;
	skb = genlmsg_new(2 * nla_total_size(sizeof(u32)), GFP_KERNEL);
	if (!skb)
		return;
	header = genlmsg_put(skb, 0, 0, &family, 0, KIPT_CMD_SESSION_EVENT);
	if (!header || nla_put_u32(skb, KIPT_A_SESSION_ID, id) ||
	    nla_put_u32(skb, KIPT_A_SESSION_STATE, state)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast(&family, skb, 0, 0, GFP_KERNEL);
}

#define OP(_cmd, _doit, _policy)					\
	{ .cmd = _cmd, .doit = _doit, .policy = _policy,		\
	  .maxattr = ARRAY_SIZE(_policy) - 1 }

static const struct genl_ops ops[] = {
	{ .cmd = KIPT_CMD_GET_INFO, .doit = kipt_netlink_get_info },
	OP(KIPT_CMD_SESSION_NEW, kipt_netlink_session_new, session_new_policy),
	OP(KIPT_CMD_SESSION_START, kipt_netlink_session_start, id_policy),
	OP(KIPT_CMD_SESSION_STOP, kipt_netlink_session_stop, id_policy),
	OP(KIPT_CMD_SESSION_DEL, kipt_netlink_session_del, id_policy),
	{
		.cmd = KIPT_CMD_SESSION_GET,
		.doit = kipt_netlink_session_get,
		.start = kipt_netlink_dump_start,
		.dumpit = kipt_netlink_dump,
		.policy = id_policy,
		.maxattr = ARRAY_SIZE(id_policy) - 1,
	},
	OP(KIPT_CMD_FETCH, kipt_netlink_fetch, fetch_policy),
	OP(KIPT_CMD_CREDIT, kipt_netlink_credit, credit_policy),
	OP(KIPT_CMD_FETCH_CANCEL, kipt_netlink_fetch_cancel, id_policy),
};

static const struct genl_multicast_group groups[] = {
	{ .name = KIPT_MCGRP_EVENTS },
};

/* Session numbers say nothing of the trace, so events are open to everyone. */
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
		kipt_session_owner_gone(notify->portid);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_closed,
};

int kipt_netlink_init(void)
{
	int err;

	err = netlink_register_notifier(&socket_notifier);
	if (err)
		return err;
	err = genl_register_family(&family);
	if (err)
		netlink_unregister_notifier(&socket_notifier);
	return err;
}

void kipt_netlink_uninit(void)
{
	genl_unregister_family(&family);
	netlink_unregister_notifier(&socket_notifier);
}
