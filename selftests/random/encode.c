// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of packets, from the manual's tables. User space.
 */
#include "encode.h"

#define TNT_SHORT	6
#define TNT_LONG	47

void encode_init(struct encode *encode, struct rng *rng,
		 const struct encode_rules *rules)
{
	encode->rng = rng;
	encode->rules = *rules;
	encode->size = 0;
	encode->packets = 0;
	encode->last_ip = 0;
	encode->full_next = false;
	encode->nr_outcomes = 0;
	encode->nr_tips = 0;
	encode->top = 0;
	encode->depth = 0;
	encode->deep = false;
	encode->psbs = 0;
	encode->at_psb = false;
	encode->short_at_psb = false;
	encode->deferred = false;
	encode->nr_marks = 0;
}

static void put(struct encode *encode, u64 value, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		encode->bytes[encode->size++] = (u8)(value >> 8 * i);
}

/* The packet from @start to the end so far. */
static void mark(struct encode *encode, u32 start, u32 flip)
{
	struct encode_mark *mark = &encode->marks[encode->nr_marks];

	if (encode->nr_marks == ENCODE_MARKS)
		return;
	mark->start = start;
	mark->end = encode->size;
	mark->flip = flip;
	encode->nr_marks++;
}

static void put_tnt(struct encode *encode)
{
	u32 count = encode->nr_outcomes;
	u64 bits = 1ULL << count | encode->outcomes;

	if (count <= TNT_SHORT &&
	    !(encode->rules.long_tnt && rng_chance(encode->rng, 50))) {
		put(encode, bits << 1, 1);
		mark(encode, encode->size - 1, encode->size - 1);
	} else {
		put(encode, 0xa302, 2);
		put(encode, bits, 6);
	}
	encode->packets++;
	encode->nr_outcomes = 0;
	encode->outcomes = 0;
}

/* "IP Compression": may @ip be sent in form @form? */
static bool form_fits(const struct encode *encode, u32 form, u64 ip)
{
	u64 changed = ip ^ encode->last_ip;

	switch (form) {
	case 1:
		return !encode->full_next && !(changed >> 16);
	case 2:
		return !encode->full_next && !(changed >> 32);
	case 3:
		return (u64)((s64)(ip << 16) >> 16) == ip;
	case 4:
		return !encode->full_next && !(changed >> 48);
	default:
		return true;
	}
}

static u32 pick_form(struct encode *encode, u64 ip)
{
	static const u8 forms[] = { 1, 2, 3, 4, 6 };
	u32 at = 0;

	if (!encode->rules.shortest && rng_chance(encode->rng, 150))
		at = rng_below(encode->rng, 5);
	while (!form_fits(encode, forms[at], ip))
		at++;
	return forms[at];
}

static void put_ip(struct encode *encode, u8 packet, u64 ip)
{
	static const u8 lengths[] = { 0, 2, 4, 6, 6, 0, 8 };
	u32 form = pick_form(encode, ip), start = encode->size;

	put(encode, packet | form << 5, 1);
	put(encode, ip, lengths[form]);
	if (packet == IP_PACKET_TIP)
		mark(encode, start, start + 1);
	encode->packets++;
	/* At the first PSB of a trace LastIP is 0 for all. */
	if (encode->at_psb && encode->psbs > 1 && form != 3 && form != 6)
		encode->short_at_psb = true;
	encode->at_psb = false;
	encode->last_ip = ip;
	encode->full_next = false;
}

void encode_flush(struct encode *encode)
{
	u32 i;

	if (encode->nr_outcomes)
		put_tnt(encode);
	for (i = 0; i < encode->nr_tips; i++)
		put_ip(encode, IP_PACKET_TIP, encode->tips[i]);
	encode->nr_tips = 0;
}

void encode_outcome(struct encode *encode, bool taken)
{
	if (!encode->nr_outcomes)
		encode->room = encode->rules.long_tnt &&
			       rng_chance(encode->rng, 700) ? TNT_LONG :
							      TNT_SHORT;
	encode->deferred |= encode->nr_tips > 0;
	encode->outcomes = encode->outcomes << 1 | taken;
	encode->nr_outcomes++;
	if (encode->nr_outcomes == encode->room ||
	    rng_chance(encode->rng, 10))
		encode_flush(encode);
}

void encode_tip(struct encode *encode, u64 ip)
{
	if (encode->rules.defer && encode->nr_tips < ENCODE_TIPS &&
	    rng_chance(encode->rng, 700)) {
		encode->tips[encode->nr_tips++] = ip;
		return;
	}
	encode_flush(encode);
	put_ip(encode, IP_PACKET_TIP, ip);
}

void encode_ip(struct encode *encode, u8 packet, u64 ip)
{
	encode_flush(encode);
	put_ip(encode, packet, ip);
}

void encode_pgd(struct encode *encode)
{
	encode_raw(encode, 1, IP_PACKET_PGD, 1, 0);
}

void encode_raw(struct encode *encode, u32 len, u32 head, u32 head_len,
		u64 payload)
{
	u32 rest = len - head_len;

	encode_flush(encode);
	put(encode, head, head_len);
	put(encode, payload, rest < 8 ? rest : 8);
	put(encode, 0, rest < 8 ? 0 : rest - 8);
	encode->packets++;
}

void encode_cyc(struct encode *encode, u64 count)
{
	u8 byte = (u8)((count & 31) << 3 | 3);

	encode_flush(encode);
	count >>= 5;
	put(encode, byte | (count ? 4 : 0), 1);
	while (count) {
		byte = (u8)((count & 127) << 1);
		count >>= 7;
		put(encode, byte | (count ? 1 : 0), 1);
	}
	encode->packets++;
}

void encode_psb(struct encode *encode)
{
	u32 i;

	encode_flush(encode);
	for (i = 0; i < 8; i++)
		put(encode, 0x8202, 2);
	encode->packets++;
	encode->last_ip = 0;
	encode->full_next = encode->rules.full_at_psb;
	encode->at_psb = true;
	encode->psbs++;
	encode->depth = 0;
}

void encode_call(struct encode *encode, u64 ip)
{
	encode->calls[encode->top++ % ENCODE_CALLS] = ip;
	if (encode->depth < ENCODE_CALLS)
		encode->depth++;
	else
		encode->deep = true;
}

bool encode_ret(struct encode *encode, u64 target)
{
	if (!encode->depth)
		return false;
	encode->depth--;
	return encode->calls[--encode->top % ENCODE_CALLS] == target;
}

void encode_forget_calls(struct encode *encode)
{
	encode->depth = 0;
}
