// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a recording of perf to records, see perf_decode.h. Gives the decoder core
 * the trace of each CPU or thread and the code of whoever ran, and says between
 * its records who that is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../uapi/linux/kipt.h"
#include "../../../kmod/decode/packet/psb.h"
#include "../../../kmod/shared/patch_log.h"
#include "../../../kmod/shared/tsc_extend.h"
#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../records/tool_records.h"
#include "../symbols/kernel_symbols.h"
#include "../symbols/vmlinux.h"
#include "perf_run.h"

/* From the event of a switch to the switch, with interrupts off. */
#define SWITCH_MOST_MS	10U
/* A switch may be so much earlier by the trace's time than by that of perf's event. */
#define SWITCH_EARLY_US	10U
/* Bits of the configuration, as of IA32_RTIT_CTL. */
#define CONFIG_PT	(1ULL << 0)
#define CONFIG_CYC	(1ULL << 1)
#define CONFIG_BRANCH	(1ULL << 13)
#define CONFIG_NO_RETC	(1ULL << 11)
#define CONFIG_NO_TNT	(1ULL << 55)
/* Of a decoder: at least, and more for each byte of its trace. */
#define MEMORY_LEAST	(1ULL << 20)
#define MEMORY_OF_BYTE	256ULL

static bool event_take(void *ctx, const struct perf_event *event)
{
	struct run *run = ctx;

	perf_kernel_take(&run->kernel, event);
	return perf_aux_take(&run->aux, run->file, event) &&
	       (!run->want_samples ||
		perf_samples_take(&run->samples, run->file, event)) &&
	       perf_maps_take(run->maps, run->file, event) &&
	       perf_text_take(run->text, run->file, event);
}

static u32 mapped_read(const struct perf_mapping *mapping, u64 address,
		       u8 *bytes, u32 size)
{
	u64 offset = mapping->offset + (address - mapping->start);

	if (size > mapping->end - address)
		size = mapping->end - address;
	return perf_code_read(mapping->code, offset, bytes, size);
}

static u32 space_read(const struct perf_space *space, u64 address, u8 *bytes,
		      u32 size)
{
	const struct perf_mapping *mapping;
	u32 done = 0, more = 1;

	while (more && done < size) {
		mapping = perf_space_find(space, address + done);
		more = mapping ? mapped_read(mapping, address + done,
					     bytes + done, size - done) : 0;
		done += more;
	}
	return done;
}

static u32 base_read(void *ctx, u64 ip, u8 *buf, u32 len)
{
	const struct run *run = ctx;
	u32 done = image_read(run->kernel_image, ip, buf, len);

	return image_read_rest(run->decode->image, ip, buf, len, done);
}

/* @view: NULL: nothing of it changed. */
static u32 kernel_read(void *ctx, const struct kipt_text_view *view, u64 ip,
		       u8 *buf, u32 len)
{
	struct run *run = ctx;
	u32 size = perf_text_read(run->text, view, base_read, run, ip, buf,
				  len);

	if (size)
		__atomic_store_n(&run->kernel_seen, true, __ATOMIC_RELAXED);
	return size;
}

/* From so many branches on they are given away as they are, and not copied first. */
#define GIVEN_LEAST	16

/* Names of spaces are indices + 1. Code of guests is in files that the user names, or nowhere. */
static u32 code_read(void *ctx, u64 name, u64 ip, u8 *buf, u32 len)
{
	struct run *run = ctx;
	const struct perf_space *space;
	u32 size = 0;

	if (name == KIPT_SPACE_GUEST)
		return image_read(run->decode->image, ip, buf, len);
	if (ip >> 63)
		return kernel_read(run, NULL, ip, buf, len);
	space = name ? perf_maps_space(run->maps, name - 1) : NULL;
	if (space)
		size = space_read(space, ip, buf, len);
	return size ? size : image_read(run->decode->image, ip, buf, len);
}

/* What the decoder read: its INSN records say of which space, and before which change
 * of the kernel. It was sure of these bytes.
 */
static u32 insn_read(void *ctx, const struct kipt_record *insn, u8 *buf,
		     u32 len)
{
	struct run *run = ctx;
	const struct kipt_patch_log *log;
	struct kipt_text_view view;
	bool timed;

	log = perf_text_log(run->text, &timed);
	if (!log || !(insn->ip >> 63) || insn->value == KIPT_SPACE_GUEST)
		return code_read(run, insn->value, insn->ip, buf, len);
	kipt_text_view_init(&view, log, 0, kipt_patch_log_count(log),
			    perf_text_slack(run->text));
	view.at = insn->value;
	return kernel_read(run, &view, insn->ip, buf, len);
}

/* Only this program made the CR3s that are in the trace now. */
static u32 label_space(const struct run *run, u64 cr3)
{
	u64 label = cr3 >> PERF_LABEL_SHIFT;

	if (!label || label > (run->inserted ? run->turn_count :
						run->owner_count))
		return PERF_NO_SPACE;
	return run->inserted ? run->turns[label - 1].space :
				run->owners[label - 1].space;
}

static u64 space_name(void *ctx, u64 cr3, bool nr)
{
	struct run *run = ctx;
	u32 space;

	if (nr) {
		__atomic_store_n(&run->guest_seen, true, __ATOMIC_RELAXED);
		return KIPT_SPACE_GUEST;
	}
	space = label_space(run, cr3);
	return space == PERF_NO_SPACE ? 0 : space + 1;
}

static bool batch_give(struct run *run)
{
	bool ok = !run->batched ||
		  output_take(run->output, run->batch, run->batched);

	run->batched = 0;
	return ok;
}

static bool record_put(struct run *run, const struct kipt_record *record)
{
	run->batch[run->batched++] = *record;
	return run->batched < BATCH || batch_give(run);
}

/* Records that are waiting were made with the space before. */
static bool now_set(struct run *run, u32 space)
{
	bool ok = space == run->now || batch_give(run);

	run->now = space;
	names_version(run->output->names, space);
	return ok;
}

/* The same for code of the kernel. Counts are of all times. */
static bool tsc_set(struct run *run, u64 tsc)
{
	u32 version = perf_ksyms_version(perf_text_ksyms(run->text), tsc);
	bool timed, ok;

	if (!perf_text_log(run->text, &timed) || !timed ||
	    run->config.output & KIPT_FLOW_COUNTS)
		return true;
	ok = version == run->code_version || batch_give(run);
	run->tsc = tsc;
	run->code_version = version;
	names_code_version(run->output->names, version);
	return ok;
}

/* Before a queue nothing is known of who runs, nor of the time. */
static void now_forget(struct run *run)
{
	run->tsc = 0;
	run->code_version = 0;
	names_code_version(run->output->names, 0);
	run->now = PERF_NO_SPACE;
	names_version(run->output->names, run->now);
}

/* The task of a mapping or an exec goes on. */
static bool same_task(const struct run *run, size_t one, size_t other)
{
	return run->turns[one].tid == run->turns[other].tid &&
	       run->turns[one].pid == run->turns[other].pid;
}

static bool task_put(struct run *run, size_t turn)
{
	const struct perf_turn *at = &run->turns[turn];
	struct kipt_record record = {
		.type = KIPT_RECORD_TASK,
		.flags = KIPT_RF_NO_IP | (at->pid || !at->tid ? 0 :
							KIPT_RF_NO_VALUE),
		.aux = at->tid,
		.value = at->pid,
	};
	size_t last = run->turn;
	bool said = run->turn_said;

	run->turn = turn;
	run->turn_said = true;
	if (run->inserted && !now_set(run, at->space))
		return false;
	if (at->unknown || (said && same_task(run, last, turn)))
		return true;
	return record_put(run, &record);
}

static bool turn_begin(struct run *run, size_t turn)
{
	run->waits = false;
	run->ahead = false;
	run->settled = true;
	return (turn == run->turn && run->turn_said) || task_put(run, turn);
}

/* Whether a turn begins at most as long after a time as a switch takes. */
static bool begins_near(const struct run *run, size_t turn, u64 tsc)
{
	u64 most = (u64)perf_clock_khz(&run->aux.clock) * SWITCH_MOST_MS;
	u64 from = run->turns[turn].from;

	return from < tsc + most && tsc < from + most;
}

/* The turn that a time is in, when nothing else says who runs. The kernel makes the event of
 * a switch before it switches, so code up to there is that of who ran before.
 */
static bool time_take(struct run *run, u64 tsc, u64 error)
{
	u64 early = (u64)perf_clock_khz(&run->aux.clock) * SWITCH_EARLY_US / 1000;
	size_t turn = run->turn;

	run->time = tsc;
	while (turn + 1 < run->turn_count && run->turns[turn + 1].from <= tsc)
		turn++;
	/* Turns that were begun at a switch, but whose events are yet to come. */
	while (run->ahead && turn > run->sure_turn && run->turns[turn].from > tsc + early + error)
		turn--;
	run->waits = turn > run->turn && run->switch_ip && run->tracing && run->settled &&
		     !same_task(run, turn, run->turn) && begins_near(run, turn, tsc);
	run->next_turn = turn;
	return run->waits || turn_begin(run, turn);
}

/* The kernel switches tasks. Where no time came since the event of it, that is the next. */
static bool switch_take(struct run *run)
{
	size_t sure = run->ahead ? run->sure_turn : run->turn, next = run->turn + 1;

	if (run->waits)
		return turn_begin(run, run->next_turn);
	while (next < run->turn_count && same_task(run, next, run->turn))
		next++;
	if (!run->settled || next >= run->turn_count || !begins_near(run, next, run->time))
		return true;
	if (!turn_begin(run, next))
		return false;
	run->ahead = true;
	run->sure_turn = sure;
	return true;
}

/* Where records do not follow each other who runs is known by the next time alone. */
static bool flow_begin(struct run *run, bool tracing, bool settled)
{
	bool ok = !run->waits || turn_begin(run, run->next_turn);

	run->tracing = tracing;
	run->settled &= settled;
	return ok;
}

static bool edge_space_put(struct run *run, struct kipt_record record)
{
	const struct perf_space *space;

	space = record.value ? perf_maps_space(run->maps, record.value - 1) :
			       NULL;
	record.aux = space ? space->pid : 0;
	record.value = space ? record.value << PERF_LABEL_SHIFT : 0;
	return record_put(run, &record);
}

static bool context_put(struct run *run, struct kipt_record record)
{
	u64 label = record.value >> PERF_LABEL_SHIFT;

	run->guest = record.flags & KIPT_RF_NR;
	if (!run->inserted && !run->guest && label &&
	    label <= run->owner_count) {
		if (!now_set(run, run->owners[label - 1].space))
			return false;
		record.value = run->owners[label - 1].cr3;
	}
	if (!run->inserted)
		return record_put(run, &record);
	return !label || label > run->turn_count || label - 1 == run->turn ||
	       task_put(run, label - 1);
}

static bool moment_put(struct run *run, const struct perf_moment *at)
{
	const struct kipt_record time = {
		.type = KIPT_RECORD_TIME,
		.flags = KIPT_RF_NO_IP,
		.aux = ~0U,
		.value = at->tsc,
	};
	const struct kipt_record sample = {
		.type = RECORD_SAMPLE,
		.flags = at->has_ip ? 0 : KIPT_RF_NO_IP,
		.ip = at->ip,
		.value = at->attr,
	};

	return (!run->want_time || record_put(run, &time)) && record_put(run, &sample);
}

/* What was sampled before a time. */
static bool moments_put(struct run *run, u64 tsc)
{
	const struct perf_moment *at;

	while (run->moment < run->moment_count && run->moments[run->moment].tsc < tsc) {
		at = &run->moments[run->moment++];
		run->samples_before += !run->timed && run->has_begin;
		if (run->timed && !moment_put(run, at))
			return false;
	}
	run->timed = true;
	return true;
}

/* Core cycles before a time at which another task begins are of nobody: both may have run. */
static bool time_put(struct run *run, struct kipt_record time)
{
	size_t turn = run->turn;

	run->seen_time = true;
	if (!moments_put(run, time.value) || !tsc_set(run, time.value) ||
	    (!run->inserted && !time_take(run, time.value, time.aux)))
		return false;
	if (turn != run->turn && turn < run->turn_count && !same_task(run, turn, run->turn))
		time.ip = 0;
	return !run->want_time || record_put(run, &time);
}

/* Its @value is an offset in the part. Shown is that in all trace of the queue, without the PIPs
 * that perf_label.h put there.
 */
static bool place_put(struct run *run, struct kipt_record record)
{
	const struct perf_stream *stream = run->stream;

	record.value = stream->plain +
		       perf_label_place(&stream->trace, run->part->start + record.value);
	return record_put(run, &record);
}

static bool psb_turn(struct run *run, const struct kipt_psb *psb)
{
	u64 label = psb->has_pip ? psb->pip.value >> PERF_LABEL_SHIFT : 0;
	u64 tsc = kipt_tsc_extend(run->config.tsc_near, psb->tsc);

	if (psb->has_tsc && !moments_put(run, tsc))
		return false;
	if (!run->inserted)
		return !psb->has_tsc || time_take(run, tsc, 0);
	return !label || label > run->turn_count || turn_begin(run, label - 1);
}

/* Where records begin anew the PSB+ says who runs; counts are of all times. */
static bool sync_turn(struct run *run, const struct kipt_record *sync)
{
	const struct perf_trace *trace = &run->stream->trace;
	struct kipt_psb psb;

	if (sync->kind == KIPT_SYNC_START && !(run->config.output & KIPT_FLOW_COUNTS)) {
		kipt_psb_read(&psb, trace->bytes + run->part->start, sync->value,
			      perf_part_known(trace, run->part), NULL);
		if (psb.status == KIPT_OK && !psb_turn(run, &psb))
			return false;
	}
	return run->turn_said || task_put(run, run->turn);
}

static bool gap_put(struct run *run, const struct kipt_record *gap)
{
	if (gap->kind == KIPT_GAP_NO_CODE && !(gap->flags & KIPT_RF_NO_IP) && !run->guest) {
		run->kernel_missing |= gap->ip >> 63;
		run->user_missing |= !(gap->ip >> 63);
	}
	return flow_begin(run, false, false) && place_put(run, *gap);
}

static bool record_take(struct run *run, const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_SYNC:
		return sync_turn(run, record) &&
		       flow_begin(run, !(record->flags & KIPT_RF_NO_IP), false) &&
		       place_put(run, *record);
	case KIPT_RECORD_ENABLE:
		if (!flow_begin(run, true, true))
			return false;
		break;
	case KIPT_RECORD_GAP:
		return gap_put(run, record);
	case KIPT_RECORD_DISABLE:
		run->tracing = false;
		break;
	case KIPT_RECORD_CONTEXT:
		return context_put(run, *record);
	case KIPT_RECORD_TIME:
		return time_put(run, *record);
	case KIPT_RECORD_CBR:
		if (!run->want_time)
			return true;
		break;
	case KIPT_RECORD_SPACE:
		return edge_space_put(run, *record);
	}
	return record_put(run, record);
}

static u32 branches_first(const struct kipt_record *records, u32 n)
{
	u32 i;

	for (i = 0; i < n && records[i].type == KIPT_RECORD_BRANCH; i++)
		;
	return i;
}

/* The first branch to where the kernel switches tasks; @n: there is none. */
static u32 switch_first(const struct run *run, const struct kipt_record *records, u32 n)
{
	u32 i = 0;

	if (run->inserted || !run->switch_ip)
		return n;
	while (i < n && records[i].value != run->switch_ip)
		i++;
	return i;
}

static bool branches_give(struct run *run, const struct kipt_record *records, u32 n)
{
	bool ok = true;
	u32 i;

	if (n >= GIVEN_LEAST)
		return batch_give(run) && output_take(run->output, records, n);
	for (i = 0; i < n && ok; i++)
		ok = record_put(run, &records[i]);
	return ok;
}

/* They need nothing of what record_take() does. */
static bool branches_put(struct run *run, const struct kipt_record *records, u32 n)
{
	bool ok = true;
	u32 at, some;

	for (; n && ok; records += some, n -= some) {
		at = switch_first(run, records, n);
		some = at < n ? at + 1 : n;
		ok = branches_give(run, records, some) && (at == n || switch_take(run));
	}
	return ok;
}

bool perf_run_take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct run *run = ctx;
	bool ok = true;
	u32 i = 0, some;

	while (i < n && ok) {
		some = branches_first(records + i, n - i);
		ok = branches_put(run, records + i, some);
		i += some;
		if (i == n || !ok)
			break;
		if (records[i].type == KIPT_RECORD_SYNC)
			run->reached = records[i].value;
		ok = record_take(run, &records[i++]);
	}
	ok = ok && batch_give(run);
	progress_show("decoding", run->done + run->left + run->reached,
		      run->size);
	if (!ok)
		run->failed = true;
	return ok && !progress_interrupted();
}

bool perf_run_gap(struct run *run, const struct perf_stream *stream, const struct perf_part *part)
{
	const struct kipt_record record = {
		.type = KIPT_RECORD_GAP,
		.kind = part->gap,
		.flags = KIPT_RF_NO_IP,
	};

	run->stream = stream;
	run->part = part;
	return !part->gap || (place_put(run, record) && batch_give(run));
}

/* The flows of a queue begin anew, with the first dictionary. */
static bool dictionary_put(struct run *run)
{
	const struct kipt_record record = {
		.type = KIPT_RECORD_DICTIONARY,
		.flags = KIPT_RF_NO_IP,
	};

	return !(run->config.output & KIPT_FLOW_PACKED) ||
	       record_put(run, &record);
}

/* Times of all CPUs count from the first of the recording. */
static bool base_put(struct run *run)
{
	const struct kipt_record record = {
		.type = KIPT_RECORD_TIME,
		.kind = KIPT_TIME_FIRST,
		.flags = KIPT_RF_NO_IP,
		.value = kipt_tsc_extend(run->config.tsc_near,
					 run->stretch.base),
	};

	return !run->want_time || !run->stretch.base_known ||
	       record_put(run, &record);
}

static bool cpu_put(struct run *run, const struct perf_queue *queue)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_CPU,
		.flags = KIPT_RF_NO_IP,
		.aux = queue->has_cpu ? queue->cpu : RECORD_CPU_UNKNOWN,
	};

	return record_put(run, &record) && base_put(run) &&
	       dictionary_put(run) && batch_give(run);
}

/* Who runs is known at the first PSB; counts, which are of all times, begin with the first task. */
static bool trace_begin(struct run *run, const struct perf_queue *queue)
{
	bool ok;

	run->output->muted = !run->has_begin;
	ok = cpu_put(run, queue);
	run->turn = 0;
	run->turn_said = false;
	run->guest = false;
	run->waits = false;
	run->ahead = false;
	run->time = 0;
	run->tracing = false;
	run->settled = false;
	if (run->config.output & KIPT_FLOW_COUNTS)
		ok = ok && task_put(run, 0) && batch_give(run);
	run->output->muted = false;
	return ok;
}

/* What is not of a part of the trace, but of its queue. */
static bool trace_end(struct run *run)
{
	if (run->has_end)
		return moments_put(run, ~0ULL) && batch_give(run);
	view_cut(&run->output->view);
	return true;
}

static bool trace_run(struct run *run, struct perf_stream *stream)
{
	const struct perf_trace *trace = &stream->trace;
	enum kipt_status status;
	bool ok = true;
	size_t i;

	for (i = 0; i < trace->part_count && ok; i++) {
		status = perf_part_run(run, stream, &trace->parts[i]);
		if (status == KIPT_STOPPED)
			return false;
		run->synced |= status == KIPT_OK;
		run->unsynced |= status == KIPT_NO_PSB;
		if (status == KIPT_OK || status == KIPT_NO_PSB)
			continue;
		say_error("cannot decode %s: %s", run->decode->path,
			  kipt_status_name(status));
		ok = false;
	}
	return ok;
}

/* A queue that has none of what is shown is not decoded. */
static bool is_chosen(const struct narrow_options *narrow,
		      const struct perf_queue *queue)
{
	return queue->has_cpu ? narrow_has(&narrow->cpus, queue->cpu) :
				narrow_has(&narrow->tids, queue->tid);
}

/* The first time of any queue; CPUs have one TSC, as far as perf knows. */
static void base_find(struct run *run)
{
	struct time_stretch *stretch = &run->stretch;
	size_t i;
	u64 tsc;

	for (i = 0; i < run->aux.queue_count; i++) {
		if (!perf_trace_first(&run->aux.queues[i], run->file, &tsc))
			continue;
		if (!stretch->base_known || tsc < stretch->base)
			stretch->base = tsc;
		stretch->base_known = true;
	}
}

/* It is of the recording's folder, which may be another user's. */
static bool kallsyms_found(const struct run *run)
{
	return run->kallsyms_used == run->kallsyms;
}

/* In x86's __switch_to() the other task runs; a CALL gets to what jumps there. */
static u64 switch_find(const struct run *run)
{
	const char *name = run->config.output & KIPT_FLOW_CALLS ? "__switch_to_asm" :
								 "__switch_to";
	u64 address;

	if (run->user_only || run->config.output & KIPT_FLOW_COUNTS)
		return 0;
	if (*run->kallsyms_used)
		return kernel_symbol_address(run->kallsyms_used, kallsyms_found(run), name);
	return run->decode->vmlinux && vmlinux_address(run->decode->vmlinux, name, &address) ?
	       address + run->kernel_bias : 0;
}

/* A short trace meets little code: to map what it does not need takes longer than to decode it. */
static u64 memory_of(const struct run *run, const struct perf_queue *queue)
{
	u64 memory = kipt_flow_memory(&run->config);
	u64 most = run->decode->jobs * (MEMORY_LEAST + MEMORY_OF_BYTE * queue->size);

	return memory < most ? memory : most;
}

/* Code of the kernel as it was at each time. */
static bool jobs_make(struct run *run, struct perf_stream *stream)
{
	const struct kipt_code code = {
		.read = code_read,
		.space = space_name,
		.ctx = run,
	};
	struct kipt_flow_config config = run->config;
	struct jobs_text text = {
		.slack = perf_text_slack(run->text),
		.read = kernel_read,
		.ctx = run,
	};

	config.memory = memory_of(run, stream->queue);
	stream->jobs = jobs_create(&config, &code, run->decode->jobs);
	text.log = perf_text_log(run->text, &text.timed);
	if (stream->jobs && (!text.log || jobs_text(stream->jobs, &text)))
		return true;
	say_error("cannot decode %s: %s", run->decode->path,
		  kipt_status_name(KIPT_NO_MEMORY));
	return false;
}

/* The first stretch is there. */
static bool queue_begin(struct run *run, struct perf_stream *stream)
{
	const struct perf_queue *queue = stream->queue;

	run->moments = perf_samples_of(&run->samples, queue->has_cpu ? queue->cpu : queue->tid,
				       &run->moment_count);
	run->moment = 0;
	run->timed = false;
	return perf_part_find(run, stream) && trace_begin(run, queue) &&
	       perf_part_before(run, stream);
}

/* A core for each queue: names of CR3s are of that one alone. */
static bool queue_run(struct run *run, struct perf_queue *queue)
{
	struct perf_stream stream = { .queue = queue };
	u64 done = run->done;
	bool ok;

	run->owners = NULL;
	run->owner_count = 0;
	run->turns = perf_maps_turns(run->maps, queue, run->timed_trace,
				     run->aux.switches >= PERF_SWITCHES_TASK, &run->turn_count);
	ok = run->turns && jobs_make(run, &stream) && perf_stream_begin(run, &stream) &&
	     queue_begin(run, &stream) && trace_run(run, &stream);
	while (ok && stream.trace.ahead_size && perf_part_goes_on(run, &stream))
		ok = perf_stream_next(run, &stream) && trace_run(run, &stream);
	ok = ok && trace_end(run);
	if (run->decode->part.number && queue->size > run->done - done)
		run->left += queue->size - (run->done - done);
	now_forget(run);
	jobs_destroy(stream.jobs);
	perf_stream_end(&stream);
	free(run->turns);
	return ok;
}

static bool queue_decode(struct run *run, struct perf_queue *queue)
{
	bool ok = true;

	if (perf_part_queue(run, queue) && is_chosen(&run->output->options->narrow, queue))
		ok = queue_run(run, queue);
	else
		run->left += queue->size;
	run->passed += queue->size;
	return ok;
}

static u32 field_get(u64 value, u64 mask)
{
	return mask ? (value & mask) >> __builtin_ctzll(mask) : 0;
}

/* Ranges of the kernel: "filter 0x1000/0x20,stop 0x2000/0x10". Those of a file have its name, and
 * offsets in it. Returns false if not all are of the kernel.
 */
static bool ranges_parse(struct kipt_flow_config *config, const char *text)
{
	unsigned long long begin, size;
	char word[8];
	int len;
	u32 n;

	for (n = 0; *text; n++) {
		len = 0;
		if (n == ARRAY_SIZE(config->filter) ||
		    sscanf(text, "%7s 0x%llx/0x%llx%n", word, &begin, &size, &len) != 3 ||
		    (text[len] && text[len] != ',') || !size ||
		    (strcmp(word, "filter") && strcmp(word, "stop")))
			return false;
		config->filter[n].begin = begin;
		config->filter[n].last = begin + size - 1;
		config->filter[n].stop = *word == 's';
		text += len + (text[len] == ',');
	}
	config->filter_count = n;
	return true;
}

/* What makes a time of MTC packets. */
static bool has_ratio(const struct run *run)
{
	return run->aux.tsc_num && run->aux.tsc_den;
}

/* What perf says of how the trace is to be read. */
static bool config_make(struct run *run)
{
	const struct perf_attr *attr = perf_aux_attr(&run->aux, run->file);

	if (!attr) {
		say_error("%s: the event of Intel PT is not in its list of events",
			  run->decode->path);
		return false;
	}
	/* Without bit "pt" the driver traces branches whatever the other says. */
	if (attr->config & CONFIG_PT && !(attr->config & CONFIG_BRANCH)) {
		say_error("%s: branches were not traced (branch=0): 'kipt packets' shows what was",
			  run->decode->path);
		return false;
	}
	run->user_only = attr->flags & PERF_ATTR_EXCLUDE_KERNEL;
	run->cycles = attr->config & CONFIG_CYC;
	run->timed_trace = !run->aux.tsc_bit || attr->config & run->aux.tsc_bit;
	run->timed_between = run->cycles ||
			     (has_ratio(run) && (!run->aux.mtc_bit ||
						 attr->config & run->aux.mtc_bit));
	run->config = (struct kipt_flow_config){
		.memory = run->decode->memory,
		.tsc_num = run->aux.tsc_num,
		.tsc_den = run->aux.tsc_den,
		.mtc_freq = field_get(attr->config, run->aux.mtc_freq_bits),
		.max_nonturbo_ratio = run->aux.max_nonturbo,
		.no_tnt = attr->config & CONFIG_NO_TNT,
		.no_retc = attr->config & CONFIG_NO_RETC,
		.tsc_near = perf_maps_tsc(run->maps) ?
			    perf_maps_tsc(run->maps) : perf_text_tsc(run->text),
	};
	if (!ranges_parse(&run->config, run->aux.filter))
		say_note("perf traced ranges of files: Skylake CPUs and those up to Rocket Lake do not say where a direct jump left a range (erratum SKL014), and tracing may be shown to end at a later branch");
	return true;
}

/* A file that is not there is not missed here. */
static bool copy_is_there(const char *path)
{
	int fd = file_open_regular(path);

	if (fd >= 0)
		close(fd);
	else if (errno == EINVAL)
		say_note("%s is not read: not a regular file, or one of the kernel", path);
	else if (errno != ENOENT)
		say_note("%s cannot be read (%s): who recorded the kernel can decode it",
			 path, say_errno_name(errno));
	return fd >= 0;
}

/* What perf record --kcore copied. */
static bool kcore_find(struct run *run)
{
	char path[4096];

	if (!perf_file_folder(run->file))
		return true;
	snprintf(path, sizeof(path), "%s/kcore_dir/kcore", run->decode->path);
	if (copy_is_there(path) &&
	    !image_add_file(run->kernel_image, path, run->decode->image_maps))
		return false;
	snprintf(run->kallsyms, sizeof(run->kallsyms),
		 "%s/kcore_dir/kallsyms", run->decode->path);
	if (!*run->kallsyms_used && copy_is_there(run->kallsyms))
		run->kallsyms_used = run->kallsyms;
	return true;
}

/* A copy of the kernel that ran counts more than its file: it was patched. */
static bool kernel_find(struct run *run, const struct view_options *options)
{
	const char *vmlinux = run->decode->vmlinux;
	bool ok;

	run->kallsyms_used = options->kallsyms ? options->kallsyms : "";
	ok = !vmlinux ||
	     (perf_kernel_moved(&run->kernel, run->file, vmlinux,
				&run->kernel_bias) &&
	      image_add_kernel(run->kernel_image, vmlinux, run->kernel_bias));
	return ok && kcore_find(run);
}

/* Those of modules are in kallsyms alone. */
static struct symbols *kernel_names(void *ctx)
{
	const struct run *run = ctx;
	struct symbols *symbols = *run->kallsyms_used ?
				  kernel_symbols_load(run->kallsyms_used, kallsyms_found(run)) :
				  NULL;

	if (!run->decode->vmlinux)
		return symbols;
	if (!symbols)
		symbols = symbols_create();
	if (symbols)
		vmlinux_symbols(symbols, run->decode->vmlinux,
				run->kernel_bias);
	return symbols;
}

/* Did perf ask the kernel for its changes? */
static bool is_followed(const struct run *run)
{
	const struct perf_attr *attr;
	size_t i;

	for (i = 0; (attr = perf_file_attr(run->file, i)); i++) {
		if (attr->flags & PERF_ATTR_TEXT_POKE)
			return true;
	}
	return false;
}

static void changes_say(const struct run *run)
{
	u64 changes = perf_text_changes(run->text);
	bool timed;

	if (run->kernel_seen && run->decode->vmlinux &&
	    !perf_file_folder(run->file))
		say_note("kernel code is that of %s, before the kernel patched itself when it booted: what is shown of the kernel may be wrong at such places; perf record --kcore keeps what ran",
			 run->decode->vmlinux);
	else if (run->kernel_seen && !is_followed(run))
		say_note("kernel code is that of one moment: where it was patched meanwhile (tracepoints, static keys) what is shown of the kernel may be wrong");
	if (perf_text_full(run->text))
		say_note("kernel code was changed in more places, or over more bytes, than kipt keeps: none of it is used; record for a shorter time, or with fewer BPF programs");
	else if (perf_text_log(run->text, &timed) && !timed)
		say_note("kernel code was changed %llu times while it was recorded, and nothing says when: code that was changed is missing",
			 (unsigned long long)changes);
	else if (changes)
		say_note("kernel code was changed %llu times while it was recorded: it is shown as it was at each time, with gaps where it was changed within %u ms; a module that took the place of another is not seen",
			 (unsigned long long)changes, KIPT_TEXT_SLACK_MS);
	if (changes && perf_maps_lost(run->maps))
		say_note("from where perf lost events on, kernel code that was seen to change is missing, and other changes of it may be: perf record -m 8M,64M has room for more");
	if (perf_text_crowded(run->text))
		say_note("some pages of kernel code were changed more than %u times: what was in them is missing",
			 perf_text_crowded(run->text));
}

static void samples_say(const struct run *run)
{
	if (run->samples.left)
		say_note("%llu samples of other events are not shown: kipt keeps %zu",
			 (unsigned long long)run->samples.left, run->samples.count);
	if (run->samples.nowhere)
		say_note("%llu samples of other events are not shown: the recording does not say when, or where, they were taken",
			 (unsigned long long)run->samples.nowhere);
	if (run->samples_before)
		say_note("%llu samples of other events are not shown: they were taken before what is in the trace",
			 (unsigned long long)run->samples_before);
}

static void missing_say(struct run *run)
{
	u32 pid, reused = perf_maps_reused(run->maps, &pid);

	if (run->aux.truncated)
		say_note("the trace was stopped %llu times because its buffer was full: perf record -m,64M makes it larger",
			 (unsigned long long)run->aux.truncated);
	if (run->aux.bad_samples)
		say_note("%llu samples make no sense: the trace in them is missing",
			 (unsigned long long)run->aux.bad_samples);
	if (run->aux.partial || run->aux.collisions)
		say_note("perf lost trace %llu times, and %llu times others used the buffer",
			 (unsigned long long)run->aux.partial,
			 (unsigned long long)run->aux.collisions);
	if (run->aux.per_cpu && run->aux.switches < PERF_SWITCHES_TASK &&
	    run->timed_trace && perf_maps_tsc(run->maps) && perf_maps_several(run->maps))
		say_note("who ran when %s: code of processes is missing, as more than one ran; perf record --switch-events records it",
			 run->aux.switches ? "was recorded as tracepoints, which kipt does not read" :
					     "was not recorded");
	if (!run->aux.clock.mult)
		say_note("perf did not say how its time relates to that of the trace: code is known only where a process ran one program");
	else if (!perf_maps_tsc(run->maps))
		say_note("its events have no times: code is known only where a process ran one program; perf record --timestamp records times");
	else if (!run->timed_trace)
		say_note("its trace has no times (tsc=0): code is known only where a process ran one program, and of a CPU code and task only if one process ran");
	else if (!run->timed_between && run->output->view.tally.gaps[KIPT_GAP_NO_CODE])
		say_note("its trace has times at PSBs only (%s): where a program begins between two of them, its code may be missing up to the next one",
			 has_ratio(run) ? "mtc=0" :
					  "the recording does not say how often the TSC ticks for each tick of MTC packets");
	if (run->guest_seen)
		say_note("a part of the trace is of guests of this machine (KVM): their code is in no recording; what --image and --pages have is shown, without names");
	if (perf_maps_lost(run->maps))
		say_note("perf lost %llu events: who ran, what code a process had, and what of the kernel was changed, may be wrong from there on; perf record -m 8M,64M has room for more",
			 (unsigned long long)perf_maps_lost(run->maps));
	if (reused)
		say_note("%u times a process got the number of one that had ended, as %u: sums and names of such a number are of both",
			 reused, pid);
	samples_say(run);
	if (!run->user_only)
		changes_say(run);
	if (!perf_codes_missing(perf_maps_codes(run->maps)) && run->user_missing &&
	    (run->timed_between || has_ratio(run)))
		say_note("code of processes is missing: the recording does not say what they had mapped there (perf record --synth=no, or events that were lost), or they made it while they ran (JIT)");
	if (run->kernel_missing && run->decode->vmlinux && run->kernel_seen)
		say_note("some code of the kernel is missing: modules and what the kernel made while it ran are not in %s; perf record --kcore keeps them",
			 run->decode->vmlinux);
	else if (run->kernel_missing && run->kernel_seen)
		say_note("some code of the kernel is missing: of BPF programs and of what else the kernel makes while it runs a recording may have none");
	else if (run->kernel_missing)
		say_note("no code of the kernel: perf record --kcore keeps it, --vmlinux takes a file");
}

static bool name_find(void *ctx, u32 pid, u64 address, struct mapping *found)
{
	const struct run *run = ctx;

	return perf_maps_find(run->maps, names_version_of(run->output->names), pid, address, found);
}

static bool name_code(void *ctx, u64 address, struct place *place, u64 *first, u64 *end)
{
	const struct run *run = ctx;
	const struct perf_ksyms *ksyms = perf_text_ksyms(run->text);
	const struct perf_ksym *found;
	bool several;

	found = perf_ksym_find(ksyms, address, run->tsc, &several);
	if (!found && !several)
		perf_ksyms_apart(ksyms, address, first, end);
	if (!found)
		return several;
	place->symbol = found->name;
	place->start = found->address;
	place->offset = address - found->address;
	if (found->bpf)
		place->object = "bpf";
	return true;
}

static const char *name_comm(void *ctx, u32 pid)
{
	const struct run *run = ctx;

	return perf_maps_comm(run->maps, pid);
}

static const char *name_called(void *ctx, const char *path)
{
	const struct run *run = ctx;

	return perf_codes_name(perf_maps_codes(run->maps), path);
}

static const char *name_event(void *ctx, u64 number)
{
	const struct run *run = ctx;
	const struct perf_attr *attr = perf_file_attr(run->file, number);

	return attr ? attr->name : NULL;
}

static bool name_learn(void *ctx, u32 pid, struct maps *names)
{
	const struct run *run = ctx;

	return perf_maps_learn(run->maps, pid, names);
}

/* @whole: nothing of the file was damaged. */
static bool all_decode(struct run *run, struct view_options *options, bool whole)
{
	const struct names_mapper mapper = {
		.find = name_find,
		.comm = name_comm,
		.kernel = kernel_names,
		.code = name_code,
		.called = name_called,
		.event = name_event,
		.learn = name_learn,
		.ctx = run,
	};
	struct output output;
	double start = progress_seconds();
	bool ok = true;
	size_t i;

	if (!output_open(&output, options, false))
		return false;
	names_map_by(output.names, &mapper);
	names_symfs(output.names, run->decode->symfs);
	if (run->decode->demangle)
		names_demangle(output.names);
	run->output = &output;
	now_forget(run);
	run->want_time = view_output(options) & KIPT_OUTPUT_TIME;
	run->config.output = output_choose(&output, false) | KIPT_FLOW_TIME |
			     (options->disasm ? KIPT_FLOW_CODE : 0) |
			     output_spare_cond(&output, run->cycles);
	output.view.code = insn_read;
	output.view.code_ctx = run;
	output.view.guests_shown = image_any(run->decode->image);
	output.view.tsc_khz = perf_clock_khz(&run->aux.clock);
	maps_move(&output.maps, run->decode->image_maps);
	progress_catch();
	for (i = 0; i < run->aux.queue_count; i++)
		run->size += run->aux.queues[i].size;
	ok = time_range_ticks(&options->narrow.time, output.view.tsc_khz,
			      &run->stretch.from, &run->stretch.to);
	base_find(run);
	run->switch_ip = switch_find(run);
	/* A packed branch to it would not be seen. */
	if (run->config.output & KIPT_FLOW_PACKED)
		run->config.apart = run->switch_ip;
	perf_part_all(run);
	for (i = 0; i < run->aux.queue_count && ok; i++)
		ok = !run->aux.queues[i].piece_count ||
		     queue_decode(run, &run->aux.queues[i]);
	progress_clear();
	output.view.tally.trace_bytes = run->done + run->reached;
	output.view.tally.trace_left = run->left;
	if (!ok && !run->failed && progress_interrupted())
		say_error(options->collect ?
			  "cancelled: only %.2f of %.2f MiB were decoded (ECANCELED)" :
			  "cancelled: this is the trace up to there, %.2f of %.2f MiB (ECANCELED)",
			  (double)(run->done + run->reached) / 1048576,
			  (double)run->size / 1048576);
	output.view.tally.seconds = progress_seconds() - start;
	ok = output_close(&output, ok && whole) && ok;
	if (run->decode->strict && (tally_gaps(&output.view.tally) ||
				    perf_maps_lost(run->maps)))
		ok = false;
	missing_say(run);
	if (!ok || run->synced || !run->unsynced)
		return ok;
	say_error("%s: no PSB in any part of its %llu bytes of trace: nothing of it can be decoded",
		  run->decode->path, (unsigned long long)run->size);
	return false;
}

static bool recording_decode(struct run *run, struct view_options *options)
{
	bool whole;

	run->want_samples = view_shows_lines(options);
	whole = perf_file_events(run->file, event_take, run);
	if (run->aux.queue_count)
		perf_samples_settle(&run->samples, &run->aux.clock, run->aux.per_cpu);
	return perf_aux_check(&run->aux, run->file, whole) &&
	       perf_maps_settle(run->maps, run->file, &run->aux.clock) &&
	       perf_text_settle(run->text, run->file, &run->aux.clock) &&
	       config_make(run) && kernel_find(run, options) &&
	       (perf_maps_files(run->maps, run->file, run->decode->symfs), true) &&
	       all_decode(run, options, whole) && whole;
}

bool perf_decode(const struct perf_decode *decode,
		 struct view_options *options)
{
	struct run *run;
	bool ok = false;

	if (!output_spares(options, decode->path))
		return false;
	run = calloc(1, sizeof(*run));
	if (!run) {
		say_errno(ENOMEM, "cannot decode %s", decode->path);
		return false;
	}
	run->decode = decode;
	run->file = perf_file_open(decode->path);
	run->maps = run->file ? perf_maps_create() : NULL;
	run->text = run->maps ? perf_text_create() : NULL;
	run->kernel_image = run->text ? image_create() : NULL;
	if (run->kernel_image)
		ok = recording_decode(run, options);
	image_destroy(run->kernel_image);
	perf_text_destroy(run->text);
	perf_maps_destroy(run->maps);
	perf_aux_free(&run->aux);
	perf_samples_free(&run->samples);
	perf_file_close(run->file);
	free(run);
	return ok;
}
