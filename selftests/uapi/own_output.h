/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for a test that lets a CPU trace without the module's knowledge: the CPU
 * writes to physical addresses, so these have to be the test's own.
 */
#ifndef KIPT_OWN_OUTPUT_H
#define KIPT_OWN_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A table of physical addresses, and the page all of its entries lead to.
 * Neither goes elsewhere, nor to anybody else, while @fd is open.
 */
struct own_output {
	uint64_t *table;
	/* Physical. */
	uint64_t table_address;
	int fd;
};

/* Return: NULL, or why there is none. */
const char *own_output_make(struct own_output *own);

#endif /* KIPT_OWN_OUTPUT_H */
