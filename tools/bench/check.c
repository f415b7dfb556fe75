// SPDX-License-Identifier: GPL-2.0-only
/*
 * Comparing ways to decode, see check.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../kipt/unpack.h"
#include "check.h"
#include "ours.h"

struct check {
	struct bench_digests digests;
	struct unpack *unpack;
};

static bool digest_plain(void *ctx, const struct kipt_record *records, u32 n)
{
	struct check *check = ctx;

	return bench_digest_records(&check->digests, records, n);
}

static bool digest_packed(void *ctx, const struct kipt_record *records, u32 n)
{
	struct check *check = ctx;

	return unpack_records(check->unpack, records, n, digest_plain, check);
}

static bool compare(const struct check *check, const struct bench_trace *trace,
		    u32 output, const char *when)
{
	bool calls = output & KIPT_FLOW_CALLS;
	const struct bench_digest *wanted = calls ? &trace->digests.calls :
						    &trace->digests.all;
	const struct bench_digest *got = calls ? &check->digests.calls :
						 &check->digests.all;

	if (bench_digest_equal(got, wanted) &&
	    (output & KIPT_FLOW_COUNTS || got->order == wanted->order))
		return true;
	fprintf(stderr, "bench: %s, output %#x, %s: %llu branches, or edges or gaps of them, differ from the %llu of the walk without memo\n",
		trace->name, output, when, (unsigned long long)got->branches,
		(unsigned long long)wanted->branches);
	return false;
}

bool bench_check_flow(const struct bench_core *core,
		      const struct bench_trace *trace, u32 output)
{
	struct check check = { .unpack = unpack_create() };
	struct kipt_sink sink = {
		.emit = output & KIPT_FLOW_PATHS ? digest_packed : digest_plain,
		.ctx = &check,
	};
	struct bench_ours *ours = bench_ours_create(core, trace, output, &sink);
	bool good = ours && check.unpack;

	if (good) {
		bench_ours_decode(ours, trace->recording.size, 1);
		good = compare(&check, trace, output, "cold");
	}
	if (good) {
		memset(&check.digests, 0, sizeof(check.digests));
		bench_ours_decode(ours, trace->recording.size, 1);
		good = compare(&check, trace, output, "remembering");
	}
	bench_ours_destroy(ours);
	unpack_destroy(check.unpack);
	return good;
}

bool bench_check_packets(const struct bench_core *core,
			 const struct bench_trace *trace)
{
	struct kipt_packet packets[256];
	struct kipt_cursor cursor;
	enum kipt_status status;
	u64 count = 0, hash = 0;
	u32 i, n;

	kipt_cursor_init(&cursor, trace->recording.trace,
			 trace->recording.size);
	do {
		status = core->packets(&cursor, packets, 256, &n);
		for (i = 0; i < n; i++)
			hash = bench_trace_hash(hash, &packets[i]);
		count += n;
	} while (status == KIPT_OK);
	if (count == trace->packets && hash == trace->packet_hash)
		return true;
	fprintf(stderr, "bench: %s, packets: %llu read at once differ from %llu read one by one\n",
		trace->name, (unsigned long long)count,
		(unsigned long long)trace->packets);
	return false;
}
