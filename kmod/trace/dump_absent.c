// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that was built with CONFIG_KIPT_CRASH=n has no pages for a dump to be read
 * by. In place of dump_page.c.
 */
#include "dump_page.h"

void kipt_dump_start(struct kipt_trace *trace) { }
void kipt_dump_running(struct kipt_trace *trace) { }

bool kipt_dump_is_stopped(const struct kipt_trace *trace)
{
	return false;
}

void kipt_dump_finish(struct kipt_trace *trace, const struct kipt_trace_result *result) { }
