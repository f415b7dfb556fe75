// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command under ptrace, see child.h. Tasks are stopped at fork, at exit,
 * and for signals, and go on at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cpus.h"
#include "say.h"

#define TRACE_OPTIONS	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |	\
			 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT)

/* A signal that was sent to this process alone and is to be passed on. */
static atomic_int passed_on;

static void signal_caught(int number, siginfo_t *info, void *context)
{
	(void)context;
	/* The terminal sends to the whole group; the command has it too. */
	if (info->si_code <= 0)
		passed_on = number;
}

static void signals_catch(void)
{
	struct sigaction action = {
		.sa_sigaction = signal_caught,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void signals_default(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

static void child_exec(const int go[2], int failure, char **argv,
		       const char *cpus)
{
	int err = cpus ? -cpus_pin(cpus) : 0;
	char byte;

	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(127);
	if (!err) {
		execvp(argv[0], argv);
		err = errno;
	}
	if (write(failure, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static bool tid_add(struct child *child, pid_t tid)
{
	pid_t *tids;
	size_t i;

	for (i = 0; i < child->tid_count; i++) {
		if (child->tids[i] == tid)
			return true;
	}
	tids = realloc(child->tids, (child->tid_count + 1) * sizeof(*tids));
	if (!tids)
		return false;
	child->tids = tids;
	tids[child->tid_count++] = tid;
	return true;
}

static void tid_remove(struct child *child, pid_t tid)
{
	size_t i;

	for (i = 0; i < child->tid_count; i++) {
		if (child->tids[i] == tid) {
			child->tids[i] = child->tids[--child->tid_count];
			return;
		}
	}
}

bool child_create(struct child *child, char **argv, const char *cpus)
{
	int go[2], failure[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
		say_errno(errno, "cannot make a pipe");
		return false;
	}
	fflush(stdout);
	child->pid = fork();
	if (!child->pid)
		child_exec(go, failure[1], argv, cpus);
	close(go[0]);
	close(failure[1]);
	child->go = go[1];
	child->failure = failure[0];
	if (child->pid < 0) {
		say_errno(errno, "cannot fork");
		return false;
	}
	if (!ptrace(PTRACE_SEIZE, child->pid, NULL, TRACE_OPTIONS) &&
	    tid_add(child, child->pid)) {
		/* Until its exec it is a copy of this process. */
		maps_read_task(child->maps, child->pid, child->pid);
		return true;
	}
	say_errno(errno, "cannot follow '%s' with ptrace", argv[0]);
	child_abandon(child);
	return false;
}

void child_abandon(struct child *child)
{
	int status;

	close(child->go);
	close(child->failure);
	/* It would end by itself; a stop of ptrace's must not hold it. */
	kill(child->pid, SIGKILL);
	waitpid(child->pid, &status, __WALL);
	free(child->tids);
}

/* The process a task belongs to; the task itself if it is gone. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	pid_t pid = tid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return pid;
	while (fgets(line, sizeof(line), file) &&
	       sscanf(line, "Tgid: %d", &pid) != 1)
		;
	fclose(file);
	return pid;
}

/* A new process has its parent's program until its exec. */
static void on_fork(struct child *child, pid_t tid)
{
	unsigned long message = 0;
	pid_t made;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message))
		return;
	made = message;
	tid_add(child, made);
	if (process_of(made) == made)
		maps_read_task(child->maps, tid, made);
}

static void on_exit_event(struct child *child, pid_t tid)
{
	pid_t pid = process_of(tid);

	maps_read_task(child->maps, tid, pid);
	if (child->exiting)
		child->exiting(child->ctx, tid, pid);
}

/* Let a stopped task go on, in the way its stop asks for. */
static void on_stop(struct child *child, pid_t tid, int status)
{
	int event = status >> 16, number = WSTOPSIG(status);

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_fork(child, tid);
		break;
	case PTRACE_EVENT_EXIT:
		on_exit_event(child, tid);
		break;
	case PTRACE_EVENT_STOP:
		tid_add(child, tid);
		if (number != SIGTRAP) {
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
			return;
		}
	}
	ptrace(PTRACE_CONT, tid, NULL, (long)(event ? 0 : number));
}

static void rest_release(struct child *child)
{
	size_t i;
	int status;

	for (i = 0; i < child->tid_count; i++) {
		pid_t tid = child->tids[i], pid = process_of(tid);

		maps_read_task(child->maps, tid, pid);
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		if (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, NULL,
			       (long)(status >> 16 ? 0 : WSTOPSIG(status)));
	}
	free(child->tids);
	child->tids = NULL;
	child->tid_count = 0;
}

/* Until the command itself has ended; returns its wait status. */
static int events_take(struct child *child)
{
	int status;
	pid_t tid;

	for (;;) {
		tid = waitpid(-1, &status, __WALL);
		if (passed_on) {
			kill(child->pid, passed_on);
			passed_on = 0;
		}
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return -1;
		if (WIFSTOPPED(status)) {
			on_stop(child, tid, status);
			continue;
		}
		tid_remove(child, tid);
		if (tid == child->pid)
			return status;
	}
}

int child_run(struct child *child, const char *command)
{
	int err = 0, status;
	bool failed;

	signals_catch();
	if (write(child->go, "g", 1) != 1)
		say_errno(errno, "cannot let '%s' begin", command);
	close(child->go);
	status = events_take(child);
	rest_release(child);
	signals_default();
	failed = read(child->failure, &err, sizeof(err)) == sizeof(err);
	close(child->failure);
	if (failed) {
		say_errno(err, "cannot run '%s'", command);
		return -1;
	}
	if (status < 0) {
		say_error("lost '%s'", command);
		return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}
