// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of the way of records, see record_output.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../../../kmod/decode/flow.h"
#include "../../../uapi/linux/kipt.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../cli/standard_output.h"
#include "../records/record_state.h"
#include "../symbols/kernel_symbols.h"
#include "record_output.h"

bool output_spares(const struct view_options *options, const char *input)
{
	const struct {
		const char *option, *path;
	} files[] = {
		{ "-o", options->output },
		{ "--perfetto", options->perfetto },
		{ "--firefox", options->firefox },
		{ "--html", options->html },
		{ "--drcov", options->drcov },
		{ "--lcov", options->lcov },
	};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (!record_file_is(files[i].path, input))
			continue;
		say_error("%s %s: that is the file which is read; give another name",
			  files[i].option, files[i].path);
		return false;
	}
	return true;
}

static bool records_show(void *ctx, const struct kipt_record *records,
			 u32 count);
static bool narrow_records(void *ctx, const struct kipt_record *records,
			   u32 count);

static const char *comm_find(void *ctx, u32 tid, u32 pid)
{
	struct output *output = ctx;

	return names_comm(output->names, tid, pid);
}

static bool is_narrow(const struct output *output)
{
	return output->narrow.options || output->calls;
}

/* False: no file has the records, so that none has their mappings. */
static bool maps_path(const struct view_options *options, char *path, size_t size)
{
	struct stat st;

	snprintf(path, size, "%s.maps", options->output);
	return strcmp(options->output, "-") &&
	       (stat(options->output, &st) || S_ISREG(st.st_mode));
}

static bool maps_beside_spares(const struct view_options *options)
{
	char path[4096];

	return !maps_path(options, path, sizeof(path)) || maps_spares(path);
}

bool output_open(struct output *output, const struct view_options *options,
		 bool live)
{
	memset(output, 0, sizeof(*output));
	output->options = options;
	progress_lines(view_shows_lines(options));
	if (!kernel_symbols_check(options->kallsyms) ||
	    (options->maps && !maps_load(&output->maps, options->maps,
						 options->maps_found)))
		goto err_maps;
	if (options->output && (live || options->has_code || output->maps.first) &&
	    !maps_beside_spares(options))
		goto err_maps;
	output->names = names_create(options->kallsyms, &output->maps, live);
	if (!output->names) {
		say_errno(ENOMEM, "cannot show the trace");
		goto err_maps;
	}
	if (narrow_any(&options->narrow)) {
		output->narrow.options = &options->narrow;
		output->narrow.comm = comm_find;
		output->narrow.stream.give = records_show;
		output->narrow.stream.ctx = output;
	}
	if (options->syms) {
		output->calls = chosen_calls_create(options, output->names,
						    narrow_records, output);
		if (!output->calls) {
			say_errno(ENOMEM, "cannot choose calls of functions");
			goto err_names;
		}
	}
	if (options->output) {
		output->file = record_file_create(options->output);
		if (!output->file)
			goto err_names;
	}
	if (options->give ||
	    view_init(&output->view, options, output->names, stdout))
		return true;
	record_file_close(output->file, false);
err_names:
	chosen_calls_destroy(output->calls);
	names_destroy(output->names);
err_maps:
	maps_free(&output->maps);
	return false;
}

bool output_end(struct output *output, u32 tid, u64 ip, u32 lines)
{
	output->ending = ending_create(tid, ip);
	output->last = last_lines_create(lines);
	if (output->ending && output->last)
		return true;
	say_errno(ENOMEM, "cannot show the end of the trace");
	return false;
}

static bool ending_view(void *ctx, const struct kipt_record *records,
			u32 count)
{
	struct output *output = ctx;

	view_records(&output->view, records, count);
	return true;
}

void output_end_show(struct output *output)
{
	struct view *view = &output->view;
	struct tally tally = view->tally;
	u64 after, left;
	bool found;

	if (output->file || view_only_counts(view))
		return;
	view->out = last_lines_file(output->last);
	found = ending_give(output->ending, ending_view, output, &after);
	view_flush(view);
	view->out = stdout;
	/* All of them were counted as they came. */
	view->tally = tally;
	left = last_lines_show(output->last, stdout);
	output_flush(stdout);
	if (left)
		say_note("%llu lines before these are not shown: --lines shows more, -o FILE keeps all",
			 (unsigned long long)left);
	if (!found)
		say_note("the trace does not show where it was killed; this is the end of what there is");
	else if (after)
		say_note("%llu branches after that place are not shown",
			 (unsigned long long)after);
}

/* The flow counts faster than anybody who looks at each branch. Packed records are fewer than
 * those they mean, which pays where they leave the kernel, or are kept.
 */
u32 output_choose(const struct output *output, bool far)
{
	const struct view_options *options = output->options;
	u32 wanted = view_output(options);

	if (is_narrow(output))
		return wanted;
	if (options->mode == VIEW_COUNTS)
		return KIPT_OUTPUT_COUNTS;
	if (options->mode == VIEW_INSNS || options->mode == VIEW_COVERAGE)
		return wanted;
	if (far || options->packed)
		wanted |= KIPT_OUTPUT_PACKED;
	return wanted;
}

u32 output_spare_cond(struct output *output, bool cycles)
{
	const struct view_options *options = output->options;
	bool *sums_up = &output->view.tally.sums_up;

	*sums_up = options->mode == VIEW_CALLS && !options->json && !options->output &&
		   !options->hash && !options->give && !options->collect && !options->part &&
		   !options->packed && !output->ending && !is_narrow(output) &&
		   !(cycles && options->time);
	return *sums_up ? KIPT_FLOW_NO_COND : 0;
}

/* The file outlives the processes: their mappings go beside it. */
static void tasks_learn(struct output *output,
			const struct kipt_record *records, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (records[i].type == KIPT_RECORD_TASK &&
		    !(records[i].flags & KIPT_RF_NO_VALUE))
			names_learn(output->names, records[i].value);
		else if (records[i].type == KIPT_RECORD_SPACE && records[i].aux)
			names_learn(output->names, records[i].aux);
	}
}

/* They were written as they came. */
static bool kept_packed(const struct output *output)
{
	return output->unpack && output->options->packed && !is_narrow(output);
}

/* The decoder sets the clock, and how names are found, before it gives the first record. */
static void file_describe(struct output *output)
{
	if (!record_file_begun(output->file))
		record_file_describe(output->file, &(struct record_file_about) {
			.tsc_khz = output->view.tsc_khz,
			.guests = names_guests_named(output->names),
			.calls = output->calls_only || view_kinds(output->options) != ~0U,
			.cut = output->view.tally.unfinished,
		});
}

static bool file_write(struct output *output, const struct kipt_record *records, u32 count)
{
	file_describe(output);
	return record_file_write(output->file, records, count);
}

static bool records_give(struct output *output, const struct kipt_record *records, u32 count)
{
	const struct view_options *options = output->options;

	if (output->muted) {
		view_follow(&output->view, records, count);
		return true;
	}
	if (options->give)
		return options->give(options->give_ctx, output, records, count);
	if (output->file)
		tasks_learn(output, records, count);
	if (output->ending && !output->file) {
		tally_records(&output->view.tally, records, count);
		ending_take(output->ending, records, count);
		return true;
	}
	view_records(&output->view, records, count);
	if (!output->file)
		return !stdout_error();
	return kept_packed(output) || file_write(output, records, count);
}

/* The kinds of branches that are given; a hash leaves out those of other kinds by itself. */
static u32 kinds_of(const struct view_options *options)
{
	return options->hash ? ~0U : view_kinds(options);
}

static bool gives_insns(const struct view_options *options)
{
	return !options->mode_given ||
	       (options->mode != VIEW_BRANCHES && options->mode != VIEW_CALLS);
}

static bool is_given(const struct view_options *options, const struct kipt_record *record)
{
	if (record->type == KIPT_RECORD_BRANCH)
		return kinds_of(options) >> record->kind % 32 & 1;
	return record->type != KIPT_RECORD_INSN || gives_insns(options);
}

/* The CPU goes on where it was when its last turn ended. */
static bool cpu_turn(struct output *output, u64 cpu)
{
	size_t *kept = lookup_get(&output->skipped_of, output->cpu);

	if (kept)
		*kept = output->skipped;
	else if (output->skipped &&
		 !lookup_add(&output->skipped_of, output->cpu, output->skipped))
		return false;
	kept = lookup_get(&output->skipped_of, cpu);
	output->skipped = kept ? *kept : 0;
	output->cpu = cpu;
	return true;
}

/* Leaves out what the decoder makes for other views only. The instructions up to a branch that
 * is left out are counted by the next record of the CPU that counts some.
 */
static bool records_choose(struct output *output, const struct kipt_record *records, u32 count)
{
	struct kipt_record given[64];
	u32 n = 0, i;
	bool ok = true;

	for (i = 0; i < count && ok; i++) {
		struct kipt_record *r = &given[n];

		*r = records[i];
		if (r->type == KIPT_RECORD_CPU && !cpu_turn(output, r->aux))
			return false;
		if (record_drops_insns(r))
			output->skipped = 0;
		if (kipt_record_counts_insns(r)) {
			r->aux = insns_add(r->aux, output->skipped);
			output->skipped = is_given(output->options, r) ? 0 : r->aux;
		}
		n += is_given(output->options, r);
		if (n == sizeof(given) / sizeof(*given)) {
			ok = records_give(output, given, n);
			n = 0;
		}
	}
	return ok && (!n || records_give(output, given, n));
}

/* Files of records, and the search for calls, may have more than is shown. */
static bool records_show(void *ctx, const struct kipt_record *records, u32 count)
{
	struct output *output = ctx;
	const struct view_options *options = output->options;

	return (output->stored || output->calls) &&
	       (kinds_of(options) != ~0U || !gives_insns(options)) ?
		records_choose(output, records, count) : records_give(output, records, count);
}

static bool narrow_records(void *ctx, const struct kipt_record *records,
			   u32 count)
{
	struct output *output = ctx;

	if (!output->narrow.options)
		return records_show(output, records, count);
	/* Whoever opened it says so later. */
	output->narrow.tsc_khz = output->view.tsc_khz;
	return narrow_take(&output->narrow, records, count);
}

static bool plain_take(void *ctx, const struct kipt_record *records, u32 count)
{
	struct output *output = ctx;

	/* One packed record may be many. */
	if (output->stored && progress_interrupted())
		return false;
	return output->calls ?
	       chosen_calls_take(output->calls, records, count) :
	       narrow_records(output, records, count);
}

static bool packed_take(struct output *output,
			const struct kipt_record *records, u32 count)
{
	bool keep = output->file && kept_packed(output);

	if (keep && !file_write(output, records, count))
		return false;
	return unpack_records(output->unpack, records, count, plain_take,
			      output);
}

bool output_take(struct output *output, const struct kipt_record *records,
		 u32 count)
{
	bool good;

	if (!output->unpack && unpack_wants(records, count))
		output->unpack = unpack_create();
	else if (!output->unpack)
		return plain_take(output, records, count);
	good = output->unpack && packed_take(output, records, count);
	if (!good)
		output->failed = true;
	return good;
}

static bool maps_beside(struct output *output)
{
	char path[4096];

	if (!maps_path(output->options, path, sizeof(path)))
		return true;
	if (output->maps.first)
		return maps_save(&output->maps, path);
	/* Of what the file was before. */
	maps_drop(path);
	return true;
}

/* What was asked for is not in the trace, or cannot be found in it. */
static void narrow_say(struct output *output)
{
	if (output->narrow.counted) {
		say_error("counts of branches are by process: --cpu, --tid, --comm and --time cannot narrow them; use --pid, or records of each branch");
		output->failed = true;
	} else if (output->narrow.stream.failed) {
		say_errno(ENOMEM, "cannot choose CPUs and tasks");
		output->failed = true;
	} else if (output->narrow.refused) {
		output->failed = true;
	} else if (narrow_timeless(&output->narrow)) {
		say_error("--time %s: the trace has no times",
			  output->options->narrow.time.text);
		output->failed = true;
	} else if (output->view.none_chosen) {
		say_note("nothing of that is in the trace; 'kipt open' shows which CPUs and tasks are");
	}
}

/* Names that nobody is sure of are left out. */
static void several_say(const struct maps *maps)
{
	const struct process *process = maps->first;

	while (process && !process->several)
		process = process->next;
	if (process)
		say_note("process %u (%s) had different code at the same addresses, as of programs that it executed one after the other: functions there have no names; in what 'kipt record -o FILE.data' makes they have",
			 process->pid, process->comm);
}

bool output_close(struct output *output, bool whole)
{
	bool *unfinished = &output->view.tally.unfinished;
	bool written = output->file &&
		       (whole || record_file_begun(output->file));
	bool ok;

	/* What is not whole has a sentence already. */
	output->view.none_chosen = whole && output->narrow.options && !output->narrow.seen;
	if (output->calls && !chosen_calls_end(output->calls))
		output->failed = true;
	else
		narrow_say(output);
	*unfinished |= !whole || output->failed;
	if (written)
		file_describe(output);
	if (written && *unfinished)
		record_file_cut(output->file);
	ok = record_file_close(output->file, whole);
	if (!output->options->give)
		view_finish(&output->view);
	chosen_calls_destroy(output->calls);
	narrow_end(&output->narrow);
	/* Records that are not all there have said so. */
	if (written && ok)
		ok = maps_beside(output);
	if (output->view.failed || output->failed)
		ok = false;
	unpack_destroy(output->unpack);
	lookup_free(&output->skipped_of);
	ending_destroy(output->ending);
	last_lines_destroy(output->last);
	names_destroy(output->names);
	several_say(&output->maps);
	maps_free(&output->maps);
	return ok;
}
