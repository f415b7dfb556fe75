/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoding by the threads of the tool, tools/kipt/jobs.h: one and two, with the
 * same memory in all; and the proof that what comes out is the same. User space.
 */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include "way.h"

/**
 * bench_threads_check() - hold several threads against the walk of one
 * @way: ours, packed, with threads
 * @trace: loaded
 *
 * The packed records of the threads, expanded, must be byte for byte those that
 * one thread makes that walks every block. Return: false after a sentence on
 * stderr.
 */
bool bench_threads_check(const struct bench_way *way,
			 const struct bench_trace *trace);

/**
 * bench_threads_decode() - measure them on the wall, see bench_child_run()
 * @way: ours, with threads
 * @trace: loaded
 * @figure: written, what other programs used meanwhile too
 *
 * Return: false after a sentence on stderr.
 */
bool bench_threads_decode(const struct bench_way *way,
			  const struct bench_trace *trace,
			  struct bench_figure *figure);

#endif /* BENCH_THREADS_H */
