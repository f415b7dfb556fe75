/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libipt at its best on a trace: its block decoder with code from a mapped
 * file, whose block cache lives on from one decode to the next, and its packet
 * decoder. Owns all that is libipt's. User space.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "way.h"

/**
 * bench_peer_decode() - measure its blocks, see bench_child_run()
 * @way: with an output
 * @trace: loaded
 * @figure: written
 *
 * Image, section cache and decoder are made anew; where a pass came before that
 * is not measured, image and section cache are those of that. Return: false
 * after a sentence on stderr.
 */
bool bench_peer_decode(const struct bench_way *way,
		       const struct bench_trace *trace,
		       struct bench_figure *figure);

/**
 * bench_peer_sink() - measure until a sink has each branch, see bench_child_run()
 * @way: with an output
 * @trace: loaded
 * @figure: written
 *
 * Blocks end at each jump and call. Return: false after a sentence on stderr.
 */
bool bench_peer_sink(const struct bench_way *way,
		     const struct bench_trace *trace,
		     struct bench_figure *figure);

/**
 * bench_peer_packets() - measure its packets, see bench_child_run()
 * @way: without an output
 * @trace: loaded
 * @figure: written
 *
 * Return: false after a sentence on stderr.
 */
bool bench_peer_packets(const struct bench_way *way,
			const struct bench_trace *trace,
			struct bench_figure *figure);

/**
 * bench_peer_name() - which libipt it is
 *
 * Return: its name and version.
 */
const char *bench_peer_name(void);

#endif /* BENCH_PEER_H */
