// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt show: records that -o wrote to a file.
 */
#include <stdio.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../view/record_output.h"
#include "again.h"
#include "decode_verb.h"

static const struct kipt_option options[] = {
	VIEW_OPTIONS,
	VIEW_NO_DISASM_OPTION,
	VIEW_NARROW_OPTIONS,
	{ 0 }
};

/* What is made of calls and times alone is right without other branches. */
static bool calls_suffice(const struct view_options *options)
{
	switch (options->mode) {
	case VIEW_BRANCHES:
	case VIEW_COUNTS:
	case VIEW_TOTALS:
	case VIEW_SCREEN:
	case VIEW_HTML:
		return options->collect;
	default:
		return true;
	}
}

static void about_take(void *ctx, const struct record_file_about *about)
{
	struct output *output = ctx;
	const struct view_options *options = output->options;

	output->view.tsc_khz = about->tsc_khz;
	if (about->guests)
		names_guests(output->names);
	output->calls_only = about->calls;
	output->view.cut = output->view.tally.unfinished = about->cut;
	if (about->cut)
		say_note("the file is not whole: what made it was cancelled, or failed");
	if (about->calls && !calls_suffice(options))
		say_note("the file was made with --calls: calls and returns are all branches that it has");
}

static bool records_take(void *ctx, const struct kipt_record *records,
			 u32 count)
{
	return output_take(ctx, records, count) && !progress_interrupted();
}

/* What is made of all records is shown, or kept, of those that came before Ctrl-C. */
static bool file_read(const char *path, struct output *output)
{
	bool ok;

	if (!view_shows_lines(output->options) || output->options->json)
		progress_catch();
	ok = record_file_read(path, about_take, records_take, output);
	if (ok || !progress_interrupted()) {
		output->view.cut |= !ok;
		return ok;
	}
	say_error(output->options->collect ?
		  "cancelled: %s was not read to its end (ECANCELED)" :
		  "cancelled: this is %s up to there (ECANCELED)", path);
	return false;
}

int show_file(const char *path, struct view_options *view)
{
	struct output output;
	char maps[4096];
	bool ok;

	snprintf(maps, sizeof(maps), "%s.maps", path);
	if (!view->maps && !access(maps, R_OK)) {
		view->maps = maps;
		view->maps_found = true;
	}
	if (!output_spares(view, path) || !output_open(&output, view, false))
		return KIPT_EXIT_FAILED;
	output.stored = true;
	ok = file_read(path, &output);
	ok = output_close(&output, ok) && ok;
	if (ok && view->mode == VIEW_INSNS &&
	    !output.view.tally.types[KIPT_RECORD_INSN])
		say_note("%s holds no instructions: they are only in files that were made with --insns",
			 path);
	return ok ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

static int run(int argc, char **argv)
{
	struct args args = {
		.verb = &verb_show,
		.argc = argc,
		.argv = argv,
		.is_value = time_range_like,
	};
	struct view_options view = { .inlined = true };
	int id, exit;

	again_keep(options, argc, argv);
	while ((id = args_option(&args)) > 0) {
		if (view_option(&view, id, args.value) < 0)
			return KIPT_EXIT_USAGE;
	}
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 1, 1))
		return KIPT_EXIT_USAGE;
	if (!view_settle(&view))
		return KIPT_EXIT_USAGE;
	again_settle(&view, &verb_show, args.argv[0]);
	exit = show_file(args.argv[0], &view);
	narrow_free(&view.narrow);
	return exit;
}

const struct kipt_verb verb_show = {
	.name = "show",
	.operands = "FILE",
	.summary = "show a file of records that -o wrote",
	.about = "Shows the records that '-o FILE' of fetch, record or decode wrote, in any\n"
		 "form that they suffice for: files hold all branches unless something else was\n"
		 "asked for. FILE.maps beside it gives names to user code; kernel symbols are\n"
		 "this kernel's unless --kallsyms names a copy.",
	.examples = "  kipt show trace.rec\n"
		    "  kipt show trace.rec --branches | head\n"
		    "  kipt show trace.rec --json --kallsyms saved/kallsyms",
	.options = options,
	.run = run,
};
