// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: packets from any bytes. The first byte says how many are
 * read at once. All readers must stay in bounds, advance, and agree, and a
 * packet cut short must be reported as one; both searches for a PSB must find what
 * looking at every byte finds.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet/packet.h"
#include "../../kmod/decode/packet/sync.h"
#include "../../selftests/decode/packet_plain.h"
#include "grammar.h"

#define BATCH_MAX	128
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

/* Without its last byte it is no packet; errata have shapes of their own. */
static void check_short(struct kipt_cursor cursor,
			const struct kipt_packet *packet)
{
	struct kipt_packet got;

	if (packet->flags & KIPT_PF_BROKEN)
		return;
	cursor.end = cursor.pos + packet->len - 1;
	if (kipt_packet_next(&cursor, &got) !=
	    (packet->len == 1 ? KIPT_END : KIPT_TRUNCATED))
		abort();
}

static void check_one(struct kipt_cursor *cursor,
		      const struct kipt_packet *want)
{
	const u8 *before = cursor->pos;
	struct kipt_packet packet;

	check_short(*cursor, want);
	if (kipt_packet_next(cursor, &packet) != KIPT_OK ||
	    cursor->pos != before + packet.len || !packet.len ||
	    packet.len > KIPT_PACKET_MAX_LEN ||
	    packet.type > KIPT_PACKET_MAX)
		abort();
	if (packet.type != want->type || packet.len != want->len ||
	    packet.size != want->size || packet.flags != want->flags ||
	    packet.aux != want->aux || packet.value != want->value)
		abort();
}

static void check_packets(const u8 *data, u64 size, u32 max, bool plain)
{
	struct kipt_packet packets[BATCH_MAX], packet;
	struct kipt_cursor many, one;
	enum kipt_status status;
	u32 count, i;

	kipt_cursor_init(&many, data, size);
	one = many;
	do {
		status = plain ?
			kipt_packets_read_plain(&many, packets, max, &count) :
			kipt_packets_read(&many, packets, max, &count);
		if (count > max || (!count && status == KIPT_OK))
			abort();
		for (i = 0; i < count; i++)
			check_one(&one, &packets[i]);
		if (one.pos != many.pos || one.block != many.block)
			abort();
	} while (status == KIPT_OK);
	if (kipt_packet_next(&one, &packet) != status)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	check_search(data + 1, size - 1, 0);
	check_search(data + 1, size - 1, data[0] % size);
	check_packets(data + 1, size - 1, 1 + data[0] % BATCH_MAX, false);
	check_packets(data + 1, size - 1, 1 + data[0] % BATCH_MAX, true);
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
