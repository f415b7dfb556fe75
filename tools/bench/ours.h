/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our decoder on a trace, by one thread. User space.
 */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "way.h"

/**
 * bench_ours_create() - memory, and a flow in it that has seen nothing
 * @way: how it decodes
 * @trace: loaded; used as long as the flow is
 * @sink: copied; takes the records
 *
 * Return: the flow, whose memory is given back by bench_ours_destroy(); NULL
 * after a sentence on stderr.
 */
struct kipt_flow *bench_ours_create(const struct bench_way *way,
				    const struct bench_trace *trace,
				    const struct kipt_sink *sink);

/**
 * bench_ours_destroy() - give the memory back
 * @flow: made for @way and @trace; may be NULL
 * @way: as for bench_ours_create()
 * @trace: likewise
 */
void bench_ours_destroy(struct kipt_flow *flow, const struct bench_way *way,
			const struct bench_trace *trace);

/**
 * bench_ours_pass() - decode once, and hand out the counts if there are any
 * @flow: what it remembers is used
 * @way: as for bench_ours_create()
 * @trace: likewise
 */
void bench_ours_pass(struct kipt_flow *flow, const struct bench_way *way,
		     const struct bench_trace *trace);

/**
 * bench_ours_decode() - measure blocks, see bench_child_run()
 * @way: with an output
 * @trace: loaded
 * @figure: written
 *
 * Return: false after a sentence on stderr.
 */
bool bench_ours_decode(const struct bench_way *way,
		       const struct bench_trace *trace,
		       struct bench_figure *figure);

/**
 * bench_ours_sink() - measure until a sink has each branch, see bench_child_run()
 * @way: packed
 * @trace: loaded
 * @figure: written
 *
 * The tool's reader of packed records expands them. Return: false after a sentence on stderr.
 */
bool bench_ours_sink(const struct bench_way *way,
		     const struct bench_trace *trace,
		     struct bench_figure *figure);

/**
 * bench_ours_packets() - measure the reader of packets, see bench_child_run()
 * @way: without an output
 * @trace: loaded
 * @figure: written
 *
 * Return: true.
 */
bool bench_ours_packets(const struct bench_way *way,
			const struct bench_trace *trace,
			struct bench_figure *figure);

#endif /* BENCH_OURS_H */
