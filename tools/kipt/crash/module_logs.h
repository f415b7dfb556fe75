/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module had noted beside the trace of a CPU that died: who ran, and
 * what kernel text was patched. Read out of a dump, where it may be anything:
 * what is given away is bounded, and good for the module's own questions. Names of
 * processes come from the list that the kernel has of them. Records of the CPU get the
 * threads that ran, and those for which that is needed are finished.
 */
#ifndef KIPT_MODULE_LOGS_H
#define KIPT_MODULE_LOGS_H

#include "../../../kmod/shared/patch_log.h"
#include "../../../kmod/shared/switch_log.h"
#include "../../../kmod/shared/task_merge.h"
#include "../symbols/process_maps.h"
#include "crash_pages.h"

/**
 * struct crash_logs - the logs of a CPU
 * @space_mask: bits of a CR3 value that name an address space
 * @switches: who ran; no entries if that is not known
 * @patches: patches of kernel text, and one more at the end if there were some that
 *	nobody knows; NULL if there is no log of them
 * @text_unknown: there is that one more, and all code of the kernel is a gap
 * @first_patch: number of the first that may matter
 * @end_patch: number after the last
 */
struct crash_logs {
	u64 space_mask;
	struct kipt_switch_log switches;
	struct kipt_patch_log *patches;
	bool text_unknown;
	u64 first_patch;
	u64 end_patch;
};

/**
 * crash_logs_load() - read the logs of a CPU
 * @logs: filled
 * @kernel: memory by the addresses that the page of kind LOGS has
 * @cpu: the CPU
 *
 * Return: true, also if there are none; false without memory.
 */
bool crash_logs_load(struct crash_logs *logs, const struct crash_source *kernel,
		     const struct crash_cpu *cpu);

/**
 * crash_logs_free() - free what is in it
 * @logs: was filled, or all zero
 */
void crash_logs_free(struct crash_logs *logs);

/**
 * crash_logs_tgid() - the process of an address space
 * @logs: the logs
 * @space: physical address of its page table
 * @tgid: filled
 *
 * Return: false if it is not in the log, or was that of several.
 */
bool crash_logs_tgid(const struct crash_logs *logs, u64 space, u32 *tgid);

/**
 * crash_tasks_load() - name the processes that were there at the end
 * @maps: gets the names
 * @kernel: memory by virtual addresses of the kernel
 * @set: what kipt left
 *
 * Also those that a CPU ran when it was stopped. What cannot be read has no
 * name.
 */
void crash_tasks_load(struct maps *maps, const struct crash_source *kernel,
		      const struct crash_set *set);

/**
 * struct crash_who - records on their way
 * @logs: who ran; no entries: that is not known
 * @time: TIME and CBR records are wanted, not only made to place threads
 * @give: where records go; false ends it
 * @ctx: its first argument
 * @merge: where in the log the records are
 *
 * The first four are set, the rest is zero at first.
 */
struct crash_who {
	const struct crash_logs *logs;
	bool time;
	bool (*give)(void *ctx, const struct kipt_record *records, u32 count);
	void *ctx;
	struct kipt_task_merge merge;
};

/**
 * crash_who_known() - whether threads can be known
 * @who: where records go
 *
 * Return: true if there is a log; then TIME records are needed to place them.
 */
bool crash_who_known(const struct crash_who *who);

/**
 * crash_who_begin() - the records begin, or go on after a hole
 * @who: where to
 * @begin: TSC there; 0: unknown
 * @end: TSC where they end; ~0: unknown
 *
 * Return: how many switches are not known that may belong to them.
 */
u64 crash_who_begin(struct crash_who *who, u64 begin, u64 end);

/**
 * crash_who_take() - records of the flow
 * @who: where to
 * @records: what, in order
 * @count: how many
 *
 * Return: what @give returned last; true if it was not called.
 */
bool crash_who_take(struct crash_who *who, const struct kipt_record *records,
		    u32 count);

#endif /* KIPT_MODULE_LOGS_H */
