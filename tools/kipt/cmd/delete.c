// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt delete: free a session, its buffers and CPUs.
 */
#include "../kernel/session_command.h"

static const struct kipt_option options[] = { { 0 } };

static int run(int argc, char **argv)
{
	return session_verb_run(&verb_delete, argc, argv, genl_session_delete);
}

const struct kipt_verb verb_delete = {
	.name = "delete",
	.operands = "ID",
	.summary = "free a session and its trace",
	.about = "Stops the session if it runs, frees its buffers and releases its CPUs.",
	.examples = "  kipt delete 1",
	.options = options,
	.run = run,
};
