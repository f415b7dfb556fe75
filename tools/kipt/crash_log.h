/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's log in a dump, as far as it names the header.
 */
#ifndef KIPT_CRASH_LOG_H
#define KIPT_CRASH_LOG_H

#include "crash_memory.h"

/**
 * crash_log_header() - the address that the log names
 * @memory: memory of the kernel
 * @info: VMCOREINFO
 *
 * Return: the last address named; 0 if none is, or there is no log.
 */
u64 crash_log_header(struct crash_memory *memory, const char *info);

#endif /* KIPT_CRASH_LOG_H */
