// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a caller of the decoder core may rely on beside the records: what
 * init refuses, that a sink can stop a run anywhere, that address spaces are
 * kept apart and kernel addresses are not, that forgotten code is read again,
 * and what a run returns. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/flow.h"
#include "../../kmod/decode/insn.h"
#include "ktap.h"

#define USER_IP		0x401000ULL
#define KERNEL_IP	0xffffffff81000000ULL

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
 * @version: of the code in space 1
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
	u32 version;
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

static u32 version_of(void *ctx, u64 space, u64 ip, u32 len)
{
	const struct world *world = ctx;

	(void)len;
	return space == 1 && ip == USER_IP ? world->version : 0;
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
				  .version = version_of, .based = is_based,
				  .ctx = world };
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
	static u64 arena[32768] __attribute__((aligned(64)));
	size_t size = kipt_flow_size(&config);

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
	config.memory = 64 << 10;
	config.output = KIPT_FLOW_COUNTS | KIPT_FLOW_PATHS;
	if (kipt_flow_init(arena, sizeof(arena), &config, &code, &sink))
		return false;
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

/* Counts that were made by the old code are given away before it goes. */
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
	if (!count(&world, KIPT_RECORD_EDGE))
		return false;
	world.taken = 0;
	return kipt_flow_counts(flow) == KIPT_OK &&
	       !count(&world, KIPT_RECORD_EDGE);
}

/* What CODE records say, in order; ~0 if there are not @n. */
static u64 versions_said(const struct world *world, u32 n)
{
	u64 said = 0;
	u32 i;

	if (count(world, KIPT_RECORD_CODE) != n)
		return ~0ULL;
	for (i = 0; i < world->taken; i++) {
		if (world->record[i].type == KIPT_RECORD_CODE)
			said = said << 8 | world->record[i].aux;
	}
	return said;
}

/* Space 1 runs first, then space 2 and the kernel, which have no versions. */
static bool versions_are_said(u32 output)
{
	struct kipt_flow_config config = { .output = output };
	struct kipt_flow *flow;
	struct world world;
	u32 i;

	make_world(&world);
	flow = make_flow(&world, &config);
	run(flow, &world);
	if (versions_said(&world, 0))
		return false;
	world.version = 5;
	kipt_flow_forget(flow, 1, USER_IP, USER_IP + 2);
	for (i = 0; i < 3; i++) {
		run(flow, &world);
		if (versions_said(&world, 2) != 0x0500)
			return false;
	}
	world.version = 6;
	run(flow, &world);
	if (versions_said(&world, 2) != 0x0500)
		return false;
	kipt_flow_forget(flow, 1, 0, ~0ULL);
	run(flow, &world);
	return versions_said(&world, 2) == 0x0600;
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

#define PSB_PLUS	33
#define OUTCOMES	64

/* The same outcomes, others, and some more behind what is remembered. */
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
	for (i = 0; i <= KIPT_INSN_CLASS_MAX; i++) {
		if (!strcmp(kipt_insn_class_name(i), "unknown"))
			return false;
	}
	return !strcmp(kipt_status_name(KIPT_STATUS_MAX + 1),
		       "unknown status") &&
	       !strcmp(kipt_insn_class_name(KIPT_INSN_CLASS_MAX + 1),
		       "unknown");
}

int main(void)
{
	struct ktap ktap = { 0 };

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
	ktap_result(&ktap, forgets_ranges_and_spaces(KIPT_FLOW_PATHS),
		    "flow forgets by range and by address space, packed");
	ktap_result(&ktap, forgets_ranges_and_spaces(KIPT_FLOW_COUNTS),
		    "flow forgets by range and by address space, counted");
	ktap_result(&ktap, runs_are_apart(),
		    "flow takes nothing from the trace of the run before");
	ktap_result(&ktap, new_code_is_used(),
		    "flow follows the code that came in place of another");
	ktap_result(&ktap, forgetting_gives_counts(),
		    "flow gives its counts before it forgets");
	ktap_result(&ktap, versions_are_said(KIPT_FLOW_BRANCHES),
		    "flow says which version of the code it used");
	ktap_result(&ktap, versions_are_said(KIPT_FLOW_PATHS),
		    "flow says which version of the code it used, packed");
	ktap_result(&ktap, versions_are_said(KIPT_FLOW_BRANCHES |
					     KIPT_FLOW_NO_MEMO),
		    "flow says which version of the code it used, no memo");
	ktap_result(&ktap, sink_stops_a_run(), "flow stops when the sink says");
	ktap_result(&ktap, run_says_no_psb(), "flow says that there is no PSB");
	ktap_result(&ktap, names_are_complete(), "names of statuses and of classes are complete");
	return ktap_end(&ktap);
}
