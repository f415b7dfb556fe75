// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths in perf's folder of build ids, see build_id_cache.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "build_id_cache.h"

void build_id_text(const struct build_id *id, char *text)
{
	u32 i;

	*text = 0;
	for (i = 0; i < id->size && i < BUILD_ID_MAX; i++)
		sprintf(text + 2 * i, "%02x", id->bytes[i]);
}

bool build_id_cache_path(const struct build_id *id, const char *name,
			 const char *path, char *text, size_t size)
{
	const char *dir = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
	const char *in = dir ? dir : home, *below = dir ? "" : "/.debug";
	char hex[BUILD_ID_TEXT];
	int length;

	if (!in)
		return false;
	build_id_text(id, hex);
	if (path)
		length = snprintf(text, size, "%s%s/%s/%s/%s", in, below, path,
				  hex, name);
	else
		length = snprintf(text, size, "%s%s/.build-id/%.2s/%s/%s", in,
				  below, hex, hex + 2, name);
	return length >= 0 && (size_t)length < size;
}
