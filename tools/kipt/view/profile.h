/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace says of each function: branches, calls and time; and of each CPU
 * and task. However long the trace is, memory depends only on how many different
 * functions and branches there are, and has a bound.
 */
#ifndef KIPT_PROFILE_H
#define KIPT_PROFILE_H

#include "../cli/lookup.h"
#include "../records/tool_records.h"
#include "../symbols/address_names.h"

struct call_stack;

/* The CPU of records before which none is named, and of a thread's. */
#define PROFILE_CPU_UNKNOWN	RECORD_CPU_UNKNOWN

/**
 * struct profile_call - one call
 * @ticks: from the call to the return; 0: there is none
 * @begun: TSC of the call
 * @cpu: where it was, or PROFILE_CPU_UNKNOWN
 * @tid, @pid: whose it was; 0: not known
 * @gap: something is missing within
 */
struct profile_call {
	u64 ticks;
	u64 begun;
	u64 cpu;
	u32 tid, pid;
	bool gap;
};

/**
 * struct profile_symbol - a function; without symbols what was called at an
 *	address, or the rest of the code of a file
 * @name: plain; NULL: there is no symbol
 * @object: file or module, plain; NULL: not known. Of all symbols of one the same pointer
 * @called: without @name: it is what was called at @start
 * @start: its address; without @name its offset in @object, or the address if
 *	that is not known; 0: neither @name nor @called
 * @space: index of the space it is of; 0: the kernel
 * @branches: that are in it
 * @insns: instructions that ran in it
 * @calls: how often it was called
 * @self: ticks in itself
 * @total: ticks from calls of it to their returns; of calls within a call of
 *	the same function the outermost counts
 * @cycles: core cycles in itself
 * @longest: the longest call whose return was seen
 * @active: how many calls of it @active_of has, the feed's
 * @wanted: the profile wants it
 * @next: another one with the same hash; 0: none
 * @first, @size: addresses that are in it as long as profile_code() is @code; with @called those
 *	that have no symbol, and are of @object
 * @code: see @first
 */
struct profile_symbol {
	char *name;
	char *object;
	bool called;
	u64 start;
	u32 space;
	u64 branches;
	u64 insns;
	u64 calls;
	u64 self;
	u64 total;
	u64 cycles;
	struct profile_call longest;
	struct call_stack *active_of;
	u32 active;
	bool wanted;
	u32 next;
	u32 code;
	u64 first;
	u64 size;
};

/**
 * struct profile_space - a process, or a page table where that is not known
 * @pid: process; 0: not known; NAMES_GUEST
 * @cr3: page table if there is no @pid; 0: not known
 */
struct profile_space {
	u32 pid;
	u64 cr3;
};

/**
 * profile_space_pid() - the process of a space, as a number to be shown
 * @space: the space
 *
 * Return: 0 if it is not known, or if there is none, as of a guest.
 */
static inline u32 profile_space_pid(const struct profile_space *space)
{
	return space->pid == NAMES_GUEST ? 0 : space->pid;
}

/**
 * struct profile_cpu - a CPU
 * @cpu: its number, or PROFILE_CPU_UNKNOWN
 * @first, @last: TSCs of its trace; 0: it has none
 * @zero: the TSC that its times count from
 * @ticks: from time to time, those of several threads one after the other
 * @lost: ticks of which nothing is known
 */
struct profile_cpu {
	u64 cpu;
	u64 first, last;
	u64 zero;
	u64 ticks;
	u64 lost;
};

/**
 * struct profile_task - a thread
 * @tid: thread
 * @pid: its process; 0: not known
 * @ticks: how long it ran and was traced
 * @branches: its branches
 */
struct profile_task {
	u32 tid, pid;
	u64 ticks;
	u64 branches;
};

/* Addresses whose function is found without a search. A power of two. */
#define PROFILE_RECENT	32768U

/**
 * struct profile_code - what an address means depends on
 * @pid, @cr3: of the last address
 * @changes: names_changes() then
 * @number: of all this together; another one as soon as some of it changes
 */
struct profile_code {
	u32 pid;
	u64 cr3;
	u64 changes;
	u32 number;
};

/**
 * struct profile_recent - an address that was looked up not long ago
 * @key: the address, and whether it was called
 * @code: the number of struct profile_code then; 0: there is none
 * @symbol: what was found
 */
struct profile_recent {
	u64 key;
	u32 code;
	u32 symbol;
};

/**
 * struct profile - all of it
 * @names: where symbols are from
 * @wanted: names of functions to look for, as wanted_has() takes them; NULL: none
 * @symbols: [0]: those that had no room
 * @symbol_count: how many
 * @objects: files and modules that symbols are of, each once
 * @object_count: how many
 * @spaces: [0]: the kernel, [1]: nobody knows
 * @space_count: how many
 * @cpus: CPUs that were seen
 * @cpu_count: how many
 * @tasks: tasks that were seen
 * @task_count: how many
 * @traced: ticks in which code ran and was traced
 * @cycles: core cycles of that; 0: the trace has no CYC packets
 * @lost: ticks that are lost, by enum kipt_gap_kind
 * @spaces_full, @cpus_full, @tasks_full: some had no room
 * @failed: memory ran out
 */
struct profile {
	struct names *names;
	const char *wanted;
	struct profile_symbol *symbols;
	u32 symbol_count;
	char **objects;
	u32 object_count;
	struct profile_space *spaces;
	u32 space_count;
	struct profile_cpu *cpus;
	u32 cpu_count;
	struct profile_task *tasks;
	u32 task_count;
	u64 traced;
	u64 cycles;
	u64 lost[KIPT_GAP_KIND_MAX + 1];
	bool spaces_full, cpus_full, tasks_full;
	bool failed;
	/* private: indices of the lists above, and what was found before */
	struct lookup symbol_of, space_of, cpu_of, task_of, known_of, object_of;
	struct profile_known *known;
	u32 known_count, known_next;
	u64 seed;
	size_t known_addresses;
	struct profile_code code;
	struct profile_recent recent[PROFILE_RECENT];
};

/**
 * profile_create() - nothing is known
 * @names: must live as long
 *
 * Return: the caller's until profile_destroy(); NULL without memory.
 */
struct profile *profile_create(struct names *names);

/**
 * profile_destroy() - free it
 * @profile: may be NULL
 */
void profile_destroy(struct profile *profile);

/**
 * profile_has_times() - whether the trace of any CPU has a time
 * @profile: profile
 */
bool profile_has_times(const struct profile *profile);

/**
 * profile_code() - what addresses mean something in
 * @profile: profile
 * @pid: process they are of; 0: not known
 * @cr3: page table; counts only if there is no @pid
 *
 * Return: a number, another one as soon as something changes.
 */
u32 profile_code(struct profile *profile, u32 pid, u64 cr3);

/* Whether an address is certainly the function's; @code: of profile_code(), now. */
static inline bool profile_has(const struct profile_symbol *symbol, u32 code, u64 address)
{
	return symbol->code == code && address - symbol->first < symbol->size;
}

/* Where an address that was looked up not long ago is, if it is there. */
static inline struct profile_recent *profile_recent(struct profile *profile,
						    u64 key)
{
	return &profile->recent[key * 0x9e3779b97f4a7c15ULL >> 49];
}

/**
 * profile_symbol() - the function that an address is in
 * @profile: profile
 * @pid: process it is of; 0: not known
 * @cr3: page table; counts only if there is no @pid
 * @address: any
 *
 * Return: its index in @symbols.
 */
u32 profile_symbol(struct profile *profile, u32 pid, u64 cr3, u64 address);

/**
 * profile_function() - the function that is called at an address
 * @profile: profile
 * @pid: process it is of; 0: not known
 * @cr3: page table; counts only if there is no @pid
 * @address: the target of the call
 *
 * Return: its index in @symbols; one of its own where there are no symbols.
 */
u32 profile_function(struct profile *profile, u32 pid, u64 cr3, u64 address);

/**
 * profile_place() - an address in words, as names_find() says it
 * @profile: profile
 * @symbol: profile_symbol() of the address
 * @address: the address
 * @place: filled; its names live as long as the profile
 */
void profile_place(const struct profile *profile, u32 symbol, u64 address,
		   struct place *place);

/**
 * profile_cpu() - a CPU
 * @profile: profile
 * @cpu: its number, or PROFILE_CPU_UNKNOWN
 *
 * Return: it, valid until the next call; NULL if there is no room.
 */
struct profile_cpu *profile_cpu(struct profile *profile, u64 cpu);

/**
 * profile_task() - a thread
 * @profile: profile
 * @tid: thread
 * @pid: its process; 0: not known
 *
 * Return: it, valid until the next call; NULL if there is no room.
 */
struct profile_task *profile_task(struct profile *profile, u32 tid, u32 pid);

/**
 * profile_add() - a sum that ends at the largest number there is
 * @sum: grows
 * @more: by that
 */
static inline void profile_add(u64 *sum, u64 more)
{
	*sum = more > ~*sum ? ~0ULL : *sum + more;
}

/**
 * profile_notes() - say what had no room
 * @profile: nothing is added any more
 */
void profile_notes(const struct profile *profile);

/**
 * profile_several_spaces() - are there functions of several processes
 * @profile: profile
 *
 * Return: true if the kernel is not all there is, and nor is one process.
 */
bool profile_several_spaces(const struct profile *profile);

/**
 * profile_sort() - the order of functions to be shown
 * @profile: nothing is added any more
 * @count: how many have branches, calls or time
 *
 * Most time in themselves first, then most branches. Return: @count pointers, to
 * be freed by the caller; NULL without memory.
 */
const struct profile_symbol **profile_sort(const struct profile *profile,
					   size_t *count);

#endif /* KIPT_PROFILE_H */
