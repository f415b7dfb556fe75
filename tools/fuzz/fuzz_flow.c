// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: flow from any packets over any code. Four bytes choose what
 * is compared and how the flow is made, 256 are code that is at many places
 * in every address space, the rest are packets, which may be repeated. A PSB+
 * is put in front, so that the input need not guess one.
 *
 * The records of a walk over every block, without the memo, are what all other
 * ways to decode are compared with: with the memo, packed, PSB by PSB, twice
 * over the same flow, counted, stopped by the sink, paused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/flow.h"
#include "../../kmod/decode/packet/sync.h"
#include "../../selftests/decode/expand.h"
#include "../../selftests/decode/sum_cond.h"
#include "grammar.h"

#if defined(__clang__)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define KIPT_MSAN
#endif
#endif

#define HEAD		4
#define PART_MAX	2048
#define TRACE_MAX	8192
#define ARENA_MAX	(512 << 10)
#define LIST_MAX	(1 << 16)
#define RUNS		3

static const u8 psb_plus[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x99, 0x01, 0x5d, 0x00, 0x10, 0x40, 0x00, 0x02, 0x23,
};

/**
 * struct record_list - records in order
 * @count: how many
 * @full: there were more
 * @limit: the sink says stop with the records that reach this many; 0: never
 * @stopped: it did
 * @pauses: the sink asks this flow for a pause each time
 * @records: they
 */
struct record_list {
	u32 count;
	bool full;
	u32 limit;
	bool stopped;
	struct kipt_flow *pauses;
	struct kipt_record records[LIST_MAX];
};

/**
 * struct input - what the bytes say
 * @choice: what is compared
 * @config: of the flow, without @output
 * @output: KIPT_FLOW_TIME or nothing
 * @code: PROGRAM_BYTES bytes
 * @trace: packets
 * @size: bytes of them
 */
struct input {
	u8 choice;
	struct kipt_flow_config config;
	u32 output;
	const u8 *code;
	u8 *trace;
	u64 size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static struct record_list want, got, packed;

static bool list_add(void *ctx, const struct kipt_record *records, u32 n)
{
	struct record_list *list = ctx;

	if (!n || list->stopped)
		abort();
	if (n > LIST_MAX - list->count) {
		list->full = true;
		n = LIST_MAX - list->count;
	}
	memcpy(list->records + list->count, records, n * sizeof(*records));
	list->count += n;
	list->stopped = list->limit && list->count >= list->limit;
	if (list->pauses)
		kipt_flow_pause(list->pauses);
	return !list->stopped;
}

static void list_clear(struct record_list *list)
{
	list->count = 0;
	list->full = false;
	list->limit = 0;
	list->stopped = false;
	list->pauses = NULL;
}

/* Spaces of guests have names from here on. */
#define GUESTS	5

static u32 read_code(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct input *input = ctx;
	u32 left, offset, done;

	if (ip >> 63 && space && space < GUESTS)
		abort();
	/* The kernel of a guest is another one: of it there is none. */
	if (ip >> 63 && space)
		return 0;
	for (done = 0; done < len; done += left) {
		offset = grammar_offset(ip + done, &left);
		if (offset == PROGRAM_BYTES)
			break;
		if (left > len - done)
			left = len - done;
		memcpy(buf + done, input->code + offset, left);
	}
	return done;
}

static u64 name_space(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	return (cr3 >> 5) % GUESTS + (nr ? GUESTS : 0);
}

static bool is_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	(void)ctx;
	(void)space;
	return ip & len & 1;
}

/* What the caller gives may hold anything. */
static void arena_spoil(void *arena, size_t size)
{
#ifdef KIPT_MSAN
	__msan_allocated_memory(arena, size);
#else
	(void)arena;
	(void)size;
#endif
}

/* The last bytes of the arena, so that one more is an error. */
static struct kipt_flow *flow_make(const struct input *input, u32 output,
				   struct record_list *list)
{
	static u8 arena[ARENA_MAX] __attribute__((aligned(64)));
	struct kipt_flow_config config = input->config;
	struct kipt_code code = {
		.read = read_code, .space = name_space, .changed = is_changed,
		.ctx = (void *)input,
	};
	struct kipt_sink sink = { .emit = list_add, .ctx = list };
	struct kipt_flow *flow;
	size_t size;

	config.output = output | input->output;
	size = (kipt_flow_size(&config) + 63) & ~(size_t)63;
	if (size > sizeof(arena))
		abort();
	arena_spoil(arena, sizeof(arena));
	flow = kipt_flow_init(arena + sizeof(arena) - size, size, &config,
			      &code, &sink);
	if (!flow)
		abort();
	list_clear(list);
	return flow;
}

static void check_records(const struct record_list *list)
{
	u32 i;

	for (i = 0; i < list->count; i++) {
		if (!list->records[i].type ||
		    list->records[i].type > KIPT_RECORD_TYPE_MAX)
			abort();
	}
}

static void run(struct kipt_flow *flow, const struct input *input)
{
	if (kipt_flow_run(flow, input->trace, input->size, 0, input->size) !=
	    KIPT_OK)
		abort();
}

static void decode(const struct input *input, u32 output,
		   struct record_list *list)
{
	run(flow_make(input, output, list), input);
	check_records(list);
}

static void show(const char *name, const struct kipt_record *r)
{
	fprintf(stderr, "%s: type %u kind %u flags %x aux %u ip %llx value %llx\n",
		name, r->type, r->kind, r->flags, r->aux,
		(unsigned long long)r->ip, (unsigned long long)r->value);
}

/* Ends the program if the lists differ, and says where. */
static void must_equal(const char *what, const struct record_list *have)
{
	u32 i, count = have->count < want.count ? have->count : want.count;

	if (have->full || want.full)
		return;
	for (i = 0; i < count; i++) {
		if (memcmp(&have->records[i], &want.records[i],
			   sizeof(want.records[i])))
			break;
	}
	if (i == have->count && i == want.count)
		return;
	fprintf(stderr, "%s: record %u of %u, %u wanted\n", what, i,
		have->count, want.count);
	if (i)
		show("both before", &want.records[i - 1]);
	if (i < want.count)
		show("wanted", &want.records[i]);
	if (i < have->count)
		show("have", &have->records[i]);
	abort();
}

static void compare_memo(const struct input *input, u32 output)
{
	decode(input, output | KIPT_FLOW_NO_MEMO, &want);
	decode(input, output, &got);
	must_equal("memo", &got);
}

/* The packed records become the ones that are compared. */
static void expand_packed(void)
{
	const char *wrong;
	u64 made;

	made = expand(packed.records, packed.count, got.records, LIST_MAX,
		      &wrong);
	if (wrong) {
		fprintf(stderr, "packed: %s\n", wrong);
		abort();
	}
	got.full = packed.full || made > LIST_MAX;
	got.count = made > LIST_MAX ? LIST_MAX : (u32)made;
}

static void compare_packed(const struct input *input, u32 output)
{
	decode(input, output | KIPT_FLOW_NO_MEMO, &want);
	decode(input, output | KIPT_FLOW_PACKED, &packed);
	if (packed.full)
		return;
	expand_packed();
	must_equal("packed", &got);
}

/* Nodes that one run defines may be walked in the next. */
static void compare_packed_again(const struct input *input, u32 output)
{
	struct kipt_flow *flow;
	u32 first, i;

	decode(input, output | KIPT_FLOW_NO_MEMO, &want);
	first = want.count;
	if (want.full || first > LIST_MAX / RUNS)
		return;
	flow = flow_make(input, output | KIPT_FLOW_PACKED, &packed);
	run(flow, input);
	for (i = 1; i < RUNS; i++) {
		memcpy(want.records + want.count, want.records,
		       first * sizeof(want.records[0]));
		want.count += first;
		run(flow, input);
	}
	if (packed.full)
		return;
	expand_packed();
	must_equal("packed again", &got);
}

/* All copies of a byte of the program, in user and kernel code. */
static void forget_byte(struct kipt_flow *flow, u32 at)
{
	const u32 half = PROGRAM_BYTES / 2;
	u64 ip;
	u32 i;

	for (i = 0; i < PROGRAM_COPIES; i++) {
		ip = PROGRAM_USER + i * PROGRAM_BYTES + at;
		kipt_flow_forget(flow, KIPT_FLOW_SPACES, ip, ip + 1);
		ip = PROGRAM_KERNEL + i * half + (at - half);
		if (at >= half)
			kipt_flow_forget(flow, 0, ip, ip + 1);
	}
}

/* Other bytes in a program: @count of them, from @at on. */
struct patch {
	u8 code[PROGRAM_BYTES];
	u32 at, count;
};

static struct patch patch_of(const struct input *input)
{
	struct patch patch = {
		.at = (u32)(input->trace[input->size / 2] ^ input->size) % (PROGRAM_BYTES - 8),
		.count = 1 + input->choice / 64,
	};
	u32 i;

	memcpy(patch.code, input->code, PROGRAM_BYTES);
	for (i = 0; i < patch.count; i++)
		patch.code[patch.at + i] ^= 1 + (u8)input->size % 7;
	return patch;
}

/* What a sink did not take is defined anew by the next run, for another reader. */
static void compare_packed_stopped(struct input *input, u32 output)
{
	const u8 *before = input->code;
	struct patch patch = patch_of(input);
	struct kipt_flow *flow;
	u32 i;

	flow = flow_make(input, output | KIPT_FLOW_PACKED, &packed);
	packed.limit = 1 + input->choice * 4U;
	if (kipt_flow_run(flow, input->trace, input->size, 0, input->size) != KIPT_STOPPED)
		return;
	packed.limit = 0;
	packed.stopped = false;
	packed.count = 0;
	for (i = 0; input->size & 1 && i < patch.count; i++)
		forget_byte(flow, patch.at + i);
	if (input->size & 1)
		input->code = patch.code;
	run(flow, input);
	decode(input, output | KIPT_FLOW_NO_MEMO, &want);
	input->code = before;
	if (packed.full)
		return;
	expand_packed();
	must_equal("packed after a stop", &got);
}

/* Each chunk by a flow of its own, or all by one that keeps its caches. */
static void decode_chunks(const struct input *input, u32 output, bool keep)
{
	struct kipt_flow *flow = NULL;
	u64 from = 0, to;
	u32 count = 0;

	while (from < input->size) {
		to = kipt_sync_next(input->trace, input->size, from + 1);
		if (!flow || !keep) {
			count = got.count;
			flow = flow_make(input, output, &got);
			if (from)
				got.count = count;
		}
		kipt_flow_run(flow, input->trace, input->size, from, to);
		from = to;
	}
}

static void compare_chunks(const struct input *input, u32 output, bool keep)
{
	decode(input, output | KIPT_FLOW_NO_MEMO, &want);
	decode_chunks(input, output, keep);
	must_equal("chunks", &got);
}

/* What the sink got when it said stop is what it gets first otherwise. */
static void compare_stopped(const struct input *input, u32 output)
{
	struct kipt_flow *flow;

	decode(input, output, &want);
	flow = flow_make(input, output, &got);
	got.limit = 1 + input->choice * 8U;
	if (kipt_flow_run(flow, input->trace, input->size, 0, input->size) !=
	    (got.stopped ? KIPT_STOPPED : KIPT_OK))
		abort();
	if (got.stopped && want.count > got.count)
		want.count = got.count;
	must_equal("stopped", &got);
}

/* The trace, @whole bytes before it was cut, ends within a PSB+: what its SYNC
 * record says is not known yet, or not even that it is one.
 */
static bool ends_in_psb(const struct input *input, u64 whole)
{
	u64 psb, from = 0, size = input->size;

	while ((psb = kipt_sync_next(input->trace, whole, from)) < size)
		from = psb + 1;
	for (; from + 1 < size; from++) {
		if (input->trace[from] == 0x02 &&
		    input->trace[from + 1] == 0x23)
			return false;
	}
	return true;
}

/* The last records may wait for packets that say what they are about. */
#define CUT_TAIL	16

/* How many records say the same whatever follows. Whether the FUP of a PSB+ or
 * after an overflow says where tracing goes on is known at the next TNT or TIP.
 */
static u32 decided(const struct record_list *list)
{
	u32 n = list->count, tail = n < CUT_TAIL ? 0 : n - CUT_TAIL;
	const struct kipt_record *record;

	for (; n; n--) {
		record = &list->records[n - 1];
		if (record->type == KIPT_RECORD_BRANCH &&
		    record->kind != KIPT_BRANCH_JUMP &&
		    record->kind != KIPT_BRANCH_CALL)
			break;
		if (record->type == KIPT_RECORD_GAP &&
		    record->kind == KIPT_GAP_OVERFLOW)
			return n < tail ? n : tail;
		if (record->type == KIPT_RECORD_SYNC)
			return n - 1 < tail ? n - 1 : tail;
	}
	return tail;
}

/* Twice by one flow, and what was counted. Pauses, if any, come after a slice of
 * packets or as many blocks, and whenever the sink gets something if @asks.
 */
static void decode_sliced(const struct input *input, u32 output, u64 slice,
			  bool asks)
{
	struct input sliced = *input;
	enum kipt_status status;
	struct kipt_flow *flow;
	u32 i;

	sliced.config.slice = slice;
	sliced.config.step_slice = (u32)slice;
	flow = flow_make(&sliced, output, &got);
	got.pauses = asks ? flow : NULL;
	for (i = 0; i < 2; i++) {
		status = kipt_flow_run(flow, input->trace, input->size, 0,
				       input->size);
		while (status == KIPT_PAUSED)
			status = kipt_flow_resume(flow);
		if (status != KIPT_OK)
			abort();
	}
	do {
		status = kipt_flow_counts(flow);
	} while (status == KIPT_PAUSED);
	got.pauses = NULL;
}

/* Pauses do not show, in no output. */
static void compare_paused(const struct input *input)
{
	static const u32 outputs[] = {
		KIPT_FLOW_BRANCHES, KIPT_FLOW_CALLS,
		KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO,
		KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS,
		KIPT_FLOW_PACKED, KIPT_FLOW_CALLS | KIPT_FLOW_PACKED,
		KIPT_FLOW_COUNTS, KIPT_FLOW_COUNTS | KIPT_FLOW_NO_MEMO,
	};
	u32 output = outputs[input->choice >> 5];

	decode_sliced(input, output, 0, false);
	want = got;
	decode_sliced(input, output, 1, false);
	must_equal("paused at each packet", &got);
	decode_sliced(input, output, 0, true);
	must_equal("paused by the sink", &got);
	decode_sliced(input, output, 1 + input->config.mtc_freq * 7U, true);
	must_equal("paused by both", &got);
}

/* A trace that ends earlier: nothing reported of what it still has is lost. Times
 * are bounded by those after.
 */
static void compare_cut(struct input *input, u32 output)
{
	u64 whole = input->size;

	input->output = 0;
	decode(input, output, &want);
	input->size -= (input->size - sizeof(psb_plus)) *
		       (input->choice >> 5) / 8;
	if (ends_in_psb(input, whole))
		return;
	decode(input, output, &got);
	got.count = decided(&got);
	if (want.count > got.count)
		want.count = got.count;
	must_equal("cut", &got);
}

/* The caches of one run must not show in the next. */
static void compare_again(const struct input *input, u32 output)
{
	struct kipt_flow *flow;
	u32 i;

	decode(input, output | KIPT_FLOW_NO_MEMO, &want);
	flow = flow_make(input, output, &got);
	run(flow, input);
	for (i = 1; i < RUNS; i++) {
		list_clear(&got);
		run(flow, input);
		must_equal("again", &got);
	}
}

/* Other code at the same addresses, after the caches learned of it. */
static void compare_forgotten(struct input *input, u32 output)
{
	struct kipt_flow *flow;
	u8 code[PROGRAM_BYTES];
	u32 i, space;

	for (i = 0; i < PROGRAM_BYTES; i++)
		code[i] = input->code[(i + 8) % PROGRAM_BYTES];
	flow = flow_make(input, output, &got);
	run(flow, input);
	input->code = code;
	for (space = 0; space < 2 * GUESTS; space++)
		kipt_flow_forget(flow, space, 0, ~0ULL);
	list_clear(&got);
	run(flow, input);
	decode(input, output | KIPT_FLOW_NO_MEMO, &want);
	must_equal("forgotten", &got);
}

static bool is_call(const struct kipt_record *record)
{
	switch (record->kind) {
	case KIPT_BRANCH_COND:
	case KIPT_BRANCH_JUMP:
	case KIPT_BRANCH_JUMP_IND:
		return false;
	default:
		return true;
	}
}

/* Takes BRANCH records out that CALLS has not; the next record that counts
 * instructions counts theirs.
 */
static void keep_calls(struct record_list *list)
{
	struct kipt_record *record;
	u64 left = 0, sum;
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++) {
		record = &list->records[i];
		sum = record->aux + left;
		switch (record->type) {
		case KIPT_RECORD_BRANCH:
			if (!is_call(record)) {
				left = sum;
				continue;
			}
			/* fallthrough */
		case KIPT_RECORD_DISABLE:
		case KIPT_RECORD_SYNC:
			if (record->type != KIPT_RECORD_SYNC ||
			    record->kind != KIPT_SYNC_START)
				record->aux = sum < ~0U ? (u32)sum : ~0U;
			/* fallthrough */
		case KIPT_RECORD_ENABLE:
		case KIPT_RECORD_GAP:
			left = 0;
			break;
		}
		list->records[kept++] = *record;
	}
	list->count = kept;
}

/* Times come before the record they came with: not where one was left out. */
static void compare_calls(struct input *input)
{
	input->output = 0;
	decode(input, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO, &want);
	if (want.full)
		return;
	keep_calls(&want);
	decode(input, KIPT_FLOW_CALLS, &got);
	must_equal("calls", &got);
}

static void compare_sums(struct input *input, u32 memo)
{
	struct kipt_flow_sums sums, made;
	struct kipt_flow *flow;

	decode(input, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO, &want);
	if (want.full)
		return;
	want.count = sum_cond(want.records, want.count, &sums);
	flow = flow_make(input, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_COND | memo, &got);
	run(flow, input);
	must_equal("without conditional branches", &got);
	made = kipt_flow_sums(flow);
	if (made.branches == sums.branches && made.insns == sums.insns)
		return;
	fprintf(stderr, "sums: %llu branches, %llu instructions, not %llu, %llu\n",
		(unsigned long long)made.branches, (unsigned long long)made.insns,
		(unsigned long long)sums.branches, (unsigned long long)sums.insns);
	abort();
}

static int edge_compare(const void *a, const void *b)
{
	const struct kipt_record *l = a, *r = b;

	if (l->ip != r->ip)
		return l->ip < r->ip ? -1 : 1;
	if (l->value != r->value)
		return l->value < r->value ? -1 : 1;
	return (l->kind > r->kind) - (l->kind < r->kind);
}

/* Leaves one EDGE record for each edge of BRANCH and EDGE records, sorted. */
static void to_edges(struct record_list *list)
{
	struct kipt_record *record, *last;
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++) {
		record = &list->records[i];
		if (record->type != KIPT_RECORD_BRANCH &&
		    record->type != KIPT_RECORD_EDGE)
			continue;
		list->records[kept] = (struct kipt_record){
			.type = KIPT_RECORD_EDGE, .kind = record->kind,
			.ip = record->ip, .value = record->value,
			.aux = record->type == KIPT_RECORD_EDGE ? record->aux : 1,
		};
		kept++;
	}
	qsort(list->records, kept, sizeof(*record), edge_compare);
	list->count = 0;
	for (i = 0; i < kept; i++) {
		record = &list->records[i];
		last = &list->records[list->count ? list->count - 1 : 0];
		if (list->count && !edge_compare(record, last))
			last->aux += record->aux;
		else
			list->records[list->count++] = *record;
	}
}

static void compare_counts(struct input *input, u32 more)
{
	struct kipt_flow *flow;

	decode(input, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO, &want);
	flow = flow_make(input, KIPT_FLOW_COUNTS | more, &got);
	run(flow, input);
	if (kipt_flow_counts(flow) != KIPT_OK)
		abort();
	if (want.full || got.full)
		return;
	to_edges(&want);
	to_edges(&got);
	must_equal("counts", &got);
}

/* Runs over code that is patched and patched back. */
#define PATCH_RUNS	4

/* What the slow path makes of them; false: it is too much. */
static bool want_patched(struct input *input, u32 output, const u8 *const code[2])
{
	u32 i;

	want.count = 0;
	for (i = 0; i < PATCH_RUNS; i++) {
		input->code = code[i & 1];
		decode(input, output | KIPT_FLOW_NO_MEMO, &got);
		if (got.full || want.count + got.count > LIST_MAX)
			return false;
		memcpy(want.records + want.count, got.records,
		       got.count * sizeof(got.records[0]));
		want.count += got.count;
	}
	want.full = false;
	return true;
}

/* Some bytes are patched and patched back, and they alone are forgotten. @output: PACKED, CALLS
 * or COUNTS; @have gets what all runs find.
 */
static void compare_patched(struct input *input, u32 output, struct record_list *have)
{
	const u8 *before = input->code;
	u32 plain = output & KIPT_FLOW_CALLS ? output : KIPT_FLOW_BRANCHES;
	const struct patch patch = patch_of(input);
	const u8 *const code[2] = { before, patch.code };
	struct kipt_flow *flow;
	u32 run_nr, i;
	bool fits;

	fits = want_patched(input, plain, code);
	input->code = before;
	if (!fits)
		return;
	flow = flow_make(input, output, have);
	for (run_nr = 0; run_nr < PATCH_RUNS; run_nr++) {
		input->code = code[run_nr & 1];
		for (i = 0; run_nr && i < patch.count; i++)
			forget_byte(flow, patch.at + i);
		run(flow, input);
	}
	if (output & KIPT_FLOW_COUNTS && kipt_flow_counts(flow) != KIPT_OK)
		abort();
	input->code = before;
	if (have->full)
		return;
	if (output & KIPT_FLOW_PACKED) {
		expand_packed();
	} else if (output & KIPT_FLOW_COUNTS) {
		to_edges(&want);
		to_edges(have);
	}
	must_equal("patched", &got);
}

/* Counts of chunks, by one flow, are those of the whole. */
static void compare_counts_chunks(struct input *input)
{
	struct kipt_flow *flow = flow_make(input, KIPT_FLOW_COUNTS, &got);
	u64 from = 0, to;

	while (from < input->size) {
		to = kipt_sync_next(input->trace, input->size, from + 1);
		kipt_flow_run(flow, input->trace, input->size, from, to);
		from = to;
	}
	if (kipt_flow_counts(flow) != KIPT_OK)
		abort();
	packed = got;
	decode(input, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO, &want);
	if (want.full || packed.full)
		return;
	to_edges(&want);
	to_edges(&packed);
	must_equal("counts of chunks", &packed);
}

/* @types: a bit for each type that goes */
static void leave_out(struct record_list *list, u32 types)
{
	u32 i, kept = 0;

	for (i = 0; i < list->count; i++) {
		if (!(types >> list->records[i].type & 1))
			list->records[kept++] = list->records[i];
	}
	list->count = kept;
}

/* COUNTS has nothing of the flow but edges. */
static void compare_others(struct input *input)
{
	u32 more = input->choice & 0x20 ? KIPT_FLOW_NO_MEMO : 0, i;

	input->output = 0;
	decode(input, KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO, &want);
	decode(input, KIPT_FLOW_COUNTS | more, &got);
	if (want.full || got.full)
		return;
	leave_out(&want, 1U << KIPT_RECORD_BRANCH | 1U << KIPT_RECORD_ENABLE |
			 1U << KIPT_RECORD_DISABLE);
	for (i = 0; i < want.count; i++) {
		if (want.records[i].type == KIPT_RECORD_SYNC)
			want.records[i].aux = 0;
	}
	leave_out(&got, 1U << KIPT_RECORD_EDGE | 1U << KIPT_RECORD_SPACE);
	must_equal("others", &got);
}

static void compare_more(struct input *input)
{
	u32 branches = KIPT_FLOW_BRANCHES, calls = KIPT_FLOW_CALLS;

	switch (input->choice % 16) {
	case 0:
		compare_packed_again(input, branches);
		break;
	case 1:
		compare_packed_stopped(input, branches);
		break;
	case 2:
		compare_packed_again(input, calls);
		break;
	case 3:
		compare_stopped(input, branches);
		break;
	case 4:
		compare_stopped(input, calls | KIPT_FLOW_PACKED);
		break;
	case 5:
		compare_cut(input, branches);
		break;
	case 6:
		compare_patched(input, branches | KIPT_FLOW_PACKED, &packed);
		break;
	case 7:
		compare_cut(input, branches | KIPT_FLOW_NO_MEMO);
		break;
	case 8:
		compare_counts_chunks(input);
		break;
	case 9:
		compare_patched(input, input->size & 1 ? calls : KIPT_FLOW_COUNTS, &got);
		break;
	case 10:
		compare_others(input);
		break;
	case 11:
		compare_again(input, calls);
		break;
	case 12:
		compare_forgotten(input, calls);
		break;
	case 13:
		compare_chunks(input, branches, true);
		break;
	case 14:
		compare_chunks(input, branches | KIPT_FLOW_NO_MEMO, true);
		break;
	default:
		compare_paused(input);
		break;
	}
}

static void compare(struct input *input)
{
	u32 branches = KIPT_FLOW_BRANCHES, calls = KIPT_FLOW_CALLS;

	if (input->choice & 16) {
		compare_more(input);
		return;
	}
	switch (input->choice % 16) {
	case 0:
	case 1:
		compare_memo(input, branches);
		break;
	case 2:
		compare_memo(input, calls);
		break;
	case 3:
	case 4:
		compare_packed(input, branches);
		break;
	case 5:
		compare_packed(input, calls);
		break;
	case 6:
		compare_chunks(input, branches, false);
		break;
	case 7:
		compare_chunks(input, calls, true);
		break;
	case 8:
		compare_again(input, branches);
		break;
	case 9:
		compare_forgotten(input, branches);
		break;
	case 10:
		compare_calls(input);
		compare_sums(input, 0);
		compare_sums(input, KIPT_FLOW_NO_MEMO);
		break;
	case 11:
	case 12:
		compare_counts(input, 0);
		break;
	case 13:
		compare_counts(input, KIPT_FLOW_NO_MEMO);
		break;
	case 14:
		compare_chunks(input, branches | KIPT_FLOW_INSNS, false);
		break;
	default:
		decode(input, input->choice >> 5 & 0x3, &got);
		break;
	}
}

static void filters_read(struct kipt_flow_config *config, u8 byte)
{
	config->filter_count = byte & 1;
	config->filter[0].begin = PROGRAM_USER + (byte & 0xf0);
	config->filter[0].last = PROGRAM_USER + 0xff;
}

static void head_read(struct input *input, const u8 *data)
{
	struct kipt_flow_config *config = &input->config;

	input->choice = data[0];
	input->output = data[1] & 1 ? KIPT_FLOW_TIME : 0;
	config->memory = KIPT_FLOW_MEMORY_MIN << (data[1] >> 3 & 3);
	config->step_limit = data[1] & 0x20 ? 64 : 4096;
	config->tsc_num = data[1] & 0x40 ? 84 : 0;
	config->tsc_den = data[1] & 0x40 ? 2 : 0;
	config->tsc_near = data[1] & 0x80 ? 0x0123456789abcdefULL : 0;
	config->no_tnt = (data[1] & 6) == 2;
	config->seed = data[2];
	config->mtc_freq = data[2] & 0xf;
	config->max_nonturbo_ratio = data[2] >> 4;
	filters_read(config, data[3]);
}

/* @len bytes of @data up to eight times, a PSB+ in front of the first or each,
 * as @byte says.
 */
static bool trace_make(struct input *input, u8 byte, const u8 *data, u64 len)
{
	static const u8 repeats[] = { 1, 1, 2, 8 };
	u32 times = repeats[byte >> 1 & 3], i;
	bool each = byte & 8;
	u8 *to;

	if (len > PART_MAX)
		len = PART_MAX;
	if ((sizeof(psb_plus) + len) * times > TRACE_MAX)
		times = (u32)(TRACE_MAX / (sizeof(psb_plus) + len));
	input->size = len * times + sizeof(psb_plus) * (each ? times : 1);
	input->trace = malloc(input->size);
	if (!input->trace)
		return false;
	to = input->trace;
	for (i = 0; i < times; i++) {
		if (!i || each) {
			memcpy(to, psb_plus, sizeof(psb_plus));
			to += sizeof(psb_plus);
		}
		memcpy(to, data, len);
		to += len;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u32 head = HEAD + PROGRAM_BYTES;
	struct input input = { 0 };

	if (size < head)
		return 0;
	head_read(&input, data);
	input.code = data + HEAD;
	if (!trace_make(&input, data[3], data + head, size - head))
		return 0;
	compare(&input);
	free(input.trace);
	return 0;
}

/* A part of the input by libFuzzer's own means, its size kept. */
static void mutate_part(u8 *part, u32 size)
{
	u32 len = (u32)LLVMFuzzerMutate(part, size, size);

	memset(part + len, 0, size - len);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	struct random random = { seed };
	u8 *code = data + HEAD, *trace = code + PROGRAM_BYTES;
	u32 fixed_size = HEAD + PROGRAM_BYTES;
	u32 what = random_below(&random, 16), room, len;

	if (max_size <= fixed_size)
		return LLVMFuzzerMutate(data, size, max_size);
	if (size < fixed_size) {
		memset(data + size, 0, fixed_size - size);
		size = fixed_size;
		what = 0;
	}
	room = (u32)(max_size - fixed_size);
	len = (u32)(size - fixed_size);
	if (what == 0)
		grammar_program(code, &random);
	if (what < 4)
		len = grammar_walk(code, trace, room, &random);
	else if (what < 9)
		len = grammar_mutate(trace, len, room, &random);
	else if (what < 11)
		mutate_part(data, HEAD);
	else if (what < 12)
		mutate_part(code, PROGRAM_BYTES);
	else if (what < 13)
		data[0] = (u8)random_below(&random, 256);
	else
		len = (u32)LLVMFuzzerMutate(trace, len, room);
	return fixed_size + len;
}
