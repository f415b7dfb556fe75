// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace in order, see trace_ring.h. Leaves to trace_end.c to look for an end
 * that the registers do not show.
 */
#include <string.h>

#include "trace_ring.h"

bool crash_trace_find(struct crash_trace *trace, const struct crash_cpu *cpu,
		      const struct crash_source *source)
{
	const struct kipt_crash_stop *stop = &cpu->page.stop;
	u64 size = cpu->page.size;
	bool known = cpu->stop_good && (stop->state == KIPT_CRASH_STOPPED ||
				       stop->state == KIPT_CRASH_NOT_TRACED);

	memset(trace, 0, sizeof(*trace));
	trace->cpu = cpu;
	trace->source = source;
	if (!size) {
		trace->end = CRASH_END_NONE;
		return true;
	}
	if (!known || stop->tail > stop->head ||
	    stop->head - stop->tail > size)
		return crash_end_find(trace);
	trace->end = stop->state == KIPT_CRASH_STOPPED ? CRASH_END_STOPPED :
							 CRASH_END_BEFORE;
	trace->first = stop->tail % size;
	trace->overwritten = stop->tail;
	trace->size = stop->head - stop->tail;
	return true;
}

u32 crash_trace_read(const struct crash_trace *trace, u64 at, u8 *bytes,
		     u32 size)
{
	u64 ring = trace->cpu->page.size, place;
	u32 done = 0, part, got;

	if (at >= trace->size)
		return 0;
	if (size > trace->size - at)
		size = trace->size - at;
	while (done < size) {
		place = (trace->first + at + done) % ring;
		part = size - done;
		if (part > ring - place)
			part = ring - place;
		got = crash_cpu_read(trace->cpu, trace->source, place,
				     bytes + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

u64 crash_trace_missing(const struct crash_trace *trace, u64 at)
{
	u64 next = at, place, ring = trace->cpu->page.size;
	u8 byte;

	while (next < trace->size &&
	       !crash_trace_read(trace, next, &byte, 1)) {
		place = (trace->first + next) % ring;
		/* The regions of what comes after this are not there. */
		if (place >= trace->cpu->known)
			next += ring - place;
		else
			next += KIPT_CRASH_PAGE_BYTES -
				place % KIPT_CRASH_PAGE_BYTES;
	}
	return (next < trace->size ? next : trace->size) - at;
}
