/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a command and its descendants under ptrace, only to be there when
 * they fork and before they exit, while their memory can still be read.
 */
#ifndef KIPT_TRACED_COMMAND_H
#define KIPT_TRACED_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

#include "../symbols/process_maps.h"

/**
 * struct child_task - a task that is followed
 * @tid: its number
 * @resumed: TSC when it was last let go on
 * @since: of its process: TSC, before its program executed anything, and after
 *	the one before that did for the last time
 * @loader, @loader_end: addresses of the dynamic loader's code, while nothing but that
 *	is known to have run; else 0
 * @loader_calls: system calls that it made
 */
struct child_task {
	pid_t tid;
	u64 resumed;
	u64 since;
	u64 loader, loader_end;
	u32 loader_calls;
};

/**
 * struct child_entry - a program that has not come to its entry point yet
 * @tid: its task
 * @address: of the entry point; a breakpoint is there
 * @word: what was there before
 */
struct child_entry {
	pid_t tid;
	unsigned long address;
	long word;
};

/**
 * struct child_death - a signal that is about to kill a process
 * @tid: the task that gets it
 * @pid: its process
 * @number: SIGSEGV, SIGABRT, SIGILL, SIGBUS or SIGFPE
 * @code: si_code: who sent it, or which fault it was
 * @address: of the fault, as the signal has it; 0 if somebody sent it
 * @ip: the instruction that faulted, or the one after the last
 * @cpu: where the task runs, -1 if not known
 * @comm: name of the task
 */
struct child_death {
	pid_t tid, pid;
	int number;
	int code;
	unsigned long address;
	unsigned long ip;
	int cpu;
	char comm[16];
};

/**
 * struct child - a command
 * @pid: its process
 * @go: written to let it begin
 * @failure: what it could not be started for is read here
 * @maps: gets the mappings of all processes
 * @exiting: called for each task that is about to exit, held; may be NULL
 * @begins: called where /proc shows what a program has mapped that executed nothing yet,
 *	or only its loader, which has mapped its libraries: of task @tid, held, for
 *	process @pid, which may be one that it forked. @since is that of struct
 *	child_task. May be NULL, as
 * @ends: called for each such process before it exits, held
 * @dying: called for each task that gets a signal which kills its process, held,
 *	before the kernel writes a core dump; not for signals that the process
 *	handles or ignores; may be NULL
 * @loaded: for child_load(): called for each program that is about to run,
 *	held, once when only the program itself is mapped, once when its
 *	libraries are; returns true when that was waited for
 * @ctx: first argument of all
 * @held: the task that @loaded was waiting for, 0: none
 * @begun: it was let begin
 * @entries: breakpoints at entry points
 * @entry_count: how many
 * @tasks: all tasks that are traced
 * @task_count: how many
 */
struct child {
	pid_t pid;
	int go;
	int failure;
	struct maps *maps;
	void (*exiting)(void *ctx, pid_t tid, pid_t pid);
	void (*begins)(void *ctx, pid_t tid, pid_t pid, u64 since);
	void (*ends)(void *ctx, pid_t pid, u64 since);
	void (*dying)(void *ctx, const struct child_death *death);
	bool (*loaded)(void *ctx, pid_t tid);
	void *ctx;
	pid_t held;
	bool begun;
	struct child_entry *entries;
	size_t entry_count;
	struct child_task *tasks;
	size_t task_count;
};

/**
 * child_create() - fork the command; it waits before its exec
 * @child: @maps, @exiting, @loaded, @ctx are set, the rest is zero
 * @argv: the command, NULL at the end
 * @cpus: CPU list it may run on, or NULL: as this process
 *
 * Return: true, or false after a sentence.
 */
bool child_create(struct child *child, char **argv, const char *cpus);

/**
 * child_load() - let it begin, and go on until @loaded says so
 * @child: was created, with @loaded
 * @command: its name, for messages
 *
 * Return:
 * 1: a task is held there, and goes on with child_run().
 * 0: the command has ended before; nothing is left of it.
 * -1: after a sentence: it could not be started; nothing is left of it.
 */
int child_load(struct child *child, const char *command);

/**
 * child_run() - let it begin or go on, and wait for its end
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
 * child_abandon() - end a command that was created, loaded or not, and not run
 * @child: was created
 */
void child_abandon(struct child *child);

#endif /* KIPT_TRACED_COMMAND_H */
