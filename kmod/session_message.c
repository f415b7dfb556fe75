// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses and answers the commands about sessions. Values that are out of the
 * ranges of uapi/kipt.yaml were refused by netlink's policies before; what is
 * checked here depends on other values. Owns what a dump remembers from one
 * call to the next. Process context.
 */
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "arm.h"
#include "buffer.h"
#include "crash_hooks.h"
#include "follow.h"
#include "killed.h"
#include "netlink.h"
#include "permission.h"
#include "refuse.h"
#include "rtit_regs.h"
#include "session.h"
#include "session_message.h"
#include "setup.h"
#include "sideband.h"

/* All of session-get's attributes but the CPU list. */
#define SESSION_BYTES	1536

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, KIPT_A_SESSION_PAD);
}

/* A session that the caller may start, stop and delete. */
static int find_to_control(struct sk_buff *request, struct genl_info *info,
			   struct kipt_session **session)
{
	int err;

	err = kipt_permission_trace(request, info->extack);
	if (err)
		return err;
	err = kipt_netlink_find(info->attrs[KIPT_A_SESSION_ID], session,
				info->extack);
	if (err)
		return err;
	err = kipt_permission_control(request, *session, info->extack);
	if (err)
		kipt_session_put(*session);
	return err;
}

int kipt_session_message_start(struct sk_buff *request,
			       struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = find_to_control(request, info, &session);
	if (err)
		return err;
	err = kipt_session_start(session, info->extack);
	kipt_session_put(session);
	return err;
}

int kipt_session_message_stop(struct sk_buff *request, struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = find_to_control(request, info, &session);
	if (err)
		return err;
	err = kipt_session_stop(session, KIPT_STOP_CAUSE_USER, info->extack);
	kipt_session_put(session);
	return err;
}

int kipt_session_message_del(struct sk_buff *request, struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = find_to_control(request, info, &session);
	if (err)
		return err;
	kipt_session_destroy(session);
	kipt_session_put(session);
	return 0;
}

static int put_filters(struct sk_buff *skb, const struct kipt_session *session)
{
	const struct kipt_session_filter *filter;
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < session->nr_filters; i++) {
		filter = &session->filters[i];
		nest = nla_nest_start(skb, KIPT_A_SESSION_FILTER);
		if (!nest ||
		    nla_put_u32(skb, KIPT_A_FILTER_KIND, filter->kind) ||
		    nla_put_u64_64bit(skb, KIPT_A_FILTER_FIRST, filter->first,
				      KIPT_A_FILTER_PAD) ||
		    nla_put_u64_64bit(skb, KIPT_A_FILTER_LAST, filter->last,
				      KIPT_A_FILTER_PAD))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

/* What an armed session prints at a crash, and what keeps it from seeing one. */
static int put_arming(struct sk_buff *skb, const struct kipt_session *session)
{
	char why[KIPT_REFUSE_BYTES];

	if (!kipt_arm_is_armed(session))
		return 0;
	if (nla_put_u32(skb, KIPT_A_SESSION_PRINT_BRANCHES,
			session->print_branches) ||
	    nla_put_u32(skb, KIPT_A_SESSION_PRINT_CPUS, session->print_cpus) ||
	    nla_put_u32(skb, KIPT_A_SESSION_PRINT_USER, session->print_user))
		return -EMSGSIZE;
	if (kipt_crash_hooks_fire(why, sizeof(why)) &&
	    (!(session->flags & KIPT_SESSION_FLAGS_USER) ||
	     kipt_killed_fires(why, sizeof(why))))
		return 0;
	return nla_put_string(skb, KIPT_A_SESSION_HOOKS_LOST, why);
}

/* What was asked for. */
static int put_wishes(struct sk_buff *skb, const struct kipt_session *session)
{
	if (nla_put_u32(skb, KIPT_A_SESSION_ID, session->id) ||
	    nla_put_u32(skb, KIPT_A_SESSION_MODE, session->mode) ||
	    put_u64(skb, KIPT_A_SESSION_SIZE, session->size) ||
	    put_u64(skb, KIPT_A_SESSION_CTL, session->ctl) ||
	    nla_put_u32(skb, KIPT_A_SESSION_FLAGS, session->flags) ||
	    put_filters(skb, session) ||
	    (session->pid &&
	     nla_put_u32(skb, KIPT_A_SESSION_PID, session->pid)) ||
	    put_arming(skb, session) ||
	    (session->by_cr3 &&
	     put_u64(skb, KIPT_A_SESSION_CR3, session->cr3)))
		return -EMSGSIZE;
	return 0;
}

static int put_losses(struct sk_buff *skb, struct kipt_session *session)
{
	struct kipt_sideband_losses losses = {};

	/* It is made by session-new. */
	if (session->sideband)
		kipt_sideband_losses(session->sideband, &losses);
	if (put_u64(skb, KIPT_A_SESSION_SPACES_LOST, losses.spaces) ||
	    put_u64(skb, KIPT_A_SESSION_SWITCHES_LOST, losses.switches) ||
	    put_u64(skb, KIPT_A_SESSION_CODE_KEPT, losses.code_kept) ||
	    put_u64(skb, KIPT_A_SESSION_CODE_DROPPED, losses.code_dropped))
		return -EMSGSIZE;
	return 0;
}

static int put_followed(struct sk_buff *skb, struct kipt_session *session)
{
	const struct kipt_follow *follow = session->follow;

	if (!follow)
		return 0;
	if (nla_put_u32(skb, KIPT_A_SESSION_PROCESSES,
			kipt_follow_alive(follow)) ||
	    put_u64(skb, KIPT_A_SESSION_PROCESSES_LOST,
		    kipt_follow_lost(follow)))
		return -EMSGSIZE;
	return 0;
}

/* What became of it. */
static int put_status(struct sk_buff *skb, struct kipt_session *session)
{
	lockdep_assert_held(&session->lock);
	if (nla_put_u32(skb, KIPT_A_SESSION_STATE, session->state) ||
	    (session->cause &&
	     nla_put_u32(skb, KIPT_A_SESSION_CAUSE, session->cause)) ||
	    put_u64(skb, KIPT_A_SESSION_GENERATION, session->generation) ||
	    nla_put_u32(skb, KIPT_A_SESSION_UID,
			from_kuid_munged(&init_user_ns, session->uid)) ||
	    put_u64(skb, KIPT_A_SESSION_MEMORY,
		    READ_ONCE(session->setup_done)) ||
	    put_losses(skb, session))
		return -EMSGSIZE;
	return put_followed(skb, session);
}

/* The CPU list comes last: it is what may be too long for a small reader. */
static int put_session(struct sk_buff *skb, struct kipt_session *session)
{
	if (put_wishes(skb, session) || put_status(skb, session))
		return -EMSGSIZE;
	return kipt_netlink_put_cpus(skb, KIPT_A_SESSION_CPUS, session->cpus);
}

static size_t session_size(const struct kipt_session *session)
{
	return SESSION_BYTES + session->nr_traces * sizeof("1234,");
}

static int reply_session(struct genl_info *info, struct kipt_session *session)
{
	struct sk_buff *skb;
	void *header;
	int err;

	skb = kipt_netlink_reply(info, session_size(session), &header);
	if (!skb)
		return -ENOMEM;
	mutex_lock(&session->lock);
	/* Its parts are freed without the lock, once it is dead. */
	if (READ_ONCE(session->dead))
		err = kipt_session_refuse_gone(session, info->extack);
	else
		err = put_session(skb, session);
	mutex_unlock(&session->lock);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

int kipt_session_message_get(struct sk_buff *request, struct genl_info *info)
{
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(request, info->extack);
	if (err)
		return err;
	err = kipt_netlink_find(info->attrs[KIPT_A_SESSION_ID], &session,
				info->extack);
	if (err)
		return err;
	err = reply_session(info, session);
	kipt_session_put(session);
	return err;
}

static u32 trace_state(const struct kipt_session *session,
		       const struct kipt_trace *trace)
{
	if (session->state == KIPT_STATE_SETUP)
		return KIPT_STATE_SETUP;
	if (READ_ONCE(trace->running))
		return KIPT_STATE_RUNNING;
	return session->generation ? KIPT_STATE_STOPPED : KIPT_STATE_NEW;
}

static int put_cpu_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, KIPT_A_CPU_PAD);
}

static int put_buffer(struct sk_buff *skb, const struct kipt_buffer *buffer)
{
	if (put_cpu_u64(skb, KIPT_A_CPU_SIZE, buffer->size) ||
	    nla_put_u32(skb, KIPT_A_CPU_BLOCKS, buffer->nr_regions) ||
	    nla_put_u32(skb, KIPT_A_CPU_BLOCK_MIN,
			PAGE_SIZE << buffer->order_min) ||
	    nla_put_u32(skb, KIPT_A_CPU_BLOCK_MAX,
			PAGE_SIZE << buffer->order_max))
		return -EMSGSIZE;
	return 0;
}

static int put_result(struct sk_buff *skb, struct kipt_trace *trace)
{
	struct kipt_trace_result result;

	kipt_trace_result(trace, &result);
	if ((result.cause &&
	     nla_put_u32(skb, KIPT_A_CPU_CAUSE, result.cause)) ||
	    put_cpu_u64(skb, KIPT_A_CPU_HEAD, result.head) ||
	    put_cpu_u64(skb, KIPT_A_CPU_TAIL, result.tail) ||
	    put_cpu_u64(skb, KIPT_A_CPU_STATUS, result.registers.status) ||
	    put_cpu_u64(skb, KIPT_A_CPU_PMIS, atomic64_read(&trace->pmis)))
		return -EMSGSIZE;
	return 0;
}

static int put_trace(struct sk_buff *skb, const struct kipt_session *session,
		     struct kipt_trace *trace)
{
	u32 state = trace_state(session, trace);
	struct nlattr *nest;

	if (nla_put_u32(skb, KIPT_A_SESSION_ID, session->id))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, KIPT_A_SESSION_CPU);
	if (!nest || nla_put_u32(skb, KIPT_A_CPU_CPU, trace->cpu) ||
	    nla_put_u32(skb, KIPT_A_CPU_STATE, state) ||
	    put_result(skb, trace))
		return -EMSGSIZE;
	/* Its buffer is being made, without the lock. */
	if (state != KIPT_STATE_SETUP && put_buffer(skb, trace->buffer))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * struct list_state - where a dump of sessions is
 * @only: number of the session that was asked for, 0: all
 * @last: number of the last one that is told completely
 * @id: the one under way
 * @told: messages told of it: 0: none; n: its own, and n - 1 CPUs
 */
struct list_state {
	u32 only;
	u32 last;
	u32 id;
	u32 told;
};

static struct list_state *list_state(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct list_state) > KIPT_NETLINK_STATE_BYTES);
	return kipt_netlink_state(cb);
}

int kipt_session_message_list_start(struct netlink_callback *cb,
				    struct nlattr **attrs,
				    struct netlink_ext_ack *extack)
{
	struct list_state *state = list_state(cb);
	struct nlattr *id = attrs[KIPT_A_SESSION_ID];
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(cb->skb, extack);
	if (err || !id)
		return err;
	err = kipt_netlink_find(id, &session, extack);
	if (err)
		return err;
	state->only = session->id;
	state->last = session->id - 1;
	kipt_session_put(session);
	return 0;
}

/* The session a dump is at; NULL: that was all. */
static struct kipt_session *list_next(struct list_state *state)
{
	struct kipt_session *session = kipt_session_next(state->last);

	if (session && state->only && session->id != state->only) {
		kipt_session_put(session);
		return NULL;
	}
	if (session && session->id != state->id) {
		state->id = session->id;
		state->told = 0;
	}
	return session;
}

/*
 * A list too long for the reader is left out: its CPUs are told one by one.
 * @alone: nothing stands before this message that takes its room.
 */
static int put_listed(struct sk_buff *skb, struct kipt_session *session,
		      u32 told, bool alone)
{
	int err;

	if (told)
		return put_trace(skb, session, &session->traces[told - 1]);
	if (put_wishes(skb, session) || put_status(skb, session))
		return -EMSGSIZE;
	err = kipt_netlink_put_cpus(skb, KIPT_A_SESSION_CPUS, session->cpus);
	return err == -EMSGSIZE && alone ? 0 : err;
}

static int list_one(struct sk_buff *skb, struct netlink_callback *cb,
		    struct kipt_session *session, u32 told)
{
	bool alone = !skb->len;
	void *header = kipt_netlink_part(skb, cb, KIPT_CMD_SESSION_GET);
	int err;

	if (!header)
		return -EMSGSIZE;
	mutex_lock(&session->lock);
	/* Its parts are freed without the lock, once it is dead. */
	err = READ_ONCE(session->dead) ? -ENOENT :
					 put_listed(skb, session, told, alone);
	mutex_unlock(&session->lock);
	if (err) {
		genlmsg_cancel(skb, header);
		return err;
	}
	genl_dump_check_consistent(cb, header);
	genlmsg_end(skb, header);
	return 0;
}

/* All there is of one session, as far as there is room, and as it lives. */
static int list_session(struct sk_buff *skb, struct netlink_callback *cb,
			struct kipt_session *session)
{
	struct list_state *state = list_state(cb);
	int err;

	for (; state->told <= session->nr_traces; state->told++) {
		err = list_one(skb, cb, session, state->told);
		if (err == -ENOENT)
			break;
		if (err)
			return err;
	}
	state->last = session->id;
	return 0;
}

int kipt_session_message_list(struct sk_buff *skb, struct netlink_callback *cb,
			      struct netlink_ext_ack *extack)
{
	struct list_state *state = list_state(cb);
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(cb->skb, extack);
	if (err)
		return err;
	cb->seq = kipt_session_changes();
	while ((session = list_next(state))) {
		err = list_session(skb, cb, session);
		kipt_session_put(session);
		if (err)
			return skb->len ? skb->len : err;
	}
	return skb->len;
}

static int parse_cpus(struct nlattr *attr, struct cpumask *cpus,
		      struct netlink_ext_ack *extack)
{
	const char *text = nla_data(attr);
	int err = cpulist_parse(text, cpus);

	if (err == -ERANGE || err == -EOVERFLOW)
		return kipt_refuse(extack, attr, -ENXIO,
				   "CPU list \"%.64s\" names a CPU that does not exist; online CPUs: %*pbl",
				   text, cpumask_pr_args(cpu_online_mask));
	if (err)
		return kipt_refuse(extack, attr, -EINVAL,
				   "CPU list \"%.64s\" is malformed; write it like 0-3,6",
				   text);
	if (cpumask_empty(cpus))
		return kipt_refuse(extack, attr, -EINVAL,
				   "attribute \"cpus\": the list is empty; online CPUs: %*pbl",
				   cpumask_pr_args(cpu_online_mask));
	return 0;
}

static int parse_filter(struct nlattr *nest,
			struct kipt_session_filter *filter,
			struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[KIPT_A_FILTER_MAX + 1];
	int err;

	/* Its attributes were held against the policy with the request. */
	err = nla_parse_nested(attrs, KIPT_A_FILTER_MAX, nest, NULL, NULL);
	if (!err)
		err = kipt_netlink_missing(attrs[KIPT_A_FILTER_KIND],
					   "filter/kind", extack);
	if (!err)
		err = kipt_netlink_missing(attrs[KIPT_A_FILTER_FIRST],
					   "filter/first", extack);
	if (!err)
		err = kipt_netlink_missing(attrs[KIPT_A_FILTER_LAST],
					   "filter/last", extack);
	if (err)
		return err;
	filter->kind = nla_get_u32(attrs[KIPT_A_FILTER_KIND]);
	filter->first = nla_get_u64(attrs[KIPT_A_FILTER_FIRST]);
	filter->last = nla_get_u64(attrs[KIPT_A_FILTER_LAST]);
	if (filter->first <= filter->last)
		return 0;
	return kipt_refuse(extack, nest, -EINVAL,
			   "filter %#llx-%#llx ends before it begins",
			   filter->first, filter->last);
}

/* A parsed request has one attribute of each type, but filters may be more. */
static int parse_filters(struct netlink_callback *cb,
			 struct kipt_session_config *config,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *attr;
	int rest, err;

	nlmsg_for_each_attr(attr, cb->nlh, GENL_HDRLEN, rest) {
		if (nla_type(attr) != KIPT_A_SESSION_FILTER)
			continue;
		if (config->nr_filters == KIPT_FILTERS_MAX)
			return kipt_refuse(extack, attr, -EINVAL,
					   "more than %u filters",
					   KIPT_FILTERS_MAX);
		err = parse_filter(attr, &config->filters[config->nr_filters],
				   extack);
		if (err)
			return err;
		config->nr_filters++;
	}
	return 0;
}

static int parse_process(struct nlattr **attrs,
			 struct kipt_session_config *config,
			 struct netlink_ext_ack *extack)
{
	struct nlattr *pid = attrs[KIPT_A_SESSION_PID];
	struct nlattr *cr3 = attrs[KIPT_A_SESSION_CR3];

	config->pid = pid ? nla_get_u32(pid) : 0;
	config->by_cr3 = cr3;
	config->cr3 = cr3 ? nla_get_u64(cr3) : 0;
	if (pid && cr3)
		return kipt_refuse(extack, cr3, -EINVAL,
				   "attributes \"pid\" and \"cr3\" exclude each other");
	if (config->flags & KIPT_SESSION_FLAGS_FOLLOW_FORK && !pid)
		return kipt_refuse(extack, attrs[KIPT_A_SESSION_FLAGS],
				   -EINVAL,
				   "flag follow-fork needs attribute \"pid\"");
	return 0;
}

/* Only kernel code tells whose code runs; a part of it all tells no end. */
static int check_user(struct nlattr **attrs,
		      const struct kipt_session_config *config,
		      struct netlink_ext_ack *extack)
{
	const u64 needed = RTIT_CTL_USER | RTIT_CTL_OS | RTIT_CTL_BRANCHEN;
	struct nlattr *flags = attrs[KIPT_A_SESSION_FLAGS];

	if (!(config->flags & KIPT_SESSION_FLAGS_ARMED))
		return kipt_refuse(extack, flags, -EINVAL,
				   "flag user needs flag armed");
	if (attrs[KIPT_A_SESSION_PID] || attrs[KIPT_A_SESSION_CR3] ||
	    attrs[KIPT_A_SESSION_FILTER])
		return kipt_refuse(extack, flags, -EINVAL,
				   "flag user excludes \"pid\", \"cr3\" and \"filter\": any program may be killed");
	if ((config->ctl & needed) == needed)
		return 0;
	return kipt_refuse(extack, attrs[KIPT_A_SESSION_CTL], -EINVAL,
			   "flag user needs User, OS and BranchEn in IA32_RTIT_CTL");
}

/* What is printed at a crash is that of armed sessions. */
static int parse_prints(struct nlattr **attrs,
			struct kipt_session_config *config,
			struct netlink_ext_ack *extack)
{
	const struct {
		u32 attr;
		u32 *value;
		const char *name;
	} prints[] = {
		{ KIPT_A_SESSION_PRINT_BRANCHES, &config->print_branches,
		  "print-branches" },
		{ KIPT_A_SESSION_PRINT_CPUS, &config->print_cpus,
		  "print-cpus" },
		{ KIPT_A_SESSION_PRINT_USER, &config->print_user,
		  "print-user" },
	};
	struct nlattr *attr;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(prints); i++) {
		attr = attrs[prints[i].attr];
		*prints[i].value = attr ? nla_get_u32(attr) : 0;
		if (attr && !(config->flags & KIPT_SESSION_FLAGS_ARMED))
			return kipt_refuse(extack, attr, -EINVAL,
					   "attribute \"%s\" needs flag armed",
					   prints[i].name);
	}
	return 0;
}

static int parse_armed(struct nlattr **attrs,
		       struct kipt_session_config *config,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *flags = attrs[KIPT_A_SESSION_FLAGS];
	int err = parse_prints(attrs, config, extack);

	if (!err && config->flags & KIPT_SESSION_FLAGS_USER)
		err = check_user(attrs, config, extack);
	if (err || !(config->flags & KIPT_SESSION_FLAGS_ARMED))
		return err;
	if (!(config->flags & KIPT_SESSION_FLAGS_DETACHED))
		return kipt_refuse(extack, flags, -EINVAL,
				   "flag armed needs flag detached: what is kept for a crash must outlive its maker");
	if (config->mode != KIPT_MODE_RING)
		return kipt_refuse(extack, attrs[KIPT_A_SESSION_MODE], -EINVAL,
				   "flag armed needs mode ring: it keeps what came last");
	return 0;
}

static int check_present(struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	int err;

	err = kipt_netlink_missing(attrs[KIPT_A_SESSION_CPUS], "cpus", extack);
	if (!err)
		err = kipt_netlink_missing(attrs[KIPT_A_SESSION_SIZE], "size",
					   extack);
	if (!err)
		err = kipt_netlink_missing(attrs[KIPT_A_SESSION_CTL], "ctl",
					   extack);
	return err;
}

static int parse_new(struct netlink_callback *cb, struct nlattr **attrs,
		     struct kipt_session_config *config,
		     struct netlink_ext_ack *extack)
{
	int err;

	err = check_present(attrs, extack);
	if (!err)
		err = parse_cpus(attrs[KIPT_A_SESSION_CPUS], config->cpus,
				 extack);
	if (err)
		return err;
	config->mode = attrs[KIPT_A_SESSION_MODE] ?
		       nla_get_u32(attrs[KIPT_A_SESSION_MODE]) :
		       KIPT_MODE_RING;
	config->size = nla_get_u64(attrs[KIPT_A_SESSION_SIZE]);
	config->ctl = nla_get_u64(attrs[KIPT_A_SESSION_CTL]);
	config->flags = attrs[KIPT_A_SESSION_FLAGS] ?
			nla_get_u32(attrs[KIPT_A_SESSION_FLAGS]) : 0;
	config->uid = current_euid();
	config->sk = NETLINK_CB(cb->skb).sk;
	config->portid = NETLINK_CB(cb->skb).portid;
	err = parse_process(attrs, config, extack);
	if (!err)
		err = parse_armed(attrs, config, extack);
	if (!err)
		err = parse_filters(cb, config, extack);
	return err;
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

/**
 * struct new_state - a dump of session-new
 * @session: what is being made
 * @begun: the request itself was answered
 * @ready: the last message was written
 */
struct new_state {
	struct kipt_session *session;
	bool begun;
	bool ready;
};

static struct new_state *new_state(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct new_state) > KIPT_NETLINK_STATE_BYTES);
	return kipt_netlink_state(cb);
}

int kipt_session_message_new_start(struct netlink_callback *cb,
				   struct nlattr **attrs,
				   struct netlink_ext_ack *extack)
{
	struct kipt_session_config *config;
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(cb->skb, extack);
	if (!err)
		err = check_pt(extack);
	if (err)
		return err;
	config = kzalloc(sizeof(*config), GFP_KERNEL_ACCOUNT);
	if (!config || !zalloc_cpumask_var(&config->cpus, GFP_KERNEL)) {
		kfree(config);
		return -ENOMEM;
	}
	err = parse_new(cb, attrs, config, extack);
	if (!err) {
		session = kipt_setup_begin(config, extack);
		err = PTR_ERR_OR_ZERO(session);
		new_state(cb)->session = err ? NULL : session;
	}
	free_cpumask_var(config->cpus);
	kfree(config);
	return err;
}

static int put_progress(struct sk_buff *skb, struct netlink_callback *cb,
			struct kipt_session *session, bool ready)
{
	void *header = kipt_netlink_part(skb, cb, KIPT_CMD_SESSION_NEW);

	if (!header || nla_put_u32(skb, KIPT_A_SESSION_ID, session->id) ||
	    nla_put_u32(skb, KIPT_A_SESSION_STATE,
			ready ? KIPT_STATE_NEW : KIPT_STATE_SETUP) ||
	    put_u64(skb, KIPT_A_SESSION_MEMORY, session->setup_done) ||
	    put_u64(skb, KIPT_A_SESSION_MEMORY_TOTAL,
		    kipt_setup_total(session)))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return skb->len;
}

/* The first call comes within the request, which is not to take long. */
int kipt_session_message_new(struct sk_buff *skb, struct netlink_callback *cb,
			     struct netlink_ext_ack *extack)
{
	struct new_state *state = new_state(cb);
	int ret;

	if (state->ready)
		return 0;
	ret = kipt_permission_trace(cb->skb, extack);
	if (!ret && state->begun)
		ret = kipt_setup_step(state->session, extack);
	if (ret < 0)
		return ret;
	state->begun = true;
	state->ready = ret;
	return put_progress(skb, cb, state->session, ret);
}

void kipt_session_message_new_done(struct netlink_callback *cb)
{
	struct new_state *state = new_state(cb);

	if (state->session)
		kipt_setup_end(state->session);
	state->session = NULL;
}
