/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the decoder core in user space, over a file of raw trace.
 */
#ifndef KIPT_DECODE_FILES_H
#define KIPT_DECODE_FILES_H

#include "../../../kmod/decode/flow.h"
#include "../symbols/code_image.h"
#include "../view/record_output.h"
#include "part_cut.h"
#include "saved_dir.h"

/**
 * struct offline - what is decoded, and how
 * @path: file of the trace, which is of CPU N if it is called cpuN.pt, else of CPU 0
 * @config: how to read it; its output is chosen here, its memory is for all
 *	jobs together
 * @image: code
 * @image_maps: its mappings, which are moved away
 * @saved: symbols and mappings beside the trace, for those that the options do not
 *	name; and the frequency of its TSC
 * @jobs: threads, 1..JOBS_MAX
 * @part: which part of the trace is shown
 * @strict: fail if there is any gap
 * @demangle: show names of C++ and Rust as their source has them
 */
struct offline {
	const char *path;
	struct kipt_flow_config config;
	const struct image *image;
	struct maps *image_maps;
	const struct saved_dir *saved;
	u32 jobs;
	struct part part;
	bool strict;
	bool demangle;
};

/**
 * offline_decode() - decode a trace
 * @offline: what, and how
 * @options: what is shown of it, or where records go
 *
 * Ctrl-C ends it early, with what was decoded until then.
 *
 * Return: true if something was decoded, gaps or not; false after a sentence, or if
 * there are gaps and @offline->strict.
 */
bool offline_decode(const struct offline *offline,
		    struct view_options *options);

#endif /* KIPT_DECODE_FILES_H */
