// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace in order, see trace_ring.h. An end that the registers do not show is looked
 * for: the cookie at the end of the ring says whether it was written round; times at
 * PSBs show where what is new meets what is old.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/packet/psb.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../../../kmod/hw/rtit_regs.h"
#include "trace_ring.h"

/* Bytes looked at at once, and how many of those a PSB+ may take. */
#define LOOK		(256 << 10)
#define PSB_MOST	1024

/* TSC packets have 56 bits. */
#define TIME_BITS	56

/* What is known of the ring after looking at the PSBs from its begin on. */
struct look {
	struct crash_trace *trace;
	u8 *bytes;
	u64 count;
	/* Offset of the first PSB, and of the one before @now. */
	u64 first, last;
	/* TSC of the last PSB that had one. */
	u64 time;
	bool timed;
	/* Times go back from @before to @after. */
	bool seam;
	u64 before, after;
};

static bool time_is_back(u64 then, u64 now)
{
	return (now - then) << (64 - TIME_BITS) >> 63;
}

static void psb_take(struct look *look, u64 at, const struct kipt_psb *psb)
{
	if (!look->count++)
		look->first = at;
	if (psb->has_tsc && !look->seam &&
	    time_is_back(look->time, psb->tsc)) {
		look->seam = true;
		look->before = look->last;
		look->after = at;
	}
	if (psb->has_tsc) {
		look->time = psb->tsc;
		look->timed = true;
	}
	look->last = at;
}

static void window_take(struct look *look, u64 at, u32 size, u64 most)
{
	struct kipt_psb psb;
	u64 next, from = 0;

	while ((from = kipt_sync_next(look->bytes, size, from)) < most) {
		next = kipt_sync_next(look->bytes, size, from + 16);
		kipt_psb_read(&psb, look->bytes, from, next, NULL);
		psb_take(look, at + from, &psb);
		from += 16;
	}
}

/* What is missing has no PSB. */
static void ring_look(struct look *look, u64 size)
{
	const struct crash_trace *trace = look->trace;
	u64 at = 0, most;
	u32 got;

	while (at < size) {
		u64 want = size - at;

		if (want > LOOK + PSB_MOST)
			want = LOOK + PSB_MOST;
		got = crash_cpu_read(trace->cpu, trace->source, at,
				     look->bytes, want);
		most = got < LOOK ? got : LOOK;
		window_take(look, at, got, most);
		at += most;
		if (got < want)
			at = (at / KIPT_CRASH_PAGE_BYTES + 1) *
			     KIPT_CRASH_PAGE_BYTES;
	}
}

static bool cookie_is_there(const struct crash_trace *trace)
{
	const struct kipt_crash_cpu *page = &trace->cpu->page;
	u8 bytes[KIPT_CRASH_COOKIE];

	if (page->size < sizeof(bytes))
		return false;
	return crash_cpu_read(trace->cpu, trace->source,
			      page->size - sizeof(bytes), bytes,
			      sizeof(bytes)) == sizeof(bytes) &&
	       !memcmp(bytes, page->cookie, sizeof(bytes));
}

/* The offset after the last byte before @end that is not 0. */
static u64 last_byte(const struct crash_trace *trace, u64 end)
{
	u8 bytes[KIPT_CRASH_PAGE_BYTES];
	u64 begin;
	u32 got;

	for (; end; end = begin) {
		begin = (end - 1) / sizeof(bytes) * sizeof(bytes);
		got = crash_cpu_read(trace->cpu, trace->source, begin, bytes,
				     end - begin);
		while (got && !bytes[got - 1])
			got--;
		if (got)
			return begin + got;
	}
	return 0;
}

/* Not written round: from the begin on, up to what is older, if there is. */
static void end_of_first_lap(const struct look *look, u64 end)
{
	struct crash_trace *trace = look->trace;

	trace->first = 0;
	trace->size = end;
	trace->end = CRASH_END_ZEROS;
	if (!look->seam)
		return;
	trace->size = look->before;
	trace->unsure = look->after - look->before;
	trace->end = CRASH_END_TIMES;
}

/* Without a time new and old cannot be distinguished. */
static void end_of_later_lap(const struct look *look)
{
	struct crash_trace *trace = look->trace;
	u64 ring = trace->cpu->page.size;

	trace->end = CRASH_END_NONE;
	if (!look->timed || look->count < 2)
		return;
	trace->end = CRASH_END_TIMES;
	trace->overwritten = true;
	if (!look->seam) {
		trace->first = look->first;
		trace->size = look->last - look->first;
	} else {
		trace->first = look->after;
		trace->size = ring - (look->after - look->before);
	}
	trace->unsure = ring - trace->size;
}

/**
 * end_find() - look for the end in the ring itself
 * @trace: @cpu and @source are set, the rest is filled
 *
 * Return: true, or false without memory.
 */
static bool end_find(struct crash_trace *trace)
{
	const struct kipt_crash_cpu *page = &trace->cpu->page;
	struct look look = {
		.trace = trace,
		.time = page->started,
	};
	bool first_lap = cookie_is_there(trace);
	u64 size = page->size;

	if (first_lap)
		size = last_byte(trace, size - KIPT_CRASH_COOKIE);
	look.bytes = malloc(LOOK + PSB_MOST);
	if (!look.bytes)
		return false;
	ring_look(&look, size);
	free(look.bytes);
	if (first_lap)
		end_of_first_lap(&look, size);
	else
		end_of_later_lap(&look);
	return true;
}

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
		return end_find(trace);
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
