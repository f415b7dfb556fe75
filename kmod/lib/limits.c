// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the module's parameters. Owns their ranges and defaults; knows nothing
 * of what is bounded. Runs once, before everything else.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>

#include "limits.h"

#define MIB_SHIFT	20
#define KIB_SHIFT	10

#define PARAMETER(name, value, description)	\
	static uint name = value;		\
	module_param(name, uint, 0444);		\
	MODULE_PARM_DESC(name, description)

PARAMETER(memory_limit, 0,
	  "MiB that all sessions, fetches and files may use together (default: a quarter of the memory)");

PARAMETER(spaces, 16384,
	  "address spaces that a session knows at a time, a power of two (default 16384)");

PARAMETER(switches, 65536,
	  "task switches that the log of a CPU holds at most, a power of two (default 65536)");

PARAMETER(patches, 32768,
	  "patches of kernel text that the log holds, a power of two (default 32768)");

PARAMETER(fetch_memory, 8192,
	  "KiB of working memory of each reader of a fetch (default 8192)");

PARAMETER(processes, 1024,
	  "processes that a session follows at a time (default 1024)");

PARAMETER(user_snapshots, 4,
	  "programs that a signal killed of which the traces are kept, of each user, the first ones and the newest, at most 64 (default 4)");

PARAMETER(user_snapshots_all, 8,
	  "the same of all users together, at most 64 (default 8): being armed with flag user takes memory for as many");

PARAMETER(user_snapshot_trace, 256,
	  "KiB of trace that one of them has, 64 to 4096 (default 256)");

PARAMETER(snapshots, 4,
	  "warnings, oopses and the like that the machine survived of which the traces are kept, the first ones and the newest, at most 64 (default 4)");

PARAMETER(snapshot_trace, 64,
	  "KiB of trace that a snapshot has of each CPU, 64 to 1024 (default 64); each armed CPU has memory for as many as snapshots says");

#undef PARAMETER

static struct kipt_limits limits;

const struct kipt_limits *kipt_limits(void)
{
	return &limits;
}

/* @unit: " KiB" and the like, or "" */
static u64 within(const char *name, u64 value, u64 least, u64 most, const char *unit)
{
	u64 taken = clamp(value, least, most);

	if (taken != value)
		pr_warn("parameter %s: %llu%s is out of range, %llu%s is taken\n",
			name, value, unit, taken, unit);
	return taken;
}

static u32 power_of_two(const char *name, u32 value, u32 least, u32 most)
{
	u32 taken = within(name, value, least, most, "");

	if (is_power_of_2(taken))
		return taken;
	taken = rounddown_pow_of_two(taken);
	pr_warn("parameter %s: %u is not a power of two, %u is taken\n", name,
		value, taken);
	return taken;
}

void kipt_limits_init(void)
{
	u64 machine = (u64)totalram_pages() << PAGE_SHIFT;

	limits.memory = memory_limit ?
			within("memory_limit", memory_limit, 1, machine >> MIB_SHIFT,
			       " MiB") << MIB_SHIFT :
			machine / 4;
	limits.spaces = power_of_two("spaces", spaces, 16, 1U << 20);
	limits.switches = power_of_two("switches", switches, 256, 1U << 24);
	limits.patches = power_of_two("patches", patches, 256, 1U << 20);
	limits.arena = within("fetch_memory", fetch_memory, 256, 1U << 20, " KiB") << KIB_SHIFT;
	limits.processes = within("processes", processes, 1, 1U << 20, "");
	limits.user_snapshots = within("user_snapshots", user_snapshots, 0, KIPT_SNAPSHOTS_MAX,
				       "");
	limits.user_snapshots_all = within("user_snapshots_all", user_snapshots_all, 0,
					   KIPT_SNAPSHOTS_MAX, "");
	limits.user_snapshot_trace = within("user_snapshot_trace", user_snapshot_trace, 64,
					    4096, " KiB") << KIB_SHIFT;
	limits.snapshots = within("snapshots", snapshots, 0, KIPT_SNAPSHOTS_MAX, "");
	limits.snapshot_trace = within("snapshot_trace", snapshot_trace, 64, 1024,
				       " KiB") << KIB_SHIFT;
}
