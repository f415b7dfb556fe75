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
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "../trace/buffer.h"
#include "../crash/crash_hooks.h"
#include "../watch/follow.h"
#include "../crash/killed.h"
#include "../lib/limits.h"
#include "reply.h"
#include "../session/permission.h"
#include "../lib/refuse.h"
#include "../hw/rtit_regs.h"
#include "../session/session.h"
#include "session_message.h"
#include "../session/setup.h"
#include "../watch/sideband.h"
#include "../crash/snapshot.h"

/* All of session-get's attributes but the CPU list. */
#define SESSION_BYTES	1536

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, KIPT_A_SESSION_PAD);
}

/* A session that the caller may start, stop and delete. */
static int find_to_control(struct sk_buff *request, struct nlattr *id,
			   struct kipt_session **session,
			   struct kipt_refusal *refusal)
{
	int err;

	err = kipt_permission_trace(request, refusal);
	if (err)
		return err;
	err = kipt_reply_find(id, session, refusal);
	if (err)
		return err;
	err = kipt_permission_control(request, *session, refusal);
	if (err)
		kipt_session_put(*session);
	return err;
}

/**
 * struct control_state - a dump of session-start, -stop or -del
 * @session: referenced
 * @begun: the request itself was answered
 */
struct control_state {
	struct kipt_session *session;
	bool begun;
};

static struct control_state *control_state(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct control_state) > KIPT_REPLY_STATE_BYTES);
	return kipt_reply_state(cb);
}

int kipt_session_message_control_start(struct netlink_callback *cb,
				       struct nlattr **attrs,
				       struct kipt_refusal *refusal)
{
	struct kipt_session *session;
	int err;

	err = find_to_control(cb->skb, attrs[KIPT_A_SESSION_ID], &session,
			      refusal);
	if (!err)
		control_state(cb)->session = session;
	return err;
}

static int control(struct netlink_callback *cb, struct kipt_session *session,
		   struct kipt_refusal *refusal)
{
	switch (kipt_reply_command(cb)) {
	case KIPT_CMD_SESSION_START:
		return kipt_session_start(session, refusal);
	case KIPT_CMD_SESSION_STOP:
		return kipt_session_stop(session, KIPT_STOP_CAUSE_USER,
					 refusal);
	default:
		kipt_session_destroy(session);
		return 0;
	}
}

static int put_id(struct sk_buff *skb, struct netlink_callback *cb, u32 id)
{
	void *header = kipt_reply_part(skb, cb, kipt_reply_command(cb));

	if (!header || nla_put_u32(skb, KIPT_A_SESSION_ID, id))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return skb->len;
}

/* The first call comes within the request, the second waits for CPUs. */
int kipt_session_message_control(struct sk_buff *skb,
				 struct netlink_callback *cb,
				 struct kipt_refusal *refusal)
{
	struct control_state *state = control_state(cb);
	int err;

	if (!state->begun) {
		state->begun = true;
		return put_id(skb, cb, state->session->group.id);
	}
	/* Its owner is forgotten then. */
	if (READ_ONCE(state->session->dead))
		return kipt_session_refuse_gone(state->session, refusal);
	err = kipt_permission_control(cb->skb, state->session, refusal);
	return err ? err : control(cb, state->session, refusal);
}

void kipt_session_message_control_done(struct netlink_callback *cb)
{
	struct control_state *state = control_state(cb);

	if (state->session)
		kipt_session_put(state->session);
	state->session = NULL;
}

static int put_filters(struct sk_buff *skb, const struct kipt_session *session)
{
	const struct kipt_config *config = &session->group.config;
	const struct kipt_filter *filter;
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < config->nr_filters; i++) {
		filter = &config->filters[i];
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
	const struct kipt_config *config = &session->group.config;
	char why[KIPT_REFUSE_BYTES];

	if (!kipt_session_is_armed(session))
		return 0;
	if (nla_put_u32(skb, KIPT_A_SESSION_PRINT_BRANCHES,
			config->print_branches) ||
	    nla_put_u32(skb, KIPT_A_SESSION_PRINT_CPUS, config->print_cpus) ||
	    nla_put_u32(skb, KIPT_A_SESSION_PRINT_USER, config->print_user) ||
	    nla_put_u32(skb, KIPT_A_SESSION_SNAPSHOTS,
			kipt_limits()->snapshots) ||
	    put_u64(skb, KIPT_A_SESSION_SNAPSHOTS_SIZE,
		    session->nr_traces * kipt_snapshot_bytes(config->size)))
		return -EMSGSIZE;
	if (kipt_crash_hooks_fire(why, sizeof(why)) &&
	    (!(config->flags & KIPT_SESSION_FLAGS_USER) ||
	     kipt_killed_fires(why, sizeof(why))))
		return 0;
	return nla_put_string(skb, KIPT_A_SESSION_HOOKS_LOST, why);
}

/* What was asked for. A process has no number where its reader cannot see it. */
static int put_wishes(struct sk_buff *skb, const struct kipt_session *session)
{
	const struct kipt_config *config = &session->group.config;
	pid_t pid = pid_nr_ns(session->process, task_active_pid_ns(current));

	if (nla_put_u32(skb, KIPT_A_SESSION_ID, session->group.id) ||
	    nla_put_u32(skb, KIPT_A_SESSION_MODE, config->mode) ||
	    put_u64(skb, KIPT_A_SESSION_SIZE, config->size) ||
	    put_u64(skb, KIPT_A_SESSION_CTL, config->ctl) ||
	    nla_put_u32(skb, KIPT_A_SESSION_FLAGS, config->flags) ||
	    put_filters(skb, session) ||
	    (pid && nla_put_u32(skb, KIPT_A_SESSION_PID, pid)) ||
	    put_arming(skb, session) ||
	    (session->by_cr3 &&
	     put_u64(skb, KIPT_A_SESSION_CR3, session->cr3)))
		return -EMSGSIZE;
	return 0;
}

static int put_losses(struct sk_buff *skb, struct kipt_session *session)
{
	/* Made by session-new, which may be at work on it. */
	struct kipt_sideband *sideband = smp_load_acquire(&session->group.sideband);
	struct kipt_sideband_losses losses = {};

	if (sideband)
		kipt_sideband_losses(sideband, &losses);
	if (put_u64(skb, KIPT_A_SESSION_SPACES_LOST, losses.spaces) ||
	    put_u64(skb, KIPT_A_SESSION_SWITCHES_LOST, losses.switches))
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

/*
 * What became of it, without session->lock: a start or a stop that is under way
 * may hold that until a CPU answers.
 */
static int put_status(struct sk_buff *skb, struct kipt_session *session)
{
	/* Who sees that it stopped sees why, see set_state(). */
	u32 state = smp_load_acquire(&session->state);
	u32 cause = state == KIPT_STATE_STOPPED ? READ_ONCE(session->cause) : 0;

	if (nla_put_u32(skb, KIPT_A_SESSION_STATE, state) ||
	    (cause && nla_put_u32(skb, KIPT_A_SESSION_CAUSE, cause)) ||
	    put_u64(skb, KIPT_A_SESSION_GENERATION,
		    READ_ONCE(session->generation)) ||
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
	return kipt_reply_put_cpus(skb, KIPT_A_SESSION_CPUS, session->cpus);
}

static size_t session_size(const struct kipt_session *session)
{
	return SESSION_BYTES + session->nr_traces * sizeof("1234,");
}

static int reply_session(struct genl_info *info, struct kipt_session *session,
			 struct kipt_refusal *refusal)
{
	struct sk_buff *skb;
	void *header;
	int err;

	skb = kipt_reply_begin(info, session_size(session), &header);
	if (!skb)
		return -ENOMEM;
	if (kipt_session_pin_live(session)) {
		err = put_session(skb, session);
		kipt_session_unpin(session);
	} else {
		err = kipt_session_refuse_gone(session, refusal);
	}
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

int kipt_session_message_get(struct sk_buff *request, struct genl_info *info,
			     struct kipt_refusal *refusal)
{
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(request, refusal);
	if (err)
		return err;
	err = kipt_reply_find(info->attrs[KIPT_A_SESSION_ID], &session,
			      refusal);
	if (err)
		return err;
	err = reply_session(info, session, refusal);
	kipt_session_put(session);
	return err;
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
	u32 state = kipt_session_trace_state(session, trace);
	struct nlattr *nest;

	if (nla_put_u32(skb, KIPT_A_SESSION_ID, session->group.id))
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
	BUILD_BUG_ON(sizeof(struct list_state) > KIPT_REPLY_STATE_BYTES);
	return kipt_reply_state(cb);
}

int kipt_session_message_list_start(struct netlink_callback *cb,
				    struct nlattr **attrs,
				    struct kipt_refusal *refusal)
{
	struct list_state *state = list_state(cb);
	struct nlattr *id = attrs[KIPT_A_SESSION_ID];
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(cb->skb, refusal);
	if (err || !id)
		return err;
	err = kipt_reply_find(id, &session, refusal);
	if (err)
		return err;
	state->only = session->group.id;
	state->last = session->group.id - 1;
	kipt_session_put(session);
	return 0;
}

/* The session a dump is at; NULL: that was all. */
static struct kipt_session *list_next(struct list_state *state)
{
	struct kipt_session *session = kipt_session_next(state->last);

	if (session && state->only && session->group.id != state->only) {
		kipt_session_put(session);
		return NULL;
	}
	if (session && session->group.id != state->id) {
		state->id = session->group.id;
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
	err = kipt_reply_put_cpus(skb, KIPT_A_SESSION_CPUS, session->cpus);
	return err == -EMSGSIZE && alone ? 0 : err;
}

static int list_one(struct sk_buff *skb, struct netlink_callback *cb,
		    struct kipt_session *session, u32 told)
{
	bool alone = !skb->len;
	void *header = kipt_reply_part(skb, cb, KIPT_CMD_SESSION_GET);
	int err = -ENOENT;

	if (!header)
		return -EMSGSIZE;
	if (kipt_session_pin_live(session)) {
		err = put_listed(skb, session, told, alone);
		kipt_session_unpin(session);
	}
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
	state->last = session->group.id;
	return 0;
}

int kipt_session_message_list(struct sk_buff *skb, struct netlink_callback *cb,
			      struct kipt_refusal *refusal)
{
	struct list_state *state = list_state(cb);
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(cb->skb, refusal);
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
		      struct kipt_refusal *refusal)
{
	const char *text = nla_data(attr);
	int err = cpulist_parse(text, cpus);

	if (err == -ERANGE || err == -EOVERFLOW)
		return kipt_refuse(refusal, attr, -ENXIO,
				   "CPU list \"%.64s\" names a CPU that does not exist; online CPUs: %*pbl",
				   text, cpumask_pr_args(cpu_online_mask));
	if (err)
		return kipt_refuse(refusal, attr, -EINVAL,
				   "CPU list \"%.64s\" is malformed; write it like 0-3,6",
				   text);
	if (cpumask_empty(cpus))
		return kipt_refuse(refusal, attr, -EINVAL,
				   "attribute \"cpus\": the list is empty; online CPUs: %*pbl",
				   cpumask_pr_args(cpu_online_mask));
	return 0;
}

static int parse_filter(struct nlattr *nest,
			struct kipt_filter *filter,
			struct kipt_refusal *refusal)
{
	struct nlattr *attrs[KIPT_A_FILTER_MAX + 1];
	int err;

	/* Its attributes were held against the policy with the request. */
	err = nla_parse_nested(attrs, KIPT_A_FILTER_MAX, nest, NULL, NULL);
	if (!err)
		err = kipt_reply_missing(attrs[KIPT_A_FILTER_KIND],
					 "filter/kind", refusal);
	if (!err)
		err = kipt_reply_missing(attrs[KIPT_A_FILTER_FIRST],
					 "filter/first", refusal);
	if (!err)
		err = kipt_reply_missing(attrs[KIPT_A_FILTER_LAST],
					 "filter/last", refusal);
	if (err)
		return err;
	filter->kind = nla_get_u32(attrs[KIPT_A_FILTER_KIND]);
	filter->first = nla_get_u64(attrs[KIPT_A_FILTER_FIRST]);
	filter->last = nla_get_u64(attrs[KIPT_A_FILTER_LAST]);
	if (filter->first <= filter->last)
		return 0;
	return kipt_refuse(refusal, nest, -EINVAL,
			   "filter %#llx-%#llx ends before it begins",
			   filter->first, filter->last);
}

/* A parsed request has one attribute of each type, but filters may be more. */
static int parse_filters(struct netlink_callback *cb,
			 struct kipt_request *request,
			 struct kipt_refusal *refusal)
{
	struct kipt_config *config = &request->config;
	struct nlattr *attr;
	int rest, err;

	nlmsg_for_each_attr(attr, cb->nlh, GENL_HDRLEN, rest) {
		if (nla_type(attr) != KIPT_A_SESSION_FILTER)
			continue;
		if (config->nr_filters == KIPT_FILTERS_MAX)
			return kipt_refuse(refusal, attr, -EINVAL,
					   "more than %u filters",
					   KIPT_FILTERS_MAX);
		err = parse_filter(attr, &config->filters[config->nr_filters],
				   refusal);
		if (err)
			return err;
		config->nr_filters++;
	}
	return 0;
}

static int parse_process(struct nlattr **attrs,
			 struct kipt_request *request,
			 struct kipt_refusal *refusal)
{
	struct nlattr *pid = attrs[KIPT_A_SESSION_PID];
	struct nlattr *cr3 = attrs[KIPT_A_SESSION_CR3];

	request->pid = pid ? nla_get_u32(pid) : 0;
	request->by_cr3 = cr3;
	request->cr3 = cr3 ? nla_get_u64(cr3) : 0;
	if (pid && cr3)
		return kipt_refuse(refusal, cr3, -EINVAL,
				   "attributes \"pid\" and \"cr3\" exclude each other");
	if (request->config.flags & KIPT_SESSION_FLAGS_FOLLOW_FORK && !pid)
		return kipt_refuse(refusal, attrs[KIPT_A_SESSION_FLAGS],
				   -EINVAL,
				   "flag follow-fork needs attribute \"pid\"");
	return 0;
}

/* Only kernel code tells whose code runs; a part of it all tells no end. */
static int check_user(struct nlattr **attrs,
		      const struct kipt_request *request,
		      struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &request->config;
	const u64 needed = RTIT_CTL_USER | RTIT_CTL_OS | RTIT_CTL_BRANCHEN;
	struct nlattr *flags = attrs[KIPT_A_SESSION_FLAGS];

	if (!(config->flags & KIPT_SESSION_FLAGS_ARMED))
		return kipt_refuse(refusal, flags, -EINVAL,
				   "flag user needs flag armed");
	if (attrs[KIPT_A_SESSION_PID] || attrs[KIPT_A_SESSION_CR3] ||
	    attrs[KIPT_A_SESSION_FILTER])
		return kipt_refuse(refusal, flags, -EINVAL,
				   "flag user excludes \"pid\", \"cr3\" and \"filter\": any program may be killed");
	if ((config->ctl & needed) == needed)
		return 0;
	return kipt_refuse(refusal, attrs[KIPT_A_SESSION_CTL], -EINVAL,
			   "flag user needs User, OS and BranchEn in IA32_RTIT_CTL");
}

/* What is printed at a crash is that of armed sessions. */
static int parse_prints(struct nlattr **attrs,
			struct kipt_request *request,
			struct kipt_refusal *refusal)
{
	struct kipt_config *config = &request->config;
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
			return kipt_refuse(refusal, attr, -EINVAL,
					   "attribute \"%s\" needs flag armed",
					   prints[i].name);
	}
	return 0;
}

static int parse_armed(struct nlattr **attrs,
		       struct kipt_request *request,
		       struct kipt_refusal *refusal)
{
	const struct kipt_config *config = &request->config;
	struct nlattr *flags = attrs[KIPT_A_SESSION_FLAGS];
	int err = parse_prints(attrs, request, refusal);

	if (!err && config->flags & KIPT_SESSION_FLAGS_KEEP_CODE)
		err = kipt_refuse(refusal, flags, -EINVAL,
				  "flag keep-code is gone: the reader of a trace says which files programs had mapped (KIPT_RAW_IMAGES; kipt start --maps)");
	if (!err && config->flags & KIPT_SESSION_FLAGS_USER)
		err = check_user(attrs, request, refusal);
	if (err)
		return err;
	if (!(config->flags & KIPT_SESSION_FLAGS_ARMED))
		return !(config->flags & KIPT_SESSION_FLAGS_YIELD) ? 0 :
		       kipt_refuse(refusal, flags, -EINVAL,
				   "flag yield needs flag armed");
	if (!(config->flags & KIPT_SESSION_FLAGS_DETACHED))
		return kipt_refuse(refusal, flags, -EINVAL,
				   "flag armed needs flag detached: what is kept for a crash must outlive its maker");
	if (config->mode != KIPT_MODE_RING)
		return kipt_refuse(refusal, attrs[KIPT_A_SESSION_MODE], -EINVAL,
				   "flag armed needs mode ring: it keeps what came last");
	return 0;
}

static int check_present(struct nlattr **attrs, struct kipt_refusal *refusal)
{
	int err;

	err = kipt_reply_missing(attrs[KIPT_A_SESSION_CPUS], "cpus", refusal);
	if (!err)
		err = kipt_reply_missing(attrs[KIPT_A_SESSION_SIZE], "size",
					 refusal);
	if (!err)
		err = kipt_reply_missing(attrs[KIPT_A_SESSION_CTL], "ctl",
					 refusal);
	return err;
}

static int parse_new(struct netlink_callback *cb, struct nlattr **attrs,
		     struct kipt_request *request,
		     struct kipt_refusal *refusal)
{
	struct kipt_config *config = &request->config;
	int err;

	err = check_present(attrs, refusal);
	if (!err)
		err = parse_cpus(attrs[KIPT_A_SESSION_CPUS], request->cpus,
				 refusal);
	if (err)
		return err;
	config->mode = attrs[KIPT_A_SESSION_MODE] ?
		       nla_get_u32(attrs[KIPT_A_SESSION_MODE]) :
		       KIPT_MODE_RING;
	config->size = nla_get_u64(attrs[KIPT_A_SESSION_SIZE]);
	config->ctl = nla_get_u64(attrs[KIPT_A_SESSION_CTL]);
	config->flags = attrs[KIPT_A_SESSION_FLAGS] ?
			nla_get_u32(attrs[KIPT_A_SESSION_FLAGS]) : 0;
	request->uid = current_euid();
	request->sk = NETLINK_CB(cb->skb).sk;
	request->portid = NETLINK_CB(cb->skb).portid;
	err = parse_process(attrs, request, refusal);
	if (!err)
		err = parse_armed(attrs, request, refusal);
	if (!err)
		err = parse_filters(cb, request, refusal);
	return err;
}

static int check_pt(struct kipt_refusal *refusal)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (kipt_caps_cpu_has_pt(cpu))
			return 0;
	return kipt_refuse(refusal, NULL, -ENODEV,
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
	BUILD_BUG_ON(sizeof(struct new_state) > KIPT_REPLY_STATE_BYTES);
	return kipt_reply_state(cb);
}

int kipt_session_message_new_start(struct netlink_callback *cb,
				   struct nlattr **attrs,
				   struct kipt_refusal *refusal)
{
	struct kipt_request *request;
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(cb->skb, refusal);
	if (!err)
		err = check_pt(refusal);
	if (err)
		return err;
	request = kzalloc(sizeof(*request), GFP_KERNEL_ACCOUNT);
	if (!request || !zalloc_cpumask_var(&request->cpus, GFP_KERNEL)) {
		kfree(request);
		return -ENOMEM;
	}
	err = parse_new(cb, attrs, request, refusal);
	if (!err) {
		session = kipt_setup_begin(request, refusal);
		err = PTR_ERR_OR_ZERO(session);
		new_state(cb)->session = err ? NULL : session;
	}
	free_cpumask_var(request->cpus);
	kfree(request);
	return err;
}

static int put_progress(struct sk_buff *skb, struct netlink_callback *cb,
			struct kipt_session *session, bool ready)
{
	void *header = kipt_reply_part(skb, cb, KIPT_CMD_SESSION_NEW);

	if (!header || nla_put_u32(skb, KIPT_A_SESSION_ID, session->group.id) ||
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
			     struct kipt_refusal *refusal)
{
	struct new_state *state = new_state(cb);
	int ret;

	if (state->ready)
		return 0;
	ret = kipt_permission_trace(cb->skb, refusal);
	if (!ret && state->begun)
		ret = kipt_setup_step(state->session, refusal);
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
