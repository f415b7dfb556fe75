/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A dump of a machine's memory: ELF, makedumpfile's format, /proc/vmcore. Bytes are read where
 * they are wanted; no dump is loaded.
 */
#ifndef KIPT_DUMP_FILE_H
#define KIPT_DUMP_FILE_H

#include <stdbool.h>

#include "crash_pages.h"

struct dump;

/**
 * dump_open() - open a dump
 * @path: its name
 *
 * Return: the caller's until dump_close(); NULL after a sentence.
 */
struct dump *dump_open(const char *path);

/**
 * dump_close() - close it
 * @dump: may be NULL
 */
void dump_close(struct dump *dump);

/**
 * dump_source() - its memory, for those who need not know what it is
 * @dump: must live as long
 *
 * Return: the source.
 */
struct crash_source dump_source(struct dump *dump);

/**
 * dump_next() - the next page the dump has
 * @dump: the dump
 * @address: physical, where to begin; the page's on success
 *
 * Return: true, or false if there is none.
 */
bool dump_next(struct dump *dump, u64 *address);

/**
 * dump_end() - where its memory ends
 * @dump: the dump
 *
 * Return: a physical address after the last page; 0: unknown.
 */
u64 dump_end(const struct dump *dump);

/**
 * dump_vmcoreinfo() - what the kernel says of itself, if the dump has it
 * @dump: the dump
 *
 * Return: lines, to be freed; NULL if there are none.
 */
char *dump_vmcoreinfo(struct dump *dump);

#endif /* KIPT_DUMP_FILE_H */
