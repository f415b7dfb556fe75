// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt fetch: have the kernel decode a stopped session, and show the result.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../kernel/raw_device.h"
#include "../record/code_images.h"
#include "../record/fetch.h"

enum { OPTION_CPU = 1, OPTION_RAW, OPTION_IMAGES };

static const struct kipt_option options[] = {
	{ "cpu", 'c', OPTION_CPU, "N", "only this CPU of the session" },
	{ "raw", 0, OPTION_RAW, "DIR",
	  "write the raw trace to DIR/cpuN.pt too; without\n"
	  "another option nothing is decoded then" },
	{ "images", 0, OPTION_IMAGES, "FILE",
	  "where code is, also of programs that ended: of\n"
	  "'kipt start --maps', or a perf.data of that time" },
	FETCH_OPTIONS,
	VIEW_OPTIONS,
	VIEW_NO_DISASM_OPTION,
	VIEW_TIME_OPTION,
	{ 0 }
};

struct request {
	struct view_options view;
	struct fetch_options fetch;
	int cpu;
	const char *raw;
	const char *images;
	bool shown;
};

static bool raw_fetch(struct genl *genl, u32 id,
		      const struct request *request)
{
	struct kipt_session session;
	bool ok;

	if (genl_session_get(genl, id, &session))
		return false;
	ok = session.state != KIPT_STATE_RUNNING;
	if (!ok)
		say_error("session %u runs: stop it first, kipt stop %u (EBUSY)", id, id);
	else
		ok = raw_save(&session, request->cpu, request->raw);
	session_free(&session);
	return ok;
}

/* The recorder of kipt start completes the file when the session has stopped. */
static bool images_wait(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0;

	if (ok && flock(fd, LOCK_SH | LOCK_NB)) {
		say_note("waiting until %s is complete", path);
		ok = !flock(fd, LOCK_SH);
	}
	if (!ok)
		say_errno(errno, "cannot read %s", path);
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool images_fetch(struct genl *genl, u32 id, const char *path)
{
	struct kipt_session session;
	bool ok;

	if (genl_session_get(genl, id, &session))
		return false;
	/* Of one that runs, the kernel refuses the fetch, and says why. */
	ok = session.state == KIPT_STATE_RUNNING ||
	     (images_wait(path) && code_images_give(path, &session));
	session_free(&session);
	return ok;
}

static bool decoded_fetch(struct genl *genl, u32 id,
			  const struct request *request)
{
	const struct fetch_request what = {
		.id = id,
		.cpu = request->cpu,
		.options = &request->fetch,
	};
	struct output output;
	struct kipt_info info;
	bool ok;

	if (!output_open(&output, &request->view, true))
		return false;
	if (!genl_info(genl, &info))
		output.view.tsc_khz = info.caps.tsc_khz;
	progress_catch();
	ok = fetch_run(&what, &output);
	ok = output_close(&output, ok) && ok;
	if (ok && output.view.tally.gaps[KIPT_GAP_NO_CODE] && !request->images)
		say_note("code is missing of programs that ended before the fetch: 'kipt start --maps FILE' records where it is, 'kipt fetch --images FILE' reads it");
	return ok;
}

static int fetch(u32 id, const struct request *request)
{
	struct genl *genl = genl_open(false);
	bool ok = genl && fetch_can(&request->fetch);

	if (ok && request->raw)
		ok = raw_fetch(genl, id, request);
	if (ok && request->images)
		ok = images_fetch(genl, id, request->images);
	if (ok && (request->shown || !request->raw))
		ok = decoded_fetch(genl, id, request);
	genl_close(genl);
	return ok ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}

static int option_take(struct request *request, const struct args *args,
		       int id)
{
	u64 cpu;
	int taken;

	switch (id) {
	case OPTION_CPU:
		if (!args_number(args->value, KIPT_CPUS_MAX, &cpu))
			return args_bad(args, "--cpu %s: not a CPU number",
					args->value);
		request->cpu = cpu;
		return 0;
	case OPTION_RAW:
		request->raw = args->value;
		return 0;
	case OPTION_IMAGES:
		request->images = args->value;
		request->shown = true;
		return 0;
	}
	taken = fetch_option(&request->fetch, id, args->value);
	if (!taken)
		taken = view_option(&request->view, id, args->value);
	request->shown |= taken > 0;
	/* Paths are named once, which is much smaller; 'kipt show' knows. */
	request->view.packed = request->view.output;
	return taken < 0 ? KIPT_EXIT_USAGE : 0;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_fetch, .argc = argc, .argv = argv };
	struct request request = { .cpu = -1 };
	u32 session;
	int id, bad;

	while ((id = args_option(&args)) > 0) {
		bad = option_take(&request, &args, id);
		if (bad)
			return bad;
	}
	if (id < 0)
		return args_exit(id);
	if (view_refuses_stretch(&request.view, &args, 1))
		return KIPT_EXIT_USAGE;
	if (!args_session(&args, &session) || !view_settle(&request.view))
		return KIPT_EXIT_USAGE;
	return fetch(session, &request);
}

const struct kipt_verb verb_fetch = {
	.name = "fetch",
	.operands = "ID",
	.summary = "decode a stopped session and show it",
	.about = "The kernel decodes the trace of the session, in the threads of this command,\n"
		 "and what the CPUs did is shown here, CPU after CPU: by default as calls,\n"
		 "indented, with repetitions folded. A summary on stderr ends it.\n"
		 "Ctrl-C ends it early; what came is shown, of\n"
		 "counts that is what came once a second. Whatever is missing in the trace is\n"
		 "shown as a gap at its place.",
	.examples = "  kipt fetch 1 | less\n"
		    "  kipt fetch 1 --cpu 3 --branches\n"
		    "  kipt fetch 1 --json --time > trace.jsonl\n"
		    "  kipt fetch 1 -o trace.rec && kipt show trace.rec\n"
		    "  kipt fetch 1 --images t.maps --totals\n"
		    "  kipt fetch 1 --raw traces",
	.options = options,
	.run = run,
};
