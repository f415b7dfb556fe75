/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every test of the interface starts from: the harness, a connection,
 * the reason to skip, some work to trace, and a way to run something with
 * other rights. Included once by each test program.
 */
#ifndef KIPT_TEST_H
#define KIPT_TEST_H

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kipt_nl.h"
#include "undo.h"

#define SIZE_MIN	65536ULL
#define SIZE_USUAL	(1ULL << 20)

/* Flags of what `kipt arm` makes, and with --user. */
#define ARMED		(KIPT_SESSION_FLAGS_DETACHED | KIPT_SESSION_FLAGS_ARMED)
#define ARMED_USER	(ARMED | KIPT_SESSION_FLAGS_USER)

/* Skip the test, or the fixture's setup, where it cannot run. */
#define SKIP_IF(reason)							\
	do {								\
		const char *reason_ = (reason);				\
									\
		if (reason_)						\
			SKIP(return, "%s", reason_);			\
	} while (0)

/*
 * Skip for what the machine has to have: the module, PT, /dev/cpu/N/msr. Where
 * KIPT_REQUIRE=1 promises all of that, it is a failure.
 */
#define NEED(reason)							\
	do {								\
		const char *lack_ = (reason);				\
									\
		if (lack_ && is_set("KIPT_REQUIRE")) {			\
			TH_LOG("KIPT_REQUIRE=1, but %s", lack_);	\
			ASSERT_EQ(NULL, lack_);				\
		}							\
		SKIP_IF(lack_);						\
	} while (0)

/* What others on the same machine would notice: only where that is allowed. */
#define DISRUPTS(what)							\
	SKIP_IF(is_set("KIPT_TEST_DISRUPTIVE") ? NULL :			\
		what ": set KIPT_TEST_DISRUPTIVE=1")
#define TAKES_CPU1()							\
	do {								\
		DISRUPTS("it takes CPU 1 offline");			\
		SKIP_IF(access(CPU1_ONLINE, W_OK) ?			\
			"CPU 1 cannot be taken offline" : NULL);	\
	} while (0)

/* Is an environment variable 1? */
static inline bool is_set(const char *name)
{
	const char *text = getenv(name);

	return text && !strcmp(text, "1");
}

/* Above 0: tests do less of what takes a while, since it is done elsewhere. */
static inline int how_short(void)
{
	const char *text = getenv("KIPT_TEST_SHORT");

	return text ? atoi(text) : 0;
}

static inline unsigned int unless_short(unsigned int whole, unsigned int less)
{
	return how_short() ? less : whole;
}

/* A connection that is opened, and a good session's wishes. */
FIXTURE(kipt)
{
	struct kipt_nl nl;
	struct kipt_want want;
};

FIXTURE_SETUP(kipt)
{
	NEED(kipt_missing());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_USUAL,
		.ctl = CTL_BASIC,
	};
}

FIXTURE_TEARDOWN(kipt)
{
	knob_back();
	kipt_nl_close(&self->nl);
}

/* A size this CPU can have, and the mode in which it keeps all that fits. */
static inline uint64_t size_up_to(uint64_t size)
{
	return kipt_one_block() && size > KIPT_BLOCK_MAX ? KIPT_BLOCK_MAX :
							   size;
}

static inline uint32_t mode_that_keeps(void)
{
	return kipt_one_block() ? KIPT_MODE_RING : KIPT_MODE_ONCE;
}

static inline void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline void wait_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* In a kernel full of checks everything takes KIPT_SLOWNESS times as long. */
static inline int slowness(void)
{
	const char *text = getenv("KIPT_SLOWNESS");
	int times = text ? atoi(text) : 1;

	return times > 1 ? times : 1;
}

/* Some kernel and user code for a trace, on this CPU. */
static inline void work(unsigned int rounds)
{
	unsigned int i;

	for (i = 0; i < rounds; i++)
		syscall(SYS_getppid);
}

/* Write a text to a file of sysfs. Return: 0 or a negative errno. */
static inline int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

/* Run @run in a child. Return: what it returned, 0 to 250; 255: it died. */
static inline int in_child(int (*run)(void *arg), void *arg)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(run(arg));
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

/* A fault that kills. */
static inline void read_nothing(void)
{
	asm volatile("movl 0x10, %%eax" : : : "eax");
}

/* Let a child die of it. Return: whether it did. */
static inline bool child_is_killed(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		read_nothing();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/* Memory is freed by work items: has all of it gone after a while? */
static inline bool memory_is_free(struct kipt_nl *nl)
{
	int tries;

	for (tries = 0; tries < 250 * slowness() && kipt_memory(nl); tries++)
		wait_ms(20);
	return kipt_memory(nl) == 0;
}

/* Does a refusal's sentence name @word, in any case of letters? */
static inline bool says(const struct kipt_nl *nl,
				       const char *word)
{
	return strcasestr(nl->why, word) != NULL;
}

#endif /* KIPT_TEST_H */
