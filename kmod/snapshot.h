/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUs did before an oops or a warning that the machine survived: the end
 * of each CPU's trace, copied before tracing goes on. The first ones are kept,
 * not the last: what went wrong first is often the cause of the rest. Those of
 * programs that a signal killed are in the same list, and made by killed.c; they
 * take no room from the others. Process context unless said otherwise.
 *
 * A snapshot is pages as in uapi/linux/kipt_crash.h and the trace behind them,
 * in which an address is an offset from the begin of the snapshot. So who reads
 * a dump reads a snapshot too. Its pages have a magic of their own, so that they
 * are not taken for those of a crash; checksums are as with the other one.
 */
#ifndef KIPT_SNAPSHOT_H
#define KIPT_SNAPSHOT_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/types.h>

#include "../uapi/linux/kipt_crash.h"

/**
 * struct kipt_snapshot_killed - of a program that was killed
 * @place: its room, see killed_quota.h
 * @signal: what killed it; 0: this is no such snapshot
 * @process: whose thread @pid is
 * @uid: real user id
 * @file: what its instruction is in; "": not known
 * @file_offset: where
 */
struct kipt_snapshot_killed {
	u32 place;
	u32 signal;
	u32 process;
	u32 uid;
	char file[KIPT_CRASH_PATH_BYTES];
	u64 file_offset;
};

/**
 * struct kipt_snapshot - one of them; constant once it is in the list
 * @refs: the list has one
 * @node: in the list
 * @id: from 1, never used again
 * @time: nanoseconds since 1970, when it was taken
 * @event: what happened
 * @cpus: whose trace it has
 * @pid: thread on the first CPU, 0 if that had no trace
 * @comm: its name
 * @killed: of a program that was killed
 * @size: bytes of @data
 * @data: the snapshot itself
 */
struct kipt_snapshot {
	struct kref refs;
	struct list_head node;
	u32 id;
	u64 time;
	struct kipt_crash_event event;
	u32 cpus;
	u32 pid;
	char comm[16];
	struct kipt_snapshot_killed killed;
	size_t size;
	u8 *data;
};

/**
 * kipt_snapshot_wanted() - whether one more of a warning would be kept
 *
 * Context: any, also NMI.
 *
 * Return: false if three quarters of the parameter snapshots are there, or the
 * last one could not be kept and none was deleted since.
 */
bool kipt_snapshot_wanted(void);

/**
 * kipt_snapshot_take() - keep the end of all traces
 *
 * All CPUs are stopped for a crash, and stay so. Where there is no room or no
 * memory, the log says that it is not kept. Context: may sleep.
 */
void kipt_snapshot_take(void);

/**
 * kipt_snapshot_alloc() - memory for a snapshot of a killed program
 * @size: bytes of its data, in whole pages
 *
 * All of them have half of what the module may use. @killed.signal is to be set.
 *
 * Return: all zero but for @refs and @size, for kipt_snapshot_add(); or NULL.
 */
struct kipt_snapshot *kipt_snapshot_alloc(size_t size);

/**
 * kipt_snapshot_add() - put a snapshot of a killed program into the list
 * @snapshot: complete; the list's from now on
 *
 * Return: its number.
 */
u32 kipt_snapshot_add(struct kipt_snapshot *snapshot);

/**
 * kipt_snapshot_next() - the snapshot with the next higher number
 * @id: where to go on; 0 at first
 *
 * Return: referenced for the caller, or NULL.
 */
struct kipt_snapshot *kipt_snapshot_next(u32 id);

/**
 * kipt_snapshot_find() - the snapshot of a number
 * @id: the number
 *
 * Return: referenced for the caller, or NULL.
 */
struct kipt_snapshot *kipt_snapshot_find(u32 id);

/**
 * kipt_snapshot_put() - drop a reference; the last one frees the memory
 * @snapshot: from kipt_snapshot_next() or _find()
 */
void kipt_snapshot_put(struct kipt_snapshot *snapshot);

/**
 * kipt_snapshot_delete() - make room for another
 * @snapshot: referenced by the caller; may be deleted already
 */
void kipt_snapshot_delete(struct kipt_snapshot *snapshot);

/**
 * kipt_snapshot_uninit() - free all; nobody takes or reads one any more
 */
void kipt_snapshot_uninit(void);

#endif /* KIPT_SNAPSHOT_H */
