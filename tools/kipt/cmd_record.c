// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt record: trace a command on the CPUs it may run on, then decode.
 */
#include "args.h"
#include "recording.h"

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
		 "CAP_PERFMON or CAP_SYS_ADMIN.",
	.examples = "  kipt record -- gzip -k file | less\n"
		    "  kipt record --cpus 2 --size 64M --stats -- python3 -c 'print(1)'\n"
		    "  kipt record -o trace.rec -- ls && kipt show trace.rec --max-depth 8\n"
		    "  kipt record --save saved --stats -- ls",
	.options = options,
	.run = run,
};
