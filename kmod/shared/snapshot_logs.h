/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who ran, in a snapshot: after the trace of a CPU come a page of kind LOGS and the
 * last switches of its log.
 */
#ifndef KIPT_SNAPSHOT_LOGS_H
#define KIPT_SNAPSHOT_LOGS_H

#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"

/**
 * kipt_snapshot_logs_size() - what it takes
 * @trace: bytes of the CPU's trace in the snapshot
 *
 * Return: bytes, whole pages.
 */
size_t kipt_snapshot_logs_size(size_t trace);

/**
 * kipt_snapshot_logs_copy() - copy the end of a CPU's log of switches
 * @to: a page of kind LOGS and what it leads to, kipt_snapshot_logs_size() bytes
 * @trace: as there
 * @from: what a dump has of the CPU
 * @tsc: when it stopped: no later switches are copied
 *
 * @to is not sealed. Its @switches.entries and @switches.written are left to the
 * caller: the entries are a page after @to, their number right after its members.
 * All but the switches is as in @from, or 0 if that is an address.
 *
 * Context: the CPU of the log, interrupts off or NMI: nobody writes to the log meanwhile.
 * Bounded by @trace, and by the switches between @tsc and now.
 */
void kipt_snapshot_logs_copy(struct kipt_crash_logs *to, size_t trace,
			     const struct kipt_crash_logs *from, u64 tsc);

#endif /* KIPT_SNAPSHOT_LOGS_H */
