// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding by several threads (tools/kipt/offline/parallel_decode.h) against one plain run of the
 * decoder: the records must be the same, in the same order, whatever the
 * trace, the number of threads and the speed of the sink; edges must be
 * counted as often as their branches come. Traces and code are made here. What
 * is packed is compared by decode_tests.sh. User space, no rights; prints
 * KTAP.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../tools/kipt/offline/parallel_decode.h"
#include "../decode/ktap.h"

#define CODE		0x401000ULL
#define HASH_START	1469598103934665603ULL
#define HASH_PRIME	1099511628211ULL

/* 401000: jnz 401005; nops; 401100: jmp *rax. */
static u32 code_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static const u8 bytes[0x102] = {
		[0] = 0x75, 0x03, [2 ... 0xff] = 0x90, [0x100] = 0xff, 0xe0,
	};
	u64 at = ip - CODE;

	(void)ctx;
	(void)space;
	if (at >= sizeof(bytes))
		return 0;
	if (len > sizeof(bytes) - at)
		len = sizeof(bytes) - at;
	memcpy(buf, bytes + at, len);
	return len;
}

static const struct kipt_code code = { .read = code_read };

/* A trace that is made. */
struct bytes {
	u8 *list;
	u64 size;
	u64 random;
};

static u32 random_next(struct bytes *bytes, u32 below)
{
	bytes->random = bytes->random * 6364136223846793005ULL + 1;
	return (u32)(bytes->random >> 33) % below;
}

static void add(struct bytes *bytes, const char *text, u32 n)
{
	memcpy(bytes->list + bytes->size, text, n);
	bytes->size += n;
}

#define ADD(bytes, text)	add(bytes, text, sizeof(text) - 1)

static void add_psb(struct bytes *bytes, bool on)
{
	u32 i;

	for (i = 0; i < 8; i++)
		ADD(bytes, "\x02\x82");
	ADD(bytes, "\x99\x01");
	if (on)
		ADD(bytes, "\x5d\x00\x10\x40\x00");
	ADD(bytes, "\x02\x23");
	if (!on)
		ADD(bytes, "\x51\x00\x10\x40\x00");
}

static void add_loops(struct bytes *bytes, u32 n)
{
	while (n--) {
		if (random_next(bytes, 2))
			ADD(bytes, "\x06");
		else
			ADD(bytes, "\x04");
		ADD(bytes, "\x2d\x00\x10");
	}
}

/* What goes wrong in traces, and how it goes on. */
static void add_trouble(struct bytes *bytes)
{
	switch (random_next(bytes, 4)) {
	case 0:
		ADD(bytes, "\x05\x05\x05");
		break;
	case 1:
		ADD(bytes, "\x02\xf3\x5d\x00\x10\x40\x00");
		break;
	case 2:
		ADD(bytes, "\x2d\x00\x77\x2d\x00\x10");
		break;
	default:
		ADD(bytes, "\x06\x06\x06");
	}
}

/**
 * struct shape - how a trace is to be
 * @name: for the report
 * @size: bytes, about
 * @period: most loops between two PSBs
 * @trouble: one in so many segments has some; 0: none
 * @head: bytes without a PSB in front
 * @cut: bytes taken away at the end
 * @insns: decode to instructions too: many records
 */
struct shape {
	const char *name;
	u32 size;
	u32 period;
	u32 trouble;
	u32 head;
	u32 cut;
	bool insns;
};

static const struct shape shapes[] = {
	{ "clean", 1 << 20, 500, 0, 0, 0, false },
	{ "troubled", 1 << 20, 200, 3, 0, 0, false },
	{ "dense", 1 << 16, 300, 20, 0, 0, true },
	{ "few_psbs", 1 << 20, 100000, 1, 5000, 0, false },
	{ "late_psb", 1 << 19, 500, 0, 1 << 18, 0, false },
	{ "cut_end", 100000, 50, 10, 0, 3, false },
	{ "one_chunk", 2000, 100, 0, 0, 0, false },
	{ "one_psb", 400, 5, 0, 0, 0, false },
	{ "no_psb", 0, 1, 0, 300000, 0, false },
};

static void make(struct bytes *bytes, const struct shape *shape)
{
	bool on = false;
	u32 i;

	bytes->list = calloc(1, shape->size + shape->head +
			     4 * shape->period + 4096);
	if (!bytes->list)
		exit(2);
	bytes->size = 0;
	bytes->random = 12345;
	for (i = 0; i < shape->head; i++)
		ADD(bytes, "\x06");
	while (bytes->size < shape->head + shape->size) {
		add_psb(bytes, on);
		add_loops(bytes, 1 + random_next(bytes, shape->period));
		on = true;
		if (shape->trouble && !random_next(bytes, shape->trouble))
			add_trouble(bytes);
		if (random_next(bytes, 5))
			continue;
		ADD(bytes, "\x01");
		on = false;
	}
	bytes->size -= shape->cut;
}

/**
 * struct taken - what a sink got
 * @records: so many
 * @hash: over all their bytes
 * @edges: sum over branches, and over edges as often as they count
 * @psb: offset of the last PSB that decoding started from
 * @most: end the decode at this many; 0: never
 * @slow: sleep now and then
 * @inside: a call is under way
 * @overlap: there were two at once
 */
struct taken {
	u64 records;
	u64 hash;
	u64 edges;
	u64 psb;
	u64 most;
	bool slow;
	atomic_bool inside;
	bool overlap;
};

static void hash_add(struct taken *taken, const struct kipt_record *record)
{
	u64 words[3];
	u32 i;

	memcpy(words, record, sizeof(words));
	for (i = 0; i < 3; i++)
		taken->hash = (taken->hash ^ words[i]) * HASH_PRIME;
	taken->records++;
}

static void edge_add(struct taken *taken, const struct kipt_record *record)
{
	u64 edge = (record->ip * HASH_PRIME ^ record->value) * HASH_PRIME +
		   record->kind;

	if (record->type == KIPT_RECORD_BRANCH)
		taken->edges += edge;
	else if (record->type == KIPT_RECORD_EDGE)
		taken->edges += edge * record->aux;
	else if (record->type == KIPT_RECORD_SYNC &&
		 record->kind == KIPT_SYNC_START)
		taken->psb = record->value;
}

static bool take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct taken *taken = ctx;
	bool more = true;
	u32 i;

	if (atomic_exchange(&taken->inside, true))
		taken->overlap = true;
	for (i = 0; i < n && more; i++) {
		hash_add(taken, &records[i]);
		edge_add(taken, &records[i]);
		more = taken->records != taken->most;
	}
	if (taken->slow && !(taken->hash & 15))
		usleep(300);
	atomic_store(&taken->inside, false);
	return more;
}

/* Says no once and is given the rest nevertheless. */
static bool take_counts(void *ctx, const struct kipt_record *records, u32 n)
{
	struct taken *taken = ctx;
	u32 i;

	if (atomic_exchange(&taken->inside, true))
		taken->overlap = true;
	for (i = 0; i < n; i++) {
		hash_add(taken, &records[i]);
		edge_add(taken, &records[i]);
	}
	atomic_store(&taken->inside, false);
	return !taken->most || taken->records < taken->most;
}

static u32 output_of(const struct shape *shape)
{
	return KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME |
	       (shape->insns ? KIPT_FLOW_INSNS : 0);
}

/* The same by one flow, without threads, up to the PSB at or after @to. */
static enum kipt_status plain(const struct bytes *bytes, u64 to,
			      const struct kipt_flow_config *config,
			      struct taken *taken)
{
	struct kipt_sink sink = { take, taken };
	size_t size = kipt_flow_size(config);
	enum kipt_status status;
	struct kipt_flow *flow;
	void *arena;

	if (posix_memalign(&arena, 64, size))
		exit(2);
	flow = kipt_flow_init(arena, size, config, &code, &sink);
	status = kipt_flow_run(flow, bytes->list, bytes->size, 0, to);
	free(arena);
	return status;
}

static bool same(const struct taken *a, const struct taken *b)
{
	return a->records == b->records && a->hash == b->hash && !b->overlap;
}

/* Twice, since what the first run leaves must not change the second. */
static bool agree(struct jobs *jobs, const struct bytes *bytes,
		  const struct taken *want, enum kipt_status status, bool slow)
{
	bool good = true;
	u32 i;

	for (i = 0; i < 2; i++) {
		struct taken got = { .hash = HASH_START, .slow = slow,
				     .most = want->most };
		struct kipt_sink sink = { take, &got };

		if (jobs_run(jobs, bytes->list, bytes->size, NULL, &sink) != status ||
		    !same(want, &got))
			good = false;
	}
	return good;
}

static void test_shape(struct ktap *ktap, const struct shape *shape)
{
	static const u32 counts[] = { 1, 2, 3, 16, JOBS_MAX };
	struct kipt_flow_config config = { .output = output_of(shape) };
	struct taken all = { .hash = HASH_START }, part = all;
	enum kipt_status status;
	struct bytes bytes;
	struct jobs *jobs;
	u32 i;

	make(&bytes, shape);
	status = plain(&bytes, bytes.size, &config, &all);
	part.most = 1 + all.records / 3;
	plain(&bytes, bytes.size, &config, &part);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		jobs = jobs_create(&config, &code, counts[i]);
		ktap_result(ktap, jobs && agree(jobs, &bytes, &all, status,
						false),
			    "jobs_%s_%u", shape->name, counts[i]);
		ktap_result(ktap, jobs && agree(jobs, &bytes, &all, status,
						true),
			    "jobs_%s_%u_slow_sink", shape->name, counts[i]);
		ktap_result(ktap, jobs && agree(jobs, &bytes, &part,
						KIPT_STOPPED, false),
			    "jobs_%s_%u_stopped", shape->name, counts[i]);
		jobs_destroy(jobs);
	}
	free(bytes.list);
}

static bool counts_agree(const struct bytes *bytes, u32 threads,
			 const struct taken *all)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_COUNTS };
	struct jobs *jobs = jobs_create(&config, &code, threads);
	bool good = jobs;
	u32 i;

	/* Counting begins from 0 in each run. */
	for (i = 0; i < 2 && good; i++) {
		struct taken got = { 0 };
		struct kipt_sink sink = { take_counts, &got };

		jobs_run(jobs, bytes->list, bytes->size, NULL, &sink);
		good = got.edges == all->edges && !got.overlap;
	}
	jobs_destroy(jobs);
	return good;
}

/*
 * A decode of counts that is ended early counts what a plain run does up to the
 * end of the last segment that was given to the sink; and the next run is whole.
 */
static bool counts_stop(const struct bytes *bytes, u32 threads,
			const struct taken *all)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_COUNTS };
	struct jobs *jobs = jobs_create(&config, &code, threads);
	struct taken part = { .most = 20 }, again = { 0 }, want = { 0 };
	struct kipt_sink sink = { take_counts, &part };
	struct kipt_sink sink_again = { take_counts, &again };
	bool good = jobs;

	if (good) {
		good = jobs_run(jobs, bytes->list, bytes->size,
				NULL, &sink) == KIPT_STOPPED;
		config.output = KIPT_FLOW_BRANCHES;
		plain(bytes, part.psb + 1, &config, &want);
		good = good && part.edges == want.edges &&
		       part.edges != all->edges;
		jobs_run(jobs, bytes->list, bytes->size, NULL, &sink_again);
		good = good && again.edges == all->edges;
	}
	jobs_destroy(jobs);
	return good;
}

static void test_counts(struct ktap *ktap, const struct shape *shape)
{
	static const u32 counts[] = { 1, 2, 3, 16, JOBS_MAX };
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	struct taken all = { 0 };
	struct bytes bytes;
	u32 i;

	make(&bytes, shape);
	plain(&bytes, bytes.size, &config, &all);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		ktap_result(ktap, counts_agree(&bytes, counts[i], &all),
			    "jobs_counts_%s_%u", shape->name, counts[i]);
		if (i < 3 && shape->size > 1 << 19 && shape->period < 1000)
			ktap_result(ktap, counts_stop(&bytes, counts[i], &all),
				    "jobs_counts_%s_%u_stopped", shape->name,
				    counts[i]);
	}
	free(bytes.list);
}

/* A byte that differs must be seen. */
static void test_control(struct ktap *ktap)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	struct jobs *jobs = jobs_create(&config, &code, 2);
	struct taken all = { .hash = HASH_START };
	enum kipt_status status;
	struct bytes bytes;

	make(&bytes, &shapes[0]);
	status = plain(&bytes, bytes.size, &config, &all);
	/* A TNT after the first PSB+ and TIP.PGE: taken or not. */
	bytes.list[25] ^= 2;
	ktap_result(ktap, jobs && !agree(jobs, &bytes, &all, status, false),
		    "jobs_control_flipped_bit_differs");
	jobs_destroy(jobs);
	free(bytes.list);
}

int main(void)
{
	struct ktap ktap = { 0 };
	u32 i;

	ktap_start();
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		test_shape(&ktap, &shapes[i]);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		test_counts(&ktap, &shapes[i]);
	test_control(&ktap);
	return ktap_end(&ktap);
}
