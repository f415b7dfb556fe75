// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths in perf's folder of build ids, see build_id_cache.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool build_id_cache_form(const struct build_id *id, u32 number, struct build_id *form)
{
	/* The last two: MD5 and UUID, and the fast one of lld. */
	static const u8 sizes[BUILD_ID_FORMS] = { 0, BUILD_ID_PERF, 16, 8 };
	u32 size = number ? sizes[number] : id->size, i;

	if (number && (size == id->size || (size < BUILD_ID_PERF && size > id->size)))
		return false;
	for (i = size; i < id->size && size < BUILD_ID_PERF; i++) {
		if (id->bytes[i])
			return false;
	}
	*form = (struct build_id){ .size = size };
	memcpy(form->bytes, id->bytes, size < id->size ? size : id->size);
	return true;
}
