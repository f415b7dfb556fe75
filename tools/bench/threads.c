// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several threads, see threads.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/packet/sync.h"
#include "../kipt/offline/parallel_decode.h"
#include "../kipt/records/unpack.h"
#include "pin.h"
#include "reader.h"
#include "stopwatch.h"
#include "threads.h"

#define REFERENCE_BYTES	(256U << 10)

/**
 * struct reference - the records of one thread, made as they are asked for
 * @trace: what is decoded, its bytes before any damage
 * @flow: the slow path alone
 * @arena: its memory
 * @records: those of a part of the trace
 * @count: how many
 * @room: how many fit
 * @next: the first one that was not compared yet
 * @from: where the next part starts
 * @total: records that were equal
 */
struct reference {
	const struct bench_trace *trace;
	struct kipt_flow *flow;
	void *arena;
	struct kipt_record *records;
	u64 count;
	u64 room;
	u64 next;
	u64 from;
	u64 total;
};

/* False ends the decode: there is no memory. */
static bool reference_keep(void *ctx, const struct kipt_record *records, u32 n)
{
	struct reference *reference = ctx;
	struct kipt_record *more;

	if (reference->count + n > reference->room) {
		reference->room = 2 * (reference->count + n);
		more = realloc(reference->records,
			       reference->room * sizeof(*more));
		if (!more)
			return false;
		reference->records = more;
	}
	memcpy(&reference->records[reference->count], records,
	       n * sizeof(*records));
	reference->count += n;
	return true;
}

static bool reference_init(struct reference *reference,
			   const struct bench_trace *trace)
{
	struct kipt_flow_config config = trace->config;
	struct kipt_code code = bench_trace_code(trace);
	struct kipt_sink sink = { .emit = reference_keep, .ctx = reference };
	size_t room;

	memset(reference, 0, sizeof(*reference));
	reference->trace = trace;
	config.output = KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO;
	room = (kipt_flow_size(&config) + 63) & ~(size_t)63;
	reference->arena = aligned_alloc(64, room);
	if (reference->arena)
		reference->flow = kipt_flow_init(reference->arena, room,
						 &config, &code, &sink);
	return reference->flow;
}

static void reference_uninit(struct reference *reference)
{
	free(reference->arena);
	free(reference->records);
}

/* Make more records, if there are more. */
static bool reference_fill(struct reference *reference)
{
	const u8 *bytes = reference->trace->intact;
	u64 to, size = reference->trace->recording.size;

	while (reference->next == reference->count) {
		if (reference->from >= size)
			return false;
		to = reference->from + REFERENCE_BYTES;
		to = to < size ? kipt_sync_next(bytes, size, to) : size;
		reference->count = 0;
		reference->next = 0;
		kipt_flow_run(reference->flow, bytes, size, reference->from,
			      to);
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
			n = reference->count - reference->next;
		if (n > count)
			n = count;
		if (!n || memcmp(&reference->records[reference->next], records,
				 n * sizeof(*records)))
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

static bool prove(struct jobs *jobs, struct proof *proof,
		  const struct bench_trace *trace)
{
	struct kipt_sink sink = { .emit = prove_some, .ctx = proof };

	jobs_run(jobs, trace->recording.trace, trace->recording.size, NULL,
		 &sink);
	if (proof->equal && !reference_fill(&proof->reference))
		return true;
	fprintf(stderr, "bench: %s: what two threads decode differs from what one decodes after %llu equal records\n",
		trace->name, (unsigned long long)proof->reference.total);
	return false;
}

static struct jobs *jobs_over(const struct bench_way *way,
			      const struct bench_trace *trace)
{
	struct kipt_flow_config config = bench_way_config(way, trace);
	struct kipt_code code = bench_trace_code(trace);
	struct jobs *jobs = jobs_create(&config, &code, way->threads);

	if (!jobs)
		fprintf(stderr, "bench: no memory for threads over %s\n",
			trace->name);
	return jobs;
}

bool bench_threads_check(const struct bench_way *way,
			 const struct bench_trace *trace)
{
	struct proof proof = { .unpack = unpack_create(), .equal = true };
	struct jobs *jobs = jobs_over(way, trace);
	bool good = reference_init(&proof.reference, trace) && proof.unpack &&
		    jobs && prove(jobs, &proof, trace);

	reference_uninit(&proof.reference);
	unpack_destroy(proof.unpack);
	jobs_destroy(jobs);
	return good;
}

bool bench_threads_decode(const struct bench_way *way,
			  const struct bench_trace *trace,
			  struct bench_figure *figure)
{
	static struct bench_reader reader;
	struct kipt_sink sink = { .emit = bench_reader_take, .ctx = &reader };
	double start, others;
	struct jobs *jobs;

	bench_pin_none();
	others = stopwatch_others();
	start = stopwatch_wall();
	jobs = jobs_over(way, trace);
	if (!jobs)
		return false;
	jobs_run(jobs, trace->recording.trace, trace->recording.size, NULL,
		 &sink);
	figure->time = stopwatch_wall() - start;
	figure->others = stopwatch_others() - others;
	return true;
}
