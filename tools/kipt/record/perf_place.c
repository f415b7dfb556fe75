// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording while it is made, see perf_place.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "../perf/perf_file.h"
#include "perf_place.h"

#define PART_END	".part"

/* What perf keeps in a folder, in an order in which all can be removed. */
static const char *const in_folder[] = {
	"data", "data.old", "kcore_dir/kcore", "kcore_dir/kallsyms",
	"kcore_dir/modules", "kcore_dir", "",
};

/* A file, or the folder of a recording; true if nothing is left. */
static bool recording_remove(const char *path)
{
	char name[4096 + 32];
	size_t i;

	if (!unlink(path) || errno == ENOENT)
		return true;
	for (i = 0; i < sizeof(in_folder) / sizeof(*in_folder); i++) {
		snprintf(name, sizeof(name), "%s/%s", path, in_folder[i]);
		remove(name);
	}
	return access(path, F_OK);
}

static bool is_other_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) && !perf_file_is(path);
}

static void place_free(struct perf_place *place)
{
	free(place->part);
	free(place->data);
	free(place->kcore);
	memset(place, 0, sizeof(*place));
}

static bool names_make(struct perf_place *place, bool folder)
{
	const char *path = place->path;

	if (asprintf(&place->part, "%s" PART_END, path) < 0)
		place->part = NULL;
	if (asprintf(&place->data, "%s" PART_END "%s", path,
		     folder ? "/data" : "") < 0)
		place->data = NULL;
	if (folder && asprintf(&place->kcore, "%s" PART_END "/kcore_dir",
			       path) < 0)
		place->kcore = NULL;
	if (place->part && place->data && (place->kcore || !folder))
		return true;
	say_errno(ENOMEM, "cannot make %s", path);
	return false;
}

/* The kernel is for nobody but who may read it, as with perf. */
static bool folders_make(const struct perf_place *place)
{
	if (!place->kcore ||
	    (!mkdir(place->part, 0700) && !mkdir(place->kcore, 0700)))
		return true;
	say_errno(errno, "cannot make folder %s", place->part);
	rmdir(place->part);
	return false;
}

bool perf_place_make(struct perf_place *place, const char *path, bool folder)
{
	bool ok = false;

	*place = (struct perf_place){ .path = path };
	if (is_other_folder(path))
		say_error("%s is a folder and no recording: it is left alone",
			  path);
	else if (!names_make(place, folder))
		;
	else if (!recording_remove(place->part))
		say_errno(EEXIST, "cannot make %s", place->part);
	else
		ok = folders_make(place);
	if (!ok)
		place_free(place);
	return ok;
}

bool perf_place_settle(struct perf_place *place)
{
	const char *path = place->path, *part = place->part;
	bool ok = !rename(part, path);

	if (!ok) {
		/* One of the two is a folder. */
		ok = !renameat2(AT_FDCWD, part, AT_FDCWD, path,
				RENAME_EXCHANGE);
		if (!ok)
			say_errno(errno, "cannot replace %s: the recording is in %s",
				  path, part);
		else if (!recording_remove(part))
			say_note("what was in %s before is in %s", path, part);
	}
	place_free(place);
	return ok;
}

void perf_place_drop(struct perf_place *place)
{
	if (place->part)
		recording_remove(place->part);
	place_free(place);
}
