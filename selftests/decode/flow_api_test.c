// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a caller of the decoder core may rely on beside the records: what
 * init refuses, that a sink can stop a run anywhere, that address spaces are
 * kept apart and kernel addresses are not, that forgotten code is read again,
 * and what a run returns. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/flow.h"
#include "../../kmod/decode/state/flow_state.h"
#include "../../kmod/decode/graph/graph.h"
#include "../../kmod/decode/graph/pack.h"
#include "../../kmod/decode/code/insn.h"
#include "ktap.h"

#define USER_IP		0x401000ULL
#define KERNEL_IP	0xffffffff81000000ULL

#define PSB_PLUS	33
#define OUTCOMES	64

/* PSB+ at 401000 in address space 1000, a conditional branch that is taken. */
static const u8 trace[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x43, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x99, 0x01, 0x5d, 0x00, 0x10, 0x40, 0x00, 0x02, 0x23,
	0x06,
	/* FUP, PIP 2000, TIP: an event on the way to the other space. */
	0x3d, 0x00, 0x10,
	0x02, 0x43, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00,
	0x2d, 0x00, 0x10,
	0x06,
	/* FUP, TIP: an event on the way to the kernel; a branch there. */
	0x3d, 0x00, 0x10, 0x6d, 0x00, 0x00, 0x00, 0x81, 0xff, 0xff,
	0x06,
};

/**
 * struct world - code by address space, and what was asked for
 * @user: code at 401000 in spaces 1 and 2
 * @kernel_spaces: bit n: kernel code was read in space n
 * @reads: calls of the read callback
 * @reads_of: of them, by space and address: 401000 in spaces 1 and 2, kernel
 * @based: segments of space 1 have bases
 * @taken: records so far
 * @limit: the sink stops when it has so many
 * @record: the records
 */
struct world {
	u8 user[3][2];
	u32 kernel_spaces;
	u32 reads;
	u32 reads_of[3];
	bool based;
	u32 taken;
	u32 limit;
	struct kipt_record record[64];
};

static u32 read_code(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	/* jz to itself */
	static const u8 kernel[] = { 0x74, 0xfe };
	struct world *world = ctx;

	world->reads++;
	if (len < 2)
		return 0;
	if (ip == KERNEL_IP) {
		world->kernel_spaces |= 1U << space;
		world->reads_of[0]++;
		memcpy(buf, kernel, sizeof(kernel));
		return sizeof(kernel);
	}
	if (ip != USER_IP || space > 2)
		return 0;
	world->reads_of[space]++;
	memcpy(buf, world->user[space], 2);
	return 2;
}

static u64 name_space(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	return nr ? 0 : cr3 >> 12;
}

static bool is_based(void *ctx, u64 space)
{
	const struct world *world = ctx;

	return world->based && space == 1;
}

static bool take(void *ctx, const struct kipt_record *record, u32 n)
{
	struct world *world = ctx;
	u32 i;

	for (i = 0; i < n && world->taken < 64; i++)
		world->record[world->taken++] = record[i];
	return world->taken < world->limit;
}

static void make_world(struct world *world)
{
	/* In both spaces a conditional branch, to itself and to 401000 - 8. */
	static const u8 user[3][2] = { { 0 }, { 0x74, 0xfe }, { 0x75, 0xfe } };

	memset(world, 0, sizeof(*world));
	memcpy(world->user, user, sizeof(user));
	world->limit = 1000;
}

static struct kipt_flow *make_flow(struct world *world,
				   struct kipt_flow_config *config)
{
	struct kipt_code code = { .read = read_code, .space = name_space,
				  .based = is_based, .ctx = world };
	struct kipt_sink sink = { .emit = take, .ctx = world };
	static u64 arena[32768] __attribute__((aligned(64)));

	config->memory = 64 << 10;
	return kipt_flow_init(arena, sizeof(arena), config, &code, &sink);
}

static u32 count(const struct world *world, u8 type)
{
	u32 found = 0, i;

	for (i = 0; i < world->taken; i++)
		found += world->record[i].type == type;
	return found;
}

static bool init_refuses(void)
{
	struct kipt_flow_config config = { .memory = 64 << 10 };
	struct kipt_code code = { .read = read_code };
	struct kipt_sink sink = { .emit = take };
	/* Records that counts go with none of. */
	static const u32 others[] = {
		KIPT_FLOW_BRANCHES, KIPT_FLOW_CALLS, KIPT_FLOW_PACKED,
		KIPT_FLOW_BRANCHES | KIPT_FLOW_CALLS,
	};
	static u64 arena[32768] __attribute__((aligned(64)));
	size_t size = kipt_flow_size(&config);
	u32 i;

	if (size > sizeof(arena) ||
	    !kipt_flow_init(arena, size, &config, &code, &sink) ||
	    kipt_flow_init(arena, size - 1, &config, &code, &sink))
		return false;
	config.memory = KIPT_FLOW_MEMORY_MIN - 1;
	if (kipt_flow_init(arena, sizeof(arena), &config, &code, &sink))
		return false;
	config.memory = KIPT_FLOW_MEMORY_MAX + 1;
	if (kipt_flow_init(arena, sizeof(arena), &config, &code, &sink))
		return false;
	if (KIPT_FLOW_MEMORY_MAX != 4ULL << 30 ||
	    kipt_flow_init(arena, SIZE_MAX, &config, &code, &sink))
		return false;
	config.memory = 64 << 10;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		config.output = KIPT_FLOW_COUNTS | others[i];
		if (kipt_flow_init(arena, sizeof(arena), &config, &code, &sink))
			return false;
	}
	config.output = KIPT_FLOW_COUNTS;
	config.filter_count = 5;
	return !kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
}

static bool default_size_is_64_mib(void)
{
	struct kipt_flow_config config = { 0 };
	size_t size = kipt_flow_size(&config);

	return size >= 64 << 20 && size < 65 << 20;
}

static bool spaces_are_apart(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	struct kipt_flow *flow;
	struct world world;

	make_world(&world);
	flow = make_flow(&world, &config);
	if (kipt_flow_run(flow, trace, sizeof(trace), 0, sizeof(trace)) !=
		    KIPT_OK ||
	    count(&world, KIPT_RECORD_GAP) ||
	    count(&world, KIPT_RECORD_BRANCH) != 5)
		return false;
	/* Kernel code belongs to no space; each user space was read once. */
	return world.kernel_spaces == 1 && world.reads % 3 == 0;
}

/* The trace, with 32-bit code in space 1. */
static bool based_code_is_not_read(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	u8 other[sizeof(trace)];
	struct kipt_flow *flow;
	struct world world;

	memcpy(other, trace, sizeof(trace));
	make_world(&world);
	world.based = true;
	flow = make_flow(&world, &config);
	kipt_flow_run(flow, other, sizeof(other), 0, sizeof(other));
	if (count(&world, KIPT_RECORD_GAP) || !world.reads_of[1])
		return false;
	other[25] = 2;
	make_world(&world);
	flow = make_flow(&world, &config);
	kipt_flow_run(flow, other, sizeof(other), 0, sizeof(other));
	if (count(&world, KIPT_RECORD_GAP) || !world.reads_of[1])
		return false;
	make_world(&world);
	world.based = true;
	flow = make_flow(&world, &config);
	kipt_flow_run(flow, other, sizeof(other), 0, sizeof(other));
	return count(&world, KIPT_RECORD_GAP) == 1 && !world.reads_of[1] &&
	       world.reads_of[2];
}

static bool forgotten_code_is_read_again(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	struct kipt_flow *flow;
	struct world world;
	u32 reads;

	make_world(&world);
	flow = make_flow(&world, &config);
	kipt_flow_run(flow, trace, sizeof(trace), 0, sizeof(trace));
	reads = world.reads;
	kipt_flow_run(flow, trace, sizeof(trace), 0, sizeof(trace));
	if (world.reads != reads)
		return false;
	kipt_flow_forget(flow, 1, USER_IP + 2, ~0ULL);
	kipt_flow_forget(flow, 3, 0, ~0ULL);
	kipt_flow_run(flow, trace, sizeof(trace), 0, sizeof(trace));
	if (world.reads != reads)
		return false;
	kipt_flow_forget(flow, 1, USER_IP + 1, USER_IP + 2);
	world.user[1][0] = 0x90;
	world.taken = 0;
	kipt_flow_run(flow, trace, sizeof(trace), 0, sizeof(trace));
	return world.reads > reads && count(&world, KIPT_RECORD_GAP) == 1;
}

static void run(struct kipt_flow *flow, struct world *world)
{
	world->taken = 0;
	memset(world->reads_of, 0, sizeof(world->reads_of));
	kipt_flow_run(flow, trace, sizeof(trace), 0, sizeof(trace));
}

/* Which of the three pieces of code the next run reads: bits 0, 1, 2. */
static u32 reads_again(struct kipt_flow *flow, struct world *world)
{
	u32 read = 0, i;

	run(flow, world);
	for (i = 0; i < 3; i++)
		read |= world->reads_of[i] ? 1U << i : 0;
	return read;
}

/**
 * struct oblivion - what is to be forgotten, and what is read again then
 * @space: name of the space
 * @begin: first address
 * @end: last + 1
 * @read: bit 0: the kernel, bit n: 401000 in space n
 */
struct oblivion {
	u64 space;
	u64 begin;
	u64 end;
	u32 read;
};

/* A range that touches one byte of the code forgets it, in its space only. */
static bool forgets_ranges_and_spaces(u32 output)
{
	static const struct oblivion list[] = {
		{ 1, 0, ~0ULL, 1 << 1 },
		{ 2, 0, ~0ULL, 1 << 2 },
		{ 0, 0, ~0ULL, 1 << 0 },
		{ 3, 0, ~0ULL, 0 },
		{ 1, USER_IP, USER_IP + 1, 1 << 1 },
		{ 2, USER_IP + 1, USER_IP + 2, 1 << 2 },
		{ 1, USER_IP - 16, USER_IP, 0 },
		{ 1, USER_IP + 2, USER_IP + 16, 0 },
		{ 2, USER_IP - 4096, USER_IP + 4096, 1 << 2 },
		{ 0, USER_IP, USER_IP + 2, 0 },
		{ 0, KERNEL_IP, KERNEL_IP + 2, 1 << 0 },
		{ 1, KERNEL_IP, KERNEL_IP + 2, 0 },
	};
	struct kipt_flow_config config = { .output = output };
	struct kipt_flow *flow;
	struct world world;
	u32 i, read;

	make_world(&world);
	flow = make_flow(&world, &config);
	if (reads_again(flow, &world) != 7 || reads_again(flow, &world) ||
	    reads_again(flow, &world))
		return false;
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		kipt_flow_forget(flow, list[i].space, list[i].begin,
				 list[i].end);
		read = reads_again(flow, &world);
		/* More may be read again, but not less. */
		if ((read & list[i].read) != list[i].read ||
		    (!list[i].read && read)) {
			printf("# forget %u: read again: %x\n", i, read);
			return false;
		}
	}
	return true;
}

/* The same trace over code that became another branch. */
static bool new_code_is_used(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	struct kipt_flow *flow;
	struct world world;
	u32 i;

	make_world(&world);
	flow = make_flow(&world, &config);
	for (i = 0; i < 4; i++)
		run(flow, &world);
	/* A jump over nothing, not to itself. */
	world.user[2][1] = 0x00;
	kipt_flow_forget(flow, 2, USER_IP, USER_IP + 2);
	run(flow, &world);
	for (i = 0; i < world.taken; i++) {
		if (world.record[i].type == KIPT_RECORD_BRANCH &&
		    world.record[i].kind == KIPT_BRANCH_COND &&
		    world.record[i].value == USER_IP + 2)
			return true;
	}
	return false;
}

/* Address spaces of the EDGE records, a bit each; ~0 if one has none. */
static u32 spaces_of_edges(const struct world *world)
{
	u32 found = 0, i;
	s64 space = -1;

	for (i = 0; i < world->taken; i++) {
		if (world->record[i].type == KIPT_RECORD_SPACE)
			space = (s64)world->record[i].value;
		else if (world->record[i].type == KIPT_RECORD_EDGE && space < 0)
			return ~0U;
		else if (world->record[i].type == KIPT_RECORD_EDGE)
			found |= 1U << space;
	}
	return found;
}

/* Counts that were made by the old code are given away before it goes; the others
 * stay.
 */
static bool forgetting_gives_counts(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_COUNTS };
	struct kipt_flow *flow;
	struct world world;

	make_world(&world);
	flow = make_flow(&world, &config);
	run(flow, &world);
	if (count(&world, KIPT_RECORD_EDGE))
		return false;
	world.taken = 0;
	kipt_flow_forget(flow, 1, 0, ~0ULL);
	if (spaces_of_edges(&world) != 1 << 1)
		return false;
	world.taken = 0;
	/* The event at 401000 in space 2 went to the kernel, a branch is there. */
	return kipt_flow_counts(flow) == KIPT_OK &&
	       spaces_of_edges(&world) == (1 << 0 | 1 << 2);
}

/* jnz to itself in spaces 1 and 2, and the kernel's SYSRET into each. */
static const u8 two_spaces[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x43, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x99, 0x01, 0xdd, 0x00, 0x00, 0x00, 0x81, 0xff, 0xff, 0xff, 0xff,
	0x02, 0x23,
	/* TIP 401000, TNT, FUP, TIP kernel, five times; in the third a PIP 2000. */
#define TO_USER		0x6d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x06,	\
			0x3d, 0x00, 0x10
#define TO_KERNEL	0xcd, 0x00, 0x00, 0x00, 0x81, 0xff, 0xff, 0xff, 0xff
	TO_USER, TO_KERNEL, TO_USER, TO_KERNEL, TO_USER,
	0x02, 0x43, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00,
	TO_KERNEL, TO_USER, TO_KERNEL, TO_USER, TO_KERNEL,
};

static u32 read_sysret(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static const u8 kernel[] = { 0x48, 0x0f, 0x07 }, user[] = { 0x75, 0xfe };
	const u8 *code = ip == KERNEL_IP ? kernel : user;
	u32 n = ip == KERNEL_IP ? sizeof(kernel) : sizeof(user);

	(void)ctx;
	if (ip != KERNEL_IP && (ip != USER_IP || !space))
		return 0;
	if (n > len)
		n = len;
	memcpy(buf, code, n);
	return n;
}

/* Counts of an edge in a space; 0: it has no record there. */
static u64 edge_in(const struct world *world, u64 space, u8 kind)
{
	u64 at = ~0ULL, sum = 0;
	u32 i;

	for (i = 0; i < world->taken; i++) {
		if (world->record[i].type == KIPT_RECORD_SPACE)
			at = world->record[i].value;
		else if (world->record[i].type == KIPT_RECORD_EDGE &&
			 world->record[i].kind == kind && at == space)
			sum += world->record[i].aux;
	}
	return sum;
}

/* Ways out of the kernel are shared, what they count is not. */
static bool edges_have_spaces(u32 output)
{
	static u64 arena[32768] __attribute__((aligned(64)));
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_COUNTS | output, .memory = 64 << 10,
	};
	struct kipt_code code = { .read = read_sysret, .space = name_space };
	struct world world;
	struct kipt_sink sink = { .emit = take, .ctx = &world };
	struct kipt_flow *flow;
	u32 round;

	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	for (round = 1; round <= 3; round++) {
		make_world(&world);
		if (kipt_flow_run(flow, two_spaces, sizeof(two_spaces), 0,
				  sizeof(two_spaces)) != KIPT_OK ||
		    kipt_flow_counts(flow) != KIPT_OK ||
		    count(&world, KIPT_RECORD_GAP)) {
			printf("# gaps: %u\n", count(&world, KIPT_RECORD_GAP));
			return false;
		}
		if (edge_in(&world, 1, KIPT_BRANCH_SYSRET) != 3 ||
		    edge_in(&world, 2, KIPT_BRANCH_SYSRET) != 2 ||
		    edge_in(&world, 1, KIPT_BRANCH_EVENT) != 3 ||
		    edge_in(&world, 2, KIPT_BRANCH_EVENT) != 2 ||
		    edge_in(&world, 1, KIPT_BRANCH_COND) != 3 ||
		    edge_in(&world, 2, KIPT_BRANCH_COND) != 2 ||
		    edge_in(&world, 0, KIPT_BRANCH_SYSRET))
			return false;
	}
	return true;
}

/* 600 outcomes make more records than the core keeps. */
static bool sink_stops_a_run(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	u8 many[sizeof(trace) + 100];
	struct kipt_flow *flow;
	struct world world;

	memcpy(many, trace, sizeof(trace));
	memset(many + sizeof(trace), 0xfe, 100);
	make_world(&world);
	world.limit = 1;
	flow = make_flow(&world, &config);
	if (kipt_flow_run(flow, many, sizeof(many), 0, sizeof(many)) !=
	    KIPT_STOPPED)
		return false;
	make_world(&world);
	return kipt_flow_run(flow, many, sizeof(many), 0, sizeof(many)) ==
		       KIPT_OK && world.taken == 64;
}

/* struct burst - a sink that asks for a pause
 * @flow: whom
 * @calls: how often it was called since it asked
 * @most: records given to it between asking and the pause
 * @since: of these, so far
 * @all: records given to it
 */
struct burst {
	struct kipt_flow *flow;
	u64 since;
	u64 most;
	u64 all;
	bool asked;
};

static bool take_and_ask(void *ctx, const struct kipt_record *record, u32 n)
{
	struct burst *burst = ctx;

	(void)record;
	burst->all += n;
	if (burst->asked)
		burst->since += n;
	if (burst->since > burst->most)
		burst->most = burst->since;
	burst->asked = true;
	kipt_flow_pause(burst->flow);
	return true;
}

/* jz over a jmp to the start, jmp to the start: any outcome goes on. */
static u32 read_loop(void *ctx, u64 space, u64 ip, u8 *buf, u32 len);

#define LONG_TRACE	65536

/* A long trace of outcomes, the same again and again or never the same. */
static bool pause_comes_soon(u32 output, u64 most, bool same)
{
	static u64 arena[131072] __attribute__((aligned(64)));
	static u8 bytes[LONG_TRACE + 64];
	struct kipt_flow_config config = { .output = output,
					   .memory = 512 << 10 };
	struct kipt_code code = { .read = read_loop };
	struct burst burst = { 0 };
	struct kipt_sink sink = { .emit = take_and_ask, .ctx = &burst };
	enum kipt_status status;
	u32 random = 1, pauses, i;

	memcpy(bytes, trace, 33);
	for (i = 33; i < LONG_TRACE; i++) {
		random = random * 1664525U + 1013904223U;
		bytes[i] = same ? 0xfe : (u8)(0x80 | random >> 24) & ~1;
	}
	burst.flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	status = kipt_flow_run(burst.flow, bytes, LONG_TRACE, 0, LONG_TRACE);
	for (pauses = 0; status == KIPT_PAUSED; pauses++) {
		burst.asked = false;
		burst.since = 0;
		status = kipt_flow_resume(burst.flow);
	}
	if (burst.most > most || status != KIPT_OK || burst.all < 2000 ||
	    pauses < burst.all / (most + 512)) {
		printf("# %llu records after a pause was asked for, %u pauses, %llu records\n",
		       (unsigned long long)burst.most, pauses,
		       (unsigned long long)burst.all);
		return false;
	}
	return true;
}

#define JUMPS		5000

/* Many jumps in a row (@ctx: how many), no outcome or target among them, then a jz to
 * the first.
 */
static u32 read_jumps(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	u32 bytes = 2 * (ctx ? *(u32 *)ctx : JUMPS), i;
	u8 jz[6] = { 0x0f, 0x84 };
	s32 back = -(s32)(bytes + sizeof(jz));
	u64 at = ip - USER_IP;

	(void)space;
	memcpy(jz + 2, &back, sizeof(back));
	for (i = 0; i < len && at + i < bytes + sizeof(jz); i++)
		buf[i] = at + i >= bytes ? jz[at + i - bytes] : (at + i) % 2 ? 0 : 0xeb;
	return i;
}

/* Giving out counts ends where the sink asks for a pause, and goes on there. */
static bool counts_pause(void)
{
	static u64 arena[1 << 19] __attribute__((aligned(64)));
	static u8 bytes[33 + 64];
	struct kipt_flow_config config = { .output = KIPT_FLOW_COUNTS,
					   .memory = 3 << 20 };
	struct kipt_code code = { .read = read_jumps };
	struct burst burst = { 0 };
	struct kipt_sink sink = { .emit = take_and_ask, .ctx = &burst };
	enum kipt_status status;
	u32 pauses;

	memcpy(bytes, trace, 33);
	memset(bytes + 33, 0xfe, 64);
	burst.flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	status = kipt_flow_run(burst.flow, bytes, sizeof(bytes), 0,
			       sizeof(bytes));
	while (status == KIPT_PAUSED)
		status = kipt_flow_resume(burst.flow);
	burst.all = 0;
	status = kipt_flow_counts(burst.flow);
	for (pauses = 0; status == KIPT_PAUSED; pauses++) {
		burst.asked = false;
		burst.since = 0;
		status = kipt_flow_counts(burst.flow);
	}
	/* The records: one for each jump, whatever SPACE records there are. */
	return status == KIPT_OK && burst.all >= 256 && burst.most <= 512 &&
	       pauses >= burst.all / 512;
}

/* A trace with a TSC: TIME records are made from when it is asked for. */
static bool time_is_given_when_asked(void)
{
	static const u8 tsc[] = { 0x19, 1, 2, 3, 4, 5, 6, 7 };
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	u8 bytes[sizeof(trace) + sizeof(tsc)];
	struct kipt_flow *flow;
	struct world world;
	u32 times[3], i;

	memcpy(bytes, trace, 31);
	memcpy(bytes + 31, tsc, sizeof(tsc));
	memcpy(bytes + 31 + sizeof(tsc), trace + 31, sizeof(trace) - 31);
	make_world(&world);
	flow = make_flow(&world, &config);
	for (i = 0; i < 3; i++) {
		kipt_flow_time(flow, i == 1);
		world.taken = 0;
		kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
		times[i] = count(&world, KIPT_RECORD_TIME);
	}
	return !times[0] && times[1] == 1 && !times[2];
}

static bool add_up(void *ctx, const struct kipt_record *record, u32 n);

/* A slice is trace and work: it ends after a packet that took long. */
static bool slices_end(u64 slice, u32 *pauses)
{
	static u64 arena[131072] __attribute__((aligned(64)));
	static u8 bytes[33 + 64];
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_COUNTS, .memory = 512 << 10, .slice = slice,
	};
	struct kipt_code code = { .read = read_jumps };
	u64 sum = 0;
	struct kipt_sink sink = { .emit = add_up, .ctx = &sum };
	struct kipt_flow *flow;
	enum kipt_status status;

	memcpy(bytes, trace, 33);
	memset(bytes + 33, 0x06, 64);
	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	status = kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	for (*pauses = 0; status == KIPT_PAUSED; ++*pauses)
		status = kipt_flow_resume(flow);
	return status == KIPT_OK;
}

static bool slices_bound_work(void)
{
	u32 pauses;

	return slices_end(0, &pauses) && pauses == 0 &&
	       slices_end(1 << 20, &pauses) && pauses >= 63;
}

/**
 * struct patched - code that changes while a run pauses
 * @now: the displacement of its branch
 * @before: branches to itself
 * @after: branches to the byte before
 * @others: other branches
 */
struct patched {
	u8 now;
	u32 before;
	u32 after;
	u32 others;
};

static u32 read_patched(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct patched *patched = ctx;

	(void)space;
	if (len < 3 || (ip != USER_IP && ip != USER_IP - 1))
		return 0;
	/* At the byte before there is a nop. */
	buf[0] = 0x90;
	buf[ip == USER_IP ? 0 : 1] = 0x74;
	buf[ip == USER_IP ? 1 : 2] = patched->now;
	return ip == USER_IP ? 2 : 3;
}

static bool count_patched(void *ctx, const struct kipt_record *record, u32 n)
{
	struct patched *patched = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		if (record[i].type != KIPT_RECORD_BRANCH)
			continue;
		if (record[i].value == USER_IP)
			patched->before++;
		else if (record[i].value == USER_IP - 1)
			patched->after++;
		else
			patched->others++;
	}
	return true;
}

/* Wherever it is among TNTs that are used together. */
static bool pauses_among_tnts(struct kipt_flow *flow, const u8 *bytes, u32 size)
{
	bool good = true;
	u32 i;

	for (i = 1; i < 40; i++) {
		kipt_flow_until(flow, PSB_PLUS + i);
		good &= kipt_flow_run(flow, bytes, size, 0, size) == KIPT_PAUSED &&
			kipt_flow_paused_at(flow) == PSB_PLUS + i;
	}
	return good;
}

/* Code is another after a place where tracing is off, and no PSB follows. */
static bool pauses_at_a_place(u32 output)
{
	static u64 arena[131072] __attribute__((aligned(64)));
	static const u8 pge[] = { 0x71, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00 };
	static u8 bytes[PSB_PLUS + 64 + 1 + sizeof(pge) + 64];
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_BRANCHES | output, .memory = 512 << 10,
	};
	struct patched patched = { .now = 0xfe };
	struct kipt_code code = { .read = read_patched, .ctx = &patched };
	struct kipt_sink sink = { .emit = count_patched, .ctx = &patched };
	u32 place = PSB_PLUS + 64 + 1, after = place + sizeof(pge);
	struct kipt_flow *flow;
	bool paused;

	memcpy(bytes, trace, PSB_PLUS);
	memset(bytes + PSB_PLUS, 0xfe, 64);
	bytes[place - 1] = 0x01;
	memcpy(bytes + place, pge, sizeof(pge));
	memset(bytes + after, 0xfe, 64);
	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	kipt_flow_until(flow, place);
	paused = kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes)) == KIPT_PAUSED;
	patched.now = 0xfd;
	kipt_flow_forget(flow, 0, USER_IP, USER_IP + 2);
	kipt_flow_until(flow, 0);
	return paused && kipt_flow_resume(flow) == KIPT_OK &&
	       patched.before == 64 * 6 && patched.after == 64 * 6 && !patched.others &&
	       pauses_among_tnts(flow, bytes, sizeof(bytes));
}

/**
 * struct stretch - a run that pauses after so many blocks
 * @pauses: how often it did
 * @most: blocks from one pause to the next, at most
 * @all: blocks
 * @sum: of all records
 */
struct stretch {
	u32 pauses;
	u32 most;
	u32 all;
	u64 sum;
};

/* Blocks that are classified together, and those after the last jump of a packet. */
#define STEPS_MORE	(KIPT_NODE_REACH + 8)

/* @packet over and over, with @jumps jumps before each outcome. */
static bool run_in_steps(u32 output, u32 step_slice, u32 jumps, const u8 *packet, u32 len,
			 struct stretch *stretch)
{
	static u64 arena[(9 << 20) / 8] __attribute__((aligned(64)));
	static u8 bytes[33 + 64];
	struct kipt_flow_config config = {
		.output = output, .memory = 8 << 20, .step_slice = step_slice,
	};
	struct kipt_code code = { .read = read_jumps, .ctx = &jumps };
	struct kipt_sink sink = { .emit = add_up, .ctx = &stretch->sum };
	struct kipt_flow *flow;
	enum kipt_status status;
	u32 steps, i;

	*stretch = (struct stretch){ 0 };
	memcpy(bytes, trace, 33);
	for (i = 0; i < 64; i++)
		bytes[33 + i] = packet[i % len];
	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	status = kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	for (steps = 0;; stretch->pauses++) {
		if (flow->walk.steps - steps > stretch->most)
			stretch->most = flow->walk.steps - steps;
		steps = flow->walk.steps;
		if (status != KIPT_PAUSED)
			break;
		status = kipt_flow_resume(flow);
	}
	stretch->all = steps;
	return status == KIPT_OK;
}

/* The records are the same, in slices that no packet makes longer. */
static bool step_slices_bound_work(void)
{
	static const u32 outputs[] = { KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO,
				       KIPT_FLOW_BRANCHES, KIPT_FLOW_PACKED };
	static const u32 slices[] = { 1, 2, 3, 7, 100, 1000 };
	static const u8 tnt[] = { 0xfe };
	struct stretch whole, part;
	u32 more, i, k;

	for (k = 0; k < 3; k++) {
		if (!run_in_steps(outputs[k], 0, JUMPS, tnt, 1, &whole) || whole.pauses)
			return false;
		more = k ? STEPS_MORE : 6;
		for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
			if (!run_in_steps(outputs[k], slices[i], JUMPS, tnt, 1, &part) ||
			    part.sum != whole.sum || part.most > slices[i] + more ||
			    part.pauses < 64 * 6 * JUMPS / (slices[i] + more))
				return false;
	}
	return true;
}

static u32 code_copy(const u8 *code, u64 size, u64 at, u8 *buf, u32 len);

static u32 read_circle(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	(void)ctx;
	(void)space;
	return code_copy((const u8[]){ 0x74, 0xfe }, 2, ip - USER_IP, buf, len);
}

/* After an overflow the mode is another, and the address is none where code can be: it
 * differs from one of the mode before by the bits that a node's address has for the mode.
 */
static bool no_code_where_none_can_be(u32 output)
{
	static const u8 packets[] = {
		0x06, 0x06, 0x02, 0xf3, 0x99, 0x02,
		0xdd, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x20, 0x06, 0x06,
	};
	static u64 arena[(1 << 20) / 8] __attribute__((aligned(64)));
	u8 bytes[33 + sizeof(packets) + 16] = { 0 };
	u64 sums[2] = { 0 };
	u32 i;

	memcpy(bytes, trace, 33);
	memcpy(bytes + 33, packets, sizeof(packets));
	for (i = 0; i < 2; i++) {
		struct kipt_flow_config config = {
			.output = output | (i ? KIPT_FLOW_NO_MEMO : 0), .memory = 512 << 10,
		};
		struct kipt_code code = { .read = read_circle };
		struct kipt_sink sink = { .emit = add_up, .ctx = &sums[i] };
		struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code,
							&sink);

		kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
		if (output & KIPT_FLOW_COUNTS)
			kipt_flow_counts(flow);
	}
	return sums[0] == sums[1];
}

/* Decodes it all. @count: of what is bounded; @most: how much it rises between two pauses. */
static enum kipt_status run_counting(struct kipt_flow *flow, const u8 *bytes, u64 size,
				     const u32 *count, u32 *most)
{
	enum kipt_status status = kipt_flow_run(flow, bytes, size, 0, size);
	u32 before = 0;

	for (*most = 0;; before = *count) {
		*most = *count - before > *most ? *count - before : *most;
		if (status != KIPT_PAUSED)
			return status;
		status = kipt_flow_resume(flow);
	}
}

#define CHAIN		60U

/* JMPs, each to the next, the last one to where nothing is. */
static u32 read_chain(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static u8 code[2 * CHAIN];
	u32 i;

	(void)space;
	++*(u32 *)ctx;
	for (i = 0; i < CHAIN; i++)
		code[2 * i] = 0xeb;
	return code_copy(code, sizeof(code), ip - USER_IP, buf, len);
}

/* TIP.PGE and TIP.PGD over and over, where what the code leads to is missing. */
static bool pge_and_pgd_end_slices(u32 output)
{
	static const u8 on_and_off[] = { 0x31, 0x00, 0x10, 0x21, 0x02, 0x10 };
	static u64 arena[(1 << 20) / 8] __attribute__((aligned(64)));
	static u8 bytes[33 + 3 + 600 * sizeof(on_and_off) + 16];
	struct kipt_flow_config config = {
		.output = output, .memory = 512 << 10, .step_slice = 1000,
	};
	u32 reads = 0, most, i;
	struct kipt_code code = { .read = read_chain, .ctx = &reads };
	u64 sum = 0;
	struct kipt_sink sink = { .emit = add_up, .ctx = &sum };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);

	memcpy(bytes, trace, 33);
	memcpy(bytes + 33, on_and_off + 3, 3);
	for (i = 0; i < 600; i++)
		memcpy(bytes + 36 + i * sizeof(on_and_off), on_and_off, sizeof(on_and_off));
	return run_counting(flow, bytes, sizeof(bytes), &reads, &most) == KIPT_OK &&
	       !kipt_flow_is_on(flow) && most < 300;
}

#define FUNCTION	0x1000U
#define CONDS		198U

/* A CALL of a function of many branches, and a circle after it. */
static u32 read_function(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static u8 code[FUNCTION + 2 * CONDS + 1];
	u32 i;

	(void)ctx;
	(void)space;
	memcpy(code, (const u8[]){ 0xe8, 0xfb, 0x0f, 0, 0, 0x74, 0xfe }, 7);
	for (i = 0; i < CONDS; i++)
		code[FUNCTION + 2 * i] = 0x74;
	code[FUNCTION + 2 * CONDS] = 0xc3;
	return code_copy(code, sizeof(code), ip - USER_IP, buf, len);
}

/* Memory was full, and all was dropped and numbered anew, between a CALL and its RET. */
static bool return_address_outlives_memory(u32 output)
{
	static u64 arena[(1 << 20) / 8] __attribute__((aligned(64)));
	u8 bytes[33 + CONDS / 6 + 2 + 16] = { 0 };
	u64 sums[2] = { 0 };
	u32 i;

	memcpy(bytes, trace, 33);
	memset(bytes + 33, 0xfe, CONDS / 6 + 2);
	for (i = 0; i < 2; i++) {
		struct kipt_flow_config config = {
			.output = output, .memory = i ? 512 << 10 : KIPT_FLOW_MEMORY_MIN,
		};
		struct kipt_code code = { .read = read_function };
		struct kipt_sink sink = { .emit = add_up, .ctx = &sums[i] };
		struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code,
							&sink);

		kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
		if (flow->at.ip != USER_IP + 5 || (i && flow->blocks.index.count < CONDS))
			return false;
	}
	return sums[0] == sums[1];
}

/* A JMP to where a TIP says, at each address. @ctx counts. */
static u32 read_indirect(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	(void)space;
	(void)ip;
	++*(u32 *)ctx;
	if (len < 2)
		return 0;
	memcpy(buf, (const u8[]){ 0xff, 0xe0 }, 2);
	return 2;
}

/* Memory is full of code that ran once, and then the same two blocks run on and on. */
static bool full_memory_is_dropped(u32 output)
{
	enum { COLD = 2000, HOT = 8000 };
	static u64 arena[(1 << 20) / 8] __attribute__((aligned(64)));
	static u8 bytes[33 + 3 * (COLD + HOT)];
	struct kipt_flow_config config = {
		.output = output, .memory = KIPT_FLOW_MEMORY_MIN,
	};
	u32 reads = 0, i, ip;
	u64 sum = 0;
	struct kipt_code code = { .read = read_indirect, .ctx = &reads };
	struct kipt_sink sink = { .emit = add_up, .ctx = &sum };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);

	memcpy(bytes, trace, 33);
	for (i = 0; i < COLD + HOT; i++) {
		ip = 2 * (i < COLD ? i : COLD + i % 2);
		bytes[33 + 3 * i] = 0x2d;
		bytes[34 + 3 * i] = (u8)ip;
		bytes[35 + 3 * i] = (u8)(ip >> 8);
	}
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	if (reads < 4 * COLD && flow->at.ip == 0x400000 + ip)
		return true;
	printf("# output %x: %u reads\n", output, reads);
	return false;
}

/* A slice that no run fills is no slice. */
static bool longest_slice_makes_progress(void)
{
	static const u32 outputs[] = { KIPT_FLOW_BRANCHES, KIPT_FLOW_PACKED, KIPT_FLOW_COUNTS,
				       KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO };
	static const u32 slices[] = { 1U << 30, 1U << 31, ~0U };
	static const u8 tnt[] = { 0xfe };
	struct stretch stretch;
	u32 i;

	for (i = 0; i < 12; i++) {
		if (!run_in_steps(outputs[i / 3], slices[i % 3], 10, tnt, 1, &stretch) ||
		    stretch.pauses)
			return false;
	}
	return true;
}

/* JMPs one after the other, and a branch after every 61st. @ctx counts. */
static u32 read_far(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	u64 at = (ip - USER_IP) / 2;

	(void)space;
	++*(u32 *)ctx;
	if (ip < USER_IP || ip & 1 || len < 2)
		return 0;
	memcpy(buf, at % 61 == 60 ? (const u8[]){ 0x74, 0 } : (const u8[]){ 0xeb, 0 }, 2);
	return 2;
}

/* Code that is new is read before it is followed: that is work of a slice, too. */
static bool slices_bound_reads(u32 output, u32 step_slice)
{
	static u64 arena[(9 << 20) / 8] __attribute__((aligned(64)));
	static u8 bytes[33 + 64];
	struct kipt_flow_config config = {
		.output = output, .memory = 8 << 20, .step_slice = step_slice,
	};
	u32 reads = 0;
	struct kipt_code code = { .read = read_far, .ctx = &reads };
	u64 sum = 0;
	struct kipt_sink sink = { .emit = add_up, .ctx = &sum };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	u32 most;

	memcpy(bytes, trace, 33);
	memset(bytes + 33, 0xfe, 64);
	/* A read gives one instruction; a window of TNTs has up to 64 outcomes. */
	return run_counting(flow, bytes, sizeof(bytes), &reads, &most) == KIPT_OK &&
	       reads > 64 * 6 * 60 && most < 3 * (step_slice + 66 * 64);
}

/* A few bytes of trace that lead through as much code as they can: counts blocks between
 * two pauses, and for each packet.
 */
static bool worst_packets_are_bounded(void)
{
	static const u8 short_tnt[] = { 0xfe };
	static const u8 long_tnt[] = { 0x02, 0xa3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const struct {
		u32 jumps;
		const u8 *packet;
		u32 len;
	} worst[] = {
		{ 65000, short_tnt, 1 }, { 10900, short_tnt, 1 },
		{ 65000, long_tnt, 8 }, { 1393, long_tnt, 8 },
	};
	static const u32 outputs[] = { KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO,
				       KIPT_FLOW_PACKED, KIPT_FLOW_COUNTS };
	struct stretch stretch;
	u32 i, k;

	for (i = 0; i < 4; i++) {
		for (k = 0; k < 3; k++) {
			if (!run_in_steps(outputs[k], 4096, worst[i].jumps, worst[i].packet,
					  worst[i].len, &stretch) ||
			    stretch.most > 4096 + STEPS_MORE ||
			    stretch.all > 64 / worst[i].len * 2 * KIPT_FLOW_STEPS) {
				printf("# case %u, output %x: %u blocks at a time, %u in all\n",
				       i, outputs[k], stretch.most, stretch.all);
				return false;
			}
		}
	}
	return true;
}

/* What a read callback gives of @size bytes of code, from byte @at on. */
static u32 code_copy(const u8 *code, u64 size, u64 at, u8 *buf, u32 len)
{
	if (at >= size)
		return 0;
	if (len > size - at)
		len = (u32)(size - at);
	memcpy(buf, code + at, len);
	return len;
}

#define NOPS_MAX	32

/**
 * struct padded - NOPs and two bytes after them
 * @code: they
 * @size: how many bytes
 */
struct padded {
	u8 code[NOPS_MAX + 2];
	u32 size;
};

static u32 read_padded(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	const struct padded *padded = ctx;

	(void)space;
	return code_copy(padded->code, padded->size, ip - USER_IP, buf, len);
}

/* A block of NOPs ends where bytes are no instruction: those are patched, and become a jz. */
static bool bytes_after_a_block_are_its_code(u32 nops)
{
	static u64 arena[32768] __attribute__((aligned(64)));
	static const u8 before[] = { 0x0e, 0x90 };
	const u8 after[] = { 0x74, (u8)-(nops + 2) };
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES, .memory = 128 << 10 };
	struct kipt_code code = { .read = read_padded };
	struct kipt_sink sink = { .emit = take };
	struct padded now = { .size = nops + 2 };
	u8 bytes[PSB_PLUS + 4];
	struct world have, want;
	struct kipt_flow *flow;

	/* One outcome, and a TIP, which is none of a jz. */
	memcpy(bytes, trace, PSB_PLUS);
	memcpy(bytes + PSB_PLUS, (const u8[]){ 0x06, 0x2d, 0x00, 0x10 }, 4);
	make_world(&want);
	make_world(&have);
	code.ctx = &now;
	memset(now.code, 0x90, nops);
	sink.ctx = &want;
	memcpy(now.code + nops, after, sizeof(after));
	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	sink.ctx = &have;
	memcpy(now.code + nops, before, sizeof(before));
	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	memcpy(now.code + nops, after, sizeof(after));
	kipt_flow_forget(flow, 0, USER_IP + nops, USER_IP + nops + 2);
	have.taken = 0;
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	return have.taken == want.taken &&
	       !memcmp(have.record, want.record, want.taken * sizeof(want.record[0]));
}

static bool targets_are_as_short_as_their_numbers(void)
{
	static const u8 want[] = {
		KIPT_WALK_NEAR, 0xff, 0xff, KIPT_WALK_TARGET, 0, 0, 1, 0,
		KIPT_WALK_TARGET, 4, 3, 2, 1,
	};
	static struct kipt_flow flow;

	kipt_pack_target(&flow, 0xffff);
	kipt_pack_target(&flow, 0x10000);
	kipt_pack_target(&flow, 0x01020304);
	return flow.output.nr_packed == sizeof(want) &&
	       !memcmp(flow.output.packed, want, sizeof(want));
}

static bool run_says_no_psb(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES };
	struct kipt_flow *flow;
	struct world world;

	make_world(&world);
	flow = make_flow(&world, &config);
	return kipt_flow_run(flow, trace, sizeof(trace), 1, sizeof(trace)) ==
		       KIPT_NO_PSB &&
	       world.taken == 1 && world.record[0].type == KIPT_RECORD_GAP &&
	       world.record[0].aux == KIPT_NO_PSB &&
	       kipt_flow_run(flow, trace, 0, 0, 0) == KIPT_NO_PSB;
}

/* jz over a jmp to the start, jmp to the start: any outcome goes on. */
static u32 read_loop(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static const u8 loop[] = { 0x74, 0x02, 0xeb, 0xfc, 0xeb, 0xfa };
	u32 at = (u32)(ip - USER_IP);
	u32 n = sizeof(loop) - at;

	(void)ctx;
	(void)space;
	if (ip < USER_IP || at >= sizeof(loop))
		return 0;
	n = n < len ? n : len;
	memcpy(buf, loop + at, n);
	return n;
}

static bool add_up(void *ctx, const struct kipt_record *record, u32 n)
{
	u64 *sum = ctx;
	u32 i;

	for (i = 0; i < n; i++)
		*sum = (*sum ^ record[i].ip ^ record[i].value << 8 ^
			record[i].aux) * 1099511628211ULL;
	return true;
}



/* The same outcomes, others, and some more after what is remembered. */
static u64 run_outcomes(struct kipt_flow *flow, u64 *sum, u8 second)
{
	static u8 bytes[PSB_PLUS + 3 * OUTCOMES];

	memcpy(bytes, trace, PSB_PLUS);
	memset(bytes + PSB_PLUS, 0xaa, OUTCOMES);
	memset(bytes + PSB_PLUS + OUTCOMES, second, OUTCOMES);
	memset(bytes + PSB_PLUS + 2 * OUTCOMES, 0xfe, OUTCOMES);
	*sum = 0;
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	return *sum;
}

/* Eight jz to the next, and a jmp to the first. */
static u32 read_ring(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static const u8 code[] = {
		0x74, 0, 0x74, 0, 0x74, 0, 0x74, 0, 0x74, 0, 0x74, 0, 0x74, 0, 0x74, 0,
		0xeb, 0xee,
	};
	u64 at = ip - USER_IP;

	(void)ctx;
	(void)space;
	return code_copy(code, sizeof(code), at, buf, len);
}

static bool count_nodes(void *ctx, const struct kipt_record *record, u32 n)
{
	u32 *nodes = ctx, i;

	for (i = 0; i < n; i++)
		*nodes += record[i].type == KIPT_RECORD_NODE;
	return true;
}

/* Nodes that a run defines after one over the same code, whose bytes from @at on, @len of them,
 * were forgotten that often, each time before a run. The jmp of the ring is in one node with
 * the first jz, until that is patched.
 */
static u32 nodes_built_anew(u32 at, u32 len, u64 space, u32 times)
{
	static u64 arena[131072] __attribute__((aligned(64)));
	static u8 bytes[PSB_PLUS + OUTCOMES + 16];
	struct kipt_flow_config config = { .output = KIPT_FLOW_PACKED, .memory = 512 << 10 };
	struct kipt_code code = { .read = read_ring };
	u32 nodes = 0, first = 0;
	struct kipt_sink sink = { .emit = count_nodes, .ctx = &nodes };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);

	memcpy(bytes, trace, PSB_PLUS);
	memset(bytes + PSB_PLUS, 0xaa, OUTCOMES);
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	first = nodes;
	while (times--) {
		kipt_flow_forget(flow, space, USER_IP + at, USER_IP + at + len);
		nodes = 0;
		kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	}
	return first == 9 ? nodes : ~0U;
}

/* What the nodes of a run are; @stops of the runs before, whose sink refuses. */
struct nodes_seen {
	u64 sum;
	u32 stops;
};

static bool sum_nodes(void *ctx, const struct kipt_record *record, u32 n)
{
	struct nodes_seen *seen = ctx;
	u32 i;

	if (seen->stops)
		return !seen->stops--;
	for (i = 0; i < n; i++) {
		if (record[i].type == KIPT_RECORD_NODE)
			seen->sum += record[i].ip * 31 + record[i].value + record[i].kind;
	}
	return true;
}

static u32 read_eight(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	(void)space;
	return code_copy(ctx, 8, ip - USER_IP, buf, len);
}

/* The nodes of a jz that became two NOPs, by a decoder that had it as jz and whose sink took
 * nothing, that often.
 */
static u64 nodes_after_stops(u32 stops)
{
	/* jz to the next, and a jz to the first; the first becomes NOPs. */
	static const u8 before[] = { 0x74, 0, 0x90, 0x74, 0xfb, 0xeb, 0xf9, 0x90 };
	static u64 arena[131072] __attribute__((aligned(64)));
	static u8 bytes[PSB_PLUS + OUTCOMES + 16];
	struct kipt_flow_config config = { .output = KIPT_FLOW_PACKED, .memory = 512 << 10 };
	struct nodes_seen seen = { .stops = stops };
	struct kipt_sink sink = { .emit = sum_nodes, .ctx = &seen };
	u8 now[sizeof(before)];
	struct kipt_code code = { .read = read_eight, .ctx = now };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);

	memcpy(bytes, trace, PSB_PLUS);
	memset(bytes + PSB_PLUS, 0xaa, OUTCOMES);
	memcpy(now, before, sizeof(now));
	while (seen.stops)
		kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	memset(now, 0x90, 2);
	kipt_flow_forget(flow, 0, USER_IP, USER_IP + 2);
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	return seen.sum;
}

static bool nodes_of_patched_code_are_built_anew(void)
{
	static const struct {
		u32 at, len, once, again;
	} list[] = {
		{ 0, 0, 0, 0 }, { 6, 1, 1, 1 }, { 5, 4, 3, 3 }, { 0, 1, 2, 1 }, { 16, 2, 1, 1 },
		{ 0, 18, 9, 9 },
	};
	static const u64 spaces[] = { KIPT_FLOW_SPACES, 0 };
	u32 i, k, n;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		for (k = 0; k < 6; k++) {
			n = nodes_built_anew(list[i].at, list[i].len, spaces[k & 1], 1 + k / 2);
			if (n == (k < 2 ? list[i].once : list[i].again))
				continue;
			printf("# bytes %u to %u, forgotten %u times: %u nodes\n", list[i].at,
			       list[i].at + list[i].len, 1 + k / 2, n);
			return false;
		}
	}
	return true;
}

#define FUNCTIONS	64U
#define APART		4096U

/**
 * struct functions - code far from each other
 * @reads: how often each was read
 */
struct functions {
	u32 reads[FUNCTIONS];
};

/* Each jumps to the next, the last is a jz to itself. */
static u32 read_functions(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static const u8 jump[] = { 0xe9, 0xfb, 0x0f, 0, 0 }, last[] = { 0x74, 0xfe };
	struct functions *functions = ctx;
	u64 n = (ip - USER_IP) / APART, at = (ip - USER_IP) % APART;

	(void)space;
	if (n >= FUNCTIONS)
		return 0;
	functions->reads[n] += !at;
	return n == FUNCTIONS - 1 ? code_copy(last, sizeof(last), at, buf, len) :
				    code_copy(jump, sizeof(jump), at, buf, len);
}

/* Of much code that is known each piece is found by its address. */
static bool patches_far_apart_are_read_again(void)
{
	static u64 arena[131072] __attribute__((aligned(64)));
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES, .memory = 512 << 10 };
	struct functions functions = { 0 };
	struct kipt_code code = { .read = read_functions, .ctx = &functions };
	u64 sum = 0;
	struct kipt_sink sink = { .emit = add_up, .ctx = &sum };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	u8 bytes[PSB_PLUS + 1];
	u32 i, before;

	memcpy(bytes, trace, sizeof(bytes));
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	for (i = 0; i < FUNCTIONS; i++) {
		before = functions.reads[i];
		kipt_flow_forget(flow, 0, USER_IP + i * APART, USER_IP + i * APART + 1);
		kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
		if (before && functions.reads[i] > before)
			continue;
		printf("# function %u is not read again\n", i);
		return false;
	}
	return true;
}

/* The ring, whose first two bytes are a NOP and no instruction while *@ctx is true. */
static u32 read_broken(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static const u8 broken[] = { 0x90, 0x0e };

	return *(bool *)ctx && ip - USER_IP < sizeof(broken) ?
	       code_copy(broken, sizeof(broken), ip - USER_IP, buf, len) :
	       read_ring(NULL, space, ip, buf, len);
}

/* Code that led nowhere is patched, and patched again when it is a ring: it counts as patched
 * already, so nothing but its own node is built anew.
 */
static bool patch_of_what_led_nowhere_is_one(void)
{
	static u64 arena[131072] __attribute__((aligned(64)));
	static u8 bytes[PSB_PLUS + OUTCOMES + 16];
	struct kipt_flow_config config = { .output = KIPT_FLOW_PACKED, .memory = 512 << 10 };
	bool broken = true;
	struct kipt_code code = { .read = read_broken, .ctx = &broken };
	u32 nodes = 0;
	struct kipt_sink sink = { .emit = count_nodes, .ctx = &nodes };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);

	memcpy(bytes, trace, PSB_PLUS);
	memset(bytes + PSB_PLUS, 0xaa, OUTCOMES);
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	broken = false;
	kipt_flow_forget(flow, 0, USER_IP, USER_IP + 2);
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	kipt_flow_forget(flow, 0, USER_IP, USER_IP + 2);
	nodes = 0;
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	return nodes == 1;
}

#define CONDS_MANY	400U

/* Conditional branches, each to the next. */
static u32 read_conds(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static u8 code[2 * CONDS_MANY];
	u32 i;

	(void)ctx;
	(void)space;
	for (i = 0; i < CONDS_MANY; i++)
		code[2 * i] = 0x74;
	return code_copy(code, sizeof(code), ip - USER_IP, buf, len);
}

#define PIECES		100U
#define PIECE_SIZE	16U

/* jz to the next, jmp *rax: the same at the beginning of each piece. */
static u32 read_pieces(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	static const u8 code[] = { 0x74, 0, 0xff, 0xe0 };

	(void)ctx;
	(void)space;
	return ip - USER_IP < PIECES * PIECE_SIZE ?
	       code_copy(code, sizeof(code), (ip - USER_IP) % PIECE_SIZE, buf, len) : 0;
}

/* The first piece was patched. */
static bool was_patched(void *ctx, u64 space, u64 ip, u32 len)
{
	(void)ctx;
	(void)space;
	return USER_IP - ip < len;
}

static bool keep_gap(void *ctx, const struct kipt_record *record, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (record[i].type == KIPT_RECORD_GAP)
			*(u8 *)ctx = record[i].kind;
	return true;
}

static u8 *put_tip(u8 *at, u32 piece)
{
	u32 ip = (u32)USER_IP + piece * PIECE_SIZE;

	*at++ = 0x2d;
	*at++ = (u8)ip;
	*at++ = (u8)(ip >> 8);
	return at;
}

/* Memory was full, and all was dropped, between code that was patched and the contradiction that
 * this explains: it is executed before each piece, and at the last one is a TIP too many.
 */
static bool patch_outlives_memory(u32 more)
{
	static u64 arena[(1 << 20) / 8] __attribute__((aligned(64)));
	static u8 bytes[PSB_PLUS + 8 * PIECES + 16];
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_BRANCHES, .memory = KIPT_FLOW_MEMORY_MIN + more,
	};
	struct kipt_code code = { .read = read_pieces, .changed = was_patched };
	u8 gap, *at = bytes + PSB_PLUS;
	struct kipt_sink sink = { .emit = keep_gap, .ctx = &gap };
	struct kipt_flow *flow;
	u32 n, forgot = 0;

	memcpy(bytes, trace, PSB_PLUS);
	for (n = 1; n < PIECES; n++) {
		*at++ = 0x06;
		at = put_tip(at, n);
		memset(put_tip(at, 0), 0, 16);
		gap = 0;
		flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
		kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
		forgot += flow->blocks.index.count < n;
		if (gap != KIPT_GAP_CODE_CHANGED) {
			printf("# at piece %u: gap %u\n", n, gap);
			return false;
		}
		*at++ = 0x06;
		at = put_tip(at, 0);
	}
	return forgot;
}

/**
 * struct numbers - what packed records say of the first node that there is
 * @ip: its address, 0 if it has none
 * @anew: it became another, since the last WALK record
 * @times: how often that was
 * @wrong: after that a WALK record went on from a node of before
 */
struct numbers {
	u64 ip;
	bool anew;
	u32 times;
	bool wrong;
};

static bool keep_numbers(void *ctx, const struct kipt_record *record, u32 n)
{
	struct numbers *numbers = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		if (record[i].type == KIPT_RECORD_WALK) {
			numbers->times += numbers->anew;
			if (numbers->anew && kipt_record_walk(&record[i])[0] != KIPT_WALK_START)
				numbers->wrong = true;
			numbers->anew = false;
		} else if (record[i].type == KIPT_RECORD_NODE && record[i].aux == 1) {
			numbers->anew = numbers->ip && numbers->ip != record[i].value;
			numbers->ip = record[i].value;
		}
	}
	return true;
}

/* Where numbers are given anew, a WALK record says which of them the flow is at. */
static bool walks_start_where_numbers_are_new(void)
{
	static u64 arena[(1 << 20) / 8] __attribute__((aligned(64)));
	static u8 bytes[PSB_PLUS + 2 * CONDS_MANY + 16];
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_PACKED, .memory = KIPT_FLOW_MEMORY_MIN,
	};
	struct kipt_code code = { .read = read_conds };
	struct numbers numbers = { 0 };
	struct kipt_sink sink = { .emit = keep_numbers, .ctx = &numbers };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	u32 i;

	memcpy(bytes, trace, PSB_PLUS);
	/* With PADs between them outcomes are used one by one. */
	for (i = 0; i < CONDS_MANY; i++)
		bytes[PSB_PLUS + 2 * i] = 0x06;
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	return numbers.times && !numbers.wrong;
}

#define NOPS		2000U

/* A function that is called over and over by the branch after its CALL: a jmp, more NOPs than
 * are in one node, and a RET.
 */
static u32 read_calls(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	/* call 401007; jz 401000; jmp 401009 */
	static u8 code[9 + NOPS + 1] = { 0xe8, 0x02, 0, 0, 0, 0x74, 0xf9, 0xeb, 0 };

	(void)ctx;
	(void)space;
	memset(code + 9, 0x90, NOPS);
	code[9 + NOPS] = 0xc3;
	return code_copy(code, sizeof(code), ip - USER_IP, buf, len);
}

/* And gaps. */
static bool count_branches(void *ctx, const struct kipt_record *record, u32 n)
{
	u32 *branches = ctx, i;

	for (i = 0; i < n; i++)
		*branches += record[i].type == KIPT_RECORD_BRANCH ||
			     record[i].type == KIPT_RECORD_GAP;
	return true;
}

/* Code that is known makes no BRANCH records where they are packed. */
static bool calls_are_packed(void)
{
	static u64 arena[131072] __attribute__((aligned(64)));
	static u8 bytes[PSB_PLUS + OUTCOMES + 16];
	struct kipt_flow_config config = { .output = KIPT_FLOW_PACKED, .memory = 512 << 10 };
	struct kipt_code code = { .read = read_calls };
	u32 branches = 0;
	struct kipt_sink sink = { .emit = count_branches, .ctx = &branches };
	struct kipt_flow *flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);

	memcpy(bytes, trace, PSB_PLUS);
	memset(bytes + PSB_PLUS, 0xfe, OUTCOMES);
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	branches = 0;
	kipt_flow_run(flow, bytes, sizeof(bytes), 0, sizeof(bytes));
	return !branches && flow->at.ip == USER_IP;
}

static bool add_edges(void *ctx, const struct kipt_record *record, u32 n)
{
	u64 *sum = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		if (record[i].type == KIPT_RECORD_EDGE)
			*sum += (record[i].ip * 31 + record[i].value) * record[i].aux;
	}
	return true;
}

/* Any outcomes, in the least memory. */
static bool much_work_counts_in_little_memory(u32 more)
{
	static u64 arena[32768] __attribute__((aligned(64)));
	static u8 bytes[LONG_TRACE + 64];
	struct kipt_flow_config config = { .output = KIPT_FLOW_COUNTS | more,
					   .memory = KIPT_FLOW_MEMORY_MIN };
	struct kipt_code code = { .read = read_ring };
	static u64 sums[2];
	struct kipt_sink sink = { .emit = add_edges, .ctx = &sums[!!more] };
	u32 random = 1, i;
	struct kipt_flow *flow;

	memcpy(bytes, trace, 33);
	for (i = 33; i < LONG_TRACE; i++) {
		random = random * 1664525U + 1013904223U;
		bytes[i] = (u8)(4 + (random >> 24) % 252) & ~1;
	}
	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	if (!flow || kipt_flow_run(flow, bytes, LONG_TRACE, 0, LONG_TRACE) != KIPT_OK ||
	    kipt_flow_counts(flow) != KIPT_OK)
		return false;
	return more ? sums[0] == sums[1] && sums[0] : much_work_counts_in_little_memory(KIPT_FLOW_NO_MEMO);
}

/* Kinds of gaps, and where tracing went on. */
struct gaps_seen {
	u32 no_code, decode, enables;
};

static bool count_gaps(void *ctx, const struct kipt_record *record, u32 n)
{
	struct gaps_seen *seen = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		seen->enables += record[i].type == KIPT_RECORD_ENABLE;
		if (record[i].type != KIPT_RECORD_GAP)
			continue;
		seen->no_code += record[i].kind == KIPT_GAP_NO_CODE;
		seen->decode += record[i].kind == KIPT_GAP_DECODE;
	}
	return true;
}

/* Code that is missing calls a function again and again: its RETs are compressed, and each
 * gap hides the next CALL.
 */
static bool rets_of_lost_calls_are_no_errors(void)
{
	/* TIP to the RET; it is compressed. */
	static const u8 ret[] = { 0x2d, 0x00, 0x10, 0x06 };
	static u64 arena[32768] __attribute__((aligned(64)));
	struct kipt_flow_config config = { .memory = 64 << 10 };
	u8 bytes[PSB_PLUS + 1 + 80 * sizeof(ret)];
	struct gaps_seen seen = { 0 };
	struct kipt_sink sink = { .emit = count_gaps, .ctx = &seen };
	struct kipt_code code = { .read = read_code, .space = name_space };
	struct world world;
	u32 i;

	make_world(&world);
	world.user[1][0] = 0xc3;
	code.ctx = &world;
	memcpy(bytes, trace, PSB_PLUS + 1);
	/* Tracing begins where no code is. */
	bytes[28] = 0x11;
	for (i = 0; i < 80; i++)
		memcpy(bytes + PSB_PLUS + 1 + i * sizeof(ret), ret, sizeof(ret));
	kipt_flow_run(kipt_flow_init(arena, sizeof(arena), &config, &code, &sink), bytes,
		      sizeof(bytes), 0, sizeof(bytes));
	if (seen.no_code == 1 + 80 && !seen.decode && seen.enables == 80)
		return true;
	printf("# %u gaps without code, %u errors, %u times enabled\n", seen.no_code,
	       seen.decode, seen.enables);
	return false;
}

/* What stood in the same memory the run before says nothing. */
static bool runs_are_apart(void)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_BRANCHES,
					   .memory = 64 << 10 };
	struct kipt_code code = { .read = read_loop };
	u64 sum, first, second;
	struct kipt_sink sink = { .emit = add_up, .ctx = &sum };
	static u64 arena[32768] __attribute__((aligned(64)));
	struct kipt_flow *flow;

	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	if (!flow)
		return false;
	second = run_outcomes(flow, &sum, 0xd4);
	flow = kipt_flow_init(arena, sizeof(arena), &config, &code, &sink);
	first = run_outcomes(flow, &sum, 0x9c);
	return first != second && run_outcomes(flow, &sum, 0xd4) == second;
}

static bool names_are_complete(void)
{
	u32 i;

	for (i = 0; i <= KIPT_STATUS_MAX; i++) {
		if (!kipt_status_name(i) ||
		    !strcmp(kipt_status_name(i), "unknown status"))
			return false;
	}
	for (i = 1; i <= KIPT_PACKET_MAX; i++) {
		if (!strcmp(kipt_packet_name(i), "unknown"))
			return false;
	}
	return !strcmp(kipt_status_name(KIPT_STATUS_MAX + 1),
		       "unknown status") &&
	       !strcmp(kipt_packet_name(KIPT_PACKET_MAX + 1), "unknown");
}

#define COLLIDING	512U

/* The odd number that times KIPT_INDEX_FACTOR is 1, by Newton's method. */
static u64 inverse_of_factor(void)
{
	u64 inverse = KIPT_INDEX_FACTOR;
	int i;

	for (i = 0; i < 6; i++)
		inverse *= 2 - KIPT_INDEX_FACTOR * inverse;
	return inverse;
}

/* Return: how many slots are looked at to find all of them. */
static u32 looks_for_all(struct kipt_index *index, const u64 *keys)
{
	u32 looks = 0, at, i;

	kipt_index_clear(index);
	index->size = index->max;
	memset(index->slots, 0, sizeof(*index->slots) * index->size);
	for (i = 0; i < COLLIDING; i++)
		kipt_index_put(index, keys[i], i + 1);
	for (i = 0; i < COLLIDING; i++) {
		at = kipt_index_first(index, keys[i]);
		for (looks++; index->slots[at] != i + 1; looks++)
			at = kipt_index_next(index, at);
	}
	return looks;
}

/* Addresses that a program chose because they share a slot. */
static bool seed_spreads_keys(void)
{
	static u32 slots[4 * COLLIDING];
	static u64 keys[COLLIDING];
	struct kipt_index index;
	u32 i, plain, seeded;

	for (i = 0; i < COLLIDING; i++)
		keys[i] = (u64)i * inverse_of_factor();
	kipt_index_init(&index, slots, 4 * COLLIDING, COLLIDING + 1, 0);
	plain = looks_for_all(&index, keys);
	kipt_index_init(&index, slots, 4 * COLLIDING, COLLIDING + 1, 0x5bd1e995c6a4a793ULL);
	seeded = looks_for_all(&index, keys);
	printf("# %u addresses: %u looks, with a seed %u\n", COLLIDING, plain,
	       seeded);
	return plain > 100 * COLLIDING && seeded < 4 * COLLIDING;
}

int main(void)
{
	struct ktap ktap = { 0 };
	u32 i;

	ktap_start();
	ktap_result(&ktap, init_refuses(), "flow init refuses bad sizes");
	ktap_result(&ktap, default_size_is_64_mib(),
		    "flow default arena is at most a few MiB");
	ktap_result(&ktap, spaces_are_apart(),
		    "flow keeps address spaces apart and shares the kernel");
	ktap_result(&ktap, based_code_is_not_read(),
		    "flow reads no 32-bit code whose segment may have a base");
	ktap_result(&ktap, forgotten_code_is_read_again(),
		    "flow reads forgotten code again");
	ktap_result(&ktap, forgets_ranges_and_spaces(KIPT_FLOW_BRANCHES),
		    "flow forgets by range and by address space");
	ktap_result(&ktap, forgets_ranges_and_spaces(KIPT_FLOW_BRANCHES |
						     KIPT_FLOW_NO_MEMO),
		    "flow forgets by range and by address space, no memo");
	ktap_result(&ktap, forgets_ranges_and_spaces(KIPT_FLOW_PACKED),
		    "flow forgets by range and by address space, packed");
	ktap_result(&ktap, forgets_ranges_and_spaces(KIPT_FLOW_COUNTS),
		    "flow forgets by range and by address space, counted");
	ktap_result(&ktap, nodes_of_patched_code_are_built_anew(),
		    "nodes that are built anew are those of code that was forgotten");
	ktap_result(&ktap, patches_far_apart_are_read_again(),
		    "flow reads patched code again among much that it knows");
	ktap_result(&ktap, patch_of_what_led_nowhere_is_one(),
		    "a patch of code that led nowhere is the first of its patches");
	ktap_result(&ktap, nodes_after_stops(1) == nodes_after_stops(0),
		    "code that was patched after a sink refused is read again");
	ktap_result(&ktap, bytes_after_a_block_are_its_code(2) &&
		    bytes_after_a_block_are_its_code(NOPS_MAX),
		    "code after a block that ends in no branch is forgotten with it");
	ktap_result(&ktap, targets_are_as_short_as_their_numbers(),
		    "targets are packed in two bytes where their numbers fit");
	ktap_result(&ktap, runs_are_apart(),
		    "flow takes nothing from the trace of the run before");
	ktap_result(&ktap, new_code_is_used(),
		    "flow follows the code that came in place of another");
	ktap_result(&ktap, forgetting_gives_counts(),
		    "flow gives its counts before it forgets");
	ktap_result(&ktap, edges_have_spaces(0),
		    "flow says which space an edge is in");
	ktap_result(&ktap, edges_have_spaces(KIPT_FLOW_NO_MEMO),
		    "flow says which space an edge is in, no memo");
	ktap_result(&ktap, seed_spreads_keys(),
		    "addresses that share a slot do not with a seed");
	for (i = 0; i < 2; i++) {
		ktap_result(&ktap, pause_comes_soon(KIPT_FLOW_BRANCHES, 1500,
						    i),
			    "flow pauses soon, branches, %u", i);
		ktap_result(&ktap, pause_comes_soon(KIPT_FLOW_PACKED |
						    i * KIPT_FLOW_TIME,
						    1500, false),
			    "flow pauses soon, packed, %u", i);
		ktap_result(&ktap,
			    pause_comes_soon(KIPT_FLOW_BRANCHES |
					     KIPT_FLOW_NO_MEMO, 64, i),
			    "flow pauses soon, no memo, %u", i);
	}
	ktap_result(&ktap, much_work_counts_in_little_memory(0),
		    "counts are those of the slow path in the least memory");
	ktap_result(&ktap, slices_bound_work(),
		    "flow ends a slice by bytes and by work");
	ktap_result(&ktap, pauses_at_a_place(0) && pauses_at_a_place(KIPT_FLOW_NO_MEMO),
		    "flow pauses at a place, and code may be another there");
	ktap_result(&ktap, rets_of_lost_calls_are_no_errors(),
		    "flow goes on after any number of RETs whose CALLs are in gaps");
	ktap_result(&ktap, step_slices_bound_work(),
		    "flow ends a slice of blocks amid a packet, records are the same");
	ktap_result(&ktap, no_code_where_none_can_be(KIPT_FLOW_BRANCHES) &&
		    no_code_where_none_can_be(KIPT_FLOW_CALLS) &&
		    no_code_where_none_can_be(KIPT_FLOW_COUNTS),
		    "code is not found by an address of another mode");
	ktap_result(&ktap, return_address_outlives_memory(KIPT_FLOW_BRANCHES) &&
		    return_address_outlives_memory(KIPT_FLOW_CALLS),
		    "a return address outlives the memory of its CALL");
	/* Memory is full with another block of a piece. */
	ktap_result(&ktap, patch_outlives_memory(0) && patch_outlives_memory(160),
		    "a patch explains what comes after its memory is gone");
	ktap_result(&ktap, walks_start_where_numbers_are_new(),
		    "packed records say where the flow is when numbers are given anew");
	ktap_result(&ktap, calls_are_packed(), "calls in known code are packed");
	ktap_result(&ktap, pge_and_pgd_end_slices(KIPT_FLOW_COUNTS) &&
		    pge_and_pgd_end_slices(KIPT_FLOW_BRANCHES),
		    "flow ends a slice amid TIP.PGE and TIP.PGD");
	ktap_result(&ktap, full_memory_is_dropped(KIPT_FLOW_BRANCHES) &&
		    full_memory_is_dropped(KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS) &&
		    full_memory_is_dropped(KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO) &&
		    full_memory_is_dropped(KIPT_FLOW_COUNTS | KIPT_FLOW_NO_MEMO),
		    "full memory is dropped, whatever follows the code");
	ktap_result(&ktap, longest_slice_makes_progress(),
		    "flow takes the longest slice for none");
	ktap_result(&ktap, slices_bound_reads(KIPT_FLOW_COUNTS, 1000) &&
		    slices_bound_reads(KIPT_FLOW_BRANCHES, 1000) &&
		    slices_bound_reads(KIPT_FLOW_CALLS, 1000),
		    "flow reads as much code in a slice as it walks");
	ktap_result(&ktap, worst_packets_are_bounded(),
		    "packets that lead through most code: blocks in a slice, and for each packet");
	ktap_result(&ktap, counts_pause(), "flow pauses while it gives counts");
	ktap_result(&ktap, time_is_given_when_asked(),
		    "flow gives time from when it is asked to");
	ktap_result(&ktap, sink_stops_a_run(), "flow stops when the sink says");
	ktap_result(&ktap, run_says_no_psb(), "flow says that there is no PSB");
	ktap_result(&ktap, names_are_complete(), "names of statuses, classes and packets are complete");
	return ktap_end(&ktap);
}
