// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress: all that can happen to kipt at the same time. Starts the actors,
 * waits, ends them, and leaves their logs and the fetched records in a folder
 * for the judge. Runs in the test machine as root, with the module loaded.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "actors.h"

static const char usage[] =
"usage: stress --dir DIR --logs DIR --work DIR --module FILE [OPTION...]\n"
"\n"
"  --dir DIR          where fetched records go\n"
"  --logs DIR         where logs go\n"
"  --work DIR         where the programs to trace are\n"
"  --module FILE      kipt.ko, to load it again\n"
"  --parameters TEXT  parameters it is loaded with\n"
"  --seconds N        how long; 600 unless given\n"
"  --seed N           other decisions; 1 unless given\n"
"  --actors LIST      only these, by name, separated by commas\n";

/* struct part - an actor and its name */
struct part {
	const char *name;
	int (*act)(struct actor *actor);
};

static const struct part parts[] = {
	{ "s0", actor_sessions },
	{ "s1", actor_sessions },
	{ "m0", actor_short_of_memory },
	{ "hotplug", actor_hotplug },
	{ "perf", actor_perf },
	{ "text", actor_text },
	{ "witness", actor_witness },
	{ "module", actor_module },
	{ "suspend", actor_suspend },
};

#define PARTS	(sizeof(parts) / sizeof(parts[0]))

struct options {
	struct actor actor;
	unsigned int seconds;
	uint64_t seed;
	const char *actors;
};

static bool is_wanted(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
			return true;
	return !list;
}

static pid_t start(const struct options *options, unsigned int index)
{
	struct actor actor = options->actor;
	pid_t child;
	int ret;

	actor.name = parts[index].name;
	actor.rng.state = options->seed * 1000 + index;
	fflush(stdout);
	child = fork();
	if (child)
		return child;
	ret = trail_open(&actor.trail, actor.logs, actor.name);
	if (ret) {
		printf("# no log in %s: %s\n", actor.logs, strerror(-ret));
		_exit(1);
	}
	ret = parts[index].act(&actor);
	fflush(stdout);
	_exit(ret);
}

/* What the logs have so far, in a line now and then. */
static void show_progress(const char *logs, unsigned int now, unsigned int all)
{
	char command[512];

	printf("# %u of %u s: ", now, all);
	fflush(stdout);
	snprintf(command, sizeof(command),
		 "cd %s && echo \"$(cat log.* | grep -c ' new ') sessions, $(cat log.* | grep -c ' start ') starts, $(cat log.* | grep -c ' fetch ') fetches\"",
		 logs);
	if (system(command))
		printf("?\n");
	fflush(stdout);
}

static int wait_all(unsigned int count)
{
	int failed = 0, status;

	while (count--)
		if (wait(&status) < 0 || status) {
			printf("# an actor ended with status %x\n", status);
			failed = 1;
		}
	return failed;
}

static int run(const struct options *options, atomic_bool *end)
{
	unsigned int count = 0, i, second;

	for (i = 0; i < PARTS; i++)
		if (is_wanted(options->actors, parts[i].name) &&
		    start(options, i) > 0)
			count++;
	for (second = 1; second <= options->seconds; second++) {
		sleep(1);
		if (second % 20 == 0)
			show_progress(options->actor.logs, second,
				      options->seconds);
	}
	atomic_store(end, true);
	return wait_all(count);
}

static bool take_option(struct options *o, int option)
{
	switch (option) {
	case 'd':
		o->actor.dir = optarg;
		return true;
	case 'l':
		o->actor.logs = optarg;
		return true;
	case 'w':
		o->actor.work = optarg;
		return true;
	case 'm':
		o->actor.module = optarg;
		return true;
	case 'p':
		o->actor.parameters = optarg;
		return true;
	case 's':
		o->seconds = (unsigned int)strtoul(optarg, NULL, 10);
		return o->seconds > 0;
	case 'e':
		o->seed = strtoull(optarg, NULL, 0);
		return true;
	case 'a':
		o->actors = optarg;
		return true;
	default:
		return false;
	}
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "logs", required_argument, NULL, 'l' },
		{ "work", required_argument, NULL, 'w' },
		{ "module", required_argument, NULL, 'm' },
		{ "parameters", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'e' },
		{ "actors", required_argument, NULL, 'a' },
		{ NULL, 0, NULL, 0 }
	};
	struct options options = {
		.seconds = 600,
		.seed = 1,
		.actor = { .parameters = "" },
	};
	atomic_bool *end = mmap(NULL, sizeof(*end), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (!take_option(&options, option)) {
			fputs(usage, stderr);
			return 2;
		}
	if (!options.actor.dir || !options.actor.logs ||
	    !options.actor.work || !options.actor.module ||
	    end == MAP_FAILED) {
		fputs(usage, stderr);
		return 2;
	}
	options.actor.end = end;
	options.actor.cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	return run(&options, end);
}
