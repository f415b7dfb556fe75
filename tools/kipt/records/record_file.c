// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes files of records, see record_file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "record_file.h"

/* Versions before this one are not read. */
#define OLDEST_VERSION	2
#define READ_AT_ONCE	4096
#define WRITE_BUFFER	(1 << 20)

struct record_file {
	FILE *out;
	const char *path;
	/* It was not there before. */
	bool made;
	/* What was in it before is gone. */
	bool begun;
	bool failed;
};

static void header_make(struct kipt_record *header)
{
	memset(header, 0, sizeof(*header));
	header->kind = KIPT_RECORD_VERSION;
	header->flags = sizeof(*header);
	header->ip = RECORD_FILE_MAGIC;
}

static bool write_failed(struct record_file *file)
{
	/* Whether standard output was lost is told when everything ends. */
	if (!file->failed && file->out != stdout)
		say_errno(errno, "cannot write to %s", file->path);
	file->failed = true;
	return false;
}

/* Drop what the file has, now that there is something to replace it. */
static bool begin(struct record_file *file)
{
	int fd = fileno(file->out);
	struct kipt_record header;
	struct stat st;

	file->begun = true;
	if (file->out != stdout &&
	    (fstat(fd, &st) || (S_ISREG(st.st_mode) && ftruncate(fd, 0))))
		return write_failed(file);
	header_make(&header);
	if (fwrite(&header, sizeof(header), 1, file->out) == 1)
		return true;
	return write_failed(file);
}

/* A file that is there stays as it is for now. */
static FILE *file_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !out)
		close(fd);
	return out;
}

struct record_file *record_file_create(const char *path)
{
	struct record_file *file = calloc(1, sizeof(*file));
	bool own = strcmp(path, "-");

	if (!file) {
		say_errno(ENOMEM, "cannot make %s", path);
		return NULL;
	}
	file->path = path;
	file->made = own && access(path, F_OK);
	file->out = own ? file_open(path) : stdout;
	if (!file->out) {
		say_errno(errno, "cannot make %s", path);
		free(file);
		return NULL;
	}
	setvbuf(file->out, NULL, _IOFBF, WRITE_BUFFER);
	return file;
}

bool record_file_write(struct record_file *file,
		       const struct kipt_record *records, u32 count)
{
	if (file->failed || (!file->begun && !begin(file)))
		return false;
	if (fwrite(records, sizeof(*records), count, file->out) == count)
		return true;
	return write_failed(file);
}

bool record_file_begun(const struct record_file *file)
{
	return file->begun;
}

bool record_file_close(struct record_file *file, bool whole)
{
	bool ok;

	if (!file)
		return true;
	if (whole && !file->begun)
		begin(file);
	if (file->out == stdout ? fflush(stdout) : fclose(file->out))
		write_failed(file);
	if (file->made && !file->begun)
		unlink(file->path);
	ok = !file->failed;
	free(file);
	return ok;
}

/* One file may have several names. */
bool record_file_is(const char *path, const char *input)
{
	struct stat a, b;

	return path && strcmp(path, "-") && !stat(path, &a) &&
	       !stat(input, &b) && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool header_check(const struct kipt_record *header, const char *path)
{
	if (header->type || header->ip != RECORD_FILE_MAGIC) {
		say_error("%s is no file of records", path);
		return false;
	}
	if (header->kind >= OLDEST_VERSION && header->kind <= KIPT_RECORD_VERSION &&
	    header->flags == sizeof(*header))
		return true;
	say_error("%s has records of version %u, this tool reads versions %u to %u",
		  path, header->kind, OLDEST_VERSION, KIPT_RECORD_VERSION);
	return false;
}

static bool stream_read(FILE *in, const char *path,
			bool (*take)(void *ctx, const struct kipt_record *r,
				     u32 count), void *ctx)
{
	static u8 bytes[READ_AT_ONCE * sizeof(struct kipt_record)];
	const struct kipt_record *records = (const void *)bytes;
	bool started = false;
	size_t size;

	while ((size = fread(bytes, 1, sizeof(bytes), in))) {
		u32 count = size / sizeof(*records);

		if (!started && (!count || !header_check(records, path))) {
			if (!count)
				say_error("%s is no file of records", path);
			return false;
		}
		if (count > !started &&
		    !take(ctx, records + !started, count - !started))
			return true;
		started = true;
		if (size % sizeof(*records)) {
			say_error("%s ends inside a record", path);
			return false;
		}
	}
	if (ferror(in))
		say_errno(errno, "cannot read %s", path);
	else if (!started)
		say_error("%s is empty, no file of records", path);
	return started && !ferror(in);
}

bool record_file_begins(const char *path)
{
	struct kipt_record header = { 0 };
	struct stat st;
	FILE *in = NULL;
	bool begins;

	/* What is read from a pipe is gone. */
	if (!stat(path, &st) && S_ISREG(st.st_mode))
		in = fopen(path, "re");
	begins = in && fread(&header, sizeof(header), 1, in) == 1 &&
		 !header.type && header.ip == RECORD_FILE_MAGIC;
	if (in)
		fclose(in);
	return begins;
}

bool record_file_read(const char *path,
		      bool (*take)(void *ctx, const struct kipt_record *r,
				   u32 count), void *ctx)
{
	FILE *in = fopen(path, "re");
	bool ok;

	if (!in) {
		say_errno(errno, "cannot read %s", path);
		return false;
	}
	ok = stream_read(in, path, take, ctx);
	fclose(in);
	return ok;
}
