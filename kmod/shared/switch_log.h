/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which thread ran when on one CPU: a ring of context switches, and the
 * questions asked of it. Knows no scheduler: sideband.c writes, on the CPU
 * itself. Any context.
 *
 * A log knows nothing of the time before its oldest entry. It is complete
 * from the start of tracing on as long as nothing was overwritten, because
 * the thread that ran then is its first entry.
 */
#ifndef KIPT_SWITCH_LOG_H
#define KIPT_SWITCH_LOG_H

#include "../../uapi/linux/kipt_crash.h"
#include "../decode/port.h"

/**
 * struct kipt_switch_log - the switches of one CPU, a ring
 * @entries: @mask + 1 of them
 * @mask: a power of two, less one
 * @written: switches logged so far; entry i is at @entries[i & @mask]. The
 *	oldest of a full ring may be half overwritten, when the CPU was stopped
 *	by an NMI, so it counts as lost: use kipt_switch_log_first().
 * @first: entries before this number are lost in any case; of a copy that has a
 *	hole
 * @others: of a session that follows processes: the thread that runs is not
 *	one of them, and an entry says so
 */
struct kipt_switch_log {
	struct kipt_crash_switch *entries;
	u32 mask;
	u64 written;
	u64 first;
	bool others;
};

/**
 * kipt_switch_log_first() - number of the oldest switch that is known
 * @log: nobody writes to it
 *
 * Return: switches that were lost, too.
 */
u64 kipt_switch_log_first(const struct kipt_switch_log *log);

/**
 * kipt_switch_log_known() - since when the log is complete
 * @log: nobody writes to it
 *
 * Return: 0 if nothing was lost; else the time of the oldest switch that is
 * known; ~0 if there is none. Who ran before is unknown.
 */
u64 kipt_switch_log_known(const struct kipt_switch_log *log);

/**
 * kipt_switch_log_after() - the first switch after a time
 * @log: nobody writes to it
 * @tsc: the time, 64 bits; ~0: after all
 *
 * Return: its number, from kipt_switch_log_first() to @log->written.
 */
u64 kipt_switch_log_after(const struct kipt_switch_log *log, u64 tsc);

/**
 * kipt_switch_log_running() - whose user code ran at a time
 * @log: nobody writes to it
 * @tsc: the time, 64 bits; 0: unknown
 *
 * Return: the number of the address space that ran then, or last before, if a
 * kernel thread did. 0 if that is not known: the log does not reach back so
 * far; or the time is unknown and it was not the same all the time.
 */
u64 kipt_switch_log_running(const struct kipt_switch_log *log, u64 tsc);

#endif /* KIPT_SWITCH_LOG_H */
