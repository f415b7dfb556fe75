/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds of the module: its parameters, in one place. Each is read once, when
 * the module is loaded, and shown by get-info.
 */
#ifndef KIPT_LIMITS_H
#define KIPT_LIMITS_H

#include <linux/types.h>

/**
 * struct kipt_limits - bounds, constant while the module is loaded
 * @memory: bytes all sessions, fetches and files use together; parameter
 *	memory_limit in MiB, a quarter of the machine's memory unless given
 * @spaces: address spaces one session knows at a time, a power of two
 * @switches: task switches the log of one CPU holds at most, a power of two
 * @patches: patches of kernel text the log holds, a power of two
 * @arena: bytes of working memory of one reader of a fetch; parameter
 *	fetch_memory in KiB
 * @processes: processes one session follows at a time
 * @user_snapshots: programs that were killed of which the traces are kept, of
 *	each user; parameter of that name
 * @user_snapshots_all: of all users
 * @user_snapshot_trace: bytes of trace that one has; parameter in KiB
 * @snapshots: events that the machine survived of which the traces are kept
 * @snapshot_trace: bytes of trace of each CPU in one of them; parameter in KiB
 */
struct kipt_limits {
	u64 memory;
	u32 spaces;
	u32 switches;
	u32 patches;
	u64 arena;
	u32 processes;
	u32 user_snapshots;
	u32 user_snapshots_all;
	u32 user_snapshot_trace;
	u32 snapshots;
	u64 snapshot_trace;
};

/* More would not fit into the word in which a CPU is asked to copy. */
#define KIPT_SNAPSHOTS_MAX	64U

/**
 * kipt_limits() - the bounds
 *
 * Context: any, after kipt_limits_init().
 *
 * Return: never NULL.
 */
const struct kipt_limits *kipt_limits(void);

/**
 * kipt_limits_init() - read the parameters
 *
 * What is out of range is moved to the nearest value allowed, which is said in the
 * log.
 */
void kipt_limits_init(void);

#endif /* KIPT_LIMITS_H */
