// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel PT of armed sessions for a command, see lend.h. The module takes it back
 * when the file is closed, which the kernel does for a process that dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cli/kipt.h"
#include "../cli/messages.h"
#include "genl.h"
#include "lend.h"
#include "raw_device.h"

/* For what a command still has to write. */
#define GRACE_SECONDS	10
#define LOOKS		30
#define LOOK_NS		100000000L

static const char *why(int err)
{
	switch (err) {
	case ENOENT:
		return "no session is armed, so perf can use Intel PT anyway";
	case EBUSY:
		return "another 'kipt arm --lend' has Intel PT already";
	case EPERM:
		return "only root, and who armed every session, may do so";
	case ETIMEDOUT:
		return "a CPU does not answer, see dmesg";
	case ENOTTY:
		return "the module that is loaded is older than this kipt";
	}
	return NULL;
}

/* Return: a file; Intel PT is lent until it is closed. -1 after a sentence. */
static int borrow(u32 seconds)
{
	/* The module's time is only for a kipt that is stopped or hangs. */
	struct kipt_raw_lend wish = {
		.seconds = seconds ? seconds + GRACE_SECONDS : 0,
	};
	int file = open(RAW_DEVICE, O_RDWR | O_CLOEXEC);
	int err;

	if (file < 0) {
		say_errno(errno, "cannot open " RAW_DEVICE);
		return -1;
	}
	if (wish.seconds > KIPT_RAW_LEND_MAX)
		wish.seconds = KIPT_RAW_LEND_MAX;
	if (!ioctl(file, KIPT_RAW_LEND, &wish))
		return file;
	err = errno;
	if (why(err))
		say_error("cannot lend Intel PT: %s", why(err));
	else
		say_errno(err, "cannot lend Intel PT");
	close(file);
	return -1;
}

static pid_t command_start(char **argv, const sigset_t *mask)
{
	pid_t child = fork();

	if (child)
		return child;
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	say_errno(errno, "cannot run %s", argv[0]);
	_exit(127);
}

static time_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec;
}

/* Return: a signal that a process sent; 0 or -1: none came, or the time is over. */
static int signal_wait(const sigset_t *signals, time_t end)
{
	struct timespec left = { .tv_sec = end - now() };
	siginfo_t info = { 0 };
	int number;

	if (end && left.tv_sec <= 0)
		return 0;
	number = sigtimedwait(signals, &info, end ? &left : NULL);
	/* Of a terminal that goes away the session's leader alone hears. */
	return info.si_code > 0 && number != SIGHUP ? 0 : number;
}

/*
 * What a terminal sends it sends to the command, too; the rest is passed on. Return:
 * whether @status is that of the command.
 */
static bool command_wait(pid_t child, const sigset_t *signals, u32 seconds,
			 int *status)
{
	time_t end = seconds ? now() + seconds : 0;
	bool interrupted = false;
	pid_t ended;
	int number;

	while (!(ended = waitpid(child, status, WNOHANG))) {
		number = signal_wait(signals, end);
		if (number > 0 && number != SIGCHLD)
			kill(child, number);
		if (!end || now() < end)
			continue;
		say_note("the time of --for is over, the command is %s",
			 interrupted ? "killed" : "interrupted");
		kill(child, interrupted ? SIGKILL : SIGINT);
		end = interrupted ? 0 : now() + GRACE_SECONDS;
		interrupted = true;
	}
	return ended == child;
}

static void traced_count(void *ctx, const struct kipt_session *session)
{
	u32 *count = ctx, i;

	for (i = 0; i < session->cpu_count; i++)
		*count += session->flags & KIPT_SESSION_FLAGS_ARMED &&
			  session->cpu[i].state == KIPT_STATE_RUNNING;
}

/* CPUs that armed sessions trace. True, or false after a sentence. */
static bool armed_cpus(u32 *count)
{
	struct genl *genl = genl_open(false);
	bool ok;

	*count = 0;
	ok = genl && !genl_session_each(genl, traced_count, count);
	genl_close(genl);
	return ok;
}

/* Says so if fewer CPUs are traced a moment later than @before. */
static void armed_wait(u32 before)
{
	const struct timespec step = { .tv_nsec = LOOK_NS };
	u32 count;
	bool ok;
	int i;

	for (i = 0; (ok = armed_cpus(&count)) && count < before && i < LOOKS; i++)
		nanosleep(&step, NULL);
	if (ok && count < before)
		say_note("%u of %u CPUs are not traced again yet: dmesg says why; the module goes on trying",
			 before - count, before);
}

int lend_run(char **argv, u32 seconds)
{
	sigset_t signals, mask;
	int file, status = -1;
	pid_t child;
	u32 before;

	if (!armed_cpus(&before))
		return KIPT_EXIT_FAILED;
	file = borrow(seconds);
	if (file < 0)
		return KIPT_EXIT_FAILED;
	/* Where it is ignored the end of a command is not known. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	child = command_start(argv, &mask);
	if (child < 0) {
		say_errno(errno, "cannot start a process");
		close(file);
		return KIPT_EXIT_FAILED;
	}
	if (!command_wait(child, &signals, seconds, &status)) {
		say_errno(errno, "cannot wait for %s", argv[0]);
		close(file);
		return KIPT_EXIT_FAILED;
	}
	close(file);
	armed_wait(before);
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}
