/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the benchmark's consumer puts the records it gets: it copies all of
 * them. They are kept to be looked at, or, of modes that make gigabytes, only
 * the newest. User space.
 */
#ifndef BENCH_KEPT_H
#define BENCH_KEPT_H

#include "../../kmod/decode/flow.h"

/**
 * struct bench_kept - records
 * @records: they
 * @count: how many were kept since the last bench_kept_clear()
 * @room: how many fit
 * @newest: start again at the beginning when @room is used up
 */
struct bench_kept {
	struct kipt_record *records;
	u64 count;
	u64 room;
	bool newest;
};

/**
 * bench_kept_init() - nothing is kept
 * @kept: to fill
 * @newest: keep some thousand records only
 */
void bench_kept_init(struct bench_kept *kept, bool newest);

/**
 * bench_kept_uninit() - free the records
 * @kept: initialised
 */
void bench_kept_uninit(struct bench_kept *kept);

/**
 * bench_kept_clear() - forget the records, keep the memory
 * @kept: initialised
 */
void bench_kept_clear(struct bench_kept *kept);

/**
 * bench_kept_add() - a struct kipt_sink.emit
 * @ctx: the struct bench_kept
 * @records: copied
 * @n: how many
 *
 * Return: true; ends the program without memory.
 */
bool bench_kept_add(void *ctx, const struct kipt_record *records, u32 n);

#endif /* BENCH_KEPT_H */
