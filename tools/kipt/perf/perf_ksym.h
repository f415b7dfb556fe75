/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of kernel code that comes and goes, each for the time it was there.
 */
#ifndef KIPT_PERF_KSYM_H
#define KIPT_PERF_KSYM_H

#include "../cli/lookup.h"

/**
 * struct perf_ksym - code that was there for a time
 * @address: first address
 * @size: bytes
 * @bpf: it is a BPF program, or made for some
 * @loaded: its bytes were found in the recording
 * @from: TSC when it came; 0: it was there before
 * @to: TSC when it went; ~0: it did not
 * @name: owned
 */
struct perf_ksym {
	u64 address;
	u32 size;
	bool bpf;
	bool loaded;
	u64 from, to;
	char *name;
};

/**
 * struct perf_ksyms - all of them; empty if all zero
 * @list: as they came; by address after perf_ksyms_sort()
 * @count: how many
 * @latest: the index of the latest one at an address
 * @times: when one came or went, in order
 * @time_count: how many
 * @reach: for each, the last address + 1 of it and of all before it
 */
struct perf_ksyms {
	struct perf_ksym *list;
	size_t count;
	struct lookup latest;
	u64 *reach;
	u64 *times;
	size_t time_count;
};

/**
 * perf_ksym_latest() - what came last to an address
 * @ksyms: not sorted yet
 * @address: first address
 *
 * Return: it, valid until the next perf_ksym_add(), or NULL.
 */
struct perf_ksym *perf_ksym_latest(const struct perf_ksyms *ksyms, u64 address);

/**
 * perf_ksym_add() - one more
 * @ksyms: not sorted yet
 * @ksym: copied, its name too
 *
 * Return: true, or false without memory.
 */
bool perf_ksym_add(struct perf_ksyms *ksyms, const struct perf_ksym *ksym);

/**
 * perf_ksyms_sort() - be ready to find
 * @ksyms: all were added
 * @slack: ticks that each may have been there earlier or later; its times are
 *	moved by that
 *
 * Return: true, or false without memory.
 */
bool perf_ksyms_sort(struct perf_ksyms *ksyms, u64 slack);

/**
 * perf_ksyms_version() - a number that is another one where some came or went
 * @ksyms: were sorted
 * @tsc: a time
 *
 * Return: the number, 1 or more.
 */
u32 perf_ksyms_version(const struct perf_ksyms *ksyms, u64 tsc);

/**
 * perf_ksym_find() - what an address is in
 * @ksyms: were sorted
 * @address: any
 * @tsc: when; 0: at any time
 * @several: set if it was in code of different names then
 *
 * Return: the code, or NULL: there was none, or @several.
 */
const struct perf_ksym *perf_ksym_find(const struct perf_ksyms *ksyms,
				       u64 address, u64 tsc, bool *several);

/**
 * perf_ksyms_apart() - where no such code was at any time
 * @ksyms: were sorted
 * @address: perf_ksym_find() finds nothing there
 * @first, @end: from where on, up to where, @address included; left as it is where there is
 *	no limit
 */
void perf_ksyms_apart(const struct perf_ksyms *ksyms, u64 address, u64 *first, u64 *end);

/**
 * perf_ksyms_free() - free it
 * @ksyms: may be empty
 */
void perf_ksyms_free(struct perf_ksyms *ksyms);

#endif /* KIPT_PERF_KSYM_H */
