// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets beside the branches: PSB+, time, overflow, PTWRITE, power,
 * transactions, PEBS blocks, triggers. User space.
 */
#include "walk.h"

#define MODE_TSX_INTX	0x21
#define MODE_TSX_NONE	0x20
#define MODE_TSX_ABORT	0x22
#define VMCS		0x1abcde000ULL

static u64 crystal(const struct walk *walk)
{
	return walk->tsc / WALK_TSC_NUM;
}

static void send_tsc(struct walk *walk)
{
	u64 fast = walk->tsc - crystal(walk) * WALK_TSC_NUM;

	encode_raw(&walk->encode, 8, 0x19, 1, walk->tsc & ~0ULL >> 8);
	if (!walk->rules.mtc)
		return;
	encode_raw(&walk->encode, 7, 0x7302, 2,
		   (crystal(walk) & 0xffff) | fast << 24);
	walk->mtc_sent = crystal(walk) >> walk->rules.mtc_freq;
}

static void send_cbr(struct walk *walk)
{
	encode_raw(&walk->encode, 4, 0x0302, 2, WALK_RATIO);
}

static void send_mtc(struct walk *walk)
{
	u64 window = crystal(walk) >> walk->rules.mtc_freq;

	if (window == walk->mtc_sent)
		return;
	encode_raw(&walk->encode, 2, 0x59, 1, window & 0xff);
	walk->mtc_sent = window;
}

static void send_cyc(struct walk *walk)
{
	/* Two in a row may look like erratum SKD007. */
	if (walk->encode.packets == walk->cyc_packets ||
	    !walk_may(walk, WALK_CYC))
		return;
	encode_cyc(&walk->encode, walk->tsc - walk->cyc_tsc);
	walk->cyc_tsc = walk->tsc;
	walk->cyc_packets = walk->encode.packets;
}

static bool may_cbr(struct walk *walk, enum inside inside)
{
	return inside != INSIDE_MODE || walk_may(walk, WALK_CBR_INSIDE);
}

static bool may_tsc(struct walk *walk, enum inside inside)
{
	return walk->rules.tsc && (inside == INSIDE_NOTHING ||
				   walk_may(walk, WALK_TSC_INSIDE));
}

void walk_time(struct walk *walk, enum inside inside)
{
	if (!walk_trigger(walk))
		return;
	switch (rng_below(walk->rng, 12)) {
	case 0:
		if (may_tsc(walk, inside))
			send_tsc(walk);
		break;
	case 1:
		if (walk->rules.mtc)
			send_mtc(walk);
		break;
	case 2:
		send_cyc(walk);
		break;
	case 3:
		encode_raw(&walk->encode, 1, 0, 1, 0);
		break;
	case 4:
		if (may_cbr(walk, inside))
			send_cbr(walk);
		break;
	default:
		break;
	}
}

static bool has_vmcs(const struct walk *walk)
{
	return walk->context_en && walk->rules.vmcs;
}

static void psb_record(struct walk *walk, u32 offset, bool on)
{
	struct kipt_record sync = {
		.type = KIPT_RECORD_SYNC,
		.kind = KIPT_SYNC_REACHED,
		.flags = on ? 0 : KIPT_RF_NO_IP,
		.ip = on ? walk_ip(walk) : 0,
		.value = offset,
	};

	if (on && walk->truth.on)
		walk_record(walk, sync);
	sync.kind = KIPT_SYNC_START;
	walk_record(walk, sync);
	if (walk->context_en && walk->rules.os)
		walk_record(walk, (struct kipt_record){
			.type = KIPT_RECORD_CONTEXT,
			.flags = sync.flags | (walk->nr ? KIPT_RF_NR : 0),
			.ip = sync.ip,
			.value = walk_cr3(walk->space),
		});
	if (on)
		walk_record_mode(walk, true);
	if (walk->tx_depth && walk->context_en)
		walk_record(walk, (struct kipt_record){
			.type = KIPT_RECORD_TSX,
			.kind = KIPT_TSX_BEGIN,
			.flags = sync.flags,
			.ip = sync.ip,
		});
	if (has_vmcs(walk))
		walk_record(walk, (struct kipt_record){
			.type = KIPT_RECORD_VMCS,
			.flags = KIPT_RF_NO_IP,
			.value = VMCS,
		});
	truth_prove(&walk->truth, on, walk_ip(walk));
}

/* One status packet of PSB+. */
static void psb_part(struct walk *walk, u32 part, bool on)
{
	switch (part) {
	case 0:
		if (walk->rules.tsc)
			send_tsc(walk);
		break;
	case 1:
		send_cbr(walk);
		break;
	case 2:
		/* Without a PIP nothing of what was before is known. */
		walk->nr_sent = walk->context_en && walk->rules.os && walk->nr;
		if (walk->context_en && walk->rules.os)
			encode_raw(&walk->encode, 8, 0x4302, 2,
				   walk_cr3(walk->space) >> 5 << 1 | walk->nr);
		break;
	case 3:
		if (walk->context_en)
			encode_raw(&walk->encode, 2, 0x99, 1,
				   walk->tx_depth ? MODE_TSX_INTX :
						    MODE_TSX_NONE);
		break;
	case 4:
		if (has_vmcs(walk))
			encode_raw(&walk->encode, 7, 0xc802, 2, VMCS >> 12);
		break;
	case 5:
		if (on)
			walk_send_mode(walk);
		break;
	default:
		if (on)
			encode_ip(&walk->encode, IP_PACKET_FUP, walk_ip(walk));
		break;
	}
}

/* The order of the packets in PSB+ is not architectural. */
void walk_psb(struct walk *walk, bool on)
{
	u32 first = rng_below(walk->rng, 7), offset, i;
	bool turned = rng_chance(walk->rng, 200);

	encode_flush(&walk->encode);
	offset = walk->encode.size;
	encode_psb(&walk->encode);
	for (i = 0; i < 7; i++)
		psb_part(walk, turned ? (first + i) % 7 : i, on);
	encode_raw(&walk->encode, 2, 0x2302, 2, 0);
	walk->mode_known = on;
	walk->power_known = false;
	psb_record(walk, offset, on);
}

static void record_gap(struct walk *walk, u32 offset)
{
	truth_lose(&walk->truth);
	truth_side(&walk->truth, &(struct kipt_record){
		.type = KIPT_RECORD_GAP,
		.kind = KIPT_GAP_OVERFLOW,
		.flags = walk->truth.on ? 0 : KIPT_RF_NO_IP,
		.ip = walk->truth.on ? walk->truth.at : 0,
		.value = offset,
	});
}

/* A PIP whose MOV CR3 is lost takes effect at once. */
static void record_lost_cr3(struct walk *walk, const struct kipt_record *context)
{
	struct kipt_record record = *context;

	record.ip = 0;
	record.flags |= KIPT_RF_NO_IP;
	truth_side(&walk->truth, &record);
}

static void resume(struct walk *walk)
{
	encode_ip(&walk->encode, IP_PACKET_FUP, walk_ip(walk));
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_ENABLE,
		.kind = KIPT_ENABLE_OVERFLOW,
		.ip = walk_ip(walk),
	});
	walk_prove(walk);
}

/* What is executed while packets are lost leaves no trace; only a PSB+ can say what
 * changed in between.
 */
void walk_overflow(struct walk *walk)
{
	struct truth *truth = &walk->truth;
	bool psb = rng_chance(walk->rng, 400) &&
		   walk_may(walk, WALK_OVERFLOW_PSB);
	struct kipt_record context;
	bool lost_cr3 = truth->cr3_waits;

	walk->used |= WALK_OVERFLOW;
	if (lost_cr3) {
		walk->used |= WALK_LOST_CR3;
		context = truth->records[truth->cr3_mark - 1];
	}
	encode_flush(&walk->encode);
	record_gap(walk, walk->encode.size);
	if (lost_cr3)
		record_lost_cr3(walk, &context);
	encode_raw(&walk->encode, 2, 0xf302, 2, 0);
	encode_forget_calls(&walk->encode);
	walk->encode.full_next = true;
	walk->tx_depth = 0;
	walk->power_known = false;
	truth->on = false;
	walk->tsc += rng_below(walk->rng, 5000);
	walk_elsewhere(walk, !psb);
	walk_context(walk);
	if (walk_filter(walk))
		walk->filter_en = false;
	walk_time(walk, INSIDE_NOTHING);
	/* A decoder keeps the mode: if that is not right, PSB+ must say so. */
	if (psb || (walk_on(walk) && !walk_mode_sent(walk))) {
		walk->used |= WALK_OVERFLOW_PSB;
		walk_psb(walk, walk_on(walk));
		/* The FUP of PSB+ does not replace it. */
		if (walk_on(walk))
			encode_ip(&walk->encode, IP_PACKET_FUP, walk_ip(walk));
	} else if (walk_on(walk)) {
		resume(walk);
	}
}

void walk_ptwrite(struct walk *walk)
{
	const struct insn *insn = walk_insn(walk);
	u64 value = rng_next(walk->rng), ip = insn->ip;
	u32 head = insn->operand == 8 ? 0x3202 : 0x1202;
	bool fup = walk->rules.fup_on_ptw;

	if (!walk_on(walk) || !walk->rules.ptwrite) {
		if (walk_on(walk))
			walk_record_insn(walk);
		walk->at = insn->next;
		return;
	}
	walk->used |= WALK_PTWRITE;
	if (insn->operand == 4)
		value = (u32)value;
	encode_raw(&walk->encode, insn->operand + 2U,
		   head | (fup ? 0x8000 : 0), 2, value);
	if (fup)
		encode_ip(&walk->encode, IP_PACKET_FUP, ip);
	else
		walk_record_insn(walk);
	if (!fup)
		walk->used |= WALK_PTW_BARE;
	if (walk->ptw_ip == ip)
		walk->used |= WALK_PTW_AGAIN;
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_PTWRITE,
		.aux = insn->operand,
		.ip = ip,
		.value = value,
	});
	if (fup)
		walk_record_insn(walk);
	walk->at = insn->next;
	walk_prove(walk);
	walk->ptw_ip = ip;
}

static void record_power(struct walk *walk, u8 kind, u32 aux, u64 value)
{
	bool known = walk->power_known;

	truth_side(&walk->truth, &(struct kipt_record){
		.type = KIPT_RECORD_POWER,
		.kind = kind,
		.flags = known ? 0 : KIPT_RF_NO_IP,
		.aux = aux,
		.ip = known ? walk->power_ip : 0,
		.value = value,
	});
}

static void send_exstop(struct walk *walk)
{
	walk->power_known = walk->context_en;
	walk->power_ip = walk_ip(walk);
	encode_raw(&walk->encode, 2, walk->context_en ? 0xe202 : 0x6202, 2, 0);
	if (!walk->context_en)
		return;
	if (walk_may(walk, WALK_CLAIM_TIME))
		walk_time(walk, INSIDE_EVENT);
	encode_ip(&walk->encode, IP_PACKET_FUP, walk_ip(walk));
	if (walk_on(walk))
		walk_prove(walk);
}

static void wake(struct walk *walk, bool slept)
{
	u32 deepest = rng_below(walk->rng, 16);

	walk->tsc += 1 + rng_below(walk->rng, 100000);
	if (walk->rules.tsc)
		send_tsc(walk);
	send_cbr(walk);
	if (!slept)
		return;
	encode_raw(&walk->encode, 7, 0xa202, 2, deepest | 2 << 4 | 1 << 8);
	record_power(walk, KIPT_POWER_PWRX, 2 << 4 | deepest, 1);
	walk->power_known = false;
}

void walk_sleep(struct walk *walk, bool mwait)
{
	bool context = walk->context_en;

	if (!walk_trigger(walk) || !(walk->rules.may & WALK_POWER) ||
	    (!walk_on(walk) && !walk_may(walk, WALK_OFF_SIDE)))
		return;
	if (walk_on(walk) && truth_waits(&walk->truth, walk_ip(walk)))
		return;
	walk->used |= WALK_POWER;
	if (mwait && context)
		encode_raw(&walk->encode, 10, 0xc202, 2, 0x20 | 1ULL << 32);
	if (mwait)
		encode_raw(&walk->encode, 4, 0x2202, 2, 0x21 << 8);
	send_exstop(walk);
	if (mwait && context)
		record_power(walk, KIPT_POWER_MWAIT, 0x20, 1);
	if (mwait)
		record_power(walk, KIPT_POWER_PWRE, 0x21, 0);
	record_power(walk, KIPT_POWER_EXSTOP, 0, 0);
	wake(walk, mwait);
}

/* MODE.TSX: with a FUP while packets are on, alone while FilterEn is 0. */
static void send_tsx(struct walk *walk, u8 bits, u8 kind)
{
	bool on = walk_on(walk);

	if (!walk_trigger(walk) || !walk->context_en)
		return;
	walk->used |= WALK_TSX;
	encode_raw(&walk->encode, 2, 0x99, 1, bits);
	if (on) {
		encode_ip(&walk->encode, IP_PACKET_FUP, walk_ip(walk));
		walk_prove(walk);
	}
	truth_side(&walk->truth, &(struct kipt_record){
		.type = KIPT_RECORD_TSX,
		.kind = kind,
		.flags = on ? 0 : KIPT_RF_NO_IP,
		.ip = on ? walk_ip(walk) : 0,
	});
}

void walk_transaction(struct walk *walk)
{
	const struct insn *insn = walk_insn(walk);
	bool may = walk->rules.may & WALK_TSX;

	if (insn->kind == INSN_XABORT && walk->tx_depth) {
		walk_abort(walk);
		return;
	}
	/* The FUP would be of the first time this instruction ran. */
	if (may && walk_on(walk) && truth_waits(&walk->truth, insn->ip)) {
		walk_overflow(walk);
		return;
	}
	if (insn->kind == INSN_XBEGIN && may && walk->tx_depth++ == 0) {
		walk->fallback = insn->target;
		send_tsx(walk, MODE_TSX_INTX, KIPT_TSX_BEGIN);
	} else if (insn->kind == INSN_XEND && walk->tx_depth &&
		   --walk->tx_depth == 0) {
		send_tsx(walk, MODE_TSX_NONE, KIPT_TSX_COMMIT);
	}
	if (walk_on(walk))
		walk_record_insn(walk);
	walk->at = insn->next;
}

static void abort_on(struct walk *walk, u64 from)
{
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_BRANCH,
		.kind = KIPT_BRANCH_TSX_ABORT,
		.ip = from,
		.value = walk_ip(walk),
	});
	encode_ip(&walk->encode, IP_PACKET_TIP, walk_ip(walk));
	walk_prove(walk);
}

void walk_abort(struct walk *walk)
{
	bool before = walk_on(walk), stop;
	u64 from = walk_ip(walk);

	if (before && truth_waits(&walk->truth, from)) {
		walk_overflow(walk);
		return;
	}
	send_tsx(walk, MODE_TSX_ABORT, KIPT_TSX_ABORT);
	walk->at = walk->fallback;
	stop = walk_filter(walk);
	if (before && walk_on(walk)) {
		abort_on(walk, from);
	} else if (before) {
		walk_leave(walk, from, true, true);
		walk->truth.records[walk->truth.count - 1].flags |=
			KIPT_RF_TSX;
	} else if (walk_on(walk)) {
		walk_enter(walk);
	}
	walk->tx_depth = 0;
	if (stop)
		walk_stop(walk);
}

static void pebs_block(struct walk *walk)
{
	u32 items = rng_below(walk->rng, 4), i;
	struct kipt_record end = {
		.type = KIPT_RECORD_BLOCK,
		.flags = KIPT_RF_NO_IP,
	};
	u64 value;

	encode_raw(&walk->encode, 3, 0x6302, 2, 1);
	for (i = 0; i < items; i++) {
		value = rng_next(walk->rng);
		encode_raw(&walk->encode, 9, i << 3 | 4, 1, value);
		truth_side(&walk->truth, &(struct kipt_record){
			.type = KIPT_RECORD_BLOCK,
			.kind = 1,
			.flags = KIPT_RF_NO_IP,
			.aux = i,
			.value = value,
		});
	}
	if (walk_on(walk) && walk_may_fup(walk) && rng_chance(walk->rng, 500)) {
		encode_raw(&walk->encode, 2, 0xb302, 2, 0);
		encode_ip(&walk->encode, IP_PACKET_FUP, walk_ip(walk));
		walk_prove(walk);
		end.ip = walk_ip(walk);
		end.flags = 0;
	} else {
		encode_raw(&walk->encode, 2, 0x3302, 2, 0);
	}
	truth_side(&walk->truth, &end);
}

static void trigger(struct walk *walk)
{
	u32 vector = 1U << rng_below(walk->rng, 8);

	encode_raw(&walk->encode, 3, 0xd9, 1, vector << 8);
	truth_side(&walk->truth, &(struct kipt_record){
		.type = KIPT_RECORD_TRIG,
		.flags = KIPT_RF_NO_IP | KIPT_RF_NO_VALUE,
		.aux = vector,
	});
}

void walk_side(struct walk *walk)
{
	if (!walk_trigger(walk))
		return;
	switch (rng_below(walk->rng, 20)) {
	case 0:
		walk_sleep(walk, false);
		break;
	case 1:
		if (walk_may(walk, WALK_BLOCKS))
			pebs_block(walk);
		break;
	case 2:
		if (walk_may(walk, WALK_TRIG))
			trigger(walk);
		break;
	case 3:
		if (walk_may(walk, WALK_MNT))
			encode_raw(&walk->encode, 11, 0x88c302, 3,
				   rng_next(walk->rng));
		break;
	default:
		walk_time(walk, INSIDE_NOTHING);
		break;
	}
}
