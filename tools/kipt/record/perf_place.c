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

#define PART_END	".XXXXXX"

/* What perf keeps in a folder, and in the one in there; both end with NULL. */
static const char *const in_folder[] = { "data", "data.old", NULL };
static const char *const in_kcore[] = { "kcore", "kallsyms", "modules", NULL };

/* These files of a folder; it, or -1. No link is followed. */
static int files_remove(int parent, const char *name, const char *const *files)
{
	int folder = openat(parent, name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	for (; folder >= 0 && *files; files++)
		unlinkat(folder, *files, 0);
	return folder;
}

/* A file, or the folder of a recording; true if nothing is left. */
static bool recording_remove(int parent, const char *name)
{
	int folder, kcore;

	if (!unlinkat(parent, name, 0) || errno == ENOENT)
		return true;
	folder = files_remove(parent, name, in_folder);
	if (folder < 0)
		return false;
	kcore = files_remove(folder, "kcore_dir", in_kcore);
	if (kcore >= 0)
		close(kcore);
	unlinkat(folder, "kcore_dir", AT_REMOVEDIR);
	close(folder);
	return !unlinkat(parent, name, AT_REMOVEDIR);
}

/* All that is in the place, and the place; true if nothing is left. */
static bool part_remove(const struct perf_place *place)
{
	int part = open(place->part,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	/* What a file replaced may be a folder. */
	if (part >= 0) {
		recording_remove(part, "data");
		close(part);
	}
	return recording_remove(AT_FDCWD, place->part);
}

static bool is_other_folder(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode) || perf_file_is(path))
		return false;
	say_error("%s is a folder and no recording: it is left alone", path);
	return true;
}

static void place_free(struct perf_place *place)
{
	free(place->part);
	free(place->aside);
	free(place->data);
	free(place->kcore);
	memset(place, 0, sizeof(*place));
}

/* A name that nothing has, and a folder of that name for nobody else. */
static bool part_make(struct perf_place *place)
{
	if (asprintf(&place->part, "%s" PART_END, place->path) < 0) {
		place->part = NULL;
		say_errno(ENOMEM, "cannot make %s", place->path);
		return false;
	}
	if (mkdtemp(place->part))
		return true;
	say_errno(errno, "cannot make folder %s" PART_END, place->path);
	free(place->part);
	place->part = NULL;
	return false;
}

static bool names_make(struct perf_place *place, bool folder)
{
	if (asprintf(&place->aside, "%s.before", place->part) < 0)
		place->aside = NULL;
	if (asprintf(&place->data, "%s/data", place->part) < 0)
		place->data = NULL;
	if (folder && asprintf(&place->kcore, "%s/kcore_dir", place->part) < 0)
		place->kcore = NULL;
	if (place->aside && place->data && (place->kcore || !folder))
		return true;
	say_errno(ENOMEM, "cannot make %s", place->path);
	return false;
}

bool perf_place_make(struct perf_place *place, const char *path, bool folder)
{
	*place = (struct perf_place){ .path = path };
	if (is_other_folder(path) || !part_make(place))
		return false;
	/* The kernel is for nobody but who may read it, as with perf. */
	if (names_make(place, folder)) {
		if (!folder || !mkdir(place->kcore, 0700))
			return true;
		say_errno(errno, "cannot make folder %s", place->kcore);
	}
	perf_place_drop(place);
	return false;
}

/* Between the two renames nothing has the name; what had it is @aside. */
static bool aside_replace(const char *made, const char *path, const char *aside)
{
	int err;

	if (rename(path, aside))
		return false;
	if (!rename(made, path))
		return true;
	err = errno;
	if (rename(aside, path))
		say_note("what was in %s before is in %s", path, aside);
	errno = err;
	return false;
}

/* The second is for a folder that is one of the two, and the third for file systems, as NFS,
 * that exchange no names. What was there is @made then, or @aside.
 */
static bool name_take(const char *made, const char *path, const char *aside)
{
	return !rename(made, path) ||
	       !renameat2(AT_FDCWD, made, AT_FDCWD, path, RENAME_EXCHANGE) ||
	       (errno == EINVAL && aside_replace(made, path, aside));
}

bool perf_place_settle(struct perf_place *place)
{
	const char *made = place->kcore ? place->part : place->data;
	const char *path = place->path;
	bool ok = false;

	if (is_other_folder(path))
		errno = EISDIR;
	else
		ok = name_take(made, path, place->aside);
	if (!ok)
		say_errno(errno, "cannot replace %s: the recording is in %s",
			  path, made);
	else if (!recording_remove(AT_FDCWD, place->aside))
		say_note("what was in %s before is in %s", path, place->aside);
	else if (!part_remove(place))
		say_note("what was in %s before is in %s", path, made);
	place_free(place);
	return ok;
}

void perf_place_drop(struct perf_place *place)
{
	if (place->part)
		part_remove(place);
	place_free(place);
}
