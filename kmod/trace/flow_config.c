// SPDX-License-Identifier: GPL-2.0-only
/*
 * From session to decoder, see flow_config.h. Any context.
 */
#include "../decode/flow.h"
#include "config.h"
#include "flow_config.h"
#include "../hw/hw_regs.h"

static void fill_filters(const struct kipt_hw_config *hw,
			 struct kipt_flow_config *config)
{
	u32 i;

	for (i = 0; i < hw->nr_ranges; i++) {
		config->filter[i].begin = hw->ranges[i].first;
		config->filter[i].last = hw->ranges[i].last;
		config->filter[i].stop = hw->ranges[i].kind == KIPT_FILTER_KIND_STOP;
	}
	config->filter_count = hw->nr_ranges;
}

void kipt_flow_config_fill(const struct kipt_group *group,
			   struct kipt_flow_config *config)
{
	config->tsc_num = group->config.caps.tsc_num;
	config->tsc_den = group->config.caps.tsc_den;
	config->mtc_freq = (group->config.ctl & RTIT_CTL_MTCFREQ) >>
			   RTIT_CTL_MTCFREQ_SHIFT;
	config->max_nonturbo_ratio = group->config.caps.max_nonturbo_ratio;
	config->no_tnt = group->config.ctl & RTIT_CTL_DISTNT;
	config->no_retc = group->config.ctl & RTIT_CTL_DISRETC;
	fill_filters(&group->config.hw, config);
}
