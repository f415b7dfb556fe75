// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks through the texts of the kernel's log, see crash_log.h. They stand in a
 * ring, one behind the other.
 */
#include <stdlib.h>
#include <string.h>

#include "crash_log.h"
#include "vmcoreinfo.h"

#define LOG_MAX		(64ULL << 20)
#define LOOK		4096

static const char words[] = "crash header at 0x";

/* A text that runs over the end of what was read is read again with the next. */
#define OVERLAP		(sizeof(words) + 16)

static bool ring_find(struct crash_memory *memory, const char *info,
		      u64 *data, u64 *size)
{
	u64 prb, text, bits_at, data_at;
	u32 bits;

	if (!vmcoreinfo_symbol(info, "prb", &prb) ||
	    !vmcoreinfo_number(info, "OFFSET",
			       "printk_ringbuffer.text_data_ring", &text) ||
	    !vmcoreinfo_number(info, "OFFSET", "prb_data_ring.size_bits",
			       &bits_at) ||
	    !vmcoreinfo_number(info, "OFFSET", "prb_data_ring.data",
			       &data_at) ||
	    crash_memory_read(memory, 0, prb, &prb, sizeof(prb)) !=
		    sizeof(prb) ||
	    crash_memory_read(memory, 0, prb + text + bits_at, &bits,
			      sizeof(bits)) != sizeof(bits) ||
	    crash_memory_read(memory, 0, prb + text + data_at, data,
			      sizeof(*data)) != sizeof(*data) || bits > 40)
		return false;
	*size = 1ULL << bits;
	return *size <= LOG_MAX;
}

/* A header that the log names. The texts are not in the order of time. */
struct named {
	u64 address;
	bool crashed;
	u64 tsc;
};

/* That of the newest crash; without one the last. */
static void named_take(struct named *named, const struct crash_page *page)
{
	bool crashed = crash_event_good(&page->header);
	u64 tsc = crashed ? page->header.event.tsc : 0;

	if (named->crashed && (!crashed || tsc < named->tsc))
		return;
	*named = (struct named){ page->address, crashed, tsc };
}

/* Texts end without a mark, and digits of older ones may follow: what counts is
 * where a header is.
 */
static void header_at(const struct crash_source *source, const char *digits,
		      struct named *named)
{
	struct crash_page page;
	char text[17] = "";
	u64 address;
	size_t size;

	for (size = strspn(digits, "0123456789abcdef"); size; size--) {
		if (size >= sizeof(text))
			continue;
		memcpy(text, digits, size);
		text[size] = 0;
		address = strtoull(text, NULL, 16);
		if (address &&
		    crash_page_read(source, address, &page) == CRASH_GOOD &&
		    page.head.kind == KIPT_CRASH_HEADER) {
			named_take(named, &page);
			return;
		}
	}
}

static void text_look(const struct crash_source *source, const char *text,
		      size_t size, struct named *named)
{
	size_t length = sizeof(words) - 1;
	size_t i;

	for (i = 0; i + length < size; i++) {
		if (!memcmp(text + i, words, length))
			header_at(source, text + i + length, named);
	}
}

u64 crash_log_header(struct crash_memory *memory,
		     const struct crash_source *source, const char *info)
{
	struct named named = { 0 };
	u64 data, size, at;
	char text[LOOK + OVERLAP + 1];
	u32 got;

	if (!ring_find(memory, info, &data, &size))
		return 0;
	for (at = 0; at < size; at += LOOK) {
		got = crash_memory_read(memory, 0, data + at, text,
					LOOK + OVERLAP);
		text[got] = 0;
		text_look(source, text, got, &named);
	}
	return named.address;
}
