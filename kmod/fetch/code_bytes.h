/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code bytes for the decoder: kernel and module text as it was when it ran,
 * user code from the files that a reader named, else from pages of the tasks that
 * are in memory. Addresses come from trace bytes and are not trusted. What cannot be
 * known is not there: the decoder makes a gap of it.
 *
 * Process context. Nothing here faults a page in or waits for user space; files are
 * read, and waited for, as their reader would do it. One cache of user pages belongs
 * to a fetch and is shared by all that decode for it; each of them has a reader of
 * its own.
 */
#ifndef KIPT_CODE_BYTES_H
#define KIPT_CODE_BYTES_H

#include "../decode/flow.h"
#include "../shared/text_view.h"

struct kipt_code_bytes;
struct kipt_sideband;
struct kipt_space;

#define KIPT_CODE_NAMES	16U
#define KIPT_CODE_WAITS	16U
#define KIPT_CODE_PLAIN	64U

/**
 * struct kipt_code_wait - an address space that was waited for in vain
 * @id: its number
 * @until: jiffies; before that it is not waited for again
 */
struct kipt_code_wait {
	u64 id;
	unsigned long until;
};

/**
 * struct kipt_code_reader - one decoder's way to code bytes
 * @bytes: the cache, shared; set by the owner, as @page, @flow and @offsets
 * @page: PAGE_SIZE bytes of its own, so that a read needs no memory
 * @flow: what decodes with it; set before kipt_code_reader_at()
 * @begin: TSC of the stretch that is decoded; 0: unknown
 * @end: TSC at its end; ~0: unknown
 * @unnamed: number of the address space of user code before the trace names
 *	one; 0: unknown
 * @text: kernel text as it was then
 * @offsets: addresses in the trace are offsets in code segments (no LIP)
 * @first_change: changes of mappings before the stretch, as the images have them
 * @last_change: the same before its end
 * @names: names of address spaces looked up in this stretch, and their
 *	spaces as the decoder knows them
 * @busy: address spaces whose lock did not come though it was waited for
 * @plain: pages that were found to be those of their files, not written to
 *
 * Zeroed memory, but for what the owner sets, is a good start. One thread at
 * a time uses it.
 */
struct kipt_code_reader {
	struct kipt_code_bytes *bytes;
	u8 *page;
	struct kipt_flow *flow;
	u64 begin;
	u64 end;
	u64 unnamed;
	struct kipt_text_view text;
	bool offsets;
	u32 first_change;
	u32 last_change;
	struct {
		u64 name;
		u64 space;
	} names[KIPT_CODE_NAMES];
	struct kipt_code_wait busy[KIPT_CODE_WAITS];
	struct {
		u64 id;
		u64 addr;
		u64 offset;
	} plain[KIPT_CODE_PLAIN];
};

/**
 * kipt_code_bytes_create() - an empty cache
 * @sideband: who knows the address spaces; outlives the cache
 *
 * Return: NULL without memory.
 */
struct kipt_code_bytes *
kipt_code_bytes_create(struct kipt_sideband *sideband);

/**
 * kipt_code_bytes_destroy() - free a cache
 * @bytes: no reader uses it; may be NULL
 */
void kipt_code_bytes_destroy(struct kipt_code_bytes *bytes);

/**
 * kipt_code_bytes_callbacks() - what to give to kipt_flow_init()
 * @reader: the context of the callbacks
 * @code: filled in
 */
void kipt_code_bytes_callbacks(struct kipt_code_reader *reader,
			       struct kipt_code *code);

/**
 * kipt_code_reader_init() - begin to read for a run of a session
 * @reader: @bytes and @page are set
 * @first_patch: kipt_text_patch_count() when tracing started
 * @end_patch: the same when it had stopped
 */
void kipt_code_reader_init(struct kipt_code_reader *reader, u64 first_patch, u64 end_patch);

/**
 * kipt_code_reader_at() - say which stretch of time is decoded next
 * @reader: @flow is set
 * @begin: TSC at its begin, 64 bits; 0: unknown
 * @end: TSC at its end, 64 bits; ~0: unknown
 *
 * Call it before each run of the flow, also one that goes back in time. If
 * kernel text was patched while tracing ran (the arguments of kipt_code_reader_init() differ),
 * a stretch should be what is between two PSBs, as text is read as of its
 * begin; otherwise it may be some hundred KiB of trace. The decoder forgets
 * what is different then.
 *
 * Context: that of the sink, as kipt_flow_forget().
 */
void kipt_code_reader_at(struct kipt_code_reader *reader, u64 begin, u64 end);

/**
 * kipt_code_reader_stays() - whether user code stays what it is
 * @reader: any
 * @begin: TSC at the begin of a stretch, 64 bits; 0: unknown
 * @end: TSC at its end, 64 bits; ~0: unknown
 *
 * Return: false if the images know of a mapping that takes the place of another
 * there: stretches should be short.
 */
bool kipt_code_reader_stays(const struct kipt_code_reader *reader, u64 begin, u64 end);

/**
 * kipt_code_reader_unnamed() - say whose user code runs unless the trace does
 * @reader: @flow is set
 * @cpu: whose trace is decoded
 *
 * For traces without OS, which name no address space. After kipt_code_reader_at(), for
 * a stretch in which one thread ran: the sideband makes a PSB at each switch.
 */
void kipt_code_reader_unnamed(struct kipt_code_reader *reader,
			      unsigned int cpu);

/**
 * kipt_code_bytes_who() - what an address space of the decoder is
 * @bytes: the cache
 * @space: as the flow has it from kipt_code.space()
 * @who: filled; zero is unknown
 *
 * Return: false if @space is 0 or was forgotten.
 */
bool kipt_code_bytes_who(struct kipt_code_bytes *bytes, u64 space,
			 struct kipt_space *who);

#endif /* KIPT_CODE_BYTES_H */
