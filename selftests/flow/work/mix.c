// SPDX-License-Identifier: GPL-2.0-only
/*
 * mix DIR CPUS ROUNDS: runs the programs of DIR on each of CPUS ("0,1") at
 * the same time: branches (64 and 32-bit code) and system beside each other
 * on every CPU, so that they also interrupt and displace each other. Prints
 * which process is what, as "process PID is PROGRAM on CPU N". Exits 0 when all
 * did; a program that is not there is named and left out. Runs in the guest,
 * traced.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/**
 * struct program - one program of the mix
 * @name: file in DIR
 * @divisor: it runs ROUNDS / @divisor rounds, at least 1
 */
struct program {
	const char *name;
	unsigned int divisor;
};

static const struct program programs[] = {
	{ "branches", 1 },
	{ "branches32", 2 },
	{ "system", 40 },
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "mix: cannot run on CPU %d: %s\n", cpu,
			strerror(errno));
		exit(1);
	}
}

static pid_t start(const char *dir, const struct program *program, int cpu,
		   unsigned int rounds)
{
	char path[4096], count[16];
	pid_t child;

	snprintf(path, sizeof(path), "%s/%s", dir, program->name);
	if (access(path, X_OK)) {
		fprintf(stderr, "mix: %s is left out: %s\n", path,
			strerror(errno));
		return 0;
	}
	child = fork();
	if (child) {
		if (child > 0)
			dprintf(STDOUT_FILENO, "process %d is %s on CPU %d\n",
				(int)child, program->name, cpu);
		return child;
	}
	pin(cpu);
	rounds /= program->divisor;
	snprintf(count, sizeof(count), "%u", rounds ? rounds : 1);
	execl(path, path, count, (char *)NULL);
	fprintf(stderr, "mix: %s: %s\n", path, strerror(errno));
	_exit(127);
}

static int wait_all(int n)
{
	int failed = 0, status;

	while (n--) {
		pid_t pid = wait(&status);

		if (pid < 0 || status) {
			fprintf(stderr, "mix: process %d ended with status %x\n",
				(int)pid, (unsigned int)status);
			failed = 1;
		}
	}
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int n = sizeof(programs) / sizeof(programs[0]), i;
	int started = 0;
	char *cpu;

	if (argc != 4) {
		fprintf(stderr, "usage: mix DIR CPUS ROUNDS\n");
		return 2;
	}
	for (cpu = strtok(argv[2], ","); cpu; cpu = strtok(NULL, ","))
		for (i = 0; i < n; i++)
			if (start(argv[1], &programs[i], atoi(cpu),
				  (unsigned int)atoi(argv[3])) > 0)
				started++;
	return wait_all(started);
}
