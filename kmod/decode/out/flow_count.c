// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges that are counted one by one, and EDGE records of them. Runs where the sink may.
 */
#include "emit.h"
#include "flow_count.h"

static bool in_kernel(u64 from, u64 to)
{
	return (from & to) >> 63;
}

static void emit_space(struct kipt_flow *flow, u64 space, bool kernel)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_SPACE,
		.flags = KIPT_RF_NO_IP,
		.value = space,
	};

	if (!space && !kernel)
		record.flags |= KIPT_RF_NO_VALUE;
	if (space == KIPT_SPACE_GUEST) {
		record.flags |= KIPT_RF_NO_VALUE | KIPT_RF_NR;
		record.value = 0;
	}
	flow->output.counting.spaced = true;
	flow->output.counting.kernel = kernel;
	flow->output.counting.space = space;
	*kipt_emit_room(flow) = record;
}

void kipt_count_emit(struct kipt_flow *flow, u64 space, u64 from, u64 to, u8 kind, u64 count)
{
	bool kernel = in_kernel(from, to);
	struct kipt_record *record;
	u32 part;

	if (!flow->output.counting.spaced || flow->output.counting.space != space ||
	    flow->output.counting.kernel != kernel)
		emit_space(flow, space, kernel);
	while (count) {
		part = count < 0xffffffffU ? (u32)count : 0xffffffffU;
		count -= part;
		record = kipt_emit_room(flow);
		record->type = KIPT_RECORD_EDGE;
		record->kind = kind;
		record->flags = 0;
		record->aux = part;
		record->ip = from;
		record->value = to;
	}
}

void kipt_count_add(struct kipt_flow *flow, u64 space, u64 from, u64 to, u8 kind,
		    u64 count)
{
	u32 number;

	number = kipt_counts_number(&flow->counts, space, from, to, kind);
	if (number)
		flow->counts.edges[number].count += count;
	else
		kipt_count_emit(flow, space, from, to, kind, count);
}

void kipt_count_edge(struct kipt_flow *flow, u64 from, u64 to, u8 kind)
{
	if (!flow->walk.trial)
		kipt_count_add(flow, in_kernel(from, to) ? flow->at.high_space : flow->at.space,
			       from, to, kind, 1);
}
