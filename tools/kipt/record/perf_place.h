/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a recording for perf is until it is complete: in a folder of its own beside its
 * name, NAME.XXXXXX with letters that make it the only one, for its owner alone. What has
 * the name already is replaced at once where the file system can, and stays as it was if
 * there is nothing to replace it.
 */
#ifndef KIPT_PERF_PLACE_H
#define KIPT_PERF_PLACE_H

#include <stdbool.h>

/**
 * struct perf_place - such a place
 * @path: where it will be; the caller's
 * @part: the folder where it is meanwhile; owned
 * @aside: where what is replaced is meanwhile, if the file system exchanges no names; owned
 * @data: of @part, the file of events; owned
 * @kcore: of @part, the folder of what the kernel is; owned; NULL: it will be a file, @data
 */
struct perf_place {
	const char *path;
	char *part;
	char *aside;
	char *data;
	char *kcore;
};

/**
 * perf_place_make() - be ready
 * @place: filled; perf_place_settle() or perf_place_drop() frees it
 * @path: where the recording will be; must live as long
 * @folder: whether it has the kernel too; its folders are made then
 *
 * Return: true, or false after a sentence, with nothing left: a folder that is no
 * recording is there, no folder can be made, or there is no memory.
 */
bool perf_place_make(struct perf_place *place, const char *path, bool folder);

/**
 * perf_place_settle() - give it its name
 * @place: was made, and all files are complete; freed
 *
 * Return: true, or false after a sentence: it is left in @part then.
 */
bool perf_place_settle(struct perf_place *place);

/**
 * perf_place_drop() - remove it
 * @place: freed; may be all zero
 */
void perf_place_drop(struct perf_place *place);

#endif /* KIPT_PERF_PLACE_H */
