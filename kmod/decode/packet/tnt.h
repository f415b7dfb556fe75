/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branch outcomes not used yet. One TNT packet's worth: a CPU sends no
 * further TNT before the TIPs that the flow needs among these bits (Intel
 * SDM Vol. 3C, "Deferred TIPs"). Pure, any context.
 */
#ifndef KIPT_DECODE_TNT_H
#define KIPT_DECODE_TNT_H

#include "../port.h"

/**
 * struct kipt_tnt - branch outcomes in execution order
 * @bits: the oldest in bit @count - 1; bits above are undefined
 * @count: 0..47
 */
struct kipt_tnt {
	u64 bits;
	u32 count;
};

/**
 * kipt_tnt_is_short() - is a byte a packet of 1 to 6 outcomes
 * @byte: the first of a packet
 *
 * Return: true if so; 00 is a PAD, 02 the first of two bytes of an opcode.
 */
static inline bool kipt_tnt_is_short(u8 byte)
{
	return !(byte & 1) && byte > 2;
}

/**
 * kipt_tnt_outcomes() - how many outcomes a short TNT has
 * @byte: kipt_tnt_is_short() is true
 *
 * Return: 1 to 6: the bits between bit 0 and the highest one that is set.
 */
static inline u32 kipt_tnt_outcomes(u8 byte)
{
	return 30 - (u32)__builtin_clz(byte);
}

/**
 * kipt_tnt_take() - use the oldest outcome
 * @tnt: @count > 0
 *
 * Return: true if taken.
 */
static inline bool kipt_tnt_take(struct kipt_tnt *tnt)
{
	tnt->count--;
	return tnt->bits >> tnt->count & 1;
}

#endif /* KIPT_DECODE_TNT_H */
