// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt stop: stop tracing; the trace stays.
 */
#include "../kernel/session_command.h"

static const struct kipt_option options[] = { { 0 } };

static int run(int argc, char **argv)
{
	return session_verb_run(&verb_stop, argc, argv, genl_session_stop);
}

const struct kipt_verb verb_stop = {
	.name = "stop",
	.operands = "ID",
	.summary = "stop tracing; the trace stays",
	.about = "Stops the session that 'kipt start' made. Its trace stays until\n"
		 "'kipt delete ID': 'kipt fetch ID' shows it.",
	.examples = "  kipt stop 1",
	.options = options,
	.run = run,
};
