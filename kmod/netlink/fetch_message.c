// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the command fetch and writes its messages, with the records where
 * the reader will take them from. Owns what a dump remembers. Process context.
 */
#include <linux/cpumask.h>

#include "../lib/compat.h"
#include "../fetch/fetch.h"
#include "reply.h"
#include "../../uapi/linux/kipt_record.h"

/* Header, numbers with their padding, and the header of the records. */
#define MESSAGE_BYTES	(GENL_HDRLEN + NLMSG_HDRLEN + 192)

/**
 * struct fetch_state - a dump of fetch
 * @reader: takes part in a fetch of the session, from the second call on
 */
struct fetch_state {
	struct kipt_fetch_reader *reader;
};
static_assert(sizeof(struct fetch_state) <= KIPT_REPLY_STATE_BYTES);

static int check_output(struct nlattr *attr, u32 output,
			struct kipt_refusal *refusal)
{
	u32 ordered = KIPT_OUTPUT_BRANCHES | KIPT_OUTPUT_CALLS |
		      KIPT_OUTPUT_INSNS | KIPT_OUTPUT_PACKED;

	if (output & KIPT_OUTPUT_COUNTS && output & ordered)
		return kipt_refuse(refusal, attr, -EINVAL,
				   "output %#x: counts go without branches, calls, insns and packed",
				   output);
	if (output & KIPT_OUTPUT_PACKED && output & KIPT_OUTPUT_INSNS)
		return kipt_refuse(refusal, attr, -EINVAL,
				   "output %#x: packed goes without insns",
				   output);
	return 0;
}

/* Fetch looks for it among the session's CPUs, but takes KIPT_FETCH_ALL_CPUS for all. */
static int check_cpu(struct nlattr *attr, struct kipt_refusal *refusal)
{
	if (!attr || nla_get_u32(attr) < nr_cpu_ids)
		return 0;
	return kipt_refuse(refusal, attr, -ENXIO, "CPU %u does not exist",
			   nla_get_u32(attr));
}

static int parse_fetch(struct nlattr **attrs,
		       struct kipt_fetch_request *request,
		       struct kipt_refusal *refusal)
{
	struct nlattr *fetch = attrs[KIPT_A_FETCH_FETCH];
	struct nlattr *cpu = attrs[KIPT_A_FETCH_CPU];
	struct nlattr *output = attrs[KIPT_A_FETCH_OUTPUT];
	struct nlattr *memory = attrs[KIPT_A_FETCH_MEMORY];

	if (fetch && (cpu || output || memory))
		return kipt_refuse(refusal, fetch, -EINVAL,
				   "attributes \"cpu\", \"output\" and \"memory\" are those the fetch began with");
	request->fetch = fetch ? nla_get_u32(fetch) : 0;
	request->only_cpu = cpu ? nla_get_u32(cpu) : KIPT_FETCH_ALL_CPUS;
	request->output = output ? nla_get_u32(output) : 0;
	request->memory = memory ? nla_get_u64(memory) : 0;
	return check_output(output, request->output, refusal) ?: check_cpu(cpu, refusal);
}

static int fetch_start(struct netlink_callback *cb, struct nlattr **attrs,
		       struct kipt_refusal *refusal)
{
	struct kipt_fetch_request request;

	return kipt_reply_take(cb, attrs[KIPT_A_FETCH_ID], kipt_permission_read, refusal) ?:
	       parse_fetch(attrs, &request, refusal);
}

static int put_chunk(struct sk_buff *skb, const struct kipt_fetch_piece *piece)
{
	if (nla_put_u32(skb, KIPT_A_FETCH_CPU, piece->cpu) ||
	    kipt_reply_put_u64(skb, KIPT_A_FETCH_CHUNK, piece->chunk) ||
	    kipt_reply_put_u64(skb, KIPT_A_FETCH_FROM, piece->from) ||
	    kipt_reply_put_u64(skb, KIPT_A_FETCH_TO, piece->to) ||
	    kipt_reply_put_u64(skb, KIPT_A_FETCH_LOST, piece->lost) ||
	    (piece->end && nla_put_flag(skb, KIPT_A_FETCH_END)))
		return -EMSGSIZE;
	if (!piece->count)
		return 0;
	return nla_put(skb, KIPT_A_FETCH_RECORDS,
		       piece->count * sizeof(*piece->records), piece->records);
}

static int put_progress(struct sk_buff *skb,
			const struct kipt_fetch_piece *piece)
{
	return nla_put_u32(skb, KIPT_A_FETCH_FETCH, piece->fetch) ?:
	       kipt_reply_put_u64(skb, KIPT_A_FETCH_TOTAL, piece->total) ?:
	       kipt_reply_put_u64(skb, KIPT_A_FETCH_DONE, piece->done);
}

static int put_piece(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct kipt_fetch_piece *piece)
{
	void *header = kipt_reply_part(skb, cb, KIPT_CMD_FETCH);

	if (!header ||
	    nla_put_u32(skb, KIPT_A_FETCH_ID, kipt_reply_dump(cb)->session->group.id) ||
	    (piece->fetch && put_progress(skb, piece)) ||
	    (piece->in_chunk && put_chunk(skb, piece)))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return skb->len;
}

/* A start or a stop of the session may be under way, and is waited for. */
static int join(struct sk_buff *skb, struct netlink_callback *cb,
		struct kipt_refusal *refusal)
{
	struct fetch_state *state = kipt_reply_state(cb);
	struct kipt_fetch_piece piece = {};
	struct kipt_fetch_request request;
	int err;

	err = parse_fetch(kipt_compat_dump_attrs(cb), &request, refusal) ?:
	      kipt_fetch_join(kipt_reply_dump(cb)->session, &request, refusal,
			      &state->reader);
	if (err)
		return err;
	kipt_fetch_progress(state->reader, &piece);
	return put_piece(skb, cb, &piece);
}

/* The first call comes within the request, which is not to take long. */
static int fetch_fill(struct sk_buff *skb, struct netlink_callback *cb,
		      struct kipt_refusal *refusal)
{
	struct kipt_reply_dump *dump = kipt_reply_dump(cb);
	struct fetch_state *state = kipt_reply_state(cb);
	struct kipt_fetch_piece piece = {};
	int ret;

	ret = kipt_permission_read(cb->skb, dump->session, refusal);
	if (ret)
		return ret;
	if (!dump->begun) {
		dump->begun = true;
		return put_piece(skb, cb, &piece);
	}
	if (!state->reader)
		return join(skb, cb, refusal);
	/* Pieces are cut to what this reader's buffer has room for. */
	ret = kipt_fetch_read(state->reader,
			      (skb_tailroom(skb) - MESSAGE_BYTES) /
			      sizeof(struct kipt_record), &piece, refusal);
	return ret > 0 ? put_piece(skb, cb, &piece) : ret;
}

static void fetch_done(struct netlink_callback *cb)
{
	struct fetch_state *state = kipt_reply_state(cb);

	if (state->reader)
		kipt_fetch_leave(state->reader);
}

const struct kipt_reply_dump_ops kipt_fetch_dump = {
	.start = fetch_start,
	.fill = fetch_fill,
	.done = fetch_done,
};
