// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink socket of the stress programs. Reads nothing it was not sent:
 * every length is checked, since a test must not trust what it tests.
 */
#include "client.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/kipt.h>

#define ALIGN4(n)	(((n) + 3) & ~(size_t)3)
#define HEADERS		(NLMSG_HDRLEN + sizeof(struct genlmsghdr))
/* Far more than any answer takes in an emulated machine. */
#define ANSWER_MS	120000

const void *client_find(const void *attrs, size_t len, uint16_t number,
			size_t *found_len)
{
	const unsigned char *data = attrs;
	size_t at = 0;

	while (at + NLA_HDRLEN <= len) {
		struct nlattr attr;

		memcpy(&attr, data + at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > len - at)
			return NULL;
		if ((attr.nla_type & NLA_TYPE_MASK) == number) {
			*found_len = attr.nla_len - NLA_HDRLEN;
			return data + at + NLA_HDRLEN;
		}
		at += ALIGN4(attr.nla_len);
	}
	return NULL;
}

uint64_t client_number(const void *attrs, size_t len, const char *set,
		       const char *name, uint64_t missing)
{
	const void *data = NULL;
	uint32_t small;
	unsigned int i;

	for (i = 0; i < spec_set_count; i++)
		if (!strcmp(spec_sets[i].name, set))
			data = client_find(attrs, len, message_find(i, name),
					   &len);
	if (data && len == sizeof(small)) {
		memcpy(&small, data, sizeof(small));
		return small;
	}
	if (data && len == sizeof(missing))
		memcpy(&missing, data, sizeof(missing));
	return missing;
}

int client_send(struct client *client, struct message *m)
{
	struct nlmsghdr *header = (struct nlmsghdr *)m->data;

	header->nlmsg_seq = ++client->seq;
	client->error = 0;
	client->why[0] = 0;
	return send(client->fd, m->data, m->len, 0) < 0 ? -errno : 0;
}

static void take_why(struct client *client, const unsigned char *tlv,
		     size_t len)
{
	const char *text = client_find(tlv, len, NLMSGERR_ATTR_MSG, &len);

	if (text)
		snprintf(client->why, sizeof(client->why), "%.*s", (int)len,
			 text);
}

/* A struct nlmsgerr, the request if it was not capped, then attributes. */
static void take_error(struct client *client, const struct nlmsghdr *header)
{
	const struct nlmsgerr *error = NLMSG_DATA(header);
	size_t at = NLMSG_HDRLEN + sizeof(*error);

	if (header->nlmsg_len < at)
		return;
	client->error = error->error;
	if (!(header->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (!(header->nlmsg_flags & NLM_F_CAPPED))
		at += ALIGN4(error->msg.nlmsg_len - sizeof(struct nlmsghdr));
	if (at < header->nlmsg_len)
		take_why(client, (const unsigned char *)header + at,
			 header->nlmsg_len - at);
}

/* An int, then attributes. */
static void take_done(struct client *client, const struct nlmsghdr *header)
{
	size_t at = NLMSG_HDRLEN + sizeof(int);

	if (header->nlmsg_len < at)
		return;
	client->error = *(const int *)NLMSG_DATA(header);
	if ((header->nlmsg_flags & NLM_F_ACK_TLVS) && at < header->nlmsg_len)
		take_why(client, (const unsigned char *)header + at,
			 header->nlmsg_len - at);
}

static int take_message(struct client *client, const struct nlmsghdr *header)
{
	const struct genlmsghdr *genl = NLMSG_DATA(header);

	if (header->nlmsg_seq != client->seq)
		return CLIENT_OPEN;
	if (header->nlmsg_type == NLMSG_ERROR) {
		take_error(client, header);
		return CLIENT_DONE;
	}
	if (header->nlmsg_type == NLMSG_DONE) {
		take_done(client, header);
		return CLIENT_DONE;
	}
	if (header->nlmsg_len >= HEADERS && client->each)
		client->each(client, (const unsigned char *)header + HEADERS,
			     header->nlmsg_len - HEADERS, genl->cmd);
	return CLIENT_OPEN;
}

int client_take(struct client *client, size_t room, int timeout_ms)
{
	static unsigned char buf[CLIENT_BUFFER];
	struct pollfd poll_fd = { .fd = client->fd, .events = POLLIN };
	const struct nlmsghdr *header = (void *)buf;
	int end = CLIENT_OPEN;
	unsigned int len;
	ssize_t n;

	if (timeout_ms && poll(&poll_fd, 1, timeout_ms) < 0 && errno != EINTR)
		return -errno;
	n = recv(client->fd, buf, room, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return errno == ENOBUFS ? CLIENT_LOST : -errno;
	if ((size_t)n > room)
		return CLIENT_LOST;
	for (len = (unsigned int)n; NLMSG_OK(header, len);
	     header = NLMSG_NEXT(header, len))
		if (take_message(client, header) == CLIENT_DONE)
			end = CLIENT_DONE;
	return end;
}

int client_call(struct client *client, struct message *m)
{
	int ret = client_send(client, m);

	if (ret)
		return ret;
	do {
		ret = client_take(client, CLIENT_BUFFER, ANSWER_MS);
	} while (ret == CLIENT_OPEN);
	if (ret < 0)
		return ret == -EAGAIN ? -ETIMEDOUT : ret;
	return ret == CLIENT_LOST ? -ENOBUFS : client->error;
}

static void take_family(struct client *client, const void *attrs, size_t len,
			uint8_t command)
{
	const void *id, *groups, *group;
	size_t n, groups_len;

	(void)command;
	id = client_find(attrs, len, CTRL_ATTR_FAMILY_ID, &n);
	if (id && n == sizeof(client->known.family))
		memcpy(&client->known.family, id, n);
	groups = client_find(attrs, len, CTRL_ATTR_MCAST_GROUPS, &groups_len);
	group = groups ? client_find(groups, groups_len, 1, &n) : NULL;
	group = group ? client_find(group, n, CTRL_ATTR_MCAST_GRP_ID, &n) : NULL;
	if (group && n == sizeof(client->group))
		memcpy(&client->group, group, n);
}

static int find_family(struct client *client)
{
	unsigned char data[64] = { 0 };
	struct message m = { .len = 0 };
	struct nlmsghdr *header = (struct nlmsghdr *)m.data;
	struct genlmsghdr *genl = NLMSG_DATA(header);
	struct nlattr attr = {
		.nla_len = NLA_HDRLEN + sizeof(KIPT_FAMILY_NAME),
		.nla_type = CTRL_ATTR_FAMILY_NAME,
	};
	int ret;

	header->nlmsg_type = GENL_ID_CTRL;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	genl->cmd = CTRL_CMD_GETFAMILY;
	genl->version = 1;
	memcpy(data, &attr, sizeof(attr));
	memcpy(data + NLA_HDRLEN, KIPT_FAMILY_NAME, sizeof(KIPT_FAMILY_NAME));
	memcpy(m.data + HEADERS, data, ALIGN4(attr.nla_len));
	m.len = HEADERS + ALIGN4(attr.nla_len);
	header->nlmsg_len = (uint32_t)m.len;
	client->each = take_family;
	ret = client_call(client, &m);
	client->each = NULL;
	return ret;
}

int client_open(struct client *client)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int one = 1, ret;

	memset(client, 0, sizeof(*client));
	client->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			    NETLINK_GENERIC);
	if (client->fd < 0)
		return -errno;
	setsockopt(client->fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	if (bind(client->fd, (struct sockaddr *)&address, sizeof(address)))
		ret = -errno;
	else
		ret = find_family(client);
	if (ret)
		client_close(client);
	return ret;
}

void client_close(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

int client_join(struct client *client)
{
	return setsockopt(client->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
			  &client->group, sizeof(client->group)) ? -errno : 0;
}
