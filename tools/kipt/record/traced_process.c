// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process by its pidfd, see traced_process.h: its number may be another's when it
 * has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../cli/progress.h"
#include "traced_process.h"

/* A signal may come just before the wait. */
#define WAIT_MS	200

int target_open(u32 pid)
{
	int target = syscall(SYS_pidfd_open, (pid_t)pid, 0);

	if (target >= 0)
		return target;
	if (errno == ESRCH)
		say_error("--pid %u: there is no such process (ESRCH)", pid);
	else if (errno == EINVAL || errno == ENOENT)
		say_error("--pid %u: that is a thread, give the id of its process (%s)",
			  pid, say_errno_name(errno));
	else
		say_errno(errno, "--pid %u: cannot take the process", pid);
	return -1;
}

bool target_lives(int target)
{
	struct pollfd poll_for = { .fd = target, .events = POLLIN };

	return poll(&poll_for, 1, 0) <= 0;
}

int target_signal(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		say_errno(errno, "cannot wait for SIGUSR2");
	return fd;
}

static bool signal_came(int signal)
{
	struct signalfd_siginfo info;

	return signal >= 0 && read(signal, &info, sizeof(info)) == sizeof(info);
}

bool target_wait(int target, int signal)
{
	struct pollfd poll_for[2] = {
		{ .fd = target, .events = POLLIN },
		{ .fd = signal, .events = POLLIN },
	};

	if (signal_came(signal))
		say_note("SIGUSR2 came while nothing was traced: there is no snapshot for it");
	while (!progress_interrupted()) {
		if (poll(poll_for, 2, WAIT_MS) <= 0)
			continue;
		if (poll_for[0].revents)
			return false;
		if (signal_came(signal))
			return true;
	}
	return false;
}
