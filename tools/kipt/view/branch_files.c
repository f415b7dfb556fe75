// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch counts in files of other tools, one for each build id.
 *
 * BOLT: what perf2bolt -pa of LLVM 19 reads. A line is "B from to count mispredicted",
 * "F from to count" of a range, whose ends are the addresses of its first instruction and
 * of the branch that ended it, or "f ..." of one that a return from elsewhere began.
 * Addresses are those that the file was linked to have; 0 is outside of it.
 *
 * AutoFDO: what create_llvm_prof --profiler=text reads. The number of ranges and
 * "from-to:count" of each, with the ends as above; the number of addresses that were
 * sampled, of which there are none; the number of branches and "from->to:count" of each,
 * which has both ends in the file. Addresses are offsets in the file: the tool adds to them
 * by how much the executable segment was linked to be elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../cli/printable.h"
#include "../symbols/build_id_cache.h"
#include "branch_profile.h"

#define PATH_ROOM	4096

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

bool branch_profile_open(const char *option, const char *out)
{
	char folder[PATH_ROOM];
	char *end;

	if (snprintf(folder, sizeof(folder), "%s", out) >= PATH_ROOM - BUILD_ID_TEXT) {
		say_error("--%s: its name is too long", option);
		return false;
	}
	end = strrchr(folder, '/');
	if (!is_folder(out)) {
		if (!end)
			strcpy(folder, ".");
		else
			end[end == folder] = 0;
	}
	if (is_folder(folder) && !access(folder, W_OK | X_OK))
		return true;
	if (access(folder, W_OK | X_OK))
		say_errno(errno, "--%s: cannot make files in %s", option, folder);
	else
		say_errno(ENOTDIR, "--%s: cannot make files in %s", option, folder);
	return false;
}

static u64 address_of(const struct file_layout *layout, u64 offset)
{
	u64 address;

	file_layout_address(layout, offset, &address);
	return address;
}

static u64 target_of(const struct code_range *range)
{
	return range->begin + (u64)(s32)range->size;
}

static void bolt_write(const struct code_range *ranges, size_t count,
		       const struct file_layout *layout, FILE *file)
{
	const struct code_range *range;
	u64 begin;

	for (range = ranges; range < ranges + count; range++) {
		begin = address_of(layout, range->begin);
		switch (range->sort) {
		case BRANCH_RANGE:
		case BRANCH_RETURN_RANGE:
			fprintf(file, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				range->sort == BRANCH_RANGE ? 'F' : 'f', begin,
				address_of(layout, range->begin + range->size), range->count);
			break;
		case BRANCH_WITHIN:
			fprintf(file, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", begin,
				address_of(layout, target_of(range)), range->count);
			break;
		case BRANCH_INTO:
			fprintf(file, "B 0 %" PRIx64 " %" PRIu64 " 0\n", begin, range->count);
			break;
		case BRANCH_OUT:
			fprintf(file, "B %" PRIx64 " 0 %" PRIu64 " 0\n", begin, range->count);
		}
	}
}

/* How a range began makes no difference: the two that are one come together. */
static bool range_goes_on(const struct code_range *range, const struct code_range *end)
{
	return range + 1 < end && range->sort == BRANCH_RANGE &&
	       range[1].sort == BRANCH_RETURN_RANGE && range[1].begin == range->begin &&
	       range[1].size == range->size;
}

/* Writes them, or with @file NULL counts them. */
static size_t autofdo_ranges(const struct code_range *ranges, size_t count, FILE *file)
{
	const struct code_range *range, *end = ranges + count;
	u64 ran = 0;
	size_t n = 0;

	for (range = ranges; range < end; range++) {
		if (range->sort > BRANCH_RETURN_RANGE)
			continue;
		ran += range->count;
		if (range_goes_on(range, end))
			continue;
		if (file)
			fprintf(file, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", range->begin,
				range->begin + range->size, ran);
		ran = 0;
		n++;
	}
	return n;
}

static size_t autofdo_branches(const struct code_range *ranges, size_t count, FILE *file)
{
	const struct code_range *range;
	size_t n = 0;

	for (range = ranges; range < ranges + count; range++) {
		if (range->sort != BRANCH_WITHIN)
			continue;
		if (file)
			fprintf(file, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", range->begin,
				target_of(range), range->count);
		n++;
	}
	return n;
}

static void autofdo_write(const struct code_range *ranges, size_t count,
			  const struct file_layout *layout, FILE *file)
{
	(void)layout;
	fprintf(file, "%zu\n", autofdo_ranges(ranges, count, NULL));
	autofdo_ranges(ranges, count, file);
	fprintf(file, "0\n%zu\n", autofdo_branches(ranges, count, NULL));
	autofdo_branches(ranges, count, file);
}

const struct profile_form bolt_form = { "bolt", "BFf", bolt_write };
const struct profile_form autofdo_form = { "autofdo", "0123456789", autofdo_write };

/* The trace, a program or the file of the other form may have this name, too. */
static bool file_is_free(const struct profile_form *form, const char *path)
{
	struct stat st;
	char first = 0;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return true;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, &first, 1) != 1)
			first = 0;
		close(fd);
	}
	if (first && strchr(form->begins, first))
		return true;
	say_error("--%s: %s is there and is no file that --%s wrote; remove it, or give another name",
		  form->option, path, form->option);
	return false;
}

static void written_say(const struct code_file *object, const char *path)
{
	char called[PATH_ROOM];

	snprintf(called, sizeof(called), "%s", object->called ? object->called : "a file");
	plain_text(called);
	say_note("%s has the branches of %s", path, called);
}

bool branch_profile_write(const struct branch_profile *profile, const char *out,
			  const struct profile_form *form)
{
	const struct code_range *ranges = profile->ranges.list;
	size_t begin, end, count = profile->ranges.count;
	char path[PATH_ROOM], id[BUILD_ID_TEXT];
	const struct code_file *object;
	struct fresh_file file;

	for (begin = 0; begin < count; begin = end) {
		for (end = begin; end < count && ranges[end].file == ranges[begin].file; end++)
			;
		object = &profile->files.list[ranges[begin].file];
		build_id_text(&profile->objects[ranges[begin].file].id, id);
		snprintf(path, sizeof(path), "%s%s%s", out, is_folder(out) ? "/" : ".", id);
		if (!file_is_free(form, path) || !fresh_open(&file, path))
			return false;
		if (fresh_begin(&file))
			form->write(ranges + begin, end - begin, &object->layout,
				    file.out);
		if (ferror(file.out))
			fresh_failed(&file);
		if (!fresh_close(&file))
			return false;
		written_say(object, path);
	}
	return true;
}
