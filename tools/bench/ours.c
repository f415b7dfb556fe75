// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running our decoder, see ours.h. Its memory is on large pages as in the tool,
 * and comes from the kernel each time.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "../kipt/records/unpack.h"
#include "ours.h"
#include "reader.h"
#include "sink.h"
#include "stopwatch.h"

#define HUGE_PAGE	(2UL << 20)

/* What is mapped for a flow: it begins at a large page inside of it. */
static size_t map_size(const struct bench_way *way,
		       const struct bench_trace *trace)
{
	struct kipt_flow_config config = bench_way_config(way, trace);
	size_t size = way->core->size(&config) + 2 * HUGE_PAGE;

	return size & ~(HUGE_PAGE - 1);
}

static void *map(size_t size)
{
	u8 *bytes = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (bytes == MAP_FAILED)
		return NULL;
	before = -(size_t)bytes & (HUGE_PAGE - 1);
	if (before)
		munmap(bytes, before);
	munmap(bytes + before + size, HUGE_PAGE - before);
	madvise(bytes + before, size, MADV_HUGEPAGE);
	return bytes + before;
}

struct kipt_flow *bench_ours_create(const struct bench_way *way,
				    const struct bench_trace *trace,
				    const struct kipt_sink *sink)
{
	struct kipt_flow_config config = bench_way_config(way, trace);
	struct kipt_code code = bench_trace_code(trace);
	size_t size = map_size(way, trace);
	struct kipt_flow *flow = NULL;
	void *arena = map(size);

	if (arena)
		flow = way->core->init(arena, size, &config, &code, sink);
	if (!flow)
		fprintf(stderr, "bench: no memory for a flow over %s\n",
			trace->name);
	return flow;
}

/* A flow is the first thing in its memory. */
void bench_ours_destroy(struct kipt_flow *flow, const struct bench_way *way,
			const struct bench_trace *trace)
{
	if (flow)
		munmap(flow, map_size(way, trace));
}

void bench_ours_pass(struct kipt_flow *flow, const struct bench_way *way,
		     const struct bench_trace *trace)
{
	u64 size = bench_way_size(way, trace);

	way->core->run(flow, trace->recording.trace, size, 0, size);
	if (way->output & KIPT_FLOW_COUNTS)
		way->core->counts(flow);
}

bool bench_ours_decode(const struct bench_way *way,
		       const struct bench_trace *trace,
		       struct bench_figure *figure)
{
	static struct bench_reader reader;
	struct kipt_sink sink = { .emit = bench_reader_take, .ctx = &reader };
	double start = stopwatch_thread();
	struct kipt_flow *flow = bench_ours_create(way, trace, &sink);

	if (!flow)
		return false;
	if (way->again) {
		bench_ours_pass(flow, way, trace);
		start = stopwatch_thread();
	}
	bench_ours_pass(flow, way, trace);
	figure->time = stopwatch_thread() - start;
	return true;
}

struct expander {
	struct unpack *unpack;
	struct bench_sink sink;
};

static bool hand(void *ctx, const struct kipt_record *records, u32 n)
{
	struct bench_sink *sink = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		if (records[i].type == KIPT_RECORD_BRANCH)
			bench_sink_take(sink, records[i].ip, records[i].value);
	}
	return true;
}

static bool expand(void *ctx, const struct kipt_record *records, u32 n)
{
	struct expander *expander = ctx;

	return unpack_records(expander->unpack, records, n, hand,
			      &expander->sink);
}

bool bench_ours_sink(const struct bench_way *way,
		     const struct bench_trace *trace,
		     struct bench_figure *figure)
{
	double start = stopwatch_thread();
	struct expander expander = {
		.unpack = unpack_create(),
		.sink = { .left = trace->all.branches },
	};
	struct kipt_sink sink = { .emit = expand, .ctx = &expander };
	struct kipt_flow *flow = bench_ours_create(way, trace, &sink);

	if (!flow || !expander.unpack)
		return false;
	bench_ours_pass(flow, way, trace);
	figure->time = stopwatch_thread() - start;
	figure->hash = expander.sink.hash;
	return true;
}

bool bench_ours_packets(const struct bench_way *way,
			const struct bench_trace *trace,
			struct bench_figure *figure)
{
	double start = stopwatch_thread();
	struct kipt_packet packet;
	struct kipt_cursor cursor;

	kipt_cursor_init(&cursor, trace->recording.trace,
			 trace->recording.size);
	while (way->core->packet(&cursor, &packet) == KIPT_OK)
		figure->packets++;
	figure->time = stopwatch_thread() - start;
	return true;
}
