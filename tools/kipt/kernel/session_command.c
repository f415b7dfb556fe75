// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the command line of a verb with one session to the kernel and back, see
 * session_command.h.
 */
#include "../cli/args.h"
#include "session_command.h"

int session_verb_run(const struct kipt_verb *verb, int argc, char **argv,
		     int (*act)(struct genl *genl, u32 id))
{
	struct args args = { .verb = verb, .argc = argc, .argv = argv };
	struct genl *genl;
	u32 session;
	int id, err;

	while ((id = args_option(&args)) > 0)
		;
	if (id < 0)
		return args_exit(id);
	if (!args_session(&args, &session))
		return KIPT_EXIT_USAGE;
	genl = genl_open(false);
	if (!genl)
		return KIPT_EXIT_FAILED;
	err = act(genl, session);
	genl_close(genl);
	return err ? KIPT_EXIT_FAILED : KIPT_EXIT_DONE;
}
