// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks through the records of the kernel's log, see dump_printk.h. A table of
 * descriptors says where each record begins; programs have a say in what is
 * after that.
 */
#include <stdlib.h>
#include <string.h>

#include "dump_printk.h"
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

bool crash_log_is_own(struct crash_memory *memory,
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
		    crash_log_is_own(ring->memory, &page.header, address))
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

u64 crash_log_header(struct crash_memory *memory,
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
