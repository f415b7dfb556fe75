// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a session: its states, its owner, its neighbours. Runs on a
 * machine with PT and the module loaded; skips elsewhere.
 */
#include <stdio.h>

#include "kipt_test.h"

/* IA32_RTIT_STATUS.Stopped; Intel SDM Vol. 3C, "IA32_RTIT_STATUS MSR". */
#define STATUS_STOPPED	(1ULL << 5)

/* So many system calls write several SIZE_MIN of trace: ten bytes or more each, with DisRETC. */
#define OVERFLOWS_SIZE_MIN	30000

static uint64_t cpu0(struct kipt_nl *nl, int id, uint16_t type)
{
	return kipt_cpu_u64(nl, id, 0, type);
}

TEST_F(kipt, states_follow_commands)
{
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	EXPECT_EQ(KIPT_STATE_NEW, kipt_session_state(&self->nl, id));
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	EXPECT_EQ(KIPT_STATE_RUNNING, kipt_session_state(&self->nl, id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(KIPT_STATE_STOPPED, kipt_session_state(&self->nl, id));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_EQ(-ENOENT, kipt_session_state(&self->nl, id));
}

TEST_F(kipt, get_says_what_was_asked_for)
{
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_get(&self->nl, id));
	EXPECT_EQ((uint32_t)id,
		  kipt_nl_u32(&self->nl, KIPT_A_SESSION_ID, 0));
	EXPECT_STREQ("0", kipt_nl_string(&self->nl, KIPT_A_SESSION_CPUS));
	EXPECT_EQ(KIPT_MODE_RING,
		  kipt_nl_u32(&self->nl, KIPT_A_SESSION_MODE, 0));
	EXPECT_EQ(SIZE_USUAL, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SIZE, 0));
	EXPECT_EQ(CTL_BASIC, kipt_nl_u64(&self->nl, KIPT_A_SESSION_CTL, 0));
	EXPECT_EQ(0, kipt_nl_u64(&self->nl, KIPT_A_SESSION_GENERATION, 9));
	EXPECT_EQ(geteuid(), kipt_nl_u32(&self->nl, KIPT_A_SESSION_UID, 9));
	EXPECT_LE(SIZE_USUAL, kipt_nl_u64(&self->nl, KIPT_A_SESSION_MEMORY, 0));
	EXPECT_EQ(SIZE_USUAL, cpu0(&self->nl, id, KIPT_A_CPU_SIZE));
	EXPECT_LT(0, cpu0(&self->nl, id, KIPT_A_CPU_BLOCKS));
	EXPECT_LE(4096, cpu0(&self->nl, id, KIPT_A_CPU_BLOCK_MIN));
	EXPECT_GE(SIZE_USUAL, cpu0(&self->nl, id, KIPT_A_CPU_BLOCK_MAX));
}

TEST_F(kipt, work_is_captured)
{
	int id = kipt_session_new(&self->nl, &self->want);

	pin_to(0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(100);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_LT(100, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_EQ(0, cpu0(&self->nl, id, KIPT_A_CPU_STATUS) & STATUS_STOPPED);
}

TEST_F(kipt, nothing_is_captured_when_stopped)
{
	int id = kipt_session_new(&self->nl, &self->want);
	uint64_t bytes;

	pin_to(0);
	ASSERT_LT(0, id);
	EXPECT_EQ(0, kipt_cpu_bytes(&self->nl, id, 0));
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(10);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	bytes = kipt_cpu_bytes(&self->nl, id, 0);
	work(100);
	EXPECT_EQ(bytes, kipt_cpu_bytes(&self->nl, id, 0));
}

TEST_F(kipt, start_begins_anew)
{
	int id = kipt_session_new(&self->nl, &self->want);
	uint64_t bytes;

	pin_to(0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(400);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	bytes = kipt_cpu_bytes(&self->nl, id, 0);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_GT(bytes, kipt_cpu_bytes(&self->nl, id, 0));
}

TEST_F(kipt, once_stops_when_full)
{
	int id;

	SKIP_IF(kipt_one_block());
	self->want.mode = KIPT_MODE_ONCE;
	self->want.size = SIZE_MIN;
	self->want.ctl |= CTL_DISRETC;
	id = kipt_session_new(&self->nl, &self->want);
	pin_to(0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(OVERFLOWS_SIZE_MIN);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(SIZE_MIN, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_EQ(STATUS_STOPPED,
		  cpu0(&self->nl, id, KIPT_A_CPU_STATUS) & STATUS_STOPPED);
	EXPECT_EQ(0, cpu0(&self->nl, id, KIPT_A_CPU_TAIL));
	EXPECT_EQ(KIPT_STOP_CAUSE_FULL, cpu0(&self->nl, id, KIPT_A_CPU_CAUSE));
}

TEST_F(kipt, ring_overwrites_the_oldest)
{
	int id;

	self->want.size = SIZE_MIN;
	self->want.ctl |= CTL_DISRETC;
	id = kipt_session_new(&self->nl, &self->want);
	pin_to(0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(OVERFLOWS_SIZE_MIN);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(SIZE_MIN, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_LT(0, cpu0(&self->nl, id, KIPT_A_CPU_TAIL));
	EXPECT_LT(SIZE_MIN, cpu0(&self->nl, id, KIPT_A_CPU_HEAD));
	EXPECT_EQ(KIPT_STOP_CAUSE_USER, cpu0(&self->nl, id, KIPT_A_CPU_CAUSE));
}

TEST_F(kipt, stop_of_stopped_is_refused)
{
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	EXPECT_EQ(-EALREADY, kipt_session_stop(&self->nl, id));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(KIPT_STATE_NEW, kipt_session_state(&self->nl, id));
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(-EALREADY, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(KIPT_STATE_STOPPED, kipt_session_state(&self->nl, id));
}

TEST_F(kipt, start_twice_is_refused)
{
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	EXPECT_EQ(-EBUSY, kipt_session_start(&self->nl, id));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(KIPT_STATE_RUNNING, kipt_session_state(&self->nl, id));
}

TEST_F(kipt, unknown_session_is_refused)
{
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	EXPECT_EQ(-ENOENT, kipt_session_start(&self->nl, 1000000));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(-ENOENT, kipt_session_stop(&self->nl, 1000000));
	EXPECT_EQ(-ENOENT, kipt_session_del(&self->nl, 1000000));
	EXPECT_EQ(-ENOENT, kipt_session_get(&self->nl, 1000000));
	EXPECT_EQ(-ENOENT, kipt_session_cpu(&self->nl, 1000000, 0));
	EXPECT_EQ(-ENOENT, kipt_fetch(&self->nl, 1000000,
				      KIPT_OUTPUT_BRANCHES, NULL, NULL));
	EXPECT_LT(0, strlen(self->nl.why));
}

TEST_F(kipt, id_is_never_used_again)
{
	int first = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, first);
	ASSERT_EQ(0, kipt_session_del(&self->nl, first));
	EXPECT_LT(first, kipt_session_new(&self->nl, &self->want));
}

TEST_F(kipt, second_session_on_a_cpu_is_refused)
{
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	EXPECT_EQ(-EBUSY, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "0")) {
		TH_LOG("sentence: '%s'", self->nl.why);
	}
	self->want.cpus = "0-1";
	EXPECT_EQ(-EBUSY, kipt_session_new(&self->nl, &self->want));
	EXPECT_EQ(1, kipt_session_count(&self->nl));
	/* CPU 1 was not kept by the request that failed. */
	self->want.cpus = "1";
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

TEST_F(kipt, sessions_on_other_cpus_coexist)
{
	int first = kipt_session_new(&self->nl, &self->want), second;

	self->want.cpus = "1";
	second = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, first);
	ASSERT_LT(0, second);
	EXPECT_EQ(2, kipt_session_count(&self->nl));
	ASSERT_EQ(0, kipt_session_start(&self->nl, first));
	ASSERT_EQ(0, kipt_session_start(&self->nl, second));
	EXPECT_EQ(0, kipt_session_stop(&self->nl, first));
	EXPECT_EQ(KIPT_STATE_RUNNING, kipt_session_state(&self->nl, second));
	EXPECT_EQ(0, kipt_session_del(&self->nl, first));
	EXPECT_EQ(0, kipt_session_stop(&self->nl, second));
}

TEST_F(kipt, session_of_all_cpus_traces_all)
{
	int id;

	self->want.cpus = "0-1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	pin_to(0);
	work(100);
	pin_to(1);
	work(100);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	ASSERT_EQ(0, kipt_session_get(&self->nl, id));
	EXPECT_STREQ("0-1", kipt_nl_string(&self->nl, KIPT_A_SESSION_CPUS));
	EXPECT_LT(100, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_LT(100, kipt_cpu_bytes(&self->nl, id, 1));
}

TEST_F(kipt, session_dies_with_its_owner)
{
	static struct kipt_nl other;
	int id;

	ASSERT_EQ(0, kipt_nl_open(&other));
	id = kipt_session_new(&other, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&other, id));
	kipt_nl_close(&other);
	EXPECT_EQ(-ENOENT, kipt_session_state(&self->nl, id));
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

TEST_F(kipt, detached_session_outlives_its_maker)
{
	static struct kipt_nl other;
	int id;

	ASSERT_EQ(0, kipt_nl_open(&other));
	self->want.flags = KIPT_SESSION_FLAGS_DETACHED;
	id = kipt_session_new(&other, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&other, id));
	kipt_nl_close(&other);
	pin_to(0);
	work(100);
	EXPECT_EQ(KIPT_STATE_RUNNING, kipt_session_state(&self->nl, id));
	EXPECT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_LT(100, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

/* A start that is refused leaves the last capture as it was. */
TEST_F(kipt, refused_start_keeps_the_last_capture)
{
	uint64_t head;
	int id;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	TAKES_CPU1();
	self->want.cpus = "0-1";
	id = kipt_session_new(&self->nl, &self->want);
	pin_to(0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(200);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	head = cpu0(&self->nl, id, KIPT_A_CPU_HEAD);
	ASSERT_LT(200, head);
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	EXPECT_EQ(-ENXIO, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, knob_back());
	EXPECT_EQ(KIPT_STATE_STOPPED, kipt_session_state(&self->nl, id));
	EXPECT_EQ(head, cpu0(&self->nl, id, KIPT_A_CPU_HEAD));
	EXPECT_LT(0, kipt_fetch(&self->nl, id, KIPT_OUTPUT_BRANCHES, NULL,
				NULL));
	EXPECT_EQ(0, kipt_session_start(&self->nl, id));
}

static void count_cpu(struct kipt_nl *nl, void *ctx)
{
	size_t len;

	if (kipt_nl_attr(nl, KIPT_A_SESSION_CPU, &len))
		++*(int *)ctx;
}

/* As many CPUs as there are, to readers of 4 KiB and of 64. */
TEST_F(kipt, dump_of_many_cpus_reaches_a_small_reader)
{
	int count = (int)sysconf(_SC_NPROCESSORS_ONLN), listed = 0, id;
	struct kipt_msg msg;
	char cpus[32];

	snprintf(cpus, sizeof(cpus), "0-%d", count - 1);
	self->want.cpus = cpus;
	self->want.size = SIZE_MIN;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	self->nl.room = 4096;
	kipt_msg_begin(&msg, KIPT_CMD_SESSION_GET);
	EXPECT_EQ(count + 1,
		  kipt_nl_dump(&self->nl, &msg, count_cpu, &listed));
	EXPECT_EQ(count, listed);
	self->nl.room = sizeof(self->nl.part);
	listed = 0;
	kipt_msg_begin(&msg, KIPT_CMD_SESSION_GET);
	kipt_msg_u32(&msg, KIPT_A_SESSION_ID, (uint32_t)id);
	EXPECT_EQ(count + 1,
		  kipt_nl_dump(&self->nl, &msg, count_cpu, &listed));
	EXPECT_EQ(count, listed);
}

/* State in the next event, which is about session @id; or -errno. */
static int next_event(struct kipt_nl *listener, int id)
{
	int ret = kipt_nl_event(listener, 5000);

	if (ret < 0)
		return ret;
	if (ret != KIPT_CMD_SESSION_EVENT ||
	    kipt_nl_u32(listener, KIPT_A_EVENT_ID, 0) != (uint32_t)id)
		return -EPROTO;
	return (int)kipt_nl_u32(listener, KIPT_A_EVENT_STATE, ~0U);
}

TEST_F(kipt, changes_of_state_are_announced)
{
	static struct kipt_nl listener;
	int id;

	ASSERT_EQ(0, kipt_nl_open(&listener));
	ASSERT_EQ(0, kipt_nl_join(&listener));
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_EQ(KIPT_STATE_NEW, next_event(&listener, id));
	EXPECT_EQ(KIPT_STATE_RUNNING, next_event(&listener, id));
	EXPECT_EQ(KIPT_STATE_STOPPED, next_event(&listener, id));
	EXPECT_EQ(KIPT_STOP_CAUSE_USER,
		  kipt_nl_u32(&listener, KIPT_A_EVENT_CAUSE, 0));
	EXPECT_EQ(0, next_event(&listener, id));
	kipt_nl_close(&listener);
}

/*
 * The CPU is full whenever its work says so, which may be before the start
 * has returned: the listener is there before, and what it hears is in no order
 * that could be relied on but that the CPU's comes once.
 */
TEST_F(kipt, full_cpu_is_announced)
{
	static struct kipt_nl listener;
	int id, state, events = 0;

	SKIP_IF(kipt_one_block());
	ASSERT_EQ(0, kipt_nl_open(&listener));
	self->want.mode = KIPT_MODE_ONCE;
	self->want.size = SIZE_MIN;
	self->want.ctl |= CTL_DISRETC;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	pin_to(0);
	ASSERT_EQ(0, kipt_nl_join(&listener));
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(OVERFLOWS_SIZE_MIN);
	while ((state = next_event(&listener, id)) >= 0) {
		if (kipt_nl_u32(&listener, KIPT_A_EVENT_CPU, ~0U) == ~0U)
			continue;
		events++;
		EXPECT_EQ(0, kipt_nl_u32(&listener, KIPT_A_EVENT_CPU, ~0U));
		EXPECT_EQ(KIPT_STOP_CAUSE_FULL,
			  kipt_nl_u32(&listener, KIPT_A_EVENT_CAUSE, 0));
	}
	EXPECT_EQ(-ETIMEDOUT, state);
	EXPECT_EQ(1, events);
	EXPECT_EQ(KIPT_STATE_RUNNING, kipt_session_state(&self->nl, id));
	kipt_nl_close(&listener);
}

/*
 * The session's stop was announced already, and its CPUs did not stop by
 * themselves.
 */
TEST_F(kipt, cpu_of_a_stopped_session_that_goes_offline_is_no_event)
{
	static struct kipt_nl listener;
	int id;

	TAKES_CPU1();
	self->want.cpus = "0-1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	ASSERT_EQ(0, kipt_nl_open(&listener));
	ASSERT_EQ(0, kipt_nl_join(&listener));
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	ASSERT_EQ(0, knob_back());
	EXPECT_EQ(-ETIMEDOUT, next_event(&listener, id));
	kipt_nl_close(&listener);
}

#include "kipt_main.h"
