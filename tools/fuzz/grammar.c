// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets, programs and walks, see grammar.h. Packet bytes are written from
 * the manual's layouts. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/code/insn.h"
#include "../../kmod/decode/packet/packet.h"
#include "grammar.h"

#define SLOT		8
#define SLOTS		(PROGRAM_BYTES / SLOT)
#define STACK_MAX	64

/* First byte of the packets with an IP. */
#define TIP		0x0d
#define TIP_PGE		0x11
#define TIP_PGD		0x01
#define FUP		0x1d

#define SHORT_TNT_MAX	6
#define LONG_TNT_MAX	47

u32 random_below(struct random *random, u32 bound)
{
	u64 mixed;

	random->state += 0x9e3779b97f4a7c15ULL;
	mixed = random->state;
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	return (u32)((mixed >> 32) * bound >> 32);
}

u32 grammar_offset(u64 ip, u32 *left)
{
	u32 size = ip >> 63 ? PROGRAM_BYTES / 2 : PROGRAM_BYTES;
	u64 at = ip - (ip >> 63 ? PROGRAM_KERNEL : PROGRAM_USER);

	*left = size - (u32)(at % size);
	return at < (u64)PROGRAM_COPIES * size ? PROGRAM_BYTES - *left :
						 PROGRAM_BYTES;
}

static u64 random_word(struct random *random)
{
	return (u64)random_below(random, ~0U) << 32 | random_below(random, ~0U);
}

/* Packets of fixed form, after their length. */
static const char *const fixed[] = {
	"\1\x00", "\2\x99\x01", "\2\x99\x02", "\2\x99\x00", "\2\x99\x05",
	"\2\x99\x20", "\2\x99\x21", "\2\x99\x22", "\2\x02\x23", "\2\x02\x83",
	"\2\x02\xf3", "\2\x02\x62", "\2\x02\xe2", "\2\x02\x33", "\2\x02\xb3",
	"\20\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82",
	"\7\x02\xc8\xff\xff\xff\xff\xff",
};

/* Packets with a payload of any bits: head and payload bytes. */
struct filled {
	u8 head[4];
	u8 head_len;
	u8 payload;
};

static const struct filled filled[] = {
	{ { 0x19 }, 1, 7 }, { { 0x59 }, 1, 1 }, { { 0x02, 0x03 }, 2, 2 },
	{ { 0x02, 0x73 }, 2, 5 }, { { 0x02, 0x43 }, 2, 6 },
	{ { 0x02, 0xc8 }, 2, 5 }, { { 0x02, 0xa3 }, 2, 6 },
	{ { 0x02, 0x12 }, 2, 4 }, { { 0x02, 0x32 }, 2, 8 },
	{ { 0x02, 0x92 }, 2, 4 }, { { 0x02, 0xb2 }, 2, 8 },
	{ { 0x02, 0xc2 }, 2, 8 }, { { 0x02, 0x22 }, 2, 2 },
	{ { 0x02, 0xa2 }, 2, 5 }, { { 0x02, 0x13 }, 2, 2 },
	{ { 0x02, 0x53 }, 2, 9 }, { { 0x02, 0xc3, 0x88 }, 3, 8 },
	{ { 0xd9, 0x80 }, 2, 1 }, { { 0xd9, 0x40 }, 2, 3 },
	{ { 0x02, 0x63 }, 2, 1 }, { { 0x14 }, 1, 4 }, { { 0x0c }, 1, 8 },
};

#define COUNT_OF(array)	((u32)(sizeof(array) / sizeof((array)[0])))

static u32 put_filled(u8 *to, struct random *random)
{
	const struct filled *form =
		&filled[random_below(random, COUNT_OF(filled))];
	u64 value = random_word(random);
	u32 i;

	/* Half of the payloads are small: equal ones come again. */
	if (random_below(random, 2))
		value &= 0x0300000f;
	memcpy(to, form->head, form->head_len);
	for (i = 0; i < form->payload; i++)
		to[form->head_len + i] = i < 8 ? (u8)(value >> (8 * i)) : 0;
	return form->head_len + form->payload;
}

static u32 put_cyc(u8 *to, u64 cycles)
{
	u32 len = 1;

	to[0] = (u8)(cycles << 3 | 3);
	cycles >>= 5;
	if (cycles)
		to[0] |= 4;
	while (cycles) {
		to[len] = (u8)(cycles << 1);
		cycles >>= 7;
		if (cycles)
			to[len] |= 1;
		len++;
	}
	return len;
}

static u32 put_tnt(u8 *to, u64 bits, u32 count)
{
	u64 value = bits | 1ULL << count;
	u32 i;

	if (count <= SHORT_TNT_MAX) {
		to[0] = (u8)(value << 1);
		return 1;
	}
	to[0] = 0x02;
	to[1] = 0xa3;
	for (i = 0; i < 6; i++)
		to[2 + i] = (u8)(value >> (8 * i));
	return 8;
}

/* The forms that give @ip after @last; which one is left to chance. */
static u32 ip_form(u64 ip, u64 last, struct random *random)
{
	u32 form = random_below(random, 8);

	if (form < 5 && ip >> 16 == last >> 16)
		return 1;
	if (form < 6 && ip >> 32 == last >> 32)
		return 2;
	if (form == 7)
		return 6;
	if (form < 3 && ip >> 48 == last >> 48)
		return 4;
	return (u64)((s64)(ip << 16) >> 16) == ip ? 3 : 6;
}

static u32 put_ip(u8 *to, u8 opcode, u64 ip, u32 form)
{
	static const u8 lens[8] = { 0, 2, 4, 6, 6, 0, 8, 0 };
	u32 i;

	to[0] = (u8)(opcode | form << 5);
	for (i = 0; i < lens[form]; i++)
		to[1 + i] = (u8)(ip >> (8 * i));
	return 1U + lens[form];
}

static u64 random_ip(struct random *random)
{
	u64 slot = random_below(random, SLOTS) * SLOT;

	if (!random_below(random, 4))
		slot += random_below(random, PROGRAM_COPIES) * PROGRAM_BYTES;
	if (!random_below(random, 16))
		return random_word(random);
	if (!random_below(random, 4))
		return PROGRAM_KERNEL + slot / 2;
	return PROGRAM_USER + slot;
}

/* Any packet; at most 16 bytes. */
static u32 put_packet(u8 *to, struct random *random)
{
	static const u8 with_ip[] = { TIP, TIP, TIP, TIP_PGE, TIP_PGD, FUP };
	const char *form;
	u32 count;

	switch (random_below(random, 8)) {
	case 0:
		form = fixed[random_below(random, COUNT_OF(fixed))];
		memcpy(to, form + 1, (u8)form[0]);
		return (u8)form[0];
	case 1:
		return put_filled(to, random);
	case 2:
		return put_cyc(to, random_word(random) >>
				   (8 + random_below(random, 56)));
	case 3:
	case 4:
		return put_ip(to, with_ip[random_below(random, 6)],
			      random_ip(random),
			      random_below(random, 9) % 7);
	default:
		count = 1 + random_below(random, random_below(random, 8) ?
					 SHORT_TNT_MAX : LONG_TNT_MAX);
		return put_tnt(to, random_word(random) &
				   ((1ULL << count) - 1), count);
	}
}

static void put_rel32(u8 *at, u32 from, u32 to)
{
	u32 distance = to - from;

	memcpy(at, &distance, sizeof(distance));
}

/* One branch, or something else of interest; returns its bytes, up to 6. */
static u32 put_branch(u8 *code, u32 at, struct random *random)
{
	static const char *const others[] = {
		"\2\xff\xe0", "\2\xff\xd0", "\1\xc3", "\1\xc3", "\1\xc3",
		"\2\x0f\x05", "\2\x48\xcf", "\2\xcd\x80", "\3\x0f\x22\xd8",
		"\4\xf3\x0f\xae\xe0", "\3\x0f\x01\xc2", "\3\x0f\x01\xc1",
		"\3\x48\x0f\x07", "\1\xcc", "\1\xf4", "\3\x0f\x01\xd5",
	};
	u32 to = random_below(random, SLOTS) * SLOT;
	u32 near = at / SLOT < SLOTS / 2 ? to / 2 : PROGRAM_BYTES / 2 + to / 2;
	const char *bytes;
	u8 *b = code + at;

	near -= near % SLOT;
	if (!random_below(random, 8))
		to += PROGRAM_BYTES;
	switch (random_below(random, 8)) {
	case 0:
	case 1:
		b[0] = (u8)(0x70 + random_below(random, 16));
		b[1] = (u8)(near - (at + 2));
		return 2;
	case 2:
		b[0] = 0x0f;
		b[1] = (u8)(0x80 + random_below(random, 16));
		put_rel32(b + 2, at + 6, to);
		return 6;
	case 3:
		b[0] = 0xeb;
		b[1] = (u8)(near - (at + 2));
		return 2;
	case 4:
		b[0] = 0xe8;
		put_rel32(b + 1, at + 5,
			  random_below(random, 8) ? to : at + 5);
		return 5;
	default:
		bytes = others[random_below(random, COUNT_OF(others))];
		memcpy(b, bytes + 1, (u8)bytes[0]);
		return (u8)bytes[0];
	}
}

void grammar_program(u8 *code, struct random *random)
{
	u32 slot, start;

	memset(code, 0x90, PROGRAM_BYTES);
	for (slot = 0; slot < SLOTS; slot++) {
		start = random_below(random, 3);
		if (random_below(random, 8))
			put_branch(code, slot * SLOT + start, random);
	}
	memcpy(code + PROGRAM_BYTES - 2, "\xeb\x80", 2);
}

/**
 * struct walk - a program running
 * @code: it
 * @to: where the next packet goes to
 * @end: packets end here
 * @random: decides
 * @ip: next instruction
 * @last: the IP sent last
 * @bits: outcomes not sent yet, @count of them
 * @count: less than LONG_TNT_MAX
 * @limit: outcomes per packet
 * @habit: which outcomes are likely, 0..7
 * @stack: addresses that RETs may be compressed to, @depth of them
 * @depth: up to STACK_MAX
 * @compress: RETs are
 * @silent: outcomes are not sent (DisTNT)
 * @copies: how many copies of the program it uses
 */
struct walk {
	const u8 *code;
	u8 *to;
	u8 *end;
	struct random *random;
	u64 ip;
	u64 last;
	u64 bits;
	u32 count;
	u32 limit;
	u32 habit;
	u64 stack[STACK_MAX];
	u32 depth;
	bool compress;
	bool silent;
	u32 copies;
};

static void flush(struct walk *walk)
{
	if (walk->count)
		walk->to += put_tnt(walk->to, walk->bits, walk->count);
	walk->bits = 0;
	walk->count = 0;
}

static void send_bit(struct walk *walk, bool bit)
{
	if (walk->silent)
		return;
	walk->bits = walk->bits << 1 | bit;
	if (++walk->count == walk->limit)
		flush(walk);
}

static void send_ip(struct walk *walk, u8 opcode, u64 ip)
{
	flush(walk);
	walk->to += put_ip(walk->to, opcode, ip,
			   ip_form(ip, walk->last, walk->random));
	walk->last = ip;
}

/* A place indirect branches go to: few, so that they come again. */
static u64 some_place(struct walk *walk)
{
	u64 slot = random_below(walk->random, 4) * 5 * SLOT;

	slot += random_below(walk->random, walk->copies) * PROGRAM_BYTES;
	return random_below(walk->random, 6) ? PROGRAM_USER + slot :
					       PROGRAM_KERNEL + slot / 2;
}

static void jump_to(struct walk *walk, u64 ip)
{
	send_ip(walk, TIP, ip);
	walk->ip = ip;
}

static void send_psb(struct walk *walk)
{
	flush(walk);
	memcpy(walk->to, fixed[15] + 1, 16);
	walk->to += 16;
	if (random_below(walk->random, 2))
		walk->to += put_filled(walk->to, walk->random);
	memcpy(walk->to, "\x99\x01", 2);
	walk->to += 2;
	walk->last = 0;
	send_ip(walk, FUP, walk->ip);
	memcpy(walk->to, "\x02\x23", 2);
	walk->to += 2;
	walk->last = walk->ip;
}

static void send_overflow(struct walk *walk)
{
	flush(walk);
	memcpy(walk->to, "\x02\xf3", 2);
	walk->to += 2;
	walk->ip = some_place(walk);
	walk->depth = 0;
	send_ip(walk, random_below(walk->random, 3) ? FUP : TIP_PGE, walk->ip);
}

/* What comes between instructions now and then. */
static void interrupt(struct walk *walk)
{
	switch (random_below(walk->random, 8)) {
	case 0:
		send_psb(walk);
		break;
	case 1:
		send_overflow(walk);
		break;
	case 2:
		send_ip(walk, FUP, walk->ip);
		send_ip(walk, TIP_PGD, some_place(walk));
		walk->ip = some_place(walk);
		send_ip(walk, TIP_PGE, walk->ip);
		break;
	case 3:
	case 4:
		send_ip(walk, FUP, walk->ip);
		jump_to(walk, some_place(walk));
		break;
	case 5:
		walk->to += put_packet(walk->to, walk->random);
		break;
	default:
		walk->to += put_filled(walk->to, walk->random);
		break;
	}
}

static const u8 *code_at(const struct walk *walk, u64 ip, u32 *len)
{
	u32 offset = grammar_offset(ip, len);

	return offset < PROGRAM_BYTES ? walk->code + offset : NULL;
}

static bool outcome(struct walk *walk)
{
	switch (walk->habit) {
	case 0:
		return true;
	case 1:
		return random_below(walk->random, 16);
	case 2:
		return !random_below(walk->random, 16);
	default:
		return random_below(walk->random, 2);
	}
}

static void walk_ret(struct walk *walk)
{
	u64 to = walk->depth ? walk->stack[--walk->depth] : some_place(walk);

	if (walk->compress && walk->depth && random_below(walk->random, 8)) {
		send_bit(walk, true);
		walk->ip = to;
	} else {
		walk->depth = walk->compress ? 0 : walk->depth;
		jump_to(walk, to);
	}
}

static void walk_call(struct walk *walk, u64 next, u64 target)
{
	if (walk->depth < STACK_MAX && target != next)
		walk->stack[walk->depth++] = next;
	walk->ip = target;
}

static void walk_insn(struct walk *walk, const struct kipt_insn *insn)
{
	u64 next = walk->ip + insn->len;
	bool taken;

	walk->ip = next;
	switch (insn->class) {
	case KIPT_INSN_COND:
		taken = outcome(walk);
		send_bit(walk, taken);
		walk->ip = taken ? insn->target : next;
		break;
	case KIPT_INSN_JUMP:
		walk->ip = insn->target;
		break;
	case KIPT_INSN_CALL:
		walk_call(walk, next, insn->target);
		break;
	case KIPT_INSN_CALL_IND:
		walk_call(walk, next, 0);
		jump_to(walk, some_place(walk));
		break;
	case KIPT_INSN_RET:
		walk_ret(walk);
		break;
	case KIPT_INSN_INT:
		send_ip(walk, FUP, next - insn->len);
		jump_to(walk, some_place(walk));
		break;
	case KIPT_INSN_MOV_CR3:
		flush(walk);
		memcpy(walk->to, "\x02\x43\x20\x00\x00\x00\x00\x00", 8);
		walk->to[2] = (u8)random_below(walk->random, 4) << 5;
		walk->to += 8;
		break;
	case KIPT_INSN_PTWRITE:
		flush(walk);
		memcpy(walk->to, "\x02\x12\x01\x00\x00\x00", 6);
		walk->to += 6;
		break;
	case KIPT_INSN_OTHER:
	case KIPT_INSN_VMCALL:
	case KIPT_INSN_INTO:
		break;
	default:
		jump_to(walk, some_place(walk));
		break;
	}
}

/* Room for the most that one instruction or interruption can send. */
#define STEP_BYTES	128

u32 grammar_walk(const u8 *code, u8 *trace, u32 max, struct random *random)
{
	struct walk walk = {
		.code = code, .to = trace, .random = random,
		.ip = PROGRAM_USER, .last = PROGRAM_USER,
	};
	u32 rare = 8 << random_below(random, 6), steps, len;
	struct kipt_insn insn;
	const u8 *bytes;

	if (max < STEP_BYTES)
		return 0;
	walk.end = trace + max - STEP_BYTES;
	walk.silent = !random_below(random, 8);
	walk.compress = !walk.silent && random_below(random, 2);
	walk.copies = random_below(random, 2) ? 1 :
		      1 + random_below(random, PROGRAM_COPIES);
	walk.limit = random_below(random, 4) ? SHORT_TNT_MAX :
		     1 + random_below(random, LONG_TNT_MAX - 1);
	walk.habit = random_below(random, 8);
	steps = random_below(random, 1000);
	while (steps-- && walk.to < walk.end) {
		if (!random_below(random, rare))
			interrupt(&walk);
		bytes = code_at(&walk, walk.ip, &len);
		if (!bytes || kipt_insn_decode(&insn, KIPT_EXEC_64, walk.ip,
					       bytes, len) != KIPT_OK)
			send_overflow(&walk);
		else
			walk_insn(&walk, &insn);
	}
	flush(&walk);
	return (u32)(walk.to - trace);
}

/* Where the packet after about @at bytes starts. */
static u32 boundary(const u8 *trace, u32 size, u32 at)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, trace, size);
	while (cursor.pos < trace + at) {
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK)
			cursor.pos++;
	}
	return (u32)(cursor.pos - trace);
}

/* Puts @len bytes in at @at, as far as there is room after them. */
static u32 insert(u8 *trace, u32 size, u32 max, u32 at, const u8 *bytes,
		  u32 len)
{
	if (len > max - size)
		return size;
	memmove(trace + at + len, trace + at, size - at);
	memcpy(trace + at, bytes, len);
	return size + len;
}

static u32 repeat(u8 *trace, u32 size, u32 max, u32 from, u32 to,
		  struct random *random)
{
	u32 times = 1 + random_below(random, 8), len = to - from;
	u8 bytes[256];

	if (!len || len > sizeof(bytes))
		return size;
	memcpy(bytes, trace + from, len);
	while (times--)
		size = insert(trace, size, max, to, bytes, len);
	return size;
}

/* What is no packet, in any packet that ends early too, and a PSB+ after it. */
static u32 insert_damage(u8 *trace, u32 size, u32 max, u32 at)
{
	static const u8 damage[] = {
		5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x99, 0x01, 0x5d, 0x00, 0x10, 0x40, 0x00, 0x02, 0x23,
	};

	return insert(trace, size, max, at, damage, sizeof(damage));
}

/* What makes no difference, or only to time, between packets anywhere. */
static u32 strew(u8 *trace, u32 size, u32 max, struct random *random)
{
	static const u8 nothings[][2] = {
		{ 0x00 }, { 0x0b }, { 0x07, 0x10 }, { 0x59, 0x20 },
	};
	u32 most = random_below(random, 2) ? 4 : 32, what, at;
	u32 times = 1 + random_below(random, most);

	while (times--) {
		at = boundary(trace, size, random_below(random, size + 1));
		what = random_below(random, 4);
		size = insert(trace, size, max, at, nothings[what],
			      1 + (what > 1));
	}
	return size;
}

u32 grammar_mutate(u8 *trace, u32 size, u32 max, struct random *random)
{
	u32 from = boundary(trace, size, random_below(random, size + 1));
	u32 to = boundary(trace, size, from + random_below(random,
			  (size - from < 48 ? size - from : 48) + 1));
	u32 times = 1 + random_below(random, 4);
	u8 packet[16];

	switch (random_below(random, 32)) {
	case 0:
	case 8:
	case 9:
		memmove(trace + from, trace + to, size - to);
		return size - (to - from);
	case 1:
	case 2:
	case 10:
	case 11:
	case 12:
	case 13:
		return repeat(trace, size, max, from, to, random);
	case 14:
	case 15:
	case 16:
		return strew(trace, size, max, random);
	case 3:
		return insert_damage(trace, size, max, from);
	case 4:
	case 5:
	case 6:
		memmove(trace + from, trace + to, size - to);
		size -= to - from;
		break;
	default:
		break;
	}
	while (times--)
		size = insert(trace, size, max, from, packet,
			      put_packet(packet, random));
	return size;
}
