// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: the tool's reader of packed records. The input is records
 * as they stand in a file, whose paths may name anything. Whatever comes, no
 * packed record may come out, and counting without making the plain records
 * must give what counting the plain ones gives.
 */
#include <stdlib.h>
#include <string.h>

#include "../kipt/records/unpack_paths.h"
#include "grammar.h"

#define RECORD		sizeof(struct kipt_record)
#define RECORDS_MAX	64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static bool take(void *ctx, const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (records[i].type == KIPT_RECORD_PATH ||
		    records[i].type == KIPT_RECORD_PATHS ||
		    records[i].type == KIPT_RECORD_DICTIONARY)
			abort();
		tally_record(ctx, &records[i]);
	}
	return true;
}

/* In two calls, as from two reads of a file. */
static bool unpack_all(const struct kipt_record *records, u32 count, u32 first,
		       bool plain, struct tally *tally)
{
	struct unpack *unpack = unpack_create();
	bool good;

	if (!unpack)
		abort();
	tally_init(tally);
	if (plain)
		good = unpack_records(unpack, records, first, take, tally) &&
		       unpack_records(unpack, records + first, count - first,
				      take, tally);
	else
		good = unpack_tally(unpack, records, first, tally) &&
		       unpack_tally(unpack, records + first, count - first,
				    tally);
	unpack_destroy(unpack);
	return good;
}

/* The counter that counts without making records adds past 32 bits. */
static bool saturates(const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (records[i].aux >> 24 || records[i].ip >> 24)
			return true;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally plain, packed;
	u32 count = (u32)((size ? size - 1 : 0) / RECORD), first;
	struct kipt_record *records;
	bool good;

	if (!count || count > RECORDS_MAX)
		return 0;
	records = malloc(count * RECORD);
	if (!records)
		abort();
	memcpy(records, data + 1, count * RECORD);
	first = data[0] % (count + 1);
	good = unpack_all(records, count, first, true, &plain);
	if (good != unpack_all(records, count, first, false, &packed))
		abort();
	if (good && !saturates(records, count) &&
	    (memcmp(plain.types, packed.types, sizeof(plain.types)) ||
	     memcmp(plain.gaps, packed.gaps, sizeof(plain.gaps)) ||
	     plain.records != packed.records ||
	     plain.executed != packed.executed ||
	     plain.counted != packed.counted))
		abort();
	free(records);
	return 0;
}

static u32 random_type(struct random *random)
{
	static const u8 types[] = {
		KIPT_RECORD_PATH, KIPT_RECORD_PATHS, KIPT_RECORD_PATHS,
		KIPT_RECORD_BRANCH, KIPT_RECORD_BRANCH, KIPT_RECORD_ENABLE,
		KIPT_RECORD_DISABLE, KIPT_RECORD_SYNC, KIPT_RECORD_GAP,
		KIPT_RECORD_DICTIONARY, KIPT_RECORD_EDGE, KIPT_RECORD_INSN,
	};

	return types[random_below(random, sizeof(types))];
}

static void record_make(struct kipt_record *record, struct random *random)
{
	u32 numbers[5], i;

	memset(record, 0, sizeof(*record));
	record->type = (u8)random_type(random);
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
