/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A dump that libkdumpfile reads, in a process of its own: what a damaged file
 * makes of the library is that process's end, and a sentence.
 */
#ifndef KIPT_DUMP_CHILD_H
#define KIPT_DUMP_CHILD_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

struct dump_child;

/**
 * dump_child_open() - open a dump
 * @fd: the file; may be closed afterwards
 * @path: its name, for sentences; must live as long
 *
 * Return: the caller's until dump_child_close(); NULL after a sentence.
 */
struct dump_child *dump_child_open(int fd, const char *path);

/**
 * dump_child_close() - end it, and say what could not be read
 * @child: may be NULL
 */
void dump_child_close(struct dump_child *child);

/**
 * dump_child_read() - copy memory
 * @child: the dump
 * @address: physical
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many are there in a row, up to @size.
 */
u32 dump_child_read(struct dump_child *child, u64 address, void *bytes,
		    u32 size);

/**
 * dump_child_next() - the next page that is in the file
 * @child: the dump
 * @address: physical, where to begin; the page's on success
 *
 * Return: true, or false if there is none.
 */
bool dump_child_next(struct dump_child *child, u64 *address);

/**
 * dump_child_end() - where its memory ends
 * @child: the dump
 *
 * Return: a physical address after the last page; 0: unknown.
 */
u64 dump_child_end(const struct dump_child *child);

/**
 * dump_child_info() - VMCOREINFO
 * @child: the dump
 *
 * Return: lines, the child's own; NULL if there are none.
 */
const char *dump_child_info(const struct dump_child *child);

#endif /* KIPT_DUMP_CHILD_H */
