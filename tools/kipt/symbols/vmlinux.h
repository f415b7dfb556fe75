/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols of the file that a kernel was linked to.
 */
#ifndef KIPT_VMLINUX_H
#define KIPT_VMLINUX_H

#include "symbols.h"

/**
 * vmlinux_address() - where the file has a symbol
 * @path: vmlinux
 * @name: of the symbol, whatever it is of
 * @address: filled
 *
 * Return: true, or false after a sentence.
 */
bool vmlinux_address(const char *path, const char *name, u64 *address);

/**
 * vmlinux_symbols() - the symbols of its code
 * @symbols: table that they are added to; not searched yet
 * @path: vmlinux
 * @bias: added to each address
 *
 * Return: true, or false if it cannot be read, or without memory.
 */
bool vmlinux_symbols(struct symbols *symbols, const char *path, u64 bias);

#endif /* KIPT_VMLINUX_H */
