/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Overflow: flow_ovf.c. Runs where the callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_OVF_H
#define KIPT_DECODE_FLOW_OVF_H

#include "../state/flow_state.h"

/**
 * kipt_flow_on_ovf() - packets were lost
 * @flow: the flow
 */
void kipt_flow_on_ovf(struct kipt_flow *flow);

/**
 * kipt_flow_fup_is_stray() - is the FUP after an OVF one that erratum APL12
 * makes while tracing is off
 * @flow: its cursor is after the FUP
 *
 * Return: true if the packets to come say that tracing is off.
 */
bool kipt_flow_fup_is_stray(const struct kipt_flow *flow);

/**
 * kipt_flow_ovf_near() - do the last bytes before an offset look like an OVF and timing packets
 * @data: trace
 * @offset: where a packet starts
 *
 * Return: true if so, wherever packets start.
 */
bool kipt_flow_ovf_near(const u8 *data, u64 offset);

/**
 * kipt_flow_ovf_before() - is there an OVF, with nothing but timing packets
 * between it and an offset
 * @data: trace
 * @offset: where a packet starts
 *
 * Return: true if so.
 */
bool kipt_flow_ovf_before(const u8 *data, u64 offset);

#endif /* KIPT_DECODE_FLOW_OVF_H */
