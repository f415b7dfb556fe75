// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two things place a switch in the trace. A CONTEXT record with a new address
 * space is where the scheduler switched to it, so the next switch in the
 * log to that space is the one. Between threads that share a space, and for
 * kernel threads, only time can show: a TIME record passes every switch up to
 * its time. A PSB has a time of its own, so records can be begun at any. What
 * the log lost is not made up.
 */
#include "task_merge.h"

/*
 * Switches between threads that share a space and to kernel threads, which no
 * record places where there is no time: more in a row are not looked through.
 */
#define AHEAD_MAX	4096U

static const struct kipt_crash_switch *entry(const struct kipt_task_merge *merge,
				       u64 i)
{
	return &merge->log->entries[i & merge->log->mask];
}

void kipt_task_merge_init(struct kipt_task_merge *merge,
			  const struct kipt_switch_log *log,
			  const struct kipt_task_spaces *spaces)
{
	*merge = (struct kipt_task_merge) {
		.log = log,
		.spaces = *spaces,
		.tid = ~0U,
	};
	merge->next = kipt_switch_log_first(log);
	merge->end = log->written;
}

void kipt_task_merge_go_on(struct kipt_task_merge *merge, u64 begin)
{
	if (!begin)
		return;
	merge->next = kipt_switch_log_after(merge->log, begin);
	merge->space = 0;
	merge->placed = true;
}

void kipt_task_merge_at(struct kipt_task_merge *merge, u64 begin, u64 end)
{
	merge->end = kipt_switch_log_after(merge->log, end);
	if (begin)
		merge->tid = ~0U;
	kipt_task_merge_go_on(merge, begin);
}

bool kipt_task_merge_needs_time(const struct kipt_task_merge *merge, u64 begin,
				u64 end)
{
	u64 first = kipt_switch_log_first(merge->log), space, before = ~0ULL;
	u64 i = begin ? kipt_switch_log_after(merge->log, begin) : first;
	u64 last = kipt_switch_log_after(merge->log, end);

	if (i > first)
		before = entry(merge, i - 1)->space;
	for (; i < last; i++) {
		space = entry(merge, i)->space;
		/* A thread of the kernel runs in the space of the task before it. */
		if (!space || !before || space == before)
			return true;
		before = space;
	}
	return false;
}

static bool name_task(struct kipt_task_merge *merge, u32 tid, u32 tgid,
		      struct kipt_record *task)
{
	if (merge->tid == tid)
		return false;
	merge->tid = tid;
	*task = (struct kipt_record) {
		.type = KIPT_RECORD_TASK,
		.flags = KIPT_RF_NO_IP,
		.aux = tid,
		.value = tgid,
	};
	return true;
}

static bool name_entry(struct kipt_task_merge *merge, u64 i,
		       struct kipt_record *task)
{
	return name_task(merge, entry(merge, i)->tid, entry(merge, i)->tgid,
			 task);
}

/*
 * Who runs at a PSB: the last that was switched to, unless that is about to
 * happen: a switch is logged before the address space changes.
 */
static bool find_running(const struct kipt_task_merge *merge, u64 space,
			 u64 *found)
{
	u64 first = kipt_switch_log_first(merge->log), i = merge->next;

	for (; i > first && i + 2 > merge->next; i--) {
		*found = i - 1;
		if (!entry(merge, i - 1)->space ||
		    entry(merge, i - 1)->space == space)
			return true;
	}
	return false;
}

/*
 * A TIME record may have passed the switch just before. A switch from @before to a third space
 * has a CONTEXT record of its own, which would have come first. So after such a switch there is
 * no entry for this record: exec loads CR3, and may sleep before its entry is logged.
 */
static bool find_next(const struct kipt_task_merge *merge, u64 before, u64 space,
		      u64 *found)
{
	u64 i = kipt_switch_log_first(merge->log), end, logged;

	if (merge->next > i)
		i = merge->next - 1;
	end = i + AHEAD_MAX < merge->end ? i + AHEAD_MAX : merge->end;
	for (; i < end; i++) {
		*found = i;
		logged = entry(merge, i)->space;
		if (logged == space)
			return true;
		if (i >= merge->next && logged && before && logged != before)
			return false;
	}
	return false;
}

static bool see_context(struct kipt_task_merge *merge,
			const struct kipt_record *record,
			struct kipt_record *task)
{
	u64 space = record->value & merge->spaces.mask, before = merge->space, i;
	bool placed = merge->placed;
	u32 tgid;

	if (record->flags & KIPT_RF_NR || space == merge->space)
		return false;
	merge->space = space;
	merge->placed = false;
	if (placed && find_running(merge, space, &i))
		return name_entry(merge, i, task);
	if (find_next(merge, before, space, &i)) {
		merge->next = i + 1;
		return name_entry(merge, i, task);
	}
	if (!merge->spaces.tgid(merge->spaces.ctx, space, &tgid))
		return false;
	/* Which of its threads is known only if nothing was lost. */
	return name_task(merge, kipt_switch_log_first(merge->log) ? 0 : tgid,
			 tgid, task);
}

static bool see_time(struct kipt_task_merge *merge, u64 tsc,
		     struct kipt_record *task)
{
	u64 before = merge->next, space;

	while (merge->next < merge->log->written &&
	       entry(merge, merge->next)->tsc <= tsc)
		merge->next++;
	/* Without address spaces in the trace, the PSB's time is the first. */
	if (merge->next == before &&
	    (!merge->placed || before == kipt_switch_log_first(merge->log)))
		return false;
	space = entry(merge, merge->next - 1)->space;
	/* If the spaces differ, the CONTEXT record that says so is yet to come. */
	if (space && merge->space && space != merge->space)
		return false;
	merge->placed = false;
	return name_entry(merge, merge->next - 1, task);
}

bool kipt_task_merge_see(struct kipt_task_merge *merge,
			 const struct kipt_record *record,
			 struct kipt_record *task)
{
	switch (record->type) {
	case KIPT_RECORD_CONTEXT:
		return see_context(merge, record, task);
	case KIPT_RECORD_TIME:
		return see_time(merge, record->value, task);
	default:
		return false;
	}
}
