// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs through perf's decoder, against the truth of what was
 * executed: 64-bit user code of one process each, hundreds of them in one
 * perf.data. Prints KTAP. User space.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../decode/ktap.h"
#include "features.h"
#include "keep.h"
#include "peer_perf.h"
#include "perf_data.h"

#define BATCH		400
#define FIRST_PID	1000
#define FAILURES_MAX	10
#define KNOWN		40	/* programs for each known difference */

/**
 * struct options - what was asked for
 * @seed: of the first program
 * @count: programs
 * @folder: for perf.data, and for what is kept of failures
 * @may: WALK_* bits of what walks may do
 * @must: WALK_* bits of what walks must do
 */
struct options {
	u64 seed;
	u64 count;
	const char *folder;
	u32 may;
	u32 must;
};

/**
 * struct batch - programs of one perf.data
 * @data: the file in the making
 * @count: programs in it
 * @seeds: of the programs
 * @peers: what perf must print
 */
struct batch {
	struct perf_data data;
	u32 count;
	u64 seeds[BATCH];
	struct peer_perf peers[BATCH];
};

static struct program program;
static struct walk walk;
static struct batch batch;

/* perf takes the mode of code from its ELF file, kernels from elsewhere, and has
 * one set of filter ranges for a whole file.
 */
static bool is_simple(void)
{
	u32 i;

	for (i = 0; i < program.nr_regions; i++) {
		if (program.regions[i].mode != KIPT_EXEC_64)
			return false;
	}
	return true;
}

/* Returns false if the seed gives no program for perf. */
static bool make(const struct options *options, u64 seed, bool disretc)
{
	struct rng rng = { .state = seed * 0x2545f4914f6cdd1dULL };
	struct walk_rules rules;

	if (program_spaces(rng) != 1)
		return false;
	program_make(&program, &rng);
	if (!is_simple())
		return false;
	walk_rules_make(&rules, &rng, &program, options->may);
	rules.os = false;
	rules.user = true;
	rules.cr3_filter = false;
	rules.nr_ranges = 0;
	rules.stop = false;
	rules.disretc = disretc;
	walk_run(&walk, &program, &rng, &rules);
	return !(walk.used & ~options->may) &&
	       (walk.used & options->must) == options->must;
}

static void report(const struct options *options, u64 seed, bool disretc,
		   const struct peer_perf *peer)
{
	const struct peer_step *step = &peer->steps[peer->seen];
	char why[256];

	make(options, seed, disretc);
	snprintf(why, sizeof(why),
		 "perf: %s at step %u of %u (%llx => %llx, perf %llx => %llx); again: make random-perf SEED=%llu N=1",
		 peer->error, peer->seen, peer->count,
		 (unsigned long long)step->from, (unsigned long long)step->to,
		 (unsigned long long)peer->other.from,
		 (unsigned long long)peer->other.to,
		 (unsigned long long)seed);
	printf("# %s\n", why);
	if (keep_program(options->folder, seed, &walk, NULL, why))
		printf("# program and trace: %s/%llu.txt, .pt\n",
		       options->folder, (unsigned long long)seed);
}

static bool run_perf(const struct options *options)
{
	char command[768];
	FILE *script;
	bool good;
	int status;

	snprintf(command, sizeof(command),
		 "perf --buildid-dir '%s/debug' script -i '%s/perf.data' --itrace=be -F tid,event,flags,ip,addr --ns 2>'%s/perf.err'",
		 options->folder, options->folder, options->folder);
	script = popen(command, "r");
	if (!script)
		return false;
	good = peer_perf_read(script, batch.peers, batch.count, FIRST_PID);
	status = pclose(script);
	return good && WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Programs from @seed on; returns the seed after the last. */
static u64 fill(const struct options *options, u64 seed, u64 wanted,
		bool disretc)
{
	for (batch.count = 0; batch.count < BATCH && batch.count < wanted;
	     seed++) {
		if (!make(options, seed, disretc))
			continue;
		perf_data_add(&batch.data, FIRST_PID + batch.count, &walk);
		peer_perf_expect(&batch.peers[batch.count], &walk);
		batch.seeds[batch.count++] = seed;
	}
	return seed;
}

/**
 * struct result - what perf said so far
 * @programs: shown to perf
 * @bad: of these, those it sees differently
 * @steps: on which it agreed
 */
struct result {
	u64 programs;
	u64 bad;
	u64 steps;
};

/* Returns false if perf could not be run. */
static bool compare(const struct options *options, bool disretc, bool verbose,
		    struct result *result)
{
	u32 i;

	if (!perf_data_end(&batch.data) || !run_perf(options))
		return false;
	for (i = 0; i < batch.count; i++) {
		struct peer_perf *peer = &batch.peers[i];

		result->programs++;
		result->steps += peer->seen;
		if (peer->error && ++result->bad <= FAILURES_MAX && verbose)
			report(options, batch.seeds[i], disretc, peer);
		peer_perf_free(peer);
	}
	return true;
}

/* A file says once, for all of it, whether RETs are compressed. */
static bool run(const struct options *options, bool verbose, struct result *result)
{
	u64 seed = options->seed;
	bool disretc = false;

	while (result->programs < options->count) {
		if (!perf_data_begin(&batch.data, options->folder, disretc))
			return false;
		seed = fill(options, seed, options->count - result->programs,
			    disretc);
		if (!compare(options, disretc, verbose, result))
			return false;
		disretc = !disretc;
	}
	return true;
}

/* How often does perf differ where it is known to? */
static void show_known(const struct options *options)
{
	u32 i;

	for (i = 0; i < WALK_BITS; i++) {
		struct options known = *options;
		struct result result = { 0 };

		if (!features[i].perf)
			continue;
		known.may |= 1U << i;
		known.must = 1U << i;
		known.count = KNOWN;
		if (run(&known, false, &result))
			printf("# %s: perf differs from the manual in %llu of %llu programs: it %s\n",
			       features[i].name,
			       (unsigned long long)result.bad,
			       (unsigned long long)result.programs,
			       features[i].perf);
	}
}

static int judge(const struct options *options)
{
	struct result result = { 0 };
	struct ktap ktap = { 0 };
	bool good = run(options, true, &result);

	if (good)
		show_known(options);
	else
		printf("# perf failed, see %s/perf.err\n", options->folder);
	ktap_result(&ktap, good && !result.bad && result.steps,
		    "random: perf sees the same branches in %llu of %llu programs (%llu branches)",
		    (unsigned long long)(result.programs - result.bad),
		    (unsigned long long)result.programs,
		    (unsigned long long)result.steps);
	return ktap_end(&ktap);
}

static int usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: random_perf [--seed N] [--count N] [--keep FOLDER]\n"
		"Makes random user programs, walks them, and holds perf's decoder against what was\n"
		"executed. Exits 0 if all agree, 4 if there is no perf.\n"
		"  --seed N       first seed (1)\n"
		"  --count N      programs (400)\n"
		"  --keep FOLDER  for perf.data, and programs and traces of failures (.)\n");
	return status;
}

static bool parse(struct options *options, int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		const char *value = argv[i + 1];

		if (!strcmp(argv[i], "--seed"))
			options->seed = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i], "--count"))
			options->count = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i], "--keep"))
			options->folder = value;
		else
			return false;
	}
	return i == argc && strlen(options->folder) < 128 &&
	       !strchr(options->folder, '\'');
}

int main(int argc, char **argv)
{
	struct options options = { .seed = 1, .count = 400, .folder = "." };
	struct ktap ktap = { 0 };

	options.may = features_perf();
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(0);
	if (!parse(&options, argc, argv))
		return usage(2);
	ktap_start();
	if (mkdir(options.folder, 0777) && errno != EEXIST) {
		fprintf(stderr, "random_perf: cannot make %s: %m\n",
			options.folder);
		return 2;
	}
	if (system("perf --version >/dev/null 2>&1")) {
		ktap_skip(&ktap, "random: perf", "perf is not installed");
		return ktap_end(&ktap);
	}
	return judge(&options);
}
