// SPDX-License-Identifier: GPL-2.0-only
/*
 * Coverage in files of other tools: takes INSN records, of which those that follow each
 * other in memory are one stretch.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../../kmod/decode/code/insn.h"
#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "coverage.h"
#include "view.h"

/* @begin, @end: the stretch that executes, of @pid; none if they are equal. */
struct printer {
	struct coverage *coverage;
	struct fresh_file drcov, lcov;
	u64 begin, end;
	u32 pid;
};

static void stretch_end(struct view *view)
{
	struct printer *printer = view->self;

	if (printer->begin != printer->end)
		coverage_add(printer->coverage, view->names, printer->pid, printer->begin,
			     printer->end);
	printer->begin = printer->end;
}

static void insn_take(struct view *view, const struct kipt_record *r)
{
	struct printer *printer = view->self;

	if (!r->aux || r->aux > KIPT_INSN_MAX_LEN)
		return;
	if (r->ip != printer->end ||
	    printer->end - printer->begin + r->aux > COVERAGE_BYTES) {
		stretch_end(view);
		printer->begin = r->ip;
		printer->pid = view_code_pid(&view->state);
	}
	printer->end = r->ip + r->aux;
}

/* Whatever is no time comes between stretches: a file may be mapped there now. */
static void record_print(struct view *view, const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_INSN)
		insn_take(view, r);
	else if (r->type != KIPT_RECORD_TIME)
		stretch_end(view);
}

static void notes_say(const struct coverage *coverage)
{
	if (coverage->homeless)
		say_note("code that is in no file ran %llu times, and is left out",
			 (unsigned long long)coverage->homeless);
	if (coverage->ranges.dropped)
		say_note("there is more code than there is room for: %llu times that it ran are left out",
			 (unsigned long long)coverage->ranges.dropped);
}

static bool all_write(struct view *view, struct printer *printer)
{
	const struct view_options *options = view->options;
	struct coverage *coverage = printer->coverage;
	bool ok = true;

	coverage_settle(coverage, view->names);
	if (options->drcov)
		ok = drcov_write(coverage, &printer->drcov);
	if (options->lcov &&
	    !lcov_write(coverage, names_places(view->names), &printer->lcov))
		ok = false;
	notes_say(coverage);
	return ok;
}

static void coverage_finish(struct view *view)
{
	struct printer *printer = view->self;
	const struct view_options *options = view->options;
	bool ok = false;

	stretch_end(view);
	if (view->tally.types[KIPT_RECORD_INSN])
		ok = all_write(view, printer);
	else if (view->tally.records)
		say_error("--%s: no instruction is in the trace, or in what was chosen of it; records have some only if they were made with --insns",
			  options->drcov ? "drcov" : "lcov");
	if (options->drcov && !fresh_close(&printer->drcov))
		ok = false;
	if (options->lcov && !fresh_close(&printer->lcov))
		ok = false;
	view->failed |= !ok;
	coverage_destroy(printer->coverage);
	free(printer);
	view->self = NULL;
}

static bool files_open(struct printer *printer, const struct view_options *options)
{
	if (options->drcov && !fresh_open(&printer->drcov, options->drcov))
		return false;
	if (!options->lcov || fresh_open(&printer->lcov, options->lcov))
		return true;
	if (options->drcov)
		fresh_close(&printer->drcov);
	return false;
}

bool view_coverage_init(struct view *view)
{
	struct printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return false;
	printer->coverage = coverage_create();
	view->failed = printer->coverage && !files_open(printer, view->options);
	if (!printer->coverage || view->failed) {
		coverage_destroy(printer->coverage);
		free(printer);
		return false;
	}
	view->self = printer;
	view->print = record_print;
	view->finish = coverage_finish;
	return true;
}
