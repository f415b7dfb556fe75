/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was copied of a program that is being killed, and the snapshot that is
 * made of it. Leaves to killed.c when.
 */
#ifndef KIPT_KILLED_SNAPSHOT_H
#define KIPT_KILLED_SNAPSHOT_H

#include <linux/types.h>

#include "killed_code.h"
#include "../uapi/linux/kipt_crash.h"

struct kipt_snapshot;

/**
 * struct kipt_killed - a program that was killed
 * @time: nanoseconds since 1970
 * @place: what it has of the user's room, see killed_quota.h
 * @cpu: a page: what is told of the CPU
 * @trace: the end of its trace: byte n at n modulo @size
 * @size: bytes of @trace
 * @signal: what is told of the signal; its @page is zero
 * @code: code
 */
struct kipt_killed {
	u64 time;
	u32 place;
	struct kipt_crash_cpu *cpu;
	u8 *trace;
	u64 size;
	struct kipt_crash_signal signal;
	struct kipt_killed_code code;
};

/**
 * kipt_killed_snapshot() - make a snapshot
 * @killed: complete; its place becomes the snapshot's
 *
 * Context: may sleep.
 *
 * Return: for kipt_snapshot_add(); NULL without memory.
 */
struct kipt_snapshot *kipt_killed_snapshot(struct kipt_killed *killed);

#endif /* KIPT_KILLED_SNAPSHOT_H */
