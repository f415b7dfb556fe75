// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch counts in files of other tools: takes BRANCH records in order. What runs between
 * two of them is one range; whatever may come between where code ran that is not in the
 * trace, or what ran is another's, ends it.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../uapi/linux/kipt.h"
#include "../cli/messages.h"
#include "../records/tool_records.h"
#include "branch_profile.h"
#include "view.h"

/* Branches that are instructions of a program and lead to one. */
#define BRANCH_KINDS	(1U << KIPT_BRANCH_COND | 1U << KIPT_BRANCH_JUMP | \
			 1U << KIPT_BRANCH_CALL | 1U << KIPT_BRANCH_JUMP_IND | \
			 1U << KIPT_BRANCH_CALL_IND | 1U << KIPT_BRANCH_RET)
/* Of those, the ones that records of calls alone leave out. */
#define JUMP_KINDS	(1U << KIPT_BRANCH_COND | 1U << KIPT_BRANCH_JUMP | \
			 1U << KIPT_BRANCH_JUMP_IND)
/* What happens to a program between two instructions. */
#define ASYNC_KINDS	(1U << KIPT_BRANCH_EVENT | 1U << KIPT_BRANCH_TSX_ABORT | \
			 1U << KIPT_BRANCH_VMEXIT)
/* Records that say nothing of where control is. */
#define PLAIN_TYPES	(1U << KIPT_RECORD_CONTEXT | 1U << KIPT_RECORD_MODE | \
			 1U << KIPT_RECORD_TSX | 1U << KIPT_RECORD_TIME | \
			 1U << KIPT_RECORD_CBR | 1U << KIPT_RECORD_PTWRITE | \
			 1U << KIPT_RECORD_POWER | 1U << KIPT_RECORD_EVENT | \
			 1U << KIPT_RECORD_EVENT_DATA | 1U << KIPT_RECORD_VMCS | \
			 1U << KIPT_RECORD_BLOCK | 1U << KIPT_RECORD_TRIG)

/* @begin: where the last branch led, and code runs since, if @runs.
 * @reached: the flow led to the PSB that comes now, at @psb.
 * @kinds: bits of enum kipt_branch_kind that there were.
 */
struct printer {
	struct branch_profile *profile;
	u64 begin, psb;
	bool runs, returned, reached;
	u32 kinds;
};

static void range_end(struct view *view, u64 end)
{
	struct printer *printer = view->self;

	if (printer->runs)
		branch_profile_range(printer->profile, view->names, view_code_pid(&view->state),
				     printer->begin, end, printer->returned);
	printer->runs = false;
}

static void branch_take(struct view *view, const struct kipt_record *r)
{
	struct printer *printer = view->self;
	u32 kind = r->kind <= KIPT_BRANCH_KIND_MAX ? 1U << r->kind : 0;

	printer->kinds |= kind;
	if (kind & ASYNC_KINDS || r->flags & (KIPT_RF_NO_IP | KIPT_RF_NO_VALUE)) {
		printer->runs = false;
		return;
	}
	range_end(view, r->ip);
	if (kind & BRANCH_KINDS)
		branch_profile_branch(printer->profile, view->names, view_code_pid(&view->state), r->ip,
				      r->value);
	printer->runs = true;
	printer->returned = r->kind == KIPT_BRANCH_RET;
	printer->begin = r->value;
}

/* A range goes on only where the flow before the PSB led to where it says. */
static void sync_take(struct printer *printer, const struct kipt_record *r)
{
	bool known = !(r->flags & KIPT_RF_NO_IP);

	if (r->kind == KIPT_SYNC_REACHED) {
		printer->reached = known;
		printer->psb = r->ip;
		return;
	}
	if (!known || !printer->reached || printer->psb != r->ip)
		printer->runs = false;
	printer->reached = false;
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	struct printer *printer = view->self;

	if (r->type == KIPT_RECORD_SYNC) {
		sync_take(printer, r);
		return;
	}
	if (r->type == RECORD_SAMPLE || (r->type < 32 && 1U << r->type & PLAIN_TYPES))
		return;
	printer->reached = false;
	if (r->type == KIPT_RECORD_BRANCH) {
		branch_take(view, r);
	} else {
		if (r->type == KIPT_RECORD_DISABLE && r->kind == KIPT_DISABLE_BRANCH &&
		    !(r->flags & KIPT_RF_NO_IP))
			range_end(view, r->ip);
		printer->runs = false;
	}
}

static void notes_say(const struct branch_profile *profile)
{
	if (profile->homeless)
		say_note("branches and code between them that are in no file: %llu are left out",
			 (unsigned long long)profile->homeless);
	if (profile->nameless && profile->ranges.count)
		say_note("branches and code between them of files that cannot be read, have no build id, or have that of another: %llu are left out",
			 (unsigned long long)profile->nameless);
	if (profile->ranges.dropped)
		say_note("there are more branches than there is room for: %llu are left out",
			 (unsigned long long)profile->ranges.dropped);
}

static const char *option_of(const struct view_options *options)
{
	return options->bolt ? "bolt" : "autofdo";
}

static bool all_write(struct view *view, struct branch_profile *profile)
{
	const struct view_options *options = view->options;
	bool ok;

	if (!branch_profile_settle(profile, view->names)) {
		say_error("--%s: no memory for its files", option_of(options));
		return false;
	}
	ok = profile->ranges.count;
	if (!ok && profile->nameless)
		say_error("--%s: none of the files whose code ran can be read and has a build id",
			  option_of(options));
	else if (!ok)
		say_error("--%s: none of the code that ran is in a file", option_of(options));
	if (ok && options->bolt)
		ok = branch_profile_write(profile, options->bolt, &bolt_form);
	if (ok && options->autofdo)
		ok = branch_profile_write(profile, options->autofdo, &autofdo_form);
	notes_say(profile);
	return ok;
}

static void profile_finish(struct view *view)
{
	struct printer *printer = view->self;
	const char *option = option_of(view->options);
	bool ok = false;

	if (view->tally.types[KIPT_RECORD_BRANCH] &&
	    (view->options->has_code || printer->kinds & JUMP_KINDS))
		ok = all_write(view, printer->profile);
	else if (view->tally.types[KIPT_RECORD_BRANCH])
		say_error("--%s: no jump is in the records, or in what was chosen of them: if they are of calls alone, write them with -o and without --calls",
			  option);
	else if (view->tally.counted)
		say_error("--%s: branches were only counted, and it takes them in order",
			  option);
	else if (view->tally.records)
		say_error("--%s: no branch is in the trace, or in what was chosen of it",
			  option);
	view->failed |= !ok;
	branch_profile_destroy(printer->profile);
	free(printer);
	view->self = NULL;
}

static bool folders_find(const struct view_options *options)
{
	return (!options->bolt || branch_profile_open("bolt", options->bolt)) &&
	       (!options->autofdo || branch_profile_open("autofdo", options->autofdo));
}

bool view_branch_profile_init(struct view *view)
{
	struct printer *printer = calloc(1, sizeof(*printer));

	if (!printer)
		return false;
	printer->profile = branch_profile_create();
	view->failed = printer->profile && !folders_find(view->options);
	if (!printer->profile || view->failed) {
		branch_profile_destroy(printer->profile);
		free(printer);
		return false;
	}
	view->self = printer;
	view->print = record_print;
	view->finish = profile_finish;
	return true;
}
