// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt core: the kernel hands it the core dump of a program that a signal killed; beside it
 * goes what the program did last, as 'kipt crash show' prints it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../kernel/genl.h"

enum {
	OPTION_TIME = 1,
	OPTION_UID,
	OPTION_DUMPABLE,
	OPTION_KEEP,
	OPTION_LAST,
};

static const struct kipt_option options[] = {
	{ "time", 't', OPTION_TIME, "SECONDS",
	  "when it was dumped (%t): a snapshot of more than a\n"
	  "minute before or after is of another process" },
	{ "uid", 'u', OPTION_UID, "UID",
	  "its user (%u), who gets the files" },
	{ "dumpable", 'd', OPTION_DUMPABLE, "N",
	  "its dump mode (%d); files of one that is not 1, such\n"
	  "as of a set-user-ID program, are root's" },
	{ "keep", 'k', OPTION_KEEP, "N",
	  "leave the newest N core dumps in DIR, 1 to 10000;\n"
	  "16 unless given" },
	{ "last", 'n', OPTION_LAST, "N",
	  "the last N branches; 100 unless given" },
	{ 0 }
};

#define KEEP		16
#define KEEP_MAX	10000
#define LAST		"100"
/* Between the signal and the dump, for which all threads have to end. */
#define APART_SECONDS	60
/* Somebody waits for the dump to end. */
#define SHOW_SECONDS	60
#define NAME_BYTES	64
#define CALLS		".calls"
#define BLOCK		65536
#define NO_GROUP	65534

struct core {
	const char *path;
	int dir;
	u64 pid;
	u64 time;
	bool timed;
	u64 uid;
	bool has_uid;
	bool dumpable;
	u64 keep;
	const char *last;
	/* Gets the core dump; NULL: a file does. */
	char **command;
	char name[NAME_BYTES];
	/* The core dump, open; or -1. */
	int file;
	/* Number 0: there is none. */
	struct kipt_snapshot slot;
};

/*
 * The kernel starts a handler with the pipe as its standard input and nothing else. What
 * is to be said goes to the kernel's log; a file of ours must not get these numbers.
 */
static void outputs_open(void)
{
	int number, file;

	for (number = 0; number <= 2; number++) {
		if (fcntl(number, F_GETFD) >= 0)
			continue;
		file = open(number == 2 ? "/dev/kmsg" : "/dev/null", O_RDWR);
		if (file < 0)
			file = open("/dev/null", O_RDWR);
		if (number == 2)
			setvbuf(stderr, NULL, _IOLBF, 0);
	}
}

static bool dir_open(struct core *core)
{
	struct stat stat;

	if (mkdir(core->path, 0711) && errno != EEXIST) {
		say_errno(errno, "cannot make folder %s", core->path);
		return false;
	}
	core->dir = open(core->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (core->dir < 0 || fstat(core->dir, &stat)) {
		say_errno(errno, "cannot use folder %s", core->path);
		return false;
	}
	if (stat.st_uid != geteuid() || stat.st_mode & 022) {
		say_error("%s: others may write to this folder, and could have files of kipt's replaced: 'chown 0 %s' and 'chmod 711 %s' help",
			  core->path, core->path, core->path);
		return false;
	}
	return true;
}

/* A file of the user's, or root's if that is not certain. */
static void owner_set(const struct core *core, int file)
{
	const struct passwd *user;

	if (!core->has_uid || !core->dumpable || core->uid == (u64)geteuid())
		return;
	user = getpwuid((uid_t)core->uid);
	if (fchown(file, (uid_t)core->uid, user ? user->pw_gid : NO_GROUP))
		say_errno(errno, "cannot give a file in %s to user %" PRIu64, core->path,
			  core->uid);
}

/* Nobody has a file of this name, or it is a link, or of an earlier dump. */
static int file_make(const struct core *core, const char *name)
{
	int file = openat(core->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	if (file < 0)
		say_errno(errno, "cannot make %s/%s", core->path, name);
	return file;
}

static bool all_write(int file, const char *bytes, size_t size)
{
	ssize_t done;

	while (size) {
		done = write(file, bytes, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		size -= (size_t)done;
	}
	return true;
}

static bool is_zero(const char *bytes, size_t size)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

/* Memory that the program never wrote to takes no room. */
static bool block_put(int file, const char *bytes, size_t size)
{
	return is_zero(bytes, size) ? lseek(file, (off_t)size, SEEK_CUR) >= 0 :
				      all_write(file, bytes, size);
}

/* Blocks, though a pipe gives less at a time; 0 at the end. */
static ssize_t block_get(char *bytes)
{
	size_t size = 0;
	ssize_t got;

	while (size < BLOCK) {
		got = read(STDIN_FILENO, bytes + size, BLOCK - size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		size += (size_t)got;
	}
	return (ssize_t)size;
}

/* What fits onto the disk stays. */
static bool core_save(struct core *core)
{
	char *bytes = malloc(BLOCK);
	ssize_t got = -1;
	off_t end;

	core->file = bytes ? file_make(core, core->name) : -1;
	if (core->file < 0) {
		free(bytes);
		return false;
	}
	owner_set(core, core->file);
	while ((got = block_get(bytes)) > 0) {
		if (!block_put(core->file, bytes, (size_t)got))
			break;
	}
	end = lseek(core->file, 0, SEEK_CUR);
	free(bytes);
	if (!got && end >= 0 && !ftruncate(core->file, end) && !fsync(core->file))
		return true;
	say_errno(errno, "cannot write all of %s/%s", core->path, core->name);
	return false;
}

static bool is_near(const struct core *core, const struct kipt_snapshot *slot)
{
	u64 time = slot->time / 1000000000;

	return !core->timed ||
	       (time + APART_SECONDS >= core->time && time <= core->time + APART_SECONDS);
}

static void snapshot_found(void *ctx, const struct kipt_snapshot *slot)
{
	struct core *core = ctx;

	if (slot->signal && slot->process == core->pid && slot->id > core->slot.id &&
	    (!core->has_uid || slot->uid == core->uid) && is_near(core, slot))
		core->slot = *slot;
}

static void __attribute__((noreturn)) show(const struct core *core, int report, bool with_core)
{
	char number[16], file[32];

	snprintf(number, sizeof(number), "%u", core->slot.id);
	snprintf(file, sizeof(file), "/proc/self/fd/%d", core->file);
	alarm(SHOW_SECONDS);
	if (dup2(report, STDOUT_FILENO) >= 0 && dup2(report, STDERR_FILENO) >= 0)
		execl("/proc/self/exe", "kipt", "crash", "show", number, "--last", core->last,
		      with_core ? "--core" : NULL, file, (char *)NULL);
	_exit(127);
}

/* What it shows, and what it says of that, is in the report. */
static bool child_shows(const struct core *core, int report, bool with_core)
{
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		show(core, report, with_core);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool report_write(const struct core *core, int report, bool asked)
{
	if (!asked) {
		dprintf(report, "Whether there is a trace of process %" PRIu64 " is not known: the module did not answer.\n",
			core->pid);
		return true;
	}
	if (!core->slot.id) {
		dprintf(report, "There is no trace of process %" PRIu64 ": no session is armed with 'kipt arm --user', or later ones took its room, or it may not be dumped.\n",
			core->pid);
		return true;
	}
	if (core->file >= 0 && child_shows(core, report, true))
		return true;
	/* Why it could not be read is in the report. */
	if (child_shows(core, report, false))
		return true;
	say_error("snapshot %u, of process %" PRIu64 ", cannot be shown and stays in the module: %s/%s" CALLS " says why",
		  core->slot.id, core->pid, core->path, core->name);
	return false;
}

/* The slot is freed once its report is on the disk. */
static bool calls_save(struct core *core)
{
	struct genl *genl = genl_open(false);
	char name[NAME_BYTES + sizeof(CALLS)];
	bool asked = genl && !genl_snapshot_each(genl, snapshot_found, core), ok = asked;
	int report;

	snprintf(name, sizeof(name), "%s" CALLS, core->name);
	report = file_make(core, name);
	if (report >= 0) {
		owner_set(core, report);
		ok = report_write(core, report, asked) && ok;
		if (fsync(report) || fsync(core->dir)) {
			say_errno(errno, "cannot write %s/%s to the disk", core->path, name);
			ok = false;
		}
		close(report);
	}
	ok = ok && report >= 0;
	if (ok && core->slot.id)
		ok = !genl_snapshot_delete(genl, core->slot.id);
	genl_close(genl);
	return ok;
}

/* core.PID.TIME or core.PID.TIME.calls; the time, or 0. */
static u64 time_of(const char *name)
{
	unsigned long long time = 0;
	char rest[sizeof(CALLS)] = "";

	if (sscanf(name, "core.%*[0-9].%20llu%6s", &time, rest) < 1 ||
	    (rest[0] && strcmp(rest, CALLS)))
		return 0;
	return time;
}

static int is_ours(const struct dirent *entry)
{
	return time_of(entry->d_name) != 0;
}

/* The newest first; what is beside a core dump next to it. */
static int newest_first(const struct dirent **left, const struct dirent **right)
{
	u64 a = time_of((*left)->d_name), b = time_of((*right)->d_name);

	return a > b ? -1 : a < b ? 1 : strcmp((*left)->d_name, (*right)->d_name);
}

static size_t stem(const char *name)
{
	const char *calls = strstr(name, CALLS);

	return calls ? (size_t)(calls - name) : strlen(name);
}

static void old_remove(const struct core *core)
{
	struct dirent **entries;
	const char *before = "";
	u64 kept = 0;
	int count, i;

	count = scandirat(core->dir, ".", &entries, is_ours, newest_first);
	if (count < 0) {
		say_errno(errno, "cannot read %s", core->path);
		return;
	}
	for (i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (stem(name) != stem(before) || strncmp(name, before, stem(name)))
			kept++;
		before = name;
		if (kept > core->keep && unlinkat(core->dir, name, 0) && errno != ENOENT)
			say_errno(errno, "cannot remove %s/%s", core->path, name);
	}
	for (i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
}

static bool number_option(const char *name, const char *value, u64 most, u64 *number)
{
	if (args_number(value, most, number))
		return true;
	say_error("--%s %s: allowed are 0 to %" PRIu64, name, value, most);
	return false;
}

static bool option_take(struct core *core, int id, const char *value)
{
	u64 number = 0;

	switch (id) {
	case OPTION_TIME:
		core->timed = true;
		return number_option("time", value, INT64_MAX / 1000000000, &core->time);
	case OPTION_UID:
		core->has_uid = true;
		return number_option("uid", value, UINT32_MAX, &core->uid);
	case OPTION_DUMPABLE:
		if (!number_option("dumpable", value, UINT32_MAX, &number))
			return false;
		core->dumpable = number == 1;
		return true;
	case OPTION_LAST:
		core->last = value;
		return number_option("last", value, UINT32_MAX, &number);
	default:
		if (args_number(value, KEEP_MAX, &core->keep) && core->keep)
			return true;
		say_error("--keep %s: allowed are 1 to %u", value, KEEP_MAX);
		return false;
	}
}

static int options_take(struct core *core, struct args *args)
{
	int id;

	while ((id = args_option(args)) > 0) {
		if (!option_take(core, id, args->value))
			return KIPT_EXIT_USAGE;
	}
	if (id < 0)
		return id == ARGS_HELP ? -1 : KIPT_EXIT_USAGE;
	if (!args_operands(args, 2, INT32_MAX))
		return KIPT_EXIT_USAGE;
	core->path = args->argv[0];
	if (!args_number(args->argv[1], INT32_MAX, &core->pid) || !core->pid)
		return args_bad(args, "%s: the number of a process is meant (%%P)",
				args->argv[1]);
	if (args->operands > 2)
		core->command = args->argv + 2;
	return KIPT_EXIT_DONE;
}

/* Whoever else gets the core dump gets it whatever happens here. */
static int run(int argc, char **argv)
{
	struct args args = {
		.verb = &verb_core, .argc = argc, .argv = argv, .first_operand_ends = true,
	};
	struct core core = { .dir = -1, .file = -1, .keep = KEEP, .last = LAST };
	int status = options_take(&core, &args);
	bool ok;

	if (status != KIPT_EXIT_DONE)
		return status < 0 ? KIPT_EXIT_DONE : status;
	outputs_open();
	/* The folder may be entered by all. */
	umask(066);
	if (!core.timed)
		core.time = (u64)time(NULL);
	snprintf(core.name, sizeof(core.name), "core.%" PRIu64 ".%" PRIu64, core.pid,
		 core.time);
	ok = dir_open(&core);
	if (ok && !core.command)
		ok = core_save(&core);
	if (core.dir >= 0 && (ok || core.file >= 0)) {
		ok = calls_save(&core) && ok;
		old_remove(&core);
	}
	if (core.file >= 0)
		close(core.file);
	if (core.dir >= 0)
		close(core.dir);
	if (core.command) {
		execv(core.command[0], core.command);
		say_errno(errno, "cannot run %s", core.command[0]);
		ok = false;
	}
	return ok ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

const struct kipt_verb verb_core = {
	.name = "core",
	.operands = "DIR PID [COMMAND [ARGUMENT]...]",
	.summary = "save a core dump and what the program did last",
	.about = "The kernel runs it, by kernel.core_pattern, where a signal killed a program. It\n"
		 "saves the core dump, which comes on standard input, as DIR/core.PID.TIME, and\n"
		 "beside it in core.PID.TIME.calls what the program's user code did last, if the\n"
		 "machine is armed with 'kipt arm --user': what 'kipt crash show' prints, with code\n"
		 "that is in no file out of the core dump. Then the module's snapshot is deleted.\n"
		 "Without a snapshot of that process the file says so. With COMMAND that program\n"
		 "gets the core dump instead, such as systemd-coredump. The first three options\n"
		 "say whose the files are; without them root alone can read them.",
	.examples = "  sysctl kernel.core_pattern='|/usr/bin/kipt core -t %t -u %u -d %d /var/lib/kipt-core %P'",
	.options = options,
	.run = run,
};
