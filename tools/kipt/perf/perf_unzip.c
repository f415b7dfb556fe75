// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decompresses events, see perf_unzip.h. Memory has a bound, whatever the
 * stream says.
 */
#include <errno.h>
#include <stdlib.h>

#include <zstd.h>

#include "../cli/messages.h"
#include "perf_unzip.h"

/* An event has less than 64 KiB: as much may be left of the last time. */
#define ROOM	(512 << 10)
/* perf ends a block with each piece, and the stream never: the head of another
 * block may come.
 */
#define BLOCK_HEAD	3

struct perf_unzip {
	const char *path;
	ZSTD_DStream *stream;
	u64 used;
	/* Bytes that are wanted next. */
	u64 wanted;
	u8 plain[ROOM];
};

struct perf_unzip *perf_unzip_create(const char *path)
{
	struct perf_unzip *unzip = calloc(1, sizeof(*unzip));

	if (unzip) {
		unzip->path = path;
		unzip->stream = ZSTD_createDStream();
	}
	if (unzip && unzip->stream)
		return unzip;
	say_errno(ENOMEM, "cannot decompress %s", path);
	free(unzip);
	return NULL;
}

void perf_unzip_destroy(struct perf_unzip *unzip)
{
	if (!unzip)
		return;
	ZSTD_freeDStream(unzip->stream);
	free(unzip);
}

static bool plain_give(struct perf_unzip *unzip,
		       s64 (*take)(void *ctx, const u8 *bytes, u64 size),
		       void *ctx)
{
	s64 taken = take(ctx, unzip->plain, unzip->used);

	if (taken < 0)
		return false;
	unzip->used -= taken;
	memmove(unzip->plain, unzip->plain + taken, unzip->used);
	return true;
}

bool perf_unzip(struct perf_unzip *unzip, const u8 *bytes, u64 size,
		s64 (*take)(void *ctx, const u8 *bytes, u64 size), void *ctx)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	size_t result;
	bool full;

	do {
		ZSTD_outBuffer out = { unzip->plain, ROOM, unzip->used };

		result = ZSTD_decompressStream(unzip->stream, &out, &in);
		if (ZSTD_isError(result)) {
			say_error("%s: its events cannot be decompressed: %s",
				  unzip->path, ZSTD_getErrorName(result));
			return false;
		}
		full = out.pos == ROOM;
		unzip->wanted = result;
		unzip->used = out.pos;
		if (!plain_give(unzip, take, ctx))
			return false;
	} while (in.pos < in.size || full);
	return true;
}

bool perf_unzip_left(const struct perf_unzip *unzip)
{
	return unzip && (unzip->used || unzip->wanted > BLOCK_HEAD);
}
