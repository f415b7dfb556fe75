/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the stress did, a line each, in a file for each actor: the judge reads
 * from it who traced a CPU when, and what explains a loss. Times are those of
 * the TSC, which the test CPU's truth has too.
 */
#ifndef KIPT_STRESS_TRAIL_H
#define KIPT_STRESS_TRAIL_H

#include <stdint.h>

/**
 * struct trail - the file of one actor
 * @fd: it; lines are written whole, so that processes may share it
 * @actor: name that begins each line
 */
struct trail {
	int fd;
	char actor[16];
};

/* Make the file log.@actor in @dir. Return: 0 or a negative errno. */
int trail_open(struct trail *trail, const char *dir, const char *actor);

/* The time now. */
static inline uint64_t trail_now(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/*
 * Write a line: from @begin to now something was done, with @result (0 or a
 * negative errno), and what it was: words, and the kernel's sentence last.
 */
void trail_line(struct trail *trail, uint64_t begin, int result,
		const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif /* KIPT_STRESS_TRAIL_H */
