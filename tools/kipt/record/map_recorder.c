// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder of kipt start --maps, see map_recorder.h. It has left its terminal when
 * kipt start ends, and says nothing after that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../kernel/genl.h"
#include "map_recorder.h"
#include "perf_recording.h"

/* How often it is looked whether the session runs. */
#define LOOK_MS		200

static void terminal_leave(void)
{
	int null = open("/dev/null", O_RDWR);
	int fd;

	for (fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

/* Until it has stopped, or is gone. */
static void session_wait(u32 id)
{
	struct kipt_session session;
	struct genl *genl = genl_open(false);
	bool runs = genl;

	while (runs && !genl_session_get(genl, id, &session)) {
		runs = session.state != KIPT_STATE_STOPPED;
		session_free(&session);
		if (runs)
			poll(NULL, 0, LOOK_MS);
	}
	genl_close(genl);
}

/* @ready: a byte says that it records; @begin: gives the session. */
static void record(const char *path, const struct kipt_caps *caps, int ready,
		   int begin)
{
	struct perf_recording recording = { 0 };
	u32 id = 0;

	setsid();
	signal(SIGPIPE, SIG_IGN);
	if (!perf_recording_maps(&recording, path, caps))
		_exit(1);
	terminal_leave();
	if (write(ready, "r", 1) != 1 ||
	    read(begin, &id, sizeof(id)) != sizeof(id) || !id) {
		perf_recording_drop(&recording);
		_exit(1);
	}
	perf_recording_maps_run(&recording);
	session_wait(id);
	_exit(perf_recording_maps_end(&recording) < 0);
}

bool map_recorder_start(struct map_recorder *recorder, const char *path,
			const struct kipt_caps *caps)
{
	int ready[2], begin[2];
	char byte;
	bool ok;
	pid_t pid;

	recorder->begin = -1;
	if (pipe2(ready, O_CLOEXEC) || pipe2(begin, O_CLOEXEC)) {
		say_errno(errno, "cannot make a pipe");
		return false;
	}
	pid = fork();
	if (!pid) {
		close(ready[0]);
		close(begin[1]);
		record(path, caps, ready[1], begin[0]);
	}
	if (pid < 0)
		say_errno(errno, "cannot fork");
	close(ready[1]);
	close(begin[0]);
	ok = read(ready[0], &byte, 1) == 1;
	close(ready[0]);
	recorder->pid = pid;
	if (ok)
		recorder->begin = begin[1];
	else
		close(begin[1]);
	return ok;
}

void map_recorder_follow(struct map_recorder *recorder, u32 id)
{
	if (recorder->begin < 0)
		return;
	/* It sees the end of the pipe, too. */
	if (id && write(recorder->begin, &id, sizeof(id)) != sizeof(id))
		say_errno(errno, "nobody records what programs map");
	close(recorder->begin);
	recorder->begin = -1;
	/* Until its file is gone. */
	if (!id)
		waitpid(recorder->pid, NULL, 0);
}
