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

/* Messages in flight: 64 of 32 KiB are well under the receive buffer. */
#define CREDIT_START	64
#define CREDIT_MORE	32
#define WAIT_MS		250
/* How long a cancelled fetch may take to end, in waits. */
#define CANCEL_WAITS	40

struct fetch {
	struct output *output;
	u32 cpu;
	bool cpu_known;
	u64 expected;
	u64 received;
	u64 missing;
	u32 credit_due;
	u64 lost;
	u64 trace_done;
	u64 total;
	u32 done;
	bool ended;
	bool failed;
};

static void records_take(struct fetch *fetch, const struct kipt_record *r,
			 u32 count)
{
	if (!fetch->failed && !output_take(fetch->output, r, count))
		fetch->failed = true;
}

/* Messages the kernel sent did not come: say so at that place. */
static void missing_take(struct fetch *fetch, u64 messages)
{
	struct kipt_record gap = {
		.type = KIPT_RECORD_GAP,
		.kind = KIPT_GAP_RECEIVER,
		.flags = KIPT_RF_NO_IP | KIPT_RF_NO_VALUE,
	};

	fetch->missing += messages;
	records_take(fetch, &gap, 1);
}

static void cpu_take(struct fetch *fetch, const struct kipt_batch *batch)
{
	struct kipt_record change = {
		.type = KIPT_RECORD_CPU,
		.aux = batch->cpu,
	};

	if (!batch->has_cpu || !batch->count ||
	    (fetch->cpu_known && fetch->cpu == batch->cpu))
		return;
	fetch->cpu = batch->cpu;
	fetch->cpu_known = true;
	if (batch->records[0].type != KIPT_RECORD_CPU)
		records_take(fetch, &change, 1);
}

static void batch_take(void *ctx, const struct kipt_batch *batch)
{
	struct fetch *fetch = ctx;

	if (batch->seq < fetch->expected) {
		say_error("session %u: message %llu came twice", batch->id,
			  (unsigned long long)batch->seq);
		fetch->failed = true;
		return;
	}
	if (batch->seq > fetch->expected)
		missing_take(fetch, batch->seq - fetch->expected);
	fetch->credit_due += batch->seq - fetch->expected + 1;
	fetch->expected = batch->seq + 1;
	cpu_take(fetch, batch);
	if (batch->count)
		records_take(fetch, batch->records, batch->count);
	fetch->received += batch->count;
	if (batch->lost > fetch->lost)
		fetch->lost = batch->lost;
	if (batch->trace_done > fetch->trace_done)
		fetch->trace_done = batch->trace_done;
	if (batch->last) {
		fetch->ended = true;
		fetch->done = batch->done;
		fetch->total = batch->total;
	}
}

/* Go on until the last message; false after a sentence. */
static bool fetch_loop(struct genl *genl, struct genl_fetch *request,
		       struct fetch *fetch)
{
	unsigned int waits = 0;
	bool cancelled = false;
	int err;

	while (!fetch->ended) {
		if (fetch->credit_due >= CREDIT_MORE) {
			if (genl_fetch_credit(genl, request->id,
					      fetch->credit_due))
				return false;
			fetch->credit_due = 0;
		}
		err = genl_fetch_wait(genl, WAIT_MS);
		if (err < 0 && err != -ENOBUFS)
			return false;
		progress_show("decoding", fetch->trace_done,
			      request->trace_bytes);
		if (!cancelled && (progress_interrupted() || fetch->failed)) {
			cancelled = true;
			if (genl_fetch_cancel(genl, request->id) &&
			    !fetch->ended)
				return false;
		}
		if (cancelled && !err && ++waits > CANCEL_WAITS) {
			say_error("the fetch of session %u did not end after it was cancelled",
				  request->id);
			return false;
		}
	}
	return true;
}

static bool fetch_verdict(const struct fetch *fetch, u32 id)
{
	if (fetch->missing)
		say_error("session %u: %llu messages were dropped on the way; the places are marked as gaps",
			  id, (unsigned long long)fetch->missing);
	if (fetch->lost)
		say_error("session %u: %llu records were dropped by the kernel for a slow receiver",
			  id, (unsigned long long)fetch->lost);
	if (fetch->done == ECANCELED)
		say_error("cancelled: this is the trace up to there (ECANCELED)");
	else if (fetch->done)
		say_errno(fetch->done, "the fetch of session %u ended early",
			  id);
	else if (!fetch->missing && !fetch->lost &&
		 fetch->total != fetch->received)
		say_error("session %u: %llu records came, the kernel made %llu",
			  id, (unsigned long long)fetch->received,
			  (unsigned long long)fetch->total);
	else
		return !fetch->missing && !fetch->lost && !fetch->failed;
	return false;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool fetch_run(struct genl *genl, u32 id, int cpu, struct output *output)
{
	struct fetch fetch = { .output = output };
	struct genl_fetch request = {
		.id = id,
		.cpu = cpu,
		.output = view_output(output->options),
		.credit = CREDIT_START,
	};
	double start = seconds_now();
	struct tally *tally = &output->view.tally;
	bool ok;

	progress_catch();
	ok = !genl_fetch_start(genl, &request, batch_take, &fetch) &&
	     fetch_loop(genl, &request, &fetch);
	genl_fetch_end(genl);
	progress_clear();
	tally->seconds = seconds_now() - start;
	tally->trace_bytes = fetch.trace_done ? fetch.trace_done :
						request.trace_bytes;
	tally->lost += fetch.lost;
	return ok && fetch_verdict(&fetch, id);
}
