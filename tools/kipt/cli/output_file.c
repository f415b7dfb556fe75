// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that are made, see output_file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "output_file.h"
#include "standard_output.h"

#define WRITE_BUFFER	(1 << 20)

FILE *file_make(const char *name, const char *between, const char *part)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s%s", name, between, part);
	file = fopen(path, "we");
	if (!file)
		say_errno(errno, "cannot make %s", path);
	return file;
}

bool folder_make(const char *dir)
{
	if (!mkdir(dir, 0777) || errno == EEXIST)
		return true;
	say_errno(errno, "cannot make folder %s", dir);
	return false;
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

bool fresh_open(struct fresh_file *file, const char *path)
{
	bool own = strcmp(path, "-");

	*file = (struct fresh_file){ .path = path };
	file->made = own && access(path, F_OK);
	file->out = own ? file_open(path) : stdout;
	if (!file->out) {
		say_errno(errno, "cannot make %s", path);
		return false;
	}
	/* Without one setvbuf() ignores the size. */
	file->buffer = own ? malloc(WRITE_BUFFER) : NULL;
	if (file->buffer)
		setvbuf(file->out, file->buffer, _IOFBF, WRITE_BUFFER);
	return true;
}

void fresh_failed(struct fresh_file *file)
{
	/* main() says whether standard output was lost. */
	if (!file->failed && file->out != stdout)
		say_errno(errno, "cannot write to %s", file->path);
	file->failed = true;
}

bool fresh_begin(struct fresh_file *file)
{
	struct stat st;

	file->begun = true;
	if (file->out != stdout &&
	    (fstat(fileno(file->out), &st) ||
	     (S_ISREG(st.st_mode) && ftruncate(fileno(file->out), 0))))
		fresh_failed(file);
	return !file->failed;
}

bool fresh_close(struct fresh_file *file)
{
	if (file->out == stdout ? output_flush(stdout) : fclose(file->out))
		fresh_failed(file);
	free(file->buffer);
	if (file->made && !file->begun)
		unlink(file->path);
	return !file->failed;
}
