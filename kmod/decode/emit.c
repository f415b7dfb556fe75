// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records on their way out: made, counted, buffered, given to the sink in
 * batches. What they say is the flow's affair. Runs where the sink may.
 */
#include "flow_state.h"

void kipt_emit_flush(struct kipt_flow *flow)
{
	if (flow->count && !flow->stopped &&
	    !flow->sink.emit(flow->sink.ctx, flow->records, flow->count))
		flow->stopped = true;
	flow->count = 0;
}

static void append(struct kipt_flow *flow, const struct kipt_record *record)
{
	if (unlikely(flow->count == KIPT_FLOW_BUFFER))
		kipt_emit_flush(flow);
	flow->records[flow->count++] = *record;
}

static void append_time(struct kipt_flow *flow)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_TIME,
		.aux = flow->clock.error,
		.value = flow->clock.now,
		.flags = KIPT_RF_NO_IP,
	};

	flow->clock.moved = false;
	if (flow->clock.valid && flow->config.output & KIPT_FLOW_TIME)
		append(flow, &record);
}

void kipt_emit(struct kipt_flow *flow, const struct kipt_record *record)
{
	if (flow->trial)
		return;
	if (unlikely(flow->clock.moved))
		append_time(flow);
	append(flow, record);
}

u32 kipt_emit_count(struct kipt_flow *flow)
{
	u64 insns = flow->at.insns;

	flow->at.insns = 0;
	return insns < 0xffffffffU ? (u32)insns : 0xffffffffU;
}

static void emit_each(struct kipt_flow *flow, const struct kipt_block *block,
		      u32 insns)
{
	struct kipt_record record = { .type = KIPT_RECORD_INSN };
	u32 at = 0, next, i;

	if (flow->tsx)
		record.flags = KIPT_RF_TSX;
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
	if (unlikely(flow->config.output & KIPT_FLOW_INSNS) && !flow->trial)
		emit_each(flow, block, insns);
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

	if (flow->enabled)
		record.ip = flow->at.ip;
	else
		record.flags = KIPT_RF_NO_IP;
	kipt_emit(flow, &record);
}
