// SPDX-License-Identifier: GPL-2.0-only
/*
 * Comparing ways to decode, see check.h.
 */
#include <stdio.h>

#include "../kipt/records/unpack.h"
#include "check.h"
#include "ours.h"

struct check {
	const struct bench_way *way;
	const struct bench_trace *trace;
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

static bool equal(const struct bench_way *way, const struct bench_digest *got,
		  const struct bench_digest *wanted)
{
	return bench_digest_equal(got, wanted) &&
	       (way->output & KIPT_FLOW_COUNTS || got->order == wanted->order) &&
	       (!(way->output & KIPT_FLOW_TIME) || got->times == wanted->times);
}

static bool compare(const struct check *check, const char *when)
{
	const struct bench_trace *trace = check->trace;
	const struct bench_digest *wanted = &trace->all;
	const struct bench_digest *got = &check->digests.all;

	if (check->way->beginning)
		wanted = &trace->beginning;
	if (check->way->output & KIPT_FLOW_CALLS) {
		wanted = &trace->calls;
		got = &check->digests.calls;
	}
	if (equal(check->way, got, wanted))
		return true;
	fprintf(stderr, "bench: %s, %s, %s: %llu branches, or their edges, times or gaps, differ from the %llu of the slow path\n",
		trace->name, check->way->name, when,
		(unsigned long long)got->branches,
		(unsigned long long)wanted->branches);
	return false;
}

static bool passes(struct check *check, struct kipt_flow *flow)
{
	bench_ours_pass(flow, check->way, check->trace);
	if (!compare(check, "first pass"))
		return false;
	if (!check->way->again)
		return true;
	memset(&check->digests, 0, sizeof(check->digests));
	bench_ours_pass(flow, check->way, check->trace);
	return compare(check, "second pass");
}

bool bench_check_flow(const struct bench_way *way,
		      const struct bench_trace *trace)
{
	struct check check = {
		.way = way, .trace = trace, .unpack = unpack_create(),
	};
	struct kipt_sink sink = {
		.emit = way->output & KIPT_FLOW_PACKED ? digest_packed :
							digest_plain,
		.ctx = &check,
	};
	struct kipt_flow *flow = bench_ours_create(way, trace, &sink);
	bool good = flow && check.unpack && passes(&check, flow);

	bench_ours_destroy(flow, way, trace);
	unpack_destroy(check.unpack);
	return good;
}

bool bench_check_packets(const struct bench_core *core,
			 const struct bench_trace *trace)
{
	struct kipt_packet packet;
	struct kipt_cursor cursor;
	u64 count = 0, hash = 0;

	kipt_cursor_init(&cursor, trace->recording.trace,
			 trace->recording.size);
	for (; core->packet(&cursor, &packet) == KIPT_OK; count++)
		hash = bench_trace_hash(hash, &packet);
	if (count == trace->packets && hash == trace->packet_hash)
		return true;
	fprintf(stderr, "bench: %s, packets: %llu differ from the %llu that were read before\n",
		trace->name, (unsigned long long)count,
		(unsigned long long)trace->packets);
	return false;
}
