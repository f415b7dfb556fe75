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

uint64_t kipt_nl_inner(const struct kipt_nl *nl, uint16_t outer,
		       uint16_t inner, uint64_t missing)
{
	size_t len;
	const void *data = kipt_nl_nested(nl, outer, inner, &len);
	uint32_t narrow;

	if (data && len == sizeof(missing))
		memcpy(&missing, data, sizeof(missing));
	if (!data || len != sizeof(narrow))
		return missing;
	memcpy(&narrow, data, sizeof(narrow));
	return narrow;
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

/* The sentence and the attribute that an error message carries at @at. */
static void take_why_at(struct kipt_nl *nl, const struct nlmsghdr *header,
			size_t at)
{
	const unsigned char *tlv = (const unsigned char *)header + at;
	const void *data;
	size_t len;

	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS) || at >= header->nlmsg_len)
		return;
	data = find_attr(tlv, header->nlmsg_len - at, NLMSGERR_ATTR_MSG, &len);
	if (data)
		snprintf(nl->why, sizeof(nl->why), "%.*s", (int)len,
			 (const char *)data);
	data = find_attr(tlv, header->nlmsg_len - at, NLMSGERR_ATTR_OFFS, &len);
	if (data)
		memcpy(&nl->why_offset, data, sizeof(nl->why_offset));
}

static void take_why(struct kipt_nl *nl, const struct nlmsghdr *header)
{
	const struct nlmsgerr *error = NLMSG_DATA(header);
	size_t at = sizeof(struct nlmsghdr) + sizeof(*error);

	if (!(header->nlmsg_flags & NLM_F_CAPPED))
		at += ALIGN4(error->msg.nlmsg_len - sizeof(struct nlmsghdr));
	take_why_at(nl, header, at);
}

/* The end of a dump, which may have failed on the way. */
static int take_done(struct kipt_nl *nl, const struct nlmsghdr *header)
{
	int error = *(const int *)NLMSG_DATA(header);

	take_why_at(nl, header, NLMSG_HDRLEN + sizeof(error));
	return error < 0 ? error : 0;
}

static uint8_t message_command(const struct nlmsghdr *header)
{
	return ((const struct genlmsghdr *)NLMSG_DATA(header))->cmd;
}

static bool is_unasked(const struct kipt_nl *nl, const struct nlmsghdr *header)
{
	return header->nlmsg_type == nl->family &&
	       message_command(header) == KIPT_CMD_SESSION_EVENT;
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
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct nlmsghdr *header = (struct nlmsghdr *)msg->data;
	ssize_t sent;

	if (!header->nlmsg_type)
		header->nlmsg_type = nl->family;
	header->nlmsg_len = (uint32_t)msg->len;
	header->nlmsg_seq = ++nl->seq;
	nl->why[0] = 0;
	nl->why_offset = 0;
	nl->reply_len = 0;
	nl->part_at = 0;
	nl->part_len = 0;
	if (nl->named)
		sent = sendto(nl->fd, msg->data, msg->len, 0,
			      (const struct sockaddr *)&kernel, sizeof(kernel));
	else
		sent = send(nl->fd, msg->data, msg->len, 0);
	return sent < 0 ? -errno : 0;
}

/* Return: 1: a message is in @reply; 2: go on; 0: done; or -errno. */
static int take_message(struct kipt_nl *nl, const struct nlmsghdr *header)
{
	if (is_unasked(nl, header)) {
		enqueue(nl, header);
		return 2;
	}
	if (header->nlmsg_seq != nl->seq)
		return 2;
	if (header->nlmsg_type == NLMSG_DONE)
		return take_done(nl, header);
	if (header->nlmsg_type == NLMSG_ERROR) {
		take_why(nl, header);
		return ((const struct nlmsgerr *)NLMSG_DATA(header))->error;
	}
	take_reply(nl, header);
	return 1;
}

/* One datagram may hold several messages. Return: as take_message(). */
static int next_message(struct kipt_nl *nl, int timeout_ms)
{
	struct nlmsghdr *header = (struct nlmsghdr *)(nl->part + nl->part_at);
	unsigned int left = nl->part_len - nl->part_at;
	int ret;

	if (NLMSG_OK(header, left)) {
		nl->part_at += NLMSG_ALIGN(header->nlmsg_len);
		return take_message(nl, header);
	}
	ret = receive(nl, timeout_ms, nl->part, nl->room);
	if (ret < 0)
		return ret;
	nl->part_at = 0;
	nl->part_len = (unsigned int)ret;
	return 2;
}

int kipt_nl_next(struct kipt_nl *nl, int timeout_ms)
{
	int ret;

	do {
		ret = next_message(nl, timeout_ms);
	} while (ret == 2);
	return ret;
}

int kipt_nl_call(struct kipt_nl *nl, struct kipt_msg *msg)
{
	int ret = send_msg(nl, msg);

	if (ret)
		return ret;
	do {
		ret = kipt_nl_next(nl, 60000);
	} while (ret == 1);
	return ret;
}

int kipt_nl_dump_begin(struct kipt_nl *nl, struct kipt_msg *msg)
{
	struct nlmsghdr *header = (struct nlmsghdr *)msg->data;

	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	return send_msg(nl, msg);
}

int kipt_nl_dump(struct kipt_nl *nl, struct kipt_msg *msg,
		 void (*each)(struct kipt_nl *nl, void *ctx), void *ctx)
{
	int ret = kipt_nl_dump_begin(nl, msg), count = 0;

	if (ret)
		return ret;
	while ((ret = kipt_nl_next(nl, 60000)) == 1) {
		count++;
		if (each)
			each(nl, ctx);
	}
	return ret < 0 ? ret : count;
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
	int ret;

	while (!nl->queued) {
		ret = next_message(nl, timeout_ms);
		if (ret < 0)
			return ret;
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
	nl->room = sizeof(nl->part);
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

static void put_filter(struct kipt_msg *msg,
		       const struct kipt_want_filter *filter)
{
	size_t begin = msg->len;
	struct nlattr nest = { .nla_type = KIPT_A_SESSION_FILTER | NLA_F_NESTED };

	kipt_msg_put(msg, nest.nla_type, "", 0);
	kipt_msg_u32(msg, KIPT_A_FILTER_KIND, filter->kind);
	kipt_msg_u64(msg, KIPT_A_FILTER_FIRST, filter->first);
	kipt_msg_u64(msg, KIPT_A_FILTER_LAST, filter->last);
	nest.nla_len = (uint16_t)(msg->len - begin);
	memcpy(msg->data + begin, &nest, sizeof(nest));
}

void kipt_want_put(struct kipt_msg *msg, const struct kipt_want *want)
{
	uint32_t i;

	kipt_msg_begin(msg, KIPT_CMD_SESSION_NEW);
	if (want->cpus)
		kipt_msg_string(msg, KIPT_A_SESSION_CPUS, want->cpus);
	if (want->mode)
		kipt_msg_u32(msg, KIPT_A_SESSION_MODE, want->mode);
	if (want->size)
		kipt_msg_u64(msg, KIPT_A_SESSION_SIZE, want->size);
	kipt_msg_u64(msg, KIPT_A_SESSION_CTL, want->ctl);
	if (want->flags)
		kipt_msg_u32(msg, KIPT_A_SESSION_FLAGS, want->flags);
	if (want->pid)
		kipt_msg_u32(msg, KIPT_A_SESSION_PID, want->pid);
	if (want->cr3)
		kipt_msg_u64(msg, KIPT_A_SESSION_CR3, want->cr3);
	if (want->print_branches)
		kipt_msg_u32(msg, KIPT_A_SESSION_PRINT_BRANCHES,
			     want->print_branches);
	if (want->print_cpus)
		kipt_msg_u32(msg, KIPT_A_SESSION_PRINT_CPUS, want->print_cpus);
	if (want->print_user)
		kipt_msg_u32(msg, KIPT_A_SESSION_PRINT_USER, want->print_user);
	for (i = 0; i < want->nr_filters; i++)
		put_filter(msg, &want->filters[i]);
}

/* The last message, which says that the session is ready, stays in @reply. */
int kipt_session_new(struct kipt_nl *nl, const struct kipt_want *want)
{
	struct kipt_msg msg;
	int ret;

	kipt_want_put(&msg, want);
	ret = kipt_nl_dump(nl, &msg, NULL, NULL);
	if (ret < 0)
		return ret;
	if (kipt_nl_u32(nl, KIPT_A_SESSION_STATE, 0) != KIPT_STATE_NEW)
		return -EPROTO;
	return (int)kipt_nl_u32(nl, KIPT_A_SESSION_ID, 0);
}

static void id_put(struct kipt_msg *msg, uint8_t cmd, int id)
{
	kipt_msg_begin(msg, cmd);
	kipt_msg_u32(msg, KIPT_A_SESSION_ID, (uint32_t)id);
}

/* What waits for CPUs is a dump. */
static int session_call(struct kipt_nl *nl, uint8_t cmd, int id)
{
	struct kipt_msg msg;
	int ret;

	id_put(&msg, cmd, id);
	ret = kipt_nl_dump(nl, &msg, NULL, NULL);
	return ret < 0 ? ret : 0;
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

int kipt_session_run(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id = kipt_session_new(nl, want), err;

	if (id < 0)
		return id;
	err = kipt_session_start(nl, id);
	if (!err)
		return id;
	kipt_session_del(nl, id);
	return err;
}

int kipt_session_get(struct kipt_nl *nl, int id)
{
	struct kipt_msg msg;

	id_put(&msg, KIPT_CMD_SESSION_GET, id);
	return kipt_nl_call(nl, &msg);
}

static bool is_cpu(const struct kipt_nl *nl, uint32_t cpu)
{
	return kipt_nl_inner(nl, KIPT_A_SESSION_CPU, KIPT_A_CPU_CPU, ~0ULL) ==
	       cpu;
}

int kipt_session_cpu(struct kipt_nl *nl, int id, uint32_t cpu)
{
	static unsigned char found[KIPT_NL_BUFFER];
	size_t found_len = 0;
	struct kipt_msg msg;
	int ret;

	id_put(&msg, KIPT_CMD_SESSION_GET, id);
	ret = kipt_nl_dump_begin(nl, &msg);
	if (ret)
		return ret;
	while ((ret = kipt_nl_next(nl, 60000)) == 1) {
		if (!is_cpu(nl, cpu))
			continue;
		memcpy(found, nl->reply, nl->reply_len);
		found_len = nl->reply_len;
	}
	memcpy(nl->reply, found, found_len);
	nl->reply_len = found_len;
	return ret < 0 ? ret : found_len ? 0 : -ENXIO;
}

uint64_t kipt_cpu_u64(struct kipt_nl *nl, int id, uint32_t cpu, uint16_t type)
{
	if (kipt_session_cpu(nl, id, cpu))
		return ~0ULL;
	return kipt_nl_inner(nl, KIPT_A_SESSION_CPU, type, ~0ULL);
}

static void fetch_put(struct kipt_msg *msg, int id, uint32_t output)
{
	kipt_msg_begin(msg, KIPT_CMD_FETCH);
	kipt_msg_u32(msg, KIPT_A_FETCH_ID, (uint32_t)id);
	kipt_msg_u32(msg, KIPT_A_FETCH_OUTPUT, output);
}

uint32_t kipt_cpu_event(struct kipt_nl *nl, uint32_t cpu)
{
	uint32_t number;

	while (kipt_nl_event(nl, 5000) == KIPT_CMD_SESSION_EVENT) {
		number = kipt_nl_u32(nl, KIPT_A_EVENT_CPU, ~0U);
		if (number != ~0U)
			return number == cpu ? kipt_nl_u32(nl, KIPT_A_EVENT_CAUSE, 0) : 0;
	}
	return 0;
}

int kipt_fetch_begin(struct kipt_nl *nl, int id, uint32_t output)
{
	struct kipt_msg msg;

	fetch_put(&msg, id, output);
	return kipt_nl_dump_begin(nl, &msg);
}

int kipt_fetch(struct kipt_nl *nl, int id, uint32_t output,
	       void (*each)(struct kipt_nl *nl, void *ctx), void *ctx)
{
	struct kipt_msg msg;

	fetch_put(&msg, id, output);
	return kipt_nl_dump(nl, &msg, each, ctx);
}

int kipt_info(struct kipt_nl *nl)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_GET_INFO);
	return kipt_nl_call(nl, &msg);
}

uint64_t kipt_memory(struct kipt_nl *nl)
{
	return kipt_info(nl) ? ~0ULL :
	       kipt_nl_u64(nl, KIPT_A_INFO_MEMORY, ~0ULL);
}

int kipt_session_state(struct kipt_nl *nl, int id)
{
	int ret = kipt_session_get(nl, id);

	return ret ? ret : (int)kipt_nl_u32(nl, KIPT_A_SESSION_STATE, 0);
}

uint64_t kipt_cpu_bytes(struct kipt_nl *nl, int id, uint32_t cpu)
{
	if (kipt_session_cpu(nl, id, cpu))
		return 0;
	return kipt_nl_inner(nl, KIPT_A_SESSION_CPU, KIPT_A_CPU_HEAD, 0) -
	       kipt_nl_inner(nl, KIPT_A_SESSION_CPU, KIPT_A_CPU_TAIL, 0);
}

/* Each session has one message without a CPU; the others are for its CPUs. */
static void count_session(struct kipt_nl *nl, void *ctx)
{
	size_t len;

	if (!kipt_nl_attr(nl, KIPT_A_SESSION_CPU, &len))
		++*(int *)ctx;
}

int kipt_session_count(struct kipt_nl *nl)
{
	int count = 0, ret;
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_SESSION_GET);
	ret = kipt_nl_dump(nl, &msg, count_session, &count);
	return ret < 0 ? ret : count;
}

/* More than the module keeps. */
#define SNAPSHOTS_MOST	128

struct snapshot_ids {
	uint32_t ids[SNAPSHOTS_MOST];
	unsigned int count;
};

static void note_snapshot(struct kipt_nl *nl, void *ctx)
{
	struct snapshot_ids *list = ctx;

	if (list->count < SNAPSHOTS_MOST)
		list->ids[list->count++] = kipt_nl_u32(nl, KIPT_A_SNAPSHOT_ID,
						       0);
}

int kipt_snapshot_del(struct kipt_nl *nl, uint32_t id)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_SNAPSHOT_DEL);
	kipt_msg_u32(&msg, KIPT_A_SNAPSHOT_ID, id);
	return kipt_nl_call(nl, &msg);
}

static void list_snapshots(struct kipt_nl *nl, struct snapshot_ids *list)
{
	struct kipt_msg msg;

	list->count = 0;
	kipt_msg_begin(&msg, KIPT_CMD_SNAPSHOT_GET);
	kipt_nl_dump(nl, &msg, note_snapshot, list);
}

uint32_t kipt_snapshot_newest(struct kipt_nl *nl)
{
	struct snapshot_ids list;
	uint32_t newest = 0;

	list_snapshots(nl, &list);
	while (list.count--)
		if (list.ids[list.count] > newest)
			newest = list.ids[list.count];
	return newest;
}

void kipt_snapshots_delete(struct kipt_nl *nl)
{
	struct snapshot_ids list;

	list_snapshots(nl, &list);
	while (list.count)
		kipt_snapshot_del(nl, list.ids[--list.count]);
}

bool kipt_cpu_has_pt(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	static char line[8192];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strncmp(line, "flags", 5) == 0 &&
			strstr(line, " intel_pt");
	if (f)
		fclose(f);
	return found;
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

/* CPUID.14H of some subleaf. */
struct pt_leaf {
	unsigned int eax, ebx, ecx, edx;
};

static struct pt_leaf pt_leaf(unsigned int number)
{
	struct pt_leaf leaf = { 0 };

	__get_cpuid_count(0x14, number, &leaf.eax, &leaf.ebx, &leaf.ecx,
			  &leaf.edx);
	return leaf;
}

const char *kipt_one_block(void)
{
	/* TOPAMULTI */
	if (pt_leaf(0).ecx & 2)
		return NULL;
	return "this CPU has one ToPA entry: rings of 4 MiB at most";
}

const char *kipt_no_ranges(void)
{
	struct pt_leaf all = pt_leaf(0), values = pt_leaf(1);

	/* A leaf 1 that repeats leaf 0 says nothing. */
	if (all.eax && all.ebx & 4 && values.eax & 7 &&
	    (values.eax != all.eax || values.ebx != all.ebx))
		return NULL;
	return "this CPU has no address ranges";
}

const char *kipt_absent(uint32_t part)
{
	static struct kipt_nl nl;
	uint32_t absent = 0;

	if (kipt_nl_open(&nl))
		return "the module kipt is not loaded";
	if (!kipt_info(&nl))
		absent = kipt_nl_u32(&nl, KIPT_A_INFO_ABSENT, 0);
	kipt_nl_close(&nl);
	if (!(absent & part))
		return NULL;
	return part == KIPT_PART_DECODE ?
	       "the module was built with CONFIG_KIPT_DECODE=n" :
	       "the module was built with CONFIG_KIPT_CRASH=n";
}

const char *kipt_missing(void)
{
	if (!kipt_cpu_has_pt())
		return "this CPU has no Intel PT";
	return kipt_module_missing();
}
