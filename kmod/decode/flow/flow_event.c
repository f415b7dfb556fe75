// SPDX-License-Identifier: GPL-2.0-only
/*
 * FUPs: of events, of overflows, and those that another packet claims. A record that needs
 * an address waits for its FUP in the flow's held records. Runs where the callbacks may.
 */
#include "../out/emit.h"
#include "flow_branch.h"
#include "flow_event.h"
#include "flow_ovf.h"
#include "flow_walk.h"

void kipt_flow_hold(struct kipt_flow *flow, const struct kipt_record *record)
{
	if (flow->pending.held_count == KIPT_FLOW_HELD)
		kipt_flow_release(flow);
	flow->pending.held[flow->pending.held_count++] = *record;
}

void kipt_flow_emit_held(struct kipt_flow *flow, bool has_ip, u64 ip)
{
	struct kipt_record *record;
	u32 i;

	if (flow->pending.claim == KIPT_CLAIM_TSX)
		kipt_flow_set_tsx(flow);
	for (i = 0; i < flow->pending.held_count; i++) {
		record = &flow->pending.held[i];
		if (has_ip) {
			record->ip = ip;
			record->flags &= ~KIPT_RF_NO_IP;
		}
		if (record->type == KIPT_RECORD_POWER) {
			flow->state.power_known = has_ip;
			flow->state.power_ip = ip;
		}
		kipt_emit(flow, record);
	}
	flow->pending.held_count = 0;
	flow->pending.claim = KIPT_CLAIM_NONE;
	flow->pending.share = false;
}

void kipt_flow_release(struct kipt_flow *flow)
{
	kipt_flow_emit_held(flow, false, 0);
}

/* PTWRITE was executed when its packet was made; its FUP names it. */
static void step_over_ptwrite(struct kipt_flow *flow)
{
	const struct kipt_block *block;

	if (kipt_walk_find(flow, &block) != KIPT_OK ||
	    block->class != KIPT_INSN_PTWRITE || block->insns != 1)
		return;
	kipt_emit_insns(flow, block, 1);
	flow->at.ip += block->len;
}

/* In a gap a FUP says where execution is. All that is older is before it in
 * the trace, deferred TIPs too.
 */
static void resume(struct kipt_flow *flow, bool known, u64 ip)
{
	bool abort = flow->pending.abort;
	u8 claim = flow->pending.claim;

	if (flow->state.tracing != KIPT_TRACING_LOST || !known || !kipt_ip_is_canonical(ip))
		return;
	flow->pending.abort = false;
	kipt_flow_enable(flow, KIPT_ENABLE_RESUME, ip);
	flow->pending.abort = abort;
	flow->pending.claim = claim;
}

/* Follow the flow to where a FUP says that it is, or say why it is not. */
static void reach(struct kipt_flow *flow, u64 ip)
{
	enum kipt_status status;

	if (!kipt_flow_is_on(flow))
		return;
	status = flow->walk.tnt.count ? KIPT_TNT_AT_OTHER : kipt_walk_to_ip(flow, ip);
	if (status != KIPT_OK)
		kipt_flow_fail(flow, status);
}

static void on_claimed_fup(struct kipt_flow *flow, bool known, u64 ip)
{
	u8 claim = flow->pending.claim;

	reach(flow, ip);
	flow->pending.claim = claim;
	known &= !flow->state.doubtful;
	resume(flow, known, ip);
	kipt_flow_emit_held(flow, known, ip);
	if (kipt_flow_is_on(flow) && claim == KIPT_CLAIM_PTW)
		step_over_ptwrite(flow);
}

/* MODE.Exec and then a FUP: an instruction changed IF (Event Trace). While
 * tracing is filtered out, too.
 */
static void on_mode_fup(struct kipt_flow *flow, bool known, u64 ip)
{
	reach(flow, ip);
	known &= !flow->state.doubtful;
	resume(flow, known, ip);
	if (known)
		kipt_flow_set_mode_at(flow, flow->pending.mode_value, false, &ip);
	else
		kipt_flow_set_mode(flow, flow->pending.mode_value, false);
}

/* BDM64: the outcome before a transaction's abort may be wrong: believe the
 * FUP if it comes right after a branch.
 */
static bool abort_may_lie(const struct kipt_flow *flow, enum kipt_status status)
{
	return flow->pending.abort && flow->input.previous == KIPT_PACKET_MODE_TSX &&
	       (status == KIPT_NOT_REACHED || status == KIPT_LOOP);
}

static enum kipt_status go_to_event(struct kipt_flow *flow, u64 ip)
{
	enum kipt_status status;

	if (flow->walk.tnt.count)
		return KIPT_TNT_AT_OTHER;
	if (flow->pending.event)
		return KIPT_BAD_CONTEXT;
	status = kipt_walk_to_ip(flow, ip);
	if (!abort_may_lie(flow, status))
		return status;
	flow->at.ip = ip;
	return KIPT_OK;
}

static void on_event_fup(struct kipt_flow *flow, bool known, u64 ip)
{
	enum kipt_status status = KIPT_OK;
	bool abort = flow->pending.abort;

	if (kipt_flow_is_on(flow))
		status = go_to_event(flow, ip);
	if (status != KIPT_OK) {
		flow->pending.abort = false;
		kipt_flow_fail(flow, status);
		flow->pending.abort = abort;
	}
	known &= !flow->state.doubtful;
	resume(flow, known, ip);
	if (flow->pending.abort && !kipt_flow_is_on(flow))
		kipt_flow_abort(flow, known ? &ip : NULL);
	flow->pending.event = true;
	if (flow->pending.held_count)
		kipt_flow_emit_held(flow, known, ip);
}

/* What needs no tracing may come between; it claims the FUP only if tracing is
 * off.
 */
static void on_overflow_fup(struct kipt_flow *flow, bool known, u64 ip)
{
	bool off = kipt_flow_fup_is_stray(flow);

	flow->state.tracing = KIPT_TRACING_OFF;
	if (off && flow->pending.mode_pending)
		on_mode_fup(flow, known, ip);
	if (off)
		return;
	if (known)
		kipt_flow_enable(flow, KIPT_ENABLE_OVERFLOW, ip);
	else
		kipt_flow_lose(flow);
}

/* Right after a PSB+, with its address: the FUP of an OVF that is before the PSB+. */
static bool repeats_psb(const struct kipt_flow *flow)
{
	return kipt_flow_is_on(flow) && flow->input.previous == KIPT_PACKET_PSBEND &&
	       flow->at.ip == flow->input.last_ip &&
	       kipt_flow_ovf_before(flow->input.data, flow->input.psb.offset);
}

enum kipt_fup_owner kipt_fup_owner(const struct kipt_flow_state *state,
				   const struct kipt_flow_pending *pending, bool after_mode,
				   bool repeats)
{
	if (pending->claim != KIPT_CLAIM_NONE)
		return KIPT_FUP_CLAIMED;
	if (state->tracing == KIPT_TRACING_OVERFLOW)
		return KIPT_FUP_OVERFLOW;
	if (after_mode && pending->mode_pending && !pending->event)
		return KIPT_FUP_MODE;
	if (repeats)
		return KIPT_FUP_NOBODY;
	if (state->tracing != KIPT_TRACING_OFF)
		return KIPT_FUP_EVENT;
	return pending->held_count ? KIPT_FUP_HELD : KIPT_FUP_NOBODY;
}

void kipt_flow_on_fup(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	bool known = kipt_flow_take_ip(flow, packet);
	u64 ip = flow->input.last_ip;

	if (packet->size == KIPT_IPBYTES_NONE) {
		if (kipt_flow_is_on(flow))
			kipt_flow_fail(flow, KIPT_BAD_IP);
		kipt_flow_release(flow);
		return;
	}
	switch (kipt_fup_owner(&flow->state, &flow->pending,
			       flow->input.previous == KIPT_PACKET_MODE_EXEC,
			       repeats_psb(flow))) {
	case KIPT_FUP_CLAIMED:
		on_claimed_fup(flow, known, ip);
		break;
	case KIPT_FUP_OVERFLOW:
		on_overflow_fup(flow, known, ip);
		break;
	case KIPT_FUP_MODE:
		on_mode_fup(flow, known, ip);
		break;
	case KIPT_FUP_EVENT:
		on_event_fup(flow, known, ip);
		break;
	case KIPT_FUP_HELD:
		kipt_flow_emit_held(flow, known, ip);
		break;
	case KIPT_FUP_NOBODY:
		break;
	}
}
