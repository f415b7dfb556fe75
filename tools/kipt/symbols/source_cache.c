// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines by record, see source_cache.h.
 */
#include <sys/mman.h>

#include "source_cache.h"

_Static_assert(sizeof(struct cached_line) == 256, "four lines of the CPU's cache");

/* In large pages, which the kernel fills with zeros as they are used. */
struct line_cache *line_cache_create(void)
{
	void *memory = mmap(NULL, sizeof(struct line_cache), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, sizeof(struct line_cache), MADV_HUGEPAGE);
	return memory;
}

void line_cache_destroy(struct line_cache *cache)
{
	if (cache)
		munmap(cache, sizeof(*cache));
}
