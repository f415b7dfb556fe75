// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding by several threads, see jobs.h. Owns the flows, who decodes which
 * chunk, and the order in which records leave. Leaves decoding to the core.
 *
 * Chunks are numbered in the order of the trace. One thread at a time has the
 * turn: whoever decodes chunk number head. Its records go straight to the
 * sink. Records of later chunks are kept in batches in the chunk's slot. Who
 * ends the chunk at the head gives away what later chunks have ready, up to
 * the first that is not done: its thread has the turn from there on, and
 * gives away first what it kept. Who has the turn never waits for anything,
 * so that there is always somebody who gets on.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../../kmod/decode/sync.h"
#include "jobs.h"

#define BATCH_RECORDS		4096
/* 96 KiB each: what the other threads may be ahead of the sink. */
#define BATCHES_PER_JOB		160
#define CHUNKS_PER_JOB		4

/* Chunks are large against the distance of PSBs, small enough that what they
 * decode to fits into the batches, and many, so that all threads end at about
 * the same time.
 */
#define CHUNK_LEAST		4096
#define CHUNK_MOST		(64 << 10)
#define CHUNK_MOST_PATHS	(256 << 10)
#define CHUNK_MOST_COUNTS	(1 << 20)
#define PARTS_PER_JOB		32

#define HUGE_PAGE		(2 << 20)

struct batch {
	struct batch *next;
	u32 count;
	struct kipt_record records[BATCH_RECORDS];
};

/* A chunk that was begun and is not given away: the lists are its thread's
 * until it is done, then of who has the turn. @done: jobs->lock.
 */
struct slot {
	struct batch *first, *last;
	u32 owner;
	bool done;
};

/* One thread; all is its own. @turn: it has the turn, and kept nothing. */
struct worker {
	struct jobs *jobs;
	pthread_t thread;
	struct kipt_flow *flow;
	void *arena;
	u32 number;
	bool turn;
	u64 chunk;
	u64 from, to;
	enum kipt_status status;
};

struct jobs {
	struct kipt_flow_config config;
	struct kipt_code code;
	size_t arena_size;
	u32 count;
	/* Flows may know paths that the sink does not. */
	bool stale;

	/* The run; @sink and @dictionary are of who has the turn. */
	const u8 *trace;
	u64 size;
	u64 chunk_size;
	struct kipt_sink sink;
	u32 dictionary;
	atomic_bool stopped;
	/* Written under @lock; read without it, to see if it is one's turn. */
	atomic_ullong head;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Below: @lock. @next is the first chunk that nobody has, it starts
	 * at @cut; @next <= @head + the number of slots.
	 */
	u64 next;
	u64 cut;
	u32 waiting;
	u32 batches;
	struct batch *unused;

	struct worker workers[JOBS_MAX];
	struct slot slots[JOBS_MAX * CHUNKS_PER_JOB];
};

static struct slot *slot_of(struct jobs *jobs, u64 chunk)
{
	return &jobs->slots[chunk % (jobs->count * CHUNKS_PER_JOB)];
}

static bool counting(const struct jobs *jobs)
{
	return jobs->config.output & KIPT_FLOW_COUNTS;
}

/* With the lock held. */
static void wait_change(struct jobs *jobs)
{
	jobs->waiting++;
	pthread_cond_wait(&jobs->changed, &jobs->lock);
	jobs->waiting--;
}

/* With the lock held. */
static void tell_change(struct jobs *jobs)
{
	if (jobs->waiting)
		pthread_cond_broadcast(&jobs->changed);
}

static void stop(struct jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->stopped = true;
	tell_change(jobs);
	pthread_mutex_unlock(&jobs->lock);
}

/* Records for which nobody waits any more. */
static bool unwanted(const struct jobs *jobs)
{
	return jobs->stopped && !counting(jobs);
}

/* Only who has the turn. */
static void give(struct jobs *jobs, const struct kipt_record *records, u32 n)
{
	if (!unwanted(jobs) && !jobs->sink.emit(jobs->sink.ctx, records, n))
		stop(jobs);
}

/* Records that the flow of worker @owner made. Only who has the turn. */
static void give_of(struct jobs *jobs, u32 owner,
		    const struct kipt_record *records, u32 n)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_DICTIONARY,
		.flags = KIPT_RF_NO_IP,
		.aux = owner,
	};

	if (jobs->dictionary != owner &&
	    jobs->config.output & KIPT_FLOW_PATHS)
		give(jobs, &record, 1);
	jobs->dictionary = owner;
	give(jobs, records, n);
}

static void batch_put(struct jobs *jobs, struct batch *batch)
{
	pthread_mutex_lock(&jobs->lock);
	batch->next = jobs->unused;
	jobs->unused = batch;
	tell_change(jobs);
	pthread_mutex_unlock(&jobs->lock);
}

/* With the lock held; NULL: none now. The last used is the likeliest to be in
 * the CPU's cache.
 */
static struct batch *batch_find(struct jobs *jobs)
{
	struct batch *batch = jobs->unused;

	if (batch) {
		jobs->unused = batch->next;
		return batch;
	}
	if (jobs->batches >= jobs->count * BATCHES_PER_JOB)
		return NULL;
	batch = malloc(sizeof(*batch));
	if (batch)
		jobs->batches++;
	return batch;
}

/* Wait for a batch. NULL: there is no need for one any more, since the turn
 * has come or the records are unwanted. The turn comes to everybody, so this
 * ends even if there is no memory for a single batch.
 */
static struct batch *batch_get(struct worker *worker)
{
	struct jobs *jobs = worker->jobs;
	struct batch *batch = NULL;

	pthread_mutex_lock(&jobs->lock);
	while (jobs->head != worker->chunk && !unwanted(jobs)) {
		batch = batch_find(jobs);
		if (batch)
			break;
		wait_change(jobs);
	}
	pthread_mutex_unlock(&jobs->lock);
	if (batch) {
		batch->count = 0;
		batch->next = NULL;
	}
	return batch;
}

/* Give away what is kept in a slot. Only who has the turn. */
static void slot_drain(struct jobs *jobs, struct slot *slot)
{
	struct batch *batch;

	while ((batch = slot->first)) {
		slot->first = batch->next;
		give_of(jobs, slot->owner, batch->records, batch->count);
		batch_put(jobs, batch);
	}
	slot->last = NULL;
}

static void slot_append(struct slot *slot, struct batch *batch)
{
	if (slot->last)
		slot->last->next = batch;
	else
		slot->first = batch;
	slot->last = batch;
}

/* Keep records, all or as many as there is need for; returns how many. */
static u32 slot_keep(struct worker *worker, const struct kipt_record *records,
		     u32 n)
{
	struct slot *slot = slot_of(worker->jobs, worker->chunk);
	struct batch *batch = slot->last;
	u32 done = 0, part;

	while (done < n) {
		if (!batch || batch->count == BATCH_RECORDS) {
			batch = batch_get(worker);
			if (!batch)
				return done;
			slot_append(slot, batch);
		}
		part = BATCH_RECORDS - batch->count;
		if (part > n - done)
			part = n - done;
		memcpy(batch->records + batch->count, records + done,
		       part * sizeof(*records));
		batch->count += part;
		done += part;
	}
	return done;
}

static bool turn_have(struct worker *worker)
{
	struct jobs *jobs = worker->jobs;

	if (!worker->turn && jobs->head == worker->chunk) {
		worker->turn = true;
		slot_drain(jobs, slot_of(jobs, worker->chunk));
	}
	return worker->turn;
}

/* The sink of all flows. */
static bool records_take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct worker *worker = ctx;
	struct jobs *jobs = worker->jobs;
	u32 kept = 0;

	if (!turn_have(worker))
		kept = slot_keep(worker, records, n);
	if (kept < n && turn_have(worker))
		give_of(jobs, worker->number, records + kept, n - kept);
	return !unwanted(jobs);
}

/* With the lock held. Searched for in order, so that each byte is looked at
 * once even if PSBs are missing. The last ones are short: no thread works for
 * long when the others have ended.
 */
static u64 chunk_cut(struct jobs *jobs)
{
	u64 left = jobs->size - jobs->cut, chunk = jobs->chunk_size;

	if (jobs->count > 1 && chunk > left / (jobs->count * 2))
		chunk = left / (jobs->count * 2);
	if (chunk < CHUNK_LEAST)
		chunk = CHUNK_LEAST;
	if (left <= chunk)
		return jobs->size;
	return kipt_sync_next(jobs->trace, jobs->size, jobs->cut + chunk);
}

/* Returns false when none is left. */
static bool chunk_get(struct worker *worker)
{
	struct jobs *jobs = worker->jobs;
	struct slot *slot;
	bool more;

	pthread_mutex_lock(&jobs->lock);
	while (!jobs->stopped && jobs->cut < jobs->size &&
	       jobs->next - jobs->head >= jobs->count * CHUNKS_PER_JOB)
		wait_change(jobs);
	more = !jobs->stopped && jobs->cut < jobs->size;
	if (more) {
		worker->turn = false;
		worker->chunk = jobs->next++;
		worker->from = jobs->cut;
		worker->to = jobs->cut = chunk_cut(jobs);
		slot = slot_of(jobs, worker->chunk);
		slot->owner = worker->number;
		slot->done = false;
	}
	pthread_mutex_unlock(&jobs->lock);
	return more;
}

/* The chunk at the head is given away. Returns the slot of the next one if it
 * is done, else NULL: its thread has the turn, or whoever begins it.
 */
static struct slot *head_move(struct jobs *jobs)
{
	struct slot *slot = NULL;

	pthread_mutex_lock(&jobs->lock);
	jobs->head++;
	if (jobs->head < jobs->next) {
		slot = slot_of(jobs, jobs->head);
		if (!slot->done)
			slot = NULL;
	}
	tell_change(jobs);
	pthread_mutex_unlock(&jobs->lock);
	return slot;
}

static void chunk_end(struct worker *worker)
{
	struct jobs *jobs = worker->jobs;
	struct slot *slot = slot_of(jobs, worker->chunk);
	bool mine;

	pthread_mutex_lock(&jobs->lock);
	slot->done = true;
	mine = jobs->head == worker->chunk;
	pthread_mutex_unlock(&jobs->lock);
	for (; mine && slot; slot = head_move(jobs))
		slot_drain(jobs, slot);
}

static void *work(void *ctx)
{
	struct worker *worker = ctx;
	const struct jobs *jobs = worker->jobs;
	enum kipt_status status;

	while (chunk_get(worker)) {
		status = kipt_flow_run(worker->flow, jobs->trace, jobs->size,
				       worker->from, worker->to);
		if (status == KIPT_NO_PSB)
			worker->status = status;
		chunk_end(worker);
	}
	return NULL;
}

/* Where threads are refused, those that there are do the work. */
static void work_all(struct jobs *jobs)
{
	u32 i, started = 1;

	while (started < jobs->count &&
	       !pthread_create(&jobs->workers[started].thread, NULL, work,
			       &jobs->workers[started]))
		started++;
	work(&jobs->workers[0]);
	for (i = 1; i < started; i++)
		pthread_join(jobs->workers[i].thread, NULL);
}

static u64 chunk_size(const struct jobs *jobs)
{
	u64 most = CHUNK_MOST, part;

	if (counting(jobs))
		most = CHUNK_MOST_COUNTS;
	else if (jobs->count == 1)
		return jobs->size;
	else if (jobs->config.output & KIPT_FLOW_PATHS)
		most = CHUNK_MOST_PATHS;
	part = jobs->size / (jobs->count * PARTS_PER_JOB);
	if (part < CHUNK_LEAST)
		return CHUNK_LEAST;
	return part < most ? part : most;
}

static bool flows_init(struct jobs *jobs)
{
	u32 i;

	for (i = 0; i < jobs->count; i++) {
		struct worker *worker = &jobs->workers[i];
		struct kipt_sink sink = { records_take, worker };

		worker->flow = kipt_flow_init(worker->arena, jobs->arena_size,
					      &jobs->config, &jobs->code,
					      &sink);
		if (!worker->flow)
			return false;
	}
	jobs->stale = false;
	jobs->dictionary = 0;
	return true;
}

/* The edges of all flows, one flow after the other. */
static void counts_give(struct jobs *jobs)
{
	u32 i;

	for (i = 0; i < jobs->count; i++) {
		jobs->workers[i].turn = true;
		kipt_flow_counts(jobs->workers[i].flow);
	}
}

static enum kipt_status result(struct jobs *jobs)
{
	enum kipt_status status = KIPT_OK;
	u32 i;

	for (i = 0; i < jobs->count; i++) {
		if (jobs->workers[i].status != KIPT_OK)
			status = jobs->workers[i].status;
	}
	if (!jobs->stopped)
		return status;
	jobs->stale = !counting(jobs);
	return KIPT_STOPPED;
}

enum kipt_status jobs_run(struct jobs *jobs, const u8 *trace, u64 size,
			  const struct kipt_sink *sink)
{
	u32 i;

	if (jobs->stale && !flows_init(jobs))
		return KIPT_NO_MEMORY;
	jobs->trace = trace;
	jobs->size = size;
	jobs->sink = *sink;
	jobs->stopped = false;
	jobs->head = jobs->next = jobs->cut = 0;
	jobs->chunk_size = chunk_size(jobs);
	for (i = 0; i < jobs->count; i++)
		jobs->workers[i].status = KIPT_OK;
	work_all(jobs);
	if (counting(jobs))
		counts_give(jobs);
	return result(jobs);
}

static u64 memory_share(const struct kipt_flow_config *config, u32 count)
{
	u64 share = (config->memory ? config->memory : KIPT_FLOW_MEMORY) /
		    count;

	return share > KIPT_FLOW_MEMORY_MIN ? share : KIPT_FLOW_MEMORY_MIN;
}

/* Large pages save most of the TLB misses of looking things up there. */
static void *arena_make(size_t size)
{
	bool large = size >= HUGE_PAGE;
	void *arena;

	if (posix_memalign(&arena, large ? HUGE_PAGE : 64, size))
		return NULL;
	if (large)
		madvise(arena, size, MADV_HUGEPAGE);
	return arena;
}

struct jobs *jobs_create(const struct kipt_flow_config *config,
			 const struct kipt_code *code, u32 count)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	bool ok = jobs;
	u32 i;

	if (!jobs)
		return NULL;
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->changed, NULL);
	jobs->config = *config;
	jobs->config.memory = memory_share(config, count);
	jobs->code = *code;
	jobs->count = count;
	jobs->arena_size = kipt_flow_size(&jobs->config);
	for (i = 0; i < count && ok; i++) {
		jobs->workers[i].jobs = jobs;
		jobs->workers[i].number = i;
		jobs->workers[i].arena = arena_make(jobs->arena_size);
		ok = jobs->workers[i].arena;
	}
	if (ok && flows_init(jobs))
		return jobs;
	jobs_destroy(jobs);
	return NULL;
}

void jobs_destroy(struct jobs *jobs)
{
	struct batch *batch;
	u32 i;

	if (!jobs)
		return;
	while ((batch = jobs->unused)) {
		jobs->unused = batch->next;
		free(batch);
	}
	for (i = 0; i < jobs->count; i++)
		free(jobs->workers[i].arena);
	pthread_cond_destroy(&jobs->changed);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
