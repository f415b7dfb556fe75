// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each entry is in the chain of the page it is in, newest first; one that
 * crosses a page's end is in two. What spans many pages is in a chain of its
 * own, which is short. When an entry is overwritten its chain remembers the
 * number, and so knows up to where it is not whole.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/barrier.h>

#include "patch_log.h"

#define TEXT_PAGE_SHIFT	12
#define TEXT_PAGE	(1ULL << TEXT_PAGE_SHIFT)
/* Longer changes are one entry, and not one for each of their pages. */
#define PAGES_MAX	64U
#define BUCKETS_PER_ENTRY_SHIFT	2
#define KNOWN	KIPT_CRASH_PATCH_KNOWN

/* Numbers, plus 1: of the newest entry, of the newest that was overwritten. */
struct chain {
	u64 newest;
	u64 forgotten;
};

/*
 * Entry n is whole if n < @count and @begun <= n + @nr. @missed: what was
 * before this number is unknown.
 */
struct kipt_patch_log {
	u32 nr;
	u32 nr_chains;
	u64 begun;
	u64 count;
	u64 start;
	u64 missed;
	struct chain huge;
	struct chain *chains;
	struct kipt_crash_patch entries[];
};

static u32 chains_of(u32 entries)
{
	u32 chains = entries >> BUCKETS_PER_ENTRY_SHIFT;

	return chains ? chains : 1;
}

size_t kipt_patch_log_size(u32 entries)
{
	return sizeof(struct kipt_patch_log) +
	       entries * sizeof(struct kipt_crash_patch) +
	       chains_of(entries) * sizeof(struct chain);
}

struct kipt_patch_log *kipt_patch_log_init(void *memory, u32 entries,
					   u64 number)
{
	struct kipt_patch_log *log = memory;

	log->nr = entries;
	log->nr_chains = chains_of(entries);
	log->chains = (struct chain *)(log->entries + entries);
	log->begun = number;
	log->count = number;
	log->start = number;
	log->missed = number;
	return log;
}

static struct kipt_crash_patch *slot_of(const struct kipt_patch_log *log, u64 number)
{
	return (struct kipt_crash_patch *)&log->entries[number & (log->nr - 1)];
}

static u64 first_page(const struct kipt_crash_patch *patch)
{
	return patch->address >> TEXT_PAGE_SHIFT;
}

static u32 length(const struct kipt_crash_patch *patch)
{
	return patch->len & ~KNOWN;
}

static u64 last_page(const struct kipt_crash_patch *patch)
{
	u32 len = length(patch);

	return (patch->address + (len ? len - 1 : 0)) >> TEXT_PAGE_SHIFT;
}

static bool is_huge(const struct kipt_crash_patch *patch)
{
	return last_page(patch) - first_page(patch) > 1;
}

static struct chain *page_chain(const struct kipt_patch_log *log, u64 page)
{
	u64 hash = page * 0x9e3779b97f4a7c15ULL >> 32;

	return &log->chains[hash & (log->nr_chains - 1)];
}

/* The chains an entry is in: one, or two. */
static struct chain *chain_of(const struct kipt_patch_log *log,
			      const struct kipt_crash_patch *patch, u32 which)
{
	if (is_huge(patch))
		return (struct chain *)&log->huge;
	return page_chain(log, which ? last_page(patch) : first_page(patch));
}

static void forget(struct kipt_patch_log *log, u64 number)
{
	const struct kipt_crash_patch *patch = slot_of(log, number);
	u32 i;

	for (i = 0; i < 2; i++)
		WRITE_ONCE(chain_of(log, patch, i)->forgotten, number + 1);
}

static void link_entry(struct kipt_patch_log *log, struct kipt_crash_patch *patch,
		       u64 number)
{
	struct chain *first = chain_of(log, patch, 0);
	struct chain *last = chain_of(log, patch, 1);

	patch->older[0] = first->newest;
	patch->older[1] = last->newest;
	/* An entry that is found is whole. */
	smp_wmb();
	WRITE_ONCE(first->newest, number + 1);
	WRITE_ONCE(last->newest, number + 1);
}

static void add_one(struct kipt_patch_log *log, u64 tsc, u64 addr, u32 len,
		    const u8 *before)
{
	u64 number = log->count;
	struct kipt_crash_patch *patch = slot_of(log, number);

	WRITE_ONCE(log->begun, number + 1);
	/* Pairs with read_entry(): who sees new content sees this too. */
	smp_wmb();
	if (number - log->start >= log->nr)
		forget(log, number - log->nr);
	patch->tsc = tsc;
	patch->address = addr;
	patch->len = len;
	if (before) {
		patch->len |= KNOWN;
		memcpy(patch->before, before, len);
	}
	link_entry(log, patch, number);
	/* Pairs with kipt_patch_log_count(). */
	smp_store_release(&log->count, number + 1);
}

void kipt_patch_log_add(struct kipt_patch_log *log, u64 tsc, u64 addr,
			u64 len, const u8 *before)
{
	u64 end = addr + len, next;

	if (len <= KIPT_CRASH_PATCH_BYTES || len > PAGES_MAX * TEXT_PAGE) {
		if (len >= KNOWN)
			len = KNOWN - 1;
		add_one(log, tsc, addr, (u32)len,
			len <= KIPT_CRASH_PATCH_BYTES ? before : NULL);
		return;
	}
	for (; addr < end; addr = next) {
		next = (addr | (TEXT_PAGE - 1)) + 1;
		if (next > end)
			next = end;
		add_one(log, tsc, addr, (u32)(next - addr), NULL);
	}
}

void kipt_patch_log_missed(struct kipt_patch_log *log)
{
	WRITE_ONCE(log->missed, log->count + 1);
}

u64 kipt_patch_log_count(const struct kipt_patch_log *log)
{
	/* Pairs with add_one(). */
	return smp_load_acquire(&log->count);
}

static u64 oldest(const struct kipt_patch_log *log)
{
	u64 begun = READ_ONCE(log->begun);

	return begun - log->start > log->nr ? begun - log->nr : log->start;
}

u64 kipt_patch_log_lost(const struct kipt_patch_log *log, u64 first)
{
	u64 begin = oldest(log);

	return begin > first ? begin - first : 0;
}

/* Return: false if it is not in the log any more. */
static bool read_entry(const struct kipt_patch_log *log, u64 number,
		       struct kipt_crash_patch *patch)
{
	/* The writer may be at it: what was read is thrown away then. */
	data_race(memcpy(patch, slot_of(log, number), sizeof(*patch)));
	/* Pairs with add_one(). */
	smp_rmb();
	return number >= oldest(log);
}

u64 kipt_patch_log_at(const struct kipt_patch_log *log, u64 first, u64 end,
		      u64 tsc)
{
	u64 wished = first, begin = oldest(log);
	struct kipt_crash_patch patch;

	if (first < begin)
		first = begin < end ? begin : end;
	begin = first;
	while (first < end) {
		u64 middle = first + (end - first) / 2;

		/* What is overwritten meanwhile counts as earlier. */
		if (!read_entry(log, middle, &patch) || patch.tsc <= tsc)
			first = middle + 1;
		else
			end = middle;
	}
	/* Before all that are known, so perhaps before some that are not. */
	return first == begin || first <= oldest(log) ? wished : first;
}

static bool overlaps(const struct kipt_crash_patch *patch, u64 ip, u32 len)
{
	return patch->address < ip + len && ip < patch->address + length(patch);
}

/*
 * A walk along the chain of a page: entries from @first on, newest first.
 * @whole becomes false where the chain is not.
 */
struct walk {
	const struct kipt_patch_log *log;
	const struct chain *chain;
	u64 first;
	u64 next;
	bool whole;
	struct kipt_crash_patch patch;
};

static void begin_walk(struct walk *walk, const struct kipt_patch_log *log,
		       const struct chain *chain, u64 first)
{
	walk->log = log;
	walk->chain = chain;
	walk->first = first;
	walk->next = READ_ONCE(chain->newest);
	/* Pairs with link_entry(). */
	smp_rmb();
	walk->whole = true;
}

/* Return: the entry's number, plus 1; 0: no more. */
static u64 walk_on(struct walk *walk)
{
	u64 number = walk->next;
	bool same;

	if (!number || number <= walk->first || !walk->whole)
		return 0;
	if (!read_entry(walk->log, number - 1, &walk->patch)) {
		walk->whole = false;
		return 0;
	}
	same = chain_of(walk->log, &walk->patch, 0) == walk->chain;
	walk->next = walk->patch.older[same ? 0 : 1];
	/* Numbers only go down, so a walk ends. */
	if (walk->next >= number)
		walk->next = 0;
	return number;
}

/* After the walk: whether something fell out of it that matters. */
static bool is_whole(const struct walk *walk)
{
	/* Pairs with add_one(): what is overwritten is said to be before. */
	smp_rmb();
	return walk->whole &&
	       READ_ONCE(walk->chain->forgotten) <= walk->first &&
	       READ_ONCE(walk->log->missed) <= walk->first;
}

static void undo_one(const struct kipt_crash_patch *patch, u64 ip, u8 *buf, u32 len)
{
	u64 end = patch->address + length(patch), i;

	if (length(patch) > KIPT_CRASH_PATCH_BYTES)
		return;
	if (end > ip + len)
		end = ip + len;
	for (i = patch->address > ip ? patch->address : ip; i < end; i++)
		buf[i - ip] = patch->before[i - patch->address];
}

static bool undo_chain(const struct kipt_patch_log *log,
		       const struct chain *chain, u64 first, u64 ip, u8 *buf,
		       u32 len)
{
	struct walk walk;

	begin_walk(&walk, log, chain, first);
	while (walk_on(&walk)) {
		if (!overlaps(&walk.patch, ip, len))
			continue;
		if (!(walk.patch.len & KNOWN))
			return false;
		undo_one(&walk.patch, ip, buf, len);
	}
	return is_whole(&walk);
}

bool kipt_patch_log_undo(const struct kipt_patch_log *log, u64 first, u64 ip,
			 u8 *buf, u32 len)
{
	return undo_chain(log, &log->huge, first, ip, buf, len) &&
	       undo_chain(log, page_chain(log, ip >> TEXT_PAGE_SHIFT), first,
			  ip, buf, len);
}

static bool chain_touches(const struct kipt_patch_log *log,
			  const struct chain *chain, u64 first, u64 end,
			  u64 ip, u32 len)
{
	struct walk walk;
	u64 number;

	begin_walk(&walk, log, chain, first);
	while ((number = walk_on(&walk)))
		if (number <= end && overlaps(&walk.patch, ip, len))
			return true;
	return !is_whole(&walk);
}

bool kipt_patch_log_touches(const struct kipt_patch_log *log, u64 first,
			    u64 end, u64 ip, u32 len)
{
	u64 page = ip >> TEXT_PAGE_SHIFT;
	u64 last = (ip + (len ? len - 1 : 0)) >> TEXT_PAGE_SHIFT;

	if (first >= end)
		return false;
	if (chain_touches(log, &log->huge, first, end, ip, len))
		return true;
	for (; page <= last; page++)
		if (chain_touches(log, page_chain(log, page), first, end, ip,
				  len))
			return true;
	return false;
}

u32 kipt_patch_log_chain(const struct kipt_patch_log *log, u64 ip)
{
	return page_chain(log, ip >> TEXT_PAGE_SHIFT) - log->chains;
}

bool kipt_patch_log_range(const struct kipt_patch_log *log, u64 number,
			  u64 *begin, u64 *end)
{
	struct kipt_crash_patch patch;

	if (number < log->start || !read_entry(log, number, &patch))
		return false;
	*begin = patch.address;
	*end = patch.address + length(&patch);
	return true;
}

void kipt_patch_log_where(const struct kipt_patch_log *log, struct kipt_crash_logs *logs)
{
	logs->patches = (struct kipt_crash_ring) {
		.entries = (unsigned long)log->entries,
		.written = (unsigned long)&log->count,
		.nr = log->nr,
		.size = sizeof(log->entries[0]),
	};
	logs->patches_start = (unsigned long)&log->start;
	logs->patches_missed = (unsigned long)&log->missed;
}
