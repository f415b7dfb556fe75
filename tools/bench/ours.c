// SPDX-License-Identifier: GPL-2.0-only
/*
 * Running our decoder, see ours.h. Its memory is the core's default, on large
 * pages as in the tool.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "ours.h"
#include "stopwatch.h"

#define HUGE_PAGE	(2U << 20)
#define PACKETS_AT_ONCE	256

struct bench_ours {
	const struct bench_core *core;
	const struct bench_trace *trace;
	struct kipt_flow *flow;
	u32 output;
	void *arena;
};

struct bench_ours *bench_ours_create(const struct bench_core *core,
				     const struct bench_trace *trace,
				     u32 output, const struct kipt_sink *sink)
{
	struct kipt_flow_config config = { .output = output };
	struct kipt_code code = {
		.read = image_read,
		.ctx = (void *)&trace->recording.image,
	};
	struct bench_ours *ours = calloc(1, sizeof(*ours));
	size_t room = core->size(&config);

	if (!ours)
		return NULL;
	ours->core = core;
	ours->trace = trace;
	ours->output = output;
	if (!posix_memalign(&ours->arena, HUGE_PAGE, room)) {
		madvise(ours->arena, room, MADV_HUGEPAGE);
		ours->flow = core->init(ours->arena, room, &config, &code, sink);
	}
	if (ours->flow)
		return ours;
	fprintf(stderr, "bench: no memory for a flow over %s\n", trace->name);
	bench_ours_destroy(ours);
	return NULL;
}

void bench_ours_destroy(struct bench_ours *ours)
{
	if (!ours)
		return;
	free(ours->arena);
	free(ours);
}

double bench_ours_decode(struct bench_ours *ours, u64 size, u64 passes)
{
	const u8 *data = ours->trace->recording.trace;
	double start;

	start = stopwatch_thread();
	while (passes--)
		ours->core->run(ours->flow, data, size, 0, size);
	if (ours->output & KIPT_FLOW_COUNTS)
		ours->core->counts(ours->flow);
	return stopwatch_thread() - start;
}

static u64 packets_read(const struct bench_core *core,
			const struct bench_trace *trace)
{
	struct kipt_packet packets[PACKETS_AT_ONCE];
	struct kipt_cursor cursor;
	enum kipt_status status;
	u64 n = 0;
	u32 got;

	kipt_cursor_init(&cursor, trace->recording.trace,
			 trace->recording.size);
	do {
		status = core->packets(&cursor, packets, PACKETS_AT_ONCE, &got);
		n += got;
	} while (status == KIPT_OK);
	return n;
}

double bench_ours_packets(const struct bench_core *core,
			  const struct bench_trace *trace, u64 passes,
			  u64 *count)
{
	double start = stopwatch_thread();

	while (passes--)
		*count = packets_read(core, trace);
	return stopwatch_thread() - start;
}
