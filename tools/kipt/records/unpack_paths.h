/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PATH and PATHS records of one dictionary, in files of version 2; see
 * uapi/linux/kipt_record.h.
 */
#ifndef KIPT_UNPACK_PATHS_H
#define KIPT_UNPACK_PATHS_H

#include "unpack_out.h"

struct unpack_path;

/**
 * struct unpack_paths - paths by number; all 0: there are none
 * @at: by number
 * @size: of @at
 * @defined: PATH records that came
 * @coming: a path whose records are coming in
 * @missing: how many of them
 */
struct unpack_paths {
	struct unpack_path **at;
	u32 size;
	u32 defined;
	struct unpack_path *coming;
	u32 missing;
};

/**
 * unpack_paths_free() - free what they hold
 * @paths: are not used any more
 */
void unpack_paths_free(struct unpack_paths *paths);

/**
 * unpack_paths_take() - take what names a path, or take paths
 * @paths: of the dictionary
 * @out: gets the records of paths that are taken
 * @r: a PATH or PATHS record, or any if @paths->missing is not 0
 *
 * Return: true, or false after a sentence, or if nobody wants any more.
 */
bool unpack_paths_take(struct unpack_paths *paths, struct unpack_out *out,
		       const struct kipt_record *r);

#endif /* KIPT_UNPACK_PATHS_H */
