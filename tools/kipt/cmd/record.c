// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt record: trace a command on the CPUs it may run on, then decode.
 */
#include <string.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "../record/record_run.h"

#define SIZE_DEFAULT	(16ULL << 20)

#define LINES_DEFAULT	40
#define LINES_MAX	100000

enum {
	OPTION_SAVE = 1,
	OPTION_ONLY,
	OPTION_KEEP,
	OPTION_SNAPSHOT,
	OPTION_RAW,
	OPTION_ON_CRASH,
	OPTION_LINES,
};

static const struct kipt_option options[] = {
	SETUP_OPTIONS("run the command on these CPUs and trace them;\n"
		      "unless given, all it may run on are traced, with\n"
		      "--pid all that have PT", "16M"),
	{ "save", 0, OPTION_SAVE, "DIR",
	  "keep in DIR what decoding elsewhere needs: cpuN.pt,\n"
	  "code pages of kernel and command, symbols, meta.json" },
	{ "raw", 0, OPTION_RAW, "DIR",
	  "write the raw trace to DIR/cpuN.pt, and meta.json,\n"
	  "besides what is shown; without code" },
	{ "only", 0, OPTION_ONLY, NULL,
	  "trace only the command's process, with --fork also\n"
	  "those it makes, and no other on its CPUs" },
	{ "keep", 0, OPTION_KEEP, NULL,
	  "keep the session, for 'kipt fetch', until deleted" },
	{ "snapshot", 0, OPTION_SNAPSHOT, NULL,
	  "with --pid: show the last trace at each SIGUSR2, and\n"
	  "trace on when it was shown; with -o trace.data it is\n"
	  "kept in trace.1.data, the next in trace.2.data" },
	{ "on-crash", 0, OPTION_ON_CRASH, NULL,
	  "show how a process of the command ended that was\n"
	  "killed by SIGSEGV, SIGABRT, SIGILL, SIGBUS or SIGFPE,\n"
	  "up to the instruction; nothing if none was. Traces\n"
	  "only the command's processes, and without --ctl only\n"
	  "their user code" },
	{ "lines", 0, OPTION_LINES, "N",
	  "with --on-crash: the last N lines, 1 to 100000; 40\n"
	  "unless given" },
	FETCH_OPTIONS,
	VIEW_OPTIONS,
	VIEW_NO_DISASM_OPTION,
	VIEW_TIME_OPTION,
	{ 0 }
};

static bool lines_option(struct recording *r, const char *value)
{
	u64 lines;

	if (!args_within("lines", value, 1, LINES_MAX, &lines))
		return false;
	r->lines = lines;
	return true;
}

static int options_take(struct recording *r, struct args *args)
{
	int id;

	while ((id = args_option(args)) > 0) {
		if (id == OPTION_SAVE)
			r->save = args->value;
		else if (id == OPTION_RAW)
			r->raw = args->value;
		else if (id == OPTION_ONLY)
			r->only = true;
		else if (id == OPTION_KEEP)
			r->keep = true;
		else if (id == OPTION_SNAPSHOT)
			r->snapshot = true;
		else if (id == OPTION_ON_CRASH)
			r->on_crash = true;
		else if (id == OPTION_LINES && !lines_option(r, args->value))
			return ARGS_BAD;
		else if (setup_option(&r->setup, id, args->value) < 0 ||
			 fetch_option(&r->fetch, id, args->value) < 0 ||
			 view_option(&r->view, id, args->value) < 0)
			return ARGS_BAD;
	}
	return id;
}

/* What --on-crash means for the rest; an enum kipt_exit. */
static int crash_settle(struct recording *r, const struct args *args)
{
	if (!r->on_crash && r->lines)
		return args_bad(args, "--lines needs --on-crash: 'tail -n N' shows the last lines of all that is shown");
	if (!r->on_crash)
		return KIPT_EXIT_DONE;
	if (r->setup.pid)
		return args_bad(args, "--on-crash watches the command, --pid traces another process: give one of them");
	if (r->setup.mode != KIPT_MODE_RING)
		return args_bad(args, "--on-crash needs the last trace there is: --mode once keeps the first");
	if (r->view.mode >= VIEW_COUNTS)
		return args_bad(args, "--%s has no end to be shown: give --on-crash or --%s",
				r->view.mode_name, r->view.mode_name);
	if (r->view.hash || r->view.stats)
		return args_bad(args, "--%s is of all that was traced, --on-crash shows its end: give one of them",
				r->view.hash ? "hash" : "stats");
	if (!r->lines)
		r->lines = LINES_DEFAULT;
	r->only = true;
	r->setup.follow_fork = true;
	if (!r->setup.ctl)
		r->setup.ctl = "-OS";
	return KIPT_EXIT_DONE;
}

/* What --snapshot goes with; an enum kipt_exit. */
static int snapshot_settle(const struct recording *r, const struct args *args)
{
	if (!r->snapshot)
		return KIPT_EXIT_DONE;
	if (!r->setup.pid || args->operands)
		return args_bad(args, "--snapshot is of a process that runs already, until it ends or Ctrl-C: give --pid and no command");
	if (r->setup.mode != KIPT_MODE_RING)
		return args_bad(args, "--snapshot needs the last trace there is: --mode once keeps the first");
	if (r->save || r->raw || r->keep)
		return args_bad(args, "--snapshot makes several traces, of which --%s keeps one: give -o FILE",
				r->save ? "save" : r->raw ? "raw" : "keep");
	if (r->view.output && !strcmp(r->view.output, "-"))
		return args_bad(args, "--snapshot makes several traces, which cannot all be in -o -: give -o FILE");
	return KIPT_EXIT_DONE;
}

/* An option that is for what decodes and shows; NULL: none was given. */
static const char *shows(const struct recording *r)
{
	const struct view_options *view = &r->view;

	return view->mode_given ? "a view" : view->stats ? "--stats" : view->hash ? "--hash" :
	       view->json ? "--json" : r->on_crash ? "--on-crash" :
	       view->max_depth ? "--max-depth" : view->no_fold ? "--no-fold" :
	       view->time ? "--time" : view->source ? "--source" : view->top_given ? "--top" :
	       view->kallsyms ? "--kallsyms" : view->maps ? "--maps" :
	       r->fetch.jobs ? "--jobs" : r->fetch.memory ? "--memory" :
	       r->fetch.cpus ? "--decode-cpus" : r->fetch.nice ? "--nice" : NULL;
}

/* What -o FILE.data means for the rest; an enum kipt_exit. */
static int perf_settle(struct recording *r, const struct args *args)
{
	const struct view_options *view = &r->view;
	const char *shown = shows(r);

	if (!perf_recording_is(view->output))
		return KIPT_EXIT_DONE;
	if (shown)
		return args_bad(args, "-o %s keeps the trace as perf does and shows nothing: leave %s out; 'kipt decode %s' shows it",
				view->output, shown, view->output);
	r->perf = view->output;
	r->view.output = NULL;
	return KIPT_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct recording r = {
		.setup = { .size = SIZE_DEFAULT, .mode = KIPT_MODE_RING },
	};
	struct args args = { .verb = &verb_record, .argc = argc, .argv = argv,
			     .first_operand_ends = true };
	int id = options_take(&r, &args);

	if (id < 0)
		return args_exit(id);
	if (!args.operands && !r.setup.pid)
		return args_bad(&args, "record needs a command: kipt record -- COMMAND [ARGUMENT]...");
	id = snapshot_settle(&r, &args);
	if (id == KIPT_EXIT_DONE)
		id = perf_settle(&r, &args);
	if (id == KIPT_EXIT_DONE)
		id = view_settle(&r.view) ? crash_settle(&r, &args) :
					    KIPT_EXIT_USAGE;
	if (id != KIPT_EXIT_DONE)
		return id;
	if (view_refuses_stretch(&r.view, &args, 0))
		return KIPT_EXIT_USAGE;
	if (r.only && r.setup.pid)
		return args_bad(&args, "--only traces the command, --pid another process: give one of them");
	if (r.setup.follow_fork && !r.only && !r.setup.pid)
		return args_bad(&args, "--fork needs --only or --pid: without them all processes are traced");
	/* Paths are named once, which is much smaller; 'kipt show' knows. */
	r.view.packed = r.view.output;
	if (args.operands)
		r.command = args.argv;
	args.argv[args.operands] = NULL;
	return recording_run(&r);
}

const struct kipt_verb verb_record = {
	.name = "record",
	.operands = "-- COMMAND [ARGUMENT]...",
	.summary = "trace a command, decode it and show it",
	.about = "Runs the command, traces the CPUs it may run on, the kernel included, and\n"
		 "shows what they did when it has ended. Its output and its input are its own.\n"
		 "Ctrl-C reaches the command; what was traced is still shown. The exit status is\n"
		 "the command's, 128 + N if signal N ended it, or 1 if tracing it failed. Needs\n"
		 "CAP_PERFMON or CAP_SYS_ADMIN.\n"
		 "\n"
		 "With --pid a process that runs already is traced, until it ends or Ctrl-C, or\n"
		 "for as long as the command runs, which is not traced then. With --snapshot too\n"
		 "kipt shows or keeps the last trace each time that kipt itself gets SIGUSR2, as\n"
		 "from a monitor that has seen a slow request, and then traces on.\n"
		 "\n"
		 "With -o FILE.data, a name that ends in .data, the trace is kept as perf record\n"
		 "keeps it, for perf script, perf report and 'kipt open'; nothing is shown. If the\n"
		 "kernel is traced, it is a folder, as of perf record --kcore.",
	.examples = "  kipt record -- gzip -k file | less\n"
		    "  kipt record --cpus 2 --size 64M --stats -- python3 -c 'print(1)'\n"
		    "  kipt record -o trace.rec -- ls && kipt show trace.rec --max-depth 8\n"
		    "  kipt record -o t.data -- ls && perf script -i t.data\n"
		    "  kipt record --save saved --stats -- ls\n"
		    "  kipt record --filter ./prog:parse -- ./prog file\n"
		    "  kipt record --only --filter vfs_read -- cat file\n"
		    "  kipt record --on-crash --source -- ./program\n"
		    "  kipt record --pid 1234 --ctl -OS -- sleep 1\n"
		    "  kipt record --pid 1234 --snapshot -o slow.data",
	.options = options,
	.run = run,
};
