// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both sides of symbols in messages, see symbol_message.h.
 */
#include <string.h>

#include "symbol_message.h"

/* Longer names are cut. */
#define NAME_MAX_BYTES	8192U
/* Ten times as many as a kernel has. */
#define SYMBOLS_MOST	(4U << 20)

/* A symbol, followed by its name. @length: of the name, with the 0. */
struct sent {
	u64 start;
	u64 size;
	s32 rank;
	u32 length;
};

/* @number: of the next symbol. */
struct filling {
	struct helper_message *message;
	u64 number;
	bool full;
};

static void symbol_put(void *ctx, const struct symbol_entry *entry)
{
	struct filling *filling = ctx;
	struct helper_message *message = filling->message;
	size_t length = strnlen(entry->name, NAME_MAX_BYTES - 1);
	struct sent sent = {
		.start = entry->start, .size = entry->size,
		.rank = entry->rank, .length = length + 1,
	};

	filling->full |= HELPER_BYTES - message->size < sizeof(sent) + sent.length;
	if (filling->number++ < message->begin || filling->full)
		return;
	memcpy(message->bytes + message->size, &sent, sizeof(sent));
	message->size += sizeof(sent);
	memcpy(message->bytes + message->size, entry->name, length);
	message->bytes[message->size + length] = 0;
	message->size += sent.length;
	message->end = filling->number;
}

void symbols_put(struct helper_message *message, const struct symbols *symbols)
{
	struct filling filling = { .message = message };

	message->end = message->begin;
	symbols_each(symbols, symbol_put, &filling);
}

bool symbols_take(struct symbols *symbols, const struct helper_message *answer, u32 at)
{
	struct sent sent;
	bool good = false;

	while (answer->size - at >= sizeof(sent)) {
		memcpy(&sent, answer->bytes + at, sizeof(sent));
		at += sizeof(sent);
		if (!sent.length || sent.length > answer->size - at ||
		    answer->bytes[at + sent.length - 1] ||
		    symbols_count(symbols) >= SYMBOLS_MOST ||
		    !symbols_add(symbols, sent.start, sent.size, sent.rank,
				 (char *)answer->bytes + at, "", ""))
			return false;
		at += sent.length;
		good = true;
	}
	return good;
}
