/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets one by one, by the slow path: what flow.c offers selftests/decode/graph_prove.c. Runs
 * where the callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_STEP_H
#define KIPT_DECODE_FLOW_STEP_H

#include "state/flow_state.h"

/**
 * kipt_flow_step() - use the next packet, by the slow path
 * @flow: inside a segment
 *
 * Return: KIPT_OK, KIPT_END at the segment's end, or why the bytes are no packet.
 */
enum kipt_status kipt_flow_step(struct kipt_flow *flow);

#endif /* KIPT_DECODE_FLOW_STEP_H */
