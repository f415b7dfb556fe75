// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a fetch in several threads, see fetch.h. The first socket begins the
 * fetch, the others take part in it by its number.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../kernel/affinity.h"
#include "../offline/parallel_decode.h"
#include "../records/reorder.h"
#include "fetch.h"

#define WAIT_MS		250
/* Less for each thread is more time spent dropping than decoding. */
#define MEMORY_LEAST	(1 << 20)
/* What the module gives one reader, see uapi/kipt.yaml. */
#define READER_LEAST	(256ULL << 10)
#define READER_MOST	(1ULL << 30)
/* Roughly what the kernel cuts: more threads than chunks have nothing to do. */
#define CHUNK_BYTES	(64 << 10)
#define NICE_MOST	19

/* One thread and its socket. */
struct reader {
	struct fetch *fetch;
	struct genl *genl;
	pthread_t thread;
	u32 number;
	bool in_chunk;
	u64 chunk;
};

struct fetch {
	const struct fetch_options *options;
	struct genl_fetch request;
	struct output *output;
	struct order *order;
	u32 count;
	/* What one of the threads heard last. */
	atomic_ullong total;
	atomic_ullong done;
	atomic_bool failed;
	atomic_bool interrupted;
	struct reader readers[JOBS_MAX];
};

static int jobs_option(struct fetch_options *options, const char *value)
{
	u64 jobs;

	if (!args_within("jobs", value, 1, JOBS_MAX, &jobs))
		return -1;
	options->jobs = jobs;
	return 1;
}

static int memory_option(struct fetch_options *options, const char *value)
{
	if (args_size(value, &options->memory) &&
	    options->memory >= MEMORY_LEAST &&
	    options->memory <= KIPT_FLOW_MEMORY_MAX)
		return 1;
	say_error("--memory %s: allowed are 1M to 4G", value);
	return -1;
}

static int nice_option(struct fetch_options *options, const char *value)
{
	u64 nice;

	if (!args_within("nice", value, 0, NICE_MOST, &nice))
		return -1;
	options->nice = nice;
	return 1;
}

static void cpu_ignore(void *ctx, u32 cpu)
{
	(void)ctx;
	(void)cpu;
}

static int cpus_option(struct fetch_options *options, const char *value)
{
	if (!args_cpus(value, cpu_ignore, NULL)) {
		say_error("--decode-cpus %s: a list such as 0-3,6 is meant",
			  value);
		return -1;
	}
	options->cpus = value;
	return 1;
}

int fetch_option(struct fetch_options *options, int id, const char *value)
{
	switch (id) {
	case FETCH_OPTION_JOBS:
		return jobs_option(options, value);
	case FETCH_OPTION_MEMORY:
		return memory_option(options, value);
	case FETCH_OPTION_CPUS:
		return cpus_option(options, value);
	case FETCH_OPTION_NICE:
		return nice_option(options, value);
	}
	return 0;
}

/* The sink, of whoever has the turn. */
static bool records_take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct fetch *fetch = ctx;

	progress_show("decoding", fetch->done, fetch->total);
	if (!output_take(fetch->output, records, n))
		fetch->failed = true;
	return !fetch->failed;
}

static void chunk_begin(struct reader *reader, u64 chunk)
{
	reader->in_chunk = order_begin(reader->fetch->order, reader->number,
				       chunk);
	reader->chunk = chunk;
}

static void piece_take(void *ctx, const struct kipt_piece *piece)
{
	struct reader *reader = ctx;
	struct fetch *fetch = reader->fetch;

	fetch->total = piece->total;
	fetch->done = piece->done;
	if (!fetch->request.fetch)
		fetch->request.fetch = piece->fetch;
	if (!piece->in_chunk)
		return;
	if (!reader->in_chunk)
		chunk_begin(reader, piece->chunk);
	if (!reader->in_chunk)
		return;
	if (piece->count)
		order_take(fetch->order, reader->number, piece->records,
			   piece->count);
	if (piece->end) {
		order_end(fetch->order, reader->number);
		reader->in_chunk = false;
	}
}

static void give_up(struct fetch *fetch)
{
	fetch->failed = true;
	order_stop(fetch->order);
}

/* Go on until the last message. */
static void read_all(struct reader *reader)
{
	struct fetch *fetch = reader->fetch;

	while (!order_stopped(fetch->order) && !genl_fetch_over(reader->genl)) {
		if (genl_fetch_wait(reader->genl, WAIT_MS) < 0)
			give_up(fetch);
		if (progress_interrupted()) {
			fetch->interrupted = true;
			order_stop(fetch->order);
		}
	}
}

/* @use: cpus_pin() or cpus_try() */
static bool cpus_take(const struct fetch_options *options,
		      int (*use)(const char *list))
{
	int err = options->cpus ? use(options->cpus) : 0;

	if (err)
		say_errno(-err, "--decode-cpus %s: cannot run there",
			  options->cpus);
	return !err;
}

/* The kernel decodes for a thread where and as the thread runs. */
static bool become_worker(const struct fetch_options *options)
{
	if (!cpus_take(options, cpus_pin))
		return false;
	if (!options->nice ||
	    !setpriority(PRIO_PROCESS, gettid(),
			 getpriority(PRIO_PROCESS, gettid()) + options->nice))
		return true;
	say_errno(errno, "--nice %d: cannot lower the priority",
		  options->nice);
	return false;
}

static void *reader_work(void *ctx)
{
	struct reader *reader = ctx;

	if (become_worker(reader->fetch->options))
		read_all(reader);
	else
		give_up(reader->fetch);
	return NULL;
}

static bool reader_open(struct fetch *fetch, u32 number)
{
	struct reader *reader = &fetch->readers[number];

	reader->fetch = fetch;
	reader->number = number;
	reader->genl = genl_open(false);
	return reader->genl &&
	       !genl_fetch_start(reader->genl, &fetch->request, piece_take,
				 reader);
}

/* The answer to the request, which says the fetch's number. */
static bool first_wait(struct fetch *fetch)
{
	struct genl *genl = fetch->readers[0].genl;

	while (!fetch->request.fetch && !genl_fetch_over(genl) &&
	       !progress_interrupted()) {
		if (genl_fetch_wait(genl, WAIT_MS) < 0)
			return false;
	}
	return true;
}

static u32 readers_open(struct fetch *fetch)
{
	u64 chunks = fetch->total / CHUNK_BYTES + 1;
	u32 opened = 1;

	while (opened < fetch->count && opened < chunks) {
		if (!reader_open(fetch, opened++)) {
			give_up(fetch);
			break;
		}
	}
	return opened;
}

/* The first one reads here: memory of other threads takes more system calls. */
static void readers_run(struct fetch *fetch)
{
	u32 opened = readers_open(fetch), started = 1, i;

	for (; started < opened && !fetch->failed; started++) {
		if (pthread_create(&fetch->readers[started].thread, NULL,
				   reader_work, &fetch->readers[started])) {
			say_errno(EAGAIN, "cannot start a thread");
			give_up(fetch);
			break;
		}
	}
	reader_work(&fetch->readers[0]);
	for (i = 1; i < started; i++)
		pthread_join(fetch->readers[i].thread, NULL);
}

static void fetch_all(struct fetch *fetch)
{
	const struct kipt_sink sink = { .emit = records_take, .ctx = fetch };
	u32 i;

	fetch->order = order_create(fetch->count, false, false);
	if (!fetch->order) {
		say_errno(ENOMEM, "cannot fetch");
		fetch->failed = true;
		return;
	}
	order_start(fetch->order, &sink);
	if (reader_open(fetch, 0) && first_wait(fetch))
		readers_run(fetch);
	else
		fetch->failed = true;
	for (i = 0; i < fetch->count; i++)
		genl_close(fetch->readers[i].genl);
	order_destroy(fetch->order);
}

bool fetch_can(const struct fetch_options *options)
{
	return cpus_take(options, cpus_try);
}

static void cpu_count(void *ctx, u32 cpu)
{
	(void)cpu;
	++*(u32 *)ctx;
}

static u32 count_choose(const struct fetch_options *options)
{
	u32 count = 0;
	cpu_set_t set;

	if (options->jobs)
		return options->jobs;
	if (options->cpus)
		args_cpus(options->cpus, cpu_count, &count);
	else if (!sched_getaffinity(0, sizeof(set), &set))
		count = CPU_COUNT(&set);
	if (!count)
		return 1;
	return count < JOBS_MAX ? count : JOBS_MAX;
}

/* 0: the module knows. */
static u64 memory_share(u64 memory, u32 count)
{
	u64 share = memory / count;

	if (!memory)
		return 0;
	if (share < READER_LEAST)
		return READER_LEAST;
	return share < READER_MOST ? share : READER_MOST;
}

static bool verdict(const struct fetch *fetch)
{
	if (fetch->interrupted &&
	    fetch->request.output & KIPT_OUTPUT_COUNTS)
		say_error("cancelled at %.2f of %.2f MiB: the kernel sends counts once a second and at the end, later ones are missing (ECANCELED)",
			  (double)fetch->done / 1048576,
			  (double)fetch->total / 1048576);
	else if (fetch->interrupted)
		say_error("cancelled: this is the trace up to there, %.2f of %.2f MiB (ECANCELED)",
			  (double)fetch->done / 1048576,
			  (double)fetch->total / 1048576);
	return !fetch->failed && !fetch->interrupted;
}

bool fetch_run(const struct fetch_request *request, struct output *output)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	struct tally *tally = &output->view.tally;
	double start = progress_seconds();
	bool ok;

	if (!fetch) {
		say_errno(ENOMEM, "cannot fetch");
		return false;
	}
	fetch->options = request->options;
	fetch->count = count_choose(request->options);
	fetch->output = output;
	fetch->request = (struct genl_fetch){
		.id = request->id,
		.cpu = request->cpu,
		.output = output_choose(output, true),
		.memory = memory_share(request->options->memory,
				       fetch->count),
	};
	fetch_all(fetch);
	progress_clear();
	tally->seconds = progress_seconds() - start;
	tally->trace_bytes = fetch->done;
	ok = verdict(fetch);
	free(fetch);
	return ok;
}
