/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which process ran when on which CPU, and which code it had mapped then, as
 * the events of a recording of perf say.
 */
#ifndef KIPT_PERF_MAPS_H
#define KIPT_PERF_MAPS_H

#include "../symbols/process_maps.h"
#include "perf_aux.h"
#include "perf_code.h"
#include "perf_tree.h"

/**
 * struct perf_space - the code of a process for a time: a new one begins with
 *	each fork and exec, and where something else is mapped over what was
 * @pid: process
 * @from: TSC from which on it holds
 * @begins: with a fork or an exec
 * @ended: the process ended
 * @comm: name of the process
 * @root: its mappings
 */
struct perf_space {
	u32 pid;
	u64 from;
	bool begins, ended;
	char comm[16];
	struct perf_node *root;
};

/**
 * struct perf_turn - a task on a CPU
 * @from: TSC from which on it ran
 * @pid: process; 0: idle, or @unknown
 * @tid: thread
 * @space: index of its space; PERF_NO_SPACE: none is known
 * @unknown: nobody knows which task it is
 */
struct perf_turn {
	u64 from;
	u32 pid;
	u32 tid;
	u32 space;
	bool unknown;
};

#define PERF_NO_SPACE	0xffffffffU

struct perf_maps;

/**
 * perf_maps_create() - nothing is known
 *
 * Return: the caller's until perf_maps_destroy(); NULL after a sentence.
 */
struct perf_maps *perf_maps_create(void);

/**
 * perf_maps_destroy() - free it
 * @maps: may be NULL
 */
void perf_maps_destroy(struct perf_maps *maps);

/**
 * perf_maps_take() - look at one event
 * @maps: where to
 * @file: where it is from
 * @event: any event
 *
 * Return: true, or false after a sentence: no memory.
 */
bool perf_maps_take(struct perf_maps *maps, const struct perf_file *file,
		    const struct perf_event *event);

/**
 * perf_maps_settle() - put events in order, and make spaces of them
 * @maps: all events were looked at
 * @file: where they were from
 * @clock: the clock of its events
 *
 * Return: true, or false after a sentence: no memory.
 */
bool perf_maps_settle(struct perf_maps *maps, const struct perf_file *file,
		      const struct perf_clock *clock);

/**
 * perf_maps_several() - whether several processes ran
 * @maps: was settled
 *
 * Return: false if the recording has mappings of one process at most.
 */
bool perf_maps_several(const struct perf_maps *maps);

/**
 * perf_maps_reused() - how often a process got the number of one that had ended
 * @maps: was settled
 * @pid: filled with one of them
 *
 * Return: how often; what is said of that number is of both.
 */
u32 perf_maps_reused(const struct perf_maps *maps, u32 *pid);

/**
 * perf_maps_turns() - who ran where a trace is of
 * @maps: was settled
 * @queue: the trace
 * @timed: it has times
 * @switched: events say when CPUs switched tasks
 * @count: how many turns there are
 *
 * Return: at least one turn, in order, the first from 0 on; the caller frees
 * it. NULL after a sentence.
 */
struct perf_turn *perf_maps_turns(const struct perf_maps *maps,
				  const struct perf_queue *queue,
				  bool timed, bool switched, size_t *count);

/**
 * perf_maps_space() - a space
 * @maps: was settled
 * @index: which
 *
 * Return: the space, or NULL if there are not so many.
 */
const struct perf_space *perf_maps_space(const struct perf_maps *maps,
					 u32 index);

/**
 * perf_maps_each() - go through all spaces
 * @maps: was settled
 * @take: gets each, by process, and those of a process as they came; false ends it
 * @ctx: its first argument
 *
 * Return: false if @take did.
 */
bool perf_maps_each(const struct perf_maps *maps,
		    bool (*take)(void *ctx, const struct perf_space *space), void *ctx);

/**
 * perf_maps_files() - find the files of all mappings on this machine
 * @maps: was settled
 * @file: where they are from
 * @symfs: as for perf_codes_find()
 */
void perf_maps_files(struct perf_maps *maps, const struct perf_file *file,
		     const char *symfs);

/**
 * perf_space_find() - the mapping an address is in
 * @space: whose
 * @address: what to look for
 *
 * Return: the mapping, or NULL.
 */
const struct perf_mapping *perf_space_find(const struct perf_space *space,
					   u64 address);

/**
 * perf_maps_codes() - all files
 * @maps: was settled
 *
 * Return: the files, owned by @maps.
 */
struct perf_codes *perf_maps_codes(struct perf_maps *maps);

/**
 * perf_maps_find() - what an address of a process is called
 * @maps: was settled, its files were found
 * @now: index of the space that is in force; PERF_NO_SPACE, and any of another
 *	process: whatever was there at any time is meant
 * @pid: the process
 * @address: any
 * @found: filled; its path is NULL if it was several things
 *
 * Return: true, or false: nothing was there.
 */
bool perf_maps_find(const struct perf_maps *maps, u32 now, u32 pid, u64 address,
		    struct mapping *found);

/**
 * perf_maps_comm() - what a process is called
 * @maps: was settled
 * @pid: the process
 *
 * Return: its last name, or NULL.
 */
const char *perf_maps_comm(const struct perf_maps *maps, u32 pid);

/**
 * perf_maps_learn() - add a process to maps that know no time
 * @maps: was settled, its files were found
 * @pid: the process
 * @names: where to; what was several things in the course of time is left out
 *
 * Return: true, or false without memory.
 */
bool perf_maps_learn(struct perf_maps *maps, u32 pid, struct maps *names);

/**
 * perf_maps_lost() - events of the recording that perf had no room for
 * @maps: was settled
 *
 * Return: how many, as it says itself.
 */
u64 perf_maps_lost(const struct perf_maps *maps);

/**
 * perf_maps_lasted() - from the first event that has a time to the last one
 * @maps: was settled
 *
 * Return: nanoseconds.
 */
u64 perf_maps_lasted(const struct perf_maps *maps);

/**
 * perf_maps_tsc() - some TSC of the recording
 * @maps: was settled
 *
 * Return: that of its last event; 0: unknown.
 */
u64 perf_maps_tsc(const struct perf_maps *maps);

#endif /* KIPT_PERF_MAPS_H */
