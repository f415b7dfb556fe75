// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of measurements, see measure.h. Rounds are paired: in each round
 * every way to decode that is needed runs once, and what is compared is compared
 * within the round, so that what else happens on the computer hits both.
 */
#include <stdio.h>

#include "measure.h"
#include "peer.h"
#include "pin.h"
#include "report.h"

/* Threads on the wall are disturbed if other programs used more than this part
 * of a CPU; the kernel counts their time in ticks. They are measured again then,
 * so often at most.
 */
#define OTHERS_MOST	0.03
#define OTHERS_TICK	1.5e7
#define TRIES		4

/* Nothing that lasts a few instructions has a speed. */
#define BRANCHES_LEAST	100

/* Figures by round and way. */
struct rounds {
	struct bench_figure figures[BENCH_ROUNDS_MOST][BENCH_WAYS];
};

static bool mode_wanted(const struct bench_trace *trace,
			const struct bench_plan *plan, int mode)
{
	if (!(plan->modes & 1U << mode))
		return false;
	return mode == BENCH_MODE_PACKETS ||
	       trace->all.branches >= BRANCHES_LEAST;
}

/* The ways that the modes need. */
static unsigned int ways_wanted(const struct bench_trace *trace,
				const struct bench_plan *plan)
{
	unsigned int ways = 0;
	int mode;

	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (mode_wanted(trace, plan, mode))
			ways |= 1U << bench_modes[mode].ours |
				1U << bench_modes[mode].peer;
	}
	return ways;
}

static bool ways_check(const struct bench_trace *trace, unsigned int ways)
{
	int way;

	for (way = 0; way < BENCH_WAYS; way++) {
		if (ways & 1U << way &&
		    !bench_way_check(&bench_ways[way], trace))
			return false;
	}
	return true;
}

/* On the wall only. */
static bool is_disturbed(const struct bench_figure *figure)
{
	return figure->others > figure->time * OTHERS_MOST + OTHERS_TICK;
}

static bool way_take(const struct bench_way *way,
		     const struct bench_trace *trace,
		     struct bench_figure *figure)
{
	int i = 0;

	do {
		if (!bench_way_measure(way, trace, figure))
			return false;
	} while (is_disturbed(figure) && ++i < TRIES);
	/* What libipt skips after an error is not in its hash. */
	if (way->sink && figure->hash != trace->hash && !figure->errors) {
		fprintf(stderr, "bench: %s: %s: the hash of the branches is %#llx instead of %#llx\n",
			trace->name, way->name, (unsigned long long)figure->hash,
			(unsigned long long)trace->hash);
		return false;
	}
	if (way->output || figure->packets == trace->packets)
		return true;
	fprintf(stderr, "bench: %s: %s are %llu instead of %llu\n", trace->name,
		way->name, (unsigned long long)figure->packets,
		(unsigned long long)trace->packets);
	return false;
}

static bool round_take(const struct bench_trace *trace, unsigned int ways,
		       struct bench_figure *figures)
{
	int way;

	for (way = 0; way < BENCH_WAYS; way++) {
		if (ways & 1U << way &&
		    !way_take(&bench_ways[way], trace, &figures[way]))
			return false;
	}
	return true;
}

static const struct bench_digest *part_of(const struct bench_trace *trace,
					  const struct bench_way *way)
{
	return way->beginning ? &trace->beginning : &trace->all;
}

/* What libipt skips after an error, up to the next PSB, cost it nothing: its
 * time is taken for the part of the instructions that it saw.
 */
static double time_of(const struct bench_trace *trace, int id,
		      const struct bench_figure *figure)
{
	const struct bench_way *way = &bench_ways[id];
	u64 insns = part_of(trace, way)->insns;

	if (!way->core && figure->errors && figure->insns < insns)
		return figure->time * insns / (figure->insns + 1);
	return figure->time;
}

/* How many branches or packets a way decodes in its time. */
static double units(const struct bench_trace *trace, int id)
{
	const struct bench_way *way = &bench_ways[id];

	return way->output ? part_of(trace, way)->branches : trace->packets;
}

static double median(const struct bench_trace *trace,
		     const struct rounds *rounds, int count, int way)
{
	struct bench_ratios times = { .count = count };
	int i;

	for (i = 0; i < count; i++)
		times.round[i] = time_of(trace, way, &rounds->figures[i][way]);
	return bench_spread_of(&times).median / units(trace, way);
}

static double memory_of(const struct rounds *rounds, int count, int way)
{
	u64 most = 0;
	int i;

	for (i = 0; i < count; i++) {
		if (rounds->figures[i][way].memory > most)
			most = rounds->figures[i][way].memory;
	}
	return most / 1048576.0;
}

/* Did libipt find less than half of a trace? What it does once for all code would count too
 * much then. Says so on stdout.
 */
static bool libipt_lost(const struct bench_trace *trace, int mode,
			const struct bench_figure *figures)
{
	int id = bench_modes[mode].peer;
	const struct bench_way *way = &bench_ways[id];
	u64 insns = part_of(trace, way)->insns;

	if (way->core || !way->output || figures[id].insns >= insns / 2)
		return false;
	printf("# not measured: %s of %s: libipt found %.1f %% of the instructions\n",
	       bench_modes[mode].name, trace->name,
	       100.0 * figures[id].insns / insns);
	return true;
}

static void mode_report(const struct bench_trace *trace, int mode,
			const struct rounds *rounds, int count)
{
	int ours = bench_modes[mode].ours, peer = bench_modes[mode].peer, i;
	const struct bench_figure *figures;
	struct bench_row row = {
		.bytes = trace->recording.size,
		.mode = mode,
		.ours = median(trace, rounds, count, ours),
		.peer = median(trace, rounds, count, peer),
		.memory = memory_of(rounds, count, ours),
		.peer_memory = memory_of(rounds, count, peer),
		.ratios = { .count = count },
	};

	snprintf(row.trace, sizeof(row.trace), "%s", trace->name);
	for (i = 0; i < count; i++) {
		figures = rounds->figures[i];
		row.ratios.round[i] = time_of(trace, peer, &figures[peer]) /
				      time_of(trace, ours, &figures[ours]);
		row.ratios.disturbed += is_disturbed(&figures[ours]) ||
					is_disturbed(&figures[peer]);
	}
	bench_report_add(&row);
}

/* What the trace is, and how libipt fared. */
static void trace_print(const struct bench_trace *trace, unsigned int ways,
			const struct bench_figure *figures)
{
	const struct bench_figure *peer = &figures[BENCH_WAY_LIBIPT];
	u64 size = trace->recording.size;

	printf("# %s: %llu bytes, %llu branches, %llu instructions, %llu different blocks (%.0f for each MB of trace), %llu time records",
	       trace->name, (unsigned long long)size,
	       (unsigned long long)trace->all.branches,
	       (unsigned long long)trace->all.insns,
	       (unsigned long long)trace->blocks, trace->blocks * 1e6 / size,
	       (unsigned long long)trace->calls.time_records);
	if (ways & 1U << BENCH_WAY_LIBIPT)
		printf("; %s: %llu instructions (%.1f %%), %llu errors",
		       bench_peer_name(), (unsigned long long)peer->insns,
		       100.0 * peer->insns / (trace->all.insns + !trace->all.insns),
		       (unsigned long long)peer->errors);
	printf("\n");
	fflush(stdout);
}

static bool rounds_take(const struct bench_trace *trace,
			const struct bench_plan *plan, unsigned int ways,
			struct rounds *rounds)
{
	int i;

	for (i = 0; i < plan->rounds; i++) {
		fprintf(stderr, "bench: %s, round %d of %d\n", trace->name,
			i + 1, plan->rounds);
		if (!round_take(trace, ways, rounds->figures[i]))
			return false;
	}
	return true;
}

static struct bench_plan plan_possible(const struct bench_trace *trace,
				       const struct bench_plan *wanted)
{
	struct bench_plan plan = *wanted;

	if (plan.modes & 1U << BENCH_MODE_THREADS2 && bench_pin_none() < 2) {
		fprintf(stderr, "bench: %s: SKIP threads2: there is one CPU only\n",
			trace->name);
		plan.modes &= ~(1U << BENCH_MODE_THREADS2);
	}
	return plan;
}

bool bench_measure(const struct bench_trace *trace,
		   const struct bench_plan *wanted)
{
	struct bench_plan plan = plan_possible(trace, wanted);
	unsigned int ways = ways_wanted(trace, &plan);
	static struct rounds rounds;
	int mode;

	bench_pin_one();
	if ((trace->all.branches >= BRANCHES_LEAST &&
	     !bench_trace_usable(trace)) || !ways_check(trace, ways) ||
	    !rounds_take(trace, &plan, ways, &rounds))
		return false;
	trace_print(trace, ways, rounds.figures[0]);
	for (mode = 0; mode < BENCH_MODES; mode++) {
		if (mode_wanted(trace, &plan, mode) &&
		    !libipt_lost(trace, mode, rounds.figures[0]))
			mode_report(trace, mode, &rounds, plan.rounds);
	}
	return true;
}
