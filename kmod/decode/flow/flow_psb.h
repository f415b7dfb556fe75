/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where decoding starts: flow_psb.c. Runs where the callbacks may.
 */
#ifndef KIPT_DECODE_FLOW_PSB_H
#define KIPT_DECODE_FLOW_PSB_H

#include "../state/flow_state.h"

/**
 * kipt_psb_start() - start decoding at a PSB
 * @flow: the flow; all its state but the block cache starts anew
 * @offset: of the PSB
 * @end: of the segment
 *
 * Return: false if the PSB+ is no good; a GAP record says so.
 */
bool kipt_psb_start(struct kipt_flow *flow, u64 offset, u64 end);

/**
 * kipt_psb_arrive() - end a segment at the PSB of the next
 * @flow: the flow; all packets before the PSB were used
 * @offset: of that PSB
 * @end: of the segment that starts there
 */
void kipt_psb_arrive(struct kipt_flow *flow, u64 offset, u64 end);

#endif /* KIPT_DECODE_FLOW_PSB_H */
