// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folder and child for snapshots that are saved, see snapshot_save.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../offline/save_dir.h"
#include "snapshot_save.h"

int snapshot_folder_open(const char *dir, unsigned int mode)
{
	struct stat stat;
	int folder;

	if (!save_folder(dir))
		return -1;
	folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || fstat(folder, &stat)) {
		say_errno(errno, "cannot use folder %s", dir);
	} else if (stat.st_uid != geteuid() || stat.st_mode & 022) {
		say_error("%s: others may write to this folder, and could have files of kipt's replaced: 'chown 0 %s' and 'chmod %o %s' help",
			  dir, dir, mode, dir);
	} else {
		return folder;
	}
	if (folder >= 0)
		close(folder);
	return -1;
}

static void __attribute__((noreturn)) child_run(u32 id, int report, bool messages,
						const char *const *options,
						unsigned int seconds)
{
	const char *argv[4 + SNAPSHOT_OPTIONS_MAX + 1] = { "kipt", "crash", "show" };
	char number[16];
	u32 i;

	snprintf(number, sizeof(number), "%u", id);
	argv[3] = number;
	for (i = 0; i < SNAPSHOT_OPTIONS_MAX && options[i]; i++)
		argv[4 + i] = options[i];
	alarm(seconds);
	if (dup2(report, STDOUT_FILENO) >= 0 &&
	    (!messages || dup2(report, STDERR_FILENO) >= 0))
		execv("/proc/self/exe", (char *const *)argv);
	_exit(127);
}

bool snapshot_show(u32 id, int report, bool messages, const char *const *options,
		   unsigned int seconds)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		child_run(id, report, messages, options, seconds);
	if (child < 0) {
		say_errno(errno, "cannot start a process that saves snapshot %u", id);
		return false;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}
