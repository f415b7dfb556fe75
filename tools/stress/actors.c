// SPDX-License-Identifier: GPL-2.0-only
/*
 * The actors of the stress but those that own sessions. Each undoes what it
 * did before it ends.
 */
#include "actors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACING		"/sys/kernel/tracing/"
#define PERF_DATA	"/tmp/stress.perf.data"
#define WORDS_MAX	20

/* Sleep between @low and @high ms; not beyond the end. */
static void rest(struct actor *actor, unsigned int low, unsigned int high)
{
	unsigned int ms = low + rng_below(&actor->rng, high - low);

	while (ms && !atomic_load(actor->end)) {
		unsigned int part = ms < 50 ? ms : 50;

		usleep(part * 1000);
		ms -= part;
	}
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int set_online(struct actor *actor, unsigned int cpu, bool online)
{
	uint64_t since = trail_now();
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	trail_line(&actor->trail, since, 0, "hotplug setting cpu=%u online=%d",
		   cpu, online);
	ret = write_file(path, online ? "1" : "0");
	trail_line(&actor->trail, since, ret, "hotplug set cpu=%u online=%d",
		   cpu, online);
	return ret;
}

int actor_hotplug(struct actor *actor)
{
	while (!atomic_load(actor->end)) {
		/* The first CPU stays, as on most machines. */
		unsigned int cpu = 1 + rng_below(&actor->rng, actor->cpus - 1);

		set_online(actor, cpu, false);
		rest(actor, 100, 800);
		while (set_online(actor, cpu, true))
			usleep(100000);
		rest(actor, 4000, 12000);
	}
	return 0;
}

/* Run a program with its arguments, up to NULL, to its end, its words thrown
 * away. Return: its status.
 */
static int run_program(const char *name, ...)
{
	const char *words[WORDS_MAX + 1] = { name };
	int status, null, count = 1;
	pid_t child;
	va_list list;

	va_start(list, name);
	while (count < WORDS_MAX && (words[count] = va_arg(list, const char *)))
		count++;
	va_end(list);
	child = fork();
	if (!child) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(name, (char *const *)words);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

int actor_perf(struct actor *actor)
{
	static const char *const events[] = {
		"intel_pt//", "intel_pt//u", "intel_pt/noretcomp=1/k",
	};

	while (!atomic_load(actor->end)) {
		unsigned int ms = rng_below(&actor->rng, 400);
		const char *event = events[rng_below(&actor->rng, 3)];
		char cpu[16], seconds[16];
		uint64_t since = trail_now();
		int status;

		sprintf(cpu, "%u", rng_below(&actor->rng, actor->cpus));
		sprintf(seconds, "0.%03u", ms);
		trail_line(&actor->trail, since, 0, "perf recording cpu=%s", cpu);
		status = run_program("perf", "record", "-q", "-o", PERF_DATA,
				     "-m", ",64", "-e", event, "-C", cpu, "--",
				     "sleep", seconds, NULL);
		trail_line(&actor->trail, since, 0,
			   "perf recorded cpu=%s event=%s status=%d", cpu, event,
			   status);
		unlink(PERF_DATA);
		rest(actor, 3000, 9000);
	}
	return 0;
}

/**
 * struct patch - a way to have kernel text patched
 * @name: in the log
 * @on: file, and what is written to it to begin
 * @off: the same to end
 */
struct patch {
	const char *name;
	const char *on[2];
	const char *off[2];
};

static const struct patch patches[] = {
	{ "tracepoint-switch",
	  { TRACING "events/sched/sched_switch/enable", "1" },
	  { TRACING "events/sched/sched_switch/enable", "0" } },
	{ "tracepoint-syscall",
	  { TRACING "events/raw_syscalls/enable", "1" },
	  { TRACING "events/raw_syscalls/enable", "0" } },
	{ "static-key",
	  { "/proc/sys/kernel/sched_schedstats", "1" },
	  { "/proc/sys/kernel/sched_schedstats", "0" } },
	{ "kprobe",
	  { TRACING "events/kprobes/stress/enable", "1" },
	  { TRACING "events/kprobes/stress/enable", "0" } },
};

/* Modules of the distribution that need no hardware; the last has data only. */
static const char *const modules[] = { "dummy", "zram", "tcp_bic", "nls_utf8" };

static void toggle_patch(struct actor *actor)
{
	const struct patch *patch =
		&patches[rng_below(&actor->rng,
				   sizeof(patches) / sizeof(patches[0]))];
	uint64_t since = trail_now();
	int ret;

	trail_line(&actor->trail, since, 0, "text patching %s", patch->name);
	ret = write_file(patch->on[0], patch->on[1]);
	rest(actor, 50, 600);
	write_file(patch->off[0], patch->off[1]);
	trail_line(&actor->trail, since, ret, "text patched %s", patch->name);
}

static void cycle_module(struct actor *actor)
{
	const char *module = modules[rng_below(&actor->rng,
					 sizeof(modules) / sizeof(modules[0]))];
	uint64_t since = trail_now();
	int status;

	trail_line(&actor->trail, since, 0, "text patching module-%s", module);
	status = run_program("modprobe", module, NULL);
	rest(actor, 20, 300);
	run_program("rmmod", module, NULL);
	trail_line(&actor->trail, since, -status, "text patched module-%s",
		   module);
}

int actor_text(struct actor *actor)
{
	int ret = write_file(TRACING "kprobe_events",
			     "p:kprobes/stress vfs_read");

	if (ret)
		printf("# no kprobe can be made: %s\n", strerror(-ret));
	while (!atomic_load(actor->end)) {
		rest(actor, 1500, 5000);
		if (rng_chance(&actor->rng, 700))
			toggle_patch(actor);
		else
			cycle_module(actor);
	}
	write_file(TRACING "kprobe_events", "-:kprobes/stress");
	return 0;
}

static int load(const struct actor *actor)
{
	int fd = open(actor->module, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, actor->parameters, 0) ? -errno : 0;
	close(fd);
	return ret;
}

int actor_module(struct actor *actor)
{
	while (!atomic_load(actor->end)) {
		uint64_t since;
		int ret = -EAGAIN, tries;

		/* What is traced then is lost. */
		rest(actor, 20000, 80000);
		if (atomic_load(actor->end))
			break;
		since = trail_now();
		trail_line(&actor->trail, since, 0, "module removing");
		for (tries = 0; ret == -EAGAIN && tries < 500; tries++) {
			ret = syscall(SYS_delete_module, "kipt", O_NONBLOCK) ?
			      -errno : 0;
			if (ret)
				usleep(10000);
		}
		trail_line(&actor->trail, since, ret, "module removed");
		rest(actor, 10, 1000);
		if (!ret)
			ret = load(actor);
		trail_line(&actor->trail, since, ret, "module loaded");
	}
	return 0;
}

int actor_suspend(struct actor *actor)
{
	int ret = write_file("/sys/power/pm_test", "freezer");

	write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
	if (ret) {
		printf("# suspend cannot be tried: %s\n", strerror(-ret));
		return 0;
	}
	while (!atomic_load(actor->end)) {
		uint64_t since;

		rest(actor, 10000, 40000);
		if (atomic_load(actor->end))
			break;
		since = trail_now();
		trail_line(&actor->trail, since, 0, "suspend begins");
		ret = write_file("/sys/power/state", "mem");
		trail_line(&actor->trail, since, ret, "suspend ends");
	}
	return 0;
}
