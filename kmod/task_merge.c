// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two things place a switch in the trace. A CONTEXT record with a new address
 * space stands where the scheduler switched to it, so the next switch in the
 * log to that space is the one. Between threads that share a space, and for
 * kernel threads, only time can tell: a TIME record passes every switch up to
 * its time. Process context.
 */
#include "sideband.h"
#include "task_merge.h"

void kipt_task_merge_init(struct kipt_task_merge *merge,
			  struct kipt_sideband *sideband, unsigned int cpu)
{
	const struct kipt_switch_log *log = kipt_sideband_log(sideband, cpu);

	merge->sideband = sideband;
	merge->log = log;
	merge->next = kipt_switch_log_first(log);
	merge->space = 0;
	merge->tid = ~0U;
}

static const struct kipt_switch *entry(const struct kipt_task_merge *merge,
				       u64 i)
{
	return &merge->log->entries[i & merge->log->mask];
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

static bool see_context(struct kipt_task_merge *merge,
			const struct kipt_record *record,
			struct kipt_record *task)
{
	u64 space = kipt_sideband_space(record->value), i;
	u32 tgid;

	if (record->flags & KIPT_RF_NR || space == merge->space)
		return false;
	merge->space = space;
	/* A TIME record may have passed the switch just before. */
	i = merge->next ? merge->next - 1 : 0;
	for (; i < merge->log->written; i++) {
		if (entry(merge, i)->space != space)
			continue;
		merge->next = i + 1;
		return name_task(merge, entry(merge, i)->tid,
				 entry(merge, i)->tgid, task);
	}
	if (!kipt_sideband_tgid(merge->sideband, space, &tgid))
		return false;
	return name_task(merge, tgid, tgid, task);
}

static bool see_time(struct kipt_task_merge *merge, u64 tsc,
		     struct kipt_record *task)
{
	const struct kipt_switch *last;
	u64 before = merge->next;

	while (merge->next < merge->log->written &&
	       entry(merge, merge->next)->tsc <= tsc)
		merge->next++;
	if (merge->next == before)
		return false;
	last = entry(merge, merge->next - 1);
	/* If the spaces differ, the CONTEXT record that tells is yet to come. */
	if (last->space && merge->space && last->space != merge->space)
		return false;
	return name_task(merge, last->tid, last->tgid, task);
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
