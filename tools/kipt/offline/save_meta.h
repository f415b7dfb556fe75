/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads meta.json, which save_dir.c wrote beside a raw trace.
 */
#ifndef KIPT_SAVE_META_H
#define KIPT_SAVE_META_H

#include <stdbool.h>

#include "../../../kmod/decode/flow.h"

/**
 * meta_read() - what decoding needs to know of the CPU
 * @path: the file
 * @found: as for file_stream()
 * @config: tsc_num, tsc_den, tsc_near, mtc_freq, max_nonturbo_ratio, no_tnt and
 *	filter are filled, with 0 for what the file does not say
 * @tsc_khz: filled
 *
 * Return: true, or false after a sentence.
 */
bool meta_read(const char *path, bool found, struct kipt_flow_config *config, u32 *tsc_khz);

#endif /* KIPT_SAVE_META_H */
