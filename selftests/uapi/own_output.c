// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page that is locked may still be moved by compaction, and the CPU would
 * write to where it was. References that a pipe has do not let it move, and
 * keep it from being given to others when the test has died.
 */
#include "own_output.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE		4096
#define ENTRIES		(PAGE / sizeof(uint64_t))
/* Of an entry: the table begins anew; Intel SDM Vol. 3C, "ToPA Table Entry". */
#define TOPA_END	(1ULL << 0)
/* Of an entry in /proc/PID/pagemap. */
#define PRESENT		(1ULL << 63)
#define FRAME		((1ULL << 55) - 1)

/* Return: physical address of a page; 0 if the kernel does not show it. */
static uint64_t physical(const void *page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry),
		  (uintptr_t)page / PAGE * sizeof(entry)) != sizeof(entry) ||
	    !(entry & PRESENT))
		entry = 0;
	close(fd);
	return (entry & FRAME) * PAGE;
}

static bool hold(void *pages, int *fd)
{
	struct iovec piece = { pages, 2 * PAGE };
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC))
		return false;
	*fd = pipes[0];
	if (vmsplice(pipes[1], &piece, 1, SPLICE_F_NONBLOCK) != 2 * PAGE) {
		close(*fd);
		*fd = -1;
	}
	close(pipes[1]);
	return *fd >= 0;
}

/*
 * The second entry ends the table, since a CPU may have no more than one that
 * leads to memory. The others are for a test that sets the CPU's place in it.
 */
static void fill(uint64_t *table, uint64_t table_address, uint64_t output)
{
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		table[i] = output;
	table[1] = table_address | TOPA_END;
	table[ENTRIES - 1] = table_address | TOPA_END;
}

const char *own_output_make(struct own_output *own)
{
	uint64_t output;
	void *pages;

	own->fd = -1;
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (pages == MAP_FAILED)
		return "there is no memory";
	/* A child must not make the next write here go to a copy. */
	madvise(pages, 2 * PAGE, MADV_DONTFORK);
	own->table = pages;
	if (!hold(pages, &own->fd))
		return "pages cannot be held in a pipe";
	own->table_address = physical(pages);
	output = physical(own->table + ENTRIES);
	if (!own->table_address || !output)
		return "/proc/self/pagemap shows no addresses";
	fill(own->table, own->table_address, output);
	return NULL;
}
