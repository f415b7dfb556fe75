// SPDX-License-Identifier: GPL-2.0-only
/*
 * The log against a log without an end: what it says is there is what was put,
 * and what it says is the same is, byte by byte. Windows of random lengths from
 * a trace that repeats itself. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/log.h"
#include "ktap.h"
#include "random_below.h"

#define PUTS		20000U
#define TRACE		(1U << 16)
/* Bytes behind the trace that may be read. */
#define BEHIND		64U
#define SIZES		3

/**
 * struct model - the log without an end
 * @windows: all that were put, by number
 * @count: how many
 * @first: of those that are not forgotten
 * @bytes: theirs, by struct kipt_logged.at
 * @trace: where they come from
 */
struct model {
	struct kipt_logged windows[PUTS];
	u32 count;
	u32 first;
	u8 bytes[PUTS * KIPT_LOG_LONGEST * 2];
	u8 trace[TRACE + BEHIND];
};

static struct model model;

/* Half of it stood in it before. */
static void make_trace(void)
{
	u32 at = 0, len, from, i;

	while (at < TRACE) {
		len = 1 + random_below(400);
		from = at && random_below(2) ? random_below(at) : TRACE;
		for (i = 0; i < len && at < TRACE; i++, at++)
			model.trace[at] = from < TRACE ?
						  model.trace[from + i] :
						  (u8)random_below(3);
	}
}

/* Where the ring ends bytes may be left out; what stands there is compared too. */
static void reserve(struct kipt_log *log, u32 len)
{
	u32 at = log->end, room = log->size * KIPT_LOG_BYTES;

	kipt_log_reserve(log, len);
	for (; at < log->end; at++)
		model.bytes[at] = log->bytes[at & (room - 1)];
}

/* @len bytes of the window put last, @back before its end. */
static void put_bytes(struct kipt_log *log, u32 back, u32 pos, u32 len)
{
	kipt_log_bytes(log, back, &model.trace[pos], len);
	memcpy(&model.bytes[log->end - back], &model.trace[pos], len);
}

/* A window from @pos on, with something left out behind @first bytes or not. */
static void put(struct kipt_log *log, u32 pos)
{
	u32 most = random_below(4) ? 40 : KIPT_LOG_LONGEST, number = log->count;
	u32 len = 1 + random_below(most < TRACE - pos ? most : TRACE - pos);
	u32 first = random_below(2) ? random_below(len) : len;

	*kipt_log_place(log, &model.trace[pos], number % 7) = number;
	reserve(log, len);
	kipt_log_put(log, len, number, number + 1, number + 2);
	put_bytes(log, len, pos, first);
	put_bytes(log, len - first, random_below(TRACE - len), len - first);
	model.windows[model.count++] = *kipt_log_at(log, number);
}

static bool same_is_right(const struct kipt_log *log, u32 number, u32 pos)
{
	const struct kipt_logged *logged = kipt_log_at(log, number);
	u32 from = random_below(4) ? 0 : random_below(logged->len + 1);
	u32 room = log->size * KIPT_LOG_BYTES, at = logged->at + from, n, i;
	u64 most = 1 + random_below(2 * KIPT_LOG_COMPARED);

	if (most > TRACE - pos)
		most = TRACE - pos;
	n = kipt_log_same(log, logged, from, &model.trace[pos], most);
	for (i = 0; i < n; i++) {
		if (model.trace[pos + i] != model.bytes[at + i])
			return false;
	}
	if (n > most || n > log->end - at)
		return false;
	return n == most || n == KIPT_LOG_COMPARED || n == log->end - at ||
	       n == room - (at & (room - 1)) ||
	       model.trace[pos + n] != model.bytes[at + n];
}

/* Is what it says about a number right? Counts those that are there. */
static bool number_is_right(const struct kipt_log *log, u32 number, u32 pos,
			    u32 *there)
{
	const struct kipt_logged *logged, *want;

	if (!kipt_log_is_there(log, number))
		return true;
	++*there;
	if (number >= model.count || number < model.first)
		return false;
	logged = kipt_log_at(log, number);
	want = &model.windows[number];
	if (logged->before != want->before || logged->after != want->after ||
	    logged->way != want->way || logged->at != want->at ||
	    logged->len != want->len)
		return false;
	if (kipt_log_follows(log, number) &&
	    model.windows[number + 1].at != want->at + want->len)
		return false;
	return same_is_right(log, number, pos);
}

static bool log_is_right(u32 size)
{
	void *memory = malloc(kipt_log_memory(size));
	struct kipt_log log = { 0 };
	u32 there = 0, places = 0, pos, i;
	bool good = memory;

	model.count = 0;
	model.first = 0;
	if (memory)
		kipt_log_init(&log, memory, size);
	for (i = 0; i < PUTS && good; i++) {
		pos = random_below(TRACE);
		put(&log, pos);
		if (!random_below(5000)) {
			kipt_log_forget(&log);
			model.first = log.count;
		}
		good = number_is_right(&log, log.count - random_below(2 * size),
				       pos, &there) &&
		       number_is_right(&log, random_below(PUTS), pos, &there);
		pos = random_below(TRACE);
		good &= number_is_right(&log,
					*kipt_log_place(&log, &model.trace[pos],
							random_below(7)),
					pos, &places);
	}
	free(memory);
	return good && there > PUTS / 16 && places;
}

int main(void)
{
	static const u32 sizes[SIZES] = { KIPT_LOG_LEAST, 256, 8192 };
	struct ktap ktap = { 0 };
	u32 i;

	ktap_start();
	make_trace();
	for (i = 0; i < SIZES; i++)
		ktap_result(&ktap, log_is_right(sizes[i]),
			    "a log of %u windows keeps what was put", sizes[i]);
	return ktap_end(&ktap);
}
