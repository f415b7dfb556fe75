// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU affinity, see affinity.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "affinity.h"
#include "session_words.h"

#define SET_BYTES	CPU_ALLOC_SIZE(KIPT_CPUS_MAX)

static void cpu_add(void *ctx, u32 cpu)
{
	if (cpu < KIPT_CPUS_MAX)
		CPU_SET_S(cpu, SET_BYTES, (cpu_set_t *)ctx);
}

static cpu_set_t *set_from(const char *list)
{
	cpu_set_t *set = calloc(1, SET_BYTES);

	if (set)
		args_cpus(list, cpu_add, set);
	return set;
}

static bool set_text(const cpu_set_t *set, char *text, size_t size)
{
	u32 cpu, last;
	size_t at = 0;

	text[0] = 0;
	for (cpu = 0; cpu < KIPT_CPUS_MAX; cpu = last + 1) {
		last = cpu;
		if (!CPU_ISSET_S(cpu, SET_BYTES, set))
			continue;
		while (last + 1 < KIPT_CPUS_MAX &&
		       CPU_ISSET_S(last + 1, SET_BYTES, set))
			last++;
		at += snprintf(text + at, size - at, "%s%u", at ? "," : "",
			       cpu);
		if (last > cpu && at < size)
			at += snprintf(text + at, size - at, "-%u", last);
		if (at >= size)
			return false;
	}
	return at;
}

bool cpus_own(const char *list, char *text, size_t size)
{
	cpu_set_t *set = set_from(list), *own = calloc(1, SET_BYTES);
	bool ok = false;

	if (!set || !own)
		say_errno(ENOMEM, "cannot look at the CPUs");
	else if (sched_getaffinity(0, SET_BYTES, own))
		say_errno(errno, "cannot get the CPU affinity");
	else {
		CPU_AND_S(SET_BYTES, set, set, own);
		ok = set_text(set, text, size);
		if (!ok && *text)
			say_error("the list of the CPUs this process may run on is longer than %zu characters: name some with --cpus",
				  size - 1);
		else if (!ok)
			say_error("none of the CPUs this process may run on has PT (those are: %s)",
				  *list ? list : "none");
	}
	free(set);
	free(own);
	return ok;
}

/* A list that the kernel has in a file, or NULL. */
static cpu_set_t *set_read(const char *path)
{
	char text[KIPT_CPUS_TEXT + 1];
	FILE *file = fopen(path, "r");
	cpu_set_t *set = NULL;

	if (file && fgets(text, sizeof(text), file)) {
		text[strcspn(text, "\n")] = 0;
		set = set_from(text);
	}
	if (file)
		fclose(file);
	return set;
}

void cpus_present(const char *with_pt, char *text, size_t size)
{
	cpu_set_t *present = set_read("/sys/devices/system/cpu/present");
	cpu_set_t *online = set_read("/sys/devices/system/cpu/online");
	cpu_set_t *good = set_from(with_pt);

	if (present && online && good) {
		/* Online without PT: what is left of online without the good. */
		CPU_AND_S(SET_BYTES, good, good, online);
		CPU_XOR_S(SET_BYTES, online, online, good);
		CPU_AND_S(SET_BYTES, online, online, present);
		CPU_XOR_S(SET_BYTES, present, present, online);
	}
	if (!present || !online || !good || !set_text(present, text, size))
		snprintf(text, size, "%s", with_pt);
	free(present);
	free(online);
	free(good);
}

int cpus_pin(const char *list)
{
	cpu_set_t *set = set_from(list);
	int err = 0;

	if (!set)
		return -ENOMEM;
	if (sched_setaffinity(0, SET_BYTES, set))
		err = -errno;
	free(set);
	return err;
}

int cpus_try(const char *list)
{
	cpu_set_t *own = calloc(1, SET_BYTES);
	int err = own ? 0 : -ENOMEM;

	if (!err && sched_getaffinity(0, SET_BYTES, own))
		err = -errno;
	if (!err)
		err = cpus_pin(list);
	if (!err && sched_setaffinity(0, SET_BYTES, own))
		err = -errno;
	free(own);
	return err;
}

void cpus_leave(const char *list)
{
	cpu_set_t *set = set_from(list), *own = calloc(1, SET_BYTES);

	if (set && own && !sched_getaffinity(0, SET_BYTES, own)) {
		CPU_AND_S(SET_BYTES, set, set, own);
		CPU_XOR_S(SET_BYTES, own, own, set);
		if (CPU_COUNT_S(SET_BYTES, own))
			sched_setaffinity(0, SET_BYTES, own);
	}
	free(set);
	free(own);
}
