/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was there when a recording began, as events of perf: how it is traced,
 * the kernel, its modules and all processes, from /proc and /sys.
 */
#ifndef KIPT_PERF_RUNNING_H
#define KIPT_PERF_RUNNING_H

#include "perf_aux.h"
#include "perf_write.h"

/* The number of the PMU where the kernel has none: any that is no other's. */
#define PERF_PMU_UNKNOWN	8

/* Where a configuration of Intel PT has what; IA32_RTIT_CTL has it there too. */
#define PERF_PT_ON		1ULL
#define PERF_PT_CYC		(1ULL << 1)
#define PERF_PT_MTC		(1ULL << 9)
#define PERF_PT_TSC		(1ULL << 10)
#define PERF_PT_NORETCOMP	(1ULL << 11)
#define PERF_PT_MTC_FREQ	(15ULL << 14)

/**
 * struct perf_pt_info - how Intel PT traces
 * @pmu: the number of its PMU
 * @clock: from perf's clock to the TSC; its @mult is 0 where the kernel gives none
 * @switches: 0: who ran is not recorded, 3: switches of each CPU are
 * @tsc_num, @tsc_den: TSC ticks per tick of the crystal; 0: unknown
 * @max_nonturbo: ratio; 0: unknown
 */
struct perf_pt_info {
	u32 pmu;
	struct perf_clock clock;
	u32 switches;
	u32 tsc_num, tsc_den;
	u32 max_nonturbo;
};

/**
 * perf_running_pmu() - the number of the PMU of Intel PT
 *
 * Return: as /sys says, or PERF_PMU_UNKNOWN.
 */
u32 perf_running_pmu(void);

/**
 * perf_running_info() - write how it is traced, and the conversion of time
 * @writer: where to; nothing but the head is there yet
 * @info: how
 *
 * Return: true, or false after a sentence: it cannot be written.
 */
bool perf_running_info(struct perf_writer *writer,
		       const struct perf_pt_info *info);

/**
 * perf_running_kernel() - write where the kernel and its modules are
 * @writer: where to
 *
 * A note is given where the kernel hides it (kernel.kptr_restrict): nobody will find
 * its code then.
 *
 * Return: true, or false after a sentence: it cannot be written.
 */
bool perf_running_kernel(struct perf_writer *writer);

/**
 * perf_running_processes() - write which processes there are, what their threads are
 *	called and what they may execute
 * @writer: where to
 * @between: is called before each of them; may write too
 * @ctx: its argument
 *
 * Return: true, or false after a sentence: it cannot be written.
 */
bool perf_running_processes(struct perf_writer *writer,
			    void (*between)(void *ctx), void *ctx);

/**
 * perf_kernel_id() - the build id of the kernel that runs
 * @id: filled on success
 *
 * Return: false if the kernel does not give it.
 */
bool perf_kernel_id(struct build_id *id);

#endif /* KIPT_PERF_RUNNING_H */
