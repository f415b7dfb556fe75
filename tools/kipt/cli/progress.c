// SPDX-License-Identifier: GPL-2.0-only
/*
 * Progress line and interruption flag, see progress.h. The only state of the
 * tool that a signal handler touches is here.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "signals.h"

static atomic_bool interrupted;
static bool shown;
static _Thread_local bool left;

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

void progress_leave(bool leave)
{
	left = leave;
}

double progress_seconds(void)
{
	return (double)now_ns() / 1e9;
}

/* Asked once: the callers come often. */
static bool on_terminal(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = isatty(STDERR_FILENO);
	return answer;
}

void progress_show(const char *what, u64 done, u64 total)
{
	static u64 last;
	u64 now;

	if (left || !on_terminal())
		return;
	now = now_ns() / 1000000;
	if (now - last < 200)
		return;
	last = now;
	shown = true;
	if (total)
		fprintf(stderr, "\r%s: %3u %% of %.1f MiB ", what,
			(unsigned int)(done * 100 / total),
			(double)total / 1048576);
	else
		fprintf(stderr, "\r%s: %.1f MiB ", what,
			(double)done / 1048576);
}

void progress_clear(void)
{
	if (left)
		return;
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
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
