// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt status: one session or all of them.
 */
#include "../cli/args.h"
#include "../kernel/genl.h"
#include "../kernel/session_show.h"

enum { OPTION_JSON = 1 };

static const struct kipt_option options[] = {
	{ "json", 'j', OPTION_JSON, NULL, "one line of JSON for each session" },
	{ 0 }
};

static void found(void *ctx, const struct kipt_session *session)
{
	if (*(bool *)ctx)
		session_show_json(session);
	else
		session_show(session);
}

/* @id: 0: all of them */
static int status(u32 id, bool json)
{
	struct genl *genl = genl_open(false);
	struct kipt_session session;
	int err;

	if (!genl)
		return KIPT_EXIT_FAILED;
	if (id) {
		err = genl_session_get(genl, id, &session);
		if (!err) {
			found(&json, &session);
			session_free(&session);
		}
	} else {
		err = genl_session_each(genl, found, &json);
	}
	genl_close(genl);
	return err ? KIPT_EXIT_FAILED : KIPT_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_status, .argc = argc,
			     .argv = argv };
	bool json = false;
	u32 session = 0;
	int id;

	while ((id = args_option(&args)) > 0)
		json = true;
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 0, 1))
		return KIPT_EXIT_USAGE;
	if (args.operands && !args_session(&args, &session))
		return KIPT_EXIT_USAGE;
	return status(session, json);
}

const struct kipt_verb verb_status = {
	.name = "status",
	.operands = "[ID]",
	.summary = "show one session or all of them",
	.about = "Shows the state of a session, of each of its CPUs and of their buffers.\n"
		 "Without ID it shows all sessions, and nothing if there are none.",
	.examples = "  kipt status\n"
		    "  kipt status 1 --json",
	.options = options,
	.run = run,
};
