/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dropping what is cached: flow_counts.c. Runs where the sink may.
 */
#ifndef KIPT_DECODE_FLOW_COUNTS_H
#define KIPT_DECODE_FLOW_COUNTS_H

#include "state/flow_state.h"

/**
 * kipt_flow_renew() - drop all that is cached, what it counted goes to the sink
 * @flow: the flow; no block is in use
 *
 * Return: false if a pause was asked for: it is to be called again, for the rest, before
 * anything is counted. Nothing was dropped then.
 */
bool kipt_flow_renew(struct kipt_flow *flow);

#endif /* KIPT_DECODE_FLOW_COUNTS_H */
