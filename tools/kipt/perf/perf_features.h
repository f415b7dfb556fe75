/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording of perf says of the machine it was made on.
 */
#ifndef KIPT_PERF_FEATURES_H
#define KIPT_PERF_FEATURES_H

#include "perf_write.h"

#define PERF_FEATURES_MOST	16

/**
 * struct perf_feature - one thing it says
 * @bytes: as the file has it; owned
 * @size: how many
 */
struct perf_feature {
	u8 *bytes;
	size_t size;
};

/**
 * struct perf_features - all it says
 * @bits: which there are
 * @list: in the order of the bits
 * @count: how many
 */
struct perf_features {
	u64 bits;
	struct perf_feature list[PERF_FEATURES_MOST];
	u32 count;
};

/**
 * perf_features_make() - put together what is known of this machine
 * @features: all zero; filled, perf_features_free() frees it
 * @writer: the recording, with all its events
 * @attrs: what was recorded
 * @count: how many
 *
 * Return: true, or false without memory.
 */
bool perf_features_make(struct perf_features *features,
			const struct perf_writer *writer,
			const struct perf_write_attr *attrs, u32 count);

/**
 * perf_features_free() - free it
 * @features: may be all zero
 */
void perf_features_free(struct perf_features *features);

#endif /* KIPT_PERF_FEATURES_H */
