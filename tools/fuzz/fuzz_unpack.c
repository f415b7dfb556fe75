// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the tool's reader of packed records. The input is records
 * as they are in a file, whose nodes and paths may be anything. Whatever comes, no
 * packed record may come out, and what comes out does not depend on how many records are
 * taken at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "../kipt/records/unpack.h"
#include "grammar.h"

#define RECORD		sizeof(struct kipt_record)
#define RECORDS_MAX	64

/**
 * struct made - what comes out
 * @count: records
 * @hash: of them
 */
struct made {
	u64 count;
	u64 hash;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static bool take(void *ctx, const struct kipt_record *records, u32 count)
{
	struct made *made = ctx;
	const u8 *bytes = (const u8 *)records;
	size_t i;

	for (i = 0; i < count; i++) {
		if (unpack_wants(&records[i], 1))
			abort();
	}
	for (i = 0; i < count * RECORD; i++)
		made->hash = (made->hash ^ bytes[i]) * 1099511628211ULL;
	made->count += count;
	return true;
}

/* In two calls, as from two reads of a file. */
static bool unpack_all(const struct kipt_record *records, u32 count, u32 first,
		       struct made *made)
{
	struct unpack *unpack = unpack_create();
	bool good;

	if (!unpack)
		abort();
	*made = (struct made){ 0 };
	good = unpack_records(unpack, records, first, take, made) &&
	       unpack_records(unpack, records + first, count - first, take, made);
	unpack_destroy(unpack);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 count = (u32)((size ? size - 1 : 0) / RECORD);
	struct kipt_record *records;
	struct made whole, parts;

	if (!count || count > RECORDS_MAX)
		return 0;
	records = malloc(count * RECORD);
	if (!records)
		abort();
	memcpy(records, data + 1, count * RECORD);
	if (unpack_all(records, count, count, &whole) !=
		    unpack_all(records, count, data[0] % (count + 1), &parts) ||
	    whole.count != parts.count || whole.hash != parts.hash)
		abort();
	free(records);
	return 0;
}

static u32 random_type(struct random *random)
{
	static const u8 types[] = {
		KIPT_RECORD_PATH, KIPT_RECORD_PATHS, KIPT_RECORD_PATHS,
		KIPT_RECORD_NODE, KIPT_RECORD_NODE, KIPT_RECORD_LINK, KIPT_RECORD_LINK,
		KIPT_RECORD_LINK, KIPT_RECORD_WALK, KIPT_RECORD_WALK, KIPT_RECORD_WALK,
		KIPT_RECORD_BRANCH, KIPT_RECORD_BRANCH, KIPT_RECORD_ENABLE,
		KIPT_RECORD_DISABLE, KIPT_RECORD_SYNC, KIPT_RECORD_GAP,
		KIPT_RECORD_DICTIONARY, KIPT_RECORD_EDGE, KIPT_RECORD_INSN,
	};

	return types[random_below(random, sizeof(types))];
}

/* Items of a WALK record. */
static void walk_make(struct kipt_record *record, struct random *random)
{
	static const u8 targets[] = {
		KIPT_WALK_TARGET, KIPT_WALK_NEAR, KIPT_WALK_NEAR, KIPT_WALK_UPTO,
	};
	u8 *bytes = (u8 *)record + 2;
	u32 at = 0, number;

	while (at <= KIPT_RECORD_WALK_MAX - kipt_walk_size(KIPT_WALK_START) &&
	       random_below(random, 8)) {
		number = random_below(random, 6);
		memcpy(bytes + at + 1, &number, 4);
		switch (random_below(random, 8)) {
		case 0:
			bytes[at] = KIPT_WALK_START;
			bytes[at + 5] = (u8)random_below(random, 256);
			break;
		case 1:
		case 2:
			bytes[at] = targets[random_below(random, 4)];
			break;
		default:
			bytes[at] = (u8)(random_below(random, 128) * 2);
			break;
		}
		at += bytes[at] ? kipt_walk_size(bytes[at]) : 1;
	}
	record->kind = (u8)at;
}

static void record_make(struct kipt_record *record, struct random *random)
{
	u32 numbers[5], i;

	memset(record, 0, sizeof(*record));
	record->type = (u8)random_type(random);
	if (record->type == KIPT_RECORD_WALK) {
		walk_make(record, random);
		return;
	}
	record->kind = (u8)random_below(random, 6);
	record->aux = random_below(random, 6);
	if (record->type == KIPT_RECORD_PATH) {
		record->value = random_below(random, 4);
		record->ip = random_below(random, 3);
	} else if (record->type == KIPT_RECORD_PATHS) {
		record->flags = (u16)random_below(random, 3);
		for (i = 0; i < 5; i++)
			numbers[i] = random_below(random, 6);
		memcpy(&record->aux, numbers, sizeof(numbers));
	} else if (record->type == KIPT_RECORD_NODE) {
		record->kind = (u8)random_below(random, 9);
		record->flags = (u16)random_below(random, 64);
	} else if (record->type == KIPT_RECORD_LINK) {
		record->kind = (u8)random_below(random, 4);
		record->value = random_below(random, 6);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	struct random random = { seed };
	u32 count = (u32)((size ? size - 1 : 0) / RECORD), at;
	u32 times = 1 + random_below(&random, 4);
	struct kipt_record record;

	if (!count || !random_below(&random, 3))
		size = LLVMFuzzerMutate(data, size, max_size);
	if (max_size > 1 + RECORDS_MAX * RECORD)
		max_size = 1 + RECORDS_MAX * RECORD;
	if (!size || size > max_size)
		return size ? max_size : 0;
	count = (u32)((size - 1) / RECORD);
	for (; times && (count + 1) * RECORD < max_size; times--, count++) {
		at = random_below(&random, count + 1);
		memmove(data + 1 + (at + 1) * RECORD, data + 1 + at * RECORD,
			(count - at) * RECORD);
		record_make(&record, &random);
		memcpy(data + 1 + at * RECORD, &record, RECORD);
	}
	return 1 + count * RECORD;
}
