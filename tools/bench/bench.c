// SPDX-License-Identifier: GPL-2.0-only
/*
 * The benchmark's program: options, traces one after the other, the report.
 * Leaves measuring to measure.c. User space.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"
#include "report.h"

static const char usage_text[] =
	"usage: bench [OPTION]... DIR/NAME...\n"
	"       bench [OPTION]... --judge FILE\n"
	"\n"
	"Measures the decoder on traces: DIR/NAME.pt with DIR/NAME.addr, .dump and,\n"
	"for the CPU's clock, .json.\n"
	"\n"
	"  --modes LIST   these modes only, separated by commas\n"
	"  --rounds N     in each round everything is measured once, 3 unless given;\n"
	"                 fewer prove nothing\n"
	"  --judge FILE   measure nothing: judge the lines that were printed before\n"
	"  --work DIR     folder for files of its own, . unless given\n"
	"  --report-only  neither missing a target nor noise is a failure\n"
	"  --scale X      all targets times X: 0 cannot be missed\n"
	"  --flip OFFSET  flip a bit of this byte of the trace when it is known what\n"
	"                 the trace holds: all comparisons must fail then\n"
	"  --help         this text\n"
	"\n"
	"Exit status: 0 done; 1 a target was missed, or something was decoded\n"
	"wrongly; 2 wrong usage; 3 too noisy to judge: nothing is proved.\n";

struct options {
	struct bench_plan plan;
	const char *work;
	const char *flip;
	const char *judge;
	double scale;
	bool report_only;
};

static int usage(void)
{
	fputs(usage_text, stderr);
	return 2;
}

static bool mode_add(unsigned int *modes, const char *name)
{
	int mode = bench_mode_find(name);

	if (mode >= 0) {
		*modes |= 1U << mode;
		return true;
	}
	fprintf(stderr, "bench: '%s' is no mode; modes are", name);
	for (mode = 0; mode < BENCH_MODES; mode++)
		fprintf(stderr, " %s", bench_modes[mode].name);
	fputs("\n", stderr);
	return false;
}

static bool modes_parse(unsigned int *modes, char *list)
{
	char *name;

	*modes = 0;
	for (name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (!mode_add(modes, name))
			return false;
	}
	return true;
}

static bool options_parse(struct options *options, int argc, char **argv)
{
	static const struct option names[] = {
		{ "modes", required_argument, NULL, 'm' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "judge", required_argument, NULL, 'j' },
		{ "work", required_argument, NULL, 'w' },
		{ "report-only", no_argument, NULL, 'o' },
		{ "scale", required_argument, NULL, 's' },
		{ "flip", required_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	int id;

	while ((id = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		switch (id) {
		case 'm':
			if (!modes_parse(&options->plan.modes, optarg))
				return false;
			break;
		case 'r':
			options->plan.rounds = atoi(optarg);
			break;
		case 'j':
			options->judge = optarg;
			break;
		case 'w':
			options->work = optarg;
			break;
		case 's':
			options->scale = atof(optarg);
			break;
		case 'f':
			options->flip = optarg;
			break;
		case 'o':
			options->report_only = true;
			break;
		default:
			return false;
		}
	}
	return options->plan.rounds > 0 &&
	       options->plan.rounds <= BENCH_ROUNDS_MOST &&
	       (optind < argc) == !options->judge;
}

/* Leaves out what is compared with a core that is not linked, and says so. */
static void modes_leave_out(unsigned int *modes)
{
	const char *before = "# not measured: ";
	int mode;

	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (!(*modes & 1U << mode) ||
		    bench_core_is_here(bench_ways[bench_modes[mode].peer].core))
			continue;
		*modes &= ~(1U << mode);
		printf("%s%s", before, bench_modes[mode].name);
		before = ", ";
	}
	if (before[0] == ',')
		printf(": git had no commit 1617e1e when this program was built\n");
}

static bool trace_measure(const char *path, const struct options *options,
			  int number, int count)
{
	struct bench_trace trace;
	bool good;

	fprintf(stderr, "bench: %s (%d of %d)\n", path, number, count);
	if (!bench_trace_load(&trace, path, options->work))
		return false;
	good = (!options->flip ||
		bench_trace_flip(&trace, strtoull(options->flip, NULL, 0))) &&
	       bench_measure(&trace, &options->plan);
	bench_trace_free(&trace);
	return good;
}

static int exit_status(bool right, enum bench_verdict verdict,
		       bool report_only)
{
	if (!right)
		return 1;
	if (report_only || verdict == BENCH_MET)
		return 0;
	return verdict == BENCH_NOISY ? 3 : 1;
}

int main(int argc, char **argv)
{
	struct options options = {
		.plan = { .modes = (1U << BENCH_MODES) - 1, .rounds = 3 },
		.work = ".",
		.scale = 1,
	};
	bool right = true;
	int i;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage_text, stdout);
		return 0;
	}
	if (!options_parse(&options, argc, argv))
		return usage();
	if (options.judge)
		right = bench_report_read(options.judge);
	else
		modes_leave_out(&options.plan.modes);
	for (i = optind; i < argc; i++)
		right = trace_measure(argv[i], &options, i - optind + 1,
				      argc - optind) && right;
	return exit_status(right, bench_report_print(options.scale),
			   options.report_only);
}
