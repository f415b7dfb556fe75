/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts what a dump has for decoding into a folder, as 'kipt record --save' does:
 * cpuN.pt, kernel.addr and .dump, kallsyms, meta.json.
 */
#ifndef KIPT_CRASH_SAVE_H
#define KIPT_CRASH_SAVE_H

#include "dump_machine.h"
#include "trace_ring.h"

/**
 * crash_save_trace() - write cpuN.pt
 * @dir: the folder
 * @trace: the trace; if parts are missing, what is after the last of them
 *
 * Return: true, or false after a sentence.
 */
bool crash_save_trace(const char *dir, const struct crash_trace *trace);

/**
 * crash_save_kernel() - write the code of kernel and modules, and kallsyms
 * @dir: the folder
 * @machine: the machine
 * @symbols: its symbols; NULL: there are none, and neither is kallsyms written
 *
 * Return: true, or false after a sentence.
 */
bool crash_save_kernel(const char *dir, struct crash_machine *machine,
		       struct symbols *symbols);

/**
 * crash_save_meta() - write meta.json
 * @dir: the folder
 * @machine: the machine
 * @cpu: whose clocks it has
 *
 * Return: true, or false after a sentence.
 */
bool crash_save_meta(const char *dir, const struct crash_machine *machine,
		     const struct crash_cpu *cpu);

#endif /* KIPT_CRASH_SAVE_H */
