// SPDX-License-Identifier: GPL-2.0-only
/*
 * Puts together what is known of a machine that died, see dump_machine.h: each
 * part of a dump may be missing, and most can be had in two ways.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/messages.h"
#include "dump_machine.h"
#include "dump_symbols.h"
#include "header_find.h"
#include "vmcoreinfo.h"

/* Where Linux has its own text, whatever it adds to that. */
#define KERNEL_MAP	0xffffffff80000000ULL

/* Direct maps of machines with four levels begin above. */
#define FOUR_LEVELS	0xffff800000000000ULL

/* Where the kernel has what it has; NULL: there is no header. */
static const struct kipt_crash_layout *
layout_of(const struct crash_machine *machine)
{
	return machine->set.has_header ? &machine->set.header.layout : NULL;
}

static u32 levels_find(const struct crash_machine *machine)
{
	const struct kipt_crash_layout *layout = layout_of(machine);
	u64 five;

	if (layout && layout->direct_map)
		return layout->direct_map < FOUR_LEVELS ? 5 : 4;
	if (vmcoreinfo_number(machine->info, "NUMBER", "pgtable_l5_enabled",
			      &five))
		return five ? 5 : 4;
	return 4;
}

/* The page table the kernel began with; nobody takes it away. */
static u64 first_table(const struct crash_machine *machine)
{
	u64 table, base;

	if (!vmcoreinfo_symbol(machine->info, "init_top_pgt", &table) ||
	    !vmcoreinfo_number(machine->info, "NUMBER", "phys_base", &base))
		return 0;
	return table - KERNEL_MAP + base;
}

/* Any address the kernel has. */
static u64 probe_find(const struct crash_machine *machine)
{
	const struct kipt_crash_layout *layout = layout_of(machine);
	u64 address;
	u32 i;

	if (vmcoreinfo_symbol(machine->info, "_stext", &address))
		return address;
	if (layout && layout->module)
		return layout->module;
	for (i = 0; i < machine->set.count; i++) {
		const struct crash_cpu *cpu = machine->set.cpus[i];

		if (cpu->stop_good && cpu->page.stop.ip >> 63)
			return cpu->page.stop.ip;
	}
	return 0;
}

static void table_choose(struct crash_machine *machine)
{
	u64 probe = probe_find(machine);
	u32 i;

	if (crash_memory_kernel(machine->memory, first_table(machine), probe))
		return;
	for (i = 0; i < machine->set.count; i++) {
		const struct crash_cpu *cpu = machine->set.cpus[i];

		if (cpu->stop_good &&
		    crash_memory_kernel(machine->memory, cpu->page.stop.cr3, probe))
			return;
	}
}

/* With more levels than there are nothing is found, so the others are tried. */
static bool memory_open(struct crash_machine *machine)
{
	u32 levels = levels_find(machine), try;

	for (try = 0; try < 2; try++) {
		free(machine->memory);
		machine->memory = crash_memory_create(&machine->source,
						      try ? 9 - levels :
						      levels);
		if (!machine->memory) {
			say_errno(ENOMEM, "cannot read the dump's code");
			return false;
		}
		table_choose(machine);
		if (crash_memory_has_kernel(machine->memory))
			return true;
	}
	return true;
}

/* Dumps that have no VMCOREINFO of their own have that of the kernel's memory. */
static void info_choose(struct crash_machine *machine, u64 seen)
{
	const struct kipt_crash_layout *layout = layout_of(machine);

	if (!machine->info && layout)
		machine->info = vmcoreinfo_read(&machine->source,
						layout->vmcoreinfo);
	if (!machine->info)
		machine->info = vmcoreinfo_read(&machine->source, seen);
}

bool crash_machine_open(struct crash_machine *machine, const char *path,
			u64 header)
{
	struct crash_find find = { .header = header };

	memset(machine, 0, sizeof(*machine));
	machine->dump = dump_open(path);
	if (!machine->dump)
		return false;
	machine->source = dump_source(machine->dump);
	machine->info = dump_vmcoreinfo(machine->dump);
	find.dump = machine->dump;
	find.info = machine->info;
	/* What the dump says of itself sets the kernel's header apart from others. */
	if (machine->info && !memory_open(machine))
		return false;
	if (machine->memory && crash_memory_has_kernel(machine->memory))
		find.memory = machine->memory;
	if (!crash_find(&find, &machine->set))
		return false;
	info_choose(machine, find.vmcoreinfo);
	if (!memory_open(machine))
		return false;
	if (!crash_memory_has_kernel(machine->memory))
		say_note("there is no page table of the kernel in the dump: its code can only come from --image");
	if (crash_slots_load(&machine->slots, machine->memory, &machine->set))
		return true;
	say_errno(ENOMEM, "cannot read the snapshots in the dump");
	return false;
}

bool crash_machine_choose(struct crash_machine *machine, u32 id)
{
	crash_memory_kernel_only(machine->memory);
	return crash_slots_choose(&machine->slots, id, &machine->set,
				  &machine->source);
}

static u32 snapshot_read(void *ctx, u64 address, void *bytes, u32 size)
{
	const struct kipt_snapshot *snapshot = ctx;

	if (address >= snapshot->size)
		return 0;
	if (size > snapshot->size - address)
		size = snapshot->size - address;
	memcpy(bytes, snapshot->data + address, size);
	return size;
}

bool crash_machine_snapshot(struct crash_machine *machine,
			    const struct kipt_snapshot *snapshot)
{
	struct crash_page page;

	memset(machine, 0, sizeof(*machine));
	machine->source = (struct crash_source){ snapshot_read,
						 (void *)snapshot, true };
	if (crash_page_read(&machine->source, 0, &page) == CRASH_GOOD &&
	    page.head.kind != KIPT_CRASH_HEADER)
		page.verdict = CRASH_NO_MAGIC;
	if (page.verdict != CRASH_GOOD) {
		say_error("snapshot %u cannot be read: its first page %s",
			  snapshot->id, crash_verdict_text(page.verdict));
		return false;
	}
	if (crash_set_read(&machine->set, &machine->source, &page))
		return true;
	say_errno(ENOMEM, "cannot read snapshot %u", snapshot->id);
	return false;
}

void crash_machine_close(struct crash_machine *machine)
{
	crash_slots_free(&machine->slots);
	free(machine->memory);
	free(machine->info);
	crash_set_free(&machine->set);
	dump_close(machine->dump);
	memset(machine, 0, sizeof(*machine));
}

static u32 kernel_read(void *ctx, u64 address, void *bytes, u32 size)
{
	return address >> 63 ? crash_memory_read(ctx, 0, address, bytes, size) :
			       0;
}

struct crash_source crash_machine_kernel(struct crash_machine *machine)
{
	if (!machine->source.snapshot)
		return (struct crash_source){ kernel_read, machine->memory, false };
	return machine->source;
}

struct symbols *crash_machine_symbols(struct crash_machine *machine,
				      struct kernel_debug *debug)
{
	bool has = machine->memory && crash_memory_has_kernel(machine->memory);

	return crash_symbols_load(has ? machine->memory : NULL, machine->info,
				  layout_of(machine), debug);
}
