/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace of a CPU that died, in the order in which it was written: from the
 * ring in the dump, whose end is known from the CPU's registers or has to be
 * looked for.
 */
#ifndef KIPT_TRACE_RING_H
#define KIPT_TRACE_RING_H

#include "crash_pages.h"

/**
 * enum crash_end - how the end of a trace is known
 * @CRASH_END_STOPPED: the CPU stopped for the crash
 * @CRASH_END_BEFORE: it was stopped before the crash
 * @CRASH_END_ZEROS: the ring was not written round, the end is the last byte
 *	that is not 0
 * @CRASH_END_TIMES: from one PSB to the next times go back: the end is between
 *	them, and the trace is given up to the first of them
 * @CRASH_END_NONE: it cannot be found out, there is no trace to give
 */
enum crash_end {
	CRASH_END_STOPPED = 1,
	CRASH_END_BEFORE,
	CRASH_END_ZEROS,
	CRASH_END_TIMES,
	CRASH_END_NONE,
};

/**
 * struct crash_trace - a trace in order
 * @cpu: whose
 * @source: the memory
 * @first: offset in the ring of its first byte
 * @size: its bytes
 * @overwritten: there was more before, so it begins anywhere in a packet
 * @end: how that is known
 * @unsure: bytes after it that may be newer or older, and are not given
 */
struct crash_trace {
	const struct crash_cpu *cpu;
	const struct crash_source *source;
	u64 first;
	u64 size;
	bool overwritten;
	enum crash_end end;
	u64 unsure;
};

/**
 * crash_trace_find() - find begin and end
 * @trace: filled
 * @cpu: must live as long
 * @source: must live as long
 *
 * Return: true, or false without memory.
 */
bool crash_trace_find(struct crash_trace *trace, const struct crash_cpu *cpu,
		      const struct crash_source *source);

/**
 * crash_trace_read() - bytes of the trace
 * @trace: the trace
 * @at: offset in it
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were copied: less than @size at the end, and where the next
 * one is not in the dump.
 */
u32 crash_trace_read(const struct crash_trace *trace, u64 at, u8 *bytes,
		     u32 size);

/**
 * crash_trace_missing() - how much is missing
 * @trace: the trace
 * @at: offset in it
 *
 * Return: so many bytes from @at on are not in the dump.
 */
u64 crash_trace_missing(const struct crash_trace *trace, u64 at);

#endif /* KIPT_TRACE_RING_H */
