// SPDX-License-Identifier: GPL-2.0-only
/*
 * The last record of each kind, see record_state.h.
 */
#include "record_state.h"

/* A thread is named behind its address space. */
enum {
	STATE_CPU,
	STATE_CONTEXT,
	STATE_TASK,
	STATE_MODE,
	STATE_TIME,
	STATE_CBR,
	STATES,
};

_Static_assert(STATES == RECORD_STATES, "each has its place");

static int state_of(const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_CPU:
		return STATE_CPU;
	case KIPT_RECORD_CONTEXT:
		return STATE_CONTEXT;
	case KIPT_RECORD_TASK:
		return STATE_TASK;
	case KIPT_RECORD_MODE:
		return STATE_MODE;
	case KIPT_RECORD_TIME:
		return STATE_TIME;
	case KIPT_RECORD_CBR:
		return STATE_CBR;
	}
	return STATES;
}

void record_state_see(struct record_state *state,
		      const struct kipt_record *record)
{
	int which = state_of(record);

	if (which < STATES)
		state->last[which] = *record;
}

static const struct kipt_record *last_of(const struct record_state *state,
					 int which)
{
	const struct kipt_record *last = &state->last[which];

	return last->type ? last : NULL;
}

const struct kipt_record *record_state_time(const struct record_state *state)
{
	return last_of(state, STATE_TIME);
}

const struct kipt_record *record_state_cpu(const struct record_state *state)
{
	return last_of(state, STATE_CPU);
}

const struct kipt_record *record_state_task(const struct record_state *state)
{
	return last_of(state, STATE_TASK);
}

bool record_state_has(const struct kipt_record *record)
{
	return state_of(record) < STATES;
}

bool record_state_give(const struct record_state *state, bool time,
		       bool (*give)(void *ctx,
				    const struct kipt_record *records,
				    u32 count),
		       void *ctx)
{
	int end = time ? STATES : STATE_TIME, i;
	bool good = true;

	for (i = 0; i < end && good; i++) {
		if (state->last[i].type)
			good = give(ctx, &state->last[i], 1);
	}
	return good;
}
