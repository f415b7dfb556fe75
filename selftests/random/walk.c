// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps of the CPU: near branches, and the order of what happens around them.
 * User space.
 */
#include "walk.h"

/* What the packet of a near branch says while packets stay on. */
enum proof {
	PROOF_NONE,
	PROOF_OUTCOME,
	PROOF_TARGET,
	PROOF_TARGET_AT_ONCE,
};

void walk_record(struct walk *walk, struct kipt_record record)
{
	if (walk->tx_depth && (record.type == KIPT_RECORD_INSN ||
			       record.type == KIPT_RECORD_BRANCH))
		record.flags |= KIPT_RF_TSX;
	truth_add(&walk->truth, &record);
}

void walk_record_insn(struct walk *walk)
{
	const struct insn *insn = walk_insn(walk);

	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_INSN,
		.ip = insn->ip,
		.aux = insn->len,
	});
}

void walk_prove(struct walk *walk)
{
	truth_prove(&walk->truth, walk_on(walk), walk_ip(walk));
	walk->ptw_ip = 0;
}

s32 walk_pick(struct walk *walk, u64 salt,
	      bool (*fits)(const struct walk *walk,
			   const struct region *region))
{
	const struct program *program = walk->program;
	struct rng choice = { .state = salt };
	u32 first = rng_below(&choice, program->nr_regions), i;

	for (i = 0; i < program->nr_regions; i++) {
		const struct region *region =
			&program->regions[(first + i) % program->nr_regions];

		if (fits(walk, region))
			return region->first +
			       (s32)rng_below(&choice, (u32)region->count);
	}
	return -1;
}

static bool is_near(const struct walk *walk, const struct region *region)
{
	const struct region *own = walk_region(walk);

	return region->mode == own->mode && region->kernel == own->kernel &&
	       (own->kernel || region->space == walk->space);
}

/* Few targets for each branch, the first of them most often. */
static s32 indirect_target(struct walk *walk)
{
	u32 pick = rng_below(walk->rng, 10);

	pick = pick < 7 ? 0 : pick - 6;
	return walk_pick(walk, (u64)walk->at << 8 | pick, is_near);
}

bool walk_mode_sent(const struct walk *walk)
{
	return walk->mode_known && walk->mode == walk_region(walk)->mode &&
	       walk->sent_if == walk->if_set;
}

void walk_send_mode(struct walk *walk)
{
	static const u8 bytes[] = { 0, 1, 2, 0 };

	walk->mode_known = true;
	walk->mode = walk_region(walk)->mode;
	walk->sent_if = walk->if_set;
	encode_raw(&walk->encode, 2, 0x99, 1,
		   bytes[walk->mode] | (walk->if_set ? 4 : 0));
}

void walk_record_mode(struct walk *walk, bool has_ip)
{
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_MODE,
		.kind = walk->mode,
		.flags = (has_ip ? 0 : KIPT_RF_NO_IP) |
			 (walk->if_set ? KIPT_RF_IF : 0),
		.ip = has_ip ? walk_ip(walk) : 0,
	});
}

void walk_enter(struct walk *walk)
{
	bool same = walk_mode_sent(walk);

	if (!same || rng_chance(walk->rng, 200)) {
		walk_send_mode(walk);
		walk_time(walk, INSIDE_MODE);
	}
	if (!same)
		walk_record_mode(walk, false);
	encode_ip(&walk->encode, IP_PACKET_PGE, walk_ip(walk));
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_ENABLE,
		.kind = KIPT_ENABLE_PGE,
		.ip = walk_ip(walk),
	});
	walk_prove(walk);
}

void walk_leave(struct walk *walk, u64 from, bool async, bool payload)
{
	if (walk->truth.cr3_waits)
		walk->used |= WALK_PGD_CR3;
	if (payload)
		encode_ip(&walk->encode, IP_PACKET_PGD, walk_ip(walk));
	else
		encode_pgd(&walk->encode);
	encode_forget_calls(&walk->encode);
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_DISABLE,
		.kind = async ? KIPT_DISABLE_ASYNC : KIPT_DISABLE_BRANCH,
		.flags = payload ? 0 : KIPT_RF_NO_VALUE,
		.ip = from,
		.value = payload ? walk_ip(walk) : 0,
	});
	walk_prove(walk);
}

static bool in_range(const struct walk *walk, u32 range)
{
	u64 ip = walk_ip(walk);

	return ip >= walk->rules.ranges[range].begin &&
	       ip <= walk->rules.ranges[range].last;
}

/* "Filtering by IP": TraceStop wins over a range that overlaps. */
bool walk_filter(struct walk *walk)
{
	u32 filters = walk->rules.nr_ranges - walk->rules.stop, i;

	if (!walk_trigger(walk) || !walk->context_en)
		return false;
	if (walk->rules.stop && in_range(walk, filters)) {
		walk->filter_en = false;
		return true;
	}
	walk->filter_en = !filters;
	for (i = 0; i < filters; i++)
		walk->filter_en |= in_range(walk, i);
	return false;
}

void walk_stop(struct walk *walk)
{
	encode_raw(&walk->encode, 2, 0x8302, 2, 0);
	walk->stopped = true;
	walk->off_space = walk->space;
	walk->off_tx = walk->tx_depth;
	walk->used |= WALK_TRACESTOP;
	truth_side(&walk->truth, &(struct kipt_record){
		.type = KIPT_RECORD_TRACESTOP,
		.flags = KIPT_RF_NO_IP,
	});
}

static void record_branch(struct walk *walk, u64 from, u8 kind, enum proof how)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_BRANCH,
		.kind = kind,
		.ip = from,
		.value = walk_ip(walk),
	};

	if (how == PROOF_OUTCOME && kind == KIPT_BRANCH_RET)
		record.flags = KIPT_RF_COMPRESSED;
	walk_record(walk, record);
	if (how == PROOF_NONE)
		return;
	if (how == PROOF_OUTCOME)
		encode_outcome(&walk->encode, true);
	else if (how == PROOF_TARGET)
		encode_tip(&walk->encode, walk_ip(walk));
	else
		encode_ip(&walk->encode, IP_PACKET_TIP, walk_ip(walk));
	walk_prove(walk);
}

static void leave(struct walk *walk, u64 from, enum proof how)
{
	if (how == PROOF_OUTCOME)
		walk->used |= WALK_PGD_OUTCOME;
	walk_leave(walk, from, false, how != PROOF_OUTCOME);
}

/* A taken near branch of @kind to @to. Returns true if packets were on
 * before and after it.
 */
static bool take(struct walk *walk, s32 to, u8 kind, enum proof how)
{
	u64 from = walk_ip(walk);
	bool before = walk_on(walk), stop;

	if (before)
		walk_record_insn(walk);
	walk->at = to;
	stop = walk_filter(walk);
	if (before && walk_on(walk))
		record_branch(walk, from, kind, how);
	else if (before)
		leave(walk, from, how);
	else if (walk_on(walk))
		walk_enter(walk);
	if (stop)
		walk_stop(walk);
	return before && walk_on(walk);
}

/* "Indirect Transfer Compression for Returns": a direct CALL of the next
 * instruction is not pushed.
 */
static void call(struct walk *walk, s32 to, u8 kind, enum proof how)
{
	const struct insn *insn = walk_insn(walk);
	u64 after = insn->ip + insn->len;
	s32 next = insn->next;
	bool direct = how == PROOF_NONE;

	if (take(walk, to, kind, how) && !(direct && walk_ip(walk) == after))
		encode_call(&walk->encode, after);
	if (next >= 0 && walk->nr_returns < WALK_RETURNS)
		walk->returns[walk->nr_returns++] = next;
}

static s32 return_target(struct walk *walk)
{
	s32 to = -1;

	if (walk->nr_returns) {
		to = walk->returns[--walk->nr_returns];
		if (!is_near(walk, &walk->program->regions
				    [walk->program->insns[to].region]))
			to = -1;
	}
	if (rng_chance(walk->rng, walk->rules.stray))
		to = -1;
	return to >= 0 ? to : indirect_target(walk);
}

/* If there are calls the CPU remembers, one that does not match is something
 * that libipt gets wrong (2.2 does too); a walk may have to avoid it.
 */
static s32 avoid_mismatch(struct walk *walk, s32 to)
{
	const struct encode *encode = &walk->encode;
	s32 i, count = walk->program->nr_insns;
	u64 top;

	if (!walk_on(walk) || !encode->depth || walk->rules.disretc)
		return to;
	top = encode->calls[(encode->top - 1) % ENCODE_CALLS];
	if (walk->program->insns[to].ip == top)
		return to;
	if (walk_may(walk, WALK_RET_MISMATCH))
		return to;
	for (i = 0; i < count; i++) {
		const struct insn *insn = &walk->program->insns[i];

		if (insn->ip == top &&
		    is_near(walk, &walk->program->regions[insn->region]))
			return i;
	}
	return -1;
}

static void ret(struct walk *walk)
{
	s32 wish = return_target(walk), to = avoid_mismatch(walk, wish);
	bool compressed = false;

	if (to < 0 && truth_waits(&walk->truth, walk_ip(walk))) {
		walk_overflow(walk);
		return;
	}
	/* PSB empties the CPU's stack: then nothing can mismatch. */
	if (to < 0) {
		walk_psb(walk, true);
		to = wish;
	}
	if (walk_on(walk))
		compressed = encode_ret(&walk->encode,
					walk->program->insns[to].ip) &&
			     !walk->rules.disretc;
	take(walk, to, KIPT_BRANCH_RET,
	     compressed ? PROOF_OUTCOME : PROOF_TARGET_AT_ONCE);
}

static bool goes(struct walk *walk, const struct insn *insn)
{
	u8 turn = walk->turns[walk->at]++;

	switch (insn->habit & 3) {
	case 0:
		return rng_chance(walk->rng, 500);
	case 1:
		return rng_chance(walk->rng, insn->habit & 4 ? 930 : 70);
	case 2:
		return turn % ((insn->habit >> 4) + 2U) != 0;
	default:
		return turn % ((insn->habit >> 4) + 2U) == 0;
	}
}

/* A conditional branch that leaves the filter makes a TIP.PGD without payload
 * (Intel SDM Vol. 3C, "Packet Generation Scenarios", 7e and 7f), which libipt
 * 2.0.5 does not bind to it: a walk may have to avoid it.
 */
static bool keeps_out(struct walk *walk, s32 to)
{
	s32 at = walk->at;
	bool filter_en = walk->filter_en, leaves;

	if (!walk_on(walk) || !walk->rules.nr_ranges)
		return false;
	walk->at = to;
	walk_filter(walk);
	leaves = !walk->filter_en;
	walk->at = at;
	walk->filter_en = filter_en;
	return leaves && !walk_may(walk, WALK_PGD_OUTCOME);
}

/* A conditional branch that is not taken does not evaluate FilterEn. */
static void conditional(struct walk *walk)
{
	const struct insn *insn = walk_insn(walk);

	if (goes(walk, insn) && !keeps_out(walk, insn->target)) {
		take(walk, insn->target, KIPT_BRANCH_COND, PROOF_OUTCOME);
		return;
	}
	if (walk_on(walk)) {
		walk_record_insn(walk);
		encode_outcome(&walk->encode, false);
	}
	walk->at = insn->next;
	if (walk_on(walk))
		walk_prove(walk);
}

static void plain(struct walk *walk)
{
	if (walk_on(walk))
		walk_record_insn(walk);
	walk->at = walk_insn(walk)->next;
}

static void step(struct walk *walk)
{
	const struct insn *insn = walk_insn(walk);

	switch (insn->kind) {
	case INSN_PLAIN:
		plain(walk);
		break;
	case INSN_COND:
		conditional(walk);
		break;
	case INSN_JUMP:
		take(walk, insn->target, KIPT_BRANCH_JUMP, PROOF_NONE);
		break;
	case INSN_CALL:
		call(walk, insn->target, KIPT_BRANCH_CALL, PROOF_NONE);
		break;
	case INSN_JUMP_IND:
		take(walk, indirect_target(walk), KIPT_BRANCH_JUMP_IND,
		     PROOF_TARGET);
		break;
	case INSN_CALL_IND:
		call(walk, indirect_target(walk), KIPT_BRANCH_CALL_IND,
		     PROOF_TARGET);
		break;
	case INSN_RET:
		ret(walk);
		break;
	case INSN_PTWRITE:
		walk_ptwrite(walk);
		break;
	case INSN_XBEGIN:
	case INSN_XEND:
	case INSN_XABORT:
		walk_transaction(walk);
		break;
	default:
		walk_step_far(walk);
		break;
	}
}

/* Direct jumps in a circle make no packets: only something from outside
 * ends that.
 */
static bool is_stuck(const struct walk *walk)
{
	return walk_on(walk) && walk->truth.count - walk->truth.proven > 400;
}

static void between(struct walk *walk)
{
	const struct walk_rules *rules = &walk->rules;

	walk->tsc += 1 + rng_below(walk->rng, 60);
	if (rng_chance(walk->rng, rules->side))
		walk_side(walk);
	if (rng_chance(walk->rng, rules->psb) && walk_trigger(walk) &&
	    !truth_waits(&walk->truth, walk_ip(walk)))
		walk_psb(walk, walk_on(walk));
	if (rng_chance(walk->rng, rules->event))
		walk_interrupt(walk);
	if (rng_chance(walk->rng, rules->overflow) && walk_trigger(walk))
		walk_overflow(walk);
	if (!walk->trace_en && walk_region(walk)->kernel &&
	    rng_chance(walk->rng, 60))
		walk_trace_on(walk, rng_chance(walk->rng, 500));
	if (walk->stopped && rng_chance(walk->rng, 30))
		walk_trace_off(walk);
}

/* Is there room for the records and packets that one step can make? */
static bool has_room(const struct walk *walk)
{
	return walk->encode.size < ENCODE_BYTES - 4096 &&
	       walk->truth.count < TRUTH_RECORDS - 512;
}

static void begin(struct walk *walk)
{
	walk->at = 0;
	walk_elsewhere(walk, false);
	walk->tsc = rng_next(walk->rng) >> 16;
	walk->cyc_tsc = walk->tsc;
	walk->mtc_sent = walk->tsc / WALK_TSC_NUM >> walk->rules.mtc_freq;
	walk->trace_en = true;
	walk_context(walk);
	walk->filter_en = true;
	if (walk_filter(walk))
		walk->stopped = true;
	if (walk->stopped || rng_chance(walk->rng, 300)) {
		walk->trace_en = false;
		walk->stopped = false;
		walk_trace_on(walk, true);
		return;
	}
	walk_psb(walk, walk_on(walk));
}

/* Rarely bytes of an older trace, whose PSB is gone. */
static void cut_front(struct walk *walk)
{
	if (!rng_chance(walk->rng, 40) || !walk_may(walk, WALK_CUT_FRONT))
		return;
	encode_raw(&walk->encode, 3, 0x0404, 2, 6);
	truth_side(&walk->truth, &(struct kipt_record){
		.type = KIPT_RECORD_GAP,
		.kind = KIPT_GAP_DECODE,
		.flags = KIPT_RF_NO_IP,
		.aux = 5,
	});
}

void walk_run(struct walk *walk, const struct program *program,
	      struct rng *rng, const struct walk_rules *rules)
{
	struct encode_rules choices = {
		.defer = rules->may & WALK_DEFER && rng_chance(rng, 400),
		.long_tnt = rng_chance(rng, 400),
		.shortest = rng_chance(rng, 500),
		.full_at_psb = !(rules->may & WALK_SHORT_AT_PSB),
	};
	u32 left = rules->steps;

	memset(walk, 0, offsetof(struct walk, encode));
	memset(&walk->used, 0, sizeof(*walk) - offsetof(struct walk, used));
	walk->program = program;
	walk->rng = rng;
	walk->rules = *rules;
	encode_init(&walk->encode, rng, &choices);
	truth_init(&walk->truth);
	cut_front(walk);
	begin(walk);
	for (; left && has_room(walk); left--) {
		between(walk);
		if (is_stuck(walk))
			walk_overflow(walk);
		step(walk);
	}
	if (walk_on(walk) && rng_chance(rng, 700) && walk_may_fup(walk))
		walk_trace_off(walk);
	encode_flush(&walk->encode);
	truth_lose(&walk->truth);
	if (walk->encode.deferred)
		walk->used |= WALK_DEFER;
	if (walk->encode.short_at_psb)
		walk->used |= WALK_SHORT_AT_PSB;
	if (walk->encode.deep)
		walk->used |= WALK_DEEP;
	if (rules->vmcs)
		walk->used |= WALK_VMCS;
	if (rules->interrupts)
		walk->used |= WALK_IF;
}
