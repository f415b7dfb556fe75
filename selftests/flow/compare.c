// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare TRUTH RECORDS: is what was decoded what the CPU executed? This file
 * owns the options, the report and the exit status; match.c compares. Runs in
 * user space on the host.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "match.h"

#define CONTEXT_BEFORE	6
#define CONTEXT_AFTER	3

static const char usage[] =
"usage: compare [OPTION...] TRUTH RECORDS\n"
"\n"
"Compares the ground truth of one vCPU with the decoded records of that CPU,\n"
"transfer for transfer, and prints the first difference.\n"
"\n"
"  --cpu N       records of CPU N only: those after its KIPT_RECORD_CPU\n"
"  --run N       only what is between the Nth setting of TraceEn and the next\n"
"  --ctl N       only runs with PSBFreq and CycThresh of this IA32_RTIT_CTL\n"
"  --ring        the oldest trace may be missing\n"
"  --early-end   the newest may be: the buffer was full, the CPU went offline\n"
"  --based FIRST-LAST  code segments of these addresses do not begin at 0, and\n"
"                the records have offsets in them, whose code is not found\n"
"  --no-code     code may be missing, and a lot of it\n"
"  --patched     text was patched meanwhile: any gap is allowed, nothing wrong is\n"
"  --negative    also change the truth and see that it is found\n"
"  --help        this text\n"
"\n"
"Exit status: 0 equal, 1 they differ or a change was not found, 2 usage or\n"
"unreadable file.\n";

struct arguments {
	struct match_options match;
	const char *truth;
	const char *records;
	int cpu;
	int run;
	uint64_t ctl;
	uint64_t based_first;
	uint64_t based_last;
	bool negative;
};

static void print_item(const char *mark, const struct flow_item *item)
{
	if (item->kind == FLOW_END) {
		printf("%s %10zu  end\n", mark, item->index);
		return;
	}
	if (item->kind == FLOW_GAP) {
		printf("%s %10zu  gap: %s\n", mark, item->index,
		       match_gap_name(item->aux));
		return;
	}
	printf("%s %10zu  %-9s %016" PRIx64 " -> %016" PRIx64 " aux %x%s\n",
	       mark, item->index, flow_kind_name(item->kind), item->from,
	       item->to, item->aux, item->flags ? " (partial)" : "");
}

/* The items of a file around the entry @index. */
static void print_context(const char *title, struct flow_cursor cursor,
			  struct flow_item (*next)(struct flow_cursor *),
			  const struct flow_item *at)
{
	struct flow_item ring[CONTEXT_BEFORE];
	unsigned int n = 0, i, after = 0;
	struct flow_item item;

	printf("%s:\n", title);
	for (item = next(&cursor); item.index < at->index &&
	     item.kind != FLOW_END; item = next(&cursor))
		ring[n++ % CONTEXT_BEFORE] = item;
	for (i = n < CONTEXT_BEFORE ? 0 : n - CONTEXT_BEFORE; i < n; i++)
		print_item("     ", &ring[i % CONTEXT_BEFORE]);
	print_item("  -->", &item);
	while (item.kind != FLOW_END && after++ < CONTEXT_AFTER) {
		item = next(&cursor);
		print_item("     ", &item);
	}
}

static void print_gaps(const struct match_result *result)
{
	unsigned int kind;
	uint64_t all = 0;

	for (kind = 0; kind < MATCH_GAP_KINDS; kind++)
		all += result->gaps[kind];
	printf("gaps: %" PRIu64, all);
	for (kind = 0; kind < MATCH_GAP_KINDS; kind++)
		if (result->gaps[kind])
			printf(", %s %" PRIu64, match_gap_name(kind),
			       result->gaps[kind]);
	printf("; transfers in gaps: %" PRIu64 "; after the last record: %"
	       PRIu64 "\n", result->missed, result->tail);
}

static void print_result(const struct match_result *result)
{
	unsigned int kind;

	printf("%s: %" PRIu64 " transfers",
	       result->equal ? "equal" : "matched before the difference",
	       result->branches);
	for (kind = FLOW_COND; kind < FLOW_KIND_COUNT; kind++)
		if (result->compared[kind])
			printf(", %s %" PRIu64, flow_kind_name(kind),
			       result->compared[kind]);
	printf("\nin a known address space: %" PRIu64 "\n", result->spaces);
	print_gaps(result);
}

static int compare(const struct arguments *args, struct flow_cursor truth,
		   struct flow_cursor records)
{
	static struct match_result result;
	unsigned int missed, made;

	match_run(&result, truth, records, &args->match);
	print_result(&result);
	if (!result.equal) {
		printf("first difference: %s\n", result.why);
		print_context("truth", truth, flow_truth_next, &result.truth);
		print_context("records", records, flow_record_next,
			      &result.record);
		return 1;
	}
	if (!result.branches && !result.compared[FLOW_ENABLE] &&
	    !result.compared[FLOW_PTWRITE] && !result.compared[FLOW_IDLE]) {
		printf("nothing was compared\n");
		return 1;
	}
	if (!args->negative)
		return 0;
	missed = control_run(truth, records, &args->match, &result, &made);
	printf("controls: %u not found of %u\n", missed, made);
	/* Without a change nobody knows that one would be found. */
	return missed || !made;
}

static bool truth_select(const struct arguments *args, struct flow_file *file)
{
	if (args->ctl)
		return flow_select_ctl(file, args->ctl);
	return !args->run || flow_select_run(file, (unsigned int)args->run);
}

static int run(const struct arguments *args)
{
	struct flow_file truth_file, record_file;
	struct flow_cursor truth = {
		.file = &truth_file,
		.cpu = -1,
		.based_first = args->based_first,
		.based_last = args->based_last,
	};
	struct flow_cursor records = {
		.file = &record_file,
		.cpu = args->cpu,
	};
	int status = 2;

	if (!flow_open_truth(&truth_file, args->truth))
		return status;
	if (truth_select(args, &truth_file) &&
	    flow_open_records(&record_file, args->records)) {
		status = compare(args, truth, records);
		flow_close(&record_file);
	}
	flow_close(&truth_file);
	return status;
}

static bool parse_number(const char *option, const char *text, int *number)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end || end == text || value < 0 || value > 65535) {
		fprintf(stderr,
			"compare: %s '%s' is no number from 0 to 65535\n",
			option, text);
		return false;
	}
	*number = (int)value;
	return true;
}

static bool parse_based(struct arguments *args, const char *text)
{
	int len = 0;

	args->match.no_code = sscanf(text, "%" SCNx64 "-%" SCNx64 "%n",
				     &args->based_first, &args->based_last,
				     &len) == 2 && len && !text[len] &&
			      args->based_first <= args->based_last;
	if (!args->match.no_code)
		fprintf(stderr, "compare: --based '%s' is not FIRST-LAST in hexadecimal\n",
			text);
	return args->match.no_code;
}

static const struct option options[] = {
	{ "cpu", required_argument, NULL, 'c' },
	{ "run", required_argument, NULL, 'R' },
	{ "ctl", required_argument, NULL, 'C' },
	{ "ring", no_argument, NULL, 'r' },
	{ "early-end", no_argument, NULL, 'e' },
	{ "based", required_argument, NULL, 'b' },
	{ "no-code", no_argument, NULL, 'm' },
	{ "patched", no_argument, NULL, 'p' },
	{ "negative", no_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static bool take_option(struct arguments *args, int option)
{
	switch (option) {
	case 'c':
		return parse_number("--cpu", optarg, &args->cpu);
	case 'R':
		return parse_number("--run", optarg, &args->run);
	case 'C':
		args->ctl = strtoull(optarg, NULL, 0);
		return true;
	case 'r':
		args->match.late_start = true;
		return true;
	case 'e':
		args->match.early_end = true;
		return true;
	case 'b':
		return parse_based(args, optarg);
	case 'm':
		args->match.no_code = true;
		return true;
	case 'p':
		args->match.all_gaps = true;
		return true;
	case 'n':
		args->negative = true;
		return true;
	default:
		fputs(usage, stderr);
		return false;
	}
}

int main(int argc, char **argv)
{
	struct arguments args = { .cpu = -1 };
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!take_option(&args, option))
			return 2;
	}
	if (argc - optind != 2) {
		fputs(usage, stderr);
		return 2;
	}
	args.truth = argv[optind];
	args.records = argv[optind + 1];
	return run(&args);
}
