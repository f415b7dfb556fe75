/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which page tables are of one process.
 */
#ifndef KIPT_PAGE_TABLES_H
#define KIPT_PAGE_TABLES_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/**
 * page_tables_same() - whether two values of CR3 are of the same process
 * @a: CR3
 * @b: CR3
 *
 * With page-table isolation a process has two page tables, side by side, which differ in bit
 * 12; bits 11:0 have the PCID.
 *
 * Return: true if they differ in these bits at most.
 */
static inline bool page_tables_same(u64 a, u64 b)
{
	return !((a ^ b) >> 13);
}

#endif /* KIPT_PAGE_TABLES_H */
