/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's log in a dump, as far as it names the header.
 */
#ifndef KIPT_CRASH_LOG_H
#define KIPT_CRASH_LOG_H

#include "crash_memory.h"

/**
 * crash_log_header() - the header that the log names
 * @memory: memory of the kernel
 * @source: physical memory
 * @info: VMCOREINFO
 *
 * Return: of the addresses named at which there is a good one that of the
 * newest crash, without a crash the last; 0 if there is none, or no log.
 */
u64 crash_log_header(struct crash_memory *memory,
		     const struct crash_source *source, const char *info);

#endif /* KIPT_CRASH_LOG_H */
