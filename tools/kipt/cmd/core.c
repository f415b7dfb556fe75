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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../crash/dump_elf_holes.h"
#include "../crash/snapshot_collect.h"
#include "../kernel/genl.h"
#include "../records/record_tail.h"

enum {
	OPTION_TIME = 1,
	OPTION_UID,
	OPTION_DUMPABLE,
	OPTION_KEEP,
	OPTION_MOST,
	OPTION_LAST,
};

static const struct kipt_option options[] = {
	{ "time", 't', OPTION_TIME, "SECONDS",
	  "when it was dumped (%t): a snapshot of more than a\n"
	  "minute before or after is of another process" },
	{ "uid", 'u', OPTION_UID, "UID",
	  "its user (%u), who gets the files if -d 1 says so, too" },
	{ "dumpable", 'd', OPTION_DUMPABLE, "N",
	  "its dump mode (%d); files of one that is not 1, such\n"
	  "as of a set-user-ID program, are root's" },
	{ "keep", 'k', OPTION_KEEP, "N",
	  "leave the newest N core dumps of each user in DIR,\n"
	  "1 to 10000; 16 unless given" },
	{ "most", 'm', OPTION_MOST, "SIZE",
	  "bytes that they take in all, such as 200M; 4G unless\n"
	  "given; a core dump that has more is cut" },
	{ "last", 'n', OPTION_LAST, "N",
	  "the last N branches; 100 unless given" },
	{ 0 }
};

#define KEEP		16
#define KEEP_MAX	10000
#define MOST		(4ULL << 30)
/* Of one for which the disk has no room. */
#define CUT_BYTES	(1 << 20)
#define LAST		"100"
/* Between the signal and the dump, for which all threads have to end. */
#define APART_SECONDS	60
/* Somebody waits for the dump to end. */
#define SHOW_SECONDS	60	/* of CPU time: a loaded machine takes longer */
#define NAME_BYTES	64
#define CALLS		".calls"
#define BLOCK		65536
#define FD_PATH		"/proc/self/fd/%d"

struct core {
	const char *path;
	int dir;
	u64 pid;
	u64 time;
	u64 uid;
	bool has_uid;
	bool dumpable;
	/* The files become the user's. */
	bool gives;
	u64 keep;
	u64 most;
	const char *last;
	/* Gets the core dump; NULL: a file does. */
	char **command;
	char name[NAME_BYTES];
	/* The core dump, open; or -1. */
	int file;
	/* All that the process had is in it, or somebody else gets that. */
	bool whole;
	/* Number 0: there is none. */
	struct kipt_snapshot slot;
	/* A process with the same number had one, but it died another time. */
	bool other;
};

/*
 * The kernel starts a handler with the pipe as descriptor 0 and no other one. Messages go to
 * the kernel's log; no file that is opened later may become standard output or error.
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

/* Whether real, effective, saved and file system ID of a line of /proc/PID/status are @want. */
static bool ids_are(const char *line, u64 want)
{
	unsigned long long ids[4];

	return sscanf(line, "%*s %llu %llu %llu %llu", &ids[0], &ids[1], &ids[2],
		      &ids[3]) == 4 &&
	       ids[0] == want && ids[1] == want && ids[2] == want && ids[3] == want;
}

/*
 * Whether the process has the rights of its user alone: what it read with others is in its
 * core dump, too. It is there until all of that was read.
 */
static bool process_is_users(const struct core *core)
{
	bool same = false, group = false;
	unsigned int gid;
	char line[256];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%" PRIu64 "/status", core->pid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Uid:", 4))
			same = ids_are(line, core->uid);
		if (!strncmp(line, "Gid:", 4))
			group = sscanf(line, "%*s %u", &gid) == 1 && ids_are(line, gid);
	}
	if (file)
		fclose(file);
	return same && group;
}

/* Make a new file, and lock it until it is written, see file_remove(). */
static int file_make(const struct core *core, const char *name)
{
	int file = openat(core->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	if (file < 0) {
		say_errno(errno, "cannot make %s/%s", core->path, name);
		return -1;
	}
	flock(file, LOCK_SH);
	if (core->gives && fchown(file, (uid_t)core->uid, (gid_t)-1))
		say_errno(errno, "cannot give %s/%s to user %" PRIu64, core->path, name,
			  core->uid);
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

/* Where the disk has no room for all, only a begin stays. */
static void core_save(struct core *core)
{
	char *bytes = malloc(BLOCK);
	ssize_t got = -1;
	u64 size = 0;

	core->file = bytes ? file_make(core, core->name) : -1;
	if (core->file < 0) {
		free(bytes);
		return;
	}
	while (size < core->most && (got = block_get(bytes)) > 0) {
		if (!block_put(core->file, bytes, (size_t)got)) {
			got = -1;
			break;
		}
		size += (size_t)got;
	}
	free(bytes);
	if (got < 0 || ftruncate(core->file, (off_t)size) || fsync(core->file)) {
		say_errno(errno, "cannot write all of %s/%s", core->path, core->name);
		if (ftruncate(core->file, size < CUT_BYTES ? (off_t)size : CUT_BYTES))
			say_errno(errno, "cannot cut %s/%s", core->path, core->name);
	} else if (got) {
		say_error("%s/%s is cut: --most allows %llu KiB", core->path, core->name,
			  (unsigned long long)core->most >> 10);
	} else {
		core->whole = true;
	}
}

static bool is_near(const struct core *core, const struct kipt_snapshot *slot)
{
	u64 time = slot->time / 1000000000;

	return time + APART_SECONDS >= core->time && time <= core->time + APART_SECONDS;
}

static void snapshot_found(void *ctx, const struct kipt_snapshot *slot)
{
	struct core *core = ctx;

	if (slot->signal && slot->process == core->pid && slot->id > core->slot.id &&
	    (!core->has_uid || slot->uid == core->uid) && is_near(core, slot))
		core->slot = *slot;
}

/* Whether code may come from the core dump, which is not so where it cannot be read. */
static bool core_check(struct core *core)
{
	struct core_file *file;
	char name[32];
	bool is_of;

	if (core->file < 0 || !core->slot.id)
		return false;
	snprintf(name, sizeof(name), FD_PATH, core->file);
	file = core_file_open(name);
	if (!file)
		return false;
	is_of = core_file_is_of(file, core->slot.signal, core->slot.ip, NULL);
	core_file_close(file);
	if (!is_of) {
		core->other = true;
		core->slot.id = 0;
	}
	return is_of;
}

static bool child_shows(const struct core *core, int report, bool with_core)
{
	char file[32];
	const char *const options[] = { "--last", core->last, with_core ? "--core" : NULL, file,
					NULL };

	snprintf(file, sizeof(file), FD_PATH, core->file);
	return snapshot_show(core->slot.id, report, true, options, SHOW_SECONDS);
}

static bool report_write(struct core *core, int report, bool asked)
{
	bool with_core = core_check(core);

	if (!asked)
		return dprintf(report, "Whether there is a trace of process %" PRIu64 " is not known: the module did not answer.\n",
			       core->pid) > 0;
	if (core->other)
		return dprintf(report, "There is no trace of this death of process %" PRIu64 ", but of another one with the same number.\n",
			       core->pid) > 0;
	if (!core->slot.id)
		return dprintf(report, "There is no trace of process %" PRIu64 ": no session is armed with 'kipt arm --user', or it was killed by another signal than SIGSEGV, SIGABRT, SIGILL, SIGBUS and SIGFPE, or other programs have the room, or it may not be dumped.\n",
			       core->pid) > 0;
	if (child_shows(core, report, with_core))
		return true;
	/* Why is in the report. */
	say_error("snapshot %u, of process %" PRIu64 ", cannot be shown and stays in the module: %s/%s" CALLS " says why",
		  core->slot.id, core->pid, core->path, core->name);
	return false;
}

/* The slot is freed once its report and all of the core dump are on the disk. */
static bool calls_save(struct core *core)
{
	struct genl *genl = genl_open(false);
	bool asked = genl && !genl_snapshot_each(genl, snapshot_found, core), ok = asked;
	char name[NAME_BYTES + sizeof(CALLS)];
	int report;

	snprintf(name, sizeof(name), "%s" CALLS, core->name);
	report = file_make(core, name);
	if (report >= 0) {
		ok = report_write(core, report, asked) && ok;
		if (fsync(report) || fsync(core->dir)) {
			say_errno(errno, "cannot write %s/%s to the disk", core->path, name);
			ok = false;
		}
		close(report);
	}
	ok = ok && report >= 0;
	if (ok && core->whole && core->slot.id)
		ok = !genl_snapshot_delete(genl, core->slot.id);
	genl_close(genl);
	return ok;
}

/* What is after the digits at @at, or NULL without any. */
static const char *digits_skip(const char *at)
{
	size_t count = at ? strspn(at, "0123456789") : 0;

	return count ? at + count : NULL;
}

/*
 * Bytes of "core.PID.TIME" in a name that is this, or this and ".calls"; otherwise 0. TIME
 * goes to @time unless it is NULL.
 */
static size_t name_parse(const char *name, u64 *time)
{
	const char *at = strncmp(name, "core.", 5) ? NULL : digits_skip(name + 5);
	const char *end = at && *at == '.' ? digits_skip(at + 1) : NULL;

	if (!end || (*end && strcmp(end, CALLS)))
		return 0;
	if (time)
		*time = strtoull(at + 1, NULL, 10);
	return (size_t)(end - name);
}

static int is_ours(const struct dirent *entry)
{
	return name_parse(entry->d_name, NULL) != 0;
}

/* The newest first; the calls are next to their core dump. */
static int newest_first(const struct dirent **left, const struct dirent **right)
{
	u64 a = 0, b = 0;

	name_parse((*left)->d_name, &a);
	name_parse((*right)->d_name, &b);
	return a > b ? -1 : a < b ? 1 : strcmp((*left)->d_name, (*right)->d_name);
}

/* What another handler writes has a lock. */
static void file_remove(const struct core *core, const char *name)
{
	int file = openat(core->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (file >= 0 && flock(file, LOCK_EX | LOCK_NB)) {
		close(file);
		return;
	}
	if (unlinkat(core->dir, name, 0) && errno != ENOENT)
		say_errno(errno, "cannot remove %s/%s", core->path, name);
	if (file >= 0)
		close(file);
}

/* The end of the files from @begin on that are of the same core dump. */
static int group_end(struct dirent **entries, int count, int begin)
{
	const char *name = entries[begin]->d_name;
	size_t length = name_parse(name, NULL);
	int end = begin + 1;

	while (end < count && name_parse(entries[end]->d_name, NULL) == length &&
	       !strncmp(entries[end]->d_name, name, length))
		end++;
	return end;
}

/* How many core dumps of the user are before the last one in the list. */
static u64 users_before(const uid_t *users, u32 last)
{
	u64 count = 0;
	u32 i;

	for (i = 0; i < last; i++)
		count += users[i] == users[last];
	return count;
}

/*
 * Remove what is too much, of a list that begins with the newest. What was made just now stays,
 * as clocks may go back, and its bytes are the first that count.
 */
static void old_remove(const struct core *core, struct dirent **entries, int count, uid_t *users)
{
	u32 dumps = 0;
	struct stat stat;
	u64 bytes = 0;
	int i, end;

	if (core->file >= 0 && !fstat(core->file, &stat))
		bytes = (u64)stat.st_blocks * 512;
	for (i = 0; i < count; i = end) {
		bool own = name_parse(entries[i]->d_name, NULL) == strlen(core->name) &&
			   !strncmp(entries[i]->d_name, core->name, strlen(core->name));

		end = group_end(entries, count, i);
		users[dumps] = geteuid();
		for (; i < end; i++) {
			if (fstatat(core->dir, entries[i]->d_name, &stat, AT_SYMLINK_NOFOLLOW))
				continue;
			users[dumps] = stat.st_uid;
			bytes += own ? 0 : (u64)stat.st_blocks * 512;
			if (!own && (bytes > core->most ||
				     users_before(users, dumps) >= core->keep))
				file_remove(core, entries[i]->d_name);
		}
		dumps++;
	}
}

static void folder_clean(const struct core *core)
{
	struct dirent **entries;
	uid_t *users;
	int count, i;

	count = scandirat(core->dir, ".", &entries, is_ours, newest_first);
	if (count < 0) {
		say_errno(errno, "cannot read %s", core->path);
		return;
	}
	users = calloc((size_t)count + 1, sizeof(*users));
	if (users)
		old_remove(core, entries, count, users);
	else
		say_errno(ENOMEM, "cannot remove old core dumps in %s", core->path);
	for (i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	free(users);
}

static bool option_take(struct core *core, int id, const char *value)
{
	u64 number = 0;

	switch (id) {
	case OPTION_TIME:
		return args_within("time", value, 0, INT64_MAX / 1000000000, &core->time);
	case OPTION_UID:
		core->has_uid = true;
		return args_within("uid", value, 0, UINT32_MAX, &core->uid);
	case OPTION_DUMPABLE:
		if (!args_within("dumpable", value, 0, UINT32_MAX, &number))
			return false;
		core->dumpable = number == 1;
		return true;
	case OPTION_LAST:
		core->last = value;
		return args_within("last", value, 1, LAST_RECORDS_MAX, &number);
	case OPTION_MOST:
		if (args_size(value, &core->most) && core->most &&
		    core->most <= INT64_MAX)
			return true;
		say_error("--most %s: a size such as 200M is meant", value);
		return false;
	default:
		return args_within("keep", value, 1, KEEP_MAX, &core->keep);
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

/* Whoever else gets the core dump gets it, and what there was before, whatever fails here. */
static int run(int argc, char **argv)
{
	struct args args = {
		.verb = &verb_core, .argc = argc, .argv = argv, .first_operand_ends = true,
	};
	struct core core = {
		.dir = -1, .file = -1, .keep = KEEP, .most = MOST, .last = LAST,
		.time = (u64)time(NULL),
	};
	int status;
	mode_t mask;
	bool ok;

	outputs_open();
	status = options_take(&core, &args);
	if (status != KIPT_EXIT_DONE)
		return status < 0 ? KIPT_EXIT_DONE : status;
	/* The folder may be entered by all. */
	mask = umask(066);
	snprintf(core.name, sizeof(core.name), "core.%" PRIu64 ".%" PRIu64, core.pid,
		 core.time);
	core.gives = core.has_uid && core.dumpable && core.uid != (u64)geteuid() &&
		     process_is_users(&core);
	core.dir = snapshot_folder_open(core.path, 0711);
	ok = core.dir >= 0;
	if (ok && core.command)
		core.whole = true;
	else if (ok)
		core_save(&core);
	if (ok && (core.command || core.file >= 0)) {
		ok = calls_save(&core) && core.whole;
		folder_clean(&core);
	} else {
		ok = false;
	}
	if (core.file >= 0)
		close(core.file);
	if (core.dir >= 0)
		close(core.dir);
	umask(mask);
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
		 "gets the core dump instead, such as systemd-coredump. Files are root's alone, but\n"
		 "with -u and -d the user's if the process had no other rights than that user.\n"
		 "core_pattern has the whole path of kipt, /usr/local/bin/kipt after 'make install'.\n"
		 "Where no program has that name the kernel loses each core dump: set it back before\n"
		 "you remove kipt.",
	.examples = "  sysctl kernel.core_pattern='|/usr/bin/kipt core -t %t -u %u -d %d /var/lib/kipt-core %P'",
	.options = options,
	.run = run,
};
