/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs the decoder core in user space, over a file of raw trace.
 */
#ifndef KIPT_OFFLINE_H
#define KIPT_OFFLINE_H

#include "../../kmod/decode/flow.h"
#include "file_map.h"
#include "image.h"
#include "output.h"

/**
 * offline_decode() - decode a trace
 * @trace: the trace
 * @path: its name, for messages
 * @config: how to read it; its output is set here
 * @image: code
 * @cpu: the CPU it is of, for what is shown
 * @output: where records go
 *
 * Return: true if something was decoded, gaps or not; false after a sentence.
 */
bool offline_decode(const struct file_map *trace, const char *path,
		    const struct kipt_flow_config *config,
		    const struct image *image, u32 cpu,
		    struct output *output);

#endif /* KIPT_OFFLINE_H */
