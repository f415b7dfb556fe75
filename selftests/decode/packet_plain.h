/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The batch reader without SIMD, beside the one of user space. User space.
 */
#ifndef KIPT_SELFTESTS_DECODE_PACKET_PLAIN_H
#define KIPT_SELFTESTS_DECODE_PACKET_PLAIN_H

#include "../../kmod/decode/packet/packet.h"

/**
 * kipt_packets_read_plain() - kipt_packets_read() as the kernel has it
 * @cursor: see there
 * @packets: see there
 * @max: see there
 * @count: see there
 *
 * Return: see there.
 */
enum kipt_status kipt_packets_read_plain(struct kipt_cursor *cursor,
					 struct kipt_packet *packets, u32 max,
					 u32 *count);

#endif /* KIPT_SELFTESTS_DECODE_PACKET_PLAIN_H */
