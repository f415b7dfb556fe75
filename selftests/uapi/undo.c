// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel sends a keeper a signal when the process that it watches has ended:
 * the signal for the death of a parent.
 */
#include "undo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_all_but(int keep_fd)
{
	if (keep_fd < 0) {
		syscall(SYS_close_range, 3, ~0U, 0);
		return;
	}
	if (keep_fd > 3)
		syscall(SYS_close_range, 3, keep_fd - 1, 0);
	syscall(SYS_close_range, keep_fd + 1, ~0U, 0);
}

/* The parent reads the other end of @ready: a byte says that all is set up. */
static void keep_watch(pid_t parent, int ready, void (*put_back)(void *arg),
		       void *arg, int keep_fd)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (write(ready, "", 1) == 1) {
		close_all_but(keep_fd);
		if (getppid() == parent)
			sigwait(&set, &signal);
		put_back(arg);
	}
	_exit(0);
}

pid_t undo_begin(void (*put_back)(void *arg), void *arg, int keep_fd)
{
	pid_t parent = getpid(), keeper;
	int pipes[2];
	char byte;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	keeper = fork();
	if (!keeper)
		keep_watch(parent, pipes[1], put_back, arg, keep_fd);
	if (keeper < 0)
		keeper = -errno;
	close(pipes[1]);
	if (keeper > 0 && read(pipes[0], &byte, 1) != 1)
		keeper = -ECHILD;
	close(pipes[0]);
	return keeper;
}

void undo_now(pid_t *keeper)
{
	if (*keeper <= 0)
		return;
	/* Who gave up its rights may not end it; then the end of the test does. */
	if (!kill(*keeper, SIGTERM))
		waitpid(*keeper, NULL, 0);
	*keeper = 0;
}

static struct {
	const char *path;
	char found[32];
	pid_t keeper;
} knob;

static int write_knob(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int read_knob(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, room - 1);
	close(fd);
	if (got <= 0)
		return -EIO;
	text[got] = 0;
	return 0;
}

static void write_found(void *arg)
{
	(void)arg;
	write_knob(knob.path, knob.found);
}

int knob_set(const char *path, const char *text)
{
	int ret;

	knob_back();
	ret = read_knob(path, knob.found, sizeof(knob.found));
	if (ret)
		return ret;
	knob.path = path;
	knob.keeper = undo_begin(write_found, NULL, -1);
	if (knob.keeper < 0)
		return knob.keeper;
	ret = write_knob(path, text);
	if (ret)
		undo_now(&knob.keeper);
	return ret;
}

int knob_back(void)
{
	int ret;

	if (knob.keeper <= 0)
		return 0;
	/* What the write returns is for the test to see; it does no harm twice. */
	ret = write_knob(knob.path, knob.found);
	undo_now(&knob.keeper);
	return ret;
}
