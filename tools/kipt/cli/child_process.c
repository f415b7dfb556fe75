// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both sides of a process that is asked, see child_process.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "child_process.h"
#include "printable.h"
#include "progress.h"

#define HEAD		offsetof(struct helper_message, bytes)

/* Ctrl-C is seen at least so often, milliseconds. */
#define LOOK_MS		100
/* So long one that was killed may take to end: a file may hold it. */
#define END_MS		1000
/* Debug information of a program may be in some files. */
#define FILES_MAX	1024

/* It cannot be taken back, but for that of time, which each question moves. */
static void limit(int resource, u64 most)
{
	struct rlimit now;

	if (getrlimit(resource, &now))
		return;
	now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
	if (resource != RLIMIT_CPU)
		now.rlim_max = now.rlim_cur;
	setrlimit(resource, &now);
}

/* From now on, for one question. */
static void seconds_limit(u32 seconds)
{
	struct rusage usage;

	if (!getrusage(RUSAGE_SELF, &usage))
		limit(RLIMIT_CPU, usage.ru_utime.tv_sec +
				  usage.ru_stime.tv_sec + seconds + 1);
}

/* Neither this process's files nor its terminal are the library's. */
static void descriptors_leave(int channel, int fd)
{
	int nowhere = open("/dev/null", O_RDWR);
	int low = fd >= 0 && fd < channel ? fd : channel;
	int high = fd > channel ? fd : channel;
	int i;

	setsid();
	/* Who starts the tool without them gives their numbers to others. */
	for (i = 0; i < 3; i++) {
		if (i != channel && i != fd)
			dup2(nowhere, i);
	}
	if (low > 3)
		syscall(SYS_close_range, 3, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0U, 0);
}

/* Whoever becomes another user has to say so again. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

static void rights_leave(pid_t parent, u64 memory)
{
	end_with(parent);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* Its core would be root's, wherever cores go. */
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGXCPU, SIG_DFL);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NOFILE, FILES_MAX);
	limit(RLIMIT_AS, memory);
}

bool helper_become(uid_t uid, gid_t gid)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[2] = { { 0 } };
	pid_t parent = getppid();
	uid_t uids[3];
	gid_t gids[3];

	if (geteuid() == uid && uid)
		gid = getegid();
	else if (setgroups(0, NULL))
		return false;
	/* -1 would leave what it is. */
	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid) ||
	    getresgid(&gids[0], &gids[1], &gids[2]) ||
	    getresuid(&uids[0], &uids[1], &uids[2]) || gids[0] != gid ||
	    gids[1] != gid || gids[2] != gid || uids[0] != uid ||
	    uids[1] != uid || uids[2] != uid)
		return false;
	limit(RLIMIT_NPROC, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0);
	end_with(parent);
	return !syscall(SYS_capset, &head, none);
}

static void helper_run(struct helper *helper, int channel,
		       const struct helper_work *work)
{
	struct helper_message *message = &helper->message;
	ssize_t got;

	do {
		got = recv(channel, message, sizeof(*message), 0);
		if (got < (ssize_t)HEAD)
			break;
		seconds_limit(helper->seconds);
		work->serve(work->ctx, message);
		got = send(channel, message, HEAD + message->size,
			   MSG_NOSIGNAL);
	} while (got == (ssize_t)(HEAD + message->size));
	_exit(0);
}

bool helper_start(struct helper *helper, const struct helper_work *work)
{
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return false;
	fflush(NULL);
	helper->pid = fork();
	if (!helper->pid) {
		rights_leave(parent, work->memory);
		descriptors_leave(ends[1], work->fd);
		helper_run(helper, ends[1], work);
	}
	close(ends[1]);
	helper->channel = ends[0];
	if (helper->pid > 0)
		return true;
	helper->pid = 0;
	close(ends[0]);
	return false;
}

/* There is an answer, or the end of the process. */
static bool answer_wait(struct helper *helper)
{
	struct pollfd wait = { .fd = helper->channel, .events = POLLIN };
	int ready;

	while (!progress_interrupted()) {
		ready = poll(&wait, 1, LOOK_MS);
		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
		if (!ready && helper->wait_ms <= LOOK_MS) {
			helper->late = true;
			return false;
		}
		if (!ready)
			helper->wait_ms -= LOOK_MS;
	}
	return false;
}

bool helper_ask(struct helper *helper)
{
	struct helper_message *message = &helper->message;
	size_t size = HEAD + message->size;
	ssize_t got;

	if (!helper->pid)
		return false;
	/* There is room, unless it answered what it did not read. */
	if (send(helper->channel, message, size,
		 MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size &&
	    answer_wait(helper)) {
		got = recv(helper->channel, message, sizeof(*message),
			   MSG_DONTWAIT);
		if (got >= (ssize_t)HEAD && message->size == got - HEAD)
			return true;
	}
	helper_end(helper);
	return false;
}

bool helper_text(const struct helper_message *answer, char *text, size_t size)
{
	if (!answer->size || !size)
		return false;
	if (size > answer->size)
		size = answer->size;
	memcpy(text, answer->bytes, size);
	text[size - 1] = 0;
	plain_text(text);
	return true;
}

const char *helper_fate(const struct helper *helper, char *text, size_t size)
{
	int status = helper->status;

	if (helper->late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		snprintf(text, size, "took more than %u seconds",
			 helper->seconds);
	else
		snprintf(text, size, "was ended by a signal (%s)",
			 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
			 "none");
	return text;
}

/* Of one that is ending the status stays its own, whatever kills it again. One
 * that a file holds in the kernel is left to end when it can.
 */
void helper_end(struct helper *helper)
{
	struct pollfd wait = { .events = POLLIN };

	if (!helper->pid)
		return;
	kill(helper->pid, SIGKILL);
	close(helper->channel);
	wait.fd = syscall(SYS_pidfd_open, helper->pid, 0);
	if (wait.fd >= 0) {
		poll(&wait, 1, END_MS);
		close(wait.fd);
	}
	if (waitpid(helper->pid, &helper->status, WNOHANG) <= 0)
		helper->status = 0;
	helper->pid = 0;
}
