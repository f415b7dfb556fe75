/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who ran, in a snapshot: behind the trace of a CPU a page of kind LOGS and the
 * last switches of its log. Process context.
 */
#ifndef KIPT_SNAPSHOT_LOGS_H
#define KIPT_SNAPSHOT_LOGS_H

#include <linux/types.h>

#include "../uapi/linux/kipt_crash.h"

/**
 * kipt_snapshot_logs_size() - what it takes
 * @trace: bytes of the CPU's trace in the snapshot
 *
 * Return: bytes, whole pages.
 */
size_t kipt_snapshot_logs_size(size_t trace);

/**
 * kipt_snapshot_logs_copy() - put it into a snapshot
 * @data: the snapshot
 * @at: offset in it: kipt_snapshot_logs_size() bytes are there, all 0
 * @trace: as there
 * @cpu: a page of the chain, of a CPU that stopped
 *
 * The page is sealed, and hidden as those of a snapshot are. Context: between
 * kipt_crash_pages_hold() and release.
 */
void kipt_snapshot_logs_copy(u8 *data, size_t at, size_t trace,
			     const struct kipt_crash_cpu *cpu);

#endif /* KIPT_SNAPSHOT_LOGS_H */
