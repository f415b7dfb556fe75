// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt open: whatever file holds a trace, on one screen.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../cli/kipt.h"
#include "../cli/printable.h"
#include "../perf/perf_file.h"
#include "../records/record_file.h"
#include "again.h"
#include "decode_verb.h"

/* What was typed after "kipt open", as a shell would take it; empty: it is too
 * long to be shown.
 */
static char typed[AGAIN_ROOM];
static char again[AGAIN_ROOM + 32], packets[AGAIN_ROOM + 32];
static char shown[AGAIN_ROOM];

static void screen_settle(struct view_options *view, const char *path)
{
	bool records = record_file_begins(path);
	char file[AGAIN_ROOM] = "";

	if (view->mode_given || view->stats || view->hash || view->output)
		return;
	view->mode = VIEW_SCREEN;
	snprintf(shown, sizeof(shown), "%s", path);
	plain_text(shown);
	view->path = shown;
	if (!typed[0] || (*path == '-' && !again_add(file, sizeof(file), " --")) ||
	    !again_word(file, sizeof(file), path))
		return;
	/* The view comes before what was typed, where "--" may end the options. */
	snprintf(again, sizeof(again), "kipt %s", records ? "show" : "decode");
	snprintf(packets, sizeof(packets), "kipt packets%s", file);
	plain_text(typed);
	plain_text(packets);
	view->again = again;
	view->typed = typed;
	view->packets = records ? NULL : packets;
}

static int run(int argc, char **argv)
{
	again_typed(typed, sizeof(typed), argc, argv);
	return decode_verb_run(&verb_open, argc, argv, screen_settle);
}

const struct kipt_verb verb_open = {
	.name = "open",
	.operands = "FILE",
	.summary = "show what a trace holds on one screen: perf.data, raw, records",
	.about = "Says on one screen what was traced, how much of the time is lost and why, which\n"
		 "calls took longest, which functions are hot, and which commands show more. FILE\n"
		 "is a perf.data or raw trace, as for 'kipt decode', or records, as for 'kipt\n"
		 "show'. Needs no module, no PT and no privilege.\n"
		 "\n"
		 "Where the trace has times, functions are in the order of the time spent in\n"
		 "themselves, otherwise of the branches in them. With --calls, --branches, --insns,\n"
		 "--disasm, --counts, --totals, --lost, --slowest, --folded, --perfetto, --firefox,\n"
		 "--html, --drcov, --lcov, --bolt, --autofdo, --stats, --hash or -o it is 'kipt decode',\n"
		 "or 'kipt show'.\n"
		 "\n"
		 "Ctrl-C ends early and shows what was decoded until then.",
	.examples = "  kipt open perf.data\n"
		    "  kipt open perf.data --totals --top 20\n"
		    "  kipt open perf.data --html page.html\n"
		    "  kipt open perf.data --disasm --time 5ms,5.01ms\n"
		    "  kipt open saved/cpu1.pt --dir saved\n"
		    "  kipt open trace.rec --json",
	.options = decode_options,
	.run = run,
};
