// SPDX-License-Identifier: GPL-2.0-only
/*
 * What TNT, TIP, TIP.PGE, TIP.PGD, MODE.Exec and PIP do to the flow, and
 * what happens when they contradict it. FUPs are flow_event.c's. Runs where
 * the callbacks may.
 */
#include "../out/emit.h"
#include "flow_branch.h"
#include "../out/flow_count.h"
#include "flow_walk.h"
#include "flow_settle.h"

/* Of a walk that begins. */
#define NO_BOUND	((struct kipt_walk_bound){ 0 })

static bool changes_at(const struct kipt_flow *flow, u64 ip, u32 len)
{
	return flow->code.changed &&
	       flow->code.changed(flow->code.ctx, kipt_space_at(flow, ip), ip, len);
}

static bool changes_here(const struct kipt_flow *flow)
{
	return changes_at(flow, flow->at.ip, KIPT_INSN_MAX_LEN);
}

static bool was_changed(struct kipt_flow *flow)
{
	struct kipt_trail trail[KIPT_FLOW_HISTORY];
	u32 count, i;

	if (!flow->code.changed)
		return false;
	count = kipt_trail_read(flow, trail);
	for (i = 0; i < count; i++)
		if (changes_at(flow, trail[i].ip, trail[i].len))
			return true;
	return changes_here(flow);
}

void kipt_flow_abort(struct kipt_flow *flow, const u64 *ip)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_TSX,
		.kind = KIPT_TSX_ABORT,
		.flags = ip ? 0 : KIPT_RF_NO_IP,
		.ip = ip ? *ip : 0,
	};

	kipt_emit(flow, &record);
	flow->state.tsx = false;
	flow->pending.abort = false;
}

/* An abort whose FUP did not come happened all the same. */
static void forget_pending(struct kipt_flow *flow)
{
	flow->walk.tnt.count = 0;
	flow->pending.event = false;
	if (flow->pending.abort)
		kipt_flow_abort(flow, NULL);
	flow->pending.claim = KIPT_CLAIM_NONE;
	flow->pending.share = false;
	flow->at.insns = 0;
	kipt_walk_forget(flow);
}

void kipt_flow_fail(struct kipt_flow *flow, enum kipt_status status)
{
	u8 kind = KIPT_GAP_DECODE;

	if (status == KIPT_BAD_RET && flow->state.calls_lost && !flow->walk.stack.depth)
		kind = flow->state.calls_lost;
	else if (status == KIPT_NO_CODE)
		kind = changes_here(flow) ? KIPT_GAP_CODE_CHANGED :
					    KIPT_GAP_NO_CODE;
	else if (status == KIPT_HIDDEN)
		kind = KIPT_GAP_OVERFLOW;
	else if (kipt_flow_is_on(flow) && was_changed(flow))
		kind = KIPT_GAP_CODE_CHANGED;
	kipt_emit_gap(flow, kind, status, flow->input.offset);
	/* Without TNTs each address is a sample. */
	flow->state.doubtful = kind == KIPT_GAP_DECODE &&
			       !(flow->config.no_tnt && (status == KIPT_TIP_AT_OTHER ||
							 status == KIPT_NOT_REACHED));
	if (kipt_flow_is_on(flow))
		flow->state.calls_lost = kind;
	flow->state.tracing = KIPT_TRACING_LOST;
	forget_pending(flow);
	kipt_flow_apply_pip(flow);
}

void kipt_flow_set_mode_at(struct kipt_flow *flow, u8 value, bool always, const u64 *ip)
{
	struct kipt_record record = { .type = KIPT_RECORD_MODE };
	bool if_set = value & KIPT_MODE_EXEC_IF;
	u8 mode = kipt_exec_kind(value);
	bool same = flow->state.mode_known && mode == flow->at.mode &&
		    if_set == flow->state.mode_if;

	flow->pending.mode_pending = false;
	flow->state.mode_known = true;
	flow->state.mode_lost = false;
	flow->state.mode_if = if_set;
	flow->at.mode = mode;
	if (same && !always)
		return;
	record.kind = mode;
	record.flags = if_set ? KIPT_RF_IF : 0;
	if (ip)
		record.ip = *ip;
	else
		record.flags |= KIPT_RF_NO_IP;
	kipt_emit(flow, &record);
}

void kipt_flow_set_mode(struct kipt_flow *flow, u8 value, bool always)
{
	kipt_flow_set_mode_at(flow, value, always, kipt_flow_is_on(flow) ? &flow->at.ip : NULL);
}

void kipt_flow_settle(struct kipt_flow *flow)
{
	kipt_flow_apply_pip(flow);
	if (flow->pending.mode_pending)
		kipt_flow_set_mode(flow, flow->pending.mode_value, false);
}

void kipt_flow_enable(struct kipt_flow *flow, u8 kind, u64 ip)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_ENABLE,
		.kind = kind,
		.ip = ip,
	};

	forget_pending(flow);
	if (kind == KIPT_ENABLE_PGE || kind == KIPT_ENABLE_OVERFLOW)
		flow->state.calls_lost = 0;
	flow->state.tracing = KIPT_TRACING_ON;
	flow->state.doubtful = false;
	flow->at.ip = ip;
	kipt_emit(flow, &record);
	kipt_flow_settle(flow);
}

/* After a contradiction an address may be built on one that was damaged; one
 * that is not compressed is believed, and so are those built on it.
 */
bool kipt_flow_take_ip(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	if (packet->size == KIPT_IPBYTES_NONE)
		return false;
	flow->input.last_ip = kipt_last_ip_apply(flow->input.last_ip, packet);
	if (packet->size == KIPT_IPBYTES_SEXT48 ||
	    packet->size == KIPT_IPBYTES_FULL)
		flow->state.doubtful = false;
	return !flow->state.doubtful;
}

/* Outcomes are used up, unless the run pauses amid them. */
static void end_walk(struct kipt_flow *flow, enum kipt_status status)
{
	if (status != KIPT_OK && status != KIPT_PAUSED)
		kipt_flow_fail(flow, status);
}

void kipt_flow_walk_on(struct kipt_flow *flow)
{
	flow->walk.paused = false;
	end_walk(flow, kipt_walk_tnt(flow, flow->walk.bound));
}

static void walk_on(struct kipt_flow *flow)
{
	if (flow->walk.tnt.count)
		end_walk(flow, kipt_walk_tnt(flow, NO_BOUND));
}

void kipt_flow_on_tnt(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	if (flow->walk.tnt.count) {
		kipt_flow_fail(flow, KIPT_TNT_AT_OTHER);
	} else if (!kipt_flow_is_on(flow) || flow->pending.event) {
		if (flow->state.tracing != KIPT_TRACING_LOST)
			kipt_flow_fail(flow, KIPT_BAD_CONTEXT);
	} else {
		flow->walk.tnt.bits = packet->value;
		flow->walk.tnt.count = packet->size;
		end_walk(flow, kipt_walk_tnt(flow, NO_BOUND));
	}
}

static u8 event_kind(const struct kipt_flow *flow)
{
	if (flow->pending.abort)
		return KIPT_BRANCH_TSX_ABORT;
	return flow->at.pip_pending && flow->at.nr && !flow->at.pip_nr ? KIPT_BRANCH_VMEXIT :
									 KIPT_BRANCH_EVENT;
}

static void finish_event(struct kipt_flow *flow, u64 target)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_BRANCH,
		.kind = event_kind(flow),
		.flags = flow->state.tsx ? KIPT_RF_TSX : 0,
		.ip = flow->at.ip,
		.value = target,
	};
	bool wanted = flow->output.wanted >> record.kind & 1;

	if (wanted)
		record.aux = kipt_emit_count(flow);
	if (flow->pending.abort)
		kipt_flow_abort(flow, &flow->at.ip);
	if (flow->counts.max)
		kipt_count_edge(flow, flow->at.ip, target, record.kind);
	if (wanted)
		kipt_emit(flow, &record);
	flow->pending.event = false;
	flow->at.ip = target;
}

void kipt_flow_lose(struct kipt_flow *flow)
{
	flow->state.tracing = KIPT_TRACING_LOST;
	flow->pending.event = false;
	kipt_flow_settle(flow);
}

/* A TIP that comes while nothing is followed: a place to go on, or not. */
static void tip_while_off(struct kipt_flow *flow, bool known, u64 ip)
{
	if (flow->state.tracing == KIPT_TRACING_OFF)
		kipt_flow_fail(flow, KIPT_BAD_CONTEXT);
	else if (!known || (flow->pending.deferred && !flow->pending.event &&
			    flow->state.tracing == KIPT_TRACING_LOST))
		kipt_flow_lose(flow);
	else
		kipt_flow_enable(flow, flow->state.tracing == KIPT_TRACING_OVERFLOW ?
				 KIPT_ENABLE_OVERFLOW : KIPT_ENABLE_RESUME, ip);
}

static void on_tip(struct kipt_flow *flow, const struct kipt_packet *packet,
		   bool known, u64 ip)
{
	enum kipt_status status = KIPT_OK;

	if (packet->size == KIPT_IPBYTES_NONE || !kipt_ip_is_canonical(ip)) {
		if (flow->state.tracing != KIPT_TRACING_LOST)
			kipt_flow_fail(flow, KIPT_BAD_IP);
		kipt_flow_lose(flow);
		return;
	}
	if (!kipt_flow_is_on(flow)) {
		tip_while_off(flow, known, ip);
		return;
	}
	if (flow->pending.event) {
		finish_event(flow, ip);
	} else {
		if (flow->walk.tnt.count)
			flow->pending.deferred = true;
		status = kipt_walk_tip(flow, ip);
	}
	if (status != KIPT_OK) {
		kipt_flow_fail(flow, status);
		if (flow->state.doubtful)
			kipt_flow_lose(flow);
		else
			tip_while_off(flow, known, ip);
		return;
	}
	kipt_flow_settle(flow);
	walk_on(flow);
}

/* Enabled already: only BDM70 says so twice, and then at the same address. */
static void on_pge(struct kipt_flow *flow, const struct kipt_packet *packet,
		   bool known, u64 ip)
{
	if (packet->size == KIPT_IPBYTES_NONE || !kipt_ip_is_canonical(ip)) {
		kipt_flow_fail(flow, KIPT_BAD_IP);
		kipt_flow_lose(flow);
		return;
	}
	if (kipt_flow_is_on(flow)) {
		if (flow->at.ip == ip && !flow->pending.event && !flow->walk.tnt.count) {
			kipt_flow_settle(flow);
			return;
		}
		kipt_flow_fail(flow, KIPT_BAD_CONTEXT);
	} else if (!known) {
		kipt_flow_lose(flow);
		return;
	}
	kipt_flow_enable(flow, KIPT_ENABLE_PGE, ip);
}

/* SKD022: a VM entry that clears TraceEn sends a FUP that looks like an
 * asynchronous disable; the entry did execute.
 */
static bool is_vmentry(struct kipt_flow *flow, const struct kipt_block **block)
{
	return kipt_walk_find(flow, block) == KIPT_OK &&
	       (*block)->class == KIPT_INSN_VMENTRY && (*block)->insns == 1;
}

static void disable_async(struct kipt_flow *flow, bool has_ip, u64 ip)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_DISABLE,
		.kind = KIPT_DISABLE_ASYNC,
		.flags = (has_ip ? 0 : KIPT_RF_NO_VALUE) |
			 (flow->state.tsx ? KIPT_RF_TSX : 0),
		.ip = flow->at.ip,
		.value = has_ip ? ip : 0,
	};
	const struct kipt_block *block;

	if (flow->pending.abort) {
		kipt_flow_abort(flow, &flow->at.ip);
	} else if (is_vmentry(flow, &block)) {
		kipt_emit_insns(flow, block, 1);
		record.kind = KIPT_DISABLE_BRANCH;
	}
	record.aux = kipt_emit_count(flow);
	kipt_emit(flow, &record);
}

/* Tracing ends, at an instruction that is not known. */
static void disable_lost(struct kipt_flow *flow, bool known, u64 ip)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_DISABLE,
		.kind = flow->pending.event ? KIPT_DISABLE_ASYNC : KIPT_DISABLE_BRANCH,
		.flags = KIPT_RF_NO_IP | (known ? 0 : KIPT_RF_NO_VALUE),
		.value = known ? ip : 0,
	};

	kipt_emit(flow, &record);
}

static enum kipt_status disable_here(struct kipt_flow *flow, bool has_ip,
				     u64 ip)
{
	if (flow->pending.event) {
		disable_async(flow, has_ip, ip);
		return KIPT_OK;
	}
	return flow->walk.tnt.count ? KIPT_TNT_AT_OTHER :
				 kipt_walk_pgd(flow, has_ip, ip);
}

/* Whatever was before, tracing is off after it. */
static void on_pgd(struct kipt_flow *flow, const struct kipt_packet *packet,
		   bool known, u64 ip)
{
	bool has_ip = packet->size != KIPT_IPBYTES_NONE;
	bool is_bad = has_ip && !kipt_ip_is_canonical(ip);
	enum kipt_status status = KIPT_OK;

	if (kipt_flow_is_on(flow))
		status = is_bad ? KIPT_BAD_IP : disable_here(flow, has_ip, ip);
	else if (flow->state.tracing == KIPT_TRACING_OFF)
		kipt_emit_gap(flow, KIPT_GAP_DECODE, KIPT_BAD_CONTEXT,
			      flow->input.offset);
	if (status != KIPT_OK)
		kipt_flow_fail(flow, status);
	if (flow->state.tracing == KIPT_TRACING_LOST)
		disable_lost(flow, known && !is_bad && !flow->state.doubtful, ip);
	flow->state.tracing = KIPT_TRACING_OFF;
	forget_pending(flow);
	kipt_flow_settle(flow);
}

/* A second PIP means that the instruction of the first was executed, unless both
 * are of an event.
 */
static void on_pip(struct kipt_flow *flow, const struct kipt_packet *packet)
{
	u64 ip;

	if (flow->at.pip_pending &&
	    (!kipt_flow_is_on(flow) || flow->pending.event ||
	     kipt_walk_to_class(flow, KIPT_INSN_MOV_CR3, &ip) != KIPT_OK))
		kipt_flow_set_cr3(flow, flow->at.pip_cr3, flow->at.pip_nr);
	flow->at.pip_pending = true;
	flow->at.pip_cr3 = packet->value;
	flow->at.pip_nr = packet->flags & KIPT_PF_NR;
	if (!kipt_flow_is_on(flow))
		kipt_flow_set_cr3(flow, packet->value, flow->at.pip_nr);
}

void kipt_flow_on_branch(struct kipt_flow *flow,
			 const struct kipt_packet *packet)
{
	bool known;

	if (packet->type == KIPT_PACKET_MODE_EXEC) {
		/* It waits for an address; while tracing is off, for a FUP after it only. */
		flow->pending.mode_pending = true;
		flow->pending.mode_value = (u8)packet->value;
		return;
	}
	if (packet->type == KIPT_PACKET_PIP) {
		on_pip(flow, packet);
		return;
	}
	known = kipt_flow_take_ip(flow, packet);
	if (packet->type == KIPT_PACKET_TIP)
		on_tip(flow, packet, known, flow->input.last_ip);
	else if (packet->type == KIPT_PACKET_TIP_PGE)
		on_pge(flow, packet, known, flow->input.last_ip);
	else
		on_pgd(flow, packet, known, flow->input.last_ip);
}
