// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding in the context of who reads, see fetch_reader.h. The flow is run in
 * slices, between which the reader may be killed and others may run; it is
 * paused as soon as a message is full. Process context.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "../decode/packet/psb.h"
#include "../decode/packet/sync.h"
#include "fetch_reader.h"
#include "../trace/flow_config.h"
#include "../watch/follow.h"
#include "../lib/memory.h"
#include "../lib/refuse.h"
#include "../hw/rtit_regs.h"
#include "../session/session.h"
#include "../shared/patch_log.h"
#include "../watch/sideband.h"
#include "../watch/space_table.h"
#include "../watch/text_patch.h"
#include "../shared/tsc_extend.h"
#include "../../uapi/linux/kipt.h"

static_assert(KIPT_FLOW_BRANCHES == KIPT_OUTPUT_BRANCHES);
static_assert(KIPT_FLOW_CALLS == KIPT_OUTPUT_CALLS);
static_assert(KIPT_FLOW_INSNS == KIPT_OUTPUT_INSNS);
static_assert(KIPT_FLOW_TIME == KIPT_OUTPUT_TIME);
static_assert(KIPT_FLOW_PACKED == KIPT_OUTPUT_PACKED);
static_assert(KIPT_FLOW_COUNTS == KIPT_OUTPUT_COUNTS);

/*
 * What a call may take, and the trace and the blocks of code between two looks at the
 * clock: where blocks do not fit in memory, each takes a fifth of a microsecond.
 */
#define READ_NS		(8 * NSEC_PER_MSEC)
#define SLICE_BYTES	(16U << 10)
#define SLICE_STEPS	(16U << 10)
/* Who ends early loses no more of what was counted. */
#define COUNT_NS	NSEC_PER_SEC
#define ARENA_ALIGN	64

static void fill_config(const struct kipt_fetch *fetch,
			struct kipt_flow_config *config)
{
	*config = (struct kipt_flow_config) {
		.output = fetch->output,
		.memory = fetch->memory,
		.slice = SLICE_BYTES,
		.step_slice = SLICE_STEPS,
		.tsc_near = fetch->near,
		.seed = get_random_u64(),
	};
	kipt_flow_config_fill(&fetch->session->group, config);
}

static int make_flow(struct kipt_fetch_reader *reader)
{
	struct kipt_sink sink = { .emit = kipt_fetch_emit, .ctx = reader };
	const struct kipt_fetch *fetch = reader->fetch;
	struct kipt_flow_config config;
	struct kipt_code code;
	size_t size;

	fill_config(fetch, &config);
	size = kipt_flow_size(&config);
	/* Not zeroed: the flow needs no more than it touches. */
	reader->arena_size = size + ARENA_ALIGN + PAGE_SIZE;
	reader->arena = kipt_memory_alloc_raw(reader->arena_size, KIPT_MEMORY_GFP);
	if (!reader->arena)
		return -ENOMEM;
	reader->code.bytes = fetch->bytes;
	reader->code.page = (u8 *)reader->arena + size + ARENA_ALIGN;
	reader->code.offsets = !(fetch->session->group.config.caps.leaf0_ecx &
				 RTIT_CAP_LIP);
	kipt_code_reader_init(&reader->code, fetch->session->group.first_patch,
			      fetch->session->end_patch);
	kipt_code_bytes_callbacks(&reader->code, &code);
	reader->flow = kipt_flow_init(PTR_ALIGN(reader->arena, ARENA_ALIGN),
				      size, &config, &code, &sink);
	reader->code.flow = reader->flow;
	reader->counted = ktime_get_ns();
	return WARN_ON_ONCE(!reader->flow) ? -EINVAL : 0;
}

void kipt_fetch_reader_uninit(struct kipt_fetch_reader *reader)
{
	if (reader->chunk.source)
		kipt_chunks_end(&reader->fetch->chunks, &reader->chunk);
	kipt_record_queue_uninit(&reader->queue);
	kipt_memory_free(reader->arena, reader->arena_size);
	reader->arena = NULL;
}

/* Time in the PSB+ at an offset; 0 if it has none. */
static u64 time_at(const struct kipt_fetch_reader *reader, u64 offset)
{
	const struct kipt_source *source = reader->chunk.source;
	u64 tsc;

	if (offset >= source->size ||
	    !kipt_psb_tsc(source->data, source->size, offset, &tsc))
		return 0;
	return kipt_tsc_extend(reader->fetch->near, tsc);
}

static u64 end_time_at(const struct kipt_fetch_reader *reader, u64 offset)
{
	return time_at(reader, offset) ?: ~0ULL;
}

static u64 next_psb(const struct kipt_fetch_reader *reader, u64 offset)
{
	const struct kipt_source *source = reader->chunk.source;

	return kipt_sync_next(source->data, source->size,
			      min(offset, source->size));
}

/* Losses that concern the whole session come first of all. */
static void tell_losses(struct kipt_fetch_reader *reader)
{
	const struct kipt_session *session = reader->fetch->session;
	u64 spaces = kipt_spaces_lost(kipt_sideband_spaces(session->group.sideband));
	u64 patches = kipt_patch_log_lost(kipt_text_patch_log(), session->group.first_patch);
	u64 processes = session->follow ? kipt_follow_lost(session->follow) : 0;

	if (processes)
		kipt_fetch_put_gap(reader, KIPT_GAP_PROCESSES, processes);
	if (spaces)
		kipt_fetch_put_gap(reader, KIPT_GAP_SPACES, spaces);
	/* Text as it was in the run is today's without all patches since, those after it too. */
	if (patches)
		kipt_fetch_put_gap(reader, KIPT_GAP_PATCHES, patches);
}

/* A ring that goes round forgets switches too; older than its trace, most. */
static u64 switches_missed(const struct kipt_fetch_reader *reader)
{
	const struct kipt_switch_log *log = reader->merge.log;
	u64 lost = kipt_switch_log_first(log), begin;

	if (!lost || !reader->chunk.source->size)
		return lost;
	begin = time_at(reader, next_psb(reader, 0));
	return begin && begin >= kipt_switch_log_known(log) ? 0 : lost;
}

static void begin_cpu(struct kipt_fetch_reader *reader)
{
	const struct kipt_source *source = reader->chunk.source;
	struct kipt_record begin = {
		.type = KIPT_RECORD_CPU,
		.flags = KIPT_RF_NO_IP,
		.aux = source->trace->cpu,
	};
	u64 switches = switches_missed(reader);

	kipt_fetch_put(reader, &begin, 1);
	if (!reader->chunk.number)
		tell_losses(reader);
	reader->ring_begins = source->result.tail > 0;
	if (source->result.tail)
		kipt_fetch_put_gap(reader, KIPT_GAP_RING, 0);
	if (switches)
		kipt_fetch_put_gap(reader, KIPT_GAP_SWITCHES, switches);
}

static void end_cpu(struct kipt_fetch_reader *reader)
{
	static const u8 gap_of[] = {
		[KIPT_STOP_CAUSE_FULL] = KIPT_GAP_STOPPED,
		[KIPT_STOP_CAUSE_OFFLINE] = KIPT_GAP_OFFLINE,
		[KIPT_STOP_CAUSE_SUSPEND] = KIPT_GAP_SUSPEND,
		[KIPT_STOP_CAUSE_REBOOT] = KIPT_GAP_REBOOT,
		[KIPT_STOP_CAUSE_OUTSIDE] = KIPT_GAP_OUTSIDE,
		[KIPT_STOP_CAUSE_STUCK] = KIPT_GAP_STUCK,
	};
	const struct kipt_source *source = reader->chunk.source;
	const struct kipt_trace_result *result = &source->result;
	u8 gap = result->cause < ARRAY_SIZE(gap_of) ? gap_of[result->cause] : 0;

	if (result->registers.status & RTIT_STATUS_ERROR)
		kipt_fetch_put_gap(reader, KIPT_GAP_HW_ERROR, result->registers.status);
	if (gap)
		kipt_fetch_put_gap(reader, gap, gap == KIPT_GAP_OUTSIDE ?
				   result->registers.ctl : source->size);
}

/* Each reader numbers nodes for itself. */
static void name_dictionary(struct kipt_fetch_reader *reader)
{
	struct kipt_record name = {
		.type = KIPT_RECORD_DICTIONARY,
		.flags = KIPT_RF_NO_IP,
		.aux = reader->number,
	};

	if (reader->fetch->output & KIPT_OUTPUT_PACKED)
		kipt_fetch_put(reader, &name, 1);
}

/* Return: false if the space is unknown, or was that of several in this run. */
static bool space_tgid(void *spaces, u64 space, u32 *tgid)
{
	u64 id = kipt_spaces_at(spaces, space, 0, ~0ULL);
	struct kipt_space who;
	bool known = kipt_spaces_who(spaces, id, &who);

	*tgid = who.tgid;
	return known;
}

static void begin_tasks(struct kipt_fetch_reader *reader)
{
	struct kipt_sideband *sideband = reader->fetch->session->group.sideband;
	const struct kipt_task_spaces spaces = {
		.mask = kipt_sideband_space(~0ULL),
		.tgid = space_tgid,
		.ctx = kipt_sideband_spaces(sideband),
	};

	kipt_task_merge_init(&reader->merge,
			     kipt_sideband_log(sideband,
					       reader->chunk.source->trace->cpu),
			     &spaces);
}

/* All that a chunk's records depend on is found anew from its first PSB. */
static void begin_chunk(struct kipt_fetch_reader *reader)
{
	const struct kipt_fetch *fetch = reader->fetch;
	const struct kipt_chunk *chunk = &reader->chunk;
	const struct kipt_source *source = chunk->source;

	if (!chunk->from || !fetch->in_order)
		begin_tasks(reader);
	reader->ring_begins = false;
	name_dictionary(reader);
	if (!chunk->from)
		begin_cpu(reader);
	if (source->size)
		kipt_task_merge_at(&reader->merge,
				   time_at(reader, next_psb(reader,
							    chunk->from)),
				   end_time_at(reader, chunk->to));
	reader->at = chunk->from;
	reader->step = KIPT_FETCH_DECODING;
}

/* Is time needed to say who runs in a stretch? */
static bool tasks_need_time(const struct kipt_fetch_reader *reader, u64 begin,
			    u64 end)
{
	const struct kipt_fetch *fetch = reader->fetch;

	return !fetch->in_order && !(fetch->output & KIPT_OUTPUT_COUNTS) &&
	       kipt_task_merge_needs_time(&reader->merge, begin, end);
}

/* Without OS no packet names an address space: the sideband makes PSBs. */
static bool user_only(const struct kipt_fetch *fetch)
{
	return !(fetch->session->group.config.ctl & RTIT_CTL_OS);
}

/* What is decoded in one run: up to the next PSB where things change there. */
static u64 find_stretch(const struct kipt_fetch_reader *reader, u64 psb)
{
	const struct kipt_session *session = reader->fetch->session;
	u64 to = reader->chunk.to, begin = time_at(reader, psb);
	u64 end = end_time_at(reader, to);

	if (session->group.first_patch != session->end_patch ||
	    user_only(reader->fetch) ||
	    !kipt_code_reader_stays(&reader->code, begin, end) ||
	    (!kipt_fetch_wants_time(reader) && tasks_need_time(reader, begin, end)))
		return min(to, next_psb(reader, psb + 16));
	return to;
}

static enum kipt_status run_stretch(struct kipt_fetch_reader *reader)
{
	const struct kipt_source *source = reader->chunk.source;
	u64 psb = next_psb(reader, reader->at), begin, end;

	reader->stretch = find_stretch(reader, psb);
	begin = time_at(reader, psb);
	end = end_time_at(reader, reader->stretch);
	kipt_task_merge_go_on(&reader->merge, begin);
	kipt_code_reader_at(&reader->code, begin, end);
	if (user_only(reader->fetch)) {
		kipt_code_reader_unnamed(&reader->code, source->trace->cpu);
		reader->unnamed = reader->code.unnamed;
	}
	kipt_flow_time(reader->flow, kipt_fetch_wants_time(reader) ||
		       tasks_need_time(reader, begin, end));
	return kipt_flow_run(reader->flow, source->data, source->size,
			     reader->at, reader->stretch);
}

static void end_chunk(struct kipt_fetch_reader *reader)
{
	const struct kipt_chunk *chunk = &reader->chunk;

	if (chunk->to == chunk->source->size)
		end_cpu(reader);
	reader->step = KIPT_FETCH_ENDING;
	if (reader->fetch->output & KIPT_OUTPUT_COUNTS &&
	    ktime_get_ns() > reader->counted + COUNT_NS)
		reader->step = KIPT_FETCH_COUNTING;
}

static int decode(struct kipt_fetch_reader *reader)
{
	enum kipt_status status = KIPT_OK;

	if (reader->step == KIPT_FETCH_RESUMING)
		status = kipt_flow_resume(reader->flow);
	else if (reader->chunk.source->size)
		status = run_stretch(reader);
	if (reader->err)
		return reader->err;
	if (status == KIPT_PAUSED) {
		reader->step = KIPT_FETCH_RESUMING;
		return 0;
	}
	reader->step = KIPT_FETCH_DECODING;
	reader->at = reader->stretch;
	if (reader->at == reader->chunk.to || !reader->chunk.source->size)
		end_chunk(reader);
	return 0;
}

static int take_chunk(struct kipt_fetch_reader *reader)
{
	struct kipt_fetch *fetch = reader->fetch;
	int ret = 0;

	if (!fetch->in_order || !reader->number)
		ret = kipt_chunks_take(&fetch->chunks, &reader->chunk);
	if (ret < 0)
		return ret;
	if (ret) {
		begin_chunk(reader);
	} else if (fetch->output & KIPT_OUTPUT_COUNTS) {
		kipt_chunks_number(&fetch->chunks, &reader->chunk);
		reader->step = KIPT_FETCH_COUNTING;
	} else {
		reader->step = KIPT_FETCH_DONE;
	}
	return reader->err;
}

static int tell_counts(struct kipt_fetch_reader *reader)
{
	if (kipt_flow_counts(reader->flow) == KIPT_OK) {
		reader->step = KIPT_FETCH_ENDING;
		reader->counted = ktime_get_ns();
	}
	return reader->err;
}

static int step(struct kipt_fetch_reader *reader)
{
	switch (reader->step) {
	case KIPT_FETCH_BETWEEN:
		return take_chunk(reader);
	case KIPT_FETCH_COUNTING:
		return tell_counts(reader);
	default:
		return decode(reader);
	}
}

/* Is there something that is to be given now, without waiting for more? */
static bool has_piece(const struct kipt_fetch_reader *reader)
{
	return reader->step == KIPT_FETCH_ENDING ||
	       reader->step == KIPT_FETCH_DONE ||
	       kipt_fetch_is_enough(reader);
}

static int work(struct kipt_fetch_reader *reader)
{
	u64 until = ktime_get_ns() + READ_NS;
	int err = 0;

	while (!err && !has_piece(reader) && ktime_get_ns() < until) {
		if (fatal_signal_pending(current))
			return -EINTR;
		err = step(reader);
		cond_resched();
	}
	return err;
}

static void finish_chunk(struct kipt_fetch_reader *reader)
{
	if (reader->chunk.source) {
		kipt_chunks_end(&reader->fetch->chunks, &reader->chunk);
		reader->step = KIPT_FETCH_BETWEEN;
	} else {
		reader->step = KIPT_FETCH_DONE;
	}
}

static void fill_chunk(struct kipt_fetch_reader *reader, u32 most,
		       struct kipt_fetch_piece *piece)
{
	const struct kipt_chunk *chunk = &reader->chunk;

	piece->in_chunk = true;
	piece->chunk = chunk->number;
	if (chunk->source) {
		piece->cpu = chunk->source->trace->cpu;
		piece->lost = chunk->source->result.tail;
		piece->from = piece->lost + chunk->from;
		piece->to = piece->lost + chunk->to;
	}
	piece->records = kipt_record_queue_take(&reader->queue, most,
						&piece->count);
	piece->end = reader->step == KIPT_FETCH_ENDING &&
		     !kipt_record_queue_count(&reader->queue);
}

static int explain(const struct kipt_fetch_reader *reader, int err,
		   struct kipt_refusal *refusal)
{
	if (err == -ENOMEM)
		return kipt_memory_refuse(refusal, "decoding the trace",
					  reader->fetch->memory);
	return err;
}

void kipt_fetch_progress(const struct kipt_fetch_reader *reader,
			 struct kipt_fetch_piece *piece)
{
	const struct kipt_fetch *fetch = reader->fetch;

	*piece = (struct kipt_fetch_piece) {
		.fetch = fetch->id,
		.total = fetch->chunks.total,
		.done = (u64)atomic64_read(&fetch->chunks.done),
	};
}

int kipt_fetch_read(struct kipt_fetch_reader *reader, u32 most,
		    struct kipt_fetch_piece *piece,
		    struct kipt_refusal *refusal)
{
	const struct kipt_session *session = reader->fetch->session;
	bool begins = !reader->flow;
	int err = reader->err;

	might_sleep();
	if (READ_ONCE(session->dead))
		return kipt_refuse(refusal, NULL, -ENOENT,
				   "session %u was deleted: its fetch ends",
				   session->group.id);
	reader->enough = most;
	if (!err && begins)
		err = make_flow(reader);
	else if (!err)
		err = work(reader);
	if (err)
		return explain(reader, err, refusal);
	if (reader->step == KIPT_FETCH_DONE)
		return 0;
	kipt_fetch_progress(reader, piece);
	if (reader->step == KIPT_FETCH_BETWEEN)
		return 1;
	fill_chunk(reader, most, piece);
	if (piece->end) {
		finish_chunk(reader);
		piece->done = atomic64_read(&reader->fetch->chunks.done);
	}
	return 1;
}
