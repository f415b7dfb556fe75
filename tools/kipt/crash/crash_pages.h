/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages that the module left in a machine that died (kipt_crash.h), read
 * out of any memory. All of it may be damaged, or made to mislead: what is given
 * away has good checksums and bounds.
 */
#ifndef KIPT_CRASH_PAGES_H
#define KIPT_CRASH_PAGES_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"
#include "../../../uapi/linux/kipt_crash.h"

/* More CPUs than Linux has. */
#define CRASH_CPUS_MAX		8192U

/* Where memory ends for every x86 CPU. */
#define CRASH_PHYSICAL_END	(1ULL << 52)

/**
 * struct crash_source - the memory of the machine
 * @read: copies up to @size bytes at a physical address; returns how many, less
 *	where the memory is missing
 * @ctx: its first argument
 * @snapshot: its pages are of a snapshot: in the module's memory they are not to
 *	be taken for those of a crash
 */
struct crash_source {
	u32 (*read)(void *ctx, u64 address, void *bytes, u32 size);
	void *ctx;
	bool snapshot;
};

/**
 * crash_get() - copy all of it, or nothing that counts
 * @source: the memory
 * @address: where
 * @bytes: filled
 * @size: how many
 *
 * Return: true if all are there.
 */
static inline bool crash_get(const struct crash_source *source, u64 address,
			     void *bytes, u32 size)
{
	return source->read(source->ctx, address, bytes, size) == size;
}

/**
 * enum crash_verdict - what a page is worth
 * @CRASH_GOOD: all fits
 * @CRASH_NO_MAGIC: it is no page of kipt
 * @CRASH_VERSION: of another version than this tool knows
 * @CRASH_SIZE: its sizes make no sense
 * @CRASH_SUM: its checksum is wrong
 * @CRASH_MISSING: it is not in the dump
 */
enum crash_verdict {
	CRASH_GOOD = 0,
	CRASH_NO_MAGIC,
	CRASH_VERSION,
	CRASH_SIZE,
	CRASH_SUM,
	CRASH_MISSING,
};

/**
 * crash_verdict_text() - what a page is worth, in words
 * @verdict: that
 *
 * Return: words that follow "it".
 */
const char *crash_verdict_text(enum crash_verdict verdict);

/**
 * struct crash_page - one page
 * @address: physical
 * @verdict: what it is worth; all below counts only with CRASH_GOOD
 * @head: what it begins with
 * @bytes: all of it
 */
struct crash_page {
	u64 address;
	enum crash_verdict verdict;
	union {
		struct kipt_crash_page head;
		struct kipt_crash_header header;
		struct kipt_crash_cpu cpu;
		struct kipt_crash_regions regions;
		struct kipt_crash_signal signal;
		struct kipt_crash_maps maps;
		struct kipt_crash_logs logs;
		u8 bytes[KIPT_CRASH_PAGE_BYTES];
	};
};

/**
 * crash_page_read() - read and check a page
 * @source: the memory
 * @address: physical
 * @page: filled
 *
 * Return: its verdict.
 */
enum crash_verdict crash_page_read(const struct crash_source *source,
				   u64 address, struct crash_page *page);

/**
 * crash_page_seal() - give a page the magic and the checksums that it needs
 * @page: a page of a snapshot, all else of it is set
 */
void crash_page_seal(struct crash_page *page);

/**
 * struct crash_region - a part of a CPU's buffer
 * @begin: offset in the buffer
 * @address: physical
 * @size: bytes, at least 1
 */
struct crash_region {
	u64 begin;
	u64 address;
	u64 size;
};

/**
 * struct crash_cpu - what is known of one CPU
 * @address: of its page
 * @stop_good: @page.stop has its checksum; otherwise it is not to be used
 * @regions: of the buffer, from its begin on
 * @count: how many
 * @known: bytes of the buffer they have; less than @page.size if pages with
 *	regions are missing
 * @has_logs: @logs is good
 * @logs: where the module's logs are
 * @page: the page without its regions
 */
struct crash_cpu {
	u64 address;
	bool stop_good;
	struct crash_region *regions;
	u32 count;
	u64 known;
	bool has_logs;
	struct kipt_crash_logs logs;
	struct kipt_crash_cpu page;
};

/**
 * struct crash_set - pages that belong together
 * @id: the number they share
 * @has_header: @header is good
 * @header_address: where it is
 * @header: the header
 * @event_good: @header.event can be used
 * @broken_by: what is wrong with the page at which the chain ends; CRASH_GOOD: nothing
 * @broken_at: its address
 * @signal: where the page of kind SIGNAL is; 0: there is none
 * @cpus: in the order of their numbers; NULL if there are none
 * @count: how many
 */
struct crash_set {
	u64 id;
	bool has_header;
	u64 header_address;
	struct kipt_crash_header header;
	bool event_good;
	enum crash_verdict broken_by;
	u64 broken_at;
	u64 signal;
	struct crash_cpu **cpus;
	u32 count;
};

/**
 * crash_set_read() - follow the chain from a header
 * @set: filled
 * @source: the memory
 * @header: a good page of kind HEADER
 *
 * Return: true, or false without memory; crash_set_free() in both cases.
 */
bool crash_set_read(struct crash_set *set, const struct crash_source *source,
		    const struct crash_page *header);

/**
 * crash_set_add() - a page that was found elsewhere than in the chain
 * @set: its @id is that of the page, or it has no CPU and no header yet
 * @source: the memory
 * @page: a good page of kind CPU; a CPU that is known already is left as it is
 *
 * Return: true, or false without memory.
 */
bool crash_set_add(struct crash_set *set, const struct crash_source *source,
		   const struct crash_page *page);

/**
 * crash_set_free() - free what is in it
 * @set: was filled, or all zero
 */
void crash_set_free(struct crash_set *set);

/**
 * crash_cpu_read() - bytes of a CPU's buffer
 * @cpu: the CPU
 * @source: the memory
 * @at: offset in the buffer
 * @bytes: filled
 * @size: how many are wanted; not round the end of the buffer
 *
 * Return: how many were copied; less than @size where they are not in the dump.
 */
u32 crash_cpu_read(const struct crash_cpu *cpu,
		   const struct crash_source *source, u64 at, u8 *bytes,
		   u32 size);

#endif /* KIPT_CRASH_PAGES_H */
