// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that are to be raw traces, see trace_file.h. Nothing in front of a trace says that it
 * is one: without a PSB it may be any of the files that kipt reads otherwise.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../../kmod/decode/packet/sync.h"
#include "../cli/messages.h"
#include "../records/record_file.h"
#include "trace_file.h"

bool trace_file_open(struct file_map *trace, const char *path)
{
	char meta[4096];

	snprintf(meta, sizeof(meta), "%s/meta.json", path);
	if (access(meta, F_OK))
		return file_map_open(trace, path);
	say_error("%s is a folder that --save made: 'kipt decode %s/cpuN.pt --dir %s' decodes the trace of CPU N",
		  path, path, path);
	return false;
}

bool trace_file_check(const struct file_map *trace, const char *path)
{
	if (kipt_sync_next(trace->bytes, trace->size, 0) < trace->size)
		return true;
	if (!trace->size)
		say_error("%s is empty: there is no trace in it", path);
	else if (record_file_begins(path))
		say_error("%s holds records, no trace: 'kipt show' shows them", path);
	else if (trace->size >= SELFMAG && !memcmp(trace->bytes, ELFMAG, SELFMAG))
		say_error("%s is an ELF file, no trace: 'kipt crash' reads the dump of a machine, --image takes code",
			  path);
	else
		say_error("%s: no PSB in its %llu bytes: it is no Intel PT trace, or too short",
			  path, (unsigned long long)trace->size);
	return false;
}
