/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the decoder core in user space, over a file of raw trace.
 */
#ifndef KIPT_DECODE_FILES_H
#define KIPT_DECODE_FILES_H

#include "../../../kmod/decode/flow.h"
#include "../cli/file_map.h"
#include "../symbols/code_image.h"
#include "../view/record_output.h"

/**
 * struct offline - what is decoded, and how
 * @trace: the trace
 * @path: its name, for messages
 * @config: how to read it; its output is chosen here, its memory is for all
 *	jobs together
 * @image: code
 * @cpu: the CPU it is of, for what is shown
 * @jobs: threads, 1..JOBS_MAX
 */
struct offline {
	const struct file_map *trace;
	const char *path;
	struct kipt_flow_config config;
	const struct image *image;
	u32 cpu;
	u32 jobs;
};

/**
 * offline_decode() - decode a trace
 * @offline: what, and how
 * @output: where records go
 *
 * Ctrl-C ends it early, with what was decoded until then.
 *
 * Return: true if something was decoded, gaps or not; false after a sentence.
 */
bool offline_decode(const struct offline *offline, struct output *output);

#endif /* KIPT_DECODE_FILES_H */
