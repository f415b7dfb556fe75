// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt diff: two traces, function by function.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../cli/printable.h"
#include "../cli/standard_output.h"
#include "../offline/perf_decode.h"
#include "../perf/perf_file.h"
#include "../records/record_file.h"
#include "../view/profile_diff.h"
#include "decode_verb.h"

#define NOISE_DEFAULT	10
#define TOP_DEFAULT	20

enum {
	OPTION_NOISE = 1,
};

static const struct kipt_option options[] = {
	{ "noise", 0, OPTION_NOISE, "PERCENT",
	  "changes up to PERCENT of the larger number, and up\n"
	  "to a hundredth of that of the whole run, are none;\n"
	  "10 unless given, 0: each change is shown" },
	{ "top", 0, VIEW_OPTION_TOP, "N",
	  "only the first N functions, 0: all; 20 unless\n"
	  "given, with --json and --html all" },
	{ "json", 'j', VIEW_OPTION_JSON, NULL,
	  "JSON Lines for scripts, see kipt(1)" },
	{ "html", 0, VIEW_OPTION_HTML, "OUT",
	  "write OUT, a page for a browser: the same as a table\n"
	  "to sort and search, of all functions without --top" },
	{ "time", 't', VIEW_OPTION_TIME, "FROM,TO",
	  "only what happened in that stretch of both, as\n"
	  "5ms,6.5ms or 5ms, or ,6.5ms" },
	{ "cpu", 0, VIEW_OPTION_CPU, "LIST",
	  "only these CPUs of both, as 0-3,6" },
	{ "pid", 0, VIEW_OPTION_PID, "LIST",
	  "only these processes, numbers of either with commas" },
	{ "tid", 0, VIEW_OPTION_TID, "LIST",
	  "only these threads of either" },
	{ "comm", 0, VIEW_OPTION_COMM, "NAME",
	  "only threads of processes that had this name last" },
	{ "sym", 0, VIEW_OPTION_SYM, "NAME[,NAME]",
	  "only calls of these functions and what they call" },
	{ "kallsyms", 0, VIEW_OPTION_KALLSYMS, "FILE",
	  "kernel symbols from a copy of /proc/kallsyms" },
	DECODE_PERF_OPTIONS,
	DECODE_JOBS_OPTION,
	{ 0 }
};

/* @run: whose profile comes. */
struct runs {
	struct view_options view;
	struct perf_decode decode;
	struct profile_diff diff;
	char *symfs;
	u32 run;
	bool failed;
};

static bool noise_option(struct runs *runs, const char *value)
{
	char *end;

	runs->diff.noise = strtod(value, &end);
	if (isdigit((unsigned char)value[0]) && !*end && runs->diff.noise <= 100)
		return true;
	say_error("--noise %s: a percentage is meant, 0 to 100", value);
	return false;
}

static int option_take(struct runs *runs, int id, const char *value)
{
	int taken = view_option(&runs->view, id, value);

	if (taken)
		return taken < 0 ? KIPT_EXIT_USAGE : KIPT_EXIT_DONE;
	switch (id) {
	case OPTION_NOISE:
		return noise_option(runs, value) ? KIPT_EXIT_DONE : KIPT_EXIT_USAGE;
	case DECODE_OPTION_JOBS:
		return jobs_option(&runs->decode.jobs, value) ? KIPT_EXIT_DONE :
								KIPT_EXIT_USAGE;
	case DECODE_OPTION_SYMFS:
		return symfs_option(&runs->symfs, value) ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
	case DECODE_OPTION_VMLINUX:
		runs->decode.vmlinux = value;
		break;
	case DECODE_OPTION_NO_DEMANGLE:
		runs->decode.demangle = false;
	}
	return KIPT_EXIT_DONE;
}

static void collect(void *ctx, struct view *view, const struct profile *profile)
{
	struct runs *runs = ctx;

	if (!profile_diff_add(&runs->diff, runs->run, view, profile))
		runs->failed = true;
}

static bool recording_read(const struct runs *runs, const char *path,
			   struct view_options *view)
{
	struct perf_decode decode = runs->decode;
	struct maps maps = { 0 };
	bool ok;

	decode.path = path;
	decode.symfs = runs->symfs;
	decode.demangle &= !view->json;
	decode.image = image_create();
	decode.image_maps = &maps;
	if (!decode.image)
		return false;
	ok = perf_decode(&decode, view);
	image_destroy(decode.image);
	maps_free(&maps);
	return ok;
}

static bool records_read(const struct runs *runs, const char *path,
			 struct view_options *view)
{
	if (!runs->symfs && !runs->decode.vmlinux)
		return show_file(path, view) == KIPT_EXIT_DONE;
	say_error("%s holds records: --symfs and --vmlinux are for perf.data", path);
	return false;
}

/* Neither of both; a sentence says why. */
static void unknown_say(const char *path)
{
	int fd = file_open_tell(path);

	if (fd < 0)
		return;
	close(fd);
	say_error("%s is neither a perf.data nor a file of records; 'kipt decode %s -o FILE' makes records of a raw trace",
		  path, path);
}

static bool run_read(struct runs *runs, u32 run, const char *path)
{
	struct view_options view = runs->view;
	bool ok = false;

	runs->run = run;
	if (perf_file_is(path))
		ok = recording_read(runs, path, &view);
	else if (record_file_begins(path))
		ok = records_read(runs, path, &view);
	else
		unknown_say(path);
	if (runs->failed)
		say_errno(ENOMEM, "cannot compare the functions");
	return ok && !runs->failed;
}

static bool runs_show(struct runs *runs, char **paths, struct fresh_file *file)
{
	u32 i;

	profile_diff_settle(&runs->diff);
	for (i = 0; i < 2; i++)
		plain_text(paths[i]);
	if (runs->view.html && !fresh_begin(file))
		return false;
	if (!view_diff_print(&runs->diff, &runs->view, paths, file->out)) {
		say_errno(ENOMEM, "cannot show what differs");
		return false;
	}
	if (output_flush(file->out))
		fresh_failed(file);
	return true;
}

static int runs_compare(struct runs *runs, char **paths)
{
	struct fresh_file file = { .out = stdout };
	bool ok;

	runs->view.mode = VIEW_TOTALS;
	runs->view.mode_given = true;
	runs->view.collect = collect;
	runs->view.collect_ctx = runs;
	if (!runs->view.top_given) {
		runs->view.top = runs->view.json || runs->view.html ? 0 : TOP_DEFAULT;
		runs->view.top_given = true;
	}
	if (runs->view.html && runs->view.json) {
		say_error("--html writes a file of its own: --json does not go with it");
		return KIPT_EXIT_USAGE;
	}
	if (runs->view.html && !fresh_open(&file, runs->view.html))
		return KIPT_EXIT_FAILED;
	ok = run_read(runs, 0, paths[0]) && run_read(runs, 1, paths[1]) &&
	     runs_show(runs, paths, &file);
	if (runs->view.html)
		ok &= fresh_close(&file);
	return ok ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_diff, .argc = argc, .argv = argv };
	struct runs runs = {
		.decode = { .jobs = jobs_default(), .demangle = true },
		.diff.noise = NOISE_DEFAULT,
	};
	int id, exit = KIPT_EXIT_DONE;

	while (exit == KIPT_EXIT_DONE && (id = args_option(&args)) > 0)
		exit = option_take(&runs, id, args.value);
	if (exit == KIPT_EXIT_DONE && id < 0)
		exit = args_exit(id);
	else if (exit == KIPT_EXIT_DONE && !args_operands(&args, 2, 2))
		exit = KIPT_EXIT_USAGE;
	else if (exit == KIPT_EXIT_DONE)
		exit = runs_compare(&runs, args.argv);
	profile_diff_free(&runs.diff);
	narrow_free(&runs.view.narrow);
	free(runs.symfs);
	return exit;
}

const struct kipt_verb verb_diff = {
	.name = "diff",
	.operands = "FILE-A FILE-B",
	.summary = "compare two traces, function by function",
	.about = "Shows the functions whose calls, instructions or time differ between two runs, what\n"
		 "changed most first: by the time in themselves, then by the time of their calls,\n"
		 "instructions and calls. Each number has both values and the change. A and B\n"
		 "are each a perf.data or a file of records, as 'kipt open' takes them. Needs\n"
		 "no module, no PT and no privilege.\n"
		 "\n"
		 "A function is the same if the build id of its file and its name are; of two builds\n"
		 "the file's name counts. Processes are added up. What is lost in gaps is in no\n"
		 "number; the head says how much that is, and a '?' which differences it may explain.\n"
		 "If either has no times, calls and instructions are compared.\n"
		 "\n"
		 "The exit status is 0 whether anything differs or not.",
	.examples = "  kipt diff before.data after.data\n"
		    "  kipt diff before.data after.data --comm gzip --noise 2\n"
		    "  kipt diff before.data after.data --html changes.html\n"
		    "  kipt diff a.rec b.rec --json | jq -r 'select(.type==\"change\").symbol'",
	.options = options,
	.run = run,
};
