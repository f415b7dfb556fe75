// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps of sessions with more CPUs than the test machine boots, to readers
 * with little room: each session and each of its CPUs is listed once, in order,
 * in whole messages. A session that is destroyed is neither in a dump nor in an
 * answer. User space, with the module's own file.
 */
#include "kernel.h"

#include "../../kmod/crash/snapshot.h"
#include "../../kmod/session/arm.h"
#include "../../kmod/trace/buffer.h"
#include "../../kmod/crash/crash_hooks.h"
#include "../../kmod/crash/killed.h"
#include "../../kmod/lib/limits.h"
#include "../../kmod/watch/follow.h"
#include "../../kmod/netlink/reply.h"
#include "../../kmod/session/permission.h"
#include "../../kmod/session/session.h"
#include "../../kmod/netlink/commands.h"
#include "../../kmod/watch/sideband.h"
#include "../../kmod/watch/space_table.h"
#include "../decode/ktap.h"

/* What netlink has room for when a reader's buffer is of 4 KiB or less. */
#define ROOM_LEAST	3776U
#define ROOM_MOST	32768U
#define SESSIONS	3U
#define CALLS_MOST	100000U

struct user_namespace init_user_ns;
const struct cpumask *cpu_online_mask;

static struct ktap ktap;
static struct kipt_session *sessions[SESSIONS];
static struct kipt_buffer buffer = {
	.size = 65536, .nr_regions = 3, .order_min = 1, .order_max = 2
};
/* What was freed may hold anything. */
static struct kipt_buffer freed;
/* Answers under way, and what the last one was about. */
static u32 answers;
static u64 answered;
static bool answered_cpus;

/**
 * struct reader - the reader of a dump, and what it got
 * @cb: the dump
 * @room: of its buffer
 * @messages: about each session: its own and its CPUs
 * @datagrams: how many it took
 * @cpu_lists: sessions whose message has a list of CPUs
 * @wrong: a message was not as it should be
 */
static struct reader {
	struct netlink_callback cb;
	u32 room;
	u32 messages[SESSIONS];
	u32 datagrams;
	u32 cpu_lists;
	bool wrong;
} reader;

/* The kernel's side of a message. */

static u8 *grow(struct sk_buff *skb, u32 bytes)
{
	u8 *at = skb->data + skb->len;

	if (bytes > skb->room - skb->len)
		return NULL;
	skb->len += bytes;
	memset(at, 0, bytes);
	return at;
}

int nla_put(struct sk_buff *skb, int type, int len, const void *data)
{
	u32 bytes = NLA_HDRLEN + (u32)len;
	struct nlattr *attr = (void *)grow(skb, NLA_ALIGN(bytes));

	if (!attr)
		return -EMSGSIZE;
	attr->nla_len = (u16)bytes;
	attr->nla_type = (u16)type;
	memcpy(nla_data(attr), data, (size_t)len);
	return 0;
}

struct nlattr *nla_nest_start(struct sk_buff *skb, int type)
{
	struct nlattr *nest = (void *)(skb->data + skb->len);

	return nla_put(skb, type, 0, "") ? NULL : nest;
}

void nla_nest_end(struct sk_buff *skb, struct nlattr *nest)
{
	nest->nla_len = (u16)(skb->data + skb->len - (u8 *)nest);
}

void *kipt_reply_part(struct sk_buff *skb, struct netlink_callback *cb,
			u8 cmd)
{
	struct nlmsghdr *header = (void *)grow(skb, NLMSG_HDRLEN + GENL_HDRLEN);
	struct genlmsghdr *genl = (void *)(header + 1);

	(void)cb;
	if (!header)
		return NULL;
	genl->cmd = cmd;
	return genl + 1;
}

static struct nlmsghdr *header_of(void *header)
{
	return (void *)((u8 *)header - GENL_HDRLEN - NLMSG_HDRLEN);
}

void genlmsg_end(struct sk_buff *skb, void *header)
{
	struct nlmsghdr *nlh = header_of(header);

	nlh->nlmsg_len = (u32)(skb->data + skb->len - (u8 *)nlh);
}

void genlmsg_cancel(struct sk_buff *skb, void *header)
{
	skb->len = (u32)((u8 *)header_of(header) - skb->data);
}

void *kipt_reply_state(struct netlink_callback *cb)
{
	return cb->ctx;
}

struct sk_buff *kipt_reply_begin(struct genl_info *info, size_t size,
				   void **header)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));

	(void)info;
	assert(skb);
	skb->room = (u32)size + NLMSG_HDRLEN + GENL_HDRLEN;
	skb->data = calloc(1, skb->room);
	assert(skb->data);
	*header = kipt_reply_part(skb, NULL, KIPT_CMD_SESSION_GET);
	answers++;
	return skb;
}

void nlmsg_free(struct sk_buff *skb)
{
	free(skb->data);
	free(skb);
	answers--;
}

/* Numbers one by one, which is as long as lists get. */
int kipt_reply_put_cpus(struct sk_buff *skb, int attr,
			  const struct cpumask *cpus)
{
	static char text[CPUS_MAX * sizeof("1234")];
	int len = 0;
	u32 cpu;

	for (cpu = 0; cpu < CPUS_MAX; cpu++)
		if (cpus->set[cpu])
			len += sprintf(text + len, len ? ",%u" : "%u", cpu);
	return nla_put(skb, attr, len + 1, text);
}

/* The module's other files. */

int kipt_permission_trace(struct sk_buff *request,
			  struct kipt_refusal *refusal)
{
	(void)request;
	(void)refusal;
	return 0;
}

u32 kipt_session_changes(void)
{
	return 1;
}

void kipt_session_put(struct kipt_session *session)
{
	session->refs.count--;
}

bool kipt_session_pin_live(struct kipt_session *session)
{
	session->pins.count += !session->dead;
	return !session->dead;
}

void kipt_session_unpin(struct kipt_session *session)
{
	session->pins.count--;
}

struct kipt_session *kipt_session_next(u32 id)
{
	static u32 calls;
	u32 i;

	/* A dump that goes round in one call never comes back to the test. */
	if (++calls == 100 * CALLS_MOST) {
		printf("Bail out! a dump does not end\n");
		exit(1);
	}
	for (i = 0; i < SESSIONS; i++) {
		if (!sessions[i] || sessions[i]->group.id <= id)
			continue;
		sessions[i]->refs.count++;
		return sessions[i];
	}
	return NULL;
}

int kipt_reply_find(const struct nlattr *attr, struct kipt_session **session,
		      struct kipt_refusal *refusal)
{
	u32 id = nla_get_u32(attr);

	(void)refusal;
	*session = kipt_session_next(id - 1);
	if (*session && (*session)->group.id == id)
		return 0;
	if (*session)
		kipt_session_put(*session);
	*session = NULL;
	return -ENOENT;
}

int kipt_session_check_gone(const struct kipt_session *session,
			    struct kipt_refusal *refusal)
{
	(void)refusal;
	return session->dead ? -ENOENT : 0;
}

void kipt_trace_result(struct kipt_trace *trace,
		       struct kipt_trace_result *result)
{
	*result = trace->result;
}

struct kipt_spaces *kipt_sideband_spaces(struct kipt_sideband *sideband)
{
	(void)sideband;
	return NULL;
}

u64 kipt_spaces_lost(const struct kipt_spaces *spaces)
{
	(void)spaces;
	return 0;
}

u64 kipt_sideband_switches_lost(const struct kipt_sideband *sideband)
{
	(void)sideband;
	return 0;
}

/* The longest there is. */
u64 kipt_snapshot_bytes(u64 ring)
{
	return ring;
}

const struct kipt_limits *kipt_limits(void)
{
	static const struct kipt_limits limits;

	return &limits;
}

bool kipt_crash_hooks_fire(char *why, size_t size)
{
	memset(why, 'x', size - 1);
	why[size - 1] = 0;
	return false;
}

bool kipt_killed_fires(char *why, size_t size)
{
	return kipt_crash_hooks_fire(why, size);
}

u32 kipt_follow_alive(const struct kipt_follow *follow)
{
	return follow != NULL;
}

u64 kipt_follow_lost(const struct kipt_follow *follow)
{
	return follow != NULL;
}

/* The sessions: every other CPU, so that a list cannot be short. */

static struct kipt_hw_range filter_of(u32 id, u32 index)
{
	return (struct kipt_hw_range){
		.kind = index % 2 ? KIPT_FILTER_KIND_STOP : KIPT_FILTER_KIND_TRACE,
		.first = 0x1000 * id + 0x10 * index,
		.last = 0x1000 * id + 0x10 * index + 7,
	};
}

static struct kipt_session *make_session(u32 id, u32 count, u32 filters)
{
	struct kipt_session *session =
		calloc(1, sizeof(*session) + count * sizeof(struct kipt_trace));
	u32 i;

	assert(session && zalloc_cpumask_var(&session->cpus, 0));
	session->group.id = id;
	session->state = KIPT_STATE_STOPPED;
	session->generation = 1;
	session->cause = KIPT_STOP_CAUSE_USER;
	session->group.config.hw.nr_ranges = filters;
	for (i = 0; i < filters; i++)
		session->group.config.hw.ranges[i] = filter_of(id, i);
	session->nr_traces = count;
	session->group.config.flags = KIPT_SESSION_FLAGS_ARMED;
	/* It is only asked for figures. */
	session->follow = (void *)session;
	for (i = 0; i < count; i++) {
		session->cpus->set[2 * i] = true;
		session->traces[i].cpu = 2 * i;
		session->traces[i].buffer = &buffer;
		session->traces[i].result.head = 1000 * id + i;
		session->traces[i].result.cause = KIPT_STOP_CAUSE_USER;
	}
	return session;
}

static void free_session(struct kipt_session **session)
{
	if (!*session)
		return;
	reader.wrong |= (*session)->refs.count || (*session)->pins.count;
	free_cpumask_var((*session)->cpus);
	free(*session);
	*session = NULL;
}

static void free_sessions(void)
{
	u32 i;

	for (i = 0; i < SESSIONS; i++)
		free_session(&sessions[i]);
}

/* It is destroyed while somebody still has a reference. */
static void destroy(struct kipt_session *session)
{
	u32 i;

	session->dead = true;
	for (i = 0; i < session->nr_traces; i++)
		session->traces[i].buffer = &freed;
}

static void make_sessions(u32 count)
{
	u32 i;

	free_sessions();
	for (i = 0; i < SESSIONS; i++)
		sessions[i] = make_session(3 * i + 1, count, i);
}

/* The reader's side. */

static const struct nlattr *find(const void *attrs, u32 len, int type)
{
	const struct nlattr *attr;
	int rest;

	nla_for_each_attr(attr, attrs, len, rest)
		if (nla_type(attr) == type)
			return attr;
	return NULL;
}

static u64 number(const void *attrs, u32 len, int type)
{
	const struct nlattr *attr = find(attrs, len, type);

	if (!attr)
		return ~0ULL;
	return nla_len(attr) == 4 ? nla_get_u32(attr) : nla_get_u64(attr);
}

int genlmsg_reply(struct sk_buff *skb, struct genl_info *info)
{
	const u8 *attrs = skb->data + NLMSG_HDRLEN + GENL_HDRLEN;
	u32 len = skb->len - NLMSG_HDRLEN - GENL_HDRLEN;

	(void)info;
	answered = number(attrs, len, KIPT_A_SESSION_ID);
	answered_cpus = find(attrs, len, KIPT_A_SESSION_CPUS);
	nlmsg_free(skb);
	return 0;
}

static bool is_cpu(const struct nlattr *nest, u32 id, u32 index)
{
	const void *data = nla_data(nest);
	u32 len = (u32)nla_len(nest);

	return number(data, len, KIPT_A_CPU_CPU) == 2 * index &&
	       number(data, len, KIPT_A_CPU_HEAD) == 1000 * id + index &&
	       number(data, len, KIPT_A_CPU_STATE) == KIPT_STATE_STOPPED &&
	       number(data, len, KIPT_A_CPU_SIZE) == buffer.size &&
	       number(data, len, KIPT_A_CPU_BLOCKS) == buffer.nr_regions &&
	       number(data, len, KIPT_A_CPU_BLOCK_MIN) == PAGE_SIZE << buffer.order_min &&
	       number(data, len, KIPT_A_CPU_BLOCK_MAX) == PAGE_SIZE << buffer.order_max;
}

/* Has a session of this number all its filters, in their order? */
static bool has_filters(const void *attrs, u32 len, u32 id)
{
	const struct nlattr *attr;
	struct kipt_hw_range want;
	u32 seen = 0;
	int rest;

	nla_for_each_attr(attr, attrs, len, rest) {
		const void *data = nla_data(attr);
		u32 bytes = (u32)nla_len(attr);

		if (nla_type(attr) != KIPT_A_SESSION_FILTER)
			continue;
		want = filter_of(id, seen++);
		if (number(data, bytes, KIPT_A_FILTER_KIND) != want.kind ||
		    number(data, bytes, KIPT_A_FILTER_FIRST) != want.first ||
		    number(data, bytes, KIPT_A_FILTER_LAST) != want.last)
			return false;
	}
	return seen == id / 3;
}

static void see(const struct nlmsghdr *header)
{
	const u8 *attrs = (const u8 *)header + NLMSG_HDRLEN + GENL_HDRLEN;
	u32 len = header->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	u32 id = (u32)number(attrs, len, KIPT_A_SESSION_ID);
	const struct nlattr *cpu = find(attrs, len, KIPT_A_SESSION_CPU);
	u32 before;

	if (id % 3 != 1 || id / 3 >= SESSIONS) {
		reader.wrong = true;
		return;
	}
	before = reader.messages[id / 3]++;
	if (!before)
		reader.wrong |= cpu || !has_filters(attrs, len, id) ||
			number(attrs, len, KIPT_A_SESSION_STATE) != KIPT_STATE_STOPPED;
	else
		reader.wrong |= !cpu || !is_cpu(cpu, id, before - 1);
	if (find(attrs, len, KIPT_A_SESSION_CPUS))
		reader.cpu_lists++;
}

/* One recvmsg(). Return: whether there was anything. */
static bool take(void)
{
	static u8 bytes[ROOM_MOST];
	struct sk_buff skb = { .data = bytes, .room = reader.room };
	const struct nlmsghdr *header;
	u32 at;
	int ret;

	ret = kipt_session_list_dump.fill(&skb, &reader.cb, NULL);
	reader.wrong |= ret < 0 || (u32)ret != skb.len;
	for (at = 0; ret > 0 && at < skb.len; at += header->nlmsg_len) {
		header = (void *)(bytes + at);
		if (header->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN ||
		    header->nlmsg_len > skb.len - at) {
			reader.wrong = true;
			return false;
		}
		see(header);
	}
	reader.datagrams += ret > 0;
	return ret > 0;
}

/* @only: number of the session that is asked for, or 0. */
static void begin(u32 room, u32 only)
{
	u32 words[2] = { KIPT_A_SESSION_ID << 16 | 8, only };
	struct nlattr *attrs[KIPT_A_SESSION_MAX + 1] = { NULL };

	memset(&reader, 0, sizeof(reader));
	reader.room = room;
	if (only)
		attrs[KIPT_A_SESSION_ID] = (void *)words;
	reader.wrong = kipt_session_list_dump.start(&reader.cb, attrs, NULL);
}

static void take_all(void)
{
	u32 calls = 0;

	while (!reader.wrong && take())
		reader.wrong = ++calls == CALLS_MOST;
}

static bool messages_are(u32 first, u32 second, u32 third)
{
	return reader.messages[0] == first && reader.messages[1] == second &&
	       reader.messages[2] == third;
}

static void end(const char *what, u32 cpus, bool good)
{
	free_sessions();
	printf("# %u CPUs, room %u: %u, %u and %u messages in %u datagrams\n",
	       cpus, reader.room, reader.messages[0], reader.messages[1],
	       reader.messages[2], reader.datagrams);
	ktap_result(&ktap, good && !reader.wrong, "%s_cpus_%u_room_%u", what,
		    cpus, reader.room);
}

static void all_are_listed(u32 cpus, u32 room, bool lists)
{
	make_sessions(cpus);
	begin(room, 0);
	take_all();
	end("all_are_listed", cpus, messages_are(cpus + 1, cpus + 1, cpus + 1) &&
	    reader.cpu_lists == (lists ? SESSIONS : 0));
}

/* Wherever in a datagram a session begins, its list is left out for no room. */
static void lists_do_not_depend_on_the_place(void)
{
	u32 room, cpus, left_out = 0;

	for (cpus = 1; cpus <= 64; cpus++) {
		for (room = ROOM_LEAST; room <= 4096; room += 4) {
			make_sessions(cpus);
			begin(room, 0);
			take_all();
			left_out += SESSIONS - reader.cpu_lists;
		}
	}
	printf("# lists left out: %u\n", left_out);
	end("lists_do_not_depend_on_the_place", 64, !left_out);
}

static void one_is_listed(u32 cpus, u32 room)
{
	make_sessions(cpus);
	begin(room, 4);
	take_all();
	end("one_is_listed", cpus, messages_are(0, cpus + 1, 0));
}

/* Of a session that leaves between two calls no more messages come. */
static void is_left(const char *name, u32 cpus, u32 room,
		    void (*leave)(struct kipt_session **session))
{
	u32 before;

	make_sessions(cpus);
	begin(room, 0);
	while (!reader.messages[1] && !reader.wrong)
		reader.wrong |= !take();
	before = reader.messages[1];
	leave(&sessions[1]);
	take_all();
	end(name, cpus, before < cpus + 1 &&
	    messages_are(cpus + 1, before, cpus + 1));
}

static void one_that_goes_is_left(u32 cpus, u32 room)
{
	is_left("one_that_goes_is_left", cpus, room, free_session);
}

static void destroy_it(struct kipt_session **session)
{
	destroy(*session);
}

/* Destroyed, and not gone yet. */
static void one_that_dies_is_left(u32 cpus, u32 room)
{
	is_left("one_that_dies_is_left", cpus, room, destroy_it);
}

static void dead_ones_are_not_listed(u32 cpus, u32 room)
{
	make_sessions(cpus);
	destroy(sessions[0]);
	destroy(sessions[2]);
	begin(room, 0);
	take_all();
	end("dead_ones_are_not_listed", cpus, messages_are(0, cpus + 1, 0));
	make_sessions(cpus);
	destroy(sessions[1]);
	begin(room, 4);
	take_all();
	end("a_dead_one_that_is_asked_for_is_not_listed", cpus,
	    messages_are(0, 0, 0) && !reader.datagrams);
}

static void none_of_that_number_is_an_error(void)
{
	make_sessions(1);
	begin(ROOM_LEAST, 5);
	reader.wrong = !reader.wrong;
	end("none_of_that_number_is_an_error", 1, true);
}

/* Return: the error. */
static int ask(u32 id)
{
	u32 words[2] = { KIPT_A_SESSION_ID << 16 | 8, id };
	struct nlattr *attrs[KIPT_A_SESSION_MAX + 1] = { NULL };
	struct genl_info info = { .attrs = attrs };

	attrs[KIPT_A_SESSION_ID] = (void *)words;
	answered = 0;
	answered_cpus = false;
	return kipt_session_message_get(NULL, &info, NULL);
}

static void answers_are_of_those_that_live(u32 cpus)
{
	bool lives, there, goes;

	make_sessions(cpus);
	memset(&reader, 0, sizeof(reader));
	lives = !ask(4) && answered == 4 && answered_cpus;
	there = ask(5) == -ENOENT && !answered;
	destroy(sessions[1]);
	goes = ask(4) == -ENOENT && !answered;
	end("one_that_lives_is_answered", cpus, lives && !answers);
	end("one_that_is_not_there_is_refused", cpus, there);
	end("one_that_is_dead_is_refused", cpus, goes);
}

/* A message that has no room at all is an error, and not an endless dump. */
static void no_room_is_an_error(void)
{
	struct sk_buff skb = { .room = 64 };
	u8 bytes[64];

	skb.data = bytes;
	make_sessions(1);
	begin(skb.room, 0);
	end("no_room_is_an_error", 1,
	    kipt_session_list_dump.fill(&skb, &reader.cb, NULL) == -EMSGSIZE &&
	    !skb.len);
}

int main(void)
{
	ktap_start();
	all_are_listed(64, ROOM_LEAST, true);
	all_are_listed(64, 4096, true);
	all_are_listed(64, ROOM_MOST, true);
	all_are_listed(4096, ROOM_LEAST, false);
	all_are_listed(4096, ROOM_MOST, true);
	lists_do_not_depend_on_the_place();
	one_is_listed(64, ROOM_LEAST);
	one_is_listed(1, ROOM_LEAST);
	one_that_goes_is_left(64, ROOM_LEAST);
	one_that_dies_is_left(64, ROOM_LEAST);
	dead_ones_are_not_listed(64, ROOM_LEAST);
	none_of_that_number_is_an_error();
	answers_are_of_those_that_live(1);
	answers_are_of_those_that_live(4096);
	no_room_is_an_error();
	return ktap_end(&ktap);
}
