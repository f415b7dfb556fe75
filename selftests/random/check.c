// SPDX-License-Identifier: GPL-2.0-only
/*
 * The modes, and what their outputs must be equal to. User space.
 */
#include "check.h"

#include <stdlib.h>

#include "../../kmod/decode/flow.h"
#include "../../tools/kipt/records/record_names.h"
#include "../decode/expand.h"
#include "lists.h"

#define FRESH_MEMORY	(256U << 10)
#define KEPT_MEMORY	(1U << 20)
#define RUNS		3

static u32 read_code(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct check *check = ctx;
	const struct region *hidden = check->hidden;

	if (hidden && ip - hidden->base < hidden->size)
		return 0;
	return program_read(check->program, space ? space - 1 : 0, ip, buf,
			    len);
}

static u64 space_of(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	(void)nr;
	return cr3 / walk_cr3(0);
}

static bool take_records(void *ctx, const struct kipt_record *records, u32 n)
{
	struct check *check = ctx;
	struct record_list *list = check->into;

	if (n > list->room - list->count)
		return false;
	memcpy(list->records + list->count, records, n * sizeof(*records));
	list->count += n;
	return true;
}

static void config_of(struct kipt_flow_config *config, const struct walk *walk,
		      u32 output, u64 memory)
{
	const struct walk_rules *rules = &walk->rules;
	u32 i;

	*config = (struct kipt_flow_config){
		.output = output,
		.memory = memory,
		.tsc_num = WALK_TSC_NUM,
		.tsc_den = WALK_TSC_DEN,
		.mtc_freq = rules->mtc_freq,
		.max_nonturbo_ratio = WALK_RATIO,
	};
	if (rules->stop)
		return;
	config->filter_count = rules->nr_ranges;
	for (i = 0; i < rules->nr_ranges; i++) {
		config->filter[i].begin = rules->ranges[i].begin;
		config->filter[i].last = rules->ranges[i].last;
	}
}

static struct kipt_flow *make_flow(struct check *check, void *arena,
				   const struct kipt_flow_config *config)
{
	const struct kipt_code code = {
		.read = read_code,
		.space = space_of,
		.ctx = check,
	};
	const struct kipt_sink sink = {
		.emit = take_records,
		.ctx = check,
	};

	return kipt_flow_init(arena, kipt_flow_size(config), config, &code,
			      &sink);
}

static void *get_arena(u64 memory)
{
	const struct kipt_flow_config config = { .memory = memory };
	size_t size = (kipt_flow_size(&config) + 63) & ~(size_t)63;
	void *arena = aligned_alloc(64, size);

	if (!arena) {
		fprintf(stderr, "random_diff: out of memory\n");
		exit(2);
	}
	return arena;
}

static void get_list(struct record_list *list, u32 room)
{
	list->count = 0;
	list->room = room;
	list->records = calloc(room, sizeof(struct kipt_record));
	if (!list->records) {
		fprintf(stderr, "random_diff: out of memory\n");
		exit(2);
	}
}

void check_init(struct check *check)
{
	memset(check, 0, sizeof(*check));
	check->arena = get_arena(FRESH_MEMORY);
	check->kept_arena = get_arena(KEPT_MEMORY);
	get_list(&check->want, TRUTH_RECORDS);
	get_list(&check->packed, CHECK_RECORDS);
	get_list(&check->kept_packed, CHECK_RECORDS);
	get_list(&check->plain, CHECK_RECORDS);
}

static bool fail(struct check *check, const char *error)
{
	check->error = error;
	return false;
}

/* All that was said since @into was emptied, to @plain. */
static bool unpack(struct check *check)
{
	const char *wrong;
	u64 made = expand(check->into->records, check->into->count,
			  check->plain.records, check->plain.room, &wrong);

	check->plain.count = (u32)made;
	if (wrong)
		return fail(check, wrong);
	if (made > check->plain.room || check->into->count == check->into->room)
		return fail(check, "there is no end of records");
	return true;
}

/* Are the records from @from on in @plain the wanted ones? */
static bool same_from(struct check *check, u32 from, u32 count)
{
	check->got.records = check->plain.records + from;
	check->got.count = count;
	if (check->want.count != count ||
	    memcmp(check->want.records, check->got.records,
		   count * sizeof(struct kipt_record)))
		return fail(check, "the records are others");
	return true;
}

static bool same(struct check *check)
{
	return unpack(check) && same_from(check, 0, check->plain.count);
}

static void run(struct kipt_flow *flow, const struct walk *walk)
{
	kipt_flow_run(flow, walk->encode.bytes, walk->encode.size, 0,
		      walk->encode.size);
}

static struct kipt_flow *fresh(struct check *check, const struct walk *walk,
			       u32 output, u64 memory)
{
	struct kipt_flow_config config;

	config_of(&config, walk, output, memory);
	check->into = &check->packed;
	check->packed.count = 0;
	check->program = walk->program;
	return make_flow(check, check->arena, &config);
}

static u32 plain_output(u32 output)
{
	if (output & KIPT_FLOW_PACKED && !(output & KIPT_FLOW_CALLS))
		output |= KIPT_FLOW_BRANCHES;
	return output;
}

/* Cold, and then twice more with what is in the memo. */
static bool check_mode(struct check *check, const struct walk *walk,
		       const char *what, u32 output, u64 memory)
{
	struct kipt_flow *flow = fresh(check, walk, output, memory);
	u32 runs, ends[RUNS + 1] = { 0 };

	check->what = what;
	if (!flow)
		return fail(check, "no flow");
	truth_expect(&walk->truth, &check->want, plain_output(output));
	for (runs = 1; runs <= RUNS; runs++) {
		run(flow, walk);
		if (!unpack(check))
			return false;
		ends[runs] = check->plain.count;
		if (!same_from(check, ends[runs - 1],
			       ends[runs] - ends[runs - 1]))
			return false;
	}
	return true;
}

/* Each PSB starts a chunk; all chunks together are the whole. */
static bool check_chunks(struct check *check, const struct walk *walk)
{
	struct kipt_flow *flow = fresh(check, walk, KIPT_FLOW_PACKED,
				       FRESH_MEMORY);
	u64 from = 0, to, size = walk->encode.size;
	u32 i;

	check->what = "packed, a chunk per PSB";
	for (i = 0; i < walk->truth.proven; i++) {
		const struct kipt_record *record = &walk->truth.records[i];

		if (record->type != KIPT_RECORD_SYNC ||
		    record->kind != KIPT_SYNC_START || record->value < 16)
			continue;
		to = record->value;
		kipt_flow_run(flow, walk->encode.bytes, size, from, to);
		from = to;
	}
	kipt_flow_run(flow, walk->encode.bytes, size, from, size);
	truth_expect(&walk->truth, &check->want, KIPT_FLOW_BRANCHES);
	return same(check);
}

static bool check_time(struct check *check, const struct walk *walk)
{
	struct kipt_flow *flow = fresh(check, walk,
				       KIPT_FLOW_CALLS | KIPT_FLOW_TIME,
				       FRESH_MEMORY);

	check->what = "calls with time";
	run(flow, walk);
	if (!unpack(check))
		return false;
	if (!list_times_rise(&check->plain))
		return fail(check, "time goes back");
	list_drop_times(&check->plain);
	truth_expect(&walk->truth, &check->want, KIPT_FLOW_CALLS);
	return same_from(check, 0, check->plain.count);
}

/* All edges are counted, and no other record is missing. */
static bool same_counts(struct check *check, const struct walk *walk)
{
	u32 i;

	truth_expect(&walk->truth, &check->want, 0);
	list_drop_flow(&check->want);
	list_drop_flow(&check->plain);
	if (check->plain.count != RUNS * check->want.count)
		return fail(check, "there are more records, or less");
	for (i = 0; i < RUNS; i++) {
		if (!same_from(check, i * check->want.count, check->want.count))
			return false;
	}
	truth_expect(&walk->truth, &check->want, KIPT_FLOW_BRANCHES);
	list_count_edges(&check->want, KIPT_RECORD_BRANCH, RUNS, walk_cr3(0));
	if (!unpack(check))
		return false;
	list_count_edges(&check->plain, KIPT_RECORD_EDGE, 1, walk_cr3(0));
	return same_from(check, 0, check->plain.count);
}

static bool check_counts(struct check *check, const struct walk *walk,
			 u64 memory, u32 more)
{
	struct kipt_flow *flow = fresh(check, walk, KIPT_FLOW_COUNTS | more,
				       memory);
	u32 i;

	check->what = "counts";
	if (!flow)
		return fail(check, "no flow");
	for (i = 0; i < RUNS; i++)
		run(flow, walk);
	kipt_flow_counts(flow);
	return unpack(check) && same_counts(check, walk);
}

/* The code of the last program goes, as if it had been unmapped. */
static void forget_program(struct check *check, const struct walk *walk)
{
	u32 i;

	if (walk->rules.steps & 1) {
		for (i = 0; i <= PROGRAM_SPACES; i++)
			kipt_flow_forget(check->kept, i, 0, ~0ULL);
		return;
	}
	for (i = 0; i < check->kept_program.nr_regions; i++) {
		const struct region *region = &check->kept_program.regions[i];

		/* Space 0 is also what user code is in before any PIP. */
		kipt_flow_forget(check->kept, 0, region->base,
				 region->base + region->size);
		kipt_flow_forget(check->kept, region->space + 1U, region->base,
				 region->base + region->size);
	}
}

static bool start_group(struct check *check, const struct walk *walk)
{
	struct kipt_flow_config config;

	config_of(&config, walk, KIPT_FLOW_PACKED, KEPT_MEMORY);
	config.filter_count = 0;
	check->kept_packed.count = 0;
	check->kept_made = 0;
	check->kept = make_flow(check, check->kept_arena, &config);
	return check->kept || fail(check, "no flow");
}

/* One decoder for many programs, whose code often has the same addresses. */
static bool check_kept(struct check *check, const struct walk *walk, bool group)
{
	u32 from;

	check->what = "packed, one decoder for many programs";
	check->into = &check->kept_packed;
	check->program = walk->program;
	if (check->kept && !group)
		forget_program(check, walk);
	else if (!start_group(check, walk))
		return false;
	memcpy(check->kept_program.regions, walk->program->regions,
	       sizeof(check->kept_program.regions));
	check->kept_program.nr_regions = walk->program->nr_regions;
	run(check->kept, walk);
	truth_expect(&walk->truth, &check->want, KIPT_FLOW_BRANCHES);
	if (!unpack(check))
		return false;
	from = (u32)check->kept_made;
	check->kept_made = check->plain.count;
	return same_from(check, from, check->plain.count - from);
}

/* Without the code of a region there are records of some of what happened, and of
 * nothing else, in gaps, too. Where a TIP was held back nobody knows which outcomes
 * in a gap are older.
 */
static bool check_hole(struct check *check, const struct walk *walk, u32 output)
{
	struct kipt_flow *flow = fresh(check, walk, output, FRESH_MEMORY);
	bool good;

	if (walk->encode.deferred)
		return true;
	check->what = "code that is missing";
	check->hidden = &walk->program->regions[walk->rules.steps %
						walk->program->nr_regions];
	run(flow, walk);
	check->hidden = NULL;
	if (!unpack(check))
		return false;
	check->got = check->plain;
	truth_expect(&walk->truth, &check->want, plain_output(output));
	good = list_holds(&check->want, &check->plain);
	return good || fail(check, "a record of something that did not happen");
}

/* What each mode makes must be what the truth says for it. */
static const struct {
	const char *what;
	u32 output;
	u64 memory;
} modes[] = {
	{ "instructions and branches, no memo",
	  KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS | KIPT_FLOW_NO_MEMO,
	  FRESH_MEMORY },
	{ "instructions and branches", KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS,
	  FRESH_MEMORY },
	{ "branches", KIPT_FLOW_BRANCHES, FRESH_MEMORY },
	{ "branches, no memo", KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO,
	  FRESH_MEMORY },
	{ "branches, little memory", KIPT_FLOW_BRANCHES, KIPT_FLOW_MEMORY_MIN },
	{ "calls", KIPT_FLOW_CALLS, FRESH_MEMORY },
	{ "calls, no memo", KIPT_FLOW_CALLS | KIPT_FLOW_NO_MEMO, FRESH_MEMORY },
	{ "packed", KIPT_FLOW_PACKED, FRESH_MEMORY },
	{ "packed, little memory", KIPT_FLOW_PACKED, KIPT_FLOW_MEMORY_MIN },
	{ "packed calls", KIPT_FLOW_PACKED | KIPT_FLOW_CALLS, FRESH_MEMORY },
};

bool check_walk(struct check *check, const struct walk *walk, bool group)
{
	u32 i;

	check->error = NULL;
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!check_mode(check, walk, modes[i].what, modes[i].output,
				modes[i].memory))
			return false;
	}
	return check_chunks(check, walk) && check_time(check, walk) &&
	       check_counts(check, walk, FRESH_MEMORY, 0) &&
	       check_counts(check, walk, KIPT_FLOW_MEMORY_MIN, 0) &&
	       check_counts(check, walk, FRESH_MEMORY, KIPT_FLOW_NO_MEMO) &&
	       check_hole(check, walk, KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS |
				       KIPT_FLOW_NO_MEMO) &&
	       check_hole(check, walk, KIPT_FLOW_PACKED) &&
	       check_kept(check, walk, group);
}

bool check_differs(struct check *check, const struct walk *walk,
		   const u8 *bytes, u32 size)
{
	struct kipt_flow *flow = fresh(check, walk,
				       KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS,
				       FRESH_MEMORY);

	check->what = "negative control";
	kipt_flow_run(flow, bytes, size, 0, size);
	truth_expect(&walk->truth, &check->want,
		     KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS);
	return !same(check);
}

static const char *const type_names[KIPT_RECORD_TYPE_MAX + 1] =
	RECORD_TYPE_NAMES;

static void show_one(FILE *file, const char *who, u32 number,
		     const struct record_list *list)
{
	const struct kipt_record *record = &list->records[number];

	if (number >= list->count) {
		fprintf(file, "#  %s %u: nothing\n", who, number);
		return;
	}
	fprintf(file,
		"#  %s %u: %s kind %u flags %x aux %u ip %llx value %llx\n",
		who, number, record->type <= KIPT_RECORD_TYPE_MAX &&
			     type_names[record->type] ?
			     type_names[record->type] : "?",
		record->kind, record->flags, record->aux,
		(unsigned long long)record->ip,
		(unsigned long long)record->value);
}

void check_show(const struct check *check, FILE *file, bool all)
{
	u32 longest = check->want.count > check->got.count ?
		      check->want.count : check->got.count, i, first;

	for (first = 0; first < longest; first++) {
		if (first >= check->want.count || first >= check->got.count ||
		    memcmp(&check->want.records[first],
			   &check->got.records[first],
			   sizeof(struct kipt_record)))
			break;
	}
	i = all || first < 8 ? 0 : first - 8;
	for (; i < longest && (all || i < first + 6); i++) {
		bool differ = i >= check->want.count ||
			      i >= check->got.count ||
			      memcmp(&check->want.records[i],
				     &check->got.records[i],
				     sizeof(struct kipt_record));

		show_one(file, differ ? "want" : "both", i, &check->want);
		if (differ)
			show_one(file, "got ", i, &check->got);
	}
}

void check_show_packed(const struct check *check, FILE *file)
{
	u32 i;

	for (i = 0; i < check->into->count; i++)
		show_one(file, "said", i, check->into);
}
