// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coverage as DynamoRIO's drcov writes it, version 2: lines that list the files, then for
 * each stretch 8 bytes.
 */
#include <errno.h>
#include <string.h>

#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../cli/printable.h"
#include "coverage.h"

static void module_print(const struct code_file *file, size_t number, FILE *out)
{
	u64 base = file->address - (file->offset - file->layout.begin);
	char path[4096];

	snprintf(path, sizeof(path), "%s", file->called ? file->called : "");
	plain_text(path);
	fprintf(out, " %zu, 0x%llx, 0x%llx, 0x0000000000000000, 0x00000000, 0x00000000, %s\n",
		number, (unsigned long long)base,
		(unsigned long long)(base + (file->layout.end - file->layout.begin)), path);
}

/* Little endian: offset in the module, size, number of the module. */
static void block_write(const struct coverage *coverage, const struct code_range *range,
			FILE *out)
{
	u64 start = range->begin - coverage->files.list[range->file].layout.begin;
	u8 bytes[] = {
		start, start >> 8, start >> 16, start >> 24,
		range->size, range->size >> 8, range->file, range->file >> 8,
	};

	fwrite(bytes, sizeof(bytes), 1, out);
}

/* Where a file is not there its segments are not known. */
static void unread_say(const struct coverage *coverage, const struct fresh_file *file)
{
	size_t i, count = 0;

	for (i = 0; i < coverage->files.paths.count; i++)
		count += !coverage->files.list[i].kernel &&
			 !coverage->files.list[i].layout.file.segment_count;
	if (count)
		say_note("%zu of %zu files could not be read: in %s their code is where it is in the file, which may be other addresses",
			 count, coverage->files.paths.count, file->path);
}

bool drcov_write(const struct coverage *coverage, struct fresh_file *file)
{
	FILE *out = file->out;
	size_t i;

	if (!coverage->ranges.count) {
		say_error("--drcov: none of the code that ran is in a file");
		return false;
	}
	if (!fresh_begin(file))
		return false;
	fprintf(out, "DRCOV VERSION: 2\nDRCOV FLAVOR: kipt\n");
	fprintf(out, "Module Table: version 2, count %zu\n", coverage->files.paths.count);
	fprintf(out, "Columns: id, base, end, entry, checksum, timestamp, path\n");
	for (i = 0; i < coverage->files.paths.count; i++)
		module_print(&coverage->files.list[i], i, out);
	fprintf(out, "BB Table: %zu bbs\n", coverage->ranges.count);
	for (i = 0; i < coverage->ranges.count; i++)
		block_write(coverage, &coverage->ranges.list[i], out);
	if (ferror(out))
		fresh_failed(file);
	unread_say(coverage, file);
	return true;
}
