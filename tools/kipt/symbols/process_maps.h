/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file is mapped where in which process: taken from /proc while the
 * process lives, kept in a text file beside the records for later.
 */
#ifndef KIPT_PROCESS_MAPS_H
#define KIPT_PROCESS_MAPS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../../kmod/decode/port.h"
#include "../cli/lookup.h"
#include "build_id.h"

/**
 * struct mapping - one executable mapping
 * @start: first address
 * @end: last address + 1
 * @offset: of @start in the file
 * @path: of the file, or a name such as "[vdso]"; owned by the maps
 * @id: of the file when it was mapped; of size 0: not known
 * @saved: a file said so, maybe long ago: what has this path now may be another
 * @whole: no other one is at any of its addresses; false: nobody looked
 */
struct mapping {
	u64 start;
	u64 end;
	u64 offset;
	char *path;
	struct build_id id;
	bool saved;
	bool whole;
};

/**
 * struct process - one process
 * @pid: thread group id
 * @comm: its name
 * @list: mappings, oldest first
 * @count: how many
 * @several: some overlap that are of different code, as of programs that it executed one
 *	after the other
 * @full: it had more of them than are kept, which was said
 * @next: the next process
 */
struct process {
	u32 pid;
	char comm[32];
	struct mapping *list;
	size_t count;
	bool several;
	bool full;
	struct process *next;
};

/**
 * struct maps - all processes that were seen
 * @first: head of the list
 * @by_pid: the processes
 * @learned: mappings that were added; goes round
 */
struct maps {
	struct process *first;
	struct lookup by_pid;
	u32 learned;
};

/**
 * mapping_same_code() - whether two mappings are of the same file, at the same distance to
 *	what is in it
 * @a: a mapping
 * @b: another one, or the same
 *
 * Return: true if an address that is in both is the same code.
 */
bool mapping_same_code(const struct mapping *a, const struct mapping *b);

/**
 * maps_free() - free everything in it
 * @maps: may be empty
 */
void maps_free(struct maps *maps);

/**
 * maps_read_pid() - add what /proc says of a process now
 * @maps: where to
 * @pid: the process
 *
 * Return: true, or false if there is no such process (without a message).
 */
bool maps_read_pid(struct maps *maps, u32 pid);

/**
 * maps_read_task() - add what /proc says of a task, for a process
 * @maps: where to
 * @tid: the task whose mappings are read
 * @pid: the process they are added to: that of @tid, or one just forked
 *
 * Return: true, or false if there is no such task (without a message).
 */
bool maps_read_task(struct maps *maps, u32 tid, u32 pid);

/**
 * maps_add() - add one mapping
 * @maps: where to
 * @pid: process; 0: addresses without a known process
 * @mapping: copied, its path too
 *
 * Return: true, or false without memory.
 */
bool maps_add(struct maps *maps, u32 pid, const struct mapping *mapping);

/**
 * maps_name() - say what a process is called
 * @maps: where to
 * @pid: the process
 * @comm: its name; copied
 *
 * Return: true, or false without memory.
 */
bool maps_name(struct maps *maps, u32 pid, const char *comm);

/**
 * maps_process() - find a process
 * @maps: where
 * @pid: which
 *
 * Return: the process, or NULL.
 */
struct process *maps_process(const struct maps *maps, u32 pid);

/**
 * maps_find() - the mapping an address is in
 * @process: whose
 * @address: what to look for
 *
 * Return: the latest one; NULL if there is none, or if several are of different code there:
 * nothing says which of them it was when.
 */
const struct mapping *maps_find(const struct process *process, u64 address);

/**
 * maps_move() - move all processes
 * @to: where to; after what it has
 * @from: empty afterwards
 */
void maps_move(struct maps *to, struct maps *from);

/**
 * maps_spares() - may maps_save() make a file
 * @path: the file
 *
 * Return: true if it is not there, empty or of maps_save(); false after a sentence.
 */
bool maps_spares(const char *path);

/**
 * maps_save() - write all as text
 * @maps: what
 * @path: file to be made; one of something else is left alone
 *
 * Return: true, or false after a sentence.
 */
bool maps_save(const struct maps *maps, const char *path);

/**
 * maps_drop() - remove what maps_save() wrote
 * @path: the file; one of something else is left alone
 */
void maps_drop(const char *path);

/**
 * maps_load() - read what maps_save() wrote
 * @maps: where to
 * @path: the file
 * @found: as for file_stream()
 *
 * Return: true, or false after a sentence.
 */
bool maps_load(struct maps *maps, const char *path, bool found);

#endif /* KIPT_PROCESS_MAPS_H */
