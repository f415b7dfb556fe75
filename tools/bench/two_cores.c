// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread and two, see two_cores.h. The threads are those of the tool,
 * tools/kipt/jobs.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/sync.h"
#include "../kipt/jobs.h"
#include "../kipt/unpack.h"
#include "kept.h"
#include "stopwatch.h"
#include "two_cores.h"

/* A round counts if other programs used no more than this part of a CPU; the
 * kernel counts their time in ticks. If too few rounds do, there are more.
 */
#define OTHERS_MOST	0.03
#define OTHERS_TICK	1.5e7
#define ROUNDS_MORE	8

/* Each of two threads sees half of the trace in a round, and learns for longer:
 * rounds go on until none was faster by more than this for so many.
 */
#define LEARNS		0.01
#define LEARNT_ROUNDS	3

#define REFERENCE_BYTES	(256U << 10)

/* A round decodes at least so much: threads start and end in each. */
#define ROUND_LEAST	(64ULL << 20)

/**
 * struct reference - the records of one thread, made as they are asked for
 * @trace: what is decoded, its bytes before any damage
 * @flow: without a memo
 * @kept: the records of a part of the trace
 * @next: the first one that was not compared yet
 * @from: where the next part starts
 * @total: records that were equal
 */
struct reference {
	const struct bench_trace *trace;
	struct kipt_flow *flow;
	struct bench_kept kept;
	void *arena;
	u64 next;
	u64 from;
	u64 total;
};

static bool reference_init(struct reference *reference,
			   const struct bench_trace *trace)
{
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO,
	};
	struct kipt_code code = {
		.read = image_read,
		.ctx = (void *)&trace->recording.image,
	};
	struct kipt_sink sink = {
		.emit = bench_kept_add,
		.ctx = &reference->kept,
	};
	size_t room = (kipt_flow_size(&config) + 63) & ~(size_t)63;

	memset(reference, 0, sizeof(*reference));
	reference->trace = trace;
	bench_kept_init(&reference->kept, false);
	reference->arena = aligned_alloc(64, room);
	if (reference->arena)
		reference->flow = kipt_flow_init(reference->arena, room,
						 &config, &code, &sink);
	return reference->flow;
}

static void reference_uninit(struct reference *reference)
{
	free(reference->arena);
	bench_kept_uninit(&reference->kept);
}

static void reference_restart(struct reference *reference)
{
	bench_kept_clear(&reference->kept);
	reference->next = 0;
	reference->from = 0;
	reference->total = 0;
}

/* Make more records, if there are more. */
static bool reference_fill(struct reference *reference)
{
	const u8 *bytes = reference->trace->intact;
	u64 to, size = reference->trace->recording.size;

	while (reference->next == reference->kept.count) {
		if (reference->from >= size)
			return false;
		to = reference->from + REFERENCE_BYTES;
		to = to < size ? kipt_sync_next(bytes, size, to) :
				 size;
		bench_kept_clear(&reference->kept);
		reference->next = 0;
		kipt_flow_run(reference->flow, bytes, size,
			      reference->from, to);
		reference->from = to;
	}
	return true;
}

/* Takes expanded records. */
static bool compare(void *ctx, const struct kipt_record *records, u32 count)
{
	struct reference *reference = ctx;
	u64 n;

	while (count) {
		n = 0;
		if (reference_fill(reference))
			n = reference->kept.count - reference->next;
		if (n > count)
			n = count;
		if (!n || memcmp(&reference->kept.records[reference->next],
				 records, n * sizeof(*records)))
			return false;
		reference->next += n;
		reference->total += n;
		records += n;
		count -= (u32)n;
	}
	return true;
}

struct proof {
	struct reference reference;
	struct unpack *unpack;
	bool equal;
};

static bool prove_some(void *ctx, const struct kipt_record *records, u32 n)
{
	struct proof *proof = ctx;

	proof->equal = proof->equal &&
		       unpack_records(proof->unpack, records, n, compare,
				      &proof->reference);
	return proof->equal;
}

static bool prove_run(struct jobs *jobs, struct proof *proof)
{
	const struct bench_trace *trace = proof->reference.trace;
	struct kipt_sink sink = { .emit = prove_some, .ctx = proof };

	reference_restart(&proof->reference);
	jobs_run(jobs, trace->recording.trace, trace->recording.size, &sink);
	if (proof->equal && !reference_fill(&proof->reference))
		return true;
	fprintf(stderr, "bench: %s: what two threads decode differs from what one decodes after %llu equal records\n",
		trace->name, (unsigned long long)proof->reference.total);
	return false;
}

/* Each thread has the memory one has by default. */
static struct jobs *jobs_over(const struct bench_trace *trace, u32 count)
{
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_PATHS,
		.memory = count * KIPT_FLOW_MEMORY,
	};
	struct kipt_code code = {
		.read = image_read,
		.ctx = (void *)&trace->recording.image,
	};

	return jobs_create(&config, &code, count);
}

bool bench_two_cores_prove(const struct bench_trace *trace)
{
	struct jobs *jobs = jobs_over(trace, 2);
	struct proof proof = { .unpack = unpack_create(), .equal = true };
	bool good = false;

	if (reference_init(&proof.reference, trace) && jobs && proof.unpack)
		good = prove_run(jobs, &proof) && prove_run(jobs, &proof);
	else
		fprintf(stderr, "bench: no memory to compare %s\n",
			trace->name);
	reference_uninit(&proof.reference);
	unpack_destroy(proof.unpack);
	jobs_destroy(jobs);
	return good;
}

/**
 * struct lane - one thread or two, and how fast they were
 * @jobs: they
 * @best: nanoseconds on the wall, of rounds in which little else ran
 * @calm: how many of these there were
 * @any: nanoseconds, of all rounds
 * @same: calm rounds since one was faster by LEARNS
 */
struct lane {
	struct jobs *jobs;
	double best;
	int calm;
	double any;
	int same;
};

static void lane_take(struct lane *lane, const u8 *bytes, u64 size,
		      struct bench_kept *kept)
{
	struct kipt_sink sink = { .emit = bench_kept_add, .ctx = kept };
	double start, time, others;

	bench_kept_clear(kept);
	others = stopwatch_others();
	start = stopwatch_wall();
	jobs_run(lane->jobs, bytes, size, &sink);
	time = stopwatch_wall() - start;
	others = stopwatch_others() - others;
	if (lane->any == 0 || time < lane->any)
		lane->any = time;
	if (others > time * OTHERS_MOST + OTHERS_TICK)
		return;
	lane->calm++;
	lane->same++;
	if (lane->best == 0 || time < lane->best * (1 - LEARNS))
		lane->same = 0;
	if (lane->best == 0 || time < lane->best)
		lane->best = time;
}

static u64 passes_of(const struct bench_trace *trace)
{
	return (ROUND_LEAST - 1) / trace->recording.size + 1;
}

/* The trace as often as a round needs it, in a row. */
static u8 *repeated(const struct bench_trace *trace)
{
	u64 size = trace->recording.size, passes = passes_of(trace), i;
	u8 *bytes = malloc(size * passes);

	for (i = 0; bytes && i < passes; i++)
		memcpy(bytes + i * size, trace->recording.trace, size);
	return bytes;
}

static bool lane_done(const struct lane *lane, int rounds)
{
	return lane->calm >= rounds && lane->same >= LEARNT_ROUNDS;
}

static void lanes_take(struct lane lanes[2], const struct bench_trace *trace,
		       const u8 *bytes, int rounds)
{
	u64 size = trace->recording.size * passes_of(trace);
	struct bench_kept kept;
	int round, i;

	bench_kept_init(&kept, false);
	for (round = 0; round <= rounds * ROUNDS_MORE; round++) {
		for (i = 0; i < 2; i++)
			lane_take(&lanes[i], bytes, size, &kept);
		/* What fills caches does not count. */
		for (i = 0; i < 2 && !round; i++)
			lanes[i] = (struct lane){ .jobs = lanes[i].jobs };
		if (lane_done(&lanes[0], rounds) &&
		    lane_done(&lanes[1], rounds))
			break;
	}
	bench_kept_uninit(&kept);
}

static double lane_time(const struct lane *lane,
			const struct bench_trace *trace, const char *name)
{
	if (lane->calm)
		return lane->best;
	fprintf(stderr, "bench: %s: other programs kept the CPUs busy whenever %s decoded: jobs2 says little\n",
		trace->name, name);
	return lane->any;
}

bool bench_two_cores_measure(const struct bench_trace *trace, int rounds,
			     struct bench_two_cores *result)
{
	struct lane lanes[2] = {
		{ .jobs = jobs_over(trace, 1) }, { .jobs = jobs_over(trace, 2) },
	};
	u8 *bytes = repeated(trace);
	bool good = lanes[0].jobs && lanes[1].jobs && bytes;

	if (good) {
		lanes_take(lanes, trace, bytes, rounds);
		result->one = lane_time(&lanes[0], trace, "one thread");
		result->two = lane_time(&lanes[1], trace, "two threads");
		result->branches = trace->digests.all.branches *
				   passes_of(trace);
	} else {
		fprintf(stderr, "bench: no memory for threads over %s\n",
			trace->name);
	}
	free(bytes);
	jobs_destroy(lanes[0].jobs);
	jobs_destroy(lanes[1].jobs);
	return good;
}
