// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing CPUs, see pin.h. The last CPU: the first ones are where interrupts
 * and idle users go. User space.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "pin.h"

static cpu_set_t allowed;
static int count;

static void allowed_read(void)
{
	if (count)
		return;
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	count = CPU_COUNT(&allowed);
}

void bench_pin_one(void)
{
	cpu_set_t one;
	int cpu;

	allowed_read();
	CPU_ZERO(&one);
	for (cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

int bench_pin_none(void)
{
	allowed_read();
	sched_setaffinity(0, sizeof(allowed), &allowed);
	return count;
}
