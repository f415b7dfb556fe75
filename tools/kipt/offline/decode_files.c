// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder core over files, see decode_files.h. Chooses what the core makes,
 * gives it code and takes its records; knows nothing of packets, and leaves
 * threads to parallel_decode.c.
 */
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../view/trace_file.h"
#include "decode_files.h"
#include "parallel_decode.h"
#include "time_window.h"

/* Used by whichever thread has the turn, see jobs_run(). */
struct sink {
	struct output *output;
	u64 size;
	u64 reached;
	bool timed;
	bool failed;
};

/* What a folder has is of the machine that was traced, and not of its guests. */
static u32 code_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct offline *offline = ctx;
	u32 done = image_read(offline->image, ip, buf, len);

	return space == KIPT_SPACE_GUEST ?
	       done : image_read_rest(offline->saved->image, ip, buf, len, done);
}

static u32 insn_read(void *ctx, const struct kipt_record *insn, u8 *buf,
		     u32 len)
{
	return code_read(ctx, insn->value, insn->ip, buf, len);
}

static u64 guest_name(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	(void)cr3;
	return nr ? KIPT_SPACE_GUEST : 0;
}

/* Code is the same in all, counts are not. */
static u64 space_name(void *ctx, u64 cr3, bool nr)
{
	return nr ? guest_name(ctx, cr3, nr) : cr3 & ~0xfffULL;
}

static bool records_take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct sink *sink = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		if (records[i].type == KIPT_RECORD_SYNC)
			sink->reached = records[i].value;
		sink->timed |= records[i].type == KIPT_RECORD_TIME;
	}
	progress_show("decoding", sink->reached, sink->size);
	if (!output_take(sink->output, records, n))
		sink->failed = true;
	return !sink->failed && !progress_interrupted();
}

static void cpu_tell(struct output *output, u32 cpu)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_CPU,
		.flags = KIPT_RF_NO_IP,
		.aux = cpu,
	};

	output_take(output, &record, 1);
}

static bool verdict(enum kipt_status status, const struct sink *sink,
		    const char *path)
{
	if (status == KIPT_OK)
		return !sink->failed;
	if (status == KIPT_STOPPED && !sink->failed)
		say_error("cancelled: this is the trace up to there, %.2f of %.2f MiB (ECANCELED)",
			  (double)sink->reached / 1048576,
			  (double)sink->size / 1048576);
	else if (status != KIPT_STOPPED)
		say_error("cannot decode %s: %s", path,
			  kipt_status_name(status));
	return false;
}

/* The bytes that what is shown needs; false after a sentence. */
static bool window_find(struct time_window *window,
			const struct file_map *trace,
			const struct output *output)
{
	const struct time_range *range = &output->options->narrow.time;
	struct time_stretch stretch = { 0 };
	struct time_seen seen = { 0 };

	if (time_range_any(range) &&
	    !time_range_ticks(range, output->view.tsc_khz, &stretch.from,
			      &stretch.to))
		return false;
	time_window_find(window, output->options, &stretch, &seen, trace->bytes, trace->size,
			 trace->size);
	return true;
}

/* What is shown of a trace; @part: of one of its parts. */
struct shown {
	struct time_window window;
	struct part_bytes bytes;
	struct part_needs needs;
	bool part;
};

static enum kipt_status bytes_run(struct jobs *jobs, const struct file_map *trace, u64 from,
				  u64 to, const struct kipt_sink *out)
{
	const struct time_window window = { .from = from, .to = to };

	return from == to ? KIPT_OK :
			    jobs_run(jobs, trace->bytes, trace->size, &window, out);
}

/* False: interrupted. */
static bool back_find(struct part_bytes *bytes, const struct part_needs *needs,
		      const struct file_map *trace)
{
	struct part_search search = { .needs = *needs, .from = bytes->from };

	if (!part_look(&search, trace->bytes, 0, trace->size))
		return false;
	part_found(bytes, &search);
	return true;
}

/* Farther back until there is a time; each round has twice the bytes, see part_step(). */
static enum kipt_status back_run(struct jobs *jobs, const struct file_map *trace,
				 struct shown *shown, const struct kipt_sink *out)
{
	struct part_bytes *bytes = &shown->bytes, before;
	struct sink *sink = out->ctx;
	enum kipt_status status;

	for (;;) {
		sink->timed = false;
		status = bytes_run(jobs, trace, bytes->back, bytes->from, out);
		if (status == KIPT_STOPPED || sink->timed || !bytes->timed || !bytes->back)
			return status;
		before.from = part_farther(bytes);
		if (progress_interrupted() || !back_find(&before, &shown->needs, trace))
			return KIPT_STOPPED;
		part_step(bytes, before.back);
	}
}

/* What is before the part only says when it begins. */
static enum kipt_status part_run(struct jobs *jobs, const struct file_map *trace,
				 struct shown *shown, const struct kipt_sink *out,
				 struct output *output)
{
	struct part_bytes *bytes = &shown->bytes;
	struct sink *sink = out->ctx;
	enum kipt_status status;

	output->muted = true;
	status = bytes_run(jobs, trace, 0, bytes->head, out);
	/* The first time comes later. */
	if (bytes->head && !sink->timed)
		bytes->head = bytes->back = 0;
	if (status != KIPT_STOPPED)
		status = back_run(jobs, trace, shown, out);
	output->muted = false;
	if (status != KIPT_STOPPED)
		status = bytes_run(jobs, trace, bytes->from, bytes->to, out);
	if (bytes->to < trace->size)
		view_cut(&output->view);
	return status;
}

static u64 shown_bytes(const struct shown *shown)
{
	const struct part_bytes *bytes = &shown->bytes;

	return shown->part ? bytes->head + bytes->to - bytes->back :
			     time_window_bytes(&shown->window);
}

static bool jobs_work(struct jobs *jobs, const struct file_map *trace,
		      struct shown *shown, const char *path,
		      struct output *output)
{
	struct sink sink = { .output = output, .size = trace->size };
	const struct kipt_sink out = { .emit = records_take, .ctx = &sink };
	struct tally *tally = &output->view.tally;
	double start = progress_seconds();
	enum kipt_status status;

	if (shown->part)
		status = part_run(jobs, trace, shown, &out, output);
	else
		status = jobs_run(jobs, trace->bytes, trace->size, &shown->window, &out);
	progress_clear();
	tally->seconds = progress_seconds() - start;
	tally->trace_bytes = shown_bytes(shown);
	tally->trace_left = sink.size - tally->trace_bytes;
	if (status == KIPT_STOPPED) {
		tally->trace_bytes = sink.reached;
		tally->trace_left = 0;
	}
	return verdict(status, &sink, path);
}

/* False: interrupted. */
static bool part_find(struct shown *shown, const struct offline *offline,
		      const struct file_map *trace, const struct view_options *options)
{
	const struct part *part = &offline->part, after = { part->number + 1, part->count };
	/* Of lines only the column of times depends on what was before. */
	bool column = options->time && !options->json && options->mode < VIEW_COUNTS;
	struct part_bytes *bytes = &shown->bytes;

	bytes->from = part_cut(trace->bytes, trace->size, part_begin(part, trace->size));
	bytes->to = part_cut(trace->bytes, trace->size, part_begin(&after, trace->size));
	if (bytes->from < bytes->to)
		shown->needs = (struct part_needs){
			.first = column,
			.time = column || options->mode == VIEW_TOTALS,
		};
	return back_find(bytes, &shown->needs, trace);
}

/* False after a sentence. */
static bool shown_find(struct shown *shown, const struct offline *offline,
		       const struct file_map *trace, const struct output *output)
{
	*shown = (struct shown){ .part = offline->part.number };
	if (!shown->part)
		return window_find(&shown->window, trace, output);
	return part_find(shown, offline, trace, output->options);
}

/* "cpu3.pt" is of CPU 3. */
static u32 cpu_of(const char *path)
{
	const char *name = strrchr(path, '/');
	unsigned int cpu;
	int end = 0;

	name = name ? name + 1 : path;
	if (sscanf(name, "cpu%u.pt%n", &cpu, &end) == 1 && end && !name[end])
		return cpu;
	return 0;
}

/* The first part has the line that says so. */
static void cpu_begin(const struct offline *offline, u32 cpu, struct output *output)
{
	output->muted = offline->part.number > 1;
	cpu_tell(output, cpu);
	output->muted = false;
}

static bool trace_decode(const struct offline *offline,
			 const struct file_map *trace, struct output *output)
{
	struct kipt_flow_config config = offline->config;
	struct kipt_code code = {
		.read = code_read,
		.ctx = (void *)offline,
	};
	u32 cpu = cpu_of(offline->path);
	struct shown shown;
	struct jobs *jobs;
	bool ok;

	if (!trace_file_check(trace, offline->path))
		return false;
	if (!narrow_has(&output->options->narrow.cpus, cpu)) {
		output->view.tally.trace_left = trace->size;
		cpu_tell(output, cpu);
		return true;
	}
	if (!shown_find(&shown, offline, trace, output))
		return false;
	config.output = output_choose(output, false) |
			(output->options->disasm ? KIPT_FLOW_CODE : 0) |
			output_spare_cond(output, true);
	output->view.code = insn_read;
	output->view.code_ctx = (void *)offline;
	if (config.output & KIPT_FLOW_COUNTS)
		code.space = space_name;
	else if (offline->saved->image)
		code.space = guest_name;
	if (!offline->saved->image)
		names_guests(output->names);
	output->view.guests_shown = image_any(offline->image);
	jobs = jobs_create(&config, &code, offline->jobs);
	if (!jobs) {
		say_error("cannot decode %s: %s", offline->path,
			  kipt_status_name(KIPT_NO_MEMORY));
		return false;
	}
	progress_catch();
	cpu_begin(offline, cpu, output);
	ok = jobs_work(jobs, trace, &shown, offline->path, output);
	jobs_destroy(jobs);
	return ok;
}

/* A raw trace has no code, and nothing of it can be followed without. */
static void no_code_say(const struct offline *offline, const struct tally *tally)
{
	u64 missing = tally->gaps[KIPT_GAP_NO_CODE];

	if (missing && missing == tally_gaps(tally) && !offline->saved->image &&
	    !image_any(offline->image))
		say_note("no code was given: --dir, --pages or --image name it");
}

static bool output_decode(const struct offline *offline,
			  const struct file_map *trace,
			  struct view_options *options)
{
	struct output output;
	bool ok;

	if (!output_open(&output, options, false))
		return false;
	/* "" is none: the trace may be of another machine, or of the past. */
	if (!options->kallsyms)
		names_kallsyms(output.names, offline->saved->kallsyms);
	if (offline->demangle)
		names_demangle(output.names);
	maps_move(&output.maps, offline->image_maps);
	output.view.tsc_khz = offline->saved->tsc_khz;
	ok = trace_decode(offline, trace, &output);
	ok = output_close(&output, ok) && ok;
	no_code_say(offline, &output.view.tally);
	return ok && !(offline->strict && tally_gaps(&output.view.tally));
}

bool offline_decode(const struct offline *offline,
		    struct view_options *options)
{
	const struct saved_dir *saved = offline->saved;
	struct file_map trace = { 0 };
	bool ok;

	if (!options->maps && saved->maps[0]) {
		options->maps = saved->maps;
		options->maps_found = true;
	}
	if (!output_spares(options, offline->path) ||
	    !trace_file_open(&trace, offline->path))
		return false;
	ok = output_decode(offline, &trace, options);
	file_map_close(&trace);
	return ok;
}
