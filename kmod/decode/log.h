/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: windows taken lately in the order they were taken in, with their
 * bytes as they stood in the trace. What comes again is found in it without
 * reading packets. Knows nothing of ways but their numbers. Any context.
 */
#ifndef KIPT_DECODE_LOG_H
#define KIPT_DECODE_LOG_H

#include "cursor.h"

/* Windows there may be, a power of two. Tests make it small. */
#ifndef KIPT_LOG_MOST
#define KIPT_LOG_MOST		8192U
#endif
#define KIPT_LOG_LEAST		16U
/* Bytes there is room for, by windows. */
#define KIPT_LOG_BYTES		64U
/* A window that has more is not logged. */
#define KIPT_LOG_LONGEST	256U
/* Bytes compared in a row: what is compared in vain is bounded by it. No window
 * is longer. Tests make it small.
 */
#ifndef KIPT_LOG_COMPARED
#define KIPT_LOG_COMPARED	1024U
#endif
/* Bytes copied and compared at once: the last may be behind those meant. */
#define KIPT_LOG_COPIED		32U

/**
 * struct kipt_logged - a window that was taken, less what told time in it
 * @before: IP compression where it starts
 * @after: and behind it
 * @way: that was taken
 * @at: where its bytes are, as if the log had no end
 * @len: how many
 */
struct kipt_logged {
	u64 before;
	u64 after;
	u32 way;
	u32 at;
	u32 len;
};

/**
 * struct kipt_log - the log
 * @windows: by number, a ring of @size
 * @places: numbers by how a window starts, twice @size
 * @bytes: a ring of @size * KIPT_LOG_BYTES, and KIPT_LOG_COPIED behind it
 * @size: a power of two, KIPT_LOG_LEAST or more
 * @first: the windows before this number are forgotten
 * @count: number of the next
 * @end: where the next bytes go, as if the log had no end
 */
struct kipt_log {
	struct kipt_logged *windows;
	u32 *places;
	u8 *bytes;
	u32 size;
	u32 first;
	u32 count;
	u32 end;
};

/**
 * kipt_log_memory() - what a log needs
 * @size: windows
 *
 * Return: bytes, for @windows, @places and @bytes in this order.
 */
static inline u64 kipt_log_memory(u32 size)
{
	return (u64)size * (sizeof(struct kipt_logged) + 2 * sizeof(u32) +
			    KIPT_LOG_BYTES) + KIPT_LOG_COPIED;
}

/**
 * kipt_log_init() - an empty log
 * @log: the log
 * @memory: kipt_log_memory() of @size, the caller's, aligned as u64 is
 * @size: windows
 */
static inline void kipt_log_init(struct kipt_log *log, void *memory, u32 size)
{
	memset(memory, 0, kipt_log_memory(size));
	log->windows = memory;
	log->places = (u32 *)(void *)(log->windows + size);
	log->bytes = (u8 *)(log->places + 2 * size);
	log->size = size;
	log->first = 0;
	log->count = 0;
	log->end = 0;
}

/**
 * kipt_log_forget() - what was taken is no more
 * @log: the log
 */
static inline void kipt_log_forget(struct kipt_log *log)
{
	log->first = log->count;
}

/**
 * kipt_log_place() - where the number of a window stands
 * @log: the log
 * @pos: its start; 32 bytes are read
 * @block: number of the block it starts at
 *
 * Return: the place; that of another window, or any number, may be there.
 */
static inline u32 *kipt_log_place(struct kipt_log *log, const u8 *pos,
				  u32 block)
{
	u64 mixed = kipt_load64(pos) * 0x9e3779b97f4a7c15ULL +
		    kipt_load64(pos + 8) * 0xc2b2ae3d27d4eb4fULL +
		    kipt_load64(pos + 16) * 0xa0761d6478bd642fULL +
		    (kipt_load64(pos + 24) ^ (u64)block << 20) *
			    0xe7037ed1a0b428dbULL;

	mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93ULL;
	return &log->places[mixed >> 40 & (log->size * 2 - 1)];
}

/**
 * kipt_log_at() - a window
 * @log: the log
 * @number: of one that is there
 *
 * Return: the window; it goes when @log->size more are logged.
 */
static inline const struct kipt_logged *kipt_log_at(const struct kipt_log *log,
						    u32 number)
{
	return &log->windows[number & (log->size - 1)];
}

/**
 * kipt_log_is_there() - is a window still known, and its bytes
 * @log: the log
 * @number: any number
 *
 * Return: true if kipt_log_at() gives the one with this number.
 */
static inline bool kipt_log_is_there(const struct kipt_log *log, u32 number)
{
	/* The last one logged may have overwritten a bit more than its bytes. */
	return number - log->first < log->count - log->first &&
	       log->count - number < log->size &&
	       log->end - kipt_log_at(log, number)->at <
		       log->size * KIPT_LOG_BYTES - KIPT_LOG_COPIED;
}

/* Zeros where eight bytes are the same. */
static inline u64 kipt_log_other(const u8 *a, const u8 *b)
{
	return kipt_load64(a) ^ kipt_load64(b);
}

/**
 * kipt_log_same() - how far is the trace the same again
 * @log: the log
 * @logged: a window that is there
 * @from: byte of it to begin with, up to its @len
 * @pos: the trace; KIPT_LOG_COPIED behind @most bytes are read
 * @most: bytes of it
 *
 * Return: bytes that are as those of @logged and what stands behind them, up to
 * KIPT_LOG_COMPARED.
 */
static inline u32 kipt_log_same(const struct kipt_log *log,
				const struct kipt_logged *logged, u32 from,
				const u8 *pos, u64 most)
{
	u32 size = log->size * KIPT_LOG_BYTES, begin = logged->at + from;
	u32 at = begin & (size - 1), there = log->end - begin, n;
	const u8 *bytes = log->bytes + at;
	u64 other;

	if (there > KIPT_LOG_COMPARED)
		there = KIPT_LOG_COMPARED;
	if (there > size - at)
		there = size - at;
	if (most > there)
		most = there;
	for (n = 0; n < most; n += KIPT_LOG_COPIED) {
		if (kipt_log_other(pos + n, bytes + n) |
		    kipt_log_other(pos + n + 8, bytes + n + 8) |
		    kipt_log_other(pos + n + 16, bytes + n + 16) |
		    kipt_log_other(pos + n + 24, bytes + n + 24))
			break;
	}
	for (; n < most; n += 8) {
		other = kipt_log_other(pos + n, bytes + n);
		if (other) {
			n += (u32)__builtin_ctzll(other) >> 3;
			break;
		}
	}
	return n < most ? n : (u32)most;
}

/**
 * kipt_log_reserve() - have bytes stand in a row
 * @log: the log
 * @most: of them will be logged, at most KIPT_LOG_COMPARED
 */
static inline void kipt_log_reserve(struct kipt_log *log, u32 most)
{
	u32 size = log->size * KIPT_LOG_BYTES;

	if (unlikely((log->end & (size - 1)) + most > size))
		log->end = (log->end | (size - 1)) + 1;
}

/**
 * kipt_log_put() - a window was taken
 * @log: the log, with its bytes reserved; kipt_log_bytes() is to follow before
 *	the log is asked for anything
 * @len: see struct kipt_logged
 * @before: see there
 * @after: see there
 * @way: see there
 */
static inline void kipt_log_put(struct kipt_log *log, u32 len, u64 before,
				u64 after, u32 way)
{
	log->windows[log->count++ & (log->size - 1)] = (struct kipt_logged){
		.before = before, .after = after, .way = way,
		.at = log->end, .len = len,
	};
	log->end += len;
}

/**
 * kipt_log_bytes() - bytes of the windows put last
 * @log: the log
 * @back: how far before the end of those windows the first stands
 * @pos: the first; KIPT_LOG_COPIED behind @len bytes are read
 * @len: how many, up to @back; what stands behind them is overwritten too
 */
static inline void kipt_log_bytes(struct kipt_log *log, u32 back, const u8 *pos,
				  u32 len)
{
	u8 *bytes = log->bytes +
		    ((log->end - back) & (log->size * KIPT_LOG_BYTES - 1));
	u64 words[KIPT_LOG_COPIED / 8];
	u32 i;

	for (i = 0; i < len; i += KIPT_LOG_COPIED) {
		memcpy(words, pos + i, sizeof(words));
		memcpy(bytes + i, words, sizeof(words));
	}
}

/**
 * kipt_log_follows() - is the next window one that followed right behind
 * @log: the log
 * @number: of a window that is there
 *
 * Return: true if so; its bytes stand behind those of this one.
 */
static inline bool kipt_log_follows(const struct kipt_log *log, u32 number)
{
	const struct kipt_logged *logged = kipt_log_at(log, number);

	return kipt_log_is_there(log, number + 1) &&
	       kipt_log_at(log, number + 1)->at == logged->at + logged->len;
}

#endif /* KIPT_DECODE_LOG_H */
