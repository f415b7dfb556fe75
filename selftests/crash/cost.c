// SPDX-License-Identifier: GPL-2.0-only
/*
 * cost CPU: how many instructions a system call, a context switch and a sleep
 * take on a CPU, user space and kernel together, by the count of a test CPU with
 * insn-count=on. Of many tries the least counts: in the others an interrupt
 * came. The same kernel takes the same path, so this is no matter of time. Runs
 * as root in the test machine.
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define INSN_COUNT_LEAF	0x4b495054
#define TRIES		3000
#define SLEEPS		150
#define SLEEP_NS	20000000

static uint64_t insns(void)
{
	uint32_t a = INSN_COUNT_LEAF, b, c = 0, d;

	asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d) : : "memory");
	return (uint64_t)d << 32 | a;
}

static void call(void)
{
	syscall(SYS_getppid);
}

static long switches(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_nvcsw;
}

/* The other process of this priority does the same: there and back. */
static void yield(void)
{
	syscall(SYS_sched_yield);
}

/* Nobody else is on this CPU, so it idles; not if the time is up at once. */
static void rest(void)
{
	const struct timespec time = { .tv_nsec = SLEEP_NS };

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

/* @sleeps: only tries in which the process was not on the CPU count. */
static void measure(const char *name, void (*act)(void), bool sleeps,
		    unsigned int tries)
{
	uint64_t least = UINT64_MAX;

	while (tries--) {
		long before = switches();
		uint64_t begin = insns(), taken;

		act();
		taken = insns() - begin;
		if (taken < least && (!sleeps || switches() != before))
			least = taken;
	}
	printf("%s %" PRIu64 "\n", name, least);
}

static bool prepare(const char *cpu)
{
	const struct sched_param param = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(atoi(cpu), &set);
	return !sched_setaffinity(0, sizeof(set), &set) &&
	       !sched_setscheduler(0, SCHED_FIFO, &param);
}

int main(int argc, char **argv)
{
	uint64_t begin = insns();
	pid_t other;

	if (argc != 2 || !prepare(argv[1])) {
		fprintf(stderr, "usage: cost CPU, as root\n");
		return 2;
	}
	if (insns() == begin) {
		fprintf(stderr, "cost: this CPU does not count instructions\n");
		return 2;
	}
	measure("call", call, false, TRIES);
	measure("sleep", rest, true, SLEEPS);
	other = fork();
	while (!other)
		yield();
	if (other < 0)
		return 1;
	measure("switches", yield, false, TRIES);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return 0;
}
