// SPDX-License-Identifier: GPL-2.0-only
/*
 * Armed sessions: what the module refuses, what their status shows, and that they
 * trace CPUs that come online, for the first time or again. Takes CPU 1 offline and
 * back. Runs as root on a machine with PT and the module loaded; skips elsewhere.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "kipt_test.h"
#include "machine_state.h"
#include "perf_pt.h"
#include <linux/kipt_raw.h>

FIXTURE(arm)
{
	struct kipt_nl nl;
	struct kipt_want want;
	int complaints;
	int id;
};

FIXTURE_SETUP(arm)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	NEED(machine_no_msr(1));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0-1",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
		.flags = ARMED,
		.print_branches = 32,
	};
	self->complaints = machine_complaints(false);
}

/* Nothing else ends a detached session. */
FIXTURE_TEARDOWN(arm)
{
	knob_back();
	if (self->id > 0)
		kipt_session_del(&self->nl, self->id);
	kipt_nl_close(&self->nl);
}

static uint64_t cpu_state(struct kipt_nl *nl, int id, uint32_t cpu)
{
	return kipt_cpu_u64(nl, id, cpu, KIPT_A_CPU_STATE);
}

/* Is the CPU traced, within five seconds? */
static bool gets_traced(struct kipt_nl *nl, int id, uint32_t cpu)
{
	uint64_t ctl;
	int tries;

	for (tries = 0; tries < 500 * slowness(); tries++) {
		/* It may be about to start, or in a pause. */
		if (cpu_state(nl, id, cpu) == KIPT_STATE_RUNNING &&
		    machine_rtit_ctl((int)cpu, &ctl) && ctl & 1)
			return true;
		wait_ms(10);
	}
	return false;
}

static bool log_has(const char *words)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool found = false;
	char line[8192];
	ssize_t n;

	while (fd >= 0 && !found && (n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		found = strstr(line, words);
	}
	close(fd);
	return found;
}

TEST_F(arm, needs_detached_and_ring)
{
	self->want.flags = KIPT_SESSION_FLAGS_ARMED;
	EXPECT_EQ(-EINVAL, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "armed") && says(&self->nl, "detached"));
	self->want.flags = ARMED;
	self->want.mode = KIPT_MODE_ONCE;
	EXPECT_EQ(-EINVAL, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "armed") && says(&self->nl, "ring"));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

TEST_F(arm, lines_need_armed_and_have_a_bound)
{
	self->want.flags = KIPT_SESSION_FLAGS_DETACHED;
	EXPECT_EQ(-EINVAL, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "print-branches") &&
		    says(&self->nl, "armed"));
	self->want.flags = ARMED;
	self->want.print_branches = KIPT_PRINT_BRANCHES_MAX + 1;
	EXPECT_EQ(-ERANGE, kipt_session_new(&self->nl, &self->want));
	self->want.print_branches = KIPT_PRINT_BRANCHES_MAX;
	self->id = kipt_session_new(&self->nl, &self->want);
	EXPECT_LT(0, self->id);
}

TEST_F(arm, lines_of_others_and_of_user_code_are_reported)
{
	self->want.print_cpus = KIPT_PRINT_BRANCHES_MAX + 1;
	EXPECT_EQ(-ERANGE, kipt_session_new(&self->nl, &self->want));
	self->want.print_cpus = KIPT_PRINT_BRANCHES_MAX;
	self->want.print_user = KIPT_PRINT_USER_MAX + 1;
	EXPECT_EQ(-ERANGE, kipt_session_new(&self->nl, &self->want));
	self->want.print_user = KIPT_PRINT_USER_MAX;
	self->want.flags = KIPT_SESSION_FLAGS_DETACHED;
	self->want.print_branches = 0;
	EXPECT_EQ(-EINVAL, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "print-cpus") && says(&self->nl, "armed"));
	self->want.flags = ARMED;
	self->id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, kipt_session_get(&self->nl, self->id));
	EXPECT_EQ(KIPT_PRINT_BRANCHES_MAX,
		  kipt_nl_u32(&self->nl, KIPT_A_SESSION_PRINT_CPUS, 0));
	EXPECT_EQ(KIPT_PRINT_USER_MAX,
		  kipt_nl_u32(&self->nl, KIPT_A_SESSION_PRINT_USER, 0));
}

TEST_F(arm, status_has_flag_and_lines)
{
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, kipt_session_get(&self->nl, self->id));
	EXPECT_EQ(ARMED, kipt_nl_u32(&self->nl, KIPT_A_SESSION_FLAGS, 0));
	EXPECT_EQ(32, kipt_nl_u32(&self->nl, KIPT_A_SESSION_PRINT_BRANCHES, 0));
	EXPECT_EQ(2 * SIZE_USUAL,
		  kipt_nl_u64(&self->nl, KIPT_A_SESSION_MEMORY, 0));
}

TEST_F(arm, no_lines_unless_asked_for)
{
	self->want.print_branches = 0;
	self->id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, kipt_session_get(&self->nl, self->id));
	EXPECT_EQ(0, kipt_nl_u32(&self->nl, KIPT_A_SESSION_PRINT_BRANCHES, 7));
}

TEST_F(arm, log_and_refusals_name_it)
{
	char words[64];

	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	snprintf(words, sizeof(words), "armed: session %d traces CPUs 0-1, 1024 KiB each",
		 self->id);
	EXPECT_TRUE(log_has(words));
	EXPECT_EQ(-EBUSY, kipt_session_run(&self->nl, &self->want));
	snprintf(words, sizeof(words), "session %d", self->id);
	EXPECT_TRUE(says(&self->nl, words) && says(&self->nl, "armed") &&
		    says(&self->nl, "kipt disarm")) {
		TH_LOG("sentence: '%s'", self->nl.why);
	}
	snprintf(words, sizeof(words), "disarmed: session %d", self->id);
	EXPECT_FALSE(log_has(words));
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	EXPECT_TRUE(log_has(words));
	self->id = 0;
}

TEST_F(arm, outlives_its_maker_and_frees_all_when_deleted)
{
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	kipt_nl_close(&self->nl);
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	EXPECT_EQ(KIPT_STATE_RUNNING,
		  kipt_session_state(&self->nl, self->id));
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->id = kipt_session_run(&self->nl, &self->want);
	EXPECT_LT(0, self->id);
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->id = 0;
	EXPECT_TRUE(memory_is_free(&self->nl));
}

TEST_F(arm, cpus_that_can_never_be_are_refused)
{
	self->want.cpus = "0,4000";
	EXPECT_EQ(-ENXIO, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "exist"));
}

struct seen {
	unsigned int branches;
};

static void see_records(struct kipt_nl *nl, void *ctx)
{
	size_t len = 0;

	if (kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS, &len))
		((struct seen *)ctx)->branches += len / 24;
}

/* Work on CPU 1, then stop: is its trace of this run there? */
static bool has_trace_of_cpu1(struct kipt_nl *nl, int id)
{
	struct seen seen = { 0 };

	pin_to(1);
	work(100);
	pin_to(0);
	return !kipt_session_stop(nl, id) &&
	       kipt_cpu_u64(nl, id, 1, KIPT_A_CPU_CAUSE) ==
	       KIPT_STOP_CAUSE_USER &&
	       kipt_cpu_bytes(nl, id, 1) > 200 &&
	       kipt_fetch(nl, id, KIPT_OUTPUT_BRANCHES, see_records,
			  &seen) > 0 && seen.branches > 200;
}

TEST_F_TIMEOUT(arm, offline_cpu_is_traced_when_it_comes, 60)
{
	TAKES_CPU1();
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id) TH_LOG("%s", self->nl.why);
	EXPECT_EQ(KIPT_STATE_RUNNING,
		  kipt_session_state(&self->nl, self->id));
	EXPECT_EQ(KIPT_STATE_RUNNING, cpu_state(&self->nl, self->id, 0));
	EXPECT_EQ(KIPT_STATE_STOPPED, cpu_state(&self->nl, self->id, 1));
	EXPECT_EQ(0, knob_back());
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	EXPECT_TRUE(has_trace_of_cpu1(&self->nl, self->id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

TEST_F_TIMEOUT(arm, cpu_that_stays_away_is_no_trouble, 60)
{
	struct seen seen = { 0 };

	TAKES_CPU1();
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(0, kipt_session_stop(&self->nl, self->id));
	EXPECT_EQ(0, kipt_cpu_bytes(&self->nl, self->id, 1));
	EXPECT_LT(0, kipt_fetch(&self->nl, self->id, KIPT_OUTPUT_BRANCHES,
				see_records, &seen));
	EXPECT_LT(0, seen.branches);
	/* A stopped one stays stopped. */
	EXPECT_EQ(0, knob_back());
	wait_ms(200);
	EXPECT_EQ(KIPT_STATE_STOPPED, cpu_state(&self->nl, self->id, 1));
	EXPECT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(KIPT_STATE_RUNNING, cpu_state(&self->nl, self->id, 1));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

TEST_F_TIMEOUT(arm, cpu_that_returns_is_traced_anew, 120)
{
	int i;

	TAKES_CPU1();
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	for (i = 0; i < 5; i++) {
		pin_to(1);
		work(100);
		pin_to(0);
		ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
		EXPECT_EQ(KIPT_STATE_RUNNING,
			  kipt_session_state(&self->nl, self->id));
		EXPECT_EQ(KIPT_STOP_CAUSE_OFFLINE,
			  kipt_cpu_u64(&self->nl, self->id, 1,
				       KIPT_A_CPU_CAUSE));
		EXPECT_LT(200, kipt_cpu_bytes(&self->nl, self->id, 1));
		ASSERT_EQ(0, knob_back());
		EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	}
	EXPECT_TRUE(has_trace_of_cpu1(&self->nl, self->id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

TEST_F_TIMEOUT(arm, deleted_while_its_cpus_come_and_go, 120)
{
	int i;

	TAKES_CPU1();
	for (i = 0; i < 5; i++) {
		self->id = kipt_session_run(&self->nl, &self->want);
		ASSERT_LT(0, self->id) TH_LOG("%s", self->nl.why);
		ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
		ASSERT_EQ(0, knob_back());
		EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
		self->id = 0;
	}
	EXPECT_TRUE(memory_is_free(&self->nl));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

TEST_F(arm, perf_has_no_cpu_of_it)
{
	struct perf_pt perf;

	if (!perf_pt_type())
		SKIP(return, "perf has no intel_pt PMU");
	TAKES_CPU1();
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(-EBUSY, perf_pt_open(&perf, perf_pt_type(), 0));
	EXPECT_EQ(0, knob_back());
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	EXPECT_EQ(-EBUSY, perf_pt_open(&perf, perf_pt_type(), 1));
}

/* Return: a file that borrows, or a negative errno. */
static int borrow(uint32_t seconds)
{
	struct kipt_raw_lend wish = { .seconds = seconds };
	int file = open("/dev/kipt", O_RDWR | O_CLOEXEC), err;

	if (file >= 0 && !ioctl(file, KIPT_RAW_LEND, &wish))
		return file;
	err = -errno;
	if (file >= 0)
		close(file);
	return err;
}

static bool is_lent(struct kipt_nl *nl, int id)
{
	uint64_t ctl;

	return kipt_session_state(nl, id) == KIPT_STATE_STOPPED &&
	       kipt_nl_u32(nl, KIPT_A_SESSION_CAUSE, 0) ==
	       KIPT_STOP_CAUSE_LENT &&
	       machine_rtit_ctl(1, &ctl) && !(ctl & 1);
}

/* perf traces CPU 1. */
static bool perf_traces(struct perf_pt *perf)
{
	if (perf_pt_open(perf, perf_pt_type(), 1))
		return false;
	perf_pt_enable(perf);
	pin_to(1);
	work(100);
	perf_pt_disable(perf);
	pin_to(0);
	return perf_pt_head(perf);
}

TEST_F_TIMEOUT(arm, lent_until_the_file_is_closed, 60)
{
	bool with_perf = perf_pt_type();
	struct perf_pt perf;
	int file;

	EXPECT_EQ(-ENOENT, borrow(0));
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(-EINVAL, borrow(KIPT_RAW_LEND_MAX + 1));
	file = borrow(0);
	ASSERT_LE(0, file);
	EXPECT_TRUE(is_lent(&self->nl, self->id));
	EXPECT_EQ(-EBUSY, borrow(0));
	EXPECT_EQ(-EBUSY, kipt_session_start(&self->nl, self->id));
	EXPECT_TRUE(says(&self->nl, "--lend"));
	if (with_perf)
		ASSERT_TRUE(perf_traces(&perf));
	close(file);
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 0));
	if (with_perf) {
		EXPECT_EQ(KIPT_STATE_STOPPED,
			  cpu_state(&self->nl, self->id, 1));
		perf_pt_close(&perf);
	}
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	EXPECT_TRUE(has_trace_of_cpu1(&self->nl, self->id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

TEST_F_TIMEOUT(arm, lent_until_the_time_is_over, 60)
{
	struct kipt_raw_lend wish = { 0 };
	int file;

	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	file = borrow(1);
	ASSERT_LE(0, file);
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	/* The file has nothing to give back any more, and may borrow again. */
	EXPECT_EQ(0, ioctl(file, KIPT_RAW_LEND, &wish));
	EXPECT_TRUE(is_lent(&self->nl, self->id));
	close(file);
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

TEST_F_TIMEOUT(arm, stopped_while_it_is_lent, 60)
{
	int file;

	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	file = borrow(0);
	ASSERT_LE(0, file);
	EXPECT_EQ(0, kipt_session_stop(&self->nl, self->id));
	EXPECT_EQ(-EALREADY, kipt_session_stop(&self->nl, self->id));
	close(file);
	wait_ms(500);
	EXPECT_EQ(KIPT_STATE_STOPPED, kipt_session_state(&self->nl, self->id));
	EXPECT_EQ(KIPT_STOP_CAUSE_USER, kipt_nl_u32(&self->nl, KIPT_A_SESSION_CAUSE, 0));
	EXPECT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
}

/* perf has CPU 1 when the session is started again, and ends later. */
TEST_F_TIMEOUT(arm, cpu_that_is_busy_at_a_second_start_comes_later, 60)
{
	struct perf_pt perf;
	int file;

	SKIP_IF(perf_pt_type() ? NULL : "no PMU intel_pt");
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(0, kipt_session_stop(&self->nl, self->id));
	file = borrow(0);
	ASSERT_LE(0, file);
	ASSERT_TRUE(perf_traces(&perf));
	close(file);
	EXPECT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 0));
	EXPECT_EQ(KIPT_STATE_STOPPED, cpu_state(&self->nl, self->id, 1));
	perf_pt_close(&perf);
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* A loan that one session refuses costs the others nothing that they traced. */
TEST_F_TIMEOUT(arm, refused_loan_leaves_what_was_traced, 60)
{
	static struct kipt_nl maker;
	struct kipt_want other = self->want;
	struct kipt_msg msg;
	uint64_t generation;
	int i;

	self->want.cpus = "0";
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(KIPT_STATE_RUNNING, kipt_session_state(&self->nl, self->id));
	generation = kipt_nl_u64(&self->nl, KIPT_A_SESSION_GENERATION, 0);
	other.cpus = "1";
	other.size = size_up_to(64 * SIZE_USUAL);
	kipt_want_put(&msg, &other);
	ASSERT_EQ(0, kipt_nl_open(&maker));
	ASSERT_EQ(0, kipt_nl_dump_begin(&maker, &msg));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(1, kipt_nl_next(&maker, 5000));
	EXPECT_EQ(-EBUSY, borrow(0));
	EXPECT_EQ(KIPT_STATE_RUNNING, kipt_session_state(&self->nl, self->id));
	EXPECT_EQ(1, generation);
	EXPECT_EQ(generation, kipt_nl_u64(&self->nl, KIPT_A_SESSION_GENERATION, 0));
	kipt_nl_close(&maker);
}

TEST_F_TIMEOUT(arm, each_time_that_a_cpu_goes_is_an_event, 60)
{
	static struct kipt_nl listener;
	int times;

	TAKES_CPU1();
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, kipt_nl_open(&listener));
	ASSERT_EQ(0, kipt_nl_join(&listener));
	for (times = 0; times < 2; times++) {
		ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
		EXPECT_EQ(KIPT_STOP_CAUSE_OFFLINE, kipt_cpu_event(&listener, 1))
			TH_LOG("time %d", times);
		ASSERT_EQ(0, knob_back());
		ASSERT_TRUE(gets_traced(&self->nl, self->id, 1));
	}
	kipt_nl_close(&listener);
}

/*
 * A program that dies makes the module look at the trace of its CPU. @ends: it has ended that
 * just before, so that the module does not notice sooner.
 */
static pid_t die_on_cpu0(bool ends)
{
	static const struct rlimit no_core;
	pid_t child = fork();
	uint64_t ctl;

	if (child)
		return child;
	pin_to(0);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGSEGV, SIG_DFL);
	if (ends && !(machine_rtit_ctl(0, &ctl) && ctl & 1 &&
		      machine_msr_write(0, MSR_IA32_RTIT_CTL, ctl & ~1ULL)))
		_exit(1);
	raise(SIGSEGV);
	_exit(0);
}

/* When the trace ended nobody knows: it is not what a program that dies has run last. */
TEST_F_TIMEOUT(arm, what_another_ended_is_kept_for_nobody_and_begins_anew, 60)
{
	uint32_t newest = kipt_snapshot_newest(&self->nl);
	static struct kipt_nl listener;
	int status = 0;
	pid_t child;

	DISRUPTS("it writes MSRs");
	self->want.flags |= KIPT_SESSION_FLAGS_USER;
	self->want.ctl |= CTL_USER | CTL_OS;
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id) TH_LOG("%s", self->nl.why);
	ASSERT_EQ(0, kipt_nl_open(&listener));
	ASSERT_EQ(0, kipt_nl_join(&listener));
	child = die_on_cpu0(true);
	ASSERT_LT(0, child);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(KIPT_STOP_CAUSE_OUTSIDE, kipt_cpu_event(&listener, 0));
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 0));
	EXPECT_EQ(newest, kipt_snapshot_newest(&self->nl));
	EXPECT_TRUE(log_has("CPU 0 was ended by another program"));
	/* The next one is kept. */
	child = die_on_cpu0(false);
	ASSERT_LT(0, child);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	EXPECT_LT(newest, kipt_snapshot_newest(&self->nl));
	kipt_snapshots_delete(&self->nl);
	kipt_nl_close(&listener);
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* A session of CPU 1 that is not armed, running; or an error. */
static int take_cpu1(struct kipt_nl *nl)
{
	struct kipt_want want = {
		.cpus = "1",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
		.flags = KIPT_SESSION_FLAGS_DETACHED,
	};

	return kipt_session_run(nl, &want);
}

static bool is_yielded(struct kipt_nl *nl, int id)
{
	return kipt_session_state(nl, id) == KIPT_STATE_RUNNING &&
	       cpu_state(nl, id, 0) == KIPT_STATE_RUNNING &&
	       cpu_state(nl, id, 1) == KIPT_STATE_STOPPED &&
	       kipt_cpu_u64(nl, id, 1, KIPT_A_CPU_CAUSE) ==
	       KIPT_STOP_CAUSE_YIELDED;
}

/* Nothing can be traced there but by the session that has the CPU. */
static bool perf_is_kept_off(void)
{
	struct perf_pt perf;

	if (!perf_pt_type())
		return true;
	if (perf_pt_open(&perf, perf_pt_type(), 1))
		return true;
	perf_pt_close(&perf);
	return false;
}

FIXTURE(yield)
{
	struct kipt_nl nl;
	struct kipt_want want;
	int complaints;
	int id;
	int other;
};

FIXTURE_SETUP(yield)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	NEED(machine_no_msr(1));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0-1",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
		.flags = ARMED | KIPT_SESSION_FLAGS_YIELD,
	};
	self->complaints = machine_complaints(false);
	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id) TH_LOG("%s", self->nl.why);
}

FIXTURE_TEARDOWN(yield)
{
	knob_back();
	if (self->other > 0)
		kipt_session_del(&self->nl, self->other);
	if (self->id > 0)
		kipt_session_del(&self->nl, self->id);
	EXPECT_TRUE(memory_is_free(&self->nl));
	EXPECT_EQ(self->complaints, machine_complaints(true));
	kipt_nl_close(&self->nl);
}

TEST_F_TIMEOUT(yield, gives_a_cpu_and_takes_it_back, 60)
{
	char words[64];
	int round;

	for (round = 0; round < 3; round++) {
		self->other = take_cpu1(&self->nl);
		ASSERT_LT(0, self->other) TH_LOG("%s", self->nl.why);
		EXPECT_TRUE(is_yielded(&self->nl, self->id));
		snprintf(words, sizeof(words),
			 "1 armed CPUs of 1 are yielded to session %d",
			 self->other);
		EXPECT_TRUE(log_has(words));
		EXPECT_TRUE(has_trace_of_cpu1(&self->nl, self->other));
		EXPECT_TRUE(perf_is_kept_off());
		ASSERT_EQ(0, kipt_session_del(&self->nl, self->other));
		self->other = 0;
		ASSERT_TRUE(gets_traced(&self->nl, self->id, 1));
	}
	snprintf(words, sizeof(words), "session %d has 1 of its CPUs again",
		 self->id);
	EXPECT_TRUE(log_has(words));
	EXPECT_TRUE(has_trace_of_cpu1(&self->nl, self->id));
}

TEST_F_TIMEOUT(yield, ends_while_another_has_a_cpu, 60)
{
	self->other = take_cpu1(&self->nl);
	ASSERT_LT(0, self->other);
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->id = 0;
	EXPECT_TRUE(perf_is_kept_off());
	EXPECT_EQ(KIPT_STATE_RUNNING, cpu_state(&self->nl, self->other, 1));
	EXPECT_TRUE(has_trace_of_cpu1(&self->nl, self->other));
}

TEST_F_TIMEOUT(yield, stops_and_starts_without_the_cpu, 60)
{
	int file;

	self->other = take_cpu1(&self->nl);
	ASSERT_LT(0, self->other);
	EXPECT_EQ(0, kipt_session_stop(&self->nl, self->id));
	EXPECT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(KIPT_STATE_RUNNING, cpu_state(&self->nl, self->id, 0));
	EXPECT_EQ(KIPT_STATE_STOPPED, cpu_state(&self->nl, self->id, 1));
	/* A loan is of its own CPUs only. */
	file = borrow(0);
	ASSERT_LE(0, file);
	EXPECT_TRUE(perf_is_kept_off());
	EXPECT_EQ(KIPT_STATE_RUNNING, cpu_state(&self->nl, self->other, 1));
	close(file);
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 0));
	EXPECT_TRUE(has_trace_of_cpu1(&self->nl, self->other));
	EXPECT_EQ(0, kipt_session_stop(&self->nl, self->id));
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->other));
	self->other = 0;
	EXPECT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
}

TEST_F_TIMEOUT(yield, cpu_that_went_offline_meanwhile, 60)
{
	TAKES_CPU1();
	self->other = take_cpu1(&self->nl);
	ASSERT_LT(0, self->other);
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	EXPECT_EQ(0, knob_back());
	EXPECT_EQ(KIPT_STATE_STOPPED, cpu_state(&self->nl, self->id, 1));
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->other));
	self->other = 0;
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
}

TEST_F_TIMEOUT(yield, refused_session_gives_the_cpu_back, 60)
{
	struct kipt_want want = self->want;

	want.cpus = "1";
	want.flags = 0;
	self->other = kipt_session_new(&self->nl, &want);
	ASSERT_LT(0, self->other);
	EXPECT_TRUE(is_yielded(&self->nl, self->id));
	/* It dies with its socket. */
	kipt_nl_close(&self->nl);
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->other = 0;
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
}

TEST_F(yield, nothing_to_an_armed_one_and_nothing_without_the_flag)
{
	struct kipt_want want = self->want;

	EXPECT_EQ(-EBUSY, kipt_session_new(&self->nl, &want));
	EXPECT_TRUE(says(&self->nl, "kipt disarm"));
	want.flags = ARMED;
	EXPECT_EQ(-EBUSY, kipt_session_new(&self->nl, &want));
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->id = kipt_session_run(&self->nl, &want);
	ASSERT_LT(0, self->id);
	EXPECT_EQ(-EBUSY, take_cpu1(&self->nl));
	want.flags = KIPT_SESSION_FLAGS_DETACHED | KIPT_SESSION_FLAGS_YIELD;
	EXPECT_EQ(-EINVAL, kipt_session_new(&self->nl, &want));
	EXPECT_TRUE(says(&self->nl, "yield") && says(&self->nl, "armed"));
	EXPECT_EQ(KIPT_STATE_RUNNING, cpu_state(&self->nl, self->id, 1));
}

/* Start a child that borrows CPU 0, sets @byte to whether it could, and waits. */
static pid_t start_borrower(char *byte)
{
	int ready[2];
	pid_t child;

	if (pipe(ready))
		return -1;
	child = fork();
	if (!child) {
		*byte = borrow(0) >= 0;
		if (write(ready[1], byte, 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], byte, 1) != 1)
		*byte = 0;
	close(ready[0]);
	close(ready[1]);
	return child;
}

TEST_F_TIMEOUT(arm, lent_until_the_borrower_is_killed, 60)
{
	pid_t child;
	int status;
	char byte;

	self->id = kipt_session_run(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	child = start_borrower(&byte);
	ASSERT_LT(0, child);
	EXPECT_EQ(1, byte);
	EXPECT_TRUE(is_lent(&self->nl, self->id));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	/* What is not there any more keeps no new one from starting. */
	child = start_borrower(&byte);
	ASSERT_LT(0, child);
	EXPECT_EQ(1, byte);
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->id = kipt_session_run(&self->nl, &self->want);
	EXPECT_LT(0, self->id) TH_LOG("%s", self->nl.why);
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(gets_traced(&self->nl, self->id, 1));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

#include "kipt_main.h"
