/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The snapshots that a machine had when it died: in its memory each CPU's copy is
 * where the CPU made it (struct kipt_crash_slot). Here they become what the module
 * would have sent while the machine ran. All of it may be damaged or made up.
 */
#ifndef KIPT_SNAPSHOT_SLOTS_H
#define KIPT_SNAPSHOT_SLOTS_H

#include "../kernel/session_words.h"
#include "crash_pages.h"
#include "dump_memory.h"

/**
 * struct crash_slot - a snapshot in a dump
 * @about: as in a list of snapshots
 * @event: what happened
 * @areas: copies of @about.cpus CPUs, each of another CPU; @about.size is theirs
 *	and a header's
 * @broken: a part of the list of copies is damaged or missing
 */
struct crash_slot {
	struct kipt_snapshot about;
	struct kipt_crash_event event;
	struct kipt_crash_area *areas;
	bool broken;
};

/**
 * struct crash_slots - all snapshots in a dump
 * @memory: of the machine
 * @list: they, sorted by their numbers
 * @count: how many
 * @missing: so many more may have been in memory that is not in the dump
 * @chosen: the one that crash_slots_choose() found, or NULL
 * @died: with one chosen, what the module left of the death
 */
struct crash_slots {
	struct crash_memory *memory;
	struct crash_slot *list;
	u32 count;
	u32 missing;
	const struct crash_slot *chosen;
	struct crash_set died;
};

/**
 * crash_slots_load() - find the snapshots in a dump
 * @slots: filled
 * @memory: of the machine; must live as long
 * @set: what the module left; without a header there are none
 *
 * Return: true, or false without memory; crash_slots_free() in both cases.
 */
bool crash_slots_load(struct crash_slots *slots, struct crash_memory *memory,
		      const struct crash_set *set);

/**
 * crash_slots_choose() - make of one snapshot what crash_set_read() makes of a crash
 * @slots: the snapshots; none is chosen yet
 * @id: number of the one
 * @set: what the module left of the death, which goes to @slots; becomes the
 *	snapshot's
 * @source: filled: where @set's addresses are looked up, and those of the kernel;
 *	@slots must live as long
 *
 * Return: true, or false after a sentence, which lists the numbers that are there.
 */
bool crash_slots_choose(struct crash_slots *slots, u32 id,
			struct crash_set *set, struct crash_source *source);

/**
 * crash_slots_free() - free what is in it
 * @slots: was filled, or all zero
 */
void crash_slots_free(struct crash_slots *slots);

#endif /* KIPT_SNAPSHOT_SLOTS_H */
