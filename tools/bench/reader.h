/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who takes the records that are measured: it copies all of them into a small
 * buffer, as one does that hands them on. User space.
 */
#ifndef BENCH_READER_H
#define BENCH_READER_H

#include "../../kmod/decode/flow.h"

#define BENCH_READER_RECORDS	4096U

/**
 * struct bench_reader - records on their way
 * @count: how many came
 * @buffer: the newest
 */
struct bench_reader {
	u64 count;
	struct kipt_record buffer[BENCH_READER_RECORDS];
};

/**
 * bench_reader_take() - a struct kipt_sink.emit
 * @ctx: the struct bench_reader
 * @records: copied
 * @n: how many
 *
 * Return: true.
 */
static inline bool bench_reader_take(void *ctx,
				     const struct kipt_record *records, u32 n)
{
	struct bench_reader *reader = ctx;
	u32 some;

	reader->count += n;
	for (; n; n -= some, records += some) {
		some = n < BENCH_READER_RECORDS ? n : BENCH_READER_RECORDS;
		memcpy(reader->buffer, records, some * sizeof(*records));
	}
	return true;
}

#endif /* BENCH_READER_H */
