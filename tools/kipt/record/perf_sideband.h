/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What processes map, are called and where they run, as perf of the kernel says
 * while a recording is made: one event on each CPU that counts nothing.
 */
#ifndef KIPT_PERF_SIDEBAND_H
#define KIPT_PERF_SIDEBAND_H

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>

#include "../perf/perf_aux.h"

/**
 * struct sideband_ring - the events of one CPU
 * @cpu: which
 * @fd: of perf_event_open()
 * @id: the number its events say
 * @page: what the kernel shares, followed by events
 * @bytes: of events there is room for, a power of two
 * @seen: one came
 * @first: who made that
 */
struct sideband_ring {
	u32 cpu;
	int fd;
	u64 id;
	struct perf_event_mmap_page *page;
	u64 bytes;
	bool seen;
	struct perf_stamp first;
};

/**
 * struct sideband - the events of all CPUs
 * @rings: one for each CPU that is online
 * @count: how many
 * @attr: what the kernel agreed to
 * @clock: from its clock to the TSC; its @mult is 0 if the kernel gives none
 * @begun: when all were open, in nanoseconds of its clock; 0 without @clock
 * @lost: events the kernel had no room for
 * @maps_only: who runs, and what of the kernel changes, is not recorded
 * @take: gets whole events, one after the other, as the kernel wrote them; false
 *	says that it can take no more. Called by sideband_start()'s thread, and by
 *	sideband_read() and sideband_stop()
 * @ctx: its first argument
 * @failed: @take said so, or an event makes no sense
 * @taken: an event came since the last round over all rings began
 * @copy: room for the events of one ring
 * @thread: reads as long as @running
 * @running: it was started
 * @stopping: it is to end
 */
struct sideband {
	struct sideband_ring *rings;
	u32 count;
	struct perf_event_attr attr;
	struct perf_clock clock;
	u64 begun;
	u64 lost;
	bool maps_only;
	bool (*take)(void *ctx, const u8 *bytes, u64 size);
	void *ctx;
	bool failed;
	bool taken;
	u8 *copy;
	pthread_t thread;
	bool running;
	atomic_bool stopping;
};

/**
 * sideband_open() - let the kernel record from now on
 * @sideband: @take, @ctx and @maps_only are set, the rest is zero; sideband_close() frees it
 *
 * What the kernel is too old for is left out of @attr.
 *
 * Return: true, or false after a sentence, with nothing left to close: perf is not
 * allowed (EACCES, EPERM), the kernel has none, there is no memory.
 */
bool sideband_open(struct sideband *sideband);

/**
 * sideband_read() - read what came so far, in between
 * @sideband: was opened, and not started
 *
 * That earlier events may follow is left to @take's caller: it ends no round. What fails
 * is in @failed.
 */
void sideband_read(struct sideband *sideband);

/**
 * sideband_start() - read while others work, in a thread of its own
 * @sideband: was opened
 *
 * Return: true, or false after a sentence: there is no thread to be had.
 */
bool sideband_start(struct sideband *sideband);

/**
 * sideband_stop() - end the recording, and read what is left
 * @sideband: was opened, maybe started
 *
 * Return: true, or false if @take failed, which has said so, or after a sentence.
 */
bool sideband_stop(struct sideband *sideband);

/**
 * sideband_close() - free it
 * @sideband: may be all zero; is afterwards
 */
void sideband_close(struct sideband *sideband);

/**
 * sideband_ring_of() - the events of a CPU
 * @sideband: was opened
 * @cpu: which
 *
 * Return: its ring, or NULL if the CPU was not online.
 */
const struct sideband_ring *sideband_ring_of(const struct sideband *sideband,
					     u32 cpu);

#endif /* KIPT_PERF_SIDEBAND_H */
