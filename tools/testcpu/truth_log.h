/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writer of the ground truth file of one vCPU; the format is truth.h. Fed by
 * the trace model with what executed, never with packets. Owned by the
 * vCPU's thread; no locks.
 */
#ifndef TESTCPU_TRUTH_LOG_H
#define TESTCPU_TRUTH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "truth.h"

#define TRUTH_LOG_OFF	0

/**
 * struct truth_log - state of the writer
 * @mode: TRUTH_LOG_OFF, TRUTH_FULL or TRUTH_HASH
 * @fd: the file, -1 when nothing is written
 * @failed: a write failed; the rest is dropped and was reported once
 * @hash: running hash since the last start
 * @count: branch entries since the last start
 * @used: entries in @buf
 * @buf: entries not yet written, @size of them
 * @size: room in @buf
 * @clock: the TSC, for branch entries; NULL: they have none
 * @clock_ctx: for @clock
 */
struct truth_log {
	int mode;
	int fd;
	bool failed;
	uint64_t hash;
	uint64_t count;
	size_t used;
	struct truth_entry *buf;
	size_t size;
	uint64_t (*clock)(void *ctx);
	void *clock_ctx;
};

/**
 * truth_log_open - begin truth.<vcpu> in a folder
 * @log: filled
 * @dir: the folder
 * @vcpu: number in the file name and the header
 * @mode: TRUTH_LOG_OFF opens nothing
 *
 * Return: true, or false with errno when the file cannot be made; @log is
 * then as if @mode were TRUTH_LOG_OFF.
 */
bool truth_log_open(struct truth_log *log, const char *dir, unsigned int vcpu,
		    int mode);

/** truth_log_start - TraceEn was set: hash and count begin anew */
void truth_log_start(struct truth_log *log, uint64_t tsc, uint64_t ctl);

/** truth_log_stop - TraceEn was cleared: sum, mark, and all goes to disk */
void truth_log_stop(struct truth_log *log, uint64_t tsc, uint64_t ctl);

/** truth_log_flush - write out what is buffered */
void truth_log_flush(struct truth_log *log);

/** truth_log_close - flush and close; @log may be opened again */
void truth_log_close(struct truth_log *log);

/** truth_log_add - append one entry in full mode, add to the sums always */
static inline void truth_log_add(struct truth_log *log, uint8_t kind,
				 uint32_t aux, uint64_t from, uint64_t to)
{
	uint16_t clock_high = 0;

	if (log->mode == TRUTH_LOG_OFF)
		return;
	if (kind < TRUTH_ENABLE) {
		log->hash = (log->hash ^ from) * TRUTH_HASH_PRIME;
		log->hash = (log->hash ^ to) * TRUTH_HASH_PRIME;
		log->count++;
	}
	if (log->mode != TRUTH_FULL && kind != TRUTH_SUM)
		return;
	if (log->clock && kind < TRUTH_ENABLE) {
		uint64_t tsc = log->clock(log->clock_ctx);

		aux = (uint32_t)tsc;
		clock_high = (uint16_t)(tsc >> 32);
	}
	if (log->used == log->size)
		truth_log_flush(log);
	log->buf[log->used++] = (struct truth_entry) {
		.kind = kind,
		.clock_high = clock_high,
		.aux = aux,
		.from = from,
		.to = to,
	};
}

#endif /* TESTCPU_TRUTH_LOG_H */
