// SPDX-License-Identifier: GPL-2.0-only
/*
 * What changes privilege, mode, address space or the enables: far transfers,
 * events, MOV CR3, WRMSR of TraceEn. User space.
 */
#include "walk.h"

#define CFE_INTR	1
#define CFE_IRET	2
#define CFE_VMEXIT	8
/* The only one that has an EVD: the address. */
#define VECTOR_PAGE_FAULT	14

/**
 * struct far - one far transfer
 * @kind: enum kipt_branch_kind
 * @event: a FUP comes first
 * @to: number of the instruction it goes to
 * @loads_cr3: the address space changes to @space
 * @space: address space afterwards
 * @nr: VMX non-root operation afterwards
 */
struct far {
	u8 kind;
	bool event;
	s32 to;
	bool loads_cr3;
	u8 space;
	bool nr;
};

u64 walk_cr3(u8 space)
{
	return (space + 1ULL) * 0x11223000;
}

void walk_context(struct walk *walk)
{
	const struct walk_rules *rules = &walk->rules;

	if (!walk_trigger(walk))
		return;
	walk->context_en = walk_region(walk)->kernel ? rules->os : rules->user;
	if (rules->cr3_filter && walk->space != 0) {
		walk->context_en = false;
		walk->used |= WALK_CR3_FILTER;
	}
}

static bool is_kernel(const struct walk *walk, const struct region *region)
{
	(void)walk;
	return region->kernel;
}

static bool is_user(const struct walk *walk, const struct region *region)
{
	return !region->kernel && region->space == walk->space;
}

static bool is_any(const struct walk *walk, const struct region *region)
{
	return region->kernel || region->space == walk->space;
}

static bool is_same(const struct walk *walk, const struct region *region)
{
	const struct region *own = walk_region(walk);

	return region->kernel == own->kernel && region->mode == own->mode &&
	       is_any(walk, region);
}

void walk_elsewhere(struct walk *walk, bool same)
{
	walk->at = walk_pick(walk, rng_next(walk->rng),
			     same ? is_same : is_any);
	if (!walk_region(walk)->kernel)
		walk->nr_frames = 0;
}

static u64 pip(const struct walk *walk)
{
	return walk_cr3(walk->space) >> 5 << 1 | walk->nr;
}

static bool sends_pip(const struct walk *walk)
{
	return walk_trigger(walk) && walk->context_en && walk->rules.os;
}

/* A second PIP while the first one's MOV CR3 is not proven, proves it. */
static void send_pip(struct walk *walk)
{
	encode_raw(&walk->encode, 8, 0x4302, 2, pip(walk));
	walk->nr_sent = walk->nr;
	truth_prove_cr3(&walk->truth);
}

static void record_context(struct walk *walk, bool has_ip)
{
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_CONTEXT,
		.flags = (has_ip ? 0 : KIPT_RF_NO_IP) |
			 (walk->nr ? KIPT_RF_NR : 0),
		.ip = has_ip ? walk_ip(walk) : 0,
		.value = walk_cr3(walk->space),
	});
}

/* Packets stay on: PIP and MODE.Exec take effect at the TIP's address. */
static void stay(struct walk *walk, const struct far *far, u8 kind, u64 from, bool cr3)
{
	bool moved = !walk_mode_sent(walk);

	if (moved)
		walk_send_mode(walk);
	if (moved || cr3 || far->event) {
		walk_time(walk, moved ? INSIDE_MODE : INSIDE_EVENT);
		encode_ip(&walk->encode, IP_PACKET_TIP, walk_ip(walk));
	} else {
		encode_tip(&walk->encode, walk_ip(walk));
	}
	walk_record(walk, (struct kipt_record){
		.type = KIPT_RECORD_BRANCH,
		.kind = kind,
		.ip = from,
		.value = walk_ip(walk),
	});
	if (cr3)
		record_context(walk, true);
	if (moved)
		walk_record_mode(walk, true);
	walk_prove(walk);
}

/* EVD and the CFE that it can go with; the FUP of the event gives them their address. */
static void send_cause(struct walk *walk, struct kipt_record *data,
		       struct kipt_record *cause, bool vm_exit)
{
	*data = (struct kipt_record){ .ip = walk_ip(walk) };
	*cause = (struct kipt_record){
		.type = KIPT_RECORD_EVENT,
		.kind = vm_exit ? CFE_VMEXIT : CFE_INTR,
		.aux = (u8)rng_next(walk->rng),
		.ip = walk_ip(walk),
	};
	if (rng_chance(walk->rng, 300)) {
		data->type = KIPT_RECORD_EVENT_DATA;
		data->kind = vm_exit ? 1 + rng_below(walk->rng, 2) : 0;
		data->value = rng_next(walk->rng);
		if (!vm_exit)
			cause->aux = VECTOR_PAGE_FAULT;
		encode_raw(&walk->encode, 11, 0x5302U | data->kind << 16, 3,
			   data->value);
	}
	encode_raw(&walk->encode, 4, 0x1302, 2, cause->kind | cause->aux << 8);
}

static void start_event(struct walk *walk, const struct far *far, bool before)
{
	bool trace = before && walk_may(walk, WALK_EVENT_TRACE);
	struct kipt_record data = { 0 }, cause;

	if (!before)
		return;
	if (trace)
		send_cause(walk, &data, &cause, far->loads_cr3);
	encode_ip(&walk->encode, IP_PACKET_FUP, walk_ip(walk));
	walk_prove(walk);
	if (data.type)
		truth_side(&walk->truth, &data);
	if (trace)
		truth_side(&walk->truth, &cause);
	walk_time(walk, INSIDE_EVENT);
}

static void go_far(struct walk *walk, const struct far *far)
{
	bool before = walk_on(walk), cr3, stop;
	u64 from = walk_ip(walk);
	u8 kind = far->kind;

	if (far->event)
		start_event(walk, far, before);
	else if (before)
		walk_record_insn(walk);
	walk->at = far->to;
	if (far->loads_cr3)
		walk->space = far->space;
	walk->nr = far->nr;
	if (walk->rules.interrupts)
		walk->if_set = !far->event && rng_chance(walk->rng, 600);
	walk_context(walk);
	stop = walk_filter(walk);
	cr3 = far->loads_cr3 && sends_pip(walk);
	/* Where PIPs do not say that it is a VM exit, it is an event like others. */
	if (kind == KIPT_BRANCH_VMEXIT && (!cr3 || !walk->nr_sent))
		kind = KIPT_BRANCH_EVENT;
	if (cr3)
		send_pip(walk);
	if (before && walk_on(walk)) {
		stay(walk, far, kind, from, cr3);
	} else if (before) {
		walk_leave(walk, from, far->event, walk->context_en);
		if (cr3)
			record_context(walk, false);
		walk_prove(walk);
	} else {
		if (cr3)
			record_context(walk, false);
		if (walk_on(walk))
			walk_enter(walk);
		else
			walk_prove(walk);
	}
	if (stop)
		walk_stop(walk);
}

static void push_frame(struct walk *walk, s32 at)
{
	if (at < 0 || walk->nr_frames == WALK_FRAMES)
		return;
	walk->frames[walk->nr_frames].at = at;
	walk->frames[walk->nr_frames++].space = walk->space;
}

static s32 pop_frame(struct walk *walk)
{
	s32 at;

	if (!walk->nr_frames || rng_chance(walk->rng, walk->rules.stray))
		return -1;
	at = walk->frames[--walk->nr_frames].at;
	if (walk->frames[walk->nr_frames].space != walk->space &&
	    !walk->program->regions[walk->program->insns[at].region].kernel)
		return -1;
	return at;
}

static s32 handler(struct walk *walk)
{
	return walk_pick(walk, rng_below(walk->rng, 3), is_kernel);
}

bool walk_may_fup(struct walk *walk)
{
	if (!walk_on(walk))
		return true;
	if (walk->ptw_ip == walk_ip(walk))
		walk->used |= WALK_PTW_AGAIN;
	return walk_insn(walk)->kind != INSN_VMENTRY &&
	       !truth_waits(&walk->truth, walk_ip(walk));
}

static void vm_exit(struct walk *walk)
{
	struct far far = {
		.kind = KIPT_BRANCH_VMEXIT,
		.event = true,
		.to = handler(walk),
		.loads_cr3 = true,
		.space = (u8)rng_below(walk->rng, walk->program->spaces),
	};

	go_far(walk, &far);
}

void walk_interrupt(struct walk *walk)
{
	struct far far = {
		.kind = KIPT_BRANCH_EVENT,
		.event = true,
		.nr = walk->nr,
	};

	if (!walk_may_fup(walk))
		return;
	if (walk->tx_depth) {
		walk_abort(walk);
		return;
	}
	if (walk->nr && rng_chance(walk->rng, 500)) {
		vm_exit(walk);
		return;
	}
	push_frame(walk, walk->at);
	far.to = handler(walk);
	go_far(walk, &far);
}

static void software_interrupt(struct walk *walk)
{
	struct far far = {
		.kind = KIPT_BRANCH_EVENT,
		.event = true,
		.nr = walk->nr,
		.to = handler(walk),
	};

	push_frame(walk, walk_insn(walk)->next);
	go_far(walk, &far);
}

static void vm_entry(struct walk *walk)
{
	struct far far = {
		.kind = KIPT_BRANCH_VMENTRY,
		.loads_cr3 = true,
		.space = (u8)rng_below(walk->rng, walk->program->spaces),
		.nr = true,
	};
	u8 space = walk->space;

	walk->used |= WALK_VMX;
	walk->space = far.space;
	far.to = walk_pick(walk, rng_next(walk->rng), is_any);
	walk->space = space;
	go_far(walk, &far);
}

/* Event Trace: an IRET's packet has no address. */
static void record_iret(struct walk *walk)
{
	if (!walk_on(walk) || !walk_may(walk, WALK_EVENT_TRACE))
		return;
	encode_raw(&walk->encode, 4, 0x1302, 2, CFE_IRET);
	truth_side(&walk->truth, &(struct kipt_record){
		.type = KIPT_RECORD_EVENT,
		.kind = CFE_IRET,
		.flags = KIPT_RF_NO_IP,
	});
}

static void far_branch(struct walk *walk)
{
	struct far far = { .nr = walk->nr, .to = -1 };
	u64 salt = rng_below(walk->rng, 8);

	switch (walk_insn(walk)->kind) {
	case INSN_SYSCALL:
		far.kind = KIPT_BRANCH_SYSCALL;
		push_frame(walk, walk_insn(walk)->next);
		far.to = handler(walk);
		break;
	case INSN_SYSRET:
		far.kind = KIPT_BRANCH_SYSRET;
		far.to = walk_pick(walk, salt, is_user);
		break;
	case INSN_IRET:
		record_iret(walk);
		far.kind = KIPT_BRANCH_IRET;
		far.to = pop_frame(walk);
		break;
	default:
		walk->used |= WALK_FAR;
		far.kind = KIPT_BRANCH_FAR;
		far.to = walk_pick(walk, salt, walk_region(walk)->kernel ?
						   is_kernel : is_user);
		break;
	}
	if (far.to < 0)
		far.to = walk_pick(walk, salt, is_any);
	go_far(walk, &far);
}

/* FilterEn is evaluated for the next instruction. */
static void mov_cr3(struct walk *walk)
{
	u64 from = walk_ip(walk);
	bool before = walk_on(walk), stop, cr3;

	if (before)
		walk_record_insn(walk);
	walk->space = (u8)rng_below(walk->rng, walk->program->spaces);
	walk->at = walk_insn(walk)->next;
	walk_context(walk);
	stop = walk_filter(walk);
	cr3 = sends_pip(walk);
	if (cr3)
		send_pip(walk);
	if (before && walk_on(walk)) {
		record_context(walk, true);
	} else if (before) {
		walk->used |= WALK_PGD_CR3;
		walk_leave(walk, from, false, walk->context_en);
		if (cr3)
			record_context(walk, false);
		walk_prove(walk);
	} else {
		if (cr3)
			record_context(walk, false);
		if (walk_on(walk))
			walk_enter(walk);
		else
			walk_prove(walk);
	}
	if (stop)
		walk_stop(walk);
}

void walk_trace_off(struct walk *walk)
{
	u64 from = walk_ip(walk);

	if (walk->tx_depth)
		walk_abort(walk);
	from = walk_ip(walk);
	if (walk_on(walk)) {
		encode_ip(&walk->encode, IP_PACKET_FUP, from);
		walk_prove(walk);
		walk->trace_en = false;
		walk_leave(walk, from, true, false);
	} else {
		encode_flush(&walk->encode);
	}
	if (!walk->stopped) {
		walk->off_space = walk->space;
		walk->off_tx = false;
	}
	walk->trace_en = false;
	walk->stopped = false;
}

void walk_trace_on(struct walk *walk, bool psb)
{
	bool stop;

	walk->trace_en = true;
	walk->stopped = false;
	walk_context(walk);
	stop = walk_filter(walk);
	/* Only PSB+ says what changed unseen. */
	if (psb || walk->off_space != walk->space || walk->off_tx)
		walk_psb(walk, false);
	else
		walk_time(walk, INSIDE_NOTHING);
	if (walk_on(walk))
		walk_enter(walk);
	if (stop)
		walk_stop(walk);
}

static void wrmsr(struct walk *walk)
{
	if (walk_trigger(walk) && rng_chance(walk->rng, 500) &&
	    walk_may_fup(walk))
		walk_trace_off(walk);
	else if (walk_on(walk))
		walk_record_insn(walk);
	walk->at = walk_insn(walk)->next;
}

static void skip(struct walk *walk)
{
	if (walk_on(walk))
		walk_record_insn(walk);
	walk->at = walk_insn(walk)->next;
}

void walk_step_far(struct walk *walk)
{
	if (walk->tx_depth) {
		walk_abort(walk);
		return;
	}
	switch (walk_insn(walk)->kind) {
	case INSN_MOV_CR3:
		mov_cr3(walk);
		break;
	case INSN_WRMSR:
		wrmsr(walk);
		break;
	case INSN_MWAIT:
		walk_sleep(walk, true);
		skip(walk);
		break;
	case INSN_INT:
		if (walk_may_fup(walk))
			software_interrupt(walk);
		break;
	case INSN_VMENTRY:
		if (walk->rules.may & WALK_VMX)
			vm_entry(walk);
		else
			far_branch(walk);
		break;
	default:
		far_branch(walk);
		break;
	}
}
