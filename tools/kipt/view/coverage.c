// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stretches of code and their counts, see coverage.h.
 */
#include <stdlib.h>

#include "coverage.h"

struct coverage *coverage_create(void)
{
	struct coverage *coverage = calloc(1, sizeof(*coverage));

	if (coverage && code_files_init(&coverage->files) &&
	    code_ranges_init(&coverage->ranges))
		return coverage;
	coverage_destroy(coverage);
	return NULL;
}

void coverage_destroy(struct coverage *coverage)
{
	if (!coverage)
		return;
	code_files_free(&coverage->files);
	code_ranges_free(&coverage->ranges);
	free(coverage);
}

void coverage_add(struct coverage *coverage, struct names *names, u32 pid, u64 begin,
		  u64 end)
{
	const struct code_place *place;
	u64 stop;

	for (; begin < end; begin = stop) {
		place = code_files_find(&coverage->files, names, pid, begin);
		stop = place->end > begin && place->end < end ? place->end : end;
		if (place->file == TEXT_NONE)
			coverage->homeless++;
		else
			code_ranges_count(&coverage->ranges, &(struct code_range){
				.begin = place->offset,
				.count = 1,
				.size = stop - begin,
				.file = place->file,
			});
	}
}

/* Code at an offset that the file does not load now was of another file with its path. */
static bool range_settle(void *ctx, struct code_range *range)
{
	struct code_files *files = ctx;
	struct file_layout *layout = &files->list[range->file].layout;

	if (!file_layout_address(layout, range->begin, &range->begin) ||
	    range->begin < layout->begin || range->begin - layout->begin > ~0U)
		return false;
	if (range->begin + range->size > layout->end)
		layout->end = range->begin + range->size;
	return true;
}

void coverage_settle(struct coverage *coverage, struct names *names)
{
	code_files_settle(&coverage->files, names);
	coverage->homeless += code_ranges_settle(&coverage->ranges, range_settle,
						 &coverage->files);
}
