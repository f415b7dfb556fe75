// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses the command fetch and writes its messages, with the records where
 * the reader will take them from. Owns what a dump remembers. Process context.
 */
#include <linux/err.h>
#include <net/genetlink.h>

#include "fetch.h"
#include "fetch_message.h"
#include "netlink.h"
#include "permission.h"
#include "refuse.h"
#include "session.h"
#include "../uapi/linux/kipt.h"
#include "../uapi/linux/kipt_record.h"

/* Header, numbers with their padding, and the header of the records. */
#define MESSAGE_BYTES	(GENL_HDRLEN + NLMSG_HDRLEN + 192)

/**
 * struct fetch_state - a dump of fetch
 * @session: referenced
 * @reader: takes part in a fetch of @session
 * @begun: the request itself was answered
 */
struct fetch_state {
	struct kipt_session *session;
	struct kipt_fetch_reader *reader;
	bool begun;
};

static struct fetch_state *fetch_state(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct fetch_state) > KIPT_NETLINK_STATE_BYTES);
	return kipt_netlink_state(cb);
}

static int check_output(struct nlattr *attr, u32 output,
			struct netlink_ext_ack *extack)
{
	u32 ordered = KIPT_OUTPUT_BRANCHES | KIPT_OUTPUT_CALLS |
		      KIPT_OUTPUT_INSNS | KIPT_OUTPUT_PATHS;

	if (output & KIPT_OUTPUT_COUNTS && output & ordered)
		return kipt_refuse(extack, attr, -EINVAL,
				   "output %#x: counts go without branches, calls, insns and paths",
				   output);
	if (output & KIPT_OUTPUT_PATHS && output & KIPT_OUTPUT_INSNS)
		return kipt_refuse(extack, attr, -EINVAL,
				   "output %#x: paths go without insns",
				   output);
	return 0;
}

static int parse_fetch(struct nlattr **attrs,
		       struct kipt_fetch_request *request,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *fetch = attrs[KIPT_A_FETCH_FETCH];
	struct nlattr *cpu = attrs[KIPT_A_FETCH_CPU];
	struct nlattr *output = attrs[KIPT_A_FETCH_OUTPUT];
	struct nlattr *memory = attrs[KIPT_A_FETCH_MEMORY];

	if (fetch && (cpu || output || memory))
		return kipt_refuse(extack, fetch, -EINVAL,
				   "attributes \"cpu\", \"output\" and \"memory\" are those the fetch began with");
	request->fetch = fetch ? nla_get_u32(fetch) : 0;
	request->only_cpu = cpu ? nla_get_u32(cpu) : KIPT_FETCH_ALL_CPUS;
	request->output = output ? nla_get_u32(output) : 0;
	request->memory = memory ? nla_get_u64(memory) : 0;
	return check_output(output, request->output, extack);
}

static int begin(struct netlink_callback *cb, struct kipt_session *session,
		 struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	struct kipt_fetch_request request;
	int err;

	err = kipt_permission_read(cb->skb, session, extack);
	if (!err)
		err = parse_fetch(attrs, &request, extack);
	if (!err)
		err = kipt_fetch_join(session, &request, extack,
				      &fetch_state(cb)->reader);
	return err;
}

int kipt_fetch_message_start(struct netlink_callback *cb,
			     struct nlattr **attrs,
			     struct netlink_ext_ack *extack)
{
	struct kipt_session *session;
	int err;

	err = kipt_permission_trace(cb->skb, extack);
	if (!err)
		err = kipt_netlink_find(attrs[KIPT_A_FETCH_ID], &session,
					extack);
	if (err)
		return err;
	err = begin(cb, session, attrs, extack);
	if (err)
		kipt_session_put(session);
	else
		fetch_state(cb)->session = session;
	return err;
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, KIPT_A_FETCH_PAD);
}

static int put_chunk(struct sk_buff *skb, const struct kipt_fetch_piece *piece)
{
	if (nla_put_u32(skb, KIPT_A_FETCH_CPU, piece->cpu) ||
	    put_u64(skb, KIPT_A_FETCH_CHUNK, piece->chunk) ||
	    put_u64(skb, KIPT_A_FETCH_FROM, piece->from) ||
	    put_u64(skb, KIPT_A_FETCH_TO, piece->to) ||
	    put_u64(skb, KIPT_A_FETCH_LOST, piece->lost) ||
	    (piece->end && nla_put_flag(skb, KIPT_A_FETCH_END)))
		return -EMSGSIZE;
	if (piece->count &&
	    nla_put(skb, KIPT_A_FETCH_RECORDS,
		    piece->count * sizeof(*piece->records), piece->records))
		return -EMSGSIZE;
	return 0;
}

static int put_piece(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct kipt_fetch_piece *piece)
{
	void *header = kipt_netlink_part(skb, cb, KIPT_CMD_FETCH);

	if (!header ||
	    nla_put_u32(skb, KIPT_A_FETCH_ID, fetch_state(cb)->session->id) ||
	    nla_put_u32(skb, KIPT_A_FETCH_FETCH, piece->fetch) ||
	    put_u64(skb, KIPT_A_FETCH_TOTAL, piece->total) ||
	    put_u64(skb, KIPT_A_FETCH_DONE, piece->done) ||
	    (piece->in_chunk && put_chunk(skb, piece)))
		return -EMSGSIZE;
	genlmsg_end(skb, header);
	return skb->len;
}

/* The first call comes within the request, which is not to take long. */
int kipt_fetch_message(struct sk_buff *skb, struct netlink_callback *cb,
		       struct netlink_ext_ack *extack)
{
	struct fetch_state *state = fetch_state(cb);
	struct kipt_fetch_piece piece = {};
	int ret;

	ret = kipt_permission_read(cb->skb, state->session, extack);
	if (ret)
		return ret;
	if (!state->begun) {
		state->begun = true;
		kipt_fetch_progress(state->reader, &piece);
		return put_piece(skb, cb, &piece);
	}
	/* Pieces are cut to what this reader's buffer has room for. */
	ret = kipt_fetch_read(state->reader,
			      (skb_tailroom(skb) - MESSAGE_BYTES) /
			      sizeof(struct kipt_record), &piece, extack);
	return ret > 0 ? put_piece(skb, cb, &piece) : ret;
}

void kipt_fetch_message_done(struct netlink_callback *cb)
{
	struct fetch_state *state = fetch_state(cb);

	if (!state->session)
		return;
	kipt_fetch_leave(state->reader);
	kipt_session_put(state->session);
	state->session = NULL;
}
