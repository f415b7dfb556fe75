// SPDX-License-Identifier: GPL-2.0-only
/*
 * Laying out random regions, filling them with instructions, and tying the
 * direct branches to targets. User space.
 */
#include "program.h"

#include "code.h"

/**
 * struct maker - a program in the making
 * @program: it
 * @rng: random numbers
 * @segment16: where the segment of 16-bit code begins, a multiple of 64 KiB
 */
struct maker {
	struct program *program;
	struct rng *rng;
	u32 segment16;
};

/* How often each kind ends a block, of the sum. */
static const u16 user_weights[INSN_MWAIT + 1] = {
	[INSN_COND] = 400, [INSN_JUMP] = 60, [INSN_CALL] = 110,
	[INSN_JUMP_IND] = 40, [INSN_CALL_IND] = 50, [INSN_RET] = 110,
	[INSN_SYSCALL] = 20, [INSN_FAR] = 15, [INSN_INT] = 8,
	[INSN_PTWRITE] = 15, [INSN_XBEGIN] = 8, [INSN_XEND] = 14,
	[INSN_XABORT] = 3,
};

static const u16 kernel_weights[INSN_MWAIT + 1] = {
	[INSN_COND] = 380, [INSN_JUMP] = 60, [INSN_CALL] = 110,
	[INSN_JUMP_IND] = 30, [INSN_CALL_IND] = 50, [INSN_RET] = 110,
	[INSN_SYSRET] = 25, [INSN_IRET] = 35, [INSN_FAR] = 8,
	[INSN_INT] = 4, [INSN_PTWRITE] = 8, [INSN_MOV_CR3] = 30,
	[INSN_WRMSR] = 10, [INSN_MWAIT] = 8, [INSN_VMENTRY] = 6,
};

static u32 pick_kind(struct rng *rng, bool kernel)
{
	const u16 *weights = kernel ? kernel_weights : user_weights;
	u32 sum = 0, at, kind;

	for (kind = 0; kind <= INSN_MWAIT; kind++)
		sum += weights[kind];
	at = rng_below(rng, sum);
	for (kind = 0; at >= weights[kind]; kind++)
		at -= weights[kind];
	return kind;
}

/* Does control never go on after it? */
static bool ends_flow(u32 kind)
{
	switch (kind) {
	case INSN_JUMP:
	case INSN_JUMP_IND:
	case INSN_RET:
	case INSN_SYSRET:
	case INSN_IRET:
	case INSN_FAR:
		return true;
	default:
		return false;
	}
}

static bool overlaps(const struct program *program, const struct region *one)
{
	u32 i;

	for (i = 0; i < program->nr_regions; i++) {
		const struct region *two = &program->regions[i];

		if (!one->kernel && !two->kernel && one->space != two->space)
			continue;
		if (one->base < two->base + two->size + 16 &&
		    two->base < one->base + one->size + 16)
			return true;
	}
	return false;
}

static u64 kernel_base(struct rng *rng)
{
	u64 page = (u64)rng_below(rng, 64) << 12;

	switch (rng_below(rng, 6)) {
	case 0:
		return 0xff11000000000000ULL + page + rng_below(rng, 4096);
	case 1:
		return 0xffff888000000000ULL + (page << 20);
	case 2:
		return 0xffffffffc0000000ULL + page + rng_below(rng, 4096);
	default:
		return 0xffffffff81000000ULL + page + rng_below(rng, 4096);
	}
}

static u64 user_base(struct rng *rng, u32 mode)
{
	u64 page = (u64)rng_below(rng, 64) << 12;

	if (mode == KIPT_EXEC_16)
		return 0x400 + rng_below(rng, 0xe000);
	if (mode == KIPT_EXEC_32)
		return (rng_below(rng, 2) ? 0x08048000U : 0xf7f00000U) + page +
		       rng_below(rng, 4096);
	switch (rng_below(rng, 6)) {
	case 0:
		return 0x7f0011000000ULL + (page << 12);
	case 1:
		return 0x7fff00000000ULL + (page << 14) + rng_below(rng, 4096);
	case 2:
		return 0x555555554000ULL + page + rng_below(rng, 4096);
	case 3:
		return 0x00ff800000000000ULL + page + rng_below(rng, 4096);
	default:
		return 0x400000ULL + page + rng_below(rng, 4096);
	}
}

static void place_region(struct maker *maker, struct region *region)
{
	struct rng *rng = maker->rng;

	do {
		region->size = 60 + rng_below(rng, PROGRAM_REGION_BYTES - 60);
		region->base = region->kernel ? kernel_base(rng) :
						user_base(rng, region->mode);
		if (region->mode == KIPT_EXEC_16)
			region->base += maker->segment16;
		/* Often right up to the end of a page. */
		if (rng_chance(rng, 500))
			region->base = (region->base | 4095) + 1 - region->size;
	} while (overlaps(maker->program, region));
}

static u8 pick_mode(struct maker *maker)
{
	u32 roll = rng_below(maker->rng, 100);

	if (roll < 80)
		return KIPT_EXEC_64;
	return roll < 92 ? KIPT_EXEC_32 : KIPT_EXEC_16;
}

static void add_insn(struct maker *maker, struct region *region, u32 offset,
		     u32 kind, const struct code *code)
{
	struct program *program = maker->program;
	struct insn *insn = &program->insns[program->nr_insns++];

	memcpy(region->bytes + offset, code->byte, code->len);
	insn->ip = region->base + offset;
	insn->target = -1;
	insn->next = program->nr_insns;
	insn->region = (u16)(region - program->regions);
	insn->len = code->len;
	insn->kind = (u8)kind;
	insn->operand = code->operand;
	insn->habit = (u8)rng_next(maker->rng);
	region->count++;
}

/* The rest of the region, too small for more: a RET or two. */
static void close_region(struct maker *maker, struct region *region, u32 offset)
{
	struct code ret = { .byte = { 0xc3 }, .len = 1 };

	add_insn(maker, region, offset, INSN_RET, &ret);
	maker->program->insns[maker->program->nr_insns - 1].next = -1;
	/* Sometimes the code ends with the region, sometimes before. */
	region->size = offset + 1 + rng_below(maker->rng, 2);
}

static bool has_room(const struct maker *maker, const struct region *region,
		     u32 offset, u32 len)
{
	return offset + len + 2 <= region->size &&
	       maker->program->nr_insns < PROGRAM_INSNS - 4;
}

static u32 next_kind(struct maker *maker, const struct region *region,
		     u32 *plain)
{
	if (*plain) {
		(*plain)--;
		return INSN_PLAIN;
	}
	*plain = rng_chance(maker->rng, 30) ? 20 + rng_below(maker->rng, 80) :
					      rng_below(maker->rng, 5);
	return pick_kind(maker->rng, region->kernel);
}

static void fill_region(struct maker *maker, struct region *region)
{
	u32 plain = rng_below(maker->rng, 4), offset = 0, kind;
	struct code code;

	region->first = maker->program->nr_insns;
	region->count = 0;
	for (;;) {
		kind = next_kind(maker, region, &plain);
		code_make(&code, maker->rng, kind, region->mode);
		if (!has_room(maker, region, offset, code.len))
			break;
		add_insn(maker, region, offset, kind, &code);
		offset += code.len;
		if (!ends_flow(kind) || !rng_chance(maker->rng, 200))
			continue;
		/* Bytes between functions that are never run. */
		code.len = (u8)(1 + rng_below(maker->rng, 9));
		if (has_room(maker, region, offset, code.len + 1U)) {
			memset(region->bytes + offset, 0xcc, code.len);
			offset += code.len;
			maker->program->insns[maker->program->nr_insns - 1]
				.next = -1;
		}
	}
	close_region(maker, region, offset);
}

static void add_region(struct maker *maker, bool kernel, u8 mode, u8 space)
{
	struct region *region;

	if (maker->program->nr_insns > PROGRAM_INSNS - 8)
		return;
	region = &maker->program->regions[maker->program->nr_regions];
	memset(region, 0, sizeof(*region));
	region->kernel = kernel;
	region->mode = mode;
	region->space = space;
	place_region(maker, region);
	fill_region(maker, region);
	maker->program->nr_regions++;
}

static void make_regions(struct maker *maker)
{
	struct program *program = maker->program;
	u32 count = 3 + rng_below(maker->rng, PROGRAM_REGIONS - 3), i;
	u8 space;

	add_region(maker, true, KIPT_EXEC_64, 0);
	for (space = 0; space < program->spaces; space++)
		add_region(maker, false, KIPT_EXEC_64, space);
	for (i = program->nr_regions; i < count; i++) {
		if (rng_chance(maker->rng, 350))
			add_region(maker, true, KIPT_EXEC_64, 0);
		else
			add_region(maker, false, pick_mode(maker),
				   (u8)rng_below(maker->rng, program->spaces));
	}
}

static bool reachable(const struct insn *insn, u64 target)
{
	s64 distance = (s64)(target - insn->ip - insn->len);

	switch (insn->operand) {
	case 1:
		return distance >= -128 && distance <= 127;
	case 2:
		return distance >= -32768 && distance <= 32767;
	default:
		return distance >= -0x80000000LL && distance <= 0x7fffffffLL;
	}
}

static bool same_world(const struct region *one, const struct region *two)
{
	return one->mode == two->mode && one->kernel == two->kernel &&
	       (one->kernel || one->space == two->space);
}

/* A target nearby, mostly; the next instruction is always in reach. */
static s32 pick_target(struct maker *maker, s32 from)
{
	const struct program *program = maker->program;
	const struct insn *insn = &program->insns[from];
	const struct region *own = &program->regions[insn->region];
	const struct region *region;
	u32 tries;
	s32 to;

	for (tries = 0; tries < 20; tries++) {
		region = insn->operand > 1 && rng_chance(maker->rng, 400) ?
			 &program->regions[rng_below(maker->rng,
						     program->nr_regions)] :
			 own;
		to = region->first +
		     (s32)rng_below(maker->rng, (u32)region->count);
		if (region == own && insn->operand == 1)
			to = from - 24 + (s32)rng_below(maker->rng, 48);
		if (to < region->first || to >= region->first + region->count ||
		    !same_world(own, region))
			continue;
		if (reachable(insn, program->insns[to].ip))
			return to;
	}
	return insn->next >= 0 ? insn->next : from;
}

static void write_displacement(struct program *program, struct insn *insn)
{
	struct region *region = &program->regions[insn->region];
	u64 distance = program->insns[insn->target].ip - insn->ip - insn->len;
	u8 *at = region->bytes + (insn->ip - region->base) + insn->len -
		 insn->operand;
	u32 i;

	for (i = 0; i < insn->operand; i++)
		at[i] = (u8)(distance >> 8 * i);
}

static void tie_branches(struct maker *maker)
{
	struct program *program = maker->program;
	s32 i;

	for (i = 0; i < program->nr_insns; i++) {
		struct insn *insn = &program->insns[i];

		if (!insn->operand || insn->kind == INSN_PTWRITE)
			continue;
		insn->target = pick_target(maker, i);
		/* The CALL of the next instruction, as position-independent
		 * code has it.
		 */
		if (insn->kind == INSN_CALL && insn->next >= 0 &&
		    rng_chance(maker->rng, 60))
			insn->target = insn->next;
		write_displacement(program, insn);
	}
}

/* What is drawn first: where code of 16 bits is, and the number of spaces. */
static void start(struct maker *maker)
{
	maker->segment16 = rng_below(maker->rng, 16) << 16;
	maker->program->nr_regions = 0;
	maker->program->nr_insns = 0;
	maker->program->spaces = (u8)(1 + rng_below(maker->rng, PROGRAM_SPACES));
}

u8 program_spaces(struct rng rng)
{
	static struct program program;
	struct maker maker = { .program = &program, .rng = &rng };

	start(&maker);
	return program.spaces;
}

void program_make(struct program *program, struct rng *rng)
{
	struct maker maker = { .program = program, .rng = rng };

	start(&maker);
	make_regions(&maker);
	tie_branches(&maker);
}

static bool is_in(const struct region *region, u64 space, u64 ip)
{
	return ip - region->base < region->size &&
	       (region->kernel || region->space == space);
}

u32 program_read(const struct program *program, u64 space, u64 ip, u8 *buf,
		 u32 len)
{
	u32 i, offset, got;

	for (i = 0; i < program->nr_regions; i++) {
		const struct region *region = &program->regions[i];

		if (!is_in(region, space, ip))
			continue;
		offset = (u32)(ip - region->base);
		got = region->size - offset < len ? region->size - offset : len;
		memcpy(buf, region->bytes + offset, got);
		return got;
	}
	return 0;
}

static const char *const kind_names[] = {
	"", "cond", "jump", "call", "jump-ind", "call-ind", "ret", "syscall",
	"sysret", "iret", "far", "vmentry", "int", "mov-cr3", "ptwrite",
	"xbegin", "xend", "xabort", "wrmsr", "mwait",
};

static void show_insn(const struct program *program, FILE *file,
		      const struct insn *insn)
{
	const struct region *region = &program->regions[insn->region];
	u32 i;

	fprintf(file, "  %016llx ", (unsigned long long)insn->ip);
	for (i = 0; i < insn->len; i++)
		fprintf(file, " %02x",
			region->bytes[insn->ip - region->base + i]);
	fprintf(file, "  %s", kind_names[insn->kind]);
	if (insn->target >= 0)
		fprintf(file, " %llx", (unsigned long long)
		       program->insns[insn->target].ip);
	fprintf(file, "\n");
}

void program_show(const struct program *program, FILE *file)
{
	static const char *const modes[] = { "", "64", "32", "16" };
	u32 i;
	s32 n;

	for (i = 0; i < program->nr_regions; i++) {
		const struct region *region = &program->regions[i];

		fprintf(file, "region %llx, %u bytes, %s, %s-bit, space %u\n",
		       (unsigned long long)region->base, region->size,
		       region->kernel ? "kernel" : "user", modes[region->mode],
		       region->space);
		for (n = 0; n < region->count; n++)
			show_insn(program, file,
				  &program->insns[region->first + n]);
	}
}
