// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bare generic netlink: messages are laid out by hand, so that tests can be
 * wrong on purpose. Knows the kipt family's commands, and no test.
 */
#include "kipt_nl.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ALIGN4(n)	(((n) + 3) & ~(size_t)3)
#define GENL_LEN	(NLMSG_HDRLEN + sizeof(struct genlmsghdr))

static void msg_begin(struct kipt_msg *msg, uint16_t family, uint8_t cmd)
{
	struct nlmsghdr *header = (struct nlmsghdr *)msg->data;
	struct genlmsghdr *genl = NLMSG_DATA(header);

	memset(msg->data, 0, GENL_LEN);
	header->nlmsg_type = family;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl->cmd = cmd;
	genl->version = KIPT_FAMILY_VERSION;
	msg->len = GENL_LEN;
}

void kipt_msg_begin(struct kipt_msg *msg, uint8_t cmd)
{
	msg_begin(msg, 0, cmd);
}

void kipt_msg_put(struct kipt_msg *msg, uint16_t type, const void *data,
		  size_t len)
{
	struct nlattr attr = {
		.nla_len = (uint16_t)(NLA_HDRLEN + len),
		.nla_type = type,
	};

	if (msg->len + NLA_HDRLEN + ALIGN4(len) > sizeof(msg->data))
		abort();
	memset(msg->data + msg->len, 0, NLA_HDRLEN + ALIGN4(len));
	memcpy(msg->data + msg->len, &attr, sizeof(attr));
	memcpy(msg->data + msg->len + NLA_HDRLEN, data, len);
	msg->len += NLA_HDRLEN + ALIGN4(len);
}

void kipt_msg_u32(struct kipt_msg *msg, uint16_t type, uint32_t value)
{
	kipt_msg_put(msg, type, &value, sizeof(value));
}

void kipt_msg_u64(struct kipt_msg *msg, uint16_t type, uint64_t value)
{
	kipt_msg_put(msg, type, &value, sizeof(value));
}

void kipt_msg_string(struct kipt_msg *msg, uint16_t type, const char *text)
{
	kipt_msg_put(msg, type, text, strlen(text) + 1);
}

static const void *find_attr(const unsigned char *data, size_t len,
			     uint16_t type, size_t *found_len)
{
	size_t at = 0;

	while (at + NLA_HDRLEN <= len) {
		struct nlattr attr;

		memcpy(&attr, data + at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > len - at)
			return NULL;
		if ((attr.nla_type & NLA_TYPE_MASK) == type) {
			*found_len = attr.nla_len - NLA_HDRLEN;
			return data + at + NLA_HDRLEN;
		}
		at += ALIGN4(attr.nla_len);
	}
	return NULL;
}

const void *kipt_nl_attr(const struct kipt_nl *nl, uint16_t type, size_t *len)
{
	*len = 0;
	if (nl->reply_len < GENL_LEN)
		return NULL;
	return find_attr(nl->reply + GENL_LEN, nl->reply_len - GENL_LEN, type,
			 len);
}

const void *kipt_nl_nested(const struct kipt_nl *nl, uint16_t outer,
			   uint16_t inner, size_t *len)
{
	size_t outer_len;
	const void *data = kipt_nl_attr(nl, outer, &outer_len);

	*len = 0;
	return data ? find_attr(data, outer_len, inner, len) : NULL;
}

uint32_t kipt_nl_u32(const struct kipt_nl *nl, uint16_t type, uint32_t missing)
{
	size_t len;
	const void *data = kipt_nl_attr(nl, type, &len);

	if (data && len == sizeof(missing))
		memcpy(&missing, data, sizeof(missing));
	return missing;
}

uint64_t kipt_nl_u64(const struct kipt_nl *nl, uint16_t type, uint64_t missing)
{
	size_t len;
	const void *data = kipt_nl_attr(nl, type, &len);

	if (data && len == sizeof(missing))
		memcpy(&missing, data, sizeof(missing));
	return missing;
}

const char *kipt_nl_string(const struct kipt_nl *nl, uint16_t type)
{
	size_t len;
	const char *data = kipt_nl_attr(nl, type, &len);

	return data && len && !data[len - 1] ? data : NULL;
}

static int receive(struct kipt_nl *nl, int timeout_ms, unsigned char *buf,
		   size_t size)
{
	struct pollfd poll_fd = { .fd = nl->fd, .events = POLLIN };
	ssize_t len;
	int ready;

	do {
		ready = poll(&poll_fd, 1, timeout_ms);
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return -ETIMEDOUT;
	len = recv(nl->fd, buf, size, 0);
	return len < 0 ? -errno : (int)len;
}

/* The sentence and the attribute that an error message carries. */
static void take_why(struct kipt_nl *nl, const struct nlmsghdr *header)
{
	const struct nlmsgerr *error = NLMSG_DATA(header);
	const unsigned char *tlv = (const unsigned char *)(error + 1);
	size_t len, at = sizeof(struct nlmsghdr) + sizeof(*error);
	const void *data;

	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(header->nlmsg_flags & NLM_F_CAPPED)) {
		len = error->msg.nlmsg_len - sizeof(struct nlmsghdr);
		tlv += ALIGN4(len);
		at += ALIGN4(len);
	}
	if (at >= header->nlmsg_len)
		return;
	data = find_attr(tlv, header->nlmsg_len - at, NLMSGERR_ATTR_MSG, &len);
	if (data)
		snprintf(nl->why, sizeof(nl->why), "%.*s", (int)len,
			 (const char *)data);
	data = find_attr(tlv, header->nlmsg_len - at, NLMSGERR_ATTR_OFFS, &len);
	if (data)
		memcpy(&nl->why_offset, data, sizeof(nl->why_offset));
}

static uint8_t message_command(const struct nlmsghdr *header)
{
	return ((const struct genlmsghdr *)NLMSG_DATA(header))->cmd;
}

static bool is_unasked(const struct kipt_nl *nl, const struct nlmsghdr *header)
{
	return header->nlmsg_type == nl->family &&
	       (message_command(header) == KIPT_CMD_RECORDS ||
		message_command(header) == KIPT_CMD_SESSION_EVENT);
}

static void enqueue(struct kipt_nl *nl, const struct nlmsghdr *header)
{
	unsigned int max = sizeof(nl->queue) / sizeof(nl->queue[0]);

	if (nl->queued == max)
		abort();
	nl->queue[nl->queued] = malloc(header->nlmsg_len);
	if (!nl->queue[nl->queued])
		abort();
	memcpy(nl->queue[nl->queued++], header, header->nlmsg_len);
}

static void take_reply(struct kipt_nl *nl, const struct nlmsghdr *header)
{
	memcpy(nl->reply, header, header->nlmsg_len);
	nl->reply_len = header->nlmsg_len;
}

static int send_msg(struct kipt_nl *nl, struct kipt_msg *msg)
{
	struct nlmsghdr *header = (struct nlmsghdr *)msg->data;

	if (!header->nlmsg_type)
		header->nlmsg_type = nl->family;
	header->nlmsg_len = (uint32_t)msg->len;
	header->nlmsg_seq = ++nl->seq;
	nl->why[0] = 0;
	nl->why_offset = 0;
	nl->reply_len = 0;
	return send(nl->fd, msg->data, msg->len, 0) < 0 ? -errno : 0;
}

/* One datagram may hold several messages. Return: 1 go on, 0 done, -errno. */
static int take_datagram(struct kipt_nl *nl, unsigned char *buf, unsigned int len,
			 void (*each)(struct kipt_nl *nl, void *ctx), void *ctx)
{
	struct nlmsghdr *header = (struct nlmsghdr *)buf;

	for (; NLMSG_OK(header, len); header = NLMSG_NEXT(header, len)) {
		if (is_unasked(nl, header)) {
			enqueue(nl, header);
			continue;
		}
		if (header->nlmsg_seq != nl->seq)
			continue;
		if (header->nlmsg_type == NLMSG_DONE)
			return *(int *)NLMSG_DATA(header) < 0 ?
			       *(int *)NLMSG_DATA(header) : 0;
		if (header->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *error = NLMSG_DATA(header);

			take_why(nl, header);
			return error->error;
		}
		take_reply(nl, header);
		if (each)
			each(nl, ctx);
	}
	return 1;
}

static int call(struct kipt_nl *nl, struct kipt_msg *msg,
		void (*each)(struct kipt_nl *nl, void *ctx), void *ctx)
{
	static unsigned char buf[KIPT_NL_BUFFER];
	int ret = send_msg(nl, msg);

	while (!ret || ret == 1) {
		ret = receive(nl, 60000, buf, sizeof(buf));
		if (ret < 0)
			return ret;
		ret = take_datagram(nl, buf, (unsigned int)ret, each, ctx);
		if (!ret)
			return 0;
	}
	return ret;
}

int kipt_nl_call(struct kipt_nl *nl, struct kipt_msg *msg)
{
	return call(nl, msg, NULL, NULL);
}

struct dump {
	void (*each)(struct kipt_nl *nl, void *ctx);
	void *ctx;
	int count;
};

static void dump_each(struct kipt_nl *nl, void *ctx)
{
	struct dump *dump = ctx;

	dump->count++;
	if (dump->each)
		dump->each(nl, dump->ctx);
}

int kipt_nl_dump(struct kipt_nl *nl, struct kipt_msg *msg,
		 void (*each)(struct kipt_nl *nl, void *ctx), void *ctx)
{
	struct nlmsghdr *header = (struct nlmsghdr *)msg->data;
	struct dump dump = { .each = each, .ctx = ctx };
	int ret;

	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	ret = call(nl, msg, dump_each, &dump);
	return ret < 0 ? ret : dump.count;
}

static int take_queued(struct kipt_nl *nl)
{
	struct nlmsghdr *header = (struct nlmsghdr *)nl->queue[0];
	int cmd = message_command(header);

	take_reply(nl, header);
	free(header);
	nl->queued--;
	memmove(nl->queue, nl->queue + 1, nl->queued * sizeof(nl->queue[0]));
	return cmd;
}

int kipt_nl_event(struct kipt_nl *nl, int timeout_ms)
{
	static unsigned char buf[KIPT_NL_BUFFER];
	int ret;

	while (!nl->queued) {
		ret = receive(nl, timeout_ms, buf, sizeof(buf));
		if (ret < 0)
			return ret;
		take_datagram(nl, buf, (unsigned int)ret, NULL, NULL);
	}
	return take_queued(nl);
}

static void take_group(struct kipt_nl *nl)
{
	size_t len, id_len;
	const void *groups = kipt_nl_attr(nl, CTRL_ATTR_MCAST_GROUPS, &len);
	const void *first, *id;

	if (!groups)
		return;
	first = find_attr(groups, len, 1, &len);
	id = first ? find_attr(first, len, CTRL_ATTR_MCAST_GRP_ID, &id_len) :
		     NULL;
	if (id)
		memcpy(&nl->group, id, sizeof(nl->group));
}

static int find_family(struct kipt_nl *nl)
{
	struct kipt_msg msg;
	size_t len;
	const void *id;
	int ret;

	msg_begin(&msg, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	kipt_msg_string(&msg, CTRL_ATTR_FAMILY_NAME, KIPT_FAMILY_NAME);
	ret = kipt_nl_call(nl, &msg);
	if (ret)
		return ret;
	id = kipt_nl_attr(nl, CTRL_ATTR_FAMILY_ID, &len);
	if (!id || len != sizeof(nl->family))
		return -EPROTO;
	memcpy(&nl->family, id, sizeof(nl->family));
	take_group(nl);
	return 0;
}

int kipt_nl_open(struct kipt_nl *nl)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int one = 1, ret;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	ret = bind(nl->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ?
	      -errno : find_family(nl);
	if (ret)
		kipt_nl_close(nl);
	return ret;
}

void kipt_nl_close(struct kipt_nl *nl)
{
	while (nl->queued)
		free(nl->queue[--nl->queued]);
	if (nl->fd >= 0)
		close(nl->fd);
	nl->fd = -1;
}

int kipt_nl_join(struct kipt_nl *nl)
{
	return setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
			  &nl->group, sizeof(nl->group)) < 0 ? -errno : 0;
}

int kipt_session_new(struct kipt_nl *nl, const struct kipt_want *want)
{
	struct kipt_msg msg;
	int ret;

	kipt_msg_begin(&msg, KIPT_CMD_SESSION_NEW);
	if (want->cpus)
		kipt_msg_string(&msg, KIPT_A_SESSION_CPUS, want->cpus);
	if (want->mode)
		kipt_msg_u32(&msg, KIPT_A_SESSION_MODE, want->mode);
	if (want->size)
		kipt_msg_u64(&msg, KIPT_A_SESSION_SIZE, want->size);
	kipt_msg_u64(&msg, KIPT_A_SESSION_CTL, want->ctl);
	if (want->flags)
		kipt_msg_u32(&msg, KIPT_A_SESSION_FLAGS, want->flags);
	ret = kipt_nl_call(nl, &msg);
	return ret ? ret : (int)kipt_nl_u32(nl, KIPT_A_SESSION_ID, 0);
}

static int session_call(struct kipt_nl *nl, uint8_t cmd, int id)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, cmd);
	kipt_msg_u32(&msg, KIPT_A_SESSION_ID, (uint32_t)id);
	return kipt_nl_call(nl, &msg);
}

int kipt_session_start(struct kipt_nl *nl, int id)
{
	return session_call(nl, KIPT_CMD_SESSION_START, id);
}

int kipt_session_stop(struct kipt_nl *nl, int id)
{
	return session_call(nl, KIPT_CMD_SESSION_STOP, id);
}

int kipt_session_del(struct kipt_nl *nl, int id)
{
	return session_call(nl, KIPT_CMD_SESSION_DEL, id);
}

int kipt_session_get(struct kipt_nl *nl, int id)
{
	return session_call(nl, KIPT_CMD_SESSION_GET, id);
}

int kipt_fetch_cancel(struct kipt_nl *nl, int id)
{
	return session_call(nl, KIPT_CMD_FETCH_CANCEL, id);
}

int kipt_fetch(struct kipt_nl *nl, int id, uint32_t output, uint32_t credit)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_FETCH);
	kipt_msg_u32(&msg, KIPT_A_SESSION_ID, (uint32_t)id);
	kipt_msg_u32(&msg, KIPT_A_SESSION_OUTPUT, output);
	kipt_msg_u32(&msg, KIPT_A_SESSION_CREDIT, credit);
	return kipt_nl_call(nl, &msg);
}

int kipt_credit(struct kipt_nl *nl, int id, uint32_t credit)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_CREDIT);
	kipt_msg_u32(&msg, KIPT_A_SESSION_ID, (uint32_t)id);
	kipt_msg_u32(&msg, KIPT_A_SESSION_CREDIT, credit);
	return kipt_nl_call(nl, &msg);
}

int kipt_session_state(struct kipt_nl *nl, int id)
{
	int ret = kipt_session_get(nl, id);

	return ret ? ret : (int)kipt_nl_u32(nl, KIPT_A_SESSION_STATE, 0);
}

uint64_t kipt_session_bytes(struct kipt_nl *nl, int id)
{
	uint64_t bytes = 0;
	const void *data;
	size_t len;

	if (kipt_session_get(nl, id))
		return 0;
	data = kipt_nl_nested(nl, KIPT_A_SESSION_CPU, KIPT_A_CPU_BYTES, &len);
	if (data && len == sizeof(bytes))
		memcpy(&bytes, data, sizeof(bytes));
	return bytes;
}

int kipt_session_count(struct kipt_nl *nl)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_SESSION_GET);
	return kipt_nl_dump(nl, &msg, NULL, NULL);
}

static bool cpu_has_pt(void)
{
	unsigned int eax, ebx = 0, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
	       (ebx & (1U << 25));
}

const char *kipt_module_missing(void)
{
	static struct kipt_nl nl;

	if (geteuid() != 0)
		return "needs root";
	if (kipt_nl_open(&nl))
		return "the module kipt is not loaded";
	kipt_nl_close(&nl);
	return NULL;
}

const char *kipt_missing(void)
{
	if (!cpu_has_pt())
		return "this CPU has no Intel PT";
	return kipt_module_missing();
}
