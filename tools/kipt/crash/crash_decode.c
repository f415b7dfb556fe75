// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder core over a trace in a dump, see crash_decode.h. The trace passes
 * through a window that is moved from PSB to PSB, and is decoded in pieces where
 * the dump has holes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/flow.h"
#include "../../../kmod/decode/flow/flow_ovf.h"
#include "../../../kmod/decode/packet/psb.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../../../kmod/hw/rtit_regs.h"
#include "../../../kmod/shared/patch_log.h"
#include "../../../kmod/shared/text_view.h"
#include "../../../kmod/shared/tsc_extend.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../records/hold_back.h"
#include "../records/process_records.h"
#include "../records/record_tail.h"
#include "crash_decode.h"

/* A window is cut at a PSB this far before its end, so that all is there that
 * decoding up to the PSB may read.
 */
#define WINDOW		(4 << 20)
#define WINDOW_END	(64 << 10)

/* A system call's instruction, SYSCALL, SYSENTER or INT 80h, has two bytes. */
#define SYSCALL_BYTES	2

#define PAGE		4096U

/* For cached code and paths; machines that read their dump have little. */
#define FLOW_MEMORY	(8 << 20)

/**
 * struct run - one CPU's trace on its way to records
 * @decode: what is decoded, and how
 * @output: where records go that are not merged
 * @own: passes the records of @decode->program
 * @who: adds threads to the flow's records
 * @patched: there are patches of kernel text
 * @text: what is to be taken back of them
 * @begins: the trace is at its begin, or after a hole
 * @held: what came after the last place that looks like the end
 * @last: of @decode->last records; NULL: all are given
 * @flow: the decoder core, in
 * @arena: its memory
 * @window: WINDOW bytes of the trace
 * @base: offset of the window in the trace
 * @failed: records could not be given
 *
 * Records of the flow go through records_take(), @who, records_pass(), @own, @held, @last
 * and records_out(), in this order, as far as each of them is wanted.
 */
struct run {
	const struct crash_decode *decode;
	struct output *output;
	struct own_records own;
	struct crash_who who;
	bool patched;
	struct kipt_text_view text;
	bool begins;
	struct held held;
	struct last_records *last;
	struct kipt_flow *flow;
	void *arena;
	u8 *window;
	u64 base;
	bool failed;
};

/*
 * Code of the dump comes first, then of the running kernel, of the program that was killed,
 * and of files that the user named. What is not known is not there: the decoder makes a
 * gap of it.
 */
static u32 bytes_read(const struct crash_decode *decode, u64 space, u64 ip,
		      u8 *bytes, u32 size)
{
	u32 done = 0;

	if (decode->memory)
		done = crash_memory_read(decode->memory, space, ip, bytes,
					 size);
	if (!done && decode->live && ip >> 63)
		done = kcore_read(decode->live, ip, bytes, size);
	if (!done && decode->program && !(ip >> 63) &&
	    crash_program_has(decode->program, space))
		done = crash_program_code(decode->program, ip, bytes, size);
	return image_read_rest(decode->image, ip, bytes, size, done);
}

/* [@ip, @ip + @size) lies in one page. */
static u32 text_read(const struct run *run, u64 ip, u8 *bytes,
		     u32 size)
{
	u32 got;

	size = kipt_text_view_sure(&run->text, ip, size);
	got = size ? bytes_read(run->decode, 0, ip, bytes, size) : 0;
	if (!got || !kipt_patch_log_undo(run->text.log, run->text.at, ip,
					 bytes, got))
		return 0;
	return got;
}

static u32 code_read(void *ctx, u64 space, u64 ip, u8 *bytes, u32 size)
{
	const struct run *run = ctx;
	u32 done = 0, part, got;

	/* Code of guests is in files that the user names, or nowhere. */
	if (space == KIPT_SPACE_GUEST)
		return image_read_rest(run->decode->image, ip, bytes, size, 0);
	if (!run->patched || !(ip >> 63))
		return bytes_read(run->decode, space, ip, bytes, size);
	while (done < size) {
		part = PAGE - (ip + done) % PAGE;
		if (part > size - done)
			part = size - done;
		got = text_read(run, ip + done, bytes + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

static bool code_changed(void *ctx, u64 space, u64 ip, u32 size)
{
	const struct run *run = ctx;

	return run->patched && ip >> 63 && space != KIPT_SPACE_GUEST &&
	       kipt_text_view_sure(&run->text, ip, size) < size;
}

static u64 space_name(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	return nr ? KIPT_SPACE_GUEST : cr3 & ~0xfffULL;
}

/*
 * From now on kernel text is as it was when it ran, if any was patched since then. @since
 * is the TSC of the begin of the trace, 0 if that is not known: all patches count then.
 */
static void patches_follow(struct run *run, u64 since)
{
	const struct crash_logs *logs = run->decode->logs;
	u64 slack = (u64)run->decode->tsc_khz * KIPT_TEXT_SLACK_MS;
	u64 first = logs->first_patch, end = logs->end_patch;

	if (run->patched || !logs->patches || first == end)
		return;
	run->patched = since <= slack ||
		       kipt_patch_log_at(logs->patches, first, end,
					 since - slack) != end ||
		       kipt_patch_log_lost(logs->patches, first) == end - first;
	kipt_text_view_init(&run->text, logs->patches, first, end, slack);
}

static bool records_out(void *ctx, const struct kipt_record *records,
			u32 count)
{
	struct run *run = ctx;
	struct crash_merge *merge = run->decode->merge;

	if (merge ? !crash_merge_take(merge, records, count) :
		    !output_take(run->output, records, count))
		run->failed = true;
	return !run->failed;
}

static bool records_keep(void *ctx, const struct kipt_record *records,
			 u32 count)
{
	struct run *run = ctx;

	if (!run->last)
		return records_out(run, records, count);
	last_records_take(run->last, records, count);
	return true;
}

static bool records_own(void *ctx, const struct kipt_record *records,
			u32 count)
{
	struct run *run = ctx;

	if (run->decode->end)
		return held_take(&run->held, records, count);
	return records_keep(run, records, count);
}

static bool is_own(void *ctx, u64 cr3)
{
	return crash_program_has(((struct run *)ctx)->decode->program, cr3);
}

static bool records_pass(void *ctx, const struct kipt_record *records,
			 u32 count)
{
	struct run *run = ctx;

	if (run->decode->program)
		return own_records_take(&run->own, records, count);
	return records_own(run, records, count);
}

/* Where user code was left for good: by a fault, or into the kernel. */
static bool is_death(const struct kipt_record *record, u64 ip)
{
	return record->type == KIPT_RECORD_DISABLE &&
	       !(record->flags & KIPT_RF_NO_IP) &&
	       (record->ip == ip || record->ip == ip - SYSCALL_BYTES);
}

static bool is_end(void *ctx, const struct kipt_record *record)
{
	const struct crash_decode *decode = ((struct run *)ctx)->decode;

	if (decode->program)
		return is_death(record, decode->end->ip);
	return kipt_excerpt_ends(decode->end, record);
}

static void end_note(struct run *run)
{
	u32 cpu = run->decode->trace->cpu->page.page.number;
	u64 branches, insns;

	if (!run->decode->end)
		return;
	if (!held_drop(&run->held, &branches, &insns))
		say_note("CPU %u: its trace does not show where it was stopped or died; this is all of it",
			 cpu);
	else if (branches)
		say_note("CPU %u: %llu branches, %llu instructions until its tracing stopped are not shown: --after shows them",
			 cpu, (unsigned long long)branches,
			 (unsigned long long)insns);
}

/* Offsets are of the trace, not of the window. */
static bool records_move(struct run *run, const struct kipt_record *records,
			 u32 count)
{
	struct kipt_record moved[64];
	u32 i, part;

	for (; count; count -= part, records += part) {
		part = count < ARRAY_SIZE(moved) ? count : ARRAY_SIZE(moved);
		memcpy(moved, records, part * sizeof(*moved));
		for (i = 0; i < part; i++) {
			if (moved[i].type == KIPT_RECORD_SYNC ||
			    moved[i].type == KIPT_RECORD_GAP)
				moved[i].value += run->base;
		}
		if (!crash_who_take(&run->who, moved, part))
			return false;
	}
	return true;
}

static bool records_take(void *ctx, const struct kipt_record *records,
			 u32 count)
{
	struct run *run = ctx;
	bool good = run->base ? records_move(run, records, count) :
				crash_who_take(&run->who, records, count);

	progress_show("decoding", run->base, run->decode->trace->size);
	return good && !progress_interrupted();
}

/* A record of our own, between those of the flow. */
static bool own_tell(struct run *run, struct kipt_record record)
{
	record.flags = KIPT_RF_NO_IP;
	return records_pass(run, &record, 1);
}

static bool gap_tell(struct run *run, u32 kind, u64 value)
{
	return own_tell(run, (struct kipt_record){
		.type = KIPT_RECORD_GAP,
		.kind = kind,
		.value = value,
	});
}

/* The last PSB at which a window that goes on may be cut; 0: there is none. The decoder looks
 * back from there: an OVF before the PSB has to be in the same window, unless each PSB has one.
 */
static u64 cut_find(const u8 *window, u64 size)
{
	u64 limit = size - WINDOW_END, last = 0, cut;

	while ((cut = kipt_sync_before(window, limit, limit - 1)) < limit) {
		if (!kipt_flow_ovf_before(window, cut))
			return cut;
		last = last ? last : cut;
		limit = cut;
	}
	return last;
}

/* Time in the PSB+ at an offset of the window; 0 if it has none. */
static u64 time_at(const struct run *run, u64 size, u64 offset)
{
	u64 tsc;

	if (offset >= size || !kipt_psb_tsc(run->window, size, offset, &tsc))
		return 0;
	return kipt_tsc_extend(run->decode->tsc_near, tsc);
}

/* Nothing in the trace is later; ~0: that is not known. */
static u64 end_time(const struct run *run)
{
	const struct crash_trace *trace = run->decode->trace;

	return trace->end == CRASH_END_STOPPED ? trace->cpu->page.stop.tsc :
						 ~0ULL;
}

/* What depends on the time is found anew. */
static bool begin_find(struct run *run, u64 size)
{
	u64 psb = kipt_sync_next(run->window, size, 0);
	u64 begin = time_at(run, size, psb), lost;

	run->begins = false;
	patches_follow(run, begin);
	lost = crash_who_begin(&run->who, begin, end_time(run));
	return !lost || run->base || gap_tell(run, KIPT_GAP_SWITCHES, lost);
}

/* Kernel text is as of the begin of a stretch. Returns true to go on. */
static bool stretches_decode(struct run *run, u64 size, u64 from, u64 cut)
{
	u64 psb, to, end;

	for (; from < cut; from = to) {
		to = cut;
		if (run->patched) {
			psb = kipt_sync_next(run->window, size, from);
			to = kipt_sync_cut(run->window, size, psb, KIPT_PSB_BYTES);
			if (to > cut)
				to = cut;
			end = time_at(run, size, to);
			kipt_text_view_at(&run->text, run->flow,
					  time_at(run, size, psb),
					  end ? end : end_time(run));
		}
		if (kipt_flow_run(run->flow, run->window, size, from, to) ==
		    KIPT_STOPPED || run->failed)
			return false;
	}
	return true;
}

/* Decode what is in the window. Returns how far it can be moved, or 0. */
static u64 window_decode(struct run *run, u32 size, bool more)
{
	u64 cut = more ? cut_find(run->window, size) : 0;
	u64 from = 0;

	/* What is left of a segment that was overwritten is no gap of its own. */
	if (!run->base && run->decode->trace->overwritten)
		from = kipt_sync_next(run->window, size, 0);
	if (from == size)
		from = 0;

	if (!cut)
		cut = size;
	if (run->begins && !begin_find(run, size))
		return 0;
	return stretches_decode(run, size, from, cut) ? cut : 0;
}

/* Returns how much comes after it, or 0 if that is not to be decoded. */
static u64 hole_take(struct run *run, u64 at)
{
	const struct crash_trace *trace = run->decode->trace;
	u64 missing = crash_trace_missing(trace, at);

	say_note("CPU %u: %llu bytes of its trace are not in the dump, from offset %llu on",
		 trace->cpu->page.page.number, (unsigned long long)missing,
		 (unsigned long long)at);
	run->begins = true;
	return gap_tell(run, KIPT_GAP_MISSING, missing) ? missing : 0;
}

/* Returns true if all was looked at. */
static bool trace_decode(struct run *run)
{
	const struct crash_trace *trace = run->decode->trace;
	u64 moved;
	u32 got;

	while (run->base < trace->size) {
		got = crash_trace_read(trace, run->base, run->window, WINDOW);
		if (!got)
			moved = hole_take(run, run->base);
		else
			moved = window_decode(run, got, got == WINDOW &&
					      run->base + got < trace->size);
		if (!moved)
			return false;
		run->base += moved;
	}
	return true;
}

static void filters_fill(struct kipt_flow_config *config,
			 const struct crash_cpu *cpu)
{
	u32 i;

	if (!cpu->has_logs || cpu->logs.nr_filters > KIPT_CRASH_FILTERS)
		return;
	config->filter_count = cpu->logs.nr_filters;
	for (i = 0; i < cpu->logs.nr_filters; i++) {
		config->filter[i].begin = cpu->logs.filters[i].begin;
		config->filter[i].last = cpu->logs.filters[i].last;
		config->filter[i].stop = cpu->logs.filters[i].stop;
	}
}

/* What is before and after the trace. */
static bool begin_tell(struct run *run)
{
	const struct crash_trace *trace = run->decode->trace;

	return own_tell(run, (struct kipt_record){
			.type = KIPT_RECORD_CPU,
			.aux = trace->cpu->page.page.number,
	       }) &&
	       (!trace->overwritten || gap_tell(run, KIPT_GAP_RING, 0));
}

static bool end_tell(struct run *run)
{
	const struct crash_trace *trace = run->decode->trace;
	u64 status = trace->cpu->page.stop.status;

	if (trace->end == CRASH_END_ZEROS || trace->end == CRASH_END_TIMES)
		return gap_tell(run, KIPT_GAP_STUCK, trace->size);
	return !(status & RTIT_STATUS_ERROR) ||
	       gap_tell(run, KIPT_GAP_HW_ERROR, status);
}

static struct kipt_flow_config config_make(struct run *run)
{
	const struct crash_decode *decode = run->decode;
	const struct kipt_crash_cpu *page = &decode->trace->cpu->page;
	struct kipt_flow_config config = {
		.output = output_choose(run->output, false),
		.memory = FLOW_MEMORY,
		.tsc_num = page->tsc_num,
		.tsc_den = page->tsc_den,
		.tsc_near = decode->tsc_near,
		.mtc_freq = (page->ctl & RTIT_CTL_MTCFREQ) >>
			    RTIT_CTL_MTCFREQ_SHIFT,
		.max_nonturbo_ratio = page->max_nonturbo_ratio < 256 ?
				      page->max_nonturbo_ratio : 0,
		.no_tnt = page->ctl & RTIT_CTL_DISTNT,
		.no_retc = page->ctl & RTIT_CTL_DISRETC,
	};

	filters_fill(&config, decode->trace->cpu);
	/* One by one is how the last ones are kept, and held back. */
	if (decode->last || decode->end || decode->program)
		config.output &= ~(u32)KIPT_FLOW_PACKED;
	if (decode->merge)
		config.output |= KIPT_FLOW_TIME;
	run->who.time = config.output & KIPT_FLOW_TIME;
	/* Counts have no order, so threads need no time. */
	if (crash_who_known(&run->who) && !(config.output & KIPT_FLOW_COUNTS))
		config.output |= KIPT_FLOW_TIME;
	return config;
}

static bool run_init(struct run *run, const struct kipt_flow_config *config)
{
	const struct kipt_sink sink = { records_take, run };
	size_t size = kipt_flow_size(config);
	const struct kipt_code code = {
		.read = code_read,
		.space = space_name,
		.changed = code_changed,
		.ctx = run,
	};

	run->window = malloc(WINDOW);
	run->arena = aligned_alloc(64, (size + 63) & ~63UL);
	if (run->decode->last)
		run->last = last_records_create(run->decode->last,
						run->decode->calls);
	if (!run->window || !run->arena || (run->decode->last && !run->last))
		return false;
	run->flow = kipt_flow_init(run->arena, size, config, &code, &sink);
	return run->flow;
}

static void run_uninit(struct run *run)
{
	last_records_destroy(run->last);
	free(run->arena);
	free(run->window);
}

static bool run_all(struct run *run, u32 output)
{
	bool ok = begin_tell(run) && trace_decode(run);

	if (ok)
		end_note(run);
	ok = ok && end_tell(run);

	if (output & KIPT_FLOW_COUNTS)
		kipt_flow_counts(run->flow);
	if (run->last && !last_records_give(run->last, records_out, run))
		ok = false;
	progress_clear();
	if (!ok && !run->failed)
		say_error("cancelled: this is what was decoded up to there (ECANCELED)");
	return ok;
}

bool crash_decode(const struct crash_decode *decode, struct output *output)
{
	struct run run = {
		.decode = decode,
		.output = output,
		.own = { .is_own = is_own, .give = records_own, .ctx = &run },
		.begins = true,
		.who = { .logs = decode->logs, .give = records_pass, .ctx = &run },
		.held = { .is_place = is_end, .give = records_keep, .ctx = &run },
	};
	struct kipt_flow_config config = config_make(&run);
	struct tally *tally = &output->view.tally;
	double start = progress_seconds();
	bool ok;

	if (decode->program) {
		run.own.tid = crash_program_signal(decode->program)->tid;
		run.own.pid = crash_program_signal(decode->program)->pid;
	}
	if (!run_init(&run, &config)) {
		run_uninit(&run);
		say_errno(ENOMEM, "cannot decode CPU %u",
			  decode->trace->cpu->page.page.number);
		return false;
	}
	ok = run_all(&run, config.output);
	tally->seconds += progress_seconds() - start;
	tally->trace_bytes += run.base;
	run_uninit(&run);
	return ok;
}
