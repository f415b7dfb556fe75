/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding PSBs: the only places a trace can be entered at. Pure functions
 * over bytes, any context.
 */
#ifndef KIPT_DECODE_SYNC_H
#define KIPT_DECODE_SYNC_H

#include "port.h"

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
 * kipt_sync_next_plain() - kipt_sync_next() without SIMD
 * @data: trace
 * @size: its bytes
 * @from: offset to start at
 *
 * What kipt_sync_next() is in the kernel; here for comparison.
 *
 * Return: as kipt_sync_next().
 */
u64 kipt_sync_next_plain(const u8 *data, u64 size, u64 from);

#endif /* KIPT_DECODE_SYNC_H */
