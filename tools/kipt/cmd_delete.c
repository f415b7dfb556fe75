// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt delete: free a session, its buffers and CPUs.
 */
#include "args.h"
#include "genl.h"

static const struct kipt_option options[] = { { 0 } };

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_delete, .argc = argc,
			     .argv = argv };
	struct genl *genl;
	u64 session;
	int id, err;

	while ((id = args_option(&args)) > 0)
		;
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 1, 1))
		return KIPT_EXIT_USAGE;
	if (!args_number(argv[0], ~0U, &session))
		return args_bad(&args, "'%s' is no session id", argv[0]);
	genl = genl_open(false);
	if (!genl)
		return KIPT_EXIT_FAILED;
	err = genl_session_delete(genl, session);
	genl_close(genl);
	return err ? KIPT_EXIT_FAILED : KIPT_EXIT_DONE;
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
