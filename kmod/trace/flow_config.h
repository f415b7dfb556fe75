/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the decoder needs to know of the traces of a session.
 */
#ifndef KIPT_FLOW_CONFIG_H
#define KIPT_FLOW_CONFIG_H

struct kipt_flow_config;
struct kipt_group;

/**
 * kipt_flow_config_fill() - fill in what the traces of a session have in common
 * @group: set up
 * @config: all that depends on the CPUs and the registers is written, nothing
 *	else
 *
 * Context: any.
 */
void kipt_flow_config_fill(const struct kipt_group *group,
			   struct kipt_flow_config *config);

#endif /* KIPT_FLOW_CONFIG_H */
