// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many at once: sessions made by several processes at a time, foreign sockets
 * that close meanwhile, hundreds of refusals. Runs on a machine with PT and
 * the module loaded; skips elsewhere.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "kipt_test.h"

#define MAKERS		8
#define ROUNDS		100
#define REFUSED		300
#define LISTED		300

/* A child's work; 0: all was well. */
struct child {
	pid_t pid;
	int (*run)(int number);
	int number;
};

static bool fork_child(struct child *child)
{
	child->pid = fork();
	if (!child->pid)
		_exit(child->run(child->number));
	return child->pid > 0;
}

/* Return: how many failed. */
static unsigned int run_all(struct child *children, unsigned int count,
			    int (*run)(int number))
{
	unsigned int i, failed = 0;
	int status;

	for (i = 0; i < count; i++) {
		children[i] = (struct child){ .run = run, .number = (int)i };
		if (!fork_child(&children[i]))
			failed++;
	}
	for (i = 0; i < count; i++) {
		if (children[i].pid <= 0 ||
		    waitpid(children[i].pid, &status, 0) != children[i].pid)
			continue;
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			printf("# child %u ended with status %#x\n", i, status);
			failed++;
		}
	}
	return failed;
}

static int cpus_online(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* What was made can be found, and nothing else comes in its place. */
static int make_and_find(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id = kipt_session_new(nl, want);

	if (id == -EBUSY)
		return 0;
	if (id < 0) {
		printf("# session-new: %d %s\n", id, nl->why);
		return 1;
	}
	if (kipt_session_get(nl, id)) {
		printf("# session %d is not found: %s\n", id, nl->why);
		return 2;
	}
	if (strcmp(want->cpus, kipt_nl_string(nl, KIPT_A_SESSION_CPUS)))
		return 3;
	return kipt_session_del(nl, id) ? 4 : 0;
}

static int make_sessions(int number)
{
	static struct kipt_nl nl;
	char cpu[16];
	struct kipt_want want = {
		.cpus = cpu,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	unsigned int i;
	int ret;

	snprintf(cpu, sizeof(cpu), "%d", number % cpus_online());
	if (kipt_nl_open(&nl))
		return 10;
	for (i = 0; i < ROUNDS; i++) {
		ret = make_and_find(&nl, &want);
		if (ret)
			return ret;
	}
	return 0;
}

TEST_F_TIMEOUT(kipt, sessions_made_at_once_are_all_found, 300)
{
	struct child children[MAKERS];

	EXPECT_EQ(0, run_all(children, MAKERS, make_sessions));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	EXPECT_TRUE(memory_is_free(&self->nl));
	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_STREQ("", kipt_nl_string(&self->nl, KIPT_A_INFO_BUSY));
}

/* The owners end while their sessions are made, ready or running. */
static int make_and_leave(int number)
{
	static struct kipt_nl nl;
	char cpu[16];
	struct kipt_want want = {
		.cpus = cpu,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
	};
	struct kipt_msg msg;
	int i, k, id;

	snprintf(cpu, sizeof(cpu), "%d", number % cpus_online());
	for (i = 0; i < 20; i++) {
		if (kipt_nl_open(&nl))
			return 10;
		kipt_want_put(&msg, &want);
		if (kipt_nl_dump_begin(&nl, &msg))
			return 11;
		for (k = 0; k < i % 7 && kipt_nl_next(&nl, 5000) == 1; k++)
			;
		id = (int)kipt_nl_u32(&nl, KIPT_A_SESSION_ID, 0);
		if (id && i & 1)
			kipt_session_start(&nl, id);
		kipt_nl_close(&nl);
	}
	return 0;
}

TEST_F_TIMEOUT(kipt, owners_that_leave_at_any_moment_leave_nothing, 300)
{
	struct child children[MAKERS];
	int id;

	EXPECT_EQ(0, run_all(children, MAKERS, make_and_leave));
	EXPECT_TRUE(memory_is_free(&self->nl));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	id = kipt_session_new(&self->nl, &self->want);
	EXPECT_LT(0, id) {
		TH_LOG("refused: %s", self->nl.why);
	}
}

/* The owner leaves when the CPU is taken from perf and has no buffer yet. */
static int leave_early(void)
{
	static struct kipt_nl nl;
	struct kipt_want want = {
		.cpus = "0",
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	struct kipt_msg msg;
	int i, k;

	for (i = 0; i < LISTED; i++) {
		if (kipt_nl_open(&nl))
			return 10;
		kipt_want_put(&msg, &want);
		if (kipt_nl_dump_begin(&nl, &msg))
			return 11;
		for (k = 0; k < 3 && kipt_nl_next(&nl, 5000) == 1; k++)
			;
		kipt_nl_close(&nl);
	}
	return 0;
}

static int list_sessions(void)
{
	static struct kipt_nl nl;
	int i;

	if (kipt_nl_open(&nl))
		return 20;
	for (i = 0; i < 10 * LISTED; i++)
		if (kipt_session_count(&nl) < 0)
			return 21;
	return 0;
}

static int leave_or_list(int number)
{
	return number ? list_sessions() : leave_early();
}

TEST_F_TIMEOUT(kipt, sessions_may_end_while_they_are_listed, 300)
{
	struct child children[2];

	EXPECT_EQ(0, run_all(children, 2, leave_or_list));
	EXPECT_TRUE(memory_is_free(&self->nl));
}

/* Starts and stops large buffers until it is killed. */
static int keep_busy(int number)
{
	static struct kipt_nl nl;
	struct kipt_want want = {
		.cpus = "0",
		.size = size_up_to(128 * SIZE_USUAL),
		.ctl = CTL_BASIC,
	};
	int id;

	(void)number;
	if (kipt_nl_open(&nl))
		return 1;
	id = kipt_session_new(&nl, &want);
	if (id < 0)
		return 2;
	for (;;)
		if (kipt_session_start(&nl, id) || kipt_session_stop(&nl, id))
			return 3;
}

/* How often a process waits while it closes a socket that is not kipt's. */
static long foreign_close_waits(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	struct rusage before, after;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return 1000;
	getrusage(RUSAGE_SELF, &before);
	close(fd);
	getrusage(RUSAGE_SELF, &after);
	return after.ru_nvcsw - before.ru_nvcsw;
}

TEST_F_TIMEOUT(kipt, foreign_sockets_are_not_delayed, 120)
{
	struct child busy = { .run = keep_busy };
	unsigned int i, tries, waited = 200;

	ASSERT_TRUE(fork_child(&busy));
	for (i = 0; i < 250 && kipt_session_count(&self->nl) != 1; i++)
		wait_ms(20);
	wait_ms(1000);
	/* The kernel's own table of sockets is locked now and then. */
	for (tries = 0; tries < 3 && waited > 4; tries++) {
		for (i = 0, waited = 0; i < 200; i++) {
			waited += foreign_close_waits() > 0;
			wait_ms(10);
		}
	}
	EXPECT_EQ(0, waitpid(busy.pid, NULL, WNOHANG));
	kill(busy.pid, SIGKILL);
	waitpid(busy.pid, NULL, 0);
	EXPECT_GE(4, waited) {
		TH_LOG("%u of 200 closes waited for something", waited);
	}
	EXPECT_TRUE(memory_is_free(&self->nl));
}

/* Each child names other sessions; each refusal has to name the one asked for. */
static int be_refused(int number)
{
	static struct kipt_nl nl;
	char wanted[64];
	unsigned int i;
	int id;

	if (kipt_nl_open(&nl))
		return 10;
	for (i = 0; i < 50; i++) {
		id = 1000000 + number * 1000 + (int)i;
		if (kipt_session_start(&nl, id) != -ENOENT)
			return 1;
		snprintf(wanted, sizeof(wanted), "no session %d", id);
		if (strcmp(wanted, nl.why)) {
			printf("# '%s' instead of '%s'\n", nl.why, wanted);
			return 2;
		}
	}
	return 0;
}

TEST_F_TIMEOUT(kipt, each_refusal_has_its_own_sentence, 300)
{
	static struct child children[REFUSED];

	EXPECT_EQ(0, run_all(children, REFUSED / (unsigned int)slowness(),
			     be_refused));
}

#include "kipt_main.h"
