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
#include "../cli/output_file.h"
#include "../cli/progress.h"
#include "record_file.h"

/* Versions before this one are not read. */
#define OLDEST_VERSION	2
#define READ_AT_ONCE	4096

struct record_file {
	struct fresh_file file;
	struct record_file_about about;
};

#define VALUE_GUESTS	1
#define VALUE_CALLS	2
#define VALUE_CUT	4

static void header_make(const struct record_file *file, struct kipt_record *header)
{
	memset(header, 0, sizeof(*header));
	header->kind = KIPT_RECORD_VERSION;
	header->flags = sizeof(*header);
	header->ip = RECORD_FILE_MAGIC;
	header->aux = file->about.tsc_khz;
	header->value = (file->about.guests ? VALUE_GUESTS : 0) |
			(file->about.calls ? VALUE_CALLS : 0) |
			(file->about.cut ? VALUE_CUT : 0);
}

static bool put(struct record_file *file, const struct kipt_record *records, u32 count)
{
	if (fwrite(records, sizeof(*records), count, file->file.out) == count)
		return true;
	fresh_failed(&file->file);
	return false;
}

/* Drop what the file has, now that there is something to replace it. */
static bool begin(struct record_file *file)
{
	struct kipt_record header;

	if (!fresh_begin(&file->file))
		return false;
	header_make(file, &header);
	return put(file, &header, 1);
}

struct record_file *record_file_create(const char *path)
{
	struct record_file *file = calloc(1, sizeof(*file));

	if (!file) {
		say_errno(ENOMEM, "cannot make %s", path);
		return NULL;
	}
	if (fresh_open(&file->file, path))
		return file;
	free(file);
	return NULL;
}

void record_file_describe(struct record_file *file, const struct record_file_about *about)
{
	file->about = *about;
}

bool record_file_write(struct record_file *file,
		       const struct kipt_record *records, u32 count)
{
	if (file->file.failed || (!file->file.begun && !begin(file)))
		return false;
	return put(file, records, count);
}

bool record_file_begun(const struct record_file *file)
{
	return file->file.begun;
}

void record_file_cut(struct record_file *file)
{
	struct kipt_record header;

	if (file->about.cut)
		return;
	file->about.cut = true;
	header_make(file, &header);
	if (file->file.begun && file->file.out != stdout && !fseek(file->file.out, 0, SEEK_SET))
		put(file, &header, 1);
}

bool record_file_close(struct record_file *file, bool whole)
{
	bool ok;

	if (!file)
		return true;
	if (whole && !file->file.begun)
		begin(file);
	ok = fresh_close(&file->file);
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

static struct record_file_about header_read(const struct kipt_record *header)
{
	return (struct record_file_about) {
		.tsc_khz = header->aux,
		.guests = header->value & VALUE_GUESTS,
		.calls = header->value & VALUE_CALLS,
		.cut = header->value & VALUE_CUT,
	};
}

static bool header_check(const struct kipt_record *header, const char *path)
{
	if (header->type || header->ip != RECORD_FILE_MAGIC) {
		say_error("%s is no file of records; 'kipt open' opens perf.data and raw traces",
			  path);
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
			void (*about)(void *ctx, const struct record_file_about *about),
			bool (*take)(void *ctx, const struct kipt_record *r,
				     u32 count), void *ctx)
{
	static u8 bytes[READ_AT_ONCE * sizeof(struct kipt_record)];
	const struct kipt_record *records = (const void *)bytes;
	u64 done = 0, total = progress_total(in);
	bool started = false;
	size_t size;

	while ((size = fread(bytes, 1, sizeof(bytes), in))) {
		u32 count = size / sizeof(*records);

		if (!started && (!count || !header_check(records, path))) {
			if (!count)
				say_error("%s is no file of records", path);
			return false;
		}
		if (!started) {
			struct record_file_about said = header_read(records);

			about(ctx, &said);
		}
		if (count > !started &&
		    !take(ctx, records + !started, count - !started))
			return false;
		started = true;
		done += size;
		progress_show("reading", done, total);
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
		      void (*about)(void *ctx, const struct record_file_about *about),
		      bool (*take)(void *ctx, const struct kipt_record *r,
				   u32 count), void *ctx)
{
	FILE *in = fopen(path, "re");
	bool ok;

	if (!in) {
		say_errno(errno, "cannot read %s", path);
		return false;
	}
	ok = stream_read(in, path, about, take, ctx);
	progress_clear();
	fclose(in);
	return ok;
}
