/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The summary of a crash: what died, where, and what each CPU did last.
 */
#ifndef KIPT_CRASH_SHOW_H
#define KIPT_CRASH_SHOW_H

#include "../view/view.h"
#include "dump_machine.h"
#include "trace_ring.h"

/**
 * crash_hook_name() - what noticed a crash, in a word
 * @hook: enum kipt_crash_hook
 *
 * Return: the word.
 */
const char *crash_hook_name(u32 hook);

/**
 * crash_show() - print what is known of the crash
 * @machine: the machine
 * @view: how, with names of addresses
 */
void crash_show(const struct crash_machine *machine, struct view *view);

/**
 * crash_show_cpu() - print a line on a CPU
 * @machine: the machine
 * @trace: the CPU's trace
 * @view: how, with names of addresses
 */
void crash_show_cpu(const struct crash_machine *machine,
		    const struct crash_trace *trace, struct view *view);

/**
 * crash_show_json() - print the same as crash_show() as a line of JSON
 * @machine: the machine
 * @view: how, with names of addresses
 */
void crash_show_json(const struct crash_machine *machine, struct view *view);

/**
 * crash_show_cpu_json() - print the same as crash_show_cpu() as a line of JSON
 * @machine: the machine
 * @trace: the CPU's trace
 * @view: how, with names of addresses
 */
void crash_show_cpu_json(const struct crash_machine *machine,
			 const struct crash_trace *trace, struct view *view);

#endif /* KIPT_CRASH_SHOW_H */
