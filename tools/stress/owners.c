// SPDX-License-Identifier: GPL-2.0-only
/*
 * The actors that own sessions: each life is a process, and this is the one
 * that kills it, stops it for a while, or lets it come to its end.
 */
#include "actors.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "life.h"

/* No life takes longer, be the machine as slow as it may. */
#define LIFE_MS		240000
#define STEP_MS		10
#define CGROUPS		"/tmp/stress.cgroups"
#define TIGHT		CGROUPS "/tight"
#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define FAILPAGE	"/sys/kernel/debug/fail_page_alloc/"

/**
 * struct fate - what becomes of a life
 * @kill_ms: it is killed after that time; 0: it is not
 * @stop_ms: it is stopped after that time; 0: it is not
 * @stopped_ms: for how long
 */
struct fate {
	unsigned int kill_ms;
	unsigned int stop_ms;
	unsigned int stopped_ms;
};

static struct fate choose_fate(struct rng *rng)
{
	bool killed = rng_chance(rng, 120), stopped = rng_chance(rng, 150);
	struct fate fate = {
		.kill_ms = 1 + rng_below(rng, 1500),
		.stop_ms = 1 + rng_below(rng, 3000),
		.stopped_ms = 1 + rng_below(rng, 4000),
	};

	if (!killed)
		fate.kill_ms = 0;
	if (!stopped)
		fate.stop_ms = 0;
	return fate;
}

static void meet_fate(struct actor *actor, const struct life *life,
		      const struct fate *fate, pid_t pid, unsigned int ms)
{
	if (ms == fate->kill_ms) {
		trail_line(&actor->trail, trail_now(), 0, "life %s is killed",
			   life->name);
		kill(pid, SIGKILL);
	}
	if (ms == fate->stop_ms)
		kill(pid, SIGSTOP);
	if (fate->stop_ms && ms == fate->stop_ms + fate->stopped_ms)
		kill(pid, SIGCONT);
}

/* Wait for a life's end. Return: false when it had to be ended. */
static bool watch(struct actor *actor, const struct life *life,
		  const struct fate *fate, pid_t pid)
{
	uint64_t since = trail_now();
	unsigned int ms, part;
	int status;

	for (ms = 0; ms < LIFE_MS; ms += STEP_MS) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			trail_line(&actor->trail, since, 0,
				   "life %s ended status=%x", life->name, status);
			return true;
		}
		for (part = 0; part < STEP_MS; part++)
			meet_fate(actor, life, fate, pid, ms + part + 1);
		usleep(STEP_MS * 1000);
	}
	trail_line(&actor->trail, since, -ETIMEDOUT, "life %s is stuck",
		   life->name);
	kill(pid, SIGKILL);
	kill(pid, SIGCONT);
	waitpid(pid, &status, 0);
	return false;
}

/* @rest_ms: between two lives, at most. */
static int live_all(struct actor *actor, void (*enter)(void),
		    unsigned int rest_ms)
{
	unsigned int number = 0;

	while (!atomic_load(actor->end)) {
		struct fate fate = choose_fate(&actor->rng);
		struct life life = {
			.seed = rng_next(&actor->rng),
			.trail = &actor->trail,
			.dir = actor->dir,
			.work = actor->work,
			.cpus = actor->cpus,
			.short_work = fate.kill_ms || enter,
		};
		unsigned int rest = rng_below(&actor->rng, rest_ms);
		pid_t child;

		snprintf(life.name, sizeof(life.name), "%s.%u", actor->name,
			 number++);
		fflush(stdout);
		child = fork();
		if (!child) {
			if (enter)
				enter();
			_exit(life_run(&life));
		}
		if (child < 0 || !watch(actor, &life, &fate, child))
			return 1;
		while (rest-- && !atomic_load(actor->end))
			usleep(1000);
	}
	return 0;
}

int actor_sessions(struct actor *actor)
{
	return live_all(actor, NULL, 300);
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* What a life needs to run is more than its session's buffers may take. */
static int make_tight(void)
{
	char command[] = "mkdir -p " CGROUPS " && mount -t cgroup2 none " CGROUPS
			 " && echo +memory >" CGROUPS "/cgroup.subtree_control"
			 " && mkdir " TIGHT;

	if (system(command))
		return -EIO;
	write_file(TIGHT "/memory.swap.max", "0");
	return write_file(TIGHT "/memory.max", "24M");
}

/* Of the tasks that ask for it, one allocation in two hundred fails. */
static void make_failing(void)
{
	static const char *const folders[] = { FAILSLAB, FAILPAGE };
	static const char *const settings[][2] = {
		{ "task-filter", "Y" }, { "interval", "200" },
		{ "probability", "100" }, { "times", "-1" }, { "verbose", "0" },
		{ "ignore-gfp-wait", "N" }, { "min-order", "0" },
	};
	unsigned int i, k;
	char path[128];

	for (i = 0; i < 2; i++)
		for (k = 0; k < sizeof(settings) / sizeof(settings[0]); k++) {
			snprintf(path, sizeof(path), "%s%s", folders[i],
				 settings[k][0]);
			write_file(path, settings[k][1]);
		}
}

static void enter_tight(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	write_file(TIGHT "/cgroup.procs", pid);
	write_file("/proc/self/make-it-fail", "1");
}

int actor_short_of_memory(struct actor *actor)
{
	int ret = make_tight();

	trail_line(&actor->trail, trail_now(), ret, "memory is short");
	if (ret)
		printf("# there is no cgroup to be short of memory in\n");
	make_failing();
	ret = live_all(actor, enter_tight, 6000);
	rmdir(TIGHT);
	return ret;
}
