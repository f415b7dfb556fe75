/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine that died, as its dump shows it: what kipt left, its memory, its
 * symbols.
 */
#ifndef KIPT_DUMP_MACHINE_H
#define KIPT_DUMP_MACHINE_H

#include "../kernel/session_words.h"
#include "../symbols/symbols.h"
#include "crash_pages.h"
#include "dump_file.h"
#include "dump_memory.h"
#include "kernel_debug.h"
#include "snapshot_slots.h"

/**
 * struct crash_machine - a machine that died
 * @dump: its memory; NULL: it is a snapshot of a machine that runs
 * @source: the same, for those who need not know what it is; with @source.snapshot
 *	a snapshot
 * @set: what kipt left
 * @info: VMCOREINFO; NULL: the dump has none
 * @memory: its virtual memory; without kernel addresses if no page table was
 *	found
 * @slots: snapshots in the dump
 */
struct crash_machine {
	struct dump *dump;
	struct crash_source source;
	struct crash_set set;
	char *info;
	struct crash_memory *memory;
	struct crash_slots slots;
};

/**
 * crash_machine_open() - open a dump and find what is in it
 * @machine: filled
 * @path: the dump
 * @header: address of kipt's header; 0: it is looked for
 *
 * Return: true, or false after a sentence; crash_machine_close() in both cases.
 */
bool crash_machine_open(struct crash_machine *machine, const char *path,
			u64 header);

/**
 * crash_machine_snapshot() - what a machine keeps that survived
 * @machine: filled; it has no memory but the traces
 * @snapshot: with its data; must live as long
 *
 * Return: true, or false after a sentence; crash_machine_close() in both cases.
 */
bool crash_machine_snapshot(struct crash_machine *machine,
			    const struct kipt_snapshot *snapshot);

/**
 * crash_machine_choose() - a snapshot in the dump is what is read from now on
 * @machine: from crash_machine_open()
 * @id: its number
 *
 * User code is that of the death, and is not given.
 *
 * Return: true, or false after a sentence.
 */
bool crash_machine_choose(struct crash_machine *machine, u32 id);

/**
 * crash_machine_close() - free it all
 * @machine: was filled
 */
void crash_machine_close(struct crash_machine *machine);

/**
 * crash_machine_kernel() - memory by the kernel's own addresses
 * @machine: must live as long
 *
 * Return: where the addresses are looked up that its pages of kind LOGS have: in
 * a snapshot offsets in it.
 */
struct crash_source crash_machine_kernel(struct crash_machine *machine);

/**
 * crash_machine_symbols() - its symbols
 * @machine: the machine
 * @debug: as for crash_symbols_load()
 *
 * Return: the table, the caller's; NULL after a sentence.
 */
struct symbols *crash_machine_symbols(struct crash_machine *machine,
				      struct kernel_debug *debug);

#endif /* KIPT_DUMP_MACHINE_H */
