// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for the pages of a crash, see header_find.h. What a page is worth
 * crash_pages.c says; here is chosen among them. First the records of the kernel's log are
 * looked through: a table of descriptors says where each begins; programs have a say in
 * what is after that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "header_find.h"
#include "vmcoreinfo.h"

/* 64 MiB of text are more than a kernel can be set to have. */
#define TEXT_BITS_MAX	26
#define DESCS_BITS_MAX	21

/* Where Linux has its own data and its modules' data. */
#define MODULES_BEGIN	0xffffffff80000000ULL
#define MODULES_END	0xffffffffff000000ULL

/* A record without a text has a position that no text has. */
#define NO_TEXT		1ULL

static const char words[] = "kipt: crash header at 0x";

/* Addresses in the kernel's memory, and offsets in a descriptor. */
struct ring {
	struct crash_memory *memory;
	u64 text, text_size;
	u64 descs, desc_count, desc_size;
	u64 begin_at;
};

/**
 * log_is_own() - does the module's memory name a header
 * @memory: memory of the kernel
 * @header: a good page of kind HEADER
 * @address: where it is, physical
 *
 * A program can fill its memory with pages that look like the module's, and the
 * log has words of programs. No program writes to the module's own memory.
 *
 * Return: true if so.
 */
static bool log_is_own(struct crash_memory *memory,
		       const struct kipt_crash_header *header, u64 address)
{
	struct kipt_crash_anchor anchor;

	return header->anchor >= MODULES_BEGIN &&
	       header->anchor < MODULES_END &&
	       crash_memory_get(memory, header->anchor, &anchor,
				sizeof(anchor)) &&
	       anchor.id == header->page.id && anchor.address == address;
}

static bool ring_find(struct ring *ring, const char *info)
{
	static const char *const names[] = {
		"printk_ringbuffer.text_data_ring", "prb_data_ring.size_bits",
		"prb_data_ring.data", "printk_ringbuffer.desc_ring",
		"prb_desc_ring.count_bits", "prb_desc_ring.descs",
		"prb_desc.text_blk_lpos", "prb_data_blk_lpos.begin",
	};
	u64 at[sizeof(names) / sizeof(names[0])], prb;
	u32 i, text_bits, desc_bits;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!vmcoreinfo_number(info, "OFFSET", names[i], &at[i]))
			return false;
	}
	if (!vmcoreinfo_symbol(info, "prb", &prb) ||
	    !vmcoreinfo_number(info, "SIZE", "prb_desc", &ring->desc_size) ||
	    !crash_memory_get(ring->memory, prb, &prb, sizeof(prb)) ||
	    !crash_memory_get(ring->memory, prb + at[0] + at[1], &text_bits, 4) ||
	    !crash_memory_get(ring->memory, prb + at[0] + at[2], &ring->text, 8) ||
	    !crash_memory_get(ring->memory, prb + at[3] + at[4], &desc_bits, 4) ||
	    !crash_memory_get(ring->memory, prb + at[3] + at[5], &ring->descs, 8) ||
	    text_bits > TEXT_BITS_MAX || desc_bits > DESCS_BITS_MAX)
		return false;
	ring->text_size = 1ULL << text_bits;
	ring->desc_count = 1ULL << desc_bits;
	ring->begin_at = at[6] + at[7];
	return true;
}

/* Texts end without a mark, and digits of older ones may follow: the address
 * counts at which the kernel's own header is. 0: there is none.
 */
static u64 header_at(struct ring *ring, const struct crash_source *source,
		     const char *digits)
{
	struct crash_page page;
	char text[17] = "";
	size_t size = strspn(digits, "0123456789abcdef");
	u64 address;

	for (size = size < 16 ? size : 16; size; size--) {
		memcpy(text, digits, size);
		text[size] = 0;
		address = strtoull(text, NULL, 16);
		if (address &&
		    crash_page_read(source, address, &page) == CRASH_GOOD &&
		    page.head.kind == KIPT_CRASH_HEADER &&
		    log_is_own(ring->memory, &page.header, address))
			return address;
	}
	return 0;
}

/* A text is after the number of its descriptor. */
static u64 record_look(struct ring *ring, const struct crash_source *source,
		       u64 position)
{
	u64 at = ring->text + (position & (ring->text_size - 1)) + 8;
	char text[sizeof(words) + 16];
	u32 got = crash_memory_read(ring->memory, 0, at, text,
				    sizeof(text) - 1);

	text[got] = 0;
	return strncmp(text, words, sizeof(words) - 1) ? 0 :
	       header_at(ring, source, text + sizeof(words) - 1);
}

/**
 * log_header() - the header that the log names
 * @memory: memory of the kernel
 * @source: physical memory
 * @info: VMCOREINFO
 *
 * Only what a record of the log begins with counts, and only the kernel's own
 * header.
 *
 * Return: its address; 0 if there is none, or no log.
 */
static u64 log_header(struct crash_memory *memory,
		      const struct crash_source *source, const char *info)
{
	struct ring ring = { .memory = memory };
	u64 i, begin, address;

	if (!ring_find(&ring, info))
		return 0;
	/* A record for which the end of the ring has no room is here. */
	address = record_look(&ring, source, 0);
	for (i = 0; i < ring.desc_count && !address; i++) {
		if (crash_memory_get(memory, ring.descs + i * ring.desc_size +
			       ring.begin_at, &begin, sizeof(begin)) &&
		    !(begin & NO_TEXT))
			address = record_look(&ring, source, begin);
	}
	return address;
}

/* Pages of kipt that are kept of a search; a machine has one for each CPU. */
#define FOUND_MAX	65536U

/* What of each page is looked at: a magic, or the head of a note. */
#define LOOK		32

/* So many damaged pages are reported one by one. */
#define DAMAGES_TOLD	8U

/**
 * struct found - a good page of kipt that a search met
 * @address: physical
 * @id: the number that pages share which belong together
 * @kind: of the page
 */
struct found {
	u64 address;
	u64 id;
	u16 kind;
};

/**
 * struct search - a search through all of a dump
 * @find: what is looked for
 * @source: memory of the dump
 * @list: pages that were found
 * @count: how many
 * @damages: the first of those that are kipt's, and damaged: what they say of
 *	themselves may be what is damaged
 * @damaged: how many are, also more than fit there
 * @version: the last one seen that is not ours; 0: there was none
 */
struct search {
	struct crash_find *find;
	struct crash_source source;
	struct found *list;
	u32 count;
	struct crash_page damages[DAMAGES_TOLD];
	u32 damaged;
	u16 version;
};

/* False without memory. */
static bool found_add(struct search *search, const struct crash_page *page)
{
	struct found *list;

	if (search->count == FOUND_MAX)
		return true;
	list = list_room(search->list, search->count, sizeof(*list));
	if (!list)
		return false;
	search->list = list;
	list[search->count++] = (struct found){
		.address = page->address,
		.id = page->head.id,
		.kind = page->head.kind,
	};
	return true;
}

/* Whose they are may be what is damaged. */
static void damages_tell(const struct search *search)
{
	const struct crash_page *damage = search->damages;
	u32 i;

	for (i = 0; i < search->damaged && i < DAMAGES_TOLD; i++, damage++) {
		unsigned long long address = damage->address;
		const char *what = crash_verdict_text(damage->verdict);

		if (damage->head.kind == KIPT_CRASH_CPU)
			say_note("the page of CPU %u at 0x%llx %s",
				 damage->head.number, address, what);
		else
			say_note("the %s at 0x%llx %s",
				 damage->head.kind == KIPT_CRASH_HEADER ?
				 "header" : "page", address, what);
	}
	if (search->damaged > DAMAGES_TOLD)
		say_note("%u more of kipt's pages in the dump are damaged",
			 search->damaged - DAMAGES_TOLD);
}

static bool page_take(struct search *search, u64 address)
{
	struct crash_page page;

	switch (crash_page_read(&search->source, address, &page)) {
	case CRASH_GOOD:
		return page.head.kind == KIPT_CRASH_REGIONS ||
		       found_add(search, &page);
	case CRASH_VERSION:
		search->version = page.head.version;
		return true;
	case CRASH_SIZE:
	case CRASH_SUM:
		if (search->damaged < DAMAGES_TOLD)
			search->damages[search->damaged] = page;
		search->damaged++;
		return true;
	default:
		return true;
	}
}

static bool page_look(struct search *search, u64 address)
{
	u8 bytes[LOOK];

	if (!crash_get(&search->source, address, bytes, LOOK))
		return true;
	if (!memcmp(bytes, KIPT_CRASH_MAGIC, sizeof(KIPT_CRASH_MAGIC)))
		return page_take(search, address);
	if (vmcoreinfo_here(bytes))
		search->find->vmcoreinfo = address;
	return true;
}

/* True, or false after a sentence. */
static bool search_all(struct search *search)
{
	u64 address = 0, end = dump_end(search->find->dump);

	progress_catch();
	for (; dump_next(search->find->dump, &address);
	     address += KIPT_CRASH_PAGE_BYTES) {
		progress_show("searching", address, end);
		if (progress_interrupted()) {
			progress_clear();
			say_error("cancelled while the dump was searched (ECANCELED)");
			return false;
		}
		if (!page_look(search, address)) {
			progress_clear();
			say_errno(ENOMEM, "cannot search the dump");
			return false;
		}
	}
	progress_clear();
	return true;
}

static bool cpus_add(const struct search *search, struct crash_set *set,
		     u64 id)
{
	struct crash_page page;
	u32 i;

	for (i = 0; i < search->count; i++) {
		if (search->list[i].id != id ||
		    search->list[i].kind != KIPT_CRASH_CPU ||
		    crash_page_read(&search->source, search->list[i].address,
				    &page) != CRASH_GOOD)
			continue;
		if (!crash_set_add(set, &search->source, &page))
			return false;
	}
	return true;
}

static bool is_anchored(const struct search *search,
			const struct crash_set *set)
{
	return search->find->memory &&
	       log_is_own(search->find->memory, &set->header, set->header_address);
}

/* When the last CPU of a set stopped, 0 if none did. */
static u64 stop_time(const struct crash_set *set)
{
	u64 time = 0;
	u32 i;

	for (i = 0; i < set->count; i++) {
		const struct kipt_crash_stop *stop = &set->cpus[i]->page.stop;

		if (set->cpus[i]->stop_good &&
		    stop->state == KIPT_CRASH_STOPPED && stop->tsc > time)
			time = stop->tsc;
	}
	return time;
}

/* Higher is better: one with a header, the kernel's own, a crash that was written
 * down, CPUs, the later one.
 */
static bool set_is_better(const struct search *search,
			  const struct crash_set *a, const struct crash_set *b)
{
	bool anchored = is_anchored(search, a);

	if (a->has_header != b->has_header)
		return a->has_header;
	if (!a->has_header)
		return stop_time(a) > stop_time(b);
	if (anchored != is_anchored(search, b))
		return anchored;
	if (a->event_good != b->event_good)
		return a->event_good;
	if (!a->count != !b->count)
		return a->count;
	return a->event_good &&
	       a->header.event.tsc > b->header.event.tsc;
}

static const char *other_text(const struct search *search,
			      const struct crash_set *best,
			      const struct crash_set *other)
{
	if (is_anchored(search, best) && !is_anchored(search, other))
		return "not the kernel's";
	return other->event_good ? "of an older crash" : "of no crash";
}

/* Of two the better one stays. */
static void set_keep(const struct search *search, struct crash_set *best,
		     struct crash_set *set, u32 *others)
{
	struct crash_set worse = *set;

	if ((!best->has_header && !best->count) ||
	    set_is_better(search, set, best)) {
		worse = *best;
		*best = *set;
	}
	if (worse.has_header) {
		++*others;
		say_note("another header of kipt is at 0x%llx: %s%s",
			 (unsigned long long)worse.header_address,
			 other_text(search, best, &worse),
			 worse.count ? "" : ", without CPUs");
	}
	crash_set_free(&worse);
}

/* Of a header, or of CPUs without one. Returns false without memory. */
static bool set_make(const struct search *search, const struct found *found,
		     struct crash_set *set)
{
	struct crash_page page;

	memset(set, 0, sizeof(*set));
	return (found->kind != KIPT_CRASH_HEADER ||
		crash_page_read(&search->source, found->address, &page) !=
			CRASH_GOOD ||
		crash_set_read(set, &search->source, &page)) &&
	       cpus_add(search, set, found->id);
}

/* Has a page before this one led to the same CPUs, and to no header? */
static bool is_known(const struct search *search, const struct found *found)
{
	const struct found *other;

	for (other = search->list;
	     other < found && found->kind != KIPT_CRASH_HEADER; other++) {
		if (other->id == found->id && other->kind == found->kind)
			return true;
	}
	return false;
}

/* Returns false without memory. */
static bool set_choose(const struct search *search, struct crash_set *set)
{
	struct crash_set one;
	u32 i, others = 0;

	for (i = 0; i < search->count; i++) {
		if (is_known(search, &search->list[i]))
			continue;
		if (!set_make(search, &search->list[i], &one)) {
			crash_set_free(&one);
			return false;
		}
		set_keep(search, set, &one, &others);
	}
	if (others)
		say_note("the header at 0x%llx is used, it is %s; --header chooses another",
			 (unsigned long long)set->header_address,
			 is_anchored(search, set) ? "the kernel's own" :
			 "of the newest crash; a program could have made it up");
	if (set->count && !set->has_header)
		say_note("there is no good header of kipt in the dump: only the CPUs' own pages are used");
	return true;
}

static bool nothing_found(const struct search *search)
{
	if (search->version)
		say_error("the dump is of a kipt with pages of version %u, this one reads versions up to %u",
			  search->version, KIPT_CRASH_VERSION);
	else
		say_error("kipt left nothing in this dump: it was not armed when the machine died, or its pages are missing");
	return false;
}

/* Memory may hold what is left of a copy of a page: it lacks nothing then. */
static bool set_is_whole(const struct crash_set *set)
{
	u32 i;

	if (!set->has_header || set->broken_by != CRASH_GOOD ||
	    set->count < set->header.nr_cpus)
		return false;
	for (i = 0; i < set->count; i++)
		if (set->cpus[i]->known < set->cpus[i]->page.size)
			return false;
	return true;
}

static bool search_and_choose(struct search *search, struct crash_set *set)
{
	bool ok;

	if (!search_all(search))
		return false;
	/* What the chain does not lead to belongs to it by its number. */
	ok = set->has_header ? cpus_add(search, set, set->id) :
			       set_choose(search, set);
	if (!ok) {
		say_errno(ENOMEM, "cannot hold what kipt left in the dump");
		return false;
	}
	if (!set_is_whole(set))
		damages_tell(search);
	return set->has_header || set->count || nothing_found(search);
}

/* Returns false without memory. */
static bool header_take(struct search *search, struct crash_set *set)
{
	u64 address = search->find->header;
	struct crash_page page;

	crash_page_read(&search->source, address, &page);
	if (page.verdict == CRASH_GOOD &&
	    page.head.kind == KIPT_CRASH_HEADER) {
		if (search->find->memory &&
		    !log_is_own(search->find->memory, &page.header, address))
			say_note("the header at 0x%llx is not the kernel's: a program could have made it up",
				 (unsigned long long)address);
		return crash_set_read(set, &search->source, &page);
	}
	say_note("the header at 0x%llx %s: the dump is searched",
		 (unsigned long long)address,
		 crash_verdict_text(page.verdict == CRASH_GOOD ?
				    CRASH_NO_MAGIC : page.verdict));
	return true;
}

static bool chain_is_whole(const struct crash_set *set)
{
	if (set->broken_by != CRASH_GOOD) {
		say_note("the page at 0x%llx %s: the dump is searched for the CPUs that follow it",
			 (unsigned long long)set->broken_at,
			 crash_verdict_text(set->broken_by));
		return false;
	}
	return set->has_header && set->count >= set->header.nr_cpus;
}

static void missing_tell(const struct crash_set *set)
{
	if (set->has_header && set->count < set->header.nr_cpus)
		say_note("%u of %u CPUs have no good page in the dump: their traces are missing",
			 set->header.nr_cpus - set->count,
			 set->header.nr_cpus);
	if (set->has_header && !set->header.nr_cpus && !set->count)
		say_note("kipt was loaded, but had no session when the machine died: there is no trace");
}

bool crash_find(struct crash_find *find, struct crash_set *set)
{
	struct search search = {
		.find = find,
		.source = dump_source(find->dump),
	};
	bool ok = true;

	memset(set, 0, sizeof(*set));
	if (!find->header && find->memory)
		find->header = log_header(find->memory, &search.source, find->info);
	if (find->header && !header_take(&search, set)) {
		say_errno(ENOMEM, "cannot hold what kipt left in the dump");
		return false;
	}
	if (!chain_is_whole(set))
		ok = search_and_choose(&search, set);
	free(search.list);
	if (ok)
		missing_tell(set);
	return ok;
}
