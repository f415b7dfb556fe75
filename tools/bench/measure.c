// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of measurements, see measure.h. All that is compared with each
 * other takes turns, round by round, so that what else happens on the computer
 * hits all, and the best round of each counts.
 *
 * Warm: a decoder has seen the whole trace before and keeps what it remembers:
 * our flow, made anew each round, has seen it once and keeps its blocks and its
 * memo; libipt has seen it once or more often and keeps its sections with their
 * block caches. Cold: nothing is remembered, and making the decoder counts.
 */
#include <stdio.h>

#include "check.h"
#include "kept.h"
#include "measure.h"
#include "ours.h"
#include "peer.h"
#include "pin.h"
#include "report.h"
#include "stopwatch.h"
#include "two_cores.h"

/**
 * struct lane - one of those that take turns
 * @mode: of the report
 * @core: which core
 * @output: KIPT_FLOW_*
 * @newest: its records are too many to be kept
 */
struct lane {
	int mode;
	const struct bench_core *core;
	u32 output;
	bool newest;
};

static const struct lane lanes[] = {
	{ BENCH_COUNTS, &bench_core_plain, KIPT_FLOW_COUNTS, false },
	{ BENCH_COUNTS_KERNEL, &bench_core_kernel, KIPT_FLOW_COUNTS, false },
	{ BENCH_PACKED, &bench_core_plain, KIPT_FLOW_PATHS, false },
	{ BENCH_PACKED_KERNEL, &bench_core_kernel, KIPT_FLOW_PATHS, false },
	{ BENCH_CALLS, &bench_core_plain, KIPT_FLOW_CALLS | KIPT_FLOW_TIME,
	  true },
	{ BENCH_CALLS_KERNEL, &bench_core_kernel,
	  KIPT_FLOW_CALLS | KIPT_FLOW_TIME, true },
	{ BENCH_BRANCHES, &bench_core_plain, KIPT_FLOW_BRANCHES, true },
};

#define LANES	(sizeof(lanes) / sizeof(lanes[0]))

/* Modes without a lane of their own are in no need of libipt's blocks. */
#define BLOCK_MODES	(1U << BENCH_COUNTS | 1U << BENCH_PACKED |	\
			 1U << BENCH_CALLS | 1U << BENCH_BRANCHES |	\
			 1U << BENCH_COUNTS_KERNEL |			\
			 1U << BENCH_PACKED_KERNEL |			\
			 1U << BENCH_CALLS_KERNEL)
#define PACKET_MODES	(1U << BENCH_PACKETS | 1U << BENCH_PACKETS_KERNEL)

static void least(double *best, double time)
{
	if (*best == 0 || time < *best)
		*best = time;
}

/* The lane of a mode with the kernel's flags follows the one without. */
static bool lane_wanted(const struct lane *lane, const struct bench_plan *plan)
{
	if (plan->modes & 1U << lane->mode)
		return true;
	return lane->core == &bench_core_plain && lane + 1 < lanes + LANES &&
	       lane[1].core == &bench_core_kernel &&
	       plan->modes & 1U << lane[1].mode;
}

/**
 * struct turns - those that take turns
 * @kept: what takes the records of our decoder in each lane
 * @best: its best time; 0: it is not asked for
 * @peer: libipt
 * @sums: what it found
 * @peer_best: its best time
 */
struct turns {
	struct bench_kept kept[LANES];
	double best[LANES];
	struct bench_peer *peer;
	struct bench_peer_sums sums;
	double peer_best;
};

static struct bench_ours *keeping(const struct bench_core *core,
				  const struct bench_trace *trace, u32 output,
				  struct bench_kept *kept)
{
	struct kipt_sink sink = { .emit = bench_kept_add, .ctx = kept };

	return bench_ours_create(core, trace, output, &sink);
}

static bool turns_init(struct turns *turns, const struct bench_trace *trace)
{
	size_t i;

	memset(turns, 0, sizeof(*turns));
	for (i = 0; i < LANES; i++)
		bench_kept_init(&turns->kept[i], lanes[i].newest);
	turns->peer = bench_peer_create(trace);
	if (!turns->peer)
		return false;
	bench_peer_blocks(turns->peer, trace->recording.size, &turns->sums);
	return true;
}

static void turns_uninit(struct turns *turns)
{
	size_t i;

	bench_peer_destroy(turns->peer);
	for (i = 0; i < LANES; i++)
		bench_kept_uninit(&turns->kept[i]);
}

static bool ours_take(struct turns *turns, size_t lane,
		      const struct bench_trace *trace)
{
	struct bench_kept *kept = &turns->kept[lane];
	struct bench_ours *ours = keeping(lanes[lane].core, trace,
					  lanes[lane].output, kept);

	if (!ours)
		return false;
	bench_kept_clear(kept);
	bench_ours_decode(ours, trace->recording.size, 1);
	bench_kept_clear(kept);
	least(&turns->best[lane],
	      bench_ours_decode(ours, trace->recording.size, trace->passes));
	bench_ours_destroy(ours);
	return true;
}

/* One round of all. */
static bool turns_take(struct turns *turns, const struct bench_trace *trace,
		       const struct bench_plan *plan)
{
	double time = 0;
	u64 pass;
	size_t i;

	for (pass = 0; pass < trace->passes; pass++)
		time += bench_peer_blocks(turns->peer, trace->recording.size,
					  &turns->sums);
	least(&turns->peer_best, time);
	for (i = 0; i < LANES; i++) {
		if (lane_wanted(&lanes[i], plan) && !ours_take(turns, i, trace))
			return false;
	}
	return true;
}

/* What libipt skips after an error, up to the next PSB, cost it nothing: its
 * time is taken for the part of the instructions that it saw.
 */
static double seen(const struct bench_digest *all,
		   const struct bench_peer_sums *sums)
{
	double part = (double)sums->insns / all->insns;

	return sums->errors && part < 1 ? part : 1;
}

static void turns_report(const struct turns *turns,
			 const struct bench_trace *trace,
			 const struct bench_plan *plan)
{
	double branches = (double)trace->digests.all.branches * trace->passes;
	double part = seen(&trace->digests.all, &turns->sums);
	double peer, ours;
	size_t i;

	for (i = 0; i < LANES; i++) {
		if (!(plan->modes & 1U << lanes[i].mode))
			continue;
		ours = turns->best[i] / branches;
		peer = turns->peer_best / branches / part;
		if (lanes[i].core == &bench_core_kernel)
			peer = turns->best[i - 1] / branches;
		bench_report_add(trace->name, lanes[i].mode, ours, peer);
	}
	printf("# %s: %llu bytes, %llu branches, %llu instructions; libipt: %llu blocks, %llu instructions (%.1f %%), %llu errors\n",
	       trace->name, (unsigned long long)trace->recording.size,
	       (unsigned long long)trace->digests.all.branches,
	       (unsigned long long)trace->digests.all.insns,
	       (unsigned long long)turns->sums.blocks,
	       (unsigned long long)turns->sums.insns, 100 * part,
	       (unsigned long long)turns->sums.errors);
}

static bool lanes_check(const struct bench_trace *trace,
			const struct bench_plan *plan)
{
	size_t i;

	for (i = 0; i < LANES; i++) {
		if (lane_wanted(&lanes[i], plan) &&
		    !bench_check_flow(lanes[i].core, trace, lanes[i].output))
			return false;
	}
	return true;
}

static bool flow_measure(const struct bench_trace *trace,
			 const struct bench_plan *plan)
{
	struct turns turns;
	bool good = lanes_check(trace, plan);
	int round;

	if (!good)
		return false;
	good = turns_init(&turns, trace);
	for (round = 0; good && round < plan->rounds; round++)
		good = turns_take(&turns, trace, plan);
	if (good)
		turns_report(&turns, trace, plan);
	turns_uninit(&turns);
	return good;
}

/* Everything is new each time: our flow, libipt's caches. */
static bool cold_ours(const struct bench_trace *trace, struct bench_kept *kept,
		      double *best)
{
	u64 size = bench_trace_cold_size(trace);
	double start = stopwatch_thread();
	struct bench_ours *ours = keeping(&bench_core_plain, trace,
					  KIPT_FLOW_PATHS, kept);

	bench_kept_clear(kept);
	if (ours) {
		bench_ours_decode(ours, size, 1);
		least(best, stopwatch_thread() - start);
	}
	bench_ours_destroy(ours);
	return ours;
}

static bool cold_peer(const struct bench_trace *trace,
		      struct bench_peer_sums *sums, double *best)
{
	u64 size = bench_trace_cold_size(trace);
	double start = stopwatch_thread();
	struct bench_peer *peer = bench_peer_create(trace);

	if (peer) {
		bench_peer_blocks(peer, size, sums);
		least(best, stopwatch_thread() - start);
	}
	bench_peer_destroy(peer);
	return peer;
}

static bool cold_measure(const struct bench_trace *trace, int rounds)
{
	double branches = trace->cold.all.branches;
	double ours = 0, peer = 0, part;
	struct bench_peer_sums sums;
	struct bench_kept kept;
	bool good = true;

	if (!bench_check_flow(&bench_core_plain, trace, KIPT_FLOW_PATHS))
		return false;
	bench_kept_init(&kept, false);
	for (; good && rounds >= 0; rounds--)
		good = cold_peer(trace, &sums, &peer) &&
		       cold_ours(trace, &kept, &ours);
	bench_kept_uninit(&kept);
	if (!good)
		return false;
	part = seen(&trace->cold.all, &sums);
	bench_report_add(trace->name, BENCH_COLD, ours / branches,
			 peer / branches / part);
	return true;
}

/**
 * struct readers - those of packets
 * @peer: libipt
 * @peer_best: its best time
 * @best: ours with the tool's flags and with the kernel's
 */
struct readers {
	struct bench_peer *peer;
	double peer_best;
	double best[2];
};

static const struct bench_core *const cores[2] = {
	&bench_core_plain, &bench_core_kernel,
};

/* One round of all. False if one has more packets than there are, or fewer. */
static bool packets_take(struct readers *readers,
			 const struct bench_trace *trace)
{
	u64 passes = trace->passes, count, wrong;
	int i;

	least(&readers->peer_best,
	      bench_peer_packets(readers->peer, passes, &count));
	wrong = count ^ trace->packets;
	for (i = 0; i < 2; i++) {
		least(&readers->best[i],
		      bench_ours_packets(cores[i], trace, passes, &count));
		wrong |= count ^ trace->packets;
	}
	return !wrong;
}

static bool packets_measure(const struct bench_trace *trace,
			    const struct bench_plan *plan)
{
	struct readers readers = { .peer = bench_peer_create(trace) };
	double packets = (double)trace->packets * trace->passes;
	bool good = readers.peer &&
		    bench_check_packets(&bench_core_plain, trace) &&
		    bench_check_packets(&bench_core_kernel, trace);
	int round;

	for (round = 0; good && round <= plan->rounds; round++)
		good = packets_take(&readers, trace);
	bench_peer_destroy(readers.peer);
	if (!good) {
		fprintf(stderr, "bench: %s: not all readers find its %llu packets\n",
			trace->name, (unsigned long long)trace->packets);
		return false;
	}
	if (plan->modes & 1U << BENCH_PACKETS)
		bench_report_add(trace->name, BENCH_PACKETS,
				 readers.best[0] / packets,
				 readers.peer_best / packets);
	if (plan->modes & 1U << BENCH_PACKETS_KERNEL)
		bench_report_add(trace->name, BENCH_PACKETS_KERNEL,
				 readers.best[1] / packets,
				 readers.best[0] / packets);
	return true;
}

static bool two_cores_report(const struct bench_trace *trace, int rounds)
{
	struct bench_two_cores result;

	bool good = bench_two_cores_prove(trace);

	if (bench_pin_none() < 2) {
		fprintf(stderr, "bench: %s: SKIP jobs2: there is one CPU only\n",
			trace->name);
		return good;
	}
	good = good && bench_two_cores_measure(trace, rounds, &result);
	bench_pin_one();
	if (!good)
		return false;
	bench_report_add(trace->name, BENCH_JOBS2,
			 result.two / result.branches,
			 result.one / result.branches);
	return true;
}

bool bench_measure(const struct bench_trace *trace,
		   const struct bench_plan *plan)
{
	unsigned int modes = plan->modes;

	bench_pin_one();
	if (modes & PACKET_MODES && !packets_measure(trace, plan))
		return false;
	/* Nothing that lasts a few instructions has a speed. */
	if (trace->digests.all.branches < 100) {
		printf("# %s: packets only, it has %llu branches and %llu instructions\n",
		       trace->name,
		       (unsigned long long)trace->digests.all.branches,
		       (unsigned long long)trace->digests.all.insns);
		return true;
	}
	if (!bench_trace_usable(trace))
		return false;
	if (modes & BLOCK_MODES && !flow_measure(trace, plan))
		return false;
	if (modes & 1U << BENCH_COLD && !cold_measure(trace, plan->rounds))
		return false;
	return !(modes & 1U << BENCH_JOBS2) ||
	       two_cores_report(trace, plan->rounds);
}
