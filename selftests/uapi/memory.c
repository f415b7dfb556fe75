// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one limit of memory: what passes it is refused with a sentence, what is
 * charged is given back, whoever dies on the way. Runs on a machine with PT
 * and the module loaded; skips elsewhere.
 */
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "kipt_test.h"
#include "machine_state.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/kipt_memory"

static uint64_t limit(struct kipt_nl *nl)
{
	return kipt_info(nl) ? 0 :
	       kipt_nl_inner(nl, KIPT_A_INFO_LIMITS, KIPT_A_LIMITS_MEMORY, 0);
}

/* The largest buffer of one CPU that the limit has room for, or a power more. */
static uint64_t size_for(uint64_t bytes)
{
	uint64_t size = SIZE_MIN;

	while (2 * size <= bytes && size < 1ULL << 30)
		size *= 2;
	return size;
}

TEST_F(kipt, session_beyond_the_limit_is_refused)
{
	uint64_t most = limit(&self->nl);

	SKIP_IF(kipt_one_block());
	ASSERT_LT(0, most);
	self->want.cpus = "0-1";
	self->want.size = 2 * size_for(most);
	if (self->want.size > 1ULL << 30 || 2 * self->want.size <= most)
		SKIP(return, "the limit is beyond the largest session");
	EXPECT_EQ(-ENOMEM, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "memory_limit") &&
		    says(&self->nl, "MiB")) {
		TH_LOG("sentence: '%s'", self->nl.why);
	}
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	EXPECT_TRUE(memory_is_free(&self->nl));
}

/* The limit is one for all sessions. */
TEST_F_TIMEOUT(kipt, second_session_beyond_the_limit_is_refused, 120)
{
	uint64_t most = limit(&self->nl);
	static struct kipt_nl other;
	int id;

	SKIP_IF(kipt_one_block());
	self->want.size = size_for(most - 1);
	if (2 * self->want.size < most)
		SKIP(return, "two of the largest buffers fit");
	id = kipt_session_new(&self->nl, &self->want);
	if (id == -ENOMEM)
		SKIP(return, "this machine is short of memory");
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_nl_open(&other));
	self->want.cpus = "1";
	EXPECT_EQ(-ENOMEM, kipt_session_new(&other, &self->want));
	EXPECT_TRUE(says(&other, "memory_limit")) {
		TH_LOG("sentence: '%s'", other.why);
	}
	EXPECT_GE(most, kipt_memory(&self->nl));
	self->want.size = SIZE_MIN;
	id = kipt_session_new(&other, &self->want);
	EXPECT_LT(0, id) {
		TH_LOG("refused: %s", other.why);
	}
	kipt_nl_close(&other);
}

/* Begins a large session and reads @arg messages of its making. */
static int begin_session(struct kipt_nl *nl, int messages)
{
	struct kipt_want want = {
		.cpus = "0-1",
		.size = size_up_to(64 * SIZE_USUAL),
		.ctl = CTL_BASIC,
	};
	struct kipt_msg msg;

	kipt_want_put(&msg, &want);
	if (kipt_nl_open(nl) || kipt_nl_dump_begin(nl, &msg))
		return 1;
	while (messages--)
		if (kipt_nl_next(nl, 5000) != 1)
			return 2;
	return 0;
}

TEST_F_TIMEOUT(kipt, killed_while_it_allocates_frees_all, 120)
{
	static struct kipt_nl child_nl;
	int i, status;

	for (i = 1; i < 20; i += 3) {
		pid_t child = fork();

		ASSERT_LE(0, child);
		if (!child) {
			begin_session(&child_nl, i);
			raise(SIGKILL);
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(0, kipt_session_count(&self->nl));
	}
	EXPECT_TRUE(memory_is_free(&self->nl));
	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_STREQ("", kipt_nl_string(&self->nl, KIPT_A_INFO_BUSY));
}

/* While it is made, a session can be seen and deleted, but not used. */
TEST_F(kipt, session_that_is_being_made_can_be_deleted)
{
	static struct kipt_nl maker;
	int id, ret;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_EQ(0, begin_session(&maker, 4));
	id = (int)kipt_nl_u32(&maker, KIPT_A_SESSION_ID, 0);
	EXPECT_EQ(KIPT_STATE_SETUP, kipt_session_state(&self->nl, id));
	EXPECT_EQ(-EBUSY, kipt_session_start(&self->nl, id));
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(-EBUSY, kipt_fetch(&self->nl, id, KIPT_OUTPUT_BRANCHES, NULL,
				     NULL));
	EXPECT_EQ(-EALREADY, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_EQ(-ENOENT, kipt_session_state(&self->nl, id));
	while ((ret = kipt_nl_next(&maker, 5000)) == 1)
		;
	EXPECT_EQ(-ENOENT, ret);
	EXPECT_TRUE(says(&maker, "gone")) {
		TH_LOG("sentence: '%s'", maker.why);
	}
	EXPECT_TRUE(memory_is_free(&self->nl));
	/* Its CPUs are free again although its maker is still there. */
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
	kipt_nl_close(&maker);
}

/* As many as a session holds, by the least their mm_structs and page tables take. */
#define ENDED_BYTES	(320 * 12288ULL)

TEST_F(kipt, what_ended_processes_leave_is_charged)
{
	self->want.size = SIZE_MIN;
	ASSERT_LT(0, kipt_session_new(&self->nl, &self->want));
	EXPECT_LE(SIZE_MIN + ENDED_BYTES, kipt_memory(&self->nl));
}

static bool join_cgroup(const char *max)
{
	struct statfs root;
	char pid[32];

	/* Another version is none of ours to change. */
	if (statfs(CGROUP_ROOT, &root) || root.f_type != CGROUP2_SUPER_MAGIC)
		return false;
	write_file(CGROUP_ROOT "/cgroup.subtree_control", "+memory");
	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		return false;
	snprintf(pid, sizeof(pid), "%d", getpid());
	return !write_file(CGROUP "/memory.max", max) &&
	       !write_file(CGROUP "/memory.oom.group", "1") &&
	       !write_file(CGROUP "/cgroup.procs", pid);
}

/* 100: it got the memory; 101: refused; 102: no cgroup. */
static int make_in_cgroup(void *arg)
{
	static struct kipt_nl nl;
	struct kipt_want want = {
		.cpus = "0-1",
		.size = 64 * SIZE_USUAL,
		.ctl = CTL_BASIC,
	};

	(void)arg;
	if (!join_cgroup("32M"))
		return 102;
	/* Between two messages there is no memory for a fault of its own. */
	if (kipt_nl_open(&nl) || mlockall(MCL_CURRENT))
		return 103;
	return kipt_session_new(&nl, &want) > 0 ? 100 : 101;
}

/* 128 MiB of buffers for a process that may have 32. */
TEST_F_TIMEOUT(kipt, buffers_count_against_the_memory_cgroup, 120)
{
	int ret;

	SKIP_IF(kipt_one_block());
	ret = in_child(make_in_cgroup, NULL);
	if (ret == 102)
		SKIP(return, "no memory cgroup");
	/* The request was refused, and the kernel killed nobody for a buffer. */
	EXPECT_EQ(101, ret);
	EXPECT_TRUE(memory_is_free(&self->nl));
	rmdir(CGROUP);
}

/* As above, of a reader's memory; *@arg: the session. */
static int fetch_in_cgroup(void *arg)
{
	static struct kipt_nl nl;
	struct kipt_msg msg;
	int ret;

	if (!join_cgroup("32M"))
		return 102;
	if (kipt_nl_open(&nl) || mlockall(MCL_CURRENT))
		return 103;
	kipt_msg_begin(&msg, KIPT_CMD_FETCH);
	kipt_msg_u32(&msg, KIPT_A_FETCH_ID, *(uint32_t *)arg);
	kipt_msg_u64(&msg, KIPT_A_FETCH_MEMORY, 64 << 20);
	ret = kipt_nl_dump_begin(&nl, &msg);
	if (ret)
		return 104;
	while ((ret = kipt_nl_next(&nl, 20000)) == 1)
		;
	return ret == -ENOMEM ? 101 : 100;
}

/* What a user asks for in vain is not the kernel's log's business. */
TEST_F_TIMEOUT(kipt, memory_refused_to_a_fetch_is_not_logged, 120)
{
	int complaints = machine_complaints(false), id, ret;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, id);
	work(1);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	ret = in_child(fetch_in_cgroup, &id);
	if (ret == 102)
		SKIP(return, "no memory cgroup");
	EXPECT_EQ(101, ret);
	EXPECT_EQ(complaints, machine_complaints(true));
	rmdir(CGROUP);
}

#include "kipt_main.h"
