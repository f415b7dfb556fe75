/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding PSBs: the only places a trace can be entered at. Pure functions
 * over bytes, any context.
 */
#ifndef KIPT_DECODE_SYNC_H
#define KIPT_DECODE_SYNC_H

#include "../port.h"

#define KIPT_PSB_BYTES		16
/* Eight bytes of one. */
#define KIPT_PSB_WORD		0x8202820282028202ULL

/**
 * kipt_sync_is_psb() - are these bytes a PSB
 * @bytes: KIPT_PSB_BYTES of them
 *
 * Return: true if so.
 */
static inline bool kipt_sync_is_psb(const u8 *bytes)
{
	u64 words[2];

	memcpy(words, bytes, sizeof(words));
	return words[0] == KIPT_PSB_WORD && words[1] == KIPT_PSB_WORD;
}

/**
 * kipt_sync_before() - find the last PSB before an offset
 * @data: trace
 * @offset: where it ends at the latest
 * @most: it begins at most so many bytes before @offset
 *
 * Return: its offset, or @offset if there is none.
 */
u64 kipt_sync_before(const u8 *data, u64 offset, u64 most);

/**
 * kipt_sync_next() - find the first PSB at or after an offset
 * @data: trace
 * @size: its bytes
 * @from: offset to start at
 *
 * A run of more than eight 02 82 pairs holds one PSB: its last 16 bytes
 * ("Packet Stream Boundary (PSB) Packet").
 *
 * Return: the offset of the PSB, or @size if there is none.
 */
u64 kipt_sync_next(const u8 *data, u64 size, u64 from);

/**
 * kipt_sync_cut() - where a part of a trace ends that is decoded by itself
 * @data: trace; not read if the part is the last one
 * @size: its bytes
 * @from: where the part begins, @size at most
 * @wish: bytes it should have at least, 1 or more
 *
 * The next part begins there: parts lie side by side, and all but the first begin with a
 * PSB.
 *
 * Return: the offset of the first PSB that is @wish bytes or more after @from, or @size
 * if there is none; more than @from unless that is @size.
 */
static inline u64 kipt_sync_cut(const u8 *data, u64 size, u64 from, u64 wish)
{
	return size - from <= wish ? size : kipt_sync_next(data, size, from + wish);
}

#endif /* KIPT_DECODE_SYNC_H */
