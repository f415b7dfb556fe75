// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a caller of the decoder core may rely on beside the records: what
 * init refuses, that a sink can stop a run anywhere, that address spaces are
 * kept apart and kernel addresses are not, that forgotten code is read again,
 * and what a run returns. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/flow.h"
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
 * @taken: records so far
 * @limit: the sink stops when it has so many
 * @record: the records
 */
struct world {
	u8 user[3][2];
	u32 kernel_spaces;
	u32 reads;
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
		memcpy(buf, kernel, sizeof(kernel));
		return sizeof(kernel);
	}
	if (ip != USER_IP || space > 2)
		return 0;
	memcpy(buf, world->user[space], 2);
	return 2;
}

static u64 name_space(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	return nr ? 0 : cr3 >> 12;
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
				  .ctx = world };
	struct kipt_sink sink = { .emit = take, .ctx = world };
	static u64 arena[16384] __attribute__((aligned(64)));

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
	static u64 arena[16384] __attribute__((aligned(64)));
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

static bool names_are_complete(void)
{
	u32 i;

	for (i = 0; i <= KIPT_STATUS_MAX; i++) {
		if (!kipt_status_name(i) ||
		    !strcmp(kipt_status_name(i), "unknown status"))
			return false;
	}
	return !strcmp(kipt_status_name(KIPT_STATUS_MAX + 1),
		       "unknown status");
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
	ktap_result(&ktap, forgotten_code_is_read_again(),
		    "flow reads forgotten code again");
	ktap_result(&ktap, sink_stops_a_run(), "flow stops when the sink says");
	ktap_result(&ktap, run_says_no_psb(), "flow says that there is no PSB");
	ktap_result(&ktap, names_are_complete(), "status names are complete");
	return ktap_end(&ktap);
}
