// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes netlink messages. A broken one is a likely one in which some values
 * and lengths are wrong, and which is then damaged as a whole. Runs in user
 * space of the test machine.
 */
#include "message.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#define ALIGN4(n)	(((n) + 3) & ~(size_t)3)
#define HEADERS		(NLMSG_HDRLEN + sizeof(struct genlmsghdr))
#define DEPTH_MAX	6
/* What is kept free, so that a nest can always be closed. */
#define ROOM		512

/* IA32_RTIT_CTL: OS, User and BranchEn; Intel SDM Vol. 3C. */
#define CTL_BASIC	((1ULL << 2) | (1ULL << 3) | (1ULL << 13))

const struct spec_command *message_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < spec_command_count; i++)
		if (!strcmp(spec_commands[i].name, name))
			return &spec_commands[i];
	return NULL;
}

static const struct spec_attr *find_number(unsigned int set, uint16_t number)
{
	unsigned int i;

	for (i = 0; i < spec_sets[set].count; i++)
		if (spec_sets[set].attrs[i].number == number)
			return &spec_sets[set].attrs[i];
	return NULL;
}

uint16_t message_find(unsigned int set, const char *name)
{
	unsigned int i;

	for (i = 0; i < spec_sets[set].count; i++)
		if (!strcmp(spec_sets[set].attrs[i].name, name))
			return spec_sets[set].attrs[i].number;
	return 0;
}

static bool has_room(const struct message *m, size_t len)
{
	return m->len + NLA_HDRLEN + ALIGN4(len) + ROOM <= sizeof(m->data);
}

/* @stated: what the attribute says its length is. */
static void put_stated(struct message *m, uint16_t type, const void *data,
		       size_t len, size_t stated)
{
	struct nlattr attr = {
		.nla_len = (uint16_t)(NLA_HDRLEN + stated),
		.nla_type = type,
	};

	if (!has_room(m, len))
		return;
	memset(m->data + m->len, 0, NLA_HDRLEN + ALIGN4(len));
	memcpy(m->data + m->len, &attr, sizeof(attr));
	memcpy(m->data + m->len + NLA_HDRLEN, data, len);
	m->len += NLA_HDRLEN + ALIGN4(len);
}

static void put(struct message *m, uint16_t type, const void *data, size_t len)
{
	put_stated(m, type, data, len, len);
}

static size_t nest_begin(struct message *m, uint16_t type)
{
	size_t at = m->len;

	put(m, type, NULL, 0);
	return m->len == at ? 0 : at;
}

static void nest_end(struct message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->len - at);

	if (at)
		memcpy(m->data + at, &len, sizeof(len));
}

static void close_message(struct message *m)
{
	struct nlmsghdr *header = (struct nlmsghdr *)m->data;

	header->nlmsg_len = (uint32_t)m->len;
	header->nlmsg_flags = m->flags;
}

static void begin(struct message *m, const struct message_known *known,
		  uint8_t number, uint16_t flags)
{
	struct nlmsghdr *header = (struct nlmsghdr *)m->data;
	struct genlmsghdr *genl = NLMSG_DATA(header);

	memset(m->data, 0, HEADERS);
	header->nlmsg_type = known->family;
	genl->cmd = number;
	genl->version = 1;
	m->len = HEADERS;
	m->flags = flags;
	m->cut = false;
	close_message(m);
}

void message_begin(struct message *m, const struct message_known *known,
		   const struct spec_command *command, bool dump)
{
	m->command = command;
	dump |= !command->doit.exists;
	begin(m, known, command->number,
	      NLM_F_REQUEST | (dump ? NLM_F_DUMP : NLM_F_ACK));
}

static void put_named(struct message *m, const char *name, const void *data,
		      size_t len)
{
	uint16_t number = message_find(m->command->set, name);

	if (number)
		put(m, number, data, len);
	close_message(m);
}

void message_u32(struct message *m, const char *name, uint32_t value)
{
	put_named(m, name, &value, sizeof(value));
}

void message_u64(struct message *m, const char *name, uint64_t value)
{
	put_named(m, name, &value, sizeof(value));
}

void message_string(struct message *m, const char *name, const char *text)
{
	put_named(m, name, text, strlen(text) + 1);
}

void message_put(struct message *m, uint16_t number, const void *data,
		 size_t len)
{
	put(m, number, data, len);
	close_message(m);
}

size_t message_nest(struct message *m, uint16_t number)
{
	return nest_begin(m, number | NLA_F_NESTED);
}

void message_nest_end(struct message *m, size_t nest)
{
	nest_end(m, nest);
	close_message(m);
}

static bool is(const struct spec_attr *attr, const char *name)
{
	return !strcmp(attr->name, name);
}

/* A number the specification allows, and often one that makes sense here. */
static uint64_t likely_number(const struct spec_attr *attr, struct rng *rng,
			      const struct message_known *known)
{
	uint64_t span = attr->max - attr->min;

	if (is(attr, "id"))
		return rng_chance(rng, 850) ?
		       known->ids[rng_below(rng, MESSAGE_IDS)] :
		       rng_below(rng, 1000);
	if (is(attr, "fetch"))
		return rng_chance(rng, 700) ? known->fetch : rng_below(rng, 99);
	if (is(attr, "cpu"))
		return rng_below(rng, known->cpus + 1);
	if (is(attr, "ctl"))
		return rng_chance(rng, 600) ? CTL_BASIC :
		       rng_next(rng) & known->ctl;
	if (is(attr, "size"))
		return 65536ULL << (rng_chance(rng, 900) ? rng_below(rng, 5) :
				    rng_below(rng, 15));
	if (is(attr, "pid"))
		return 1 + rng_below(rng, 400);
	if (attr->flags)
		return rng_next(rng) & attr->max;
	return attr->min + (span == ~0ULL ? rng_next(rng) :
			    rng_next(rng) % (span + 1));
}

/* CPU lists: @text is room for one that is written here. */
static const char *likely_cpus(struct rng *rng,
			       const struct message_known *known, char *text)
{
	static const char *const lists[] = {
		"0", "1", "0-1", "0-3", "1,3", "2", "3", "0,2", "", "0-9999",
	};

	if (rng_chance(rng, 400))
		return lists[rng_below(rng, sizeof(lists) / sizeof(lists[0]))];
	sprintf(text, "%u", known->cpu);
	return text;
}

static void put_number(struct message *m, const struct spec_attr *attr,
		       uint64_t value)
{
	uint32_t small = (uint32_t)value;

	if (attr->type == SPEC_U32)
		put(m, attr->number, &small, sizeof(small));
	else
		put(m, attr->number, &value, sizeof(value));
}

static void put_likely(struct message *m, const struct spec_attr *attr,
		       struct rng *rng, const struct message_known *known);

/* Nests do not hold nests of their own kind: this ends. */
static void put_nest(struct message *m, const struct spec_attr *attr,
		     struct rng *rng, const struct message_known *known)
{
	const struct spec_set *set = &spec_sets[attr->nest];
	size_t nest = nest_begin(m, attr->number | NLA_F_NESTED);
	unsigned int i;

	for (i = 0; nest && i < set->count; i++)
		if (set->attrs[i].type != SPEC_PAD)
			put_likely(m, &set->attrs[i], rng, known);
	nest_end(m, nest);
}

static void put_likely(struct message *m, const struct spec_attr *attr,
		       struct rng *rng, const struct message_known *known)
{
	const char *list;
	char text[16];

	switch (attr->type) {
	case SPEC_U32:
	case SPEC_U64:
		put_number(m, attr, likely_number(attr, rng, known));
		break;
	case SPEC_STRING:
		list = likely_cpus(rng, known, text);
		put(m, attr->number, list, strlen(list) + 1);
		break;
	case SPEC_NEST:
		put_nest(m, attr, rng, known);
		break;
	default:
		put(m, attr->number, NULL, 0);
		break;
	}
}

/* What hardly any request can do without. */
static bool is_needed(const struct spec_attr *attr)
{
	return is(attr, "id") || is(attr, "cpus") || is(attr, "ctl") ||
	       is(attr, "size") || is(attr, "output");
}

static const struct spec_request *random_request(struct message *m,
						 struct rng *rng,
						 const struct message_known *known)
{
	const struct spec_command *command =
		&spec_commands[rng_below(rng, spec_command_count)];
	bool dump = command->dump.exists &&
		    (!command->doit.exists || rng_chance(rng, 500));

	message_begin(m, known, command, dump);
	return dump ? &command->dump : &command->doit;
}

void message_likely(struct message *m, struct rng *rng,
		    const struct message_known *known)
{
	const struct spec_request *request = random_request(m, rng, known);
	unsigned int i, times;

	for (i = 0; i < request->count; i++) {
		const struct spec_attr *attr =
			find_number(m->command->set, request->attrs[i]);

		if (!rng_chance(rng, is_needed(attr) ? 970 : 200))
			continue;
		times = attr->multi ? 1 + rng_below(rng, 3) : 1;
		while (times--)
			put_likely(m, attr, rng, known);
	}
	close_message(m);
}

static uint64_t wrong_number(const struct spec_attr *attr, struct rng *rng)
{
	switch (rng_below(rng, 6)) {
	case 0:
		return 0;
	case 1:
		return attr->min - 1;
	case 2:
		return attr->max + 1;
	case 3:
		return ~0ULL;
	case 4:
		return 1ULL << rng_below(rng, 64);
	default:
		return rng_next(rng);
	}
}

static void random_bytes(struct rng *rng, unsigned char *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = (unsigned char)rng_next(rng);
}

/* Few bytes as a rule, and sometimes as many as go into an attribute. */
static size_t wrong_len(struct rng *rng)
{
	static const uint16_t lens[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 255, 4096, 4097, 9000, 20000,
	};

	return lens[rng_below(rng, rng_chance(rng, 900) ? 11 : 16)];
}

static void put_wrong_len(struct message *m, const struct spec_attr *attr,
			  struct rng *rng)
{
	static unsigned char bytes[20000];
	size_t len = wrong_len(rng);

	random_bytes(rng, bytes, len < 64 ? len : 64);
	put(m, attr->number, bytes, len);
}

/* A length that does not fit what follows: from nothing to far too much. */
static void put_wrong_stated(struct message *m, const struct spec_attr *attr,
			     struct rng *rng)
{
	uint64_t value = rng_next(rng);

	put_stated(m, attr->number, &value, sizeof(value),
		   rng_chance(rng, 500) ? rng_below(rng, 40) - NLA_HDRLEN :
					  rng_below(rng, 65536));
}

static void put_text(struct message *m, const struct spec_attr *attr,
		     struct rng *rng)
{
	static const char alphabet[] = "0123456789,-:/ ~N\nall";
	char text[300];
	size_t len = rng_below(rng, sizeof(text)), i;

	for (i = 0; i < len; i++)
		text[i] = alphabet[rng_below(rng, sizeof(alphabet))];
	put(m, attr->number, text, len);
}

/* Nests in nests, of any type, down to where the kernel must give up. */
static void put_deep(struct message *m, struct rng *rng, unsigned int depth)
{
	unsigned int set = rng_below(rng, spec_set_count), i;
	size_t nest = nest_begin(m, (uint16_t)rng_below(rng, 24) |
				 (rng_chance(rng, 700) ? NLA_F_NESTED : 0));

	for (i = 0; nest && i < 1 + rng_below(rng, 3); i++) {
		const struct spec_set *s = &spec_sets[set];

		put_number(m, &s->attrs[rng_below(rng, s->count)],
			   rng_next(rng));
		if (depth < DEPTH_MAX)
			put_deep(m, rng, depth + 1);
	}
	nest_end(m, nest);
}

static void put_wrong(struct message *m, const struct spec_attr *attr,
		      struct rng *rng, const struct message_known *known)
{
	struct spec_attr other = *attr;

	switch (rng_below(rng, 8)) {
	case 0:
		put_number(m, attr, wrong_number(attr, rng));
		break;
	case 1:
		put_wrong_len(m, attr, rng);
		break;
	case 2:
		put_wrong_stated(m, attr, rng);
		break;
	case 3:
		put_text(m, attr, rng);
		break;
	case 4:
		other.number |= rng_chance(rng, 500) ? NLA_F_NESTED :
						       NLA_F_NET_BYTEORDER;
		put_likely(m, &other, rng, known);
		break;
	case 5:
		other.number = (uint16_t)rng_below(rng, 16384);
		put_likely(m, &other, rng, known);
		break;
	case 6:
		put_deep(m, rng, 0);
		break;
	default:
		put_likely(m, attr, rng, known);
		put_likely(m, attr, rng, known);
		break;
	}
}

/* Any attribute of the command's set, or of another. */
static const struct spec_attr *any_attr(const struct message *m,
					struct rng *rng)
{
	unsigned int set = rng_chance(rng, 800) ? m->command->set :
			   rng_below(rng, spec_set_count);

	return &spec_sets[set].attrs[rng_below(rng, spec_sets[set].count)];
}

static void put_many(struct message *m, struct rng *rng,
		     const struct message_known *known)
{
	const struct spec_attr *attr = any_attr(m, rng);
	unsigned int count = rng_chance(rng, 100) ? 8000 : rng_below(rng, 200);

	while (count--)
		put_likely(m, attr, rng, known);
}

/* The message as a whole: flags, headers, its end. */
static void damage(struct message *m, struct rng *rng)
{
	struct nlmsghdr *header = (struct nlmsghdr *)m->data;
	struct genlmsghdr *genl = NLMSG_DATA(header);
	unsigned int i;

	switch (rng_below(rng, 8)) {
	case 0:
		m->flags = (uint16_t)(rng_next(rng) |
				      (rng_chance(rng, 900) ? NLM_F_REQUEST : 0));
		header->nlmsg_flags = m->flags;
		break;
	case 1:
		header->nlmsg_len = rng_below(rng, (uint32_t)m->len + 64);
		m->cut = header->nlmsg_len < HEADERS ||
			 header->nlmsg_len > m->len;
		break;
	case 2:
		m->len = rng_below(rng, (uint32_t)m->len) + 1;
		m->cut = true;
		break;
	case 3:
		genl->cmd = (uint8_t)rng_next(rng);
		m->command = NULL;
		for (i = 0; i < spec_command_count; i++)
			if (spec_commands[i].number == genl->cmd)
				m->command = &spec_commands[i];
		break;
	case 4:
		genl->version = (uint8_t)rng_next(rng);
		genl->reserved = rng_chance(rng, 500) ?
				 (uint16_t)rng_next(rng) : 0;
		break;
	default:
		for (i = 0; i < 3 && m->len > HEADERS; i++)
			m->data[HEADERS + rng_below(rng, (uint32_t)(m->len - HEADERS))] =
				(unsigned char)rng_next(rng);
		break;
	}
}

void message_broken(struct message *m, struct rng *rng,
		    const struct message_known *known)
{
	const struct spec_request *request = random_request(m, rng, known);
	unsigned int i, extra = rng_below(rng, 3);

	for (i = 0; i < request->count; i++) {
		const struct spec_attr *attr =
			find_number(m->command->set, request->attrs[i]);

		if (rng_chance(rng, 150))
			put_wrong(m, attr, rng, known);
		else if (rng_chance(rng, is_needed(attr) ? 950 : 150))
			put_likely(m, attr, rng, known);
	}
	while (extra--)
		put_wrong(m, any_attr(m, rng), rng, known);
	if (rng_chance(rng, 20))
		put_many(m, rng, known);
	close_message(m);
	if (rng_chance(rng, 400))
		damage(m, rng);
}
