// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt packets: the packets of a trace, one a line. No code is needed.
 */
#include "../cli/args.h"
#include "../cli/progress.h"
#include "../offline/perf_list.h"
#include "../perf/perf_file.h"
#include "../view/packet_list.h"

enum { OPTION_JSON = 1, OPTION_NO_SYNC };

static const struct kipt_option options[] = {
	{ "json", 'j', OPTION_JSON, NULL, "JSON Lines for scripts, see kipt(1)" },
	{ "no-sync", 0, OPTION_NO_SYNC, NULL,
	  "begin at the first byte, not at the first PSB" },
	{ 0 }
};

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_packets, .argc = argc,
			     .argv = argv };
	bool json = false, sync = true;
	int id;

	while ((id = args_option(&args)) > 0) {
		if (id == OPTION_JSON)
			json = true;
		else
			sync = false;
	}
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 1, 1))
		return KIPT_EXIT_USAGE;
	if (perf_file_is(args.argv[0]) && !sync)
		return args_bad(&args, "--no-sync: the trace of a perf.data is made to begin at a PSB");
	progress_lines(true);
	if (perf_file_is(args.argv[0]))
		return perf_list(args.argv[0], json) ? KIPT_EXIT_DONE :
						  KIPT_EXIT_FAILED;
	return packet_list(args.argv[0], json, sync) ? KIPT_EXIT_DONE :
						  KIPT_EXIT_FAILED;
}

const struct kipt_verb verb_packets = {
	.name = "packets",
	.operands = "FILE",
	.summary = "list the packets of a raw trace",
	.about = "Lists the packets of raw Intel PT bytes, one a line: offset, name as in the\n"
		 "manual, payload, IPs after decompression. After bytes that are no packet it\n"
		 "goes on at the next PSB and says how many bytes were passed over. Needs no\n"
		 "module, no PT and no privilege.\n"
		 "\n"
		 "FILE may also be a perf.data that 'perf record -e intel_pt//' made: the packets\n"
		 "of each CPU or thread are listed, one after the other.",
	.examples = "  kipt packets saved/cpu1.pt | head -50\n"
		    "  kipt packets saved/cpu1.pt --json | grep '\"PTW\"'\n"
		    "  kipt packets perf.data",
	.options = options,
	.run = run,
};
