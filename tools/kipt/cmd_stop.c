// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt stop: stop tracing; the trace stays.
 */
#include "args.h"
#include "genl.h"

static const struct kipt_option options[] = { { 0 } };

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_stop, .argc = argc, .argv = argv };
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
	err = genl_session_stop(genl, session);
	genl_close(genl);
	return err ? KIPT_EXIT_FAILED : KIPT_EXIT_DONE;
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
