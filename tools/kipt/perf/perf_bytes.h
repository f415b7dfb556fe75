/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers in bytes that may be at any address.
 */
#ifndef KIPT_PERF_BYTES_H
#define KIPT_PERF_BYTES_H

#include <string.h>

#include "../../../kmod/decode/port.h"

static inline u16 get16(const u8 *bytes)
{
	u16 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static inline u32 get32(const u8 *bytes)
{
	u32 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static inline u64 get64(const u8 *bytes)
{
	u64 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

#endif /* KIPT_PERF_BYTES_H */
