/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command and its descendants under ptrace, only to be there when
 * they fork and before they exit, while their memory can still be read.
 */
#ifndef KIPT_CHILD_H
#define KIPT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "maps.h"

/**
 * struct child - a command
 * @pid: its process
 * @go: written to let it begin
 * @failure: what it could not be started for is read here
 * @maps: gets the mappings of all processes
 * @exiting: called for each process that is about to exit, held; may be NULL
 * @ctx: its first argument
 * @tids: all tasks that are traced
 * @tid_count: how many
 */
struct child {
	pid_t pid;
	int go;
	int failure;
	struct maps *maps;
	void (*exiting)(void *ctx, pid_t tid, pid_t pid);
	void *ctx;
	pid_t *tids;
	size_t tid_count;
};

/**
 * child_create() - fork the command; it waits before its exec
 * @child: @maps, @exiting, @ctx are set; the rest is filled
 * @argv: the command, NULL at the end
 * @cpus: CPU list it may run on, or NULL: as this process
 *
 * Return: true, or false after a sentence.
 */
bool child_create(struct child *child, char **argv, const char *cpus);

/**
 * child_run() - let it begin, and wait for its end
 * @child: was created
 * @command: its name, for messages
 *
 * Ctrl-C reaches it as it would without kipt; SIGINT and SIGTERM that are
 * sent to kipt alone are passed on. Descendants that go on are let go.
 *
 * Return: its exit status as a shell has it (128 + n for signal n), or -1
 * after a sentence if it could not be started.
 */
int child_run(struct child *child, const char *command);

/**
 * child_abandon() - end a command that was created and not run
 * @child: was created
 */
void child_abandon(struct child *child);

#endif /* KIPT_CHILD_H */
