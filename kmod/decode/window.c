// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows: their packets by first byte, and keys with packets among them that
 * only tell time. Any context.
 */
#include "window.h"

const struct kipt_ip_form kipt_ip_forms[8] = {
	[0] = { 0, 0, ~0ULL },
	[1] = { 0xffffULL, 0, ~0xffffULL },
	[2] = { 0xffffffffULL, 0, ~0xffffffffULL },
	[3] = { 0xffffffffffffULL, 1ULL << 47, 0 },
	[4] = { 0xffffffffffffULL, 0, ~0xffffffffffffULL },
	[6] = { ~0ULL, 0, 0 },
};

#define IP_LENS(opcode) \
	[(opcode) | 1 << 5] = 3, [(opcode) | 2 << 5] = 5, \
	[(opcode) | 3 << 5] = 7, [(opcode) | 4 << 5] = 7, \
	[(opcode) | 6 << 5] = 9
#define FOUR_CYCS(byte) \
	[byte] = KIPT_WINDOW_TIMES, [(byte) + 4] = KIPT_WINDOW_TIMES, \
	[(byte) + 8] = KIPT_WINDOW_TIMES, [(byte) + 12] = KIPT_WINDOW_TIMES
#define SIXTEEN_CYCS(byte) \
	FOUR_CYCS(byte), FOUR_CYCS((byte) + 16), FOUR_CYCS((byte) + 32), \
	FOUR_CYCS((byte) + 48)
const u8 kipt_window_lens[256] = {
	IP_LENS(KIPT_WINDOW_TIP), IP_LENS(KIPT_WINDOW_TIP_PGE),
	IP_LENS(KIPT_WINDOW_TIP_PGD), [KIPT_WINDOW_TIP_PGD] = 1,
	[KIPT_WINDOW_MTC] = KIPT_WINDOW_TIMES,
	SIXTEEN_CYCS(0x03), SIXTEEN_CYCS(0x43), SIXTEEN_CYCS(0x83),
	SIXTEEN_CYCS(0xc3),
};

const u8 *kipt_window_read_on(struct kipt_window *window, u32 filled,
			      const u8 *pos, const u8 *end,
			      struct kipt_times *times)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	u64 word;
	u32 run;

	while (pos < end && kipt_window_lens[*pos] == KIPT_WINDOW_TIMES &&
	       times->count < times->max && filled < times->tnts) {
		kipt_cursor_init(&cursor, pos, (u64)(end - pos));
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK)
			break;
		times->at[times->count].pos = pos;
		times->at[times->count++].behind = filled;
		pos = cursor.pos;
		word = kipt_load64(pos);
		run = kipt_window_run(word);
		if (run > times->tnts - filled)
			run = times->tnts - filled;
		window->key |= kipt_window_first(word, run) << filled * 8;
		filled += run;
		pos += run;
	}
	return pos;
}
