/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes the trace of a CPU that died with the code of the dump it is in.
 */
#ifndef KIPT_CRASH_DECODE_H
#define KIPT_CRASH_DECODE_H

#include "crash_memory.h"
#include "crash_merge.h"
#include "crash_trace.h"
#include "image.h"
#include "output.h"

/**
 * struct crash_decode - what is decoded, and how
 * @trace: the trace
 * @memory: the code
 * @image: more code, for what the dump has not; NULL: none
 * @tsc_near: a time near the trace's
 * @last: only that many branches, the last; 0: all
 * @merge: gets the records, with times, instead of the output; NULL: it does not
 */
struct crash_decode {
	const struct crash_trace *trace;
	struct crash_memory *memory;
	const struct image *image;
	u64 tsc_near;
	u32 last;
	struct crash_merge *merge;
};

/**
 * crash_decode() - decode one CPU's trace
 * @decode: what, and how
 * @output: where records go
 *
 * A few MiB of the trace are in memory at a time. Ctrl-C ends it early.
 *
 * Return: true, gaps or not; false after a sentence.
 */
bool crash_decode(const struct crash_decode *decode, struct output *output);

#endif /* KIPT_CRASH_DECODE_H */
