/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The PSB search without SIMD, beside the one of user space. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_SYNC_PLAIN_H
#define KIPT_SELFTESTS_DECODE_SYNC_PLAIN_H

#include "../../kmod/decode/packet/sync.h"

/**
 * kipt_sync_next_plain() - kipt_sync_next() as the kernel has it
 * @data: see there
 * @size: see there
 * @from: see there
 *
 * Return: see there.
 */
u64 kipt_sync_next_plain(const u8 *data, u64 size, u64 from);

#endif /* KIPT_SELFTESTS_DECODE_SYNC_PLAIN_H */
