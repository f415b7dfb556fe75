// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records on their way out: made, counted, buffered, given to the sink in
 * batches. What they say is the flow's affair. Runs where the sink may.
 */
#include "emit.h"

void kipt_emit_give(struct kipt_flow *flow)
{
	if (flow->output.count && !flow->input.stopped &&
	    !flow->output.sink.emit(flow->output.sink.ctx, flow->output.records,
				    flow->output.count)) {
		flow->input.stopped = true;
		flow->input.halt_at = flow->input.data;
		flow->output.lost = flow->output.packs;
	}
	flow->output.count = 0;
}

/* The next record of the buffer, which may have been full. */
static struct kipt_record *next_record(struct kipt_flow *flow)
{
	if (unlikely(flow->output.count == KIPT_FLOW_BUFFER))
		kipt_emit_give(flow);
	return &flow->output.records[flow->output.count++];
}

void kipt_emit_raw(struct kipt_flow *flow, const struct kipt_record *record)
{
	*next_record(flow) = *record;
}

void kipt_emit_packed(struct kipt_flow *flow)
{
	u32 n = flow->output.nr_packed;
	struct kipt_record *record;

	if (!n)
		return;
	record = next_record(flow);
	record->type = KIPT_RECORD_WALK;
	record->kind = (u8)n;
	memcpy((u8 *)record + 2, flow->output.packed, KIPT_RECORD_WALK_MAX);
	if (n != KIPT_RECORD_WALK_MAX)
		memset((u8 *)record + 2 + n, 0, KIPT_RECORD_WALK_MAX - n);
	flow->output.nr_packed = 0;
}

void kipt_emit_flush(struct kipt_flow *flow)
{
	kipt_emit_packed(flow);
	kipt_emit_give(flow);
}

void kipt_emit_time(struct kipt_flow *flow)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_TIME,
		.aux = flow->clock.error,
		.ip = flow->clock.spent,
		.value = flow->clock.now,
		.flags = KIPT_RF_NO_IP,
	};

	flow->clock.moved = false;
	flow->clock.spent = 0;
	if (flow->clock.valid && flow->config.output & KIPT_FLOW_TIME) {
		kipt_emit_packed(flow);
		kipt_emit_raw(flow, &record);
	}
}

struct kipt_record *kipt_emit_room(struct kipt_flow *flow)
{
	if (unlikely(flow->clock.moved))
		kipt_emit_time(flow);
	return next_record(flow);
}

/* With counts nothing is emitted of the flow between other records. */
static bool is_counted(const struct kipt_flow *flow, u32 type)
{
	return flow->counts.max && (type == KIPT_RECORD_ENABLE ||
				    type == KIPT_RECORD_DISABLE);
}

void kipt_emit(struct kipt_flow *flow, const struct kipt_record *record)
{
	if (flow->walk.trial || is_counted(flow, record->type))
		return;
	if (unlikely(flow->clock.moved))
		kipt_emit_time(flow);
	kipt_emit_packed(flow);
	kipt_emit_raw(flow, record);
}

u32 kipt_emit_count(struct kipt_flow *flow)
{
	u64 insns = flow->at.insns;

	flow->at.insns = 0;
	if (flow->counts.max)
		return 0;
	return insns < 0xffffffffU ? (u32)insns : 0xffffffffU;
}

static void emit_each(struct kipt_flow *flow, const struct kipt_block *block,
		      u32 insns)
{
	struct kipt_record record = { .type = KIPT_RECORD_INSN };
	u32 at = 0, next, i;

	if (flow->state.tsx)
		record.flags = KIPT_RF_TSX;
	if (flow->config.output & KIPT_FLOW_CODE) {
		record.kind = block->mode;
		record.value = block->space;
	}
	for (i = 0; i < insns; i++) {
		next = at + 1;
		while (next < block->len &&
		       (next >= KIPT_BLOCK_SPAN ||
			!(block->starts >> next & 1)))
			next++;
		record.ip = block->ip + at;
		record.aux = next - at;
		kipt_emit(flow, &record);
		at = next;
	}
}

void kipt_emit_insns(struct kipt_flow *flow, const struct kipt_block *block,
		     u32 insns)
{
	flow->at.insns += insns;
	if (unlikely(flow->config.output & KIPT_FLOW_INSNS) && !flow->walk.trial)
		emit_each(flow, block, insns);
}

void kipt_emit_here(struct kipt_flow *flow, struct kipt_record *record)
{
	if (kipt_flow_is_on(flow))
		record->ip = flow->at.ip;
	else
		record->flags |= KIPT_RF_NO_IP;
	kipt_emit(flow, record);
}

void kipt_emit_gap(struct kipt_flow *flow, u8 kind, enum kipt_status status,
		   u64 offset)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_GAP,
		.kind = kind,
		.aux = (u32)status,
		.value = offset,
	};

	kipt_emit_here(flow, &record);
}
