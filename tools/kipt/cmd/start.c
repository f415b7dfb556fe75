// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt start: make a session that outlives this process, and start it.
 */
#include <signal.h>

#include "../cli/args.h"
#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/standard_output.h"
#include "../kernel/ctl_fields.h"
#include "../kernel/session_options.h"
#include "../record/map_recorder.h"

#include <json-c/json.h>

#define SIZE_DEFAULT	(4ULL << 20)

enum { OPTION_JSON = 1, OPTION_KEEP_CODE, OPTION_MAPS };

static const struct kipt_option options[] = {
	SETUP_OPTIONS("trace these CPUs, such as 2,3 or 0-3,6; all\n"
		      "that have PT unless given", "4M"),
	{ "maps", 0, OPTION_MAPS, "FILE",
	  "record in FILE what programs map until the session\n"
	  "has stopped, for 'kipt fetch --images FILE'" },
	{ "keep-code", 0, OPTION_KEEP_CODE, NULL, NULL },
	{ "json", 'j', OPTION_JSON, NULL, "print the id as JSON" },
	{ 0 }
};

static void started_json(const struct kipt_session *session)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "session");
	jsonl_number(line, "id", session->id);
	jsonl_text(line, "cpus", session->cpus);
	ranges_json(line, session->filter, session->filter_count);
	jsonl_print(line, stdout);
}

static void started(const struct kipt_session *session)
{
	char ctl[256], range[40];
	u32 i;

	ctl_format(session->ctl, ctl, sizeof(ctl));
	fprintf(stderr, "tracing CPUs %s, %llu KiB each, %s, %s",
		session->cpus, (unsigned long long)session->size >> 10,
		session_mode_name(session->mode), ctl);
	for (i = 0; i < session->filter_count; i++)
		fprintf(stderr, ", %s %s",
			range_option(session->filter[i].kind),
			range_text(&session->filter[i], range, sizeof(range)));
	if (session->pid)
		fprintf(stderr, ", process %u%s", session->pid,
			session->flags & KIPT_SESSION_FLAGS_FOLLOW_FORK ?
			" and those it makes" : "");
	fputc('\n', stderr);
}

/* A reader that has gone is one more that does not know. */
static bool printed(const struct kipt_session *session, bool json)
{
	signal(SIGPIPE, SIG_IGN);
	if (json)
		started_json(session);
	else
		printf("%u\n", session->id);
	if (output_flush(stdout))
		return false;
	if (!json)
		started(session);
	return true;
}

/* @maps: where it is recorded what programs map, or NULL. */
static int start(const struct setup *asked, const char *maps, bool json)
{
	struct map_recorder recorder = { .begin = -1 };
	struct genl *genl = genl_open(false);
	struct kipt_session session = { 0 };
	struct setup setup = *asked;
	struct kipt_info info;
	int exit = KIPT_EXIT_FAILED;

	if (!genl)
		return exit;
	if (!genl_info(genl, &info) && setup_ranges_now(&setup, &session) &&
	    (!maps || map_recorder_start(&recorder, maps, &info.caps))) {
		if (!setup.cpus)
			setup.cpus = info.online;
		exit = setup_session(genl, &setup, KIPT_SESSION_FLAGS_DETACHED,
				     &info, &session);
	}
	if (exit == KIPT_EXIT_DONE && !printed(&session, json)) {
		say_error("session %u is deleted again: nobody would know its number",
			  session.id);
		genl_session_delete(genl, session.id);
		exit = KIPT_EXIT_FAILED;
	}
	map_recorder_follow(&recorder, exit == KIPT_EXIT_DONE ? session.id : 0);
	genl_close(genl);
	return exit;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_start, .argc = argc, .argv = argv };
	struct setup setup = { .size = SIZE_DEFAULT, .mode = KIPT_MODE_RING };
	const char *maps = NULL;
	bool json = false;
	int id;

	while ((id = args_option(&args)) > 0) {
		if (setup_option(&setup, id, args.value) < 0)
			return KIPT_EXIT_USAGE;
		json |= id == OPTION_JSON;
		if (id == OPTION_KEEP_CODE)
			return args_bad(&args, "--keep-code is gone: --maps FILE records what programs map, and 'kipt fetch --images FILE' finds the code of those that ended there");
		if (id == OPTION_MAPS)
			maps = args.value;
	}
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 0, 0))
		return KIPT_EXIT_USAGE;
	if (setup.follow_fork && !setup.pid)
		return args_bad(&args, "--fork needs --pid: without it all processes are traced");
	return start(&setup, maps, json);
}

const struct kipt_verb verb_start = {
	.name = "start",
	.operands = "",
	.summary = "start tracing CPUs until 'kipt stop'",
	.about = "Makes a session on the CPUs, starts it and prints its id. It goes on after\n"
		 "kipt has ended, until 'kipt stop ID', and keeps its trace until\n"
		 "'kipt delete ID'. Needs CAP_PERFMON or CAP_SYS_ADMIN.",
	.examples = "  kipt start --cpus 2,3 --size 64M\n"
		    "  kipt start --cpus 0-7 --mode once --ctl OS,BranchEn,TSCEn\n"
		    "  kipt start --cpus 1 --ctl +PTWEn,+FUPonPTW,+PwrEvtEn\n"
		    "  kipt start --filter vfs_read --filter vfs_write\n"
		    "  kipt start --filter ext4 --stop-at ext4_handle_error\n"
		    "  kipt start --pid 1234 --filter libc.so.6:malloc\n"
		    "  kipt start --cpus 1 --maps t.maps",
	.options = options,
	.run = run,
};
