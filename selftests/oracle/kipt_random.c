// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs with their traces and what the decoder makes of them, for the
 * oracle: "kipt_random SEED COUNT" prints, for each program, its code, its
 * filter ranges, the trace, and the records as text, then a line with a dot.
 * User space.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/flow.h"
#include "../decode/record_text.h"
#include "../random/walk.h"

#define MEMORY	(256U << 10)

static struct program program;
static struct walk walk;

static u32 read_code(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	(void)ctx;
	return program_read(&program, space ? space - 1 : 0, ip, buf, len);
}

static u64 space_of(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	(void)nr;
	return cr3 / walk_cr3(0);
}

static bool print_records(void *ctx, const struct kipt_record *records, u32 n)
{
	char text[256];
	u32 i;

	(void)ctx;
	for (i = 0; i < n; i++) {
		record_text(&records[i], text, sizeof(text));
		puts(text);
	}
	return true;
}

static void print_bytes(const u8 *bytes, u32 size)
{
	u32 i;

	for (i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

static void print_program(void)
{
	static const int widths[] = { 0, 64, 32, 16 };
	u32 i;

	printf("cr3 %llx\n", (unsigned long long)walk_cr3(0));
	for (i = 0; i < program.nr_regions; i++) {
		const struct region *region = &program.regions[i];

		printf("region %llx %d %d ", (unsigned long long)region->base,
		       widths[region->mode],
		       region->kernel ? -1 : region->space);
		print_bytes(region->bytes, region->size);
	}
	for (i = 0; !walk.rules.stop && i < walk.rules.nr_ranges; i++)
		printf("filter %llx %llx\n",
		       (unsigned long long)walk.rules.ranges[i].begin,
		       (unsigned long long)walk.rules.ranges[i].last);
	printf("trace ");
	print_bytes(walk.encode.bytes, walk.encode.size);
}

static void decode(void)
{
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME,
		.memory = MEMORY,
	};
	const struct kipt_code code = {
		.read = read_code,
		.space = space_of,
	};
	const struct kipt_sink sink = { .emit = print_records };
	struct kipt_flow *flow;
	size_t size;
	void *arena;
	u32 i;

	config.filter_count = walk.rules.stop ? 0 : walk.rules.nr_ranges;
	for (i = 0; i < config.filter_count; i++) {
		config.filter[i].begin = walk.rules.ranges[i].begin;
		config.filter[i].last = walk.rules.ranges[i].last;
	}
	size = (kipt_flow_size(&config) + 63) & ~(size_t)63;
	arena = aligned_alloc(64, size);
	flow = arena ? kipt_flow_init(arena, size, &config, &code, &sink) :
		       NULL;
	if (!flow) {
		fprintf(stderr, "kipt_random: no flow\n");
		exit(2);
	}
	kipt_flow_run(flow, walk.encode.bytes, walk.encode.size, 0,
		      walk.encode.size);
	free(arena);
}

int main(int argc, char **argv)
{
	u64 seed, end;

	if (argc != 3) {
		fprintf(stderr, "usage: kipt_random SEED COUNT\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	end = seed + strtoull(argv[2], NULL, 0);
	for (; seed < end; seed++) {
		struct rng rng = { .state = seed * 0x2545f4914f6cdd1dULL };
		struct walk_rules rules;

		program_make(&program, &rng);
		walk_rules_make(&rules, &rng, &program, WALK_ALL);
		walk_run(&walk, &program, &rng, &rules);
		print_program();
		decode();
		puts(".");
	}
	return 0;
}
