/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records and the buffer they wait in: emit.c. Any function runs where the sink may.
 */
#ifndef KIPT_DECODE_EMIT_H
#define KIPT_DECODE_EMIT_H

#include "../state/flow_state.h"

/**
 * kipt_emit() - make a record, after a TIME record if time has moved
 * @flow: the flow
 * @record: copied
 */
void kipt_emit(struct kipt_flow *flow, const struct kipt_record *record);

/**
 * kipt_emit_flush() - give the sink what is buffered
 * @flow: the flow; @stopped is set if the sink says so
 */
void kipt_emit_flush(struct kipt_flow *flow);

/**
 * kipt_emit_count() - the instruction count of a record, and start anew
 * @flow: the flow
 *
 * Return: for kipt_record.aux, saturated.
 */
u32 kipt_emit_count(struct kipt_flow *flow);

/**
 * kipt_emit_insns() - account the first instructions of a block as executed
 * @flow: the flow
 * @block: at flow->at.ip
 * @insns: how many of it
 */
void kipt_emit_insns(struct kipt_flow *flow, const struct kipt_block *block,
		     u32 insns);

/**
 * kipt_emit_here() - emit a record of the place where execution is
 * @flow: the flow
 * @record: has no address yet, and gets none if the place is not known
 */
void kipt_emit_here(struct kipt_flow *flow, struct kipt_record *record);

/**
 * kipt_emit_gap() - say that something is missing
 * @flow: the flow
 * @kind: enum kipt_gap_kind
 * @status: enum kipt_status
 * @offset: where in the trace
 */
void kipt_emit_gap(struct kipt_flow *flow, u8 kind, enum kipt_status status,
		   u64 offset);

/**
 * kipt_emit_packed() - the WALK record being filled, if there is one, is complete
 * @flow: the flow
 */
void kipt_emit_packed(struct kipt_flow *flow);

/**
 * kipt_emit_time() - make a TIME record, if they are asked for
 * @flow: time has moved
 */
void kipt_emit_time(struct kipt_flow *flow);

/**
 * kipt_emit_give() - give the sink what is complete; a WALK record being filled waits on
 * @flow: its buffer is empty afterwards
 */
void kipt_emit_give(struct kipt_flow *flow);

/**
 * kipt_emit_raw() - a record that belongs to no place in the flow
 * @flow: the flow
 * @record: copied; no TIME record comes before it
 */
void kipt_emit_raw(struct kipt_flow *flow, const struct kipt_record *record);

/**
 * kipt_emit_room() - room for a record in the buffer
 * @flow: the flow
 *
 * A TIME record comes first if time has moved.
 *
 * Return: where it is to be put; @flow->output.count already includes it.
 */
struct kipt_record *kipt_emit_room(struct kipt_flow *flow);

#endif /* KIPT_DECODE_EMIT_H */
