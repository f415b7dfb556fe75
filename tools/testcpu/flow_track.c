// SPDX-License-Identifier: GPL-2.0-only
/*
 * How blocks end and events begin. Owns the reconstruction of transfers from
 * arrivals; the packets are trace_model.c's. Runs on the vCPU's thread.
 *
 * A block that is left before its last instruction began (an exception inside
 * it, self-modified code, an instruction the test CPU carried out itself) has
 * not branched, wherever execution goes on.
 */
#include "flow_track.h"

#include "system_tables.h"

#define EFLAGS_CF	(1u << 0)
#define EFLAGS_PF	(1u << 2)
#define EFLAGS_ZF	(1u << 6)
#define EFLAGS_SF	(1u << 7)
#define EFLAGS_OF	(1u << 11)

void flow_forget(struct flow *f)
{
	f->cur = NULL;
	f->dormant = false;
}

static void classify(const struct flow *f, struct flow_block *b)
{
	struct pt_mode_exec mode = f->pt->ctx.mode;
	enum insn_mode size = mode.lma ? INSN_MODE_64 :
			      mode.csd ? INSN_MODE_32 : INSN_MODE_16;

	b->end = branch_classify(b->bytes, b->len, size, b->last);
	__atomic_store_n(&b->classified, true, __ATOMIC_RELEASE);
}

/* Jcc conditions, by the low four bits of the opcode. */
static bool condition_holds(uint8_t cc, uint64_t flags)
{
	bool less = !(flags & EFLAGS_SF) != !(flags & EFLAGS_OF);
	bool holds = false;

	switch (cc >> 1) {
	case 0:
		holds = flags & EFLAGS_OF;
		break;
	case 1:
		holds = flags & EFLAGS_CF;
		break;
	case 2:
		holds = flags & EFLAGS_ZF;
		break;
	case 3:
		holds = flags & (EFLAGS_CF | EFLAGS_ZF);
		break;
	case 4:
		holds = flags & EFLAGS_SF;
		break;
	case 5:
		holds = flags & EFLAGS_PF;
		break;
	case 6:
		holds = less;
		break;
	case 7:
		holds = less || (flags & EFLAGS_ZF);
		break;
	}
	return holds != (cc & 1);
}

/*
 * A conditional branch to the next instruction: only the CPU's state shows
 * whether it was taken. Flags and RCX are as the branch left them.
 */
static bool taken_by_state(const struct flow *f, const struct flow_block *b)
{
	struct insn_shape s;
	uint64_t count;

	if (!insn_shape_parse(&s, b->bytes, b->len,
			      f->pt->ctx.mode.lma ? INSN_MODE_64 :
						    INSN_MODE_32))
		return false;
	if (s.two_byte || (s.opcode & 0xf0) == 0x70)
		return condition_holds(s.opcode & 0xf, f->ops->flags(f->ctx));
	count = f->ops->count(f->ctx);
	if (!f->pt->ctx.mode.lma || s.address)
		count = (uint32_t)count;
	if (s.opcode == 0xe3)
		return count == 0;
	if (s.opcode == 0xe2 || !count)
		return count != 0;
	return !(f->ops->flags(f->ctx) & EFLAGS_ZF) == (s.opcode == 0xe0);
}

static void odd(struct flow *f, uint64_t from, uint64_t to)
{
	f->unexplained++;
	f->last_odd_from = from;
	f->last_odd_to = to;
}

static void end_conditional(struct flow *f, const struct flow_block *b,
			    struct pt_transfer *t)
{
	uint64_t target = b->end.target + f->shift;

	if (t->to == target)
		t->taken = target != t->next || taken_by_state(f, b);
	else if (t->to != t->next)
		odd(f, t->from, t->to);
	pt_transfer(f->pt, t);
}

static void end_direct(struct flow *f, const struct flow_block *b,
		       struct pt_transfer *t)
{
	if (t->to != b->end.target + f->shift)
		odd(f, t->from, t->to);
	t->no_push = b->end.no_push;
	pt_transfer(f->pt, t);
}

/* When an event was taken at once, the CPU is already in its handler. */
static void end_far(struct flow *f, struct pt_transfer *t, bool event)
{
	if (event)
		f->ops->interrupted(f->ctx, t->to, &f->pt->ctx);
	else
		f->ops->context(f->ctx, &f->pt->ctx);
	pt_transfer(f->pt, t);
}

/*
 * The last instruction of @b began and did not fault; @ip comes next, or would
 * have if not for an event.
 */
static void finish_block(struct flow *f, const struct flow_block *b,
			 uint64_t ip, bool event)
{
	static const uint8_t kinds[] = {
		[BRANCH_COND] = TRUTH_COND,
		[BRANCH_JUMP] = TRUTH_JUMP,
		[BRANCH_CALL] = TRUTH_CALL,
		[BRANCH_JUMP_IND] = TRUTH_JUMP_IND,
		[BRANCH_CALL_IND] = TRUTH_CALL_IND,
		[BRANCH_RET] = TRUTH_RET,
		[BRANCH_SYSCALL] = TRUTH_SYSCALL,
		[BRANCH_SYSRET] = TRUTH_SYSRET,
		[BRANCH_IRET] = TRUTH_IRET,
		[BRANCH_FAR] = TRUTH_FAR,
		[BRANCH_INT] = 0,
		[INSN_MOV_CR3] = TRUTH_CR3,
	};
	struct pt_transfer t = {
		.from = b->last + f->shift,
		.to = ip,
		.next = b->next + f->shift,
		.ret_width = b->end.ret_width,
		.vector = -1,
	};

	if (b->end.class > INSN_MOV_CR3 || !kinds[b->end.class]) {
		if (f->pt->overflow || f->pt->byte_count >= f->pt->psb_period)
			pt_boundary(f->pt, ip);
		return;
	}
	t.kind = kinds[b->end.class];
	switch (b->end.class) {
	case BRANCH_COND:
		end_conditional(f, b, &t);
		break;
	case BRANCH_JUMP:
	case BRANCH_CALL:
		end_direct(f, b, &t);
		break;
	case BRANCH_JUMP_IND:
	case BRANCH_CALL_IND:
	case BRANCH_RET:
		pt_transfer(f->pt, &t);
		break;
	case INSN_MOV_CR3:
		t.cr3_written = true;
		end_far(f, &t, event);
		break;
	default:
		end_far(f, &t, event);
		break;
	}
}

/*
 * The sleep that an event ended is over first; vector 2 is the NMI, which is
 * no "interrupt" to PWRX.
 */
static void event_transfer(struct flow *f, uint8_t kind, uint64_t from,
			   uint64_t handler)
{
	struct pt_transfer t = {
		.kind = kind,
		.from = from,
		.to = handler,
		.source = true,
	};

	t.from_base = f->pt->ctx.cs_base;
	t.vector = (int16_t)f->ops->vector(f->ctx, handler);
	if (f->pt->sleeping)
		pt_wake(f->pt, t.vector == 2 ? PT_WAKE_OTHER :
					       PT_WAKE_INTERRUPT, handler);
	if (t.vector == 14)
		t.cr2 = f->ops->fault_address(f->ctx);
	f->ops->context(f->ctx, &f->pt->ctx);
	pt_transfer(f->pt, &t);
}

/*
 * Whether the end of @reached is the last thing that executed. While dormant
 * blocks are not followed: they are taken as translated, and only an end that
 * can wake the flow is known to have been reached just now.
 */
static bool end_counts(struct flow *f, struct flow_block *reached)
{
	if (!reached || (!f->dormant && reached != f->cur))
		return false;
	if (!__atomic_load_n(&reached->classified, __ATOMIC_ACQUIRE))
		classify(f, reached);
	if (!f->dormant)
		return true;
	f->shift = 0;
	return branch_is_far(reached->end.class) ||
	       reached->end.class == INSN_MOV_CR3;
}

void flow_arrive(struct flow *f, struct flow_block *b, uint64_t ip,
		 struct flow_block *reached)
{
	if (end_counts(f, reached))
		finish_block(f, reached, ip, false);
	f->dormant = false;
	f->cur = b;
	f->shift = ip - b->start;
	if (!__atomic_load_n(&b->classified, __ATOMIC_ACQUIRE))
		classify(f, b);
	f->pt->cycles += b->insns;
}

/*
 * An exception at the last instruction of a block is that instruction's own,
 * unless it is a jump to itself, which cannot fault after it was fetched.
 */
static bool end_faulted(const struct flow *f, uint8_t kind, uint64_t from,
			const struct flow_block *reached)
{
	return kind == TRUTH_EXCEPTION && from == reached->last + f->shift &&
	       reached->end.class != BRANCH_JUMP &&
	       reached->end.class != BRANCH_COND;
}

uint64_t flow_fault_source(const struct flow *f, uint64_t from,
			   const struct flow_block *reached)
{
	if (f->dormant || !reached || reached != f->cur ||
	    address_is_canonical(from, f->pt->msrs.la57))
		return from;
	switch (reached->end.class) {
	case BRANCH_JUMP_IND:
	case BRANCH_CALL_IND:
	case BRANCH_RET:
		return reached->last + f->shift;
	}
	return from;
}

void flow_event(struct flow *f, uint8_t kind, uint64_t from, uint64_t handler,
		struct flow_block *reached)
{
	if (kind == TRUTH_EXCEPTION)
		from = flow_fault_source(f, from, reached);
	if (end_counts(f, reached) && !end_faulted(f, kind, from, reached))
		finish_block(f, reached, from, true);
	event_transfer(f, kind, from, handler);
	f->cur = NULL;
	f->dormant = false;
}

bool flow_expected(const struct flow *f, const struct flow_block *reached,
		   uint64_t ip)
{
	if (!f->cur || reached != f->cur)
		return false;
	switch (reached->end.class) {
	case BRANCH_NONE:
		return ip == reached->next + f->shift;
	case BRANCH_COND:
		return ip == reached->next + f->shift ||
		       ip == reached->end.target + f->shift;
	case BRANCH_JUMP:
	case BRANCH_CALL:
		return ip == reached->end.target + f->shift;
	}
	return false;
}
