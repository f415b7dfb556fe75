// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a folder that save_dir.c made, see saved_dir.h.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../cli/messages.h"
#include "save_meta.h"
#include "saved_dir.h"

static bool pages_add(struct image *image, const char *dir)
{
	char pattern[4096], *suffix;
	bool ok = true;
	glob_t found;
	size_t i;

	/* With the slash it is to be a folder. */
	snprintf(pattern, sizeof(pattern), "%s/", dir);
	if (access(pattern, R_OK | X_OK)) {
		say_errno(errno, "cannot read --dir %s", dir);
		return false;
	}
	snprintf(pattern, sizeof(pattern), "%s/*.addr", dir);
	if (glob(pattern, 0, NULL, &found)) {
		say_error("--dir %s: there is no .addr file in it", dir);
		return false;
	}
	/* user.addr comes last in order, and so counts first. */
	for (i = 0; i < found.gl_pathc && ok; i++) {
		suffix = strrchr(found.gl_pathv[i], '.');
		*suffix = 0;
		ok = image_add_pages(image, found.gl_pathv[i]);
	}
	globfree(&found);
	return ok;
}

void saved_dir_free(struct saved_dir *saved)
{
	image_destroy(saved->image);
	saved->image = NULL;
}

bool saved_dir_add(struct saved_dir *saved, const char *dir, struct kipt_flow_config *config)
{
	char meta[4096];

	if (!saved->image)
		saved->image = image_create();
	if (!saved->image)
		return false;
	snprintf(meta, sizeof(meta), "%s/meta.json", dir);
	snprintf(saved->kallsyms, sizeof(saved->kallsyms), "%s/kallsyms", dir);
	snprintf(saved->maps, sizeof(saved->maps), "%s/maps", dir);
	if (access(saved->kallsyms, R_OK))
		saved->kallsyms[0] = 0;
	if (access(saved->maps, R_OK))
		saved->maps[0] = 0;
	return pages_add(saved->image, dir) &&
	       meta_read(meta, true, config, &saved->tsc_khz);
}
