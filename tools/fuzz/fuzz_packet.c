// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: packets from any bytes. Whatever comes, the reader must
 * stay in bounds, advance, and give packets that their own length accounts
 * for.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet.h"
#include "../../kmod/decode/sync.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	const u8 *before;
	u64 psb = kipt_sync_next(data, size, 0);

	if (psb != size && (psb + 16 > size || data[psb] != 0x02 ||
			    data[psb + 15] != 0x82))
		abort();
	kipt_cursor_init(&cursor, data, size);
	before = cursor.pos;
	while (kipt_packet_next(&cursor, &packet) == KIPT_OK) {
		if (cursor.pos != before + packet.len || !packet.len ||
		    packet.len > KIPT_PACKET_MAX_LEN ||
		    packet.type > KIPT_PACKET_MAX)
			abort();
		before = cursor.pos;
	}
	return 0;
}
