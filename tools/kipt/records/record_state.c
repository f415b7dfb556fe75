// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last record of each kind, see record_state.h.
 */
#include "record_state.h"

enum record_state_kind record_state_kind(const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_CPU:
		return RECORD_STATE_CPU;
	case KIPT_RECORD_CONTEXT:
		return RECORD_STATE_CONTEXT;
	case KIPT_RECORD_TASK:
		return RECORD_STATE_TASK;
	case KIPT_RECORD_MODE:
		return RECORD_STATE_MODE;
	case KIPT_RECORD_TIME:
		return record->kind == KIPT_TIME_FIRST ? RECORD_STATES :
							 RECORD_STATE_TIME;
	case KIPT_RECORD_CBR:
		return RECORD_STATE_CBR;
	}
	return RECORD_STATES;
}

void record_state_see(struct record_state *state,
		      const struct kipt_record *record)
{
	enum record_state_kind kind = record_state_kind(record);

	if (kind >= RECORD_STATES)
		return;
	state->last[kind] = *record;
	/* A time that is given once more brings no core cycles: they came with it the first
	 * time, or are of what was left out.
	 */
	if (kind == RECORD_STATE_TIME)
		state->last[kind].ip = 0;
}

const struct kipt_record *record_state_last(const struct record_state *state,
					    enum record_state_kind kind)
{
	const struct kipt_record *last = &state->last[kind];

	return last->type ? last : NULL;
}

bool record_state_give(const struct record_state *state, bool time,
		       bool (*give)(void *ctx,
				    const struct kipt_record *records,
				    u32 count),
		       void *ctx)
{
	int end = time ? RECORD_STATES : RECORD_STATE_TIME, i;
	bool good = true;

	for (i = 0; i < end && good; i++) {
		if (state->last[i].type)
			good = give(ctx, &state->last[i], 1);
	}
	return good;
}

bool record_runs(const struct kipt_record *record, bool *running)
{
	switch (record->type) {
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_INSN:
	case KIPT_RECORD_ENABLE:
		*running = true;
		return true;
	case KIPT_RECORD_DISABLE:
		*running = false;
		return true;
	case KIPT_RECORD_SYNC:
		if (record->kind != KIPT_SYNC_START)
			return false;
		*running = !(record->flags & KIPT_RF_NO_IP);
		return true;
	}
	return false;
}

bool record_gap_loses_time(u32 kind)
{
	switch (kind) {
	case KIPT_GAP_SWITCHES:
	case KIPT_GAP_SPACES:
	case KIPT_GAP_CODE_DROPPED:
	case KIPT_GAP_PATCHES:
	case KIPT_GAP_PROCESSES:
		return false;
	}
	return true;
}
