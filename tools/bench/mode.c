// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of modes, see mode.h.
 */
#include "mode.h"

/* Where less is asked of a trace: the workload that forks and executes programs; traces without
 * RET compression; a compiler, whose nodes do not fit in the memory that a reader of the module
 * has.
 */
static const struct {
	int mode;
	const char *part;
	double least;
} less[] = {
	{ BENCH_MODE_COUNTS, "shell-", 5 },
	{ BENCH_MODE_COUNTS, "-noretc", 6 },
	{ BENCH_MODE_COUNTS_KERNEL, "cc1-", 0.35 },
	{ BENCH_MODE_PACKED_KERNEL, "cc1-", 0.35 },
	{ BENCH_MODE_CALLS_KERNEL, "cc1-", 0.35 },
};

const struct bench_mode bench_modes[BENCH_MODES] = {
	[BENCH_MODE_COUNTS] = {
		"counts", BENCH_WAY_COUNTS, BENCH_WAY_LIBIPT, 13, 9 },
	[BENCH_MODE_PACKED] = {
		"packed", BENCH_WAY_PACKED, BENCH_WAY_LIBIPT, 13, 8 },
	[BENCH_MODE_CALLS] = {
		"calls", BENCH_WAY_CALLS, BENCH_WAY_LIBIPT, 10, 6 },
	[BENCH_MODE_FIRST_MB] = {
		"first-mb", BENCH_WAY_FIRST_MB, BENCH_WAY_LIBIPT_FIRST_MB, 4,
		2 },
	[BENCH_MODE_THREADS2] = {
		"threads2", BENCH_WAY_TWO_THREADS, BENCH_WAY_ONE_THREAD, 1.7,
		1.4 },
	[BENCH_MODE_COUNTS_KERNEL] = {
		"counts-kernel", BENCH_WAY_COUNTS_KERNEL, BENCH_WAY_COUNTS, 0.8,
		0.7 },
	[BENCH_MODE_PACKED_KERNEL] = {
		"packed-kernel", BENCH_WAY_PACKED_KERNEL, BENCH_WAY_PACKED, 0.8,
		0.7 },
	[BENCH_MODE_CALLS_KERNEL] = {
		"calls-kernel", BENCH_WAY_CALLS_KERNEL, BENCH_WAY_CALLS, 0.8,
		0.7 },
	[BENCH_MODE_AGAIN] = {
		"again", BENCH_WAY_AGAIN, BENCH_WAY_LIBIPT_AGAIN, 32, 15 },
	[BENCH_MODE_PACKETS] = {
		"packets", BENCH_WAY_PACKETS, BENCH_WAY_LIBIPT_PACKETS, 2, 1.5 },
	[BENCH_MODE_SINK] = {
		"sink", BENCH_WAY_SINK, BENCH_WAY_LIBIPT_SINK, 8, 4 },
	[BENCH_MODE_COUNTS_EARLIER] = {
		"counts-1617e1e", BENCH_WAY_COUNTS, BENCH_WAY_COUNTS_EARLIER,
		1.4, 0.9, true },
	[BENCH_MODE_PACKED_EARLIER] = {
		"packed-1617e1e", BENCH_WAY_PACKED, BENCH_WAY_PACKED_EARLIER,
		0.9, 0.9, true },
	[BENCH_MODE_CALLS_EARLIER] = {
		"calls-1617e1e", BENCH_WAY_CALLS, BENCH_WAY_CALLS_EARLIER, 0.9,
		0.9, true },
};

int bench_mode_find(const char *name)
{
	int mode;

	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (!strcmp(name, bench_modes[mode].name))
			return mode;
	}
	return -1;
}

double bench_mode_target(int mode, bool retc)
{
	return mode == BENCH_MODE_COUNTS && !retc ? 10 : bench_modes[mode].target;
}

double bench_mode_least(int mode, const char *trace)
{
	size_t i;

	for (i = 0; i < sizeof(less) / sizeof(less[0]); i++) {
		if (mode == less[i].mode && strstr(trace, less[i].part))
			return less[i].least;
	}
	return bench_modes[mode].least;
}
