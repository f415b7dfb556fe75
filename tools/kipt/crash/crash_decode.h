/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes the trace of a CPU that died with code of the dump it is in, of the running
 * kernel or of files; kernel text as it was when it ran, as far as the module's log of
 * patches says.
 */
#ifndef KIPT_CRASH_DECODE_H
#define KIPT_CRASH_DECODE_H

#include "../../../kmod/shared/excerpt_end.h"
#include "../symbols/code_image.h"
#include "../symbols/kernel_text.h"
#include "../view/record_output.h"
#include "dump_memory.h"
#include "fatal_program.h"
#include "merge_by_time.h"
#include "module_logs.h"
#include "trace_ring.h"

/**
 * struct crash_decode - what is decoded, and how
 * @trace: the trace
 * @memory: the code; NULL: there is none
 * @live: the running kernel's code, where @memory has none; NULL: there is none
 * @image: more code, for what the dump has not; NULL: none
 * @program: only its user code is shown, up to where it was killed; NULL: all is
 * @logs: who ran, and what was patched
 * @tsc_khz: of the clock of all times
 * @tsc_near: a time near the trace's
 * @last: only that many branches, the last; 0: all
 * @calls: @last counts calls
 * @end: what came after the last place like this is only counted; NULL: it is
 *	shown, too
 * @merge: gets the records, with times, instead of the output; NULL: it does not
 */
struct crash_decode {
	const struct crash_trace *trace;
	struct crash_memory *memory;
	struct kcore *live;
	const struct image *image;
	const struct crash_program *program;
	const struct crash_logs *logs;
	u32 tsc_khz;
	u64 tsc_near;
	u32 last;
	bool calls;
	const struct kipt_excerpt_end *end;
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
