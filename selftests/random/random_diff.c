// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs through our decoder and through libipt, against the truth
 * of what was executed. Prints KTAP; every failure names the seed that makes
 * it again, and leaves program and trace in a folder. User space.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../decode/ktap.h"
#include "features.h"
#include "keep.h"
#include "tally.h"
#if __has_include("intel-pt.h")
#include "peer_libipt.h"
#endif

#define FAILURES_MAX	10
#define CONTROL_EVERY	16

/**
 * struct options - what was asked for
 * @seed: of the first program
 * @count: programs
 * @folder: for what is kept of failures
 * @show: print the programs
 * @progress: say how far we are, every so many programs; 0: never
 */
struct options {
	u64 seed;
	u64 count;
	const char *folder;
	bool show;
	u64 progress;
};

static struct program program;
static struct walk walk;
static struct check check;

/* Half of the programs do only what libipt reads as the manual says, a quarter
 * also one more thing.
 */
static u32 allowed(u64 seed)
{
	switch (seed & 3) {
	case 0:
		return WALK_ALL;
	case 1:
		return features_libipt() | 1U << (seed >> 2) % WALK_BITS;
	default:
		return features_libipt();
	}
}

static void make(u64 seed)
{
	struct rng rng = { .state = seed * 0x2545f4914f6cdd1dULL };
	struct walk_rules rules;

	program_make(&program, &rng);
	walk_rules_make(&rules, &rng, &program, allowed(seed));
	walk_run(&walk, &program, &rng, &rules);
}

/* @group: the failure may need the programs before it. */
static void report(const struct options *options, u64 seed, bool group,
		   const char *who, const char *what)
{
	static u64 kept = ~0ULL;
	char why[256];

	snprintf(why, sizeof(why), "%s: %s; again: make random SEED=%llu N=%u",
		 who, what,
		 (unsigned long long)(group ? seed - seed % CHECK_GROUP : seed),
		 group ? CHECK_GROUP : 1);
	printf("# %s\n", why);
	if (seed == kept)
		return;
	kept = seed;
	if (keep_program(options->folder, seed, &walk,
			 who == check.what ? &check : NULL, why))
		printf("# program and trace: %s/%llu.txt, .pt\n",
		       options->folder, (unsigned long long)seed);
}

static void check_ours(const struct options *options, struct tally *tally,
		       u64 seed)
{
	bool good = check_walk(&check, &walk, seed % CHECK_GROUP == 0);
	bool kept = check.into == &check.kept_packed;

	tally_walk(tally, &walk, good);
	if (good)
		return;
	if (tally->ours_bad <= FAILURES_MAX) {
		report(options, seed, kept, check.what, check.error);
		check_show(&check, stdout, false);
	}
	check.kept = NULL;
}

#if __has_include("intel-pt.h")
/* What libipt is known to read in another way counts if it is alone. */
static void check_known(struct tally *tally, u32 known)
{
	u64 insns = 0;
	u32 bit = 0;

	if (known & (known - 1))
		return;
	while (!(known >> bit & 1))
		bit++;
	tally->asked[bit]++;
	tally->differs[bit] += !!peer_libipt_check(&walk, &insns, NULL);
}

static void check_peer(const struct options *options, struct tally *tally,
		       u64 seed)
{
	u32 known = walk.used & ~features_libipt();
	const char *error;

	tally->peer = true;
	if (known) {
		check_known(tally, known);
		return;
	}
	tally->peer_programs++;
	error = peer_libipt_check(&walk, &tally->peer_insns, NULL);
	if (!error)
		return;
	if (++tally->peer_bad > FAILURES_MAX)
		return;
	report(options, seed, false, "libipt", error);
	peer_libipt_check(&walk, &tally->peer_insns, stdout);
}
#else
static void check_peer(const struct options *options, struct tally *tally,
		       u64 seed)
{
	(void)options;
	(void)tally;
	(void)seed;
}
#endif

static void check_controls(const struct options *options, struct tally *tally,
			   u64 seed)
{
	struct rng rng = { .state = seed };
	bool seen;
	u32 i;

	for (i = 0; i < CONTROLS; i++) {
		if (!control_run(&check, &walk, &rng, i, &seen))
			continue;
		tally->controls[i]++;
		if (seen)
			continue;
		tally->missed[i]++;
		if (tally->missed[i] <= FAILURES_MAX)
			report(options, seed, false, "negative control",
			       control_names[i]);
	}
}

static void one(const struct options *options, struct tally *tally, u64 seed)
{
	u64 bad = tally->ours_bad;

	make(seed);
	if (options->show)
		keep_show(stdout, &walk);
	check_ours(options, tally, seed);
	check_peer(options, tally, seed);
	if (seed % CONTROL_EVERY == 0 && tally->ours_bad == bad)
		check_controls(options, tally, seed);
}

static int usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: random_diff [--seed N] [--count N] [--keep FOLDER] [--progress N] [--show]\n"
		"Makes random programs, walks them, and holds our decoder and libipt against what\n"
		"was executed. Exits 0 if all agree.\n"
		"  --seed N       first seed (1)\n"
		"  --count N      programs (1000)\n"
		"  --keep FOLDER  where programs and traces of failures go (.)\n"
		"  --progress N   a line every N programs\n"
		"  --show         print each program and its trace\n");
	return status;
}

static bool parse_number(const char *text, u64 *number)
{
	char *end;

	*number = strtoull(text, &end, 0);
	return *text && !*end;
}

static bool parse(struct options *options, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		bool good = false;

		if (!strcmp(argv[i], "--show")) {
			options->show = true;
			continue;
		}
		if (!strcmp(argv[i], "--seed"))
			good = parse_number(value, &options->seed);
		else if (!strcmp(argv[i], "--count"))
			good = parse_number(value, &options->count);
		else if (!strcmp(argv[i], "--progress"))
			good = parse_number(value, &options->progress);
		else if (!strcmp(argv[i], "--keep"))
			good = *(options->folder = value);
		if (!good)
			return false;
		i++;
	}
	return true;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct options options = { .seed = 1, .count = 1000, .folder = "." };
	struct tally tally = { 0 };
	double start = now();
	u64 i;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(0);
	if (!parse(&options, argc, argv))
		return usage(2);
	ktap_start();
	check_init(&check);
	for (i = 0; i < options.count; i++) {
		one(&options, &tally, options.seed + i);
		if (options.progress && (i + 1) % options.progress == 0) {
			tally_show(&tally, now() - start);
			fflush(stdout);
		}
	}
	tally_show(&tally, now() - start);
	return tally_judge(&tally);
}
