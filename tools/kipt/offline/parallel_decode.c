// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding by several threads, see parallel_decode.h. Owns the flows and who decodes which
 * chunk. Leaves decoding to the core, and the order of records to reorder.c.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/packet/psb.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../../../kmod/shared/patch_log.h"
#include "../../../kmod/shared/text_view.h"
#include "../../../kmod/shared/tsc_extend.h"
#include "../cli/large_memory.h"
#include "../records/reorder.h"
#include "../records/tool_records.h"
#include "parallel_decode.h"
#include "time_window.h"

/* Chunks are large against the distance of PSBs, small enough that what they
 * decode to fits into the batches, and many, so that all threads end at about
 * the same time.
 */
#define CHUNK_LEAST		4096
#define CHUNK_MOST		(64 << 10)
#define CHUNK_MOST_PACKED	(256 << 10)
#define CHUNK_MOST_COUNTS	(1 << 20)
#define PARTS_PER_JOB		32

#define NAMED_AT_ONCE		64

/* From where tracing was off to the TIP.PGE. */
#define RESUME_PACKETS		16

/* One thread; all is its own. */
struct worker {
	struct jobs *jobs;
	pthread_t thread;
	struct kipt_flow *flow;
	void *arena;
	u32 number;
	u64 from, to;
	enum kipt_status status;
	/* The flow's sums that went to the sink. */
	struct kipt_flow_sums given;
	/* Kernel text as it decodes with it. */
	struct kipt_text_view view;
};

struct jobs {
	struct kipt_flow_config config;
	struct kipt_code code;
	/* Without a log kernel text does not change. */
	struct jobs_text text;
	size_t arena_size;
	u32 count;
	/* Flows may have given records to nobody. */
	bool stale;
	struct order *order;

	/* The run. */
	const u8 *trace;
	u64 size;
	/* Where it ends. */
	u64 end;
	u64 chunk_size;

	pthread_mutex_t lock;
	/* Below: @lock. @next is the first chunk that nobody has, it starts
	 * at @cut.
	 */
	u64 next;
	u64 cut;

	struct worker workers[JOBS_MAX];
};

static bool counting(const struct jobs *jobs)
{
	return jobs->config.output & KIPT_FLOW_COUNTS;
}

static bool records_give(struct worker *worker,
			 const struct kipt_record *records, u32 n)
{
	return order_take(worker->jobs->order, worker->number, records, n);
}

/* Instructions of the kernel say which patch their text was read before. */
static bool patches_name(struct worker *worker,
			 const struct kipt_record *records, u32 n)
{
	struct kipt_record named[NAMED_AT_ONCE];
	u32 i, count;

	for (; n; n -= count, records += count) {
		count = n < NAMED_AT_ONCE ? n : NAMED_AT_ONCE;
		memcpy(named, records, count * sizeof(*named));
		for (i = 0; i < count; i++) {
			if (named[i].type == KIPT_RECORD_INSN && named[i].ip >> 63 &&
			    named[i].value != KIPT_SPACE_GUEST)
				named[i].value = worker->view.at;
		}
		if (!records_give(worker, named, count))
			return false;
	}
	return true;
}

/* What the flow summed up since the last time. */
static bool sums_give(struct worker *worker)
{
	struct kipt_flow_sums sums = kipt_flow_sums(worker->flow);
	const struct kipt_record record = {
		.type = RECORD_SUMS,
		.ip = sums.insns - worker->given.insns,
		.value = sums.branches - worker->given.branches,
	};

	if (!record.value)
		return true;
	worker->given = sums;
	return records_give(worker, &record, 1);
}

/* The sink of all flows. */
static bool records_take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct worker *worker = ctx;
	const struct jobs *jobs = worker->jobs;

	/* Before the records: a sink that stops at them has counted their sums. */
	if (!sums_give(worker))
		return false;
	return jobs->text.log && jobs->config.output & KIPT_FLOW_CODE ?
	       patches_name(worker, records, n) :
	       records_give(worker, records, n);
}

/* With the lock held. Searched for in order, so that each byte is looked at
 * once even if PSBs are missing. The last ones are short: no thread works for
 * long when the others have ended.
 */
static u64 chunk_cut(struct jobs *jobs)
{
	u64 left = jobs->end - jobs->cut, chunk = jobs->chunk_size;

	if (jobs->count > 1 && chunk > left / (jobs->count * 2))
		chunk = left / (jobs->count * 2);
	if (chunk < CHUNK_LEAST)
		chunk = CHUNK_LEAST;
	return kipt_sync_cut(jobs->trace, jobs->end, jobs->cut, chunk);
}

/* Returns false when none is left. */
static bool chunk_get(struct worker *worker)
{
	struct jobs *jobs = worker->jobs;
	u64 chunk;
	bool more;

	pthread_mutex_lock(&jobs->lock);
	more = !order_stopped(jobs->order) && jobs->cut < jobs->end;
	if (more) {
		chunk = jobs->next++;
		worker->from = jobs->cut;
		worker->to = jobs->cut = chunk_cut(jobs);
	}
	pthread_mutex_unlock(&jobs->lock);
	return more && order_begin(jobs->order, worker->number, chunk);
}

/* Time in the PSB+ at an offset; 0: unknown. */
static u64 time_at(const struct jobs *jobs, u64 offset)
{
	u64 tsc;

	if (!jobs->text.timed || offset >= jobs->size ||
	    !kipt_psb_tsc(jobs->trace, jobs->size, offset, &tsc))
		return 0;
	return kipt_tsc_extend(jobs->config.tsc_near, tsc);
}

/* Is text the same from one PSB to another? */
static bool is_quiet(const struct jobs *jobs, u64 begin, u64 end)
{
	const struct kipt_patch_log *log = jobs->text.log;
	u64 count = kipt_patch_log_count(log);

	return begin > jobs->text.slack && end >= begin &&
	       kipt_patch_log_at(log, 0, count, begin - jobs->text.slack) ==
	       kipt_patch_log_at(log, 0, count, end);
}

/* Where the text that a stretch is decoded with ends to hold: all of the chunk, or the
 * next PSB.
 */
static u64 stretch_end(const struct worker *worker, u64 psb)
{
	const struct jobs *jobs = worker->jobs;
	u64 next;

	if (is_quiet(jobs, time_at(jobs, psb), time_at(jobs, worker->to)))
		return worker->to;
	next = psb + KIPT_PSB_BYTES < worker->to ?
	       kipt_sync_next(jobs->trace, jobs->size, psb + KIPT_PSB_BYTES) :
	       worker->to;
	return next < worker->to ? next : worker->to;
}

/* The first moment after an offset. */
static const struct jobs_moment *moment_after(const struct jobs *jobs, u64 offset)
{
	const struct jobs_moment *moments = jobs->text.moments;
	size_t low = 0, high = jobs->text.moment_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (moments[middle].at <= jobs->trace + offset)
			low = middle + 1;
		else
			high = middle;
	}
	return moments + low;
}

/* When tracing went on after a moment, by the TSC packet there; one before it contradicts
 * it, and then it is the earlier time from which on text may have changed.
 */
static u64 time_after(const struct jobs *jobs, const struct jobs_moment *moment, u64 end)
{
	u64 offset = moment->at - jobs->trace, tsc;
	struct kipt_packet packet;
	struct kipt_cursor cursor;
	u32 i;

	kipt_cursor_init(&cursor, jobs->trace + offset, jobs->size - offset);
	for (i = 0; i < RESUME_PACKETS; i++) {
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
		    packet.type == KIPT_PACKET_TIP_PGE)
			break;
		if (packet.type != KIPT_PACKET_TSC)
			continue;
		tsc = kipt_tsc_extend(jobs->config.tsc_near, packet.value);
		return tsc <= end ? tsc : moment->tsc;
	}
	return moment->tsc;
}

/* Kernel text is as of the begin of a stretch, and then of each moment in it. */
static enum kipt_status stretch_work(struct worker *worker, u64 from, u64 psb, u64 to)
{
	const struct jobs *jobs = worker->jobs;
	const struct jobs_moment *last = jobs->text.moments + jobs->text.moment_count;
	const struct jobs_moment *passed = NULL, *next;
	u64 begin = time_at(jobs, psb), end, at = psb;
	enum kipt_status status;
	bool pauses;

	do {
		next = begin ? moment_after(jobs, at) : last;
		pauses = next < last && next->at < jobs->trace + to;
		if (pauses) {
			end = next->tsc;
			kipt_flow_until(worker->flow, next->at - jobs->trace);
		} else {
			end = time_at(jobs, to);
			end = end ? end : ~0ULL;
			kipt_flow_until(worker->flow, 0);
		}
		if (passed)
			begin = time_after(jobs, passed, end);
		kipt_text_view_at(&worker->view, worker->flow, begin, end);
		status = passed ? kipt_flow_resume(worker->flow) :
				  kipt_flow_run(worker->flow, jobs->trace, jobs->size, from, to);
		passed = next;
		at = kipt_flow_paused_at(worker->flow);
	} while (status == KIPT_PAUSED && pauses);
	return status;
}

static enum kipt_status stretches_work(struct worker *worker)
{
	const struct jobs *jobs = worker->jobs;
	enum kipt_status status = KIPT_OK;
	u64 from, to, psb;

	for (from = worker->from; from < worker->to && status == KIPT_OK; from = to) {
		psb = kipt_sync_next(jobs->trace, jobs->size, from);
		to = stretch_end(worker, psb);
		status = stretch_work(worker, from, psb, to);
	}
	return status;
}

static enum kipt_status chunk_work(struct worker *worker)
{
	const struct jobs *jobs = worker->jobs;

	if (jobs->text.log)
		return stretches_work(worker);
	return kipt_flow_run(worker->flow, jobs->trace, jobs->size,
			     worker->from, worker->to);
}

static void *work(void *ctx)
{
	struct worker *worker = ctx;
	const struct jobs *jobs = worker->jobs;
	enum kipt_status status;

	while (chunk_get(worker)) {
		status = chunk_work(worker);
		if (status == KIPT_NO_PSB)
			worker->status = status;
		sums_give(worker);
		order_end(jobs->order, worker->number);
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
	u64 most = CHUNK_MOST, size = jobs->end - jobs->cut, part;

	if (counting(jobs))
		most = CHUNK_MOST_COUNTS;
	else if (jobs->count == 1)
		return size;
	else if (jobs->config.output & KIPT_FLOW_PACKED)
		most = CHUNK_MOST_PACKED;
	part = size / (jobs->count * PARTS_PER_JOB);
	if (part < CHUNK_LEAST)
		return CHUNK_LEAST;
	return part < most ? part : most;
}

static u32 text_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct worker *worker = ctx;
	const struct jobs *jobs = worker->jobs;

	if (!(ip >> 63) || space == KIPT_SPACE_GUEST)
		return jobs->code.read(jobs->code.ctx, space, ip, buf, len);
	return jobs->text.read(jobs->text.ctx, &worker->view, ip, buf, len);
}

static u64 text_space(void *ctx, u64 cr3, bool nr)
{
	const struct kipt_code *code = &((struct worker *)ctx)->jobs->code;

	return code->space ? code->space(code->ctx, cr3, nr) : 0;
}

static bool text_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	const struct worker *worker = ctx;
	const struct kipt_code *code = &worker->jobs->code;

	if (!(ip >> 63) || space == KIPT_SPACE_GUEST)
		return code->changed &&
		       code->changed(code->ctx, space, ip, len);
	return kipt_text_view_sure(&worker->view, ip, len) < len;
}

/* Text that changes is another for each flow. */
static struct kipt_code code_of(struct worker *worker)
{
	const struct jobs_text *text = &worker->jobs->text;

	if (!text->log)
		return worker->jobs->code;
	kipt_text_view_init(&worker->view, text->log, 0,
			    kipt_patch_log_count(text->log), text->slack);
	return (struct kipt_code){
		.read = text_read,
		.space = text_space,
		.changed = text_changed,
		.ctx = worker,
	};
}

static bool flows_init(struct jobs *jobs)
{
	u32 i;

	for (i = 0; i < jobs->count; i++) {
		struct worker *worker = &jobs->workers[i];
		struct kipt_sink sink = { records_take, worker };
		struct kipt_code code = code_of(worker);

		worker->flow = kipt_flow_init(worker->arena, jobs->arena_size,
					      &jobs->config, &code, &sink);
		if (!worker->flow)
			return false;
		worker->given = (struct kipt_flow_sums){ 0 };
	}
	jobs->stale = false;
	order_forget(jobs->order);
	return true;
}

/* The edges of all flows, one flow after the other. */
static void counts_give(struct jobs *jobs)
{
	u32 i;

	for (i = 0; i < jobs->count; i++) {
		order_last(jobs->order, i);
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
	if (!order_stopped(jobs->order))
		return status;
	jobs->stale = !counting(jobs);
	return KIPT_STOPPED;
}

/* Both ends are PSBs, or those of the trace. */
static enum kipt_status stretch_run(struct jobs *jobs, u64 from, u64 to,
				    const struct kipt_sink *sink)
{
	u32 i;

	if (jobs->stale && !flows_init(jobs))
		return KIPT_NO_MEMORY;
	order_start(jobs->order, sink);
	jobs->next = 0;
	jobs->cut = from;
	jobs->end = to;
	jobs->chunk_size = chunk_size(jobs);
	for (i = 0; i < jobs->count; i++)
		jobs->workers[i].status = KIPT_OK;
	work_all(jobs);
	if (counting(jobs))
		counts_give(jobs);
	return result(jobs);
}

enum kipt_status jobs_run(struct jobs *jobs, const u8 *trace, u64 size,
			  const struct time_window *window,
			  const struct kipt_sink *sink)
{
	const struct time_window whole = { .to = size };
	enum kipt_status status = KIPT_OK;

	if (!window)
		window = &whole;
	jobs->trace = trace;
	jobs->size = size;
	if (window->head)
		status = stretch_run(jobs, 0, window->head, sink);
	return status != KIPT_OK ? status :
	       stretch_run(jobs, window->from, window->to, sink);
}

static u64 memory_share(const struct kipt_flow_config *config, u32 count)
{
	u64 share = kipt_flow_memory(config) / count;

	return share > KIPT_FLOW_MEMORY_MIN ? share : KIPT_FLOW_MEMORY_MIN;
}

struct jobs *jobs_create(const struct kipt_flow_config *config,
			 const struct kipt_code *code, u32 count)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	bool ok;
	u32 i;

	if (!jobs)
		return NULL;
	pthread_mutex_init(&jobs->lock, NULL);
	jobs->config = *config;
	jobs->config.memory = memory_share(config, count);
	jobs->code = *code;
	jobs->count = count;
	jobs->arena_size = kipt_flow_size(&jobs->config);
	jobs->order = order_create(count, config->output & KIPT_FLOW_PACKED,
				   counting(jobs));
	ok = jobs->order;
	for (i = 0; i < count && ok; i++) {
		jobs->workers[i].jobs = jobs;
		jobs->workers[i].number = i;
		jobs->workers[i].arena = large_alloc(jobs->arena_size);
		ok = jobs->workers[i].arena;
	}
	if (ok && flows_init(jobs))
		return jobs;
	jobs_destroy(jobs);
	return NULL;
}

void jobs_moments(struct jobs *jobs, const struct jobs_moment *moments, size_t count)
{
	static const struct jobs_moment none;

	/* So that nothing is added to NULL. */
	jobs->text.moments = count ? moments : &none;
	jobs->text.moment_count = count;
}

bool jobs_text(struct jobs *jobs, const struct jobs_text *text)
{
	jobs->text = *text;
	jobs_moments(jobs, text->moments, text->moment_count);
	return flows_init(jobs);
}

void jobs_destroy(struct jobs *jobs)
{
	u32 i;

	if (!jobs)
		return;
	for (i = 0; i < jobs->count; i++)
		free(jobs->workers[i].arena);
	order_destroy(jobs->order);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
