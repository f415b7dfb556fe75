// SPDX-License-Identifier: GPL-2.0-only
/*
 * Something to trace from beginning to end: sorting with a comparison by
 * pointer, recursion, a dispatch table, string instructions and system calls,
 * in a static program, whose code libipt reads from the file. Writes the raw
 * trace and prints nothing. Root, in the guest:
 *
 *	workload OUTPUT [CTL [ROUNDS]]
 *
 * With ROUNDS other than 3 the trace does not fit; what it took is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "guest_pt.h"

#define ITEMS	600

static unsigned int items[ITEMS];
static volatile unsigned int sink;
static int rounds = 3;

static int compare(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a;
	unsigned int y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

static unsigned int fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static unsigned int deep(unsigned int n)
{
	return n ? deep(n - 1) + 1 : 0;
}

static unsigned int add(unsigned int x)
{
	return x + 3;
}

static unsigned int twist(unsigned int x)
{
	return x << 3 ^ x >> 5;
}

static unsigned int (*const table[])(unsigned int) = { add, twist, fibonacci };

static void work(void)
{
	unsigned int x = 12345;
	char text[256];

	for (int round = 0; round < rounds; round++) {
		for (unsigned int i = 0; i < ITEMS; i++)
			items[i] = x = x * 1103515245 + 12345;
		qsort(items, ITEMS, sizeof(items[0]), compare);
		for (unsigned int i = 0; i < 200; i++)
			sink += table[x % 3](x % 12), x = x * 69069 + 1;
		sink += deep(200) + fibonacci(14);
		memset(text, (int)x, sizeof(text));
		sink += (unsigned int)strlen(text) + (unsigned int)getppid();
		snprintf(text, sizeof(text), "%u %s %g", x, "text", 1.5 * x);
		sink += (unsigned char)text[0];
	}
}

int main(int argc, char **argv)
{
	uint64_t ctl = RTIT_CTL_BRANCHEN | RTIT_CTL_USER;
	struct timespec begin, end;
	const char *why;
	size_t len;
	FILE *f;

	if (argc < 2 || !guest_open(1, &why)) {
		fprintf(stderr, "workload: %s\n",
			argc < 2 ? "OUTPUT [CTL]" : why);
		return 1;
	}
	if (argc > 2)
		ctl |= strtoull(argv[2], NULL, 0);
	if (argc > 3)
		rounds = atoi(argv[3]);
	guest_output(true);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	guest_run(ctl, work);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (argc > 3)
		printf("%d rounds in %ld ms\n", rounds,
		       (end.tv_sec - begin.tv_sec) * 1000 +
		       (end.tv_nsec - begin.tv_nsec) / 1000000);
	len = guest_trace_length();
	f = fopen(argv[1], "wb");
	if (!f || fwrite(guest_page + GUEST_TRACE, 1, len, f) != len ||
	    fclose(f)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
