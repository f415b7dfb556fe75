// SPDX-License-Identifier: GPL-2.0-only
/*
 * Progress line and interruption flag, see progress.h. The only state of the
 * tool that a signal handler touches is here.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "signals.h"

/* Between two lines; and from when on the rate is known well enough. */
#define AGAIN_AFTER_MS	200
#define RATE_AFTER_MS	1000

static atomic_bool interrupted;
static bool shown, beside_lines;
static _Thread_local bool left;

/* What is being done: since when, from which byte on, how far, and when it was last shown. */
static struct {
	const char *what;
	u64 begun, from, done, last;
} work;

static u64 now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

void progress_leave(bool leave)
{
	left = leave;
}

double progress_seconds(void)
{
	return (double)now_ns(CLOCK_MONOTONIC) / 1e9;
}

/* One that can clear a line. Asked once: the callers come often. */
static bool on_terminal(void)
{
	static int answer = -1;
	const char *term;

	if (answer < 0) {
		term = getenv("TERM");
		answer = isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
	}
	return answer;
}

void progress_lines(bool lines)
{
	beside_lines = lines && isatty(STDOUT_FILENO);
}

u64 progress_total(FILE *file)
{
	struct stat st;

	return fstat(fileno(file), &st) || !S_ISREG(st.st_mode) ? 0 : (u64)st.st_size;
}

/* How fast it goes, and how long that takes with the rest. */
static void rate_show(u64 done, u64 total, u64 ms)
{
	double rate = (double)(done - work.from) * 1000 / (double)ms;
	u64 rest;

	if (ms < RATE_AFTER_MS || done <= work.from)
		return;
	fprintf(stderr, ", %.1f MiB/s", rate / 1048576);
	if (done >= total)
		return;
	rest = (u64)((double)(total - done) / rate) + 1;
	if (rest < 60)
		fprintf(stderr, ", %llu s left", (unsigned long long)rest);
	else
		fprintf(stderr, ", %llu min left", (unsigned long long)(rest + 59) / 60);
}

void progress_show(const char *what, u64 done, u64 total)
{
	u64 now;

	if (left || beside_lines || !on_terminal())
		return;
	/* Some callers come for each packet. */
	now = now_ns(CLOCK_MONOTONIC_COARSE) / 1000000;
	if (!work.what || strcmp(work.what, what) || done < work.done) {
		work.what = what;
		work.from = done;
		work.begun = now;
	}
	work.done = done;
	if (now - work.last < AGAIN_AFTER_MS)
		return;
	work.last = now;
	shown = true;
	fprintf(stderr, "\r%s: ", what);
	if (total)
		fprintf(stderr, "%3u %% of %.1f MiB", (unsigned int)(done * 100 / total),
			(double)total / 1048576);
	else
		fprintf(stderr, "%.1f MiB", (double)done / 1048576);
	rate_show(done, total, now - work.begun);
	fputs(" \033[K", stderr);
}

void progress_clear(void)
{
	if (left)
		return;
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
	work.what = NULL;
}

static void catch_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* What is being written is written to its end: SA_RESTART. */
void progress_catch(void)
{
	struct sigaction action = {
		.sa_handler = catch_signal,
		.sa_flags = SA_RESETHAND | SA_RESTART,
	};

	if (left)
		return;
	interrupted = 0;
	signals_to_end(&action);
}

bool progress_interrupted(void)
{
	return !left && interrupted;
}
