// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trail: which blocks were walked last, whether one by one or as ways of
 * the memo. Read only where the trace contradicts the code. Any context.
 */
#include "flow_state.h"

/* Appends the blocks of a packet's way, the youngest first; false: it is
 * enough, or older ones are of another time.
 */
static bool read_steps(const struct kipt_flow *flow,
		       const struct kipt_way *way, struct kipt_trail *trail,
		       u32 *count)
{
	const u32 *steps = kipt_way_steps(way);
	const struct kipt_block *block;
	u32 i = way->listed;

	while (i-- && *count < KIPT_FLOW_HISTORY) {
		if (steps[i] & KIPT_STEP_START)
			return false;
		if (steps[i] & KIPT_STEP_EDGE)
			continue;
		block = &flow->blocks.table[steps[i] & KIPT_STEP_NUMBER];
		trail[*count].ip = block->ip;
		trail[*count].len = block->len;
		trail[*count].way = 0;
		(*count)++;
	}
	return *count < KIPT_FLOW_HISTORY;
}

static bool read_way(const struct kipt_flow *flow, u32 number,
		     struct kipt_trail *trail, u32 *count)
{
	const struct kipt_way *way = kipt_way_at(&flow->memo, number);
	u32 i = way->listed;

	if (way->kind == KIPT_WAY_PACKET)
		return read_steps(flow, way, trail, count);
	while (i--) {
		if (!read_steps(flow, kipt_way_part(&flow->memo, way, i), trail,
				count))
			return false;
	}
	return true;
}

u32 kipt_trail_read(const struct kipt_flow *flow, struct kipt_trail *trail)
{
	u32 end = flow->history_count, count = 0, i;
	const struct kipt_trail *item;

	for (i = 1; i <= end && i <= KIPT_FLOW_HISTORY &&
		    count < KIPT_FLOW_HISTORY; i++) {
		item = &flow->history[(end - i) % KIPT_FLOW_HISTORY];
		if (!item->way)
			trail[count++] = *item;
		else if (!read_way(flow, item->way, trail, &count))
			break;
	}
	return count;
}
