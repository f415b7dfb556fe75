// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots that go to disk, see snapshot_collect.h.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../cli/progress.h"
#include "../kernel/genl.h"
#include "snapshot_collect.h"

#define UNFINISHED	".kipt-unfinished"
/* Of a snapshot's folder before its number: # is a digit, x a hex digit. */
#define FORM		"snapshot-########T######Z-xxxxxxxx-"
#define DIGITS		"0123456789"
#define BOOT_ID		"/proc/sys/kernel/random/boot_id"
#define BOOT_CHARS	8
#define PATH		4096
#define FILES_OPEN	16
#define LOCK_WAIT_NS	50000000
/* A child may wait so many times as long as it may use the CPU. */
#define WAIT_MOST	10

/* The numbers of snapshots begin again with each boot: names have its ID. */
struct collecting {
	const struct crash_collect *what;
	int folder;
	char boot[BOOT_CHARS + 1];
	/* The folder that was saved last; empty: none yet. */
	char saved[PATH];
};

struct wanted {
	bool programs;
	u32 above;
	struct kipt_snapshot next;
};

int snapshot_folder_open(const char *dir, unsigned int mode)
{
	struct stat stat;
	int folder;

	if (!folder_make(dir))
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
	const struct rlimit limit = { seconds, seconds };
	char number[16];
	u32 i;

	snprintf(number, sizeof(number), "%u", id);
	argv[3] = number;
	for (i = 0; i < SNAPSHOT_OPTIONS_MAX && options[i]; i++)
		argv[4 + i] = options[i];
	if (seconds)
		setrlimit(RLIMIT_CPU, &limit);
	alarm(seconds * WAIT_MOST);
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
	if (messages && WIFSIGNALED(status))
		dprintf(report, "'kipt crash show %u' was ended by signal %d (%s): it may take %u seconds of CPU time or %u in all\n",
			id, WTERMSIG(status), strsignal(WTERMSIG(status)), seconds,
			seconds * WAIT_MOST);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void snapshot_found(void *ctx, const struct kipt_snapshot *snapshot)
{
	struct wanted *wanted = ctx;

	if (snapshot->id > wanted->above &&
	    (!wanted->next.id || snapshot->id < wanted->next.id) &&
	    (wanted->programs || !snapshot->signal))
		wanted->next = *snapshot;
}

static int file_remove(const char *path, const struct stat *stat, int type,
		       struct FTW *place)
{
	(void)stat, (void)type, (void)place;
	return remove(path);
}

/* Whether it was there or not. */
static bool folder_remove(const char *path)
{
	if (!nftw(path, file_remove, FILES_OPEN,
		  FTW_DEPTH | FTW_PHYS | FTW_MOUNT) ||
	    errno == ENOENT)
		return true;
	say_errno(errno, "cannot remove %s", path);
	return false;
}

static u64 bytes_seen;

static int file_measure(const char *path, const struct stat *stat, int type,
			struct FTW *place)
{
	u64 on_disk = (u64)stat->st_blocks * 512;
	u64 size = (u64)stat->st_size;

	(void)path, (void)type, (void)place;
	bytes_seen += size > on_disk ? size : on_disk;
	return 0;
}

static u64 folder_bytes(const char *path)
{
	bytes_seen = 0;
	nftw(path, file_measure, FILES_OPEN, FTW_PHYS | FTW_MOUNT);
	return bytes_seen;
}

static int file_sync(const char *path, const struct stat *stat, int type,
		     struct FTW *place)
{
	int file, err;

	(void)type;
	(void)place;
	if (!S_ISREG(stat->st_mode) && !S_ISDIR(stat->st_mode))
		return 0;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	err = file < 0 || fsync(file) ? errno : 0;
	if (file >= 0)
		close(file);
	errno = err;
	return err ? -1 : 0;
}

static bool folder_sync(const char *path)
{
	if (!nftw(path, file_sync, FILES_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
		return true;
	say_errno(errno, "cannot write %s to the disk", path);
	return false;
}

/* The names in it; not what they name. */
static bool names_sync(const struct collecting *collecting)
{
	if (!fsync(collecting->folder))
		return true;
	say_errno(errno, "cannot write %s to the disk", collecting->what->dir);
	return false;
}

/* Its sentence says what failed. */
static bool child_saves(u32 id, const char *folder)
{
	const char *const options[] = { "--save", folder, "--last", "100", NULL };
	char name[PATH + 16];
	int report;
	bool ok;

	snprintf(name, sizeof(name), "%s/report", folder);
	report = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (report < 0) {
		say_errno(errno, "cannot make %s", name);
		return false;
	}
	ok = snapshot_show(id, report, false, options, 0);
	close(report);
	return ok;
}

static bool folder_rename(const char *from, const char *to)
{
	if (!rename(from, to))
		return true;
	say_errno(errno, "cannot rename %s to %s", from, to);
	return false;
}

static bool fits(const struct crash_collect *what, u32 id, u64 bytes)
{
	if (bytes <= what->most)
		return true;
	say_error("snapshot %u takes %llu KiB on the disk, --most allows %llu KiB",
		  id, (unsigned long long)bytes >> 10,
		  (unsigned long long)what->most >> 10);
	return false;
}

/* How much room files take is known once they are on the disk. */
static bool snapshot_save(const struct collecting *collecting, u32 id,
			  const char *to)
{
	const struct crash_collect *what = collecting->what;
	char from[PATH];

	snprintf(from, sizeof(from), "%s/" UNFINISHED, what->dir);
	if (folder_remove(from) && folder_make(from) &&
	    child_saves(id, from) && folder_sync(from) &&
	    fits(what, id, folder_bytes(from)) && folder_rename(from, to) &&
	    names_sync(collecting)) {
		printf("snapshot %u is saved in %s\n", id, to);
		return true;
	}
	folder_remove(from);
	return false;
}

static int has_name(const struct dirent *entry)
{
	const char *at = entry->d_name, *form = FORM;

	for (; *form; form++, at++) {
		if (!*at)
			return 0;
		if (*form == '#' ? !strchr(DIGITS, *at) :
		    *form == 'x' ? !strchr(DIGITS "abcdef", *at) :
				   *form != *at)
			return 0;
	}
	return *at && !at[strspn(at, DIGITS)];
}

/* Whether a folder with such a name is a whole snapshot. */
static bool is_snapshot(const char *folder)
{
	char report[PATH + 16];
	struct stat stat;

	snprintf(report, sizeof(report), "%s/report", folder);
	return !lstat(folder, &stat) && S_ISDIR(stat.st_mode) &&
	       !lstat(report, &stat) && S_ISREG(stat.st_mode);
}

/* An earlier call may have ended between saving and deleting, or syncing. */
static bool snapshot_move(struct collecting *collecting, struct genl *genl,
			  const struct kipt_snapshot *snapshot)
{
	time_t seconds = snapshot->time / 1000000000;
	char when[32] = "", to[PATH];
	struct tm tm;
	bool ok;

	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(to, sizeof(to), "%s/snapshot-%s-%s-%u", collecting->what->dir,
		 when, collecting->boot, snapshot->id);
	ok = is_snapshot(to) ? folder_sync(to) && names_sync(collecting) :
			       snapshot_save(collecting, snapshot->id, to);
	if (!ok) {
		say_error("snapshot %u stays in the module", snapshot->id);
		return false;
	}
	memcpy(collecting->saved, to, sizeof(to));
	return !genl_snapshot_delete(genl, snapshot->id);
}

/*
 * The newest are kept that --keep and --most allow, by the times and numbers in
 * their names; and the one that was just saved, as clocks may go back.
 */
static bool old_remove(const struct collecting *collecting)
{
	const struct crash_collect *what = collecting->what;
	struct dirent **entries;
	int count = scandir(what->dir, &entries, has_name, versionsort), i;
	char path[PATH];
	u64 bytes = 0;
	u32 kept = 0;
	bool ok = true;

	if (count < 0) {
		say_errno(errno, "cannot read %s", what->dir);
		return false;
	}
	if (collecting->saved[0]) {
		bytes = folder_bytes(collecting->saved);
		kept = 1;
	}
	for (i = count - 1; i >= 0; i--) {
		snprintf(path, sizeof(path), "%s/%s", what->dir,
			 entries[i]->d_name);
		free(entries[i]);
		if (!strcmp(path, collecting->saved) || !is_snapshot(path))
			continue;
		bytes += folder_bytes(path);
		if (kept < what->keep && bytes <= what->most) {
			kept++;
			continue;
		}
		/* What is older than this one goes, too. */
		bytes = what->most;
		kept = what->keep;
		printf("%s is removed: newer ones need its room\n", path);
		ok = folder_remove(path) && ok;
	}
	free(entries);
	return ok;
}

static bool folder_lock(int folder, const char *dir)
{
	const struct timespec step = { .tv_nsec = LOCK_WAIT_NS };

	while (flock(folder, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			say_errno(errno, "cannot lock folder %s", dir);
			return false;
		}
		if (progress_interrupted()) {
			say_error("interrupted: another process has folder %s locked",
				  dir);
			return false;
		}
		nanosleep(&step, NULL);
	}
	return true;
}

/* Return: a file that is locked until it is closed; -1 after a sentence. */
static int folder_open(const char *dir)
{
	int folder = snapshot_folder_open(dir, 0700);

	if (folder >= 0 && !folder_lock(folder, dir)) {
		close(folder);
		return -1;
	}
	return folder;
}

static bool boot_read(char boot[BOOT_CHARS + 1])
{
	FILE *file = fopen(BOOT_ID, "re");
	bool ok = file && fread(boot, BOOT_CHARS, 1, file);

	if (!ok)
		say_error("cannot read " BOOT_ID ", which names of snapshots need");
	if (file)
		fclose(file);
	return ok;
}

static bool all_move(struct collecting *collecting, struct genl *genl)
{
	struct wanted wanted = { .programs = collecting->what->programs };
	bool ok = true;

	while (!progress_interrupted()) {
		wanted.next.id = 0;
		if (genl_snapshot_each(genl, snapshot_found, &wanted))
			return false;
		if (!wanted.next.id)
			return ok;
		wanted.above = wanted.next.id;
		ok = snapshot_move(collecting, genl, &wanted.next) && ok;
		ok = old_remove(collecting) && ok;
	}
	return false;
}

bool crash_collect(const struct crash_collect *collect)
{
	struct collecting collecting = { .what = collect };
	struct genl *genl;
	bool ok;

	umask(077);
	progress_catch();
	if (!boot_read(collecting.boot))
		return false;
	genl = genl_open(false);
	if (!genl)
		return false;
	collecting.folder = folder_open(collect->dir);
	ok = collecting.folder >= 0 && old_remove(&collecting) && all_move(&collecting, genl);
	genl_close(genl);
	if (collecting.folder >= 0)
		close(collecting.folder);
	return ok;
}
