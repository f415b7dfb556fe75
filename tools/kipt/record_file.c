// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads and writes files of records, see record_file.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record_file.h"
#include "say.h"

#define READ_AT_ONCE	4096
#define WRITE_BUFFER	(1 << 20)

struct record_file {
	FILE *out;
	const char *path;
	bool failed;
};

static void header_make(struct kipt_record *header)
{
	memset(header, 0, sizeof(*header));
	header->kind = KIPT_RECORD_VERSION;
	header->flags = sizeof(*header);
	header->ip = RECORD_FILE_MAGIC;
}

struct record_file *record_file_create(const char *path)
{
	struct record_file *file = calloc(1, sizeof(*file));
	struct kipt_record header;

	if (!file)
		return NULL;
	file->path = path;
	file->out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	if (!file->out) {
		say_errno(errno, "cannot make %s", path);
		free(file);
		return NULL;
	}
	setvbuf(file->out, NULL, _IOFBF, WRITE_BUFFER);
	header_make(&header);
	if (record_file_write(file, &header, 1))
		return file;
	record_file_close(file);
	return NULL;
}

bool record_file_write(struct record_file *file,
		       const struct kipt_record *records, u32 count)
{
	if (file->failed)
		return false;
	if (fwrite(records, sizeof(*records), count, file->out) == count)
		return true;
	say_errno(errno, "cannot write to %s", file->path);
	file->failed = true;
	return false;
}

bool record_file_close(struct record_file *file)
{
	bool ok;

	if (!file)
		return true;
	ok = !file->failed;
	if (file->out == stdout ? fflush(file->out) : fclose(file->out)) {
		if (ok)
			say_errno(errno, "cannot write to %s", file->path);
		ok = false;
	}
	free(file);
	return ok;
}

static bool header_check(const struct kipt_record *header, const char *path)
{
	if (header->type || header->ip != RECORD_FILE_MAGIC) {
		say_error("%s is no file of records", path);
		return false;
	}
	if (header->kind == KIPT_RECORD_VERSION &&
	    header->flags == sizeof(*header))
		return true;
	say_error("%s has records of version %u, this tool reads version %u",
		  path, header->kind, KIPT_RECORD_VERSION);
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
