// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that are made, see output_file.h.
 */
#include <errno.h>

#include "messages.h"
#include "output_file.h"

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
