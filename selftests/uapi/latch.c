// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend and hibernation: tracing stops before, is refused until the machine
 * is up, and what was captured is there and decodes; after it warnings are kept as
 * before. The machine really sleeps, and is woken by its clock. Runs as root where
 * KIPT_TEST_SUSPEND is set, on a machine with PT and the module loaded; skips elsewhere.
 *
 * KIPT_TEST_SUSPEND is how to hibernate, as /sys/power/disk knows it: with
 * test_resume the image is read back at once; with shutdown the machine goes
 * off, and what resumes from its swap sees the test go on. KIPT_TEST_DISK is
 * a disk to overwrite.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "images.h"
#include "kipt_test.h"
#include "machine_state.h"

#define STATE		"/sys/power/state"
#define PM_TEST		"/sys/power/pm_test"
#define DISK		"/sys/power/disk"
#define CRASHER		"/sys/kernel/debug/crasher"
#define WAKE		"/sys/class/rtc/rtc0/wakealarm"
#define DIRTY_MIB	256

static const char *why_not(void)
{
	if (!getenv("KIPT_TEST_SUSPEND"))
		return "KIPT_TEST_SUSPEND is not set: the machine would sleep";
	return NULL;
}

static bool file_has(const char *path, const char *word)
{
	char text[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return strstr(text, word);
}

FIXTURE(latch)
{
	struct kipt_nl nl;
	struct kipt_want want;
	int complaints;
	int id;
};

FIXTURE_SETUP(latch)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	DISRUPTS("it suspends the machine");
	SKIP_IF(why_not());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0-1",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
	};
	self->complaints = machine_complaints(false);
	self->id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
}

FIXTURE_TEARDOWN(latch)
{
	kipt_nl_close(&self->nl);
}

/* What starts were answered while the machine went to sleep. */
struct answers {
	unsigned int refused;
	unsigned int started;
	unsigned int strange;
	bool enough;
	char why[256];
};

/* Starts and stops for ever a session of its own. */
static void try_for_ever(struct answers *answers)
{
	static struct kipt_nl nl;
	struct kipt_want want = {
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	int id, err;

	if (kipt_nl_open(&nl))
		_exit(1);
	id = kipt_session_new(&nl, &want);
	if (id < 0)
		_exit(2);
	while (!__atomic_load_n(&answers->enough, __ATOMIC_ACQUIRE)) {
		err = kipt_session_start(&nl, id);
		if (err == -EBUSY && !answers->refused)
			memcpy(answers->why, nl.why, sizeof(nl.why));
		answers->refused += err == -EBUSY;
		answers->started += !err;
		answers->strange += err && err != -EBUSY;
		/* The machine's way to sleep may have stopped it already. */
		if (!err && kipt_session_stop(&nl, id) == -EALREADY)
			continue;
	}
	_exit(0);
}

static struct answers *shared_answers(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/*
 * Before it freezes tasks, hibernation writes what is dirty. Return: whether
 * there is a disk for that.
 */
static bool make_dirty(void)
{
	const char *disk = getenv("KIPT_TEST_DISK");
	static char block[1 << 20];
	int fd = disk ? open(disk, O_WRONLY | O_CLOEXEC) : -1, i;
	bool ok;

	ok = fd >= 0 && !write_file("/proc/sys/vm/dirty_ratio", "90") &&
	     !write_file("/proc/sys/vm/dirty_background_ratio", "90");
	for (i = 0; i < DIRTY_MIB && ok; i++)
		ok = write(fd, block, sizeof(block)) == sizeof(block);
	close(fd);
	return ok;
}

TEST_F_TIMEOUT(latch, start_is_refused_on_the_way_to_sleep, 120)
{
	struct answers *answers = shared_answers();
	pid_t child;

	if (write_file(PM_TEST, "freezer") || !file_has(STATE, "disk") ||
	    !make_dirty())
		SKIP(return, "there is no KIPT_TEST_DISK to write to, or the kernel cannot test hibernation");
	ASSERT_NE(NULL, answers);
	/* A session of its own, on CPU 0. */
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		try_for_ever(answers);
	wait_ms(100);
	EXPECT_EQ(0, write_file(STATE, "disk"));
	wait_ms(100);
	__atomic_store_n(&answers->enough, true, __ATOMIC_RELEASE);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	write_file(PM_TEST, "none");
	printf("# %u starts, %u refused: %s\n", answers->started,
	       answers->refused, answers->why);
	EXPECT_LT(0, answers->started);
	EXPECT_LT(0, answers->refused);
	EXPECT_EQ(0, answers->strange);
	EXPECT_NE(NULL, strstr(answers->why, "hibernated"));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

static uint64_t cause(struct kipt_nl *nl, int id, uint32_t cpu)
{
	return kipt_cpu_u64(nl, id, cpu, KIPT_A_CPU_CAUSE);
}

/* Sleep and wake up. Return: 0 or a negative errno. */
static int sleep_some(const char *state)
{
	int err;

	write_file(WAKE, "0");
	err = write_file(WAKE, "+4");
	return err ? err : write_file(STATE, state);
}

static bool traces_again(struct kipt_nl *nl, int id)
{
	bool ok = !kipt_session_start(nl, id);

	pin_to(0);
	work(50);
	ok &= !kipt_session_stop(nl, id);
	ok &= kipt_cpu_bytes(nl, id, 0) > 200;
	ok &= cause(nl, id, 0) == KIPT_STOP_CAUSE_USER;
	return ok;
}

static void count_records(struct kipt_nl *nl, void *ctx)
{
	unsigned long *bytes = ctx;
	size_t len = 0;

	if (kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS, &len))
		*bytes += len;
}

/* Bytes of records that a session's branches decode to. */
static unsigned long decoded(struct kipt_nl *nl, int id)
{
	unsigned long bytes = 0;

	if (kipt_fetch(nl, id, KIPT_OUTPUT_BRANCHES, count_records,
		       &bytes) < 0)
		return 0;
	return bytes;
}

/* What a session has to be like after its machine has slept. */
static bool ended_by_sleep(struct kipt_nl *nl, int id)
{
	bool ok = kipt_session_state(nl, id) == KIPT_STATE_STOPPED;
	uint64_t ctl;
	int cpu;

	for (cpu = 0; cpu < 2; cpu++) {
		uint64_t why = cause(nl, id, (uint32_t)cpu);

		printf("# CPU %d: cause %llu, %llu bytes\n", cpu,
		       (unsigned long long)why, (unsigned long long)
		       kipt_cpu_bytes(nl, id, (uint32_t)cpu));
		ok &= why == KIPT_STOP_CAUSE_SUSPEND;
		ok &= machine_rtit_ctl(cpu, &ctl) && !(ctl & 1);
	}
	return ok && kipt_cpu_bytes(nl, id, 0) > 200 &&
	       decoded(nl, id) > kipt_cpu_bytes(nl, id, 0);
}

TEST_F_TIMEOUT(latch, suspend_to_ram_keeps_what_was_captured, 180)
{
	if (!file_has(STATE, "mem"))
		SKIP(return, "this machine cannot suspend to RAM");
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	pin_to(0);
	work(100);
	ASSERT_EQ(0, sleep_some("mem"));
	EXPECT_TRUE(ended_by_sleep(&self->nl, self->id));
	EXPECT_EQ(-EALREADY, kipt_session_stop(&self->nl, self->id));
	EXPECT_TRUE(traces_again(&self->nl, self->id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* Does it trace, within five seconds? What keeps it running is a work item. */
static bool goes_on(struct kipt_nl *nl, int id)
{
	uint64_t ctl[2] = { 0 };
	int tries;

	for (tries = 0; tries < 500 * slowness(); tries++) {
		if (kipt_session_state(nl, id) == KIPT_STATE_RUNNING)
			break;
		wait_ms(10);
	}
	return machine_rtit_ctl(0, &ctl[0]) && ctl[0] & 1 &&
	       machine_rtit_ctl(1, &ctl[1]) && ctl[1] & 1 &&
	       kipt_session_state(nl, id) == KIPT_STATE_RUNNING &&
	       kipt_cpu_u64(nl, id, 1, KIPT_A_CPU_STATE) == KIPT_STATE_RUNNING;
}

TEST_F_TIMEOUT(latch, armed_session_goes_on_after_suspend, 180)
{
	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	if (!file_has(STATE, "mem"))
		SKIP(return, "this machine cannot suspend to RAM");
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->want.flags = KIPT_SESSION_FLAGS_DETACHED |
			   KIPT_SESSION_FLAGS_ARMED;
	self->id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	ASSERT_EQ(0, sleep_some("mem"));
	EXPECT_TRUE(goes_on(&self->nl, self->id));
	ASSERT_EQ(0, kipt_session_get(&self->nl, self->id));
	EXPECT_EQ(2, kipt_nl_u64(&self->nl, KIPT_A_SESSION_GENERATION, 0));
	/* What its user stopped does not go on. */
	EXPECT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, sleep_some("mem"));
	wait_ms(500);
	EXPECT_EQ(KIPT_STATE_STOPPED,
		  kipt_session_state(&self->nl, self->id));
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* In no code but this program's. */
static void spin(void)
{
	volatile unsigned int odd = 0, i;

	for (i = 0; ; i++)
		if (i & 1)
			odd++;
}

/*
 * This program's own file, which is not on 9p: the first of what is mapped. Return: 0 or
 * a negative errno.
 */
static int open_own(struct images *images)
{
	int err = images_own(images);

	while (images->fds > 1)
		close(images->fd[--images->fds]);
	images->ranges = images->fds;
	return err;
}

/* What ended after the run decodes like what lives, whatever the TSC says. */
static bool outlives_its_process(struct kipt_nl *nl, int id, const struct images *images,
				 pid_t child)
{
	unsigned long before, after;

	if (images_give_process(images, id, 0, (uint32_t)child))
		return false;
	before = decoded(nl, id);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	after = decoded(nl, id);
	printf("# %lu bytes of records, then %lu\n", before, after);
	return before && before == after;
}

/* Until 6.4 a swap in use was not read from. */
static bool reads_used_swap(void)
{
	struct utsname name;
	int major = 0, minor = 0;

	uname(&name);
	sscanf(name.release, "%d.%d", &major, &minor);
	return major > 6 || (major == 6 && minor >= 4);
}

/* The image is written to swap, read back, and runs on. */
TEST_F_TIMEOUT(latch, hibernation_keeps_what_was_captured, 300)
{
	bool at_once = !strcmp(getenv("KIPT_TEST_SUSPEND"), "test_resume");
	struct images images = { 0 };
	pid_t child;

	if (!file_has(STATE, "disk") || !file_has("/proc/swaps", "/dev/") ||
	    write_file(DISK, getenv("KIPT_TEST_SUSPEND")))
		SKIP(return, "there is no swap, or the kernel cannot hibernate");
	if (at_once && !reads_used_swap())
		SKIP(return, "this kernel has no test_resume with a swap in use");
	ASSERT_EQ(0, open_own(&images));
	child = fork();
	ASSERT_LE(0, child);
	pin_to(!!child);
	if (!child)
		spin();
	wait_ms(100);
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	wait_ms(100);
	ASSERT_EQ(0, write_file(STATE, "disk"));
	EXPECT_TRUE(ended_by_sleep(&self->nl, self->id));
	EXPECT_TRUE(outlives_its_process(&self->nl, self->id, &images, child));
	images_free(&images);
	EXPECT_TRUE(traces_again(&self->nl, self->id));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* Events that are kept take all the room there is; 0: none can be made here. */
static uint32_t make_warnings(struct kipt_nl *nl)
{
	uint64_t room = machine_parameter("snapshots");

	while (room-- && !write_file(CRASHER, "warn"))
		wait_ms(1100);
	return kipt_snapshot_newest(nl);
}

/* Where the machine goes off, the TSC is younger then, and no event is so soon. */
TEST_F_TIMEOUT(latch, warning_after_hibernation_is_kept, 300)
{
	uint32_t before;

	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	if (access(CRASHER, W_OK))
		SKIP(return, "selftests/crash/crasher, which makes warnings, is not loaded");
	ASSERT_EQ(0, write_file(DISK, getenv("KIPT_TEST_SUSPEND")));
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	self->want.flags = ARMED;
	self->id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	before = make_warnings(&self->nl);
	ASSERT_LT(0, before);
	ASSERT_EQ(0, write_file(STATE, "disk"));
	EXPECT_TRUE(goes_on(&self->nl, self->id));
	EXPECT_EQ(0, write_file(CRASHER, "warn"));
	wait_ms(1000);
	EXPECT_LT(before, kipt_snapshot_newest(&self->nl));
	kipt_snapshots_delete(&self->nl);
	EXPECT_EQ(0, kipt_session_del(&self->nl, self->id));
}

#include "kipt_main.h"
