// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetching records: only when there is something to fetch, only as many
 * messages as there is credit for, in order, and with every loss told. Runs
 * on a machine with PT and the module loaded; skips elsewhere.
 */
#include <linux/kipt_record.h>
#include <sys/socket.h>

#include "kipt_test.h"

#define CANNOT_RUN() kipt_missing()

#define QUIET_MS	1000
#define FETCH_MS	60000
#define RECORDS_MAX	1000000

/* A stopped session on CPU 0 that captured some work. */
FIXTURE(fetch)
{
	struct kipt_nl nl;
	struct kipt_want want;
	int id;
};

static int captured_session(struct kipt_nl *nl, const struct kipt_want *want,
			    unsigned int rounds)
{
	int id = kipt_session_new(nl, want), ret;

	if (id < 0)
		return id;
	pin_to(0);
	ret = kipt_session_start(nl, id);
	if (ret)
		return ret;
	work(rounds);
	ret = kipt_session_stop(nl, id);
	return ret ? ret : id;
}

FIXTURE_SETUP(fetch)
{
	SKIP_IF_MISSING();
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = KIPT_MODE_ONCE,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
	};
	self->id = captured_session(&self->nl, &self->want, 300);
	ASSERT_LT(0, self->id);
}

FIXTURE_TEARDOWN(fetch)
{
	kipt_nl_close(&self->nl);
}

/**
 * struct collected - what a fetch delivered
 * @messages: "records" messages
 * @records: records in them
 * @branches: BRANCH records among them
 * @receiver_gaps: records that RECEIVER gaps say were dropped
 * @lost: the last "lost" told
 * @total: of the last message
 * @done: of the last message; -1: it did not come
 * @in_order: sequence numbers counted up from 0
 * @last: the last record
 */
struct collected {
	uint64_t messages;
	uint64_t records;
	uint64_t branches;
	uint64_t receiver_gaps;
	uint64_t lost;
	uint64_t total;
	int done;
	bool in_order;
	struct kipt_record last;
};

static void collect_records(struct collected *c, const void *data, size_t len)
{
	const struct kipt_record *r = data;
	size_t n = len / sizeof(*r), i;

	for (i = 0; i < n; i++) {
		c->branches += r[i].type == KIPT_RECORD_BRANCH;
		if (r[i].type == KIPT_RECORD_GAP &&
		    r[i].kind == KIPT_GAP_RECEIVER)
			c->receiver_gaps += r[i].value;
		c->last = r[i];
	}
	c->records += n;
}

static void collect_message(struct kipt_nl *nl, struct collected *c)
{
	size_t len;
	const void *data = kipt_nl_attr(nl, KIPT_A_SESSION_DATA, &len);

	if (kipt_nl_u64(nl, KIPT_A_SESSION_SEQ, ~0ULL) != c->messages)
		c->in_order = false;
	c->messages++;
	if (data)
		collect_records(c, data, len);
	c->lost = kipt_nl_u64(nl, KIPT_A_SESSION_LOST, c->lost);
	c->total = kipt_nl_u64(nl, KIPT_A_SESSION_TOTAL, c->total);
	c->done = (int)kipt_nl_u32(nl, KIPT_A_SESSION_DONE, ~0U);
}

/* Receive until the fetch is done, giving credit back as it is used. */
static int collect(struct kipt_nl *nl, int id, struct collected *c)
{
	int ret;

	*c = (struct collected){ .done = -1, .in_order = true };
	while (c->done < 0) {
		ret = kipt_nl_event(nl, FETCH_MS);
		if (ret == -ENOBUFS)
			continue;
		if (ret < 0)
			return ret;
		if (ret != KIPT_CMD_RECORDS)
			continue;
		collect_message(nl, c);
		if (c->done < 0)
			kipt_credit(nl, id, 1);
	}
	return 0;
}

TEST_F_TIMEOUT(fetch, all_records_come_in_order, 120)
{
	struct collected c;

	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_BRANCHES, 4));
	EXPECT_LT(0, kipt_nl_u64(&self->nl, KIPT_A_SESSION_TRACE_BYTES, 0));
	ASSERT_EQ(0, collect(&self->nl, self->id, &c));
	EXPECT_EQ(0, c.done);
	EXPECT_TRUE(c.in_order);
	EXPECT_EQ(0, c.lost);
	EXPECT_EQ(c.total, c.records);
	EXPECT_LT(300, c.branches);
}

TEST_F_TIMEOUT(fetch, fetch_can_be_repeated, 120)
{
	struct collected first, second;

	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_BRANCHES, 4));
	ASSERT_EQ(0, collect(&self->nl, self->id, &first));
	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_BRANCHES, 4));
	ASSERT_EQ(0, collect(&self->nl, self->id, &second));
	EXPECT_EQ(first.records, second.records);
	EXPECT_EQ(first.branches, second.branches);
}

TEST_F_TIMEOUT(fetch, calls_are_fewer_than_branches_than_insns, 180)
{
	struct collected calls, branches, insns;

	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_CALLS, 4));
	ASSERT_EQ(0, collect(&self->nl, self->id, &calls));
	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_BRANCHES, 4));
	ASSERT_EQ(0, collect(&self->nl, self->id, &branches));
	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_INSNS, 4));
	ASSERT_EQ(0, collect(&self->nl, self->id, &insns));
	EXPECT_LT(0, calls.records);
	EXPECT_LT(calls.records, branches.records);
	EXPECT_LT(branches.records, insns.records);
}

TEST_F_TIMEOUT(fetch, running_session_is_refused, 60)
{
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(-EBUSY, kipt_fetch(&self->nl, self->id,
				     KIPT_OUTPUT_BRANCHES, 4));
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
	EXPECT_EQ(-ENODATA, kipt_fetch(&self->nl, id, KIPT_OUTPUT_BRANCHES, 4));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(KIPT_STATE_NEW, kipt_session_state(&self->nl, id));
}

TEST_F(fetch, unknown_output_is_refused)
{
	EXPECT_EQ(-EINVAL, kipt_fetch(&self->nl, self->id, 1U << 31, 4));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(KIPT_STATE_STOPPED,
		  kipt_session_state(&self->nl, self->id));
}

TEST_F(fetch, cpu_of_no_session_is_refused)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_FETCH);
	kipt_msg_u32(&msg, KIPT_A_SESSION_ID, (uint32_t)self->id);
	kipt_msg_u32(&msg, KIPT_A_SESSION_CPU_ID, 1);
	kipt_msg_u32(&msg, KIPT_A_SESSION_OUTPUT, KIPT_OUTPUT_BRANCHES);
	kipt_msg_u32(&msg, KIPT_A_SESSION_CREDIT, 4);
	EXPECT_GT(0, kipt_nl_call(&self->nl, &msg));
	EXPECT_LT(0, strlen(self->nl.why));
}

TEST_F_TIMEOUT(fetch, no_message_without_credit, 60)
{
	struct collected c = { .in_order = true };
	unsigned int i;

	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_INSNS, 2));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(KIPT_CMD_RECORDS,
			  kipt_nl_event(&self->nl, FETCH_MS));
		collect_message(&self->nl, &c);
	}
	EXPECT_EQ(-ETIMEDOUT, kipt_nl_event(&self->nl, QUIET_MS));
	ASSERT_EQ(0, kipt_credit(&self->nl, self->id, 1));
	ASSERT_EQ(KIPT_CMD_RECORDS, kipt_nl_event(&self->nl, FETCH_MS));
	collect_message(&self->nl, &c);
	EXPECT_EQ(-ETIMEDOUT, kipt_nl_event(&self->nl, QUIET_MS));
	EXPECT_TRUE(c.in_order);
	EXPECT_EQ(0, c.lost);
}

TEST_F_TIMEOUT(fetch, second_fetch_is_refused, 60)
{
	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_INSNS, 1));
	EXPECT_EQ(-EBUSY, kipt_fetch(&self->nl, self->id,
				     KIPT_OUTPUT_INSNS, 1));
	EXPECT_EQ(-EBUSY, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(0, kipt_fetch_cancel(&self->nl, self->id));
}

TEST_F_TIMEOUT(fetch, cancel_ends_the_fetch, 60)
{
	struct collected c;

	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_INSNS, 1));
	ASSERT_EQ(0, kipt_fetch_cancel(&self->nl, self->id));
	ASSERT_EQ(0, collect(&self->nl, self->id, &c));
	EXPECT_EQ(ECANCELED, c.done);
	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_CALLS, 4));
	ASSERT_EQ(0, collect(&self->nl, self->id, &c));
	EXPECT_EQ(0, c.done);
}

TEST_F_TIMEOUT(fetch, deleting_during_fetch_ends_it, 60)
{
	ASSERT_EQ(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_INSNS, 1));
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	EXPECT_EQ(-ENOENT, kipt_session_state(&self->nl, self->id));
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

/*
 * With more credit than the socket holds, messages may come before the answer
 * does, and overrun it.
 */
static int fetch_flood(struct kipt_nl *nl, int id)
{
	int ret = kipt_fetch(nl, id, KIPT_OUTPUT_INSNS, RECORDS_MAX);

	return ret == -ENOBUFS ? 0 : ret;
}

/*
 * A receiver that grants more than its socket holds and sleeps: what it
 * misses is counted, and the count adds up.
 */
TEST_F_TIMEOUT(fetch, slow_receiver_is_told_what_it_lost, 180)
{
	struct collected c;
	int small = 4096;

	ASSERT_EQ(0, setsockopt(self->nl.fd, SOL_SOCKET, SO_RCVBUF, &small,
				sizeof(small)));
	ASSERT_EQ(0, fetch_flood(&self->nl, self->id));
	wait_ms(3000);
	ASSERT_EQ(0, collect(&self->nl, self->id, &c));
	EXPECT_EQ(0, c.done);
	if (!c.lost)
		EXPECT_EQ(c.total, c.records);
	EXPECT_EQ(c.lost, c.receiver_gaps);
}

/* Returns the session, a fetch of which goes on; negative: errno. */
static int begin_fetch(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id, ret = kipt_nl_open(nl);

	if (ret)
		return ret;
	id = captured_session(nl, want, 300);
	if (id < 0)
		return id;
	ret = fetch_flood(nl, id);
	if (ret)
		return ret;
	do {
		ret = kipt_nl_event(nl, FETCH_MS);
	} while (ret == -ENOBUFS);
	return ret < 0 ? ret : id;
}

static void fetch_and_be_killed(const struct kipt_want *want, int ready)
{
	static struct kipt_nl nl;
	int id = begin_fetch(&nl, want);

	if (write(ready, &id, sizeof(id)) != sizeof(id) || id < 0)
		_exit(1);
	pause();
	_exit(1);
}

TEST_F_TIMEOUT(fetch, owner_killed_during_fetch_frees_the_cpu, 120)
{
	int ready[2], id = -1, status, tries;
	pid_t child;

	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	ASSERT_EQ(0, pipe(ready));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		fetch_and_be_killed(&self->want, ready[1]);
	close(ready[1]);
	ASSERT_EQ(sizeof(id), read(ready[0], &id, sizeof(id)));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	for (tries = 0; tries < 1000 &&
	     kipt_session_state(&self->nl, id) != -ENOENT; tries++)
		wait_ms(20);
	EXPECT_EQ(-ENOENT, kipt_session_state(&self->nl, id));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

#include "kipt_main.h"
