// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: packets from any bytes. The reader must stay in bounds and
 * advance; a packet must be the same with nothing after it, and one cut short be reported as
 * such; both searches for a PSB must find what looking at every byte finds. The first byte
 * says where the second search begins.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet/packet.h"
#include "../../selftests/decode/sync_plain.h"
#include "grammar.h"

#define INPUT_MAX	768

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Where the first run of "02 82" pairs, as long as it gets, has its last PSB. */
static u64 search_slowly(const u8 *data, u64 size, u64 from)
{
	u64 pairs;

	for (; from + 16 <= size; from++) {
		for (pairs = 0; from + 2 * pairs + 2 <= size &&
		     data[from + 2 * pairs] == 0x02 &&
		     data[from + 2 * pairs + 1] == 0x82; pairs++)
			;
		if (pairs >= 8)
			return from + 2 * pairs - 16;
	}
	return size;
}

static void check_search(const u8 *data, u64 size, u64 from)
{
	u64 psb = search_slowly(data, size, from);

	if (kipt_sync_next(data, size, from) != psb ||
	    kipt_sync_next_plain(data, size, from) != psb)
		abort();
}

/* With nothing after it, and without its last byte; errata have shapes of their own. */
static void check_one(struct kipt_cursor cursor, const struct kipt_packet *packet)
{
	struct kipt_packet got;
	struct kipt_cursor cut = cursor;

	if (packet->flags & KIPT_PF_BROKEN)
		return;
	cursor.end = cursor.pos + packet->len;
	if (kipt_packet_next(&cursor, &got) != KIPT_OK || got.type != packet->type ||
	    got.len != packet->len || got.size != packet->size || got.flags != packet->flags ||
	    got.aux != packet->aux || got.value != packet->value)
		abort();
	cut.end = cut.pos + packet->len - 1;
	if (kipt_packet_next(&cut, &got) != (packet->len == 1 ? KIPT_END : KIPT_TRUNCATED))
		abort();
}

static void check_packets(const u8 *data, u64 size)
{
	struct kipt_cursor cursor, before;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, data, size);
	for (before = cursor; kipt_packet_next(&cursor, &packet) == KIPT_OK; before = cursor) {
		if (cursor.pos != before.pos + packet.len || !packet.len ||
		    packet.len > KIPT_PACKET_MAX_LEN || packet.type > KIPT_PACKET_MAX)
			abort();
		check_one(before, &packet);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	check_search(data + 1, size - 1, 0);
	check_search(data + 1, size - 1, data[0] % size);
	check_packets(data + 1, size - 1);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	struct random random = { seed };

	if (max_size > INPUT_MAX)
		max_size = INPUT_MAX;
	if (size > max_size)
		size = max_size;
	if (!size || !random_below(&random, 3))
		return LLVMFuzzerMutate(data, size, max_size);
	return 1 + grammar_mutate(data + 1, (u32)size - 1, (u32)max_size - 1,
				  &random);
}
