// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetches: cuts traces into chunks, runs the decoder core on them in workers
 * of an unbound workqueue, and runs the delivery. Leaves the order of records
 * to chunk.c and deliver.c, code bytes to code_bytes.c. Process context.
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>

#include "buffer.h"
#include "chunk.h"
#include "code_bytes.h"
#include "decode/cursor.h"
#include "decode/flow.h"
#include "decode/packet.h"
#include "decode/sync.h"
#include "decode_worker.h"
#include "deliver.h"
#include "hw_regs.h"
#include "session.h"
#include "sideband.h"
#include "text_patch.h"

static_assert(KIPT_FLOW_BRANCHES == KIPT_OUTPUT_BRANCHES);
static_assert(KIPT_FLOW_CALLS == KIPT_OUTPUT_CALLS);
static_assert(KIPT_FLOW_INSNS == KIPT_OUTPUT_INSNS);
static_assert(KIPT_FLOW_TIME == KIPT_OUTPUT_TIME);

/* Large against a PSB period, small against a trace. */
#define CHUNK_BYTES	(256U << 10)
#define WORKERS_MAX	32U
/* Of each worker, for code and for the ways through it. */
#define WORKER_MEMORY	(8U << 20)
#define ARENA_ALIGN	64
/* More than any patch takes, also where a machine is emulated. */
#define PATCH_SLACK_MS	50
/* Forgetting looks at every block: more patches than this forget them all. */
#define FORGET_MAX	64
/* A PSB+ is shorter than this. */
#define PSB_PACKETS_MAX	64

static struct workqueue_struct *workers_wq;

/* One CPU's trace; @data is contiguous also if the ring wrapped. */
struct source {
	struct kipt_trace *trace;
	const u8 *view;
	const u8 *data;
	u64 size;
	u64 next;
};

struct worker {
	struct work_struct work;
	struct kipt_fetch *fetch;
	void *arena;
	struct kipt_flow *flow;
	struct kipt_code_reader reader;
	struct kipt_chunk *chunk;
	struct kipt_batch *batch;
	bool changed;
};

struct kipt_fetch {
	struct kipt_session *session;
	struct kipt_deliver deliver;
	struct kipt_chunk_queue queue;
	struct kipt_code_bytes *bytes;
	struct work_struct deliver_work;
	u64 trace_bytes;
	bool begun;
	bool finished;
	/* Guards the place of the next chunk. */
	struct mutex cut_lock;
	u32 cut_source;
	u32 nr_sources;
	struct source *sources;
	u32 nr_workers;
	atomic_t running_workers;
	struct worker *workers;
};

int kipt_decode_init(void)
{
	workers_wq = alloc_workqueue("kipt", WQ_UNBOUND, 0);
	return workers_wq ? 0 : -ENOMEM;
}

void kipt_decode_uninit(void)
{
	destroy_workqueue(workers_wq);
}

/*
 * Past code that changed the decoder does not know who called, so RETs up to
 * the next PSB fail for the same reason.
 */
static void explain_gap(struct worker *worker, struct kipt_record *gap)
{
	if (gap->kind == KIPT_GAP_CODE_CHANGED)
		worker->changed = true;
	else if (gap->kind == KIPT_GAP_DECODE && gap->aux == KIPT_BAD_RET &&
		 worker->changed)
		gap->kind = KIPT_GAP_CODE_CHANGED;
}

static bool keep_record(struct worker *worker, const struct kipt_record *record)
{
	struct kipt_chunk_queue *queue = &worker->fetch->queue;
	struct kipt_record *kept;

	if (!worker->batch)
		worker->batch = kipt_chunk_batch(queue, worker->chunk);
	if (!worker->batch)
		return false;
	kept = &worker->batch->records[worker->batch->count++];
	*kept = *record;
	if (kept->type == KIPT_RECORD_GAP)
		explain_gap(worker, kept);
	if (worker->batch->count == KIPT_BATCH_RECORDS) {
		kipt_chunk_push(queue, worker->chunk, worker->batch);
		worker->batch = NULL;
	}
	return true;
}

static bool kipt_decode_emit(void *ctx, const struct kipt_record *records,
			     u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!keep_record(ctx, &records[i]))
			return false;
	cond_resched();
	return true;
}

/*
 * Without OS no packet names an address space, and a decoder has one for all
 * of a chunk: make chunks short, so that little is read from the wrong one.
 */
static bool user_only(const struct kipt_fetch *fetch)
{
	return !(fetch->session->ctl & RTIT_CTL_OS);
}

/* The first PSB at or after the wished end. */
static u64 cut(const struct kipt_fetch *fetch, const struct source *source,
	       u64 from)
{
	u64 wish = from + (user_only(fetch) ? 1 : CHUNK_BYTES);

	if (wish >= source->size)
		return source->size;
	return kipt_sync_next(source->data, source->size, wish);
}

static struct kipt_chunk *cut_chunk(struct kipt_fetch *fetch)
{
	struct source *source;
	struct kipt_chunk *chunk;

	if (fetch->cut_source == fetch->nr_sources)
		return NULL;
	chunk = kipt_chunk_open(&fetch->queue);
	if (!chunk)
		return NULL;
	source = &fetch->sources[fetch->cut_source];
	chunk->source = fetch->cut_source;
	chunk->from = source->next;
	chunk->to = cut(fetch, source, source->next);
	source->next = chunk->to;
	chunk->last = chunk->to == source->size;
	if (chunk->last)
		fetch->cut_source++;
	kipt_chunk_publish(&fetch->queue, chunk);
	if (fetch->cut_source == fetch->nr_sources)
		kipt_chunk_queue_end(&fetch->queue);
	return chunk;
}

static struct kipt_chunk *next_chunk(struct kipt_fetch *fetch)
{
	struct kipt_chunk *chunk;

	mutex_lock(&fetch->cut_lock);
	chunk = cut_chunk(fetch);
	mutex_unlock(&fetch->cut_lock);
	return chunk;
}

/* Time in the PSB+ at an offset, or 0 if it has none. */
static u64 psb_time(const struct source *source, u64 from)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	u64 at = kipt_sync_next(source->data, source->size, from);
	u32 i;

	kipt_cursor_init(&cursor, source->data + at, source->size - at);
	for (i = 0; i < PSB_PACKETS_MAX; i++) {
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
		    packet.type == KIPT_PACKET_PSBEND)
			break;
		if (packet.type == KIPT_PACKET_TSC)
			return packet.value;
	}
	return 0;
}

static void choose_space(struct worker *worker, const struct source *source,
			 u64 from)
{
	u64 space = kipt_sideband_running_at(worker->fetch->session->sideband,
					     source->trace->cpu,
					     psb_time(source, from));

	if (space == worker->reader.unnamed)
		return;
	worker->reader.unnamed = space;
	kipt_flow_forget(worker->flow, 0, 0, ~0ULL);
}

/*
 * Kernel text as of another patch from now on: what the decoder remembers of
 * the places that differ is wrong.
 */
static void set_text(struct worker *worker, u64 text_at)
{
	struct kipt_code_reader *reader = &worker->reader;
	u64 number = min(reader->text_at, text_at);
	u64 last = max(reader->text_at, text_at);
	u64 begin, end;

	reader->text_at = text_at;
	for (; number < last; number++) {
		if (last - number <= FORGET_MAX &&
		    kipt_text_patch_range(number, &begin, &end)) {
			kipt_flow_forget(worker->flow, 0, begin, end);
			continue;
		}
		kipt_flow_forget(worker->flow, 0, 0, ~0ULL);
		break;
	}
}

/*
 * The patches of kernel text that were made near the stretch from one PSB to
 * another. A patch takes a while from where its time is taken to where every
 * CPU sees it.
 */
static void find_patches(struct worker *worker, const struct source *source,
			 u64 from, u64 to)
{
	const struct kipt_session *session = worker->fetch->session;
	struct kipt_code_reader *reader = &worker->reader;
	u64 first = session->first_patch, end = session->end_patch;
	u64 begin_time = psb_time(source, from);
	u64 end_time = to < source->size ? psb_time(source, to) : ~0ULL;
	u64 slack = (u64)tsc_khz * PATCH_SLACK_MS;

	set_text(worker, begin_time ?
		 kipt_text_patch_at(first, end, begin_time) : end);
	reader->text_first = begin_time > slack ?
		kipt_text_patch_at(first, end, begin_time - slack) : first;
	reader->text_unsure = end_time ?
		kipt_text_patch_at(first, end, end_time) : end;
	if (!kipt_text_patch_lost(first, begin_time))
		return;
	reader->text_first = first;
	reader->text_unsure = end;
}

static void run(struct worker *worker, const struct source *source, u64 from,
		u64 to)
{
	worker->changed = false;
	kipt_flow_run(worker->flow, source->data, source->size, from, to);
}

/* Stretch by stretch, each with the text of its time. */
static void decode_patched(struct worker *worker, const struct source *source,
			   u64 from, u64 to)
{
	u64 psb, end;

	for (; from < to && !worker->fetch->queue.cancelled; from = end) {
		psb = kipt_sync_next(source->data, source->size, from);
		end = min(to, kipt_sync_next(source->data, source->size,
					     min(psb + 1, source->size)));
		find_patches(worker, source, psb, end);
		run(worker, source, from, end);
	}
}

static void decode_source(struct worker *worker, const struct source *source)
{
	const struct kipt_session *session = worker->fetch->session;
	struct kipt_chunk *chunk = worker->chunk;

	if (user_only(worker->fetch))
		choose_space(worker, source, chunk->from);
	if (session->first_patch == session->end_patch ||
	    user_only(worker->fetch))
		run(worker, source, chunk->from, chunk->to);
	else
		decode_patched(worker, source, chunk->from, chunk->to);
}

static void decode_chunk(struct worker *worker)
{
	struct kipt_fetch *fetch = worker->fetch;
	struct kipt_chunk *chunk = worker->chunk;
	struct source *source = &fetch->sources[chunk->source];

	if (source->size)
		decode_source(worker, source);
	if (worker->batch)
		kipt_chunk_push(&fetch->queue, chunk, worker->batch);
	worker->batch = NULL;
	kipt_chunk_done(&fetch->queue, chunk);
}

static void work_on_chunks(struct work_struct *work)
{
	struct worker *worker = container_of(work, struct worker, work);
	struct kipt_fetch *fetch = worker->fetch;

	while ((worker->chunk = next_chunk(fetch)))
		decode_chunk(worker);
	if (atomic_dec_and_test(&fetch->running_workers))
		wake_up_all(&fetch->queue.wait);
}

static void free_worker(struct worker *worker)
{
	kvfree(worker->arena);
	worker->arena = NULL;
}

static void free_sources(struct kipt_fetch *fetch)
{
	u32 i;

	for (i = 0; i < fetch->nr_sources; i++) {
		struct source *source = &fetch->sources[i];

		if (source->view)
			kipt_buffer_unview(source->trace->buffer);
		source->view = NULL;
	}
}

/* What the fetch took from the session and what is large; may come twice. */
static void free_parts(struct kipt_fetch *fetch)
{
	u32 i;

	for (i = 0; i < fetch->nr_workers; i++)
		free_worker(&fetch->workers[i]);
	free_sources(fetch);
	kipt_code_bytes_destroy(fetch->bytes);
	fetch->bytes = NULL;
}

static void deliver_chunks(struct kipt_fetch *fetch)
{
	struct kipt_chunk *chunk;

	while ((chunk = kipt_chunk_head(&fetch->queue))) {
		struct kipt_trace *trace = fetch->sources[chunk->source].trace;

		if (!chunk->from)
			kipt_deliver_begin_cpu(&fetch->deliver, trace);
		kipt_deliver_chunk(&fetch->deliver, chunk, trace);
		/* When cancelled, a worker may still have this chunk. */
		if (READ_ONCE(fetch->queue.cancelled))
			break;
		if (chunk->last)
			kipt_deliver_end_cpu(&fetch->deliver, trace);
		kipt_chunk_drop(&fetch->queue, chunk);
	}
}

static void deliver_work(struct work_struct *work)
{
	struct kipt_fetch *fetch =
		container_of(work, struct kipt_fetch, deliver_work);

	deliver_chunks(fetch);
	wait_event_idle(fetch->queue.wait,
			!atomic_read(&fetch->running_workers));
	/* Cancelled without a reason of its own: memory ran out. */
	if (fetch->queue.cancelled)
		cmpxchg(&fetch->deliver.stop_errno, 0, ENOMEM);
	free_parts(fetch);
	/*
	 * Who reads the last message may start the session right away, so the
	 * session is let go of first. Pairs with kipt_fetch_running().
	 */
	smp_store_release(&fetch->finished, true);
	kipt_deliver_last(&fetch->deliver);
}

static int add_source(struct kipt_fetch *fetch, struct kipt_trace *trace)
{
	struct source *source = &fetch->sources[fetch->nr_sources++];

	source->trace = trace;
	atomic64_set(&trace->records, 0);
	if (trace->strayed || !trace->bytes)
		return 0;
	source->view = kipt_buffer_view(trace->buffer);
	if (!source->view)
		return -ENOMEM;
	source->data = source->view + (trace->wrapped ? trace->head : 0);
	source->size = trace->bytes;
	fetch->trace_bytes += trace->bytes;
	return 0;
}

static int add_sources(struct kipt_fetch *fetch, u32 only_cpu)
{
	struct kipt_session *session = fetch->session;
	u32 i;
	int err;

	fetch->sources = kcalloc(session->nr_traces, sizeof(*fetch->sources),
				 GFP_KERNEL);
	if (!fetch->sources)
		return -ENOMEM;
	for (i = 0; i < session->nr_traces; i++) {
		if (only_cpu != KIPT_FETCH_ALL_CPUS &&
		    session->traces[i].cpu != only_cpu)
			continue;
		err = add_source(fetch, &session->traces[i]);
		if (err)
			return err;
	}
	return 0;
}

static void fill_config(const struct kipt_session *session, u32 output,
			struct kipt_flow_config *config)
{
	*config = (struct kipt_flow_config) {
		.output = output,
		.memory = WORKER_MEMORY,
		.tsc_num = session->caps.tsc_num,
		.tsc_den = session->caps.tsc_den,
		.mtc_freq = (session->ctl & RTIT_CTL_MTCFREQ) >>
			    RTIT_CTL_MTCFREQ_SHIFT,
		.max_nonturbo_ratio = session->caps.max_nonturbo_ratio,
		.no_tnt = session->ctl & RTIT_CTL_DISTNT,
		.tsc_near = get_cycles(),
	};
	/* Time places the TASK records, also when it is not asked for. */
	if (session->ctl & RTIT_CTL_TSCEN)
		config->output |= KIPT_FLOW_TIME;
}

static int init_worker(struct kipt_fetch *fetch, struct worker *worker,
		       const struct kipt_flow_config *config)
{
	struct kipt_sink sink = { .emit = kipt_decode_emit, .ctx = worker };
	size_t size = kipt_flow_size(config);
	struct kipt_code code;

	worker->arena = kvmalloc(size + ARENA_ALIGN, GFP_KERNEL);
	if (!worker->arena)
		return -ENOMEM;
	worker->fetch = fetch;
	worker->reader.bytes = fetch->bytes;
	worker->reader.text_at = fetch->session->end_patch;
	worker->reader.offsets = !(fetch->session->caps.leaf0_ecx &
				   RTIT_CAP_LIP);
	INIT_WORK(&worker->work, work_on_chunks);
	kipt_code_bytes_callbacks(&worker->reader, &code);
	worker->flow = kipt_flow_init(PTR_ALIGN(worker->arena, ARENA_ALIGN),
				      size, config, &code, &sink);
	if (worker->flow)
		return 0;
	free_worker(worker);
	return -ENOMEM;
}

/* Fewer workers than wished for are as good, only slower. */
static int add_workers(struct kipt_fetch *fetch, u32 output)
{
	u64 chunks = fetch->trace_bytes / CHUNK_BYTES + fetch->nr_sources;
	u32 wish = min_t(u64, chunks, min(num_online_cpus(), WORKERS_MAX));
	struct kipt_flow_config config;

	fill_config(fetch->session, output, &config);
	fetch->workers = kcalloc(wish, sizeof(*fetch->workers), GFP_KERNEL);
	if (!fetch->workers)
		return -ENOMEM;
	while (fetch->nr_workers < wish &&
	       !init_worker(fetch, &fetch->workers[fetch->nr_workers], &config))
		fetch->nr_workers++;
	if (!fetch->nr_workers)
		return -ENOMEM;
	kipt_chunk_queue_init(&fetch->queue, 2 * fetch->nr_workers);
	return 0;
}

static int setup_deliver(struct kipt_fetch *fetch,
			 const struct kipt_fetch_request *request)
{
	struct kipt_deliver *deliver = &fetch->deliver;

	deliver->queue = &fetch->queue;
	deliver->sideband = fetch->session->sideband;
	deliver->id = fetch->session->id;
	deliver->portid = request->portid;
	deliver->output = request->output;
	deliver->out = kmalloc_array(KIPT_BATCH_RECORDS, sizeof(*deliver->out),
				     GFP_KERNEL);
	INIT_WORK(&fetch->deliver_work, deliver_work);
	return deliver->out ? 0 : -ENOMEM;
}

static void free_fetch(struct kipt_fetch *fetch)
{
	free_parts(fetch);
	kfree(fetch->deliver.out);
	kfree(fetch->workers);
	kfree(fetch->sources);
	kfree(fetch);
}

struct kipt_fetch *kipt_fetch_create(struct kipt_session *session,
				     const struct kipt_fetch_request *request)
{
	struct kipt_fetch *fetch = kzalloc(sizeof(*fetch), GFP_KERNEL);
	int err;

	if (!fetch)
		return NULL;
	fetch->session = session;
	mutex_init(&fetch->cut_lock);
	fetch->bytes = kipt_code_bytes_create(session->sideband);
	err = fetch->bytes ? 0 : -ENOMEM;
	err = err ?: add_sources(fetch, request->only_cpu);
	err = err ?: add_workers(fetch, request->output);
	err = err ?: setup_deliver(fetch, request);
	if (!err)
		return fetch;
	free_fetch(fetch);
	return NULL;
}

void kipt_fetch_run(struct kipt_fetch *fetch, u32 credit)
{
	u32 i;

	fetch->deliver.credit = credit;
	fetch->begun = true;
	atomic_set(&fetch->running_workers, fetch->nr_workers);
	queue_work(workers_wq, &fetch->deliver_work);
	for (i = 0; i < fetch->nr_workers; i++)
		queue_work(workers_wq, &fetch->workers[i].work);
}

bool kipt_fetch_running(const struct kipt_fetch *fetch)
{
	/* Pairs with the release in deliver_work(). */
	return !smp_load_acquire(&fetch->finished);
}

u64 kipt_fetch_trace_bytes(const struct kipt_fetch *fetch)
{
	return fetch->trace_bytes;
}

int kipt_fetch_credit(struct kipt_fetch *fetch, u32 portid, u32 messages)
{
	if (fetch->deliver.portid != portid)
		return -EPERM;
	if (!kipt_fetch_running(fetch))
		return -ENOENT;
	kipt_deliver_credit(&fetch->deliver, messages);
	return 0;
}

int kipt_fetch_cancel(struct kipt_fetch *fetch)
{
	if (!kipt_fetch_running(fetch))
		return -ENOENT;
	kipt_deliver_cancel(&fetch->deliver, ECANCELED, false);
	return 0;
}

void kipt_fetch_owner_gone(struct kipt_fetch *fetch, u32 portid)
{
	if (fetch->deliver.portid == portid)
		kipt_deliver_cancel(&fetch->deliver, ECANCELED, true);
}

void kipt_fetch_destroy(struct kipt_fetch *fetch)
{
	u32 i;

	if (!fetch)
		return;
	if (fetch->begun) {
		/* One that ended has nothing to cancel. */
		if (kipt_fetch_running(fetch))
			kipt_deliver_cancel(&fetch->deliver, ECANCELED, false);
		for (i = 0; i < fetch->nr_workers; i++)
			flush_work(&fetch->workers[i].work);
		flush_work(&fetch->deliver_work);
		kipt_chunk_queue_uninit(&fetch->queue);
	}
	free_fetch(fetch);
}
