// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers the commands about sessions that there are. Owns what a dump remembers from one
 * call to the next. Process context.
 */
#include <linux/pid_namespace.h>
#include <linux/sched.h>

#include "../trace/buffer.h"
#include "../crash/crash_hooks.h"
#include "../watch/follow.h"
#include "../crash/killed.h"
#include "../lib/limits.h"
#include "reply.h"
#include "../watch/sideband.h"
#include "../watch/space_table.h"
#include "../crash/snapshot.h"

/* All of session-get's attributes but the CPU list. */
#define SESSION_BYTES	1536

static int control_start(struct netlink_callback *cb, struct nlattr **attrs,
			 struct kipt_refusal *refusal)
{
	return kipt_reply_take(cb, attrs[KIPT_A_SESSION_ID], kipt_permission_control, refusal);
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
	case KIPT_CMD_SESSION_DEL:
		kipt_session_destroy(session);
		return 0;
	default:
		return -EOPNOTSUPP;
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
static int control_fill(struct sk_buff *skb, struct netlink_callback *cb,
			struct kipt_refusal *refusal)
{
	struct kipt_reply_dump *dump = kipt_reply_dump(cb);

	if (!dump->begun) {
		dump->begun = true;
		return put_id(skb, cb, dump->session->group.id);
	}
	/* A session that is gone has no owner: this says so before rights are looked at. */
	return kipt_session_check_gone(dump->session, refusal) ?:
	       kipt_permission_control(cb->skb, dump->session, refusal) ?:
	       control(cb, dump->session, refusal);
}

const struct kipt_reply_dump_ops kipt_session_control_dump = {
	.start = control_start,
	.fill = control_fill,
};

static int put_filters(struct sk_buff *skb, const struct kipt_session *session)
{
	const struct kipt_hw_config *hw = &session->group.config.hw;
	const struct kipt_hw_range *filter;
	struct nlattr *nest;
	u32 i;

	for (i = 0; i < hw->nr_ranges; i++) {
		filter = &hw->ranges[i];
		nest = nla_nest_start(skb, KIPT_A_SESSION_FILTER);
		if (!nest ||
		    nla_put_u32(skb, KIPT_A_FILTER_KIND, filter->kind) ||
		    kipt_reply_put_u64(skb, KIPT_A_FILTER_FIRST, filter->first) ||
		    kipt_reply_put_u64(skb, KIPT_A_FILTER_LAST, filter->last))
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
	    kipt_reply_put_u64(skb, KIPT_A_SESSION_SNAPSHOTS_SIZE,
			       session->nr_traces * kipt_snapshot_bytes(config->size)))
		return -EMSGSIZE;
	if (kipt_crash_hooks_fire(why, sizeof(why)) &&
	    (!(config->flags & KIPT_SESSION_FLAGS_USER) ||
	     kipt_killed_fires(why, sizeof(why))))
		return 0;
	return nla_put_string(skb, KIPT_A_SESSION_HOOKS_LOST, why);
}

/* What was asked for. A process has no number where its reader cannot see it. */
static int put_request(struct sk_buff *skb, const struct kipt_session *session)
{
	const struct kipt_config *config = &session->group.config;
	pid_t pid = pid_nr_ns(session->process, task_active_pid_ns(current));

	if (nla_put_u32(skb, KIPT_A_SESSION_ID, session->group.id) ||
	    nla_put_u32(skb, KIPT_A_SESSION_MODE, config->mode) ||
	    kipt_reply_put_u64(skb, KIPT_A_SESSION_SIZE, config->size) ||
	    kipt_reply_put_u64(skb, KIPT_A_SESSION_CTL, config->ctl) ||
	    nla_put_u32(skb, KIPT_A_SESSION_FLAGS, config->flags) ||
	    put_filters(skb, session) ||
	    (pid && nla_put_u32(skb, KIPT_A_SESSION_PID, pid)) ||
	    put_arming(skb, session) ||
	    (config->by_cr3 && kipt_reply_put_u64(skb, KIPT_A_SESSION_CR3, config->cr3)))
		return -EMSGSIZE;
	return 0;
}

static int put_losses(struct sk_buff *skb, struct kipt_session *session)
{
	/* Made by session-new, which may be at work on it. */
	struct kipt_sideband *sideband = smp_load_acquire(&session->group.sideband);
	u64 spaces = sideband ? kipt_spaces_lost(kipt_sideband_spaces(sideband)) : 0;
	u64 switches = sideband ? kipt_sideband_switches_lost(sideband) : 0;

	return kipt_reply_put_u64(skb, KIPT_A_SESSION_SPACES_LOST, spaces) ?:
	       kipt_reply_put_u64(skb, KIPT_A_SESSION_SWITCHES_LOST, switches);
}

static int put_followed(struct sk_buff *skb, struct kipt_session *session)
{
	const struct kipt_follow *follow = session->follow;

	if (!follow)
		return 0;
	return nla_put_u32(skb, KIPT_A_SESSION_PROCESSES, kipt_follow_alive(follow)) ?:
	       kipt_reply_put_u64(skb, KIPT_A_SESSION_PROCESSES_LOST, kipt_follow_lost(follow));
}

/*
 * What became of it, without session->lock: a start or a stop that is under way
 * may hold that until a CPU answers.
 */
static int put_status(struct sk_buff *skb, struct kipt_session *session)
{
	/* Who sees that it stopped sees why, see kipt_session_set_state(). */
	u32 state = smp_load_acquire(&session->state);
	u32 cause = state == KIPT_STATE_STOPPED ? READ_ONCE(session->cause) : 0;

	if (nla_put_u32(skb, KIPT_A_SESSION_STATE, state) ||
	    (cause && nla_put_u32(skb, KIPT_A_SESSION_CAUSE, cause)) ||
	    kipt_reply_put_u64(skb, KIPT_A_SESSION_GENERATION,
			       READ_ONCE(session->generation)) ||
	    nla_put_u32(skb, KIPT_A_SESSION_UID,
			from_kuid_munged(&init_user_ns, session->uid)) ||
	    kipt_reply_put_u64(skb, KIPT_A_SESSION_MEMORY,
			       READ_ONCE(session->setup_done)) ||
	    put_losses(skb, session))
		return -EMSGSIZE;
	return put_followed(skb, session);
}

static int put_buffer(struct sk_buff *skb, const struct kipt_buffer *buffer)
{
	return kipt_reply_put_u64(skb, KIPT_A_CPU_SIZE, buffer->size) ?:
	       nla_put_u32(skb, KIPT_A_CPU_BLOCKS, buffer->nr_regions) ?:
	       nla_put_u32(skb, KIPT_A_CPU_BLOCK_MIN, PAGE_SIZE << buffer->order_min) ?:
	       nla_put_u32(skb, KIPT_A_CPU_BLOCK_MAX, PAGE_SIZE << buffer->order_max);
}

static int put_result(struct sk_buff *skb, struct kipt_trace *trace)
{
	struct kipt_trace_result result;

	kipt_trace_result(trace, &result);
	if (result.cause && nla_put_u32(skb, KIPT_A_CPU_CAUSE, result.cause))
		return -EMSGSIZE;
	return kipt_reply_put_u64(skb, KIPT_A_CPU_HEAD, result.head) ?:
	       kipt_reply_put_u64(skb, KIPT_A_CPU_TAIL, result.tail) ?:
	       kipt_reply_put_u64(skb, KIPT_A_CPU_STATUS, result.registers.status) ?:
	       kipt_reply_put_u64(skb, KIPT_A_CPU_PMIS, atomic64_read(&trace->pmis));
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
 * @last: number of the last one that is written completely
 * @id: the one under way
 * @written: messages written of it: 0: none; n: its own, and n - 1 CPUs
 */
struct list_state {
	u32 only;
	u32 last;
	u32 id;
	u32 written;
};
static_assert(sizeof(struct list_state) <= KIPT_REPLY_STATE_BYTES);

static int list_start(struct netlink_callback *cb, struct nlattr **attrs,
		      struct kipt_refusal *refusal)
{
	struct list_state *state = kipt_reply_state(cb);
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
		state->written = 0;
	}
	return session;
}

/*
 * The CPU list comes last: it is what may be too long for a small reader. It is left out
 * then: its CPUs follow one by one.
 * @alone: nothing comes before this message that takes its room.
 */
static int put_listed(struct sk_buff *skb, struct kipt_session *session,
		      u32 written, bool alone)
{
	int err;

	if (written)
		return put_trace(skb, session, &session->traces[written - 1]);
	if (put_request(skb, session) || put_status(skb, session))
		return -EMSGSIZE;
	err = kipt_reply_put_cpus(skb, KIPT_A_SESSION_CPUS, session->cpus);
	return err == -EMSGSIZE && alone ? 0 : err;
}

static int list_one(struct sk_buff *skb, struct netlink_callback *cb,
		    struct kipt_session *session, u32 written)
{
	bool alone = !skb->len;
	void *header = kipt_reply_part(skb, cb, KIPT_CMD_SESSION_GET);
	int err = -ENOENT;

	if (!header)
		return -EMSGSIZE;
	if (kipt_session_pin_live(session)) {
		err = put_listed(skb, session, written, alone);
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
	struct list_state *state = kipt_reply_state(cb);
	int err;

	for (; state->written <= session->nr_traces; state->written++) {
		err = list_one(skb, cb, session, state->written);
		if (err == -ENOENT)
			break;
		if (err)
			return err;
	}
	state->last = session->group.id;
	return 0;
}

static int list_fill(struct sk_buff *skb, struct netlink_callback *cb,
		     struct kipt_refusal *refusal)
{
	struct list_state *state = kipt_reply_state(cb);
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

const struct kipt_reply_dump_ops kipt_session_list_dump = {
	.start = list_start,
	.fill = list_fill,
};

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
		err = put_listed(skb, session, 0, false);
		kipt_session_unpin(session);
	} else {
		err = kipt_session_check_gone(session, refusal) ?: -ENOENT;
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

	err = kipt_permission_trace(request, refusal) ?:
	      kipt_reply_find(info->attrs[KIPT_A_SESSION_ID], &session, refusal);
	if (err)
		return err;
	err = reply_session(info, session, refusal);
	kipt_session_put(session);
	return err;
}
