// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of ways to decode, see way.h. Leaves the work to ours.c, threads.c
 * and peer.c, and the checks to check.c and threads.c.
 */
#include <stdio.h>

#include "check.h"
#include "ours.h"
#include "peer.h"
#include "threads.h"
#include "way.h"

/* What a reader of the module's fetch has by default. */
#define KERNEL_MEMORY	(8ULL << 20)
#define CALLS		(KIPT_FLOW_CALLS | KIPT_FLOW_TIME)

#define OURS(what)							\
	.core = &bench_core_plain, .output = (what),			\
	.memory = KIPT_FLOW_MEMORY
#define IN_KERNEL(what)							\
	.core = &bench_core_kernel, .output = (what),			\
	.memory = KERNEL_MEMORY
#define BY_EARLIER(what)						\
	.core = &bench_core_earlier, .output = (what),			\
	.memory = KIPT_FLOW_MEMORY

const struct bench_way bench_ways[BENCH_WAYS] = {
	[BENCH_WAY_COUNTS] = { "counts", OURS(KIPT_FLOW_COUNTS) },
	[BENCH_WAY_PACKED] = { "packed", OURS(KIPT_FLOW_PACKED) },
	[BENCH_WAY_CALLS] = { "calls", OURS(CALLS) },
	[BENCH_WAY_FIRST_MB] = { "first megabyte", OURS(KIPT_FLOW_PACKED),
				 .beginning = true },
	[BENCH_WAY_ONE_THREAD] = { "one thread", OURS(KIPT_FLOW_PACKED),
				   .threads = 1 },
	[BENCH_WAY_TWO_THREADS] = { "two threads", OURS(KIPT_FLOW_PACKED),
				    .threads = 2 },
	[BENCH_WAY_COUNTS_KERNEL] = { "counts as in the kernel",
				      IN_KERNEL(KIPT_FLOW_COUNTS) },
	[BENCH_WAY_PACKED_KERNEL] = { "packed as in the kernel",
				      IN_KERNEL(KIPT_FLOW_PACKED) },
	[BENCH_WAY_CALLS_KERNEL] = { "calls as in the kernel",
				     IN_KERNEL(CALLS) },
	[BENCH_WAY_AGAIN] = { "counts once more", OURS(KIPT_FLOW_COUNTS),
			      .again = true },
	[BENCH_WAY_PACKETS] = { "packets", .core = &bench_core_plain },
	[BENCH_WAY_SINK] = { "packed, expanded into a sink",
			     OURS(KIPT_FLOW_PACKED), .sink = true },
	[BENCH_WAY_COUNTS_EARLIER] = { "counts by 1617e1e",
				       BY_EARLIER(KIPT_FLOW_COUNTS) },
	[BENCH_WAY_PACKED_EARLIER] = { "packed by 1617e1e",
				       BY_EARLIER(KIPT_FLOW_PACKED) },
	[BENCH_WAY_CALLS_EARLIER] = { "calls by 1617e1e", BY_EARLIER(CALLS) },
	[BENCH_WAY_LIBIPT] = { "libipt", .output = KIPT_FLOW_BRANCHES },
	[BENCH_WAY_LIBIPT_FIRST_MB] = { "libipt, first megabyte",
					.output = KIPT_FLOW_BRANCHES,
					.beginning = true },
	[BENCH_WAY_LIBIPT_AGAIN] = { "libipt once more",
				     .output = KIPT_FLOW_BRANCHES,
				     .again = true },
	[BENCH_WAY_LIBIPT_PACKETS] = { "libipt, packets" },
	[BENCH_WAY_LIBIPT_SINK] = { "libipt into a sink",
				    .output = KIPT_FLOW_BRANCHES,
				    .sink = true },
};

struct kipt_flow_config bench_way_config(const struct bench_way *way,
					 const struct bench_trace *trace)
{
	struct kipt_flow_config config = trace->config;

	config.output = way->output;
	config.memory = way->memory;
	return config;
}

u64 bench_way_size(const struct bench_way *way, const struct bench_trace *trace)
{
	return way->beginning ? bench_trace_beginning(trace) :
				trace->recording.size;
}

bool bench_way_check(const struct bench_way *way,
		     const struct bench_trace *trace)
{
	if (!way->core)
		return true;
	if (!way->output)
		return bench_check_packets(way->core, trace);
	if (way->threads)
		return way->threads < 2 || bench_threads_check(way, trace);
	return bench_check_flow(way, trace);
}

/* A measurement that is to be made in the child. */
struct task {
	const struct bench_way *way;
	const struct bench_trace *trace;
};

/* Reads a byte of each page, so that no way pays for the page tables of its input: in a virtual
 * machine the first touch of a page costs more than decoding it.
 */
static void touch(const struct recording *recording)
{
	const volatile u8 *bytes = recording->trace;
	u64 at;

	for (at = 0; at < recording->size; at += IMAGE_PAGE)
		(void)bytes[at];
}

static bool measure(const void *ctx, struct bench_figure *figure)
{
	const struct task *task = ctx;
	const struct bench_way *way = task->way;

	touch(&task->trace->recording);
	if (way->core && way->threads)
		return bench_threads_decode(way, task->trace, figure);
	if (way->core && way->sink)
		return bench_ours_sink(way, task->trace, figure);
	if (way->core && way->output)
		return bench_ours_decode(way, task->trace, figure);
	if (way->core)
		return bench_ours_packets(way, task->trace, figure);
	if (way->sink)
		return bench_peer_sink(way, task->trace, figure);
	if (way->output)
		return bench_peer_decode(way, task->trace, figure);
	return bench_peer_packets(way, task->trace, figure);
}

bool bench_way_measure(const struct bench_way *way,
		       const struct bench_trace *trace,
		       struct bench_figure *figure)
{
	struct task task = { way, trace };

	if (bench_child_run(measure, &task, figure))
		return true;
	fprintf(stderr, "bench: %s: %s could not be measured\n", trace->name,
		way->name);
	return false;
}
