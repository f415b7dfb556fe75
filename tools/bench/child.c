// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that measure, see child.h.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

/* The most memory that was ever resident; 0 if the kernel does not say. */
static u64 memory_most(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmHWM: %llu", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kib << 10;
}

static bool child_wait(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	if (WIFSIGNALED(status))
		fprintf(stderr, "bench: a measurement died of signal %d\n",
			WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

bool bench_child_run(bool (*work)(const void *ctx, struct bench_figure *figure),
		     const void *ctx, struct bench_figure *figure)
{
	struct bench_figure *shared = mmap(NULL, sizeof(*shared),
					   PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool good = false;
	pid_t child;
	u64 before;

	if (shared == MAP_FAILED) {
		perror("bench: mmap");
		return false;
	}
	fflush(NULL);
	/* The child shall find no memory that was used before. */
	malloc_trim(0);
	child = fork();
	if (!child) {
		before = memory_most();
		good = work(ctx, shared);
		shared->memory = memory_most() - before;
		_exit(!good);
	}
	if (child < 0)
		perror("bench: fork");
	else
		good = child_wait(child);
	*figure = *shared;
	munmap(shared, sizeof(*shared));
	return good;
}
