/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's log in a dump, as far as it names the header, and which header is
 * the kernel's own.
 */
#ifndef KIPT_DUMP_PRINTK_H
#define KIPT_DUMP_PRINTK_H

#include "dump_memory.h"

/**
 * crash_log_is_own() - does the module's memory name a header
 * @memory: memory of the kernel
 * @header: a good page of kind HEADER
 * @address: where it is, physical
 *
 * A program can fill its memory with pages that look like the module's, and the
 * log has words of programs. No program writes to the module's own memory.
 *
 * Return: true if so.
 */
bool crash_log_is_own(struct crash_memory *memory,
		      const struct kipt_crash_header *header, u64 address);

/**
 * crash_log_header() - the header that the log names
 * @memory: memory of the kernel
 * @source: physical memory
 * @info: VMCOREINFO
 *
 * Only what a record of the log begins with counts, and only the kernel's own
 * header.
 *
 * Return: its address; 0 if there is none, or no log.
 */
u64 crash_log_header(struct crash_memory *memory,
		     const struct crash_source *source, const char *info);

#endif /* KIPT_DUMP_PRINTK_H */
