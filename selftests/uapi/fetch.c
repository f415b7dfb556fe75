// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetching records: decoded in the recvmsg() of who reads, by one socket or
 * several, and the same whichever it is; readers that wait, leave or are killed
 * disturb nobody. Runs on a machine with PT and the module loaded; skips
 * elsewhere.
 */
#include <linux/genetlink.h>
#include <linux/kipt_record.h>
#include <sys/socket.h>

#include "kipt_test.h"

#define FETCH_MS	60000
#define CHUNKS_MAX	4096
#define SOCKETS		3
/* Longer than the hung-task detector of the debug kernel has patience. */
#define PAUSE_MS	25000
#define PAUSE_SHORT_MS	2000
/* As much as its reader's buffer holds. */
#define SMALL_BUFFER	4096

/* A stopped session on CPU 0 that captured some work. */
FIXTURE(fetch)
{
	struct kipt_nl nl;
	struct kipt_want want;
	int id;
};

/*
 * Some chunks. What checks a kernel makes are traced as well, and it decodes
 * them slowly: fewer rounds fill as many chunks there.
 */
static int captured_session(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id = kipt_session_new(nl, want), ret;

	if (id < 0)
		return id;
	pin_to(0);
	ret = kipt_session_start(nl, id);
	if (ret)
		return ret;
	work(3000 / slowness());
	ret = kipt_session_stop(nl, id);
	return ret ? ret : id;
}

FIXTURE_SETUP(fetch)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = mode_that_keeps(),
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC | CTL_TSCEN,
	};
	self->id = captured_session(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
}

FIXTURE_TEARDOWN(fetch)
{
	kipt_nl_close(&self->nl);
}

/**
 * struct chunk - records of a chunk
 * @records: they
 * @count: how many
 * @end: it is complete
 */
struct chunk {
	struct kipt_record *records;
	size_t count;
	bool end;
};

/**
 * struct collected - what a fetch delivered, by one socket or several
 * @chunk: by number
 * @chunks: the highest number, and one
 * @bad: a message broke a rule
 * @fetch: number of the fetch
 * @total: trace bytes
 * @done: how many of them were decoded, from the last message
 */
struct collected {
	struct chunk chunk[CHUNKS_MAX];
	uint64_t chunks;
	bool bad;
	uint32_t fetch;
	uint64_t total;
	uint64_t done;
};

static struct collected one, more;

static void forget(struct collected *c)
{
	size_t i;

	for (i = 0; i < CHUNKS_MAX; i++)
		free(c->chunk[i].records);
	memset(c, 0, sizeof(*c));
}

static void add_records(struct collected *c, struct chunk *chunk,
			const void *data, size_t len)
{
	size_t n = len / sizeof(*chunk->records);

	chunk->records = realloc(chunk->records,
				 (chunk->count + n) * sizeof(*chunk->records));
	if (!chunk->records || len % sizeof(*chunk->records)) {
		c->bad = true;
		chunk->count = 0;
		return;
	}
	memcpy(chunk->records + chunk->count, data, len);
	chunk->count += n;
}

/* A message of a fetch, in nl->reply. */
static void collect(struct kipt_nl *nl, void *ctx)
{
	uint64_t number = kipt_nl_u64(nl, KIPT_A_FETCH_CHUNK, ~0ULL);
	struct collected *c = ctx;
	struct chunk *chunk;
	const void *data;
	size_t len;

	/* The first message has the session's number only. */
	c->fetch = kipt_nl_u32(nl, KIPT_A_FETCH_FETCH, c->fetch);
	c->total = kipt_nl_u64(nl, KIPT_A_FETCH_TOTAL, 0);
	c->done = kipt_nl_u64(nl, KIPT_A_FETCH_DONE, 0);
	if (number == ~0ULL)
		return;
	if (number >= CHUNKS_MAX || c->chunk[number].end) {
		c->bad = true;
		return;
	}
	chunk = &c->chunk[number];
	if (number >= c->chunks)
		c->chunks = number + 1;
	data = kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS, &len);
	if (data)
		add_records(c, chunk, data, len);
	chunk->end = kipt_nl_attr(nl, KIPT_A_FETCH_END, &len);
}

/* Every chunk up to the last is there and complete. */
static bool whole(const struct collected *c)
{
	uint64_t i;

	for (i = 0; i < c->chunks; i++) {
		if (!c->chunk[i].end)
			return false;
	}
	return c->chunks && !c->bad && c->done == c->total;
}

static uint64_t count_type(const struct collected *c, unsigned int type)
{
	uint64_t found = 0, i;
	size_t k;

	for (i = 0; i < c->chunks; i++) {
		for (k = 0; k < c->chunk[i].count; k++)
			found += c->chunk[i].records[k].type == type;
	}
	return found;
}

static uint64_t count_all(const struct collected *c)
{
	uint64_t count = 0, i;

	for (i = 0; i < c->chunks; i++)
		count += c->chunk[i].count;
	return count;
}

static bool same(const struct collected *a, const struct collected *b)
{
	uint64_t i;

	for (i = 0; i < a->chunks; i++) {
		if (a->chunk[i].count != b->chunk[i].count ||
		    memcmp(a->chunk[i].records, b->chunk[i].records,
			   a->chunk[i].count * sizeof(struct kipt_record)))
			return false;
	}
	return a->chunks == b->chunks;
}

/* What edges and their spaces add up to, in any order. */
static uint64_t sum_edges(const struct collected *c)
{
	uint64_t sum = 0, space = 0, i;
	const struct kipt_record *r;
	size_t k;

	for (i = 0; i < c->chunks; i++) {
		for (k = 0; k < c->chunk[i].count; k++) {
			r = &c->chunk[i].records[k];
			if (r->type == KIPT_RECORD_SPACE)
				space = r->value * 31 + r->aux;
			if (r->type == KIPT_RECORD_EDGE)
				sum += r->aux * ((r->ip * 1099511628211ULL ^
						  r->value) * 31 + space);
		}
	}
	return sum;
}

static int fetch_all(struct kipt_nl *nl, int id, uint32_t output,
		     struct collected *c)
{
	int ret;

	forget(c);
	ret = kipt_fetch(nl, id, output, collect, c);
	return ret < 0 ? ret : 0;
}

static int take_part(struct kipt_nl *nl, int id, uint32_t fetch)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_FETCH);
	kipt_msg_u32(&msg, KIPT_A_FETCH_ID, (uint32_t)id);
	kipt_msg_u32(&msg, KIPT_A_FETCH_FETCH, fetch);
	return kipt_nl_dump_begin(nl, &msg);
}

/* A message of each socket in turn, until none has more. */
static int read_in_turn(struct kipt_nl *sockets, int count, struct collected *c)
{
	bool over[SOCKETS] = { false };
	int left = count, i, ret;

	while (left) {
		for (i = 0; i < count; i++) {
			if (over[i])
				continue;
			ret = kipt_nl_next(&sockets[i], FETCH_MS);
			if (ret < 0)
				return ret;
			over[i] = !ret;
			left -= !ret;
			if (ret)
				collect(&sockets[i], c);
		}
	}
	return 0;
}

/* Until the message that has the number of the fetch. */
static int fetch_begin(struct kipt_nl *nl, int id, uint32_t output,
		       struct collected *c)
{
	int ret = kipt_fetch_begin(nl, id, output);

	while (!ret && !c->fetch) {
		ret = kipt_nl_next(nl, FETCH_MS);
		if (ret == 1)
			collect(nl, c);
		ret = ret == 1 ? 0 : ret ?: -EIO;
	}
	return ret;
}

static int fetch_shared(int id, uint32_t output, struct collected *c)
{
	static struct kipt_nl sockets[SOCKETS];
	int ret, i;

	forget(c);
	for (i = 0; i < SOCKETS; i++) {
		ret = kipt_nl_open(&sockets[i]);
		if (ret)
			return ret;
	}
	ret = fetch_begin(&sockets[0], id, output, c);
	for (i = 1; i < SOCKETS && !ret; i++)
		ret = take_part(&sockets[i], id, c->fetch);
	if (!ret)
		ret = read_in_turn(sockets, SOCKETS, c);
	for (i = 0; i < SOCKETS; i++)
		kipt_nl_close(&sockets[i]);
	return ret;
}

TEST_F_TIMEOUT(fetch, all_chunks_come_whole, 120)
{
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
			       &one));
	EXPECT_TRUE(whole(&one));
	EXPECT_LT(1, one.chunks);
	EXPECT_LT(0, one.total);
	EXPECT_EQ(KIPT_RECORD_CPU, one.chunk[0].records[0].type);
	EXPECT_EQ(1, count_type(&one, KIPT_RECORD_CPU));
	EXPECT_LT(3000, count_type(&one, KIPT_RECORD_BRANCH));
	EXPECT_LT(0, count_type(&one, KIPT_RECORD_TASK));
	EXPECT_EQ(0, count_type(&one, KIPT_RECORD_TIME));
}

TEST_F_TIMEOUT(fetch, fetch_can_be_repeated, 120)
{
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
			       &one));
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
			       &more));
	EXPECT_TRUE(whole(&more));
	EXPECT_TRUE(same(&one, &more));
}

TEST_F_TIMEOUT(fetch, calls_are_fewer_than_branches_than_insns, 180)
{
	uint64_t calls, branches;

	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_CALLS, &one));
	calls = count_all(&one);
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
			       &one));
	branches = count_all(&one);
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_INSNS, &one));
	EXPECT_LT(0, calls);
	EXPECT_LT(calls, branches);
	EXPECT_LT(branches, count_all(&one));
}

TEST_F_TIMEOUT(fetch, several_sockets_get_what_one_gets, 180)
{
	static const uint32_t outputs[] = {
		KIPT_OUTPUT_BRANCHES, KIPT_OUTPUT_CALLS | KIPT_OUTPUT_TIME,
		KIPT_OUTPUT_INSNS,
	};
	unsigned int i;

	for (i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		ASSERT_EQ(0, fetch_all(&self->nl, self->id, outputs[i], &one));
		ASSERT_EQ(0, fetch_shared(self->id, outputs[i], &more));
		EXPECT_TRUE(whole(&more));
		EXPECT_TRUE(same(&one, &more));
	}
}

TEST_F_TIMEOUT(fetch, several_sockets_count_what_one_counts, 180)
{
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_COUNTS, &one));
	EXPECT_TRUE(whole(&one));
	EXPECT_LT(0, count_type(&one, KIPT_RECORD_SPACE));
	EXPECT_EQ(0, count_type(&one, KIPT_RECORD_BRANCH));
	ASSERT_EQ(0, fetch_shared(self->id, KIPT_OUTPUT_COUNTS, &more));
	EXPECT_TRUE(whole(&more));
	EXPECT_LT(0, count_type(&more, KIPT_RECORD_EDGE));
	EXPECT_EQ(sum_edges(&one), sum_edges(&more));
}

TEST_F_TIMEOUT(fetch, nodes_are_defined_before_they_are_walked, 120)
{
	uint64_t i;

	ASSERT_EQ(0, fetch_shared(self->id, KIPT_OUTPUT_BRANCHES |
				  KIPT_OUTPUT_PACKED, &more));
	EXPECT_TRUE(whole(&more));
	for (i = 0; i < more.chunks; i++) {
		ASSERT_LT(0, more.chunk[i].count);
		EXPECT_EQ(KIPT_RECORD_DICTIONARY,
			  more.chunk[i].records[0].type);
	}
	EXPECT_LT(0, count_type(&more, KIPT_RECORD_NODE));
	EXPECT_LT(0, count_type(&more, KIPT_RECORD_WALK));
}

/* Without time only the order of the trace shows which task runs. */
TEST_F_TIMEOUT(fetch, without_time_one_socket_decodes, 120)
{
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->want.ctl = CTL_BASIC;
	self->id = captured_session(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
			       &one));
	ASSERT_EQ(0, fetch_shared(self->id, KIPT_OUTPUT_BRANCHES, &more));
	EXPECT_TRUE(whole(&more));
	EXPECT_TRUE(same(&one, &more));
}

TEST_F_TIMEOUT(fetch, running_session_is_refused, 60)
{
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(-EBUSY, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
				    &one));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(KIPT_STATE_RUNNING,
		  kipt_session_state(&self->nl, self->id));
}

TEST_F(fetch, session_that_never_ran_is_refused)
{
	int id;

	self->want.cpus = "1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	EXPECT_EQ(-ENODATA, fetch_all(&self->nl, id, KIPT_OUTPUT_BRANCHES,
				      &one));
	EXPECT_LT(0, strlen(self->nl.why));
}

TEST_F(fetch, outputs_that_exclude_each_other_are_refused)
{
	EXPECT_GT(0, fetch_all(&self->nl, self->id, 1U << 31, &one));
	EXPECT_EQ(-EINVAL, fetch_all(&self->nl, self->id, KIPT_OUTPUT_COUNTS |
				     KIPT_OUTPUT_BRANCHES, &one));
	EXPECT_LT(0, strlen(self->nl.why));
}

/* Return: what a fetch of one CPU is answered. */
static int fetch_cpu(struct kipt_nl *nl, int id, uint32_t cpu)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_FETCH);
	kipt_msg_u32(&msg, KIPT_A_FETCH_ID, (uint32_t)id);
	kipt_msg_u32(&msg, KIPT_A_FETCH_CPU, cpu);
	return kipt_nl_dump(nl, &msg, NULL, NULL);
}

TEST_F(fetch, cpu_of_no_session_is_refused)
{
	EXPECT_EQ(-ENXIO, fetch_cpu(&self->nl, self->id, 1));
	EXPECT_LT(0, strlen(self->nl.why));
}

TEST_F(fetch, greatest_number_of_a_cpu_is_refused)
{
	EXPECT_EQ(-ENXIO, fetch_cpu(&self->nl, self->id, ~0U));
	EXPECT_LT(0, strlen(self->nl.why));
}

/* Return: 0 if @nl is a socket that began a fetch. */
static int begin_elsewhere(struct kipt_nl *nl, int id, uint32_t output,
			   struct collected *c)
{
	int ret = kipt_nl_open(nl);

	forget(c);
	return ret ? ret : fetch_begin(nl, id, output, c);
}

TEST_F_TIMEOUT(fetch, second_fetch_and_start_are_refused_meanwhile, 120)
{
	static struct kipt_nl other;

	ASSERT_EQ(0, begin_elsewhere(&other, self->id, KIPT_OUTPUT_INSNS,
				     &one));
	EXPECT_EQ(-EBUSY, fetch_all(&self->nl, self->id, KIPT_OUTPUT_CALLS,
				    &more));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(-EBUSY, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(0, take_part(&self->nl, self->id, one.fetch + 1));
	EXPECT_EQ(1, kipt_nl_next(&self->nl, FETCH_MS));
	EXPECT_EQ(-ENOENT, kipt_nl_next(&self->nl, FETCH_MS));
	kipt_nl_close(&other);
	wait_ms(1000);
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_CALLS, &more));
	EXPECT_TRUE(whole(&more));
}

/* Nothing in the kernel waits for a reader: other commands are as quick. */
TEST_F_TIMEOUT(fetch, paused_reader_holds_up_nobody, 180)
{
	static struct kipt_nl other;
	int ret, id;

	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
			       &more));
	ASSERT_EQ(0, begin_elsewhere(&other, self->id, KIPT_OUTPUT_BRANCHES,
				     &one));
	wait_ms(unless_short(PAUSE_MS, PAUSE_SHORT_MS));
	self->want.cpus = "1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	EXPECT_EQ(0, kipt_session_start(&self->nl, id));
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	while ((ret = kipt_nl_next(&other, FETCH_MS)) == 1)
		collect(&other, &one);
	EXPECT_EQ(0, ret);
	EXPECT_TRUE(whole(&one));
	EXPECT_TRUE(same(&one, &more));
	kipt_nl_close(&other);
}

/* The rest of a dump is freed a moment after its socket is gone. */
static bool memory_comes_back(struct kipt_nl *nl, uint64_t wanted)
{
	int tries;

	for (tries = 0; tries < 200; tries++) {
		if (kipt_memory(nl) <= wanted)
			return true;
		wait_ms(50);
	}
	return false;
}

TEST_F_TIMEOUT(fetch, closed_socket_frees_all, 120)
{
	static struct kipt_nl other;
	uint64_t before = kipt_memory(&self->nl);
	int i;

	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, begin_elsewhere(&other, self->id,
					     KIPT_OUTPUT_INSNS, &one));
		EXPECT_EQ(1, kipt_nl_next(&other, FETCH_MS));
		EXPECT_LT(before, kipt_memory(&self->nl));
		kipt_nl_close(&other);
		EXPECT_TRUE(memory_comes_back(&self->nl, before));
	}
}

static void fetch_and_be_killed(int id, int ready)
{
	static struct kipt_nl nl;
	int ret = begin_elsewhere(&nl, id, KIPT_OUTPUT_INSNS, &one);

	if (write(ready, &ret, sizeof(ret)) != sizeof(ret) || ret)
		_exit(1);
	while (kipt_nl_next(&nl, FETCH_MS) == 1)
		wait_ms(10);
	pause();
	_exit(1);
}

TEST_F_TIMEOUT(fetch, killed_reader_frees_all, 120)
{
	uint64_t before = kipt_memory(&self->nl);
	int ready[2], ret = -1, status;
	pid_t child;

	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		fetch_and_be_killed(self->id, ready[1]);
	close(ready[1]);
	ASSERT_EQ(sizeof(ret), read(ready[0], &ret, sizeof(ret)));
	ASSERT_EQ(0, ret);
	wait_ms(100);
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(memory_comes_back(&self->nl, before));
	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_CALLS, &more));
	EXPECT_TRUE(whole(&more));
}

TEST_F_TIMEOUT(fetch, deleting_the_session_ends_the_fetch, 120)
{
	static struct kipt_nl other;
	uint64_t before;
	int ret;

	ASSERT_EQ(0, begin_elsewhere(&other, self->id, KIPT_OUTPUT_INSNS,
				     &one));
	ASSERT_EQ(1, kipt_nl_next(&other, FETCH_MS));
	before = kipt_memory(&self->nl);
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	EXPECT_EQ(-ENOENT, kipt_session_state(&self->nl, self->id));
	while ((ret = kipt_nl_next(&other, FETCH_MS)) == 1)
		collect(&other, &one);
	EXPECT_EQ(-ENOENT, ret);
	EXPECT_LT(0, strlen(other.why));
	EXPECT_FALSE(whole(&one));
	kipt_nl_close(&other);
	EXPECT_TRUE(memory_comes_back(&self->nl, before - SIZE_USUAL));
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

/* One recv() into a small buffer, its messages collected. Return: as next. */
static int small_read(struct kipt_nl *nl, struct collected *c)
{
	unsigned char buffer[SMALL_BUFFER];
	ssize_t len = recv(nl->fd, buffer, sizeof(buffer), MSG_TRUNC);
	struct nlmsghdr *head = (struct nlmsghdr *)buffer;

	if (len < 0)
		return -errno;
	if (len > SMALL_BUFFER)
		return -EMSGSIZE;
	for (; len >= (ssize_t)sizeof(*head) && head->nlmsg_len <= len;
	     len -= NLMSG_ALIGN(head->nlmsg_len),
	     head = (void *)((char *)head + NLMSG_ALIGN(head->nlmsg_len))) {
		if (head->nlmsg_type == NLMSG_DONE)
			return *(int *)(head + 1);
		memcpy(nl->reply, head, head->nlmsg_len);
		nl->reply_len = head->nlmsg_len;
		collect(nl, c);
	}
	return 1;
}

TEST_F_TIMEOUT(fetch, small_buffers_get_the_same, 120)
{
	static struct kipt_nl other;
	int small = SMALL_BUFFER, ret;

	ASSERT_EQ(0, fetch_all(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
			       &more));
	ASSERT_EQ(0, kipt_nl_open(&other));
	/* What it read so far made the kernel's messages large. */
	close(other.fd);
	other.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	ASSERT_EQ(0, setsockopt(other.fd, SOL_SOCKET, SO_RCVBUF, &small,
				sizeof(small)));
	forget(&one);
	ASSERT_EQ(0, kipt_fetch_begin(&other, self->id, KIPT_OUTPUT_BRANCHES));
	while ((ret = small_read(&other, &one)) == 1)
		;
	EXPECT_EQ(0, ret);
	EXPECT_TRUE(whole(&one));
	EXPECT_TRUE(same(&one, &more));
	kipt_nl_close(&other);
}

#include "kipt_main.h"
