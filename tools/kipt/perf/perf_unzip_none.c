// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf_unzip.c is where there is no zstd.
 */
#include "../cli/messages.h"
#include "perf_unzip.h"

struct perf_unzip *perf_unzip_create(const char *path)
{
	say_error("%s: its events are compressed, and this kipt was built without zstd; build it where libzstd-dev is, or record without -z",
		  path);
	return NULL;
}

void perf_unzip_destroy(struct perf_unzip *unzip)
{
	(void)unzip;
}

bool perf_unzip(struct perf_unzip *unzip, const u8 *bytes, u64 size,
		s64 (*take)(void *ctx, const u8 *bytes, u64 size), void *ctx)
{
	(void)unzip;
	(void)bytes;
	(void)size;
	(void)take;
	(void)ctx;
	return false;
}

bool perf_unzip_left(const struct perf_unzip *unzip)
{
	(void)unzip;
	return false;
}
