// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds each page in a slot, found by its content; and runs, which say that
 * pages of an address space that follow one another are in slots that do. The
 * runs are a ring in the order they came; what falls out of it, or is dropped
 * for want of slots, is always the oldest. A slot is free when no run has it.
 */
#include "code_store.h"

#define NONE		(~0U)
#define RUNS_PER_SLOT	4
#define RUNS_MIN	256U
#define RUNS_MAX	65536U
/* Words of a page that its hash is made of: text differs nearly everywhere. */
#define SAMPLES		8

/* @next: in the chain of a content's bucket, or of free slots. */
struct slot {
	u32 refs;
	u32 next;
};

/* @older: number of the run before it in its bucket, plus 1. */
struct run {
	u64 id;
	u64 addr;
	u64 older;
	u32 slot;
	u32 count;
};

struct kipt_code_store {
	u32 nr_slots;
	u32 nr_runs;
	u32 nr_buckets;
	u32 nr_chunks;
	/* Slots from @fresh to the end of the chunks were never used. */
	u32 fresh;
	u32 free;
	u32 in_use;
	/* Runs @first to before @next exist, run i at @runs[i % @nr_runs]. */
	u64 first;
	u64 next;
	u64 dropped;
	u8 **chunks;
	struct slot *slots;
	u32 *contents;
	u64 *spaces;
	struct run *runs;
};

static u32 round_up_power(u64 n)
{
	u32 power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

static u32 slots_of(u64 bytes)
{
	u64 chunks = bytes / KIPT_CODE_CHUNK_BYTES;

	/* Less than 2^31 pages, whatever is asked for. */
	if (chunks > 1U << 24)
		chunks = 1U << 24;
	return (u32)chunks * KIPT_CODE_CHUNK;
}

static u32 runs_of(u32 nr_slots)
{
	u32 wish = nr_slots < RUNS_MAX ? nr_slots * RUNS_PER_SLOT : RUNS_MAX;

	if (wish < RUNS_MIN)
		return RUNS_MIN;
	return wish < RUNS_MAX ? round_up_power(wish) : RUNS_MAX;
}

static u32 buckets_of(u32 nr_slots)
{
	return round_up_power(nr_slots < 64 ? 64 : nr_slots);
}

static u32 space_buckets_of(u32 nr_runs)
{
	return nr_runs / 4;
}

size_t kipt_code_store_size(u64 bytes)
{
	u32 slots = slots_of(bytes), runs = runs_of(slots);

	return sizeof(struct kipt_code_store) +
	       slots / KIPT_CODE_CHUNK * sizeof(u8 *) +
	       space_buckets_of(runs) * sizeof(u64) +
	       runs * sizeof(struct run) + slots * sizeof(struct slot) +
	       buckets_of(slots) * sizeof(u32);
}

struct kipt_code_store *kipt_code_store_init(void *memory, u64 bytes)
{
	struct kipt_code_store *store = memory;

	store->nr_slots = slots_of(bytes);
	store->nr_runs = runs_of(store->nr_slots);
	store->nr_buckets = buckets_of(store->nr_slots);
	/* What needs 8-byte alignment stands first. */
	store->chunks = (u8 **)(store + 1);
	store->spaces = (u64 *)(store->chunks +
				store->nr_slots / KIPT_CODE_CHUNK);
	store->runs = (struct run *)(store->spaces +
				     space_buckets_of(store->nr_runs));
	store->slots = (struct slot *)(store->runs + store->nr_runs);
	store->contents = (u32 *)(store->slots + store->nr_slots);
	kipt_code_store_clear(store);
	return store;
}

static u32 slots_there(const struct kipt_code_store *store)
{
	return store->nr_chunks * KIPT_CODE_CHUNK;
}

bool kipt_code_store_wants(const struct kipt_code_store *store)
{
	return store->free == NONE && store->fresh == slots_there(store) &&
	       slots_there(store) < store->nr_slots;
}

void kipt_code_store_grow(struct kipt_code_store *store, void *memory)
{
	store->chunks[store->nr_chunks++] = memory;
}

void *kipt_code_store_shrink(struct kipt_code_store *store)
{
	return store->nr_chunks ? store->chunks[--store->nr_chunks] : NULL;
}

void kipt_code_store_clear(struct kipt_code_store *store)
{
	store->fresh = 0;
	store->free = NONE;
	store->in_use = 0;
	store->first = 0;
	store->next = 0;
	store->dropped = 0;
	memset(store->contents, 0xff, store->nr_buckets * sizeof(u32));
	memset(store->spaces, 0,
	       space_buckets_of(store->nr_runs) * sizeof(u64));
}

static u8 *slot_data(const struct kipt_code_store *store, u32 slot)
{
	return store->chunks[slot / KIPT_CODE_CHUNK] +
	       (size_t)(slot % KIPT_CODE_CHUNK) * KIPT_CODE_PAGE;
}

static u32 *content_bucket(const struct kipt_code_store *store, const u8 *data)
{
	u64 hash = 0, word;
	u32 i;

	for (i = 0; i < SAMPLES; i++) {
		memcpy(&word, data + i * (KIPT_CODE_PAGE / SAMPLES) +
		       i * sizeof(word), sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return &store->contents[hash & (store->nr_buckets - 1)];
}

static u64 *space_bucket(const struct kipt_code_store *store, u64 id)
{
	u64 hash = id * 0x9e3779b97f4a7c15ULL >> 32;

	return &store->spaces[hash & (space_buckets_of(store->nr_runs) - 1)];
}

static struct run *run_at(const struct kipt_code_store *store, u64 number)
{
	return &store->runs[number & (store->nr_runs - 1)];
}

static void free_slot(struct kipt_code_store *store, u32 slot)
{
	u32 *link = content_bucket(store, slot_data(store, slot));

	while (*link != slot)
		link = &store->slots[*link].next;
	*link = store->slots[slot].next;
	store->slots[slot].next = store->free;
	store->free = slot;
	store->in_use--;
}

static void unref_slot(struct kipt_code_store *store, u32 slot)
{
	if (!--store->slots[slot].refs)
		free_slot(store, slot);
}

static void drop_oldest(struct kipt_code_store *store)
{
	const struct run *run = run_at(store, store->first);
	u32 i;

	for (i = 0; i < run->count; i++)
		unref_slot(store, run->slot + i);
	store->dropped += (u64)run->count * KIPT_CODE_PAGE;
	store->first++;
}

static u32 find_slot(const struct kipt_code_store *store, const u8 *data)
{
	u32 slot = *content_bucket(store, data);

	while (slot != NONE &&
	       memcmp(slot_data(store, slot), data, KIPT_CODE_PAGE))
		slot = store->slots[slot].next;
	return slot;
}

static u32 take_slot(struct kipt_code_store *store)
{
	u32 slot;

	if (store->free == NONE && store->fresh < slots_there(store))
		return store->fresh++;
	while (store->free == NONE && store->first < store->next)
		drop_oldest(store);
	slot = store->free;
	if (slot != NONE)
		store->free = store->slots[slot].next;
	return slot;
}

static u32 add_slot(struct kipt_code_store *store, const u8 *data)
{
	u32 slot = take_slot(store), *bucket;

	if (slot == NONE)
		return NONE;
	memcpy(slot_data(store, slot), data, KIPT_CODE_PAGE);
	bucket = content_bucket(store, data);
	store->slots[slot].refs = 0;
	store->slots[slot].next = *bucket;
	*bucket = slot;
	store->in_use++;
	return slot;
}

/* Most pages follow the one that came before them. */
static bool lengthen_run(struct kipt_code_store *store, u64 id, u64 addr,
			 u32 slot)
{
	struct run *last = run_at(store, store->next - 1);

	if (store->first == store->next || last->id != id ||
	    last->addr + (u64)last->count * KIPT_CODE_PAGE != addr ||
	    last->slot + last->count != slot)
		return false;
	last->count++;
	return true;
}

static void add_run(struct kipt_code_store *store, u64 id, u64 addr, u32 slot)
{
	u64 *bucket = space_bucket(store, id);

	if (store->next - store->first == store->nr_runs)
		drop_oldest(store);
	*run_at(store, store->next) = (struct run){
		.id = id,
		.addr = addr,
		.older = *bucket,
		.slot = slot,
		.count = 1,
	};
	*bucket = ++store->next;
}

bool kipt_code_store_put(struct kipt_code_store *store, u64 id, u64 addr,
			 const u8 *data)
{
	u32 slot = find_slot(store, data);

	if (slot == NONE)
		slot = add_slot(store, data);
	if (slot == NONE) {
		store->dropped += KIPT_CODE_PAGE;
		return false;
	}
	/* First, so that what is dropped for the run is not this slot. */
	store->slots[slot].refs++;
	if (!lengthen_run(store, id, addr, slot))
		add_run(store, id, addr, slot);
	return true;
}

static bool run_has(const struct run *run, u64 id, u64 ip)
{
	return run->id == id && ip >= run->addr &&
	       ip - run->addr < (u64)run->count * KIPT_CODE_PAGE;
}

bool kipt_code_store_get(const struct kipt_code_store *store, u64 id, u64 ip,
			 u8 *buf, u32 len)
{
	u64 number = *space_bucket(store, id);
	const struct run *run;
	u32 slot;

	for (; number > store->first; number = run->older) {
		run = run_at(store, number - 1);
		if (!run_has(run, id, ip))
			continue;
		slot = run->slot + (u32)((ip - run->addr) / KIPT_CODE_PAGE);
		memcpy(buf, slot_data(store, slot) + ip % KIPT_CODE_PAGE, len);
		return true;
	}
	return false;
}

u64 kipt_code_store_bytes(const struct kipt_code_store *store)
{
	return (u64)store->in_use * KIPT_CODE_PAGE;
}

u64 kipt_code_store_dropped(const struct kipt_code_store *store)
{
	return store->dropped;
}
