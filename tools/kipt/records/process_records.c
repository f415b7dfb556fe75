// SPDX-License-Identifier: GPL-2.0-only
/*
 * Picks the records of one program, see process_records.h. User code is where
 * addresses have bit 63 clear.
 */
#include "process_records.h"

static bool is_user(u64 address)
{
	return !(address >> 63);
}

static bool give(struct own_records *own, const struct kipt_record *record)
{
	return own->give(own->ctx, record, 1);
}

static bool take_branch(struct own_records *own, const struct kipt_record *r)
{
	bool from = is_user(r->ip) && !(r->flags & KIPT_RF_NO_IP);
	bool to = is_user(r->value) && !(r->flags & KIPT_RF_NO_VALUE);
	struct kipt_record record = *r;

	if (!own->inside || (!from && !to))
		return true;
	if (from && to)
		return give(own, r);
	if (from) {
		record.type = KIPT_RECORD_DISABLE;
		record.kind = r->kind == KIPT_BRANCH_EVENT || r->kind == KIPT_BRANCH_VMEXIT ?
			      KIPT_DISABLE_ASYNC : KIPT_DISABLE_BRANCH;
		record.value = 0;
		record.flags |= KIPT_RF_NO_VALUE;
		return give(own, &record);
	}
	record = (struct kipt_record){
		.type = KIPT_RECORD_ENABLE,
		.kind = KIPT_ENABLE_PGE,
		.ip = r->value,
	};
	return give(own, &record);
}

/* Records say whose it is after a PSB that decoding starts from. */
static bool take_sync(struct own_records *own, const struct kipt_record *r)
{
	if (r->flags & KIPT_RF_NO_IP || !is_user(r->ip))
		return true;
	if (r->kind == KIPT_SYNC_START) {
		own->pending = *r;
		return true;
	}
	return !own->inside || give(own, r);
}

static bool take_context(struct own_records *own, const struct kipt_record *r)
{
	struct kipt_record pending = own->pending;

	own->inside = !(r->flags & KIPT_RF_NR) &&
		      own->is_own(own->ctx, r->value);
	own->pending.type = 0;
	if (!own->inside)
		return true;
	return (!pending.type || give(own, &pending)) && give(own, r);
}

static bool take_space(struct own_records *own, const struct kipt_record *r)
{
	struct kipt_record record = *r;

	own->edges = !(r->flags & KIPT_RF_NO_VALUE) && r->value &&
		     own->is_own(own->ctx, r->value);
	record.aux = own->pid;
	return !own->edges || give(own, &record);
}

static bool take_cpu(struct own_records *own, const struct kipt_record *r)
{
	const struct kipt_record task = {
		.type = KIPT_RECORD_TASK,
		.flags = KIPT_RF_NO_IP,
		.aux = own->tid,
		.value = own->pid,
	};

	own->inside = false;
	own->pending.type = 0;
	return give(own, r) && give(own, &task);
}

static bool take(struct own_records *own, const struct kipt_record *r)
{
	switch (r->type) {
	case KIPT_RECORD_BRANCH:
		return take_branch(own, r);
	case KIPT_RECORD_SYNC:
		return take_sync(own, r);
	case KIPT_RECORD_CONTEXT:
		return take_context(own, r);
	case KIPT_RECORD_SPACE:
		return take_space(own, r);
	case KIPT_RECORD_CPU:
		return take_cpu(own, r);
	case KIPT_RECORD_EDGE:
		return !own->edges || !is_user(r->ip) || !is_user(r->value) ||
		       give(own, r);
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_CBR:
		return give(own, r);
	case KIPT_RECORD_GAP:
		/* What is missing of the trace may have been the program's. */
		if (r->kind == KIPT_GAP_NO_CODE || r->kind == KIPT_GAP_DECODE)
			break;
		return give(own, r);
	}
	return !own->inside || !is_user(r->ip) || give(own, r);
}

bool own_records_take(struct own_records *own,
		      const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!take(own, &records[i]))
			return false;
	}
	return true;
}
