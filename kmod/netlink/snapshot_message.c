// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the messages about snapshots. Owns what a dump remembers. Process
 * context.
 */
#include <linux/minmax.h>

#include "reply.h"
#include "../crash/snapshot.h"

/* Headers and numbers with their padding. */
#define MESSAGE_BYTES	(GENL_HDRLEN + NLMSG_HDRLEN + 192)

/**
 * struct snapshot_state - a dump of snapshot-get
 * @snapshot: the one that is read, referenced; NULL: all are listed
 * @last: the one that was listed last
 * @offset: bytes of @snapshot that were read
 */
struct snapshot_state {
	struct kipt_snapshot *snapshot;
	u32 last;
	u64 offset;
};
static_assert(sizeof(struct snapshot_state) <= KIPT_REPLY_STATE_BYTES);

static int find(const struct nlattr *attr, struct kipt_snapshot **snapshot,
		struct kipt_refusal *refusal)
{
	*snapshot = kipt_snapshot_find(nla_get_u32(attr));
	if (*snapshot)
		return 0;
	return kipt_refuse(refusal, attr, -ENOENT, "no snapshot %u",
			   nla_get_u32(attr));
}

static int snapshot_start(struct netlink_callback *cb, struct nlattr **attrs,
			  struct kipt_refusal *refusal)
{
	struct snapshot_state *state = kipt_reply_state(cb);
	struct nlattr *id = attrs ? attrs[KIPT_A_SNAPSHOT_ID] : NULL;
	int err = kipt_permission_all(cb->skb, refusal);

	if (err || !id)
		return err;
	return find(id, &state->snapshot, refusal);
}

static int put_task(struct sk_buff *skb, const struct kipt_snapshot *snapshot)
{
	if (!snapshot->pid && !snapshot->comm[0])
		return 0;
	return nla_put_u32(skb, KIPT_A_SNAPSHOT_PID, snapshot->pid) ?:
	       nla_put_string(skb, KIPT_A_SNAPSHOT_COMM, snapshot->comm);
}

static int put_killed(struct sk_buff *skb,
		      const struct kipt_snapshot_killed *killed)
{
	if (!killed->signal)
		return 0;
	if (nla_put_u32(skb, KIPT_A_SNAPSHOT_SIGNAL, killed->signal) ||
	    nla_put_u32(skb, KIPT_A_SNAPSHOT_PROCESS, killed->process) ||
	    nla_put_u32(skb, KIPT_A_SNAPSHOT_UID, killed->uid))
		return -EMSGSIZE;
	if (!killed->file[0])
		return 0;
	return nla_put_string(skb, KIPT_A_SNAPSHOT_FILE, killed->file) ?:
	       kipt_reply_put_u64(skb, KIPT_A_SNAPSHOT_FILE_OFFSET, killed->file_offset);
}

static int put_snapshot(struct sk_buff *skb,
			const struct kipt_snapshot *snapshot)
{
	const struct kipt_crash_event *event = &snapshot->dump.event;

	if (kipt_reply_put_u64(skb, KIPT_A_SNAPSHOT_TIME, snapshot->dump.time) ||
	    nla_put_u32(skb, KIPT_A_SNAPSHOT_HOOK, event->hook) ||
	    nla_put_u32(skb, KIPT_A_SNAPSHOT_CPU, event->cpu) ||
	    kipt_reply_put_u64(skb, KIPT_A_SNAPSHOT_IP, event->ip) ||
	    (event->trap != ~0U &&
	     nla_put_u32(skb, KIPT_A_SNAPSHOT_TRAP, event->trap)) ||
	    put_task(skb, snapshot) || put_killed(skb, &snapshot->killed) ||
	    nla_put_u32(skb, KIPT_A_SNAPSHOT_CPUS, snapshot->cpus) ||
	    (snapshot->dump.missed &&
	     nla_put_u32(skb, KIPT_A_SNAPSHOT_MISSED, snapshot->dump.missed)) ||
	    kipt_reply_put_u64(skb, KIPT_A_SNAPSHOT_SIZE, snapshot->size))
		return -EMSGSIZE;
	return 0;
}

static int put_data(struct sk_buff *skb, struct snapshot_state *state)
{
	const struct kipt_snapshot *snapshot = state->snapshot;
	u64 room = skb_tailroom(skb) - MESSAGE_BYTES;
	u64 len = min(snapshot->size - state->offset, room);

	struct nlattr *data;

	if (kipt_reply_put_u64(skb, KIPT_A_SNAPSHOT_OFFSET, state->offset))
		return -EMSGSIZE;
	data = nla_reserve(skb, KIPT_A_SNAPSHOT_DATA, len);
	if (!data)
		return -EMSGSIZE;
	kipt_snapshot_read(snapshot, state->offset, nla_data(data), len);
	state->offset += len;
	return 0;
}

/* The first message says what it is, the others its data. */
static int write_one(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct kipt_snapshot *snapshot)
{
	void *header = kipt_reply_part(skb, cb, KIPT_CMD_SNAPSHOT_GET);
	struct snapshot_state *state = kipt_reply_state(cb);
	int err;

	if (!header || nla_put_u32(skb, KIPT_A_SNAPSHOT_ID, snapshot->dump.id))
		return -EMSGSIZE;
	err = kipt_reply_dump(cb)->begun ? put_data(skb, state) : put_snapshot(skb, snapshot);
	if (err)
		return err;
	genlmsg_end(skb, header);
	return skb->len;
}

static int read_on(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct snapshot_state *state = kipt_reply_state(cb);
	int ret;

	if (state->offset == state->snapshot->size)
		return 0;
	ret = write_one(skb, cb, state->snapshot);
	kipt_reply_dump(cb)->begun = true;
	return ret;
}

static int list_on(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct snapshot_state *state = kipt_reply_state(cb);
	struct kipt_snapshot *snapshot = kipt_snapshot_next(state->last);
	int ret;

	if (!snapshot)
		return 0;
	ret = write_one(skb, cb, snapshot);
	state->last = snapshot->dump.id;
	kipt_snapshot_put(snapshot);
	return ret;
}

static int snapshot_fill(struct sk_buff *skb, struct netlink_callback *cb,
			 struct kipt_refusal *refusal)
{
	const struct snapshot_state *state = kipt_reply_state(cb);
	int err = kipt_permission_all(cb->skb, refusal);

	if (err)
		return err;
	return state->snapshot ? read_on(skb, cb) : list_on(skb, cb);
}

static void snapshot_done(struct netlink_callback *cb)
{
	struct snapshot_state *state = kipt_reply_state(cb);

	if (state->snapshot)
		kipt_snapshot_put(state->snapshot);
}

const struct kipt_reply_dump_ops kipt_snapshot_dump = {
	.start = snapshot_start,
	.fill = snapshot_fill,
	.done = snapshot_done,
};

int kipt_snapshot_message_del(struct sk_buff *skb, struct genl_info *info,
			      struct kipt_refusal *refusal)
{
	struct nlattr *id = info->attrs[KIPT_A_SNAPSHOT_ID];
	struct kipt_snapshot *snapshot;
	int err;

	err = kipt_permission_all(skb, refusal) ?:
	      kipt_reply_missing(id, "id", refusal) ?:
	      find(id, &snapshot, refusal);
	if (err)
		return err;
	kipt_snapshot_delete(snapshot);
	kipt_snapshot_put(snapshot);
	return 0;
}
