/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of the kernel and its modules from /proc/kallsyms, or a copy of it.
 */
#ifndef KIPT_KERNEL_SYMBOLS_H
#define KIPT_KERNEL_SYMBOLS_H

#include "symbols.h"

/**
 * kernel_symbols_load() - read a kallsyms file
 * @path: NULL: /proc/kallsyms
 *
 * Return: the table, the caller's; NULL after a sentence if it cannot be
 * read or the kernel hides the addresses.
 */
struct symbols *kernel_symbols_load(const char *path);

#endif /* KIPT_KERNEL_SYMBOLS_H */
