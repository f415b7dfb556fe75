// SPDX-License-Identifier: GPL-2.0-only
/*
 * mark COMMAND...: runs a command between two marks, so that the plugin
 * tools/bench/kernel/plugin.c counts the instructions of it, the kernel's for
 * it included. All on one CPU: the plugin counts for each vCPU apart.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kernel/marks.h"

#define MARK(displacement)						\
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80; .long %c0"		\
			 : : "i" (displacement) : "memory")

int main(int argc, char **argv)
{
	int status = 0;
	pid_t child;

	if (argc < 2)
		return 2;
	MARK(BENCH_MARK_BEGIN);
	child = fork();
	if (!child) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 1;
	MARK(BENCH_MARK_END);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
