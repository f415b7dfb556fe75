/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes a recording of perf, with the code its events name.
 */
#ifndef KIPT_PERF_DECODE_H
#define KIPT_PERF_DECODE_H

#include "../../../kmod/decode/flow.h"
#include "../symbols/code_image.h"
#include "../view/record_output.h"
#include "part_cut.h"

/**
 * struct perf_decode - what is decoded, and how
 * @path: the recording
 * @image: further code; counts where the recording names none
 * @image_maps: its mappings, for names; moved
 * @memory: for what is cached; 0: as the core likes
 * @jobs: threads, 1..JOBS_MAX
 * @part: which part of all traces together is shown
 * @strict: any gap is a failure
 * @symfs: folder with a copy of the files of the machine, or NULL
 * @vmlinux: file of the kernel, or NULL
 * @demangle: names are shown as the source has them
 */
struct perf_decode {
	const char *path;
	struct image *image;
	struct maps *image_maps;
	u64 memory;
	u32 jobs;
	struct part part;
	bool strict;
	const char *symfs;
	const char *vmlinux;
	bool demangle;
};

/**
 * perf_decode() - decode a recording
 * @decode: what, and how
 * @options: how it is shown; a kallsyms of the recording is taken if it names none
 *
 * One CPU or thread after the other. What code is missing is listed at the end.
 *
 * Return: true, or false after a sentence.
 */
bool perf_decode(const struct perf_decode *decode,
		 struct view_options *options);

#endif /* KIPT_PERF_DECODE_H */
