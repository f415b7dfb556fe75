// SPDX-License-Identifier: GPL-2.0-only
/*
 * PSB+: a status report that decoding can start from, and the end of the
 * segment before it. All that a segment needs is in its own PSB+, so segments
 * decode alone (Intel SDM Vol. 3C, "Packet Stream Boundary (PSB) Packet").
 * Runs where the callbacks may.
 */
#include "../out/emit.h"
#include "flow_branch.h"
#include "flow_ovf.h"
#include "flow_psb.h"
#include "flow_walk.h"

static void emit_sync(struct kipt_flow *flow, u8 kind, u64 offset)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_SYNC,
		.kind = kind,
		.value = offset,
	};

	record.aux = kipt_emit_count(flow);
	kipt_emit_here(flow, &record);
}

/* Everything that belongs to one segment; the cache and the buffer stay. */
static void reset(struct kipt_flow *flow)
{
	memset(&flow->at, 0, sizeof(flow->at));
	flow->at.mode = KIPT_EXEC_64;
	flow->state = (struct kipt_flow_state){ 0 };
	flow->pending = (struct kipt_flow_pending){ 0 };
	flow->walk.tnt.count = 0;
	flow->input.last_ip = 0;
	flow->input.previous = KIPT_PACKET_PSBEND;
	kipt_walk_forget(flow);
	kipt_clock_reset(&flow->clock);
}

static void restate_tsx(struct kipt_flow *flow, u8 value)
{
	struct kipt_record record = { .type = KIPT_RECORD_TSX, .kind = KIPT_TSX_BEGIN };

	flow->state.tsx = value & KIPT_MODE_TSX_INTX;
	if (flow->state.tsx)
		kipt_emit_here(flow, &record);
}

/* Time comes after SYNC, though it was read before. */
static void restate_clock(struct kipt_flow *flow)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_CBR,
		.flags = KIPT_RF_NO_IP,
		.aux = flow->clock.core.cbr,
	};

	flow->clock.moved = flow->clock.valid;
	if (flow->clock.core.cbr && flow->config.output & KIPT_FLOW_TIME)
		kipt_emit(flow, &record);
}

static void restate(struct kipt_flow *flow, const struct kipt_psb *psb)
{
	struct kipt_record vmcs = {
		.type = KIPT_RECORD_VMCS,
		.flags = KIPT_RF_NO_IP,
		.value = psb->vmcs,
	};

	emit_sync(flow, KIPT_SYNC_START, psb->offset);
	if (psb->has_pip)
		kipt_flow_set_cr3(flow, psb->pip.value,
				  psb->pip.flags & KIPT_PF_NR);
	if (psb->has_mode)
		kipt_flow_set_mode(flow, psb->mode, true);
	if (psb->has_tsx)
		restate_tsx(flow, psb->tsx);
	if (psb->has_vmcs)
		kipt_emit(flow, &vmcs);
	restate_clock(flow);
}

/* The TSC in the next PSB+: no estimate before it may be beyond. */
static void limit_clock(struct kipt_flow *flow, u64 next)
{
	struct kipt_psb psb;

	if (!(flow->config.output & KIPT_FLOW_TIME) || next == flow->input.size)
		return;
	kipt_psb_read(&psb, flow->input.data, next, flow->input.run.after, NULL);
	if (psb.has_tsc)
		kipt_clock_limit(&flow->clock, psb.tsc);
}

static void report_bad(struct kipt_flow *flow, const struct kipt_psb *psb)
{
	flow->state.tracing = KIPT_TRACING_OFF;
	if (psb->status == KIPT_TRUNCATED || psb->status == KIPT_END)
		kipt_emit_gap(flow, KIPT_GAP_TRUNCATED, KIPT_TRUNCATED,
			      psb->bad);
	else
		kipt_emit_gap(flow, KIPT_GAP_DECODE, psb->status, psb->bad);
}

bool kipt_psb_start(struct kipt_flow *flow, u64 offset, u64 end)
{
	bool timed = flow->config.output & KIPT_FLOW_TIME;
	struct kipt_psb *psb = &flow->input.psb;

	reset(flow);
	/* Without time it may be known from where the segment before ended. */
	if (timed || psb->offset != offset)
		kipt_psb_read(psb, flow->input.data, offset, end,
			      timed ? &flow->clock : NULL);
	flow->state.tracing = psb->has_ip ? KIPT_TRACING_ON : KIPT_TRACING_OFF;
	flow->state.nr_lost = psb->overflow && !psb->has_pip;
	flow->at.ip = psb->ip;
	flow->input.last_ip = psb->last_ip;
	limit_clock(flow, end);
	flow->clock.moved = false;
	restate(flow, psb);
	if (psb->status != KIPT_OK) {
		report_bad(flow, psb);
		return false;
	}
	if (!psb->has_ip && kipt_flow_ovf_near(flow->input.data, offset) &&
	    kipt_flow_ovf_before(flow->input.data, offset))
		flow->state.tracing = KIPT_TRACING_OVERFLOW;
	kipt_cursor_init(&flow->input.cursor, flow->input.data + psb->end, end - psb->end);
	return true;
}

/* The flow went on in a mode that is not the CPU's: one that was lost in an
 * overflow, or is damaged.
 */
static bool mode_is_other(const struct kipt_flow *flow,
			  const struct kipt_psb *psb)
{
	return psb->has_mode && kipt_exec_kind(psb->mode) != flow->at.mode;
}

static void arrive_at(struct kipt_flow *flow, const struct kipt_psb *psb)
{
	enum kipt_status status = KIPT_OK;

	if (psb->has_ip) {
		status = kipt_walk_to_ip(flow, psb->ip);
		if (status == KIPT_OK && flow->at.ip != psb->ip)
			status = KIPT_NOT_REACHED;
		if (status == KIPT_OK && mode_is_other(flow, psb))
			status = KIPT_BAD_CONTEXT;
	} else if (psb->complete) {
		status = KIPT_BAD_CONTEXT;
	}
	if (status != KIPT_OK)
		kipt_flow_fail(flow, status);
	else if (psb->has_ip)
		emit_sync(flow, KIPT_SYNC_REACHED, psb->offset);
}

void kipt_psb_arrive(struct kipt_flow *flow, u64 offset, u64 end)
{
	struct kipt_psb *psb = &flow->input.psb;

	flow->input.offset = offset;
	if (kipt_flow_is_on(flow) && flow->walk.tnt.count)
		kipt_flow_fail(flow, KIPT_TNT_AT_OTHER);
	if (kipt_flow_is_on(flow) && flow->pending.event)
		kipt_flow_fail(flow, KIPT_BAD_CONTEXT);
	kipt_psb_read(psb, flow->input.data, offset, end, NULL);
	if (kipt_flow_is_on(flow))
		arrive_at(flow, psb);
	else if (psb->has_ip && flow->state.tracing == KIPT_TRACING_OFF)
		kipt_emit_gap(flow, KIPT_GAP_DECODE, KIPT_BAD_CONTEXT, offset);
}
