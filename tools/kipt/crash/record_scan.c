// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at the few records of time and address spaces, see
 * record_scan.h; all others pass.
 */
#include "../../../kmod/decode/status.h"
#include "record_scan.h"

#define LOOKED_AT	(1U << KIPT_RECORD_CONTEXT | 1U << KIPT_RECORD_TIME | \
			 1U << KIPT_RECORD_CBR | 1U << KIPT_RECORD_SPACE)

bool crash_who_known(const struct crash_who *who)
{
	return who->logs && who->logs->switches.entries;
}

static bool space_tgid(void *ctx, u64 space, u32 *tgid)
{
	return crash_logs_tgid(ctx, space, tgid);
}

u64 crash_who_begin(struct crash_who *who, u64 begin, u64 end)
{
	const struct kipt_task_spaces spaces = {
		.mask = crash_who_known(who) ? who->logs->space_mask : 0,
		.tgid = space_tgid,
		.ctx = (void *)who->logs,
	};
	const struct kipt_switch_log *log;

	if (!crash_who_known(who))
		return 0;
	log = &who->logs->switches;
	kipt_task_merge_init(&who->merge, log, &spaces);
	kipt_task_merge_at(&who->merge, begin, end);
	return begin && begin >= kipt_switch_log_known(log) ? 0 :
	       kipt_switch_log_first(log);
}

static bool time_is(const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_TIME ||
	       record->type == KIPT_RECORD_CBR;
}

static void space_see(const struct crash_who *who, struct kipt_record *space)
{
	u32 tgid;

	if (crash_who_known(who) && !(space->flags & KIPT_RF_NO_VALUE) &&
	    crash_logs_tgid(who->logs, space->value & who->logs->space_mask,
			    &tgid))
		space->aux = tgid;
}

static bool see(struct crash_who *who, const struct kipt_record *given)
{
	struct kipt_record record = *given, task;

	if (record.type == KIPT_RECORD_SPACE)
		space_see(who, &record);
	if ((who->time || !time_is(&record)) &&
	    !who->give(who->ctx, &record, 1))
		return false;
	return !crash_who_known(who) ||
	       !kipt_task_merge_see(&who->merge, &record, &task) ||
	       who->give(who->ctx, &task, 1);
}

bool crash_who_take(struct crash_who *who, const struct kipt_record *records,
		    u32 count)
{
	u32 from = 0, i;

	for (i = 0; i < count; i++) {
		if (!(LOOKED_AT >> records[i].type & 1))
			continue;
		if (i > from && !who->give(who->ctx, records + from, i - from))
			return false;
		if (!see(who, &records[i]))
			return false;
		from = i + 1;
	}
	return from == count ||
	       who->give(who->ctx, records + from, count - from);
}
