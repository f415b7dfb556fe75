// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt record: trace a command on the CPUs it may run on, then decode.
 */
#include <unistd.h>

#include "args.h"
#include "child.h"
#include "cpus.h"
#include "fetch.h"
#include "raw.h"
#include "save.h"
#include "say.h"
#include "setup.h"

#define SIZE_DEFAULT	(16ULL << 20)

enum { OPTION_SAVE = 1 };

static const struct kipt_option options[] = {
	SETUP_OPTIONS("run the command on these CPUs and trace them;\n"
		      "unless given, all it may run on are traced"),
	{ "save", 0, OPTION_SAVE, "DIR",
	  "keep in DIR what decoding elsewhere needs: cpuN.pt,\n"
	  "code pages of kernel and command, symbols, meta.json" },
	VIEW_OPTIONS,
	{ 0 }
};

struct recording {
	struct setup setup;
	struct view_options view;
	const char *save;
	char **command;
	struct genl *genl;
	struct kipt_info info;
	struct kipt_session session;
	struct output output;
	struct child child;
	char cpus[KIPT_CPUS_TEXT];
	bool save_failed;
};

static void command_exiting(void *ctx, pid_t tid, pid_t pid)
{
	struct recording *r = ctx;

	/* The last thread of a process is the one that still has it all. */
	if (r->save && !save_user(r->save, &r->output.maps, tid, pid,
				  pid == r->child.pid))
		r->save_failed = true;
}

/* What the trace needs beside the records; the session is stopped. */
static bool saved(struct recording *r)
{
	char path[4096];
	struct kipt_session session;
	bool ok;

	if (!r->save)
		return true;
	if (genl_session_get(r->genl, r->session.id, &session))
		return false;
	snprintf(path, sizeof(path), "%s/maps", r->save);
	ok = raw_save(&session, -1, r->save) && save_kernel(r->save) &&
	     save_meta(r->save, &r->info, &session, r->command) &&
	     maps_save(&r->output.maps, path);
	session_free(&session);
	return ok && !r->save_failed;
}

/* Trace the command; its exit status, or -1 after a sentence. */
static int traced_run(struct recording *r)
{
	bool pinned = r->setup.cpus;
	int status;

	if (!pinned) {
		if (!cpus_own(r->info.online, r->cpus, sizeof(r->cpus)))
			return -1;
		r->setup.cpus = r->cpus;
	}
	r->child.maps = &r->output.maps;
	r->child.exiting = command_exiting;
	r->child.ctx = r;
	if (!child_create(&r->child, r->command,
			  pinned ? r->setup.cpus : NULL))
		return -1;
	if (setup_session(r->genl, &r->setup, KIPT_SESSION_FLAGS_KEEP_MM,
			  &r->info, &r->session) != KIPT_EXIT_DONE) {
		child_abandon(&r->child);
		return -1;
	}
	status = child_run(&r->child, r->command[0]);
	if (genl_session_stop(r->genl, r->session.id))
		return -1;
	return status;
}

static int recorded(struct recording *r)
{
	int status = traced_run(r);
	bool ok = status >= 0;

	if (ok && status)
		say_note("'%s' ended with status %d", r->command[0], status);
	r->output.view.tsc_khz = r->info.caps.tsc_khz;
	ok = ok && saved(r);
	ok = ok && fetch_run(r->genl, r->session.id, -1, &r->output);
	if (r->session.id)
		genl_session_delete(r->genl, r->session.id);
	return ok ? status : -1;
}

static int record(struct recording *r)
{
	int status = -1;

	r->genl = genl_open(false);
	if (!r->genl)
		return KIPT_EXIT_FAILED;
	if (!genl_info(r->genl, &r->info) &&
	    (!r->save || save_folder(r->save)) &&
	    output_open(&r->output, &r->view, true)) {
		status = recorded(r);
		if (!output_close(&r->output))
			status = -1;
	}
	genl_close(r->genl);
	return status < 0 ? KIPT_EXIT_FAILED : status;
}

static int run(int argc, char **argv)
{
	struct recording r = {
		.setup = { .size = SIZE_DEFAULT, .mode = KIPT_MODE_RING },
		.command = argv,
	};
	struct args args = { .verb = &verb_record, .argc = argc, .argv = argv,
			     .first_operand_ends = true };
	int id;

	while ((id = args_option(&args)) > 0) {
		if (id == OPTION_SAVE)
			r.save = args.value;
		else if (setup_option(&r.setup, id, args.value) < 0 ||
			 view_option(&r.view, id, args.value) < 0)
			return KIPT_EXIT_USAGE;
	}
	if (id < 0)
		return args_exit(id);
	if (!args.operands)
		return args_bad(&args, "record needs a command: kipt record -- COMMAND [ARGUMENT]...");
	argv[args.operands] = NULL;
	return record(&r);
}

const struct kipt_verb verb_record = {
	.name = "record",
	.operands = "-- COMMAND [ARGUMENT]...",
	.summary = "trace a command, decode it and show it",
	.about = "Runs the command, traces the CPUs it may run on, the kernel included, and\n"
		 "shows what they did when it has ended. Its output and its input are its own.\n"
		 "Ctrl-C reaches the command; what was traced is still shown. The exit status is\n"
		 "the command's, 128 + N if signal N ended it, or 1 if tracing it failed. Needs\n"
		 "CAP_PERFMON or CAP_SYS_ADMIN.",
	.examples = "  kipt record -- gzip -k file | less\n"
		    "  kipt record --cpus 2 --size 64M --stats -- python3 -c 'print(1)'\n"
		    "  kipt record -o trace.rec -- ls && kipt show trace.rec --max-depth 8\n"
		    "  kipt record --save saved --stats -- ls",
	.options = options,
	.run = run,
};
