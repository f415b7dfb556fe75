// SPDX-License-Identifier: GPL-2.0-only
/*
 * leaks: does one thing a thousand times, looks at the machine's free memory
 * after every hundredth, and takes the median of the slopes between all pairs
 * of looks: memory that some cache holds for a while moves a few of them, a
 * page lost now and then moves all. To know that it would, a control loses a
 * page each time on purpose. After each thing kipt's own counters must be at
 * zero. Runs in the test machine, with the module loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/kipt.h>

#include "session_calls.h"

#define LOOKS		10
/* Fewer cycles are too few for the slope to say anything. */
#define ENOUGH		1000
/* An eighth of a page each time. */
#define SLOPE_MAX	0.5
#define PAGE		4096UL
#define LOST_MOST	65536UL

static const char usage[] =
"usage: leaks [CYCLES]\n"
"\n"
"Cycles of start and stop, of session-new and session-del with a start\n"
"between, of fetch, and of loading the module ($KIPT_MODULE); 1000 of each\n"
"unless given, and a tenth of it before, so that caches are filled. Of fewer\n"
"than 1000 only kipt's own counters are looked at.\n";

/**
 * struct test - what is done again and again
 * @name: in the result
 * @begin: before, or NULL
 * @cycle: once
 * @end: after, or NULL
 * @loses: it is to lose memory
 */
struct test {
	const char *name;
	bool (*begin)(void);
	bool (*cycle)(void);
	void (*end)(void);
	bool loses;
};

static struct client client;
static uint32_t session;
static char cpus[32];
static char left_command[256];
static unsigned int results;
static unsigned int failures;

static bool made(void)
{
	struct session_wish wish = {
		.cpus = cpus,
		.mode = KIPT_MODE_RING,
		.size = 65536,
	};

	return session_ok(&client, "session-new",
			  session_new(&client, &wish, &session));
}

static bool started(void)
{
	return session_ok(&client, "session-start",
			  session_start(&client, session));
}

static bool stopped(void)
{
	return session_ok(&client, "session-stop",
			  session_stop(&client, session));
}

static bool connected(void)
{
	return !client_open(&client);
}

static bool connected_and_made(void)
{
	return connected() && made();
}

static bool made_and_traced(void)
{
	return connected() && made() && started() &&
	       stopped();
}

static bool started_and_stopped(void)
{
	return started() && stopped();
}

static bool made_and_deleted(void)
{
	return made() && started() && session_ok(&client, "session-del",
					       session_del(&client, session));
}

static bool fetched(void)
{
	return session_ok(&client, "fetch",
			  session_fetch(&client, session,
					KIPT_OUTPUT_CALLS, NULL));
}

static void disconnect(void)
{
	client_close(&client);
}

/* An owner that just ends: its session goes with its socket. */
static bool owner_came_and_went(void)
{
	bool ok = connected() && made() && started();

	client_close(&client);
	return ok;
}

static bool loaded_again(void)
{
	const char *path = getenv("KIPT_MODULE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, tries;
	bool ok = false;

	/* What owners left is freed later. */
	for (tries = 0; !ok && tries < 500; tries++) {
		ok = !syscall(SYS_delete_module, "kipt", O_NONBLOCK);
		if (!ok)
			usleep(10000);
	}
	ok = ok && !syscall(SYS_finit_module, fd, "", 0);
	if (!ok)
		printf("# the module: %s\n", strerror(errno));
	close(fd);
	return ok;
}

/* Pages of a mapping, of which each time one more is touched. */
static char *pages;
static size_t touched;

static bool mapped(void)
{
	pages = mmap(NULL, LOST_MOST * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	/* Else one touch would take two MiB. */
	return pages != MAP_FAILED &&
	       !madvise(pages, LOST_MOST * PAGE, MADV_NOHUGEPAGE);
}

static bool lost_a_page(void)
{
	if (touched == LOST_MOST)
		return false;
	pages[touched++ * PAGE] = 1;
	return true;
}

static void unmapped(void)
{
	munmap(pages, LOST_MOST * PAGE);
}

static const struct test tests[] = {
	{ "control: a page lost each time is seen", mapped, lost_a_page,
	  unmapped, true },
	{ "start and stop", connected_and_made, started_and_stopped,
	  disconnect, false },
	{ "session-new, start, session-del", connected, made_and_deleted,
	  disconnect, false },
	{ "owners that go while they trace", NULL, owner_came_and_went, NULL,
	  false },
	{ "fetch", made_and_traced, fetched, disconnect, false },
	{ "the module's removal and loading", NULL, loaded_again, NULL, false },
};

static void write_knob(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		printf("# %s was not written\n", path);
	close(fd);
}

static long free_now(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemFree: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* KiB that are free when all is that can be: RCU and work items take a while. */
static double free_kib(void)
{
	long best = -1, now;
	int i;

	for (i = 0; i < 4; i++) {
		usleep(150000);
		write_knob("/proc/sys/vm/drop_caches", "3");
		now = free_now();
		best = now > best ? now : best;
	}
	return (double)best;
}

static bool cycle(const struct test *test, unsigned int times)
{
	while (times--)
		if (!test->cycle())
			return false;
	return true;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* KiB lost each cycle: the median of the slopes between all pairs. */
static double slope(const double *looks, unsigned int step)
{
	double slopes[(LOOKS + 1) * LOOKS / 2];
	unsigned int i, k, count = 0;

	for (i = 0; i <= LOOKS; i++)
		for (k = i + 1; k <= LOOKS; k++)
			slopes[count++] = (looks[i] - looks[k]) /
					  ((double)(k - i) * step);
	qsort(slopes, count, sizeof(slopes[0]), by_value);
	return slopes[count / 2];
}

static bool run_cycles(const struct test *test, unsigned int step, double *lost)
{
	double looks[LOOKS + 1];
	unsigned int i;

	if (!cycle(test, test->loses ? 1 : step))
		return false;
	looks[0] = free_kib();
	for (i = 1; i <= LOOKS; i++) {
		if (!cycle(test, step))
			return false;
		looks[i] = free_kib();
	}
	*lost = slope(looks, step);
	printf("# %s: %.3f KiB lost a cycle; free:", test->name, *lost);
	for (i = 0; i <= LOOKS; i++)
		printf(" %.0f", looks[i]);
	printf("\n");
	return true;
}

/* What is freed after its owner's end is waited for, some seconds at most. */
static bool nothing_is_left(void)
{
	FILE *f = popen(left_command, "r");
	bool nothing = f != NULL;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		printf("# left: %s", line);
		nothing = false;
	}
	return f && !pclose(f) && nothing;
}

static void run(const struct test *test, unsigned int cycles)
{
	double lost = 0;
	bool ok = !test->begin || test->begin();

	if (cycles < ENOUGH)
		ok = ok && cycle(test, cycles);
	else
		ok = ok && run_cycles(test, cycles / LOOKS, &lost) &&
		     (lost > SLOPE_MAX) == test->loses;
	if (test->end)
		test->end();
	ok = nothing_is_left() && ok;
	printf("%sok %u leaks %u cycles: %s\n", ok ? "" : "not ", ++results,
	       cycles, test->name);
	fflush(stdout);
	failures += !ok;
}

int main(int argc, char **argv)
{
	unsigned int cycles = argc > 1 ? (unsigned int)atoi(argv[1]) : 1000, i;

	if (argc > 2 || !cycles) {
		fputs(usage, stderr);
		return 2;
	}
	/* Each CPU keeps freed pages on lists of its own: make those short. */
	write_knob("/proc/sys/vm/percpu_pagelist_high_fraction", "100000");
	snprintf(cpus, sizeof(cpus), "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	snprintf(left_command, sizeof(left_command), "%.*sleft",
		 (int)(strrchr(argv[0], '/') ?
		       strrchr(argv[0], '/') + 1 - argv[0] : 0), argv[0]);
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (cycles >= ENOUGH || !tests[i].loses)
			run(&tests[i], cycles);
	printf("1..%u\n", results);
	return failures != 0;
}
