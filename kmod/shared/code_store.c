// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds each page in a slot, found by its content; and runs, which say that
 * pages of an address space that follow one another are in slots that do. The
 * runs are a ring in the order they came; what falls out of it, or is dropped
 * for want of slots, is always the oldest. A slot is free when no run has it.
 *
 * A run lies in one region of addresses, and is found by that. So what one
 * program maps where cannot make a chain long: a region has few pages, and
 * which regions share a bucket is secret, as the hashes of contents are.
 */
#include "code_store.h"

#define NONE		(~0U)
#define RUNS_PER_SLOT	4
#define RUNS_MIN	256U
#define RUNS_MAX	65536U
#define REGION_SHIFT	18
#define SLOTS_MAX	(1U << 30)

/* @next: in the chain of a content's bucket, or of free slots. */
struct slot {
	u64 hash;
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
	u32 nr_pages;
	/* Slots from @fresh to before @nr_pages were never used. */
	u32 fresh;
	u32 free;
	u32 in_use;
	/* Leaves the bits of a product that number a bucket of @spaces. */
	u32 space_shift;
	/* Secret and odd. */
	u64 factor;
	/* Runs @first to before @next exist, run i at @runs[i % @nr_runs]. */
	u64 first;
	u64 next;
	u64 dropped;
	u8 **pages;
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
	u64 slots = bytes / KIPT_CODE_PAGE;

	return slots < SLOTS_MAX ? (u32)slots : SLOTS_MAX;
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

	return sizeof(struct kipt_code_store) + slots * sizeof(u8 *) +
	       space_buckets_of(runs) * sizeof(u64) +
	       runs * sizeof(struct run) + slots * sizeof(struct slot) +
	       buckets_of(slots) * sizeof(u32);
}

static u32 shift_to(u32 power)
{
	u32 shift = 64;

	for (; power > 1; power >>= 1)
		shift--;
	return shift;
}

struct kipt_code_store *kipt_code_store_init(void *memory, u64 bytes,
					     u64 seed)
{
	struct kipt_code_store *store = memory;

	store->nr_slots = slots_of(bytes);
	store->nr_runs = runs_of(store->nr_slots);
	store->nr_buckets = buckets_of(store->nr_slots);
	store->space_shift = shift_to(space_buckets_of(store->nr_runs));
	store->factor = seed | 1;
	/* What needs 8-byte alignment stands first. */
	store->pages = (u8 **)(store + 1);
	store->spaces = (u64 *)(store->pages + store->nr_slots);
	store->runs = (struct run *)(store->spaces +
				     space_buckets_of(store->nr_runs));
	store->slots = (struct slot *)(store->runs + store->nr_runs);
	store->contents = (u32 *)(store->slots + store->nr_slots);
	kipt_code_store_clear(store);
	return store;
}

bool kipt_code_store_wants(const struct kipt_code_store *store)
{
	return store->free == NONE && store->fresh == store->nr_pages &&
	       store->nr_pages < store->nr_slots;
}

void kipt_code_store_grow(struct kipt_code_store *store, void *memory)
{
	store->pages[store->nr_pages++] = memory;
}

void *kipt_code_store_shrink(struct kipt_code_store *store)
{
	return store->nr_pages ? store->pages[--store->nr_pages] : NULL;
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

static u32 *content_bucket(const struct kipt_code_store *store, u64 hash)
{
	return &store->contents[hash & (store->nr_buckets - 1)];
}

static u64 *space_bucket(const struct kipt_code_store *store, u64 id, u64 addr)
{
	u64 key = id << 40 ^ addr >> REGION_SHIFT;

	return &store->spaces[key * store->factor >> store->space_shift];
}

static struct run *run_at(const struct kipt_code_store *store, u64 number)
{
	return &store->runs[number & (store->nr_runs - 1)];
}

static void free_slot(struct kipt_code_store *store, u32 slot)
{
	u32 *link = content_bucket(store, store->slots[slot].hash);

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

static u32 find_slot(const struct kipt_code_store *store, u64 hash,
		     const u8 *data)
{
	u32 slot = *content_bucket(store, hash);

	while (slot != NONE &&
	       (store->slots[slot].hash != hash ||
		memcmp(store->pages[slot], data, KIPT_CODE_PAGE)))
		slot = store->slots[slot].next;
	return slot;
}

static u32 take_slot(struct kipt_code_store *store)
{
	u32 slot;

	if (store->free == NONE && store->fresh < store->nr_pages)
		return store->fresh++;
	while (store->free == NONE && store->first < store->next)
		drop_oldest(store);
	slot = store->free;
	if (slot != NONE)
		store->free = store->slots[slot].next;
	return slot;
}

static u32 add_slot(struct kipt_code_store *store, u64 hash, const u8 *data)
{
	u32 slot = take_slot(store), *bucket;

	if (slot == NONE)
		return NONE;
	memcpy(store->pages[slot], data, KIPT_CODE_PAGE);
	bucket = content_bucket(store, hash);
	store->slots[slot].hash = hash;
	store->slots[slot].refs = 0;
	store->slots[slot].next = *bucket;
	*bucket = slot;
	store->in_use++;
	return slot;
}

/* Most pages follow the one that came before them, in its region. */
static bool lengthen_run(struct kipt_code_store *store, u64 id, u64 addr,
			 u32 slot)
{
	struct run *last = run_at(store, store->next - 1);

	if (store->first == store->next || last->id != id ||
	    last->addr + (u64)last->count * KIPT_CODE_PAGE != addr ||
	    last->addr >> REGION_SHIFT != addr >> REGION_SHIFT ||
	    last->slot + last->count != slot)
		return false;
	last->count++;
	return true;
}

static void add_run(struct kipt_code_store *store, u64 id, u64 addr, u32 slot)
{
	u64 *bucket = space_bucket(store, id, addr);

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
			 u64 hash, const u8 *data)
{
	u32 slot = find_slot(store, hash, data);

	if (slot == NONE)
		slot = add_slot(store, hash, data);
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
	u64 number = *space_bucket(store, id, ip);
	const struct run *run;
	u32 slot;

	for (; number > store->first; number = run->older) {
		run = run_at(store, number - 1);
		if (!run_has(run, id, ip))
			continue;
		slot = run->slot + (u32)((ip - run->addr) / KIPT_CODE_PAGE);
		memcpy(buf, store->pages[slot] + ip % KIPT_CODE_PAGE, len);
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
