// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fetch loop, see fetch.h.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "fetch.h"
#include "progress.h"
#include "say.h"

#define WAIT_MS		250

struct fetch {
	struct output *output;
	u64 total;
	u64 done;
	u64 lost;
	bool failed;
};

static void piece_take(void *ctx, const struct kipt_piece *piece)
{
	struct fetch *fetch = ctx;

	fetch->total = piece->total;
	fetch->done = piece->done;
	if (!fetch->failed && piece->count &&
	    !output_take(fetch->output, piece->records, piece->count))
		fetch->failed = true;
}

/* Go on until the last message; false after a sentence. */
static bool fetch_loop(struct genl *genl, struct fetch *fetch)
{
	while (!genl_fetch_over(genl)) {
		if (genl_fetch_wait(genl, WAIT_MS) < 0)
			return false;
		progress_show("decoding", fetch->done, fetch->total);
		if (fetch->failed)
			return false;
		if (progress_interrupted()) {
			say_error("cancelled: this is the trace up to there (ECANCELED)");
			return false;
		}
	}
	return true;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* On a connection of its own: closing that ends a fetch, and no session. */
bool fetch_run(struct genl *owner, u32 id, int cpu, struct output *output)
{
	struct fetch fetch = { .output = output };
	struct genl_fetch request = {
		.id = id,
		.cpu = cpu,
		.output = view_output(output->options),
	};
	struct tally *tally = &output->view.tally;
	struct genl *genl = genl_open(false);
	double start = seconds_now();
	bool ok;

	(void)owner;
	progress_catch();
	ok = genl && !genl_fetch_start(genl, &request, piece_take, &fetch) &&
	     fetch_loop(genl, &fetch);
	genl_close(genl);
	progress_clear();
	tally->seconds = seconds_now() - start;
	tally->trace_bytes = fetch.done;
	return ok;
}
