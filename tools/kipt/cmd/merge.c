// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt merge: counts and totals of many traces, as one.
 */
#include <stdio.h>

#include "../cli/args.h"
#include "../view/merge.h"

#define TOP_DEFAULT	50

enum {
	OPTION_JSON = 1,
	OPTION_TOP,
};

static const struct kipt_option options[] = {
	{ "json", 'j', OPTION_JSON, NULL,
	  "JSON Lines, which can be merged again" },
	{ "top", 0, OPTION_TOP, "N",
	  "only the first N rows, 0: all; 50 unless given,\n"
	  "with --json all" },
	{ 0 }
};

static int files_merge(char **paths, int count, bool json, u32 top)
{
	struct merge merge = { 0 };
	int exit = KIPT_EXIT_DONE, i;

	for (i = 0; i < count && exit == KIPT_EXIT_DONE; i++) {
		if (!merge_file(&merge, paths[i]))
			exit = KIPT_EXIT_FAILED;
	}
	if (exit == KIPT_EXIT_DONE)
		merge_print(&merge, json, top, stdout);
	merge_free(&merge);
	return exit;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_merge, .argc = argc, .argv = argv };
	bool json = false, top_given = false;
	u64 top = 0;
	int id;

	while ((id = args_option(&args)) > 0) {
		if (id == OPTION_JSON) {
			json = true;
			continue;
		}
		top_given = true;
		if (!args_number(args.value, ~0U, &top))
			return args_bad(&args, "--top %s: a number of rows is meant, 0 for all",
					args.value);
	}
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 1, args.argc))
		return KIPT_EXIT_USAGE;
	if (!top_given && !json)
		top = TOP_DEFAULT;
	return files_merge(args.argv, args.operands, json, top);
}

const struct kipt_verb verb_merge = {
	.name = "merge",
	.operands = "FILE...",
	.summary = "add up counts or totals of many traces or parts",
	.about = "Adds up what --counts --json, or --totals --json, of 'kipt open', 'decode' and\n"
		 "'show' wrote to files, of several traces or of the parts of one (--part). '-' is\n"
		 "standard input, of which only the end is checked for being whole. With --json the\n"
		 "sum is such a file, too. Files may come in any order, and in any groups whose sums\n"
		 "are added: the output is the same, byte for byte. Needs no module, no PT and no\n"
		 "privilege.\n"
		 "\n"
		 "Branches, calls, times and gaps are added; of longest calls the longest remains.\n"
		 "Rows are added up if their names, addresses and processes are the same. A call that\n"
		 "begins in one part and ends in a later one is counted once, in the part where it\n"
		 "begins; its time after the cut is in no total, nor in the longest call. The summary\n"
		 "has the number of such calls. No file says which part it is of: whoever leaves one\n"
		 "out, or adds one twice, gets another sum.\n"
		 "\n"
		 "Nothing is shown, and the exit status is 1, if a file is damaged or not whole, is of\n"
		 "a decode that failed or was interrupted, has rows left out by --top, is of another\n"
		 "view or of another frequency of the TSC than those before, or if a sum is larger\n"
		 "than 64 bits.",
	.examples = "  kipt merge part1.json part2.json --top 20\n"
		    "  kipt merge machine*.json --json >all.json",
	.options = options,
	.run = run,
};
