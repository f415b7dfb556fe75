// SPDX-License-Identifier: GPL-2.0-only
/*
 * From session to decoder, see flow_config.h. Any context.
 */
#include "decode/flow.h"
#include "flow_config.h"
#include "hw_regs.h"
#include "session.h"

static void fill_filters(const struct kipt_session *session,
			 struct kipt_flow_config *config)
{
	u32 i;

	for (i = 0; i < session->nr_filters; i++) {
		config->filter[i].begin = session->filters[i].first;
		config->filter[i].last = session->filters[i].last;
		config->filter[i].stop =
			session->filters[i].kind == KIPT_FILTER_KIND_STOP;
	}
	config->filter_count = session->nr_filters;
}

void kipt_flow_config_fill(const struct kipt_session *session,
			   struct kipt_flow_config *config)
{
	config->tsc_num = session->caps.tsc_num;
	config->tsc_den = session->caps.tsc_den;
	config->mtc_freq = (session->ctl & RTIT_CTL_MTCFREQ) >>
			   RTIT_CTL_MTCFREQ_SHIFT;
	config->max_nonturbo_ratio = session->caps.max_nonturbo_ratio;
	config->no_tnt = session->ctl & RTIT_CTL_DISTNT;
	fill_filters(session, config);
}
