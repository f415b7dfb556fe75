/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's pages. */
#ifndef KIPT_SHIM_MM_H
#define KIPT_SHIM_MM_H

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096UL
#define PAGE_ALIGN(n)	(((n) + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1))

/* How large the machine is, a test says. */
unsigned long totalram_pages(void);

#endif /* KIPT_SHIM_MM_H */
