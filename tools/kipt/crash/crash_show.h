/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The summary of a crash: what died, where, and what each CPU did last; and the list of
 * what the module kept of oopses and warnings. In words or, if the view says so, as JSON.
 */
#ifndef KIPT_CRASH_SHOW_H
#define KIPT_CRASH_SHOW_H

#include "../kernel/session_words.h"
#include "../view/view.h"
#include "dump_machine.h"
#include "trace_ring.h"

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
 * snapshot_print() - print a line on a snapshot
 * @snapshot: the snapshot
 * @names: names of addresses
 * @json: as JSON
 */
void snapshot_print(const struct kipt_snapshot *snapshot, struct names *names,
		    bool json);

/**
 * snapshots_list() - print a line for each snapshot
 * @kallsyms: a copy of /proc/kallsyms; NULL: this kernel's; "": none
 * @json: as JSON Lines
 *
 * Return: true, or false after a sentence.
 */
bool snapshots_list(const char *kallsyms, bool json);

#endif /* KIPT_CRASH_SHOW_H */
