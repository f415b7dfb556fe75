// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks into the log of switches of one CPU. Times in it only grow. Pure
 * computing on what sideband.c wrote; any context.
 */
#include "switch_log.h"

static const struct kipt_crash_switch *entry(const struct kipt_switch_log *log,
				       u64 number)
{
	return &log->entries[number & log->mask];
}

u64 kipt_switch_log_first(const struct kipt_switch_log *log)
{
	u64 first = log->written > log->mask ? log->written - log->mask : 0;

	return first > log->first ? first : log->first;
}

u64 kipt_switch_log_known(const struct kipt_switch_log *log)
{
	u64 first = kipt_switch_log_first(log);

	if (!first)
		return 0;
	return first < log->written ? entry(log, first)->tsc : ~0ULL;
}

/* The one address space of a whole run, or 0 if there are several. */
static u64 only_space(const struct kipt_switch_log *log)
{
	u64 id = 0, i;

	if (kipt_switch_log_first(log))
		return 0;
	for (i = 0; i < log->written; i++) {
		if (!entry(log, i)->space || (id && entry(log, i)->id == id))
			continue;
		if (id || !entry(log, i)->id)
			return 0;
		id = entry(log, i)->id;
	}
	return id;
}

u64 kipt_switch_log_after(const struct kipt_switch_log *log, u64 tsc)
{
	u64 first = kipt_switch_log_first(log), end = log->written;

	while (first < end) {
		u64 middle = first + (end - first) / 2;

		if (entry(log, middle)->tsc <= tsc)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

u64 kipt_switch_log_running(const struct kipt_switch_log *log, u64 tsc)
{
	u64 first = kipt_switch_log_first(log), i;

	if (!tsc)
		return only_space(log);
	for (i = kipt_switch_log_after(log, tsc); i-- > first;)
		if (entry(log, i)->space)
			return entry(log, i)->id;
	return 0;
}
