// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which packets an operation makes (Intel SDM Vol. 3C, "Change of Flow
 * Instruction (COFI) Tracing", "Trace Filtering", "Packet Generation
 * Scenarios"). Owns the enables and the order inside one operation; bytes are
 * trace_emit.c's, registers msr_model.c's. Every operation ends in
 * pt_boundary(), where clock, PSB and overflow have their place. Vcpu thread.
 */
#include "trace_model.h"

#include <string.h>

#include "trace_emit.h"

/* Event Trace: types of CFE and EVD. */
#define CFE_INTR	0x01
#define CFE_IRET	0x02
#define EVD_PFA		0x00
#define VECTOR_PF	14

/* PSBFreq is absent on the first CPUs; they behave as with 0. */
static uint32_t psb_period(const struct pt_cpu *cpu)
{
	unsigned int freq = (cpu->msrs.ctl & RTIT_CTL_PSBFREQ) >>
			    RTIT_CTL_PSBFREQ_SHIFT;

	return cpu->opts->psb_period ? cpu->opts->psb_period : 2048u << freq;
}

void pt_cpu_init(struct pt_cpu *cpu, const struct testcpu_caps *caps,
		 const struct pt_options *opts, const struct pt_memory *mem)
{
	memset(cpu, 0, sizeof(*cpu));
	pt_msrs_cold_reset(&cpu->msrs, caps);
	cpu->opts = opts;
	cpu->truth.fd = -1;
	cpu->tnt_max = opts->long_tnt ? 47 : 6;
	cpu->out.mem = *mem;
	cpu->out.caps = caps;
	cpu->out.pmi_skid = opts->pmi_skid;
	cpu->out.stop_short = opts->stop_offset;
}

static void forget_tracing(struct pt_cpu *cpu)
{
	cpu->trigger_en = false;
	cpu->context_en = false;
	cpu->filter_en = false;
	cpu->packet_en = false;
	cpu->overflow = false;
	cpu->tnt_count = 0;
	cpu->tnt_bits = 0;
	cpu->deferred_count = 0;
	cpu->ret_depth = 0;
	cpu->len = 0;
}

void pt_cpu_warm_reset(struct pt_cpu *cpu)
{
	if (cpu->msrs.ctl & RTIT_CTL_TRACEEN) {
		pt_output_save(&cpu->out, &cpu->msrs);
		truth_log_stop(&cpu->truth, cpu->tsc(cpu->tsc_ctx), 0);
	}
	forget_tracing(cpu);
	cpu->pmi = false;
	cpu->sleeping = false;
	pt_msrs_warm_reset(&cpu->msrs);
}

/* ---- enables ("Trace Filtering") ---- */

static bool cr3_matches(const struct pt_cpu *cpu)
{
	uint64_t mask = cpu->ctx.pae ? ~0x1fULL : ~0xfffULL;

	return ((cpu->ctx.cr3 ^ cpu->msrs.cr3_match) & mask) == 0;
}

static bool eval_context(const struct pt_cpu *cpu)
{
	uint64_t ctl = cpu->msrs.ctl;

	if (!(ctl & (cpu->ctx.cpl ? RTIT_CTL_USER : RTIT_CTL_OS)))
		return false;
	return !(ctl & RTIT_CTL_CR3FILTER) || cr3_matches(cpu);
}

static bool in_range_of(const struct pt_cpu *cpu, unsigned int cfg,
			uint64_t linear)
{
	uint64_t ip = pt_payload_ip(cpu, linear, cpu->ctx.cs_base);

	for (unsigned int n = 0; n < RTIT_ADDR_RANGES_MAX; n++) {
		if (pt_msrs_addr_cfg(&cpu->msrs, n) == cfg &&
		    ip >= cpu->msrs.addr[2 * n] &&
		    ip <= cpu->msrs.addr[2 * n + 1])
			return true;
	}
	return false;
}

static bool any_range_of(const struct pt_cpu *cpu, unsigned int cfg)
{
	for (unsigned int n = 0; n < RTIT_ADDR_RANGES_MAX; n++)
		if (pt_msrs_addr_cfg(&cpu->msrs, n) == cfg)
			return true;
	return false;
}

/*
 * FilterEn for an operation that arrived at @ip; true when a TraceStop range
 * was entered, which beats a filter range that overlaps it.
 */
static bool eval_filter(struct pt_cpu *cpu, uint64_t ip)
{
	bool stop;

	if (!cpu->any_range)
		return false;
	stop = in_range_of(cpu, RTIT_ADDR_CFG_TRACESTOP, ip);
	cpu->filter_en = !stop && (!cpu->any_filter ||
				   in_range_of(cpu, RTIT_ADDR_CFG_FILTER, ip));
	return stop;
}

static void update_packet_en(struct pt_cpu *cpu)
{
	uint64_t bits = 0;

	cpu->packet_en = cpu->trigger_en && cpu->context_en &&
			 cpu->filter_en &&
			 (cpu->msrs.ctl & RTIT_CTL_BRANCHEN);
	if (cpu->filter_en)
		bits |= RTIT_STATUS_FILTEREN;
	if (cpu->context_en)
		bits |= RTIT_STATUS_CONTEXTEN;
	if (cpu->trigger_en)
		bits |= RTIT_STATUS_TRIGGEREN;
	cpu->msrs.status &= ~(RTIT_STATUS_FILTEREN | RTIT_STATUS_CONTEXTEN |
			      RTIT_STATUS_TRIGGEREN);
	cpu->msrs.status |= bits;
}

/* The TraceStop packet, and the end of tracing until software clears it. */
static void trace_stop(struct pt_cpu *cpu, uint64_t next)
{
	uint8_t bytes[PT_PACKET_MAX];

	if (cpu->overflow)
		pt_emit_overflow_end(cpu, next, true);
	pt_emit_packet(cpu, bytes, pt_encode_trace_stop(bytes), false);
	pt_emit_drain(cpu);
	cpu->msrs.status |= RTIT_STATUS_STOPPED;
	cpu->trigger_en = false;
	update_packet_en(cpu);
}

/* ---- TraceEn ("TraceEn", "Enabling Packet Generation") ---- */

static bool psb_on_enable(struct pt_cpu *cpu)
{
	bool pending = (cpu->msrs.ctl & RTIT_CTL_INJECTPSBPMI) &&
		       (cpu->msrs.status & RTIT_STATUS_PENDPSB);

	if (pending)
		cpu->msrs.status &= ~RTIT_STATUS_PENDPSB;
	return pending || cpu->byte_count == 0 ||
	       !(cpu->msrs.caps->ebx & RTIT_CAP_PSB_CYC);
}

static void start_state(struct pt_cpu *cpu)
{
	forget_tracing(cpu);
	cpu->byte_count = (uint32_t)((cpu->msrs.status & RTIT_STATUS_BYTECNT) >>
				     RTIT_STATUS_BYTECNT_SHIFT);
	cpu->psb_period = psb_period(cpu);
	cpu->cycles = 0;
	cpu->since_overflow = 0;
	cpu->since_start = 0;
	cpu->sleeping = false;
	cpu->any_filter = any_range_of(cpu, RTIT_ADDR_CFG_FILTER);
	cpu->any_range = cpu->any_filter ||
			 any_range_of(cpu, RTIT_ADDR_CFG_TRACESTOP);
}

/*
 * What was sent before tracing was off may be in another buffer and of other
 * code: the mode is sent anew, and the next IP whole.
 */
static void forget_sent(struct pt_cpu *cpu)
{
	cpu->mode_sent = false;
	cpu->full_ip = true;
}

static void enable(struct pt_cpu *cpu, uint64_t nlip)
{
	bool stop;

	start_state(cpu);
	truth_log_start(&cpu->truth, cpu->tsc(cpu->tsc_ctx), cpu->msrs.ctl);
	if (pt_output_start(&cpu->out, &cpu->msrs))
		cpu->msrs.status |= RTIT_STATUS_ERROR;
	cpu->trigger_en = !(cpu->msrs.status &
			    (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED));
	cpu->filter_en = !cpu->any_filter;
	update_packet_en(cpu);
	/* Pending since the registers were saved, whether tracing goes on or not. */
	if ((cpu->msrs.ctl & RTIT_CTL_INJECTPSBPMI) &&
	    (cpu->msrs.status & RTIT_STATUS_PENDTOPAPMI))
		cpu->pmi = true;
	if (!cpu->trigger_en)
		return;
	pt_emit_set_limit(cpu);
	pt_emit_mtc_restart(cpu);
	cpu->context_en = eval_context(cpu);
	stop = cpu->context_en && eval_filter(cpu, nlip);
	/* PacketEn is still 0 here: the PSB+ holds neither mode nor FUP. */
	if (psb_on_enable(cpu)) {
		pt_emit_psb(cpu, nlip);
	} else {
		forget_sent(cpu);
		pt_emit_clocks(cpu);
	}
	update_packet_en(cpu);
	if (cpu->packet_en) {
		truth_log_add(&cpu->truth, TRUTH_ENABLE, TRUTH_MARK_ON, 0,
			      nlip);
		pt_emit_pge(cpu, nlip);
	}
	if (stop)
		trace_stop(cpu, nlip);
}

static void save_byte_count(struct pt_cpu *cpu)
{
	uint64_t max = RTIT_STATUS_BYTECNT >> RTIT_STATUS_BYTECNT_SHIFT;
	uint64_t count = cpu->byte_count < max ? cpu->byte_count : max;

	if (!(cpu->msrs.caps->ebx & RTIT_CAP_PSB_CYC))
		count = 0;
	cpu->msrs.status &= ~RTIT_STATUS_BYTECNT;
	cpu->msrs.status |= count << RTIT_STATUS_BYTECNT_SHIFT;
}

static void disable(struct pt_cpu *cpu, uint64_t clip, uint64_t nlip)
{
	bool traced = cpu->packet_en;

	if (cpu->overflow) {
		pt_emit_overflow_end(cpu, nlip, true);
		truth_log_add(&cpu->truth, TRUTH_RESUME, 0, 0, 0);
	} else if (traced) {
		pt_emit_fup(cpu, clip);
		pt_emit_pgd(cpu, false, 0);
	}
	if (traced)
		truth_log_add(&cpu->truth, TRUTH_DISABLE, TRUTH_MARK_OFF,
			      clip, nlip);
	pt_emit_flush(cpu);
	if (cpu->trigger_en)
		pt_emit_drain(cpu);
	pt_output_save(&cpu->out, &cpu->msrs);
	save_byte_count(cpu);
	forget_tracing(cpu);
	update_packet_en(cpu);
	truth_log_stop(&cpu->truth, cpu->tsc(cpu->tsc_ctx), cpu->msrs.ctl);
}

enum pt_msr_result pt_wrmsr(struct pt_cpu *cpu, uint32_t msr, uint64_t value,
			    uint64_t clip, uint64_t nlip)
{
	uint64_t before = cpu->msrs.ctl;
	enum pt_msr_result result = pt_msr_write(&cpu->msrs, msr, value);
	uint64_t after = cpu->msrs.ctl;

	if (result != PT_MSR_OK || !((before ^ after) & RTIT_CTL_TRACEEN))
		return result;
	if (after & RTIT_CTL_TRACEEN) {
		enable(cpu, nlip);
		return result;
	}
	/* Packets of the end are still those of the old configuration. */
	cpu->msrs.ctl = before;
	disable(cpu, clip, nlip);
	cpu->msrs.ctl = after;
	return result;
}

enum pt_msr_result pt_rdmsr(struct pt_cpu *cpu, uint32_t msr, uint64_t *value)
{
	return pt_msr_read(&cpu->msrs, msr, value);
}

/* ---- return compression ("RET Compression") ---- */

static void push_return(struct pt_cpu *cpu, uint64_t ip)
{
	cpu->ret_stack[cpu->ret_top] =
		pt_payload_ip(cpu, ip, cpu->ctx.cs_base);
	cpu->ret_top = (cpu->ret_top + 1) % PT_RET_STACK;
	if (cpu->ret_depth < PT_RET_STACK)
		cpu->ret_depth++;
}

/*
 * Pop, and say whether the popped address is where the RET went, as far as its
 * operand size decides.
 */
static bool pop_return(struct pt_cpu *cpu, const struct pt_transfer *t)
{
	uint64_t mask = t->ret_width == 64 || !t->ret_width ?
			~0ULL : (1ULL << t->ret_width) - 1;
	uint64_t top;

	if (!cpu->ret_depth)
		return false;
	cpu->ret_depth--;
	cpu->ret_top = (cpu->ret_top + PT_RET_STACK - 1) % PT_RET_STACK;
	top = cpu->ret_stack[cpu->ret_top];
	return (top & mask) == pt_payload_ip(cpu, t->to, cpu->ctx.cs_base) &&
	       !(cpu->msrs.ctl & RTIT_CTL_DISRETC);
}

/* ---- transfers ---- */

static bool is_event(uint8_t kind)
{
	return kind == TRUTH_INTERRUPT || kind == TRUTH_EXCEPTION;
}

static bool is_far(uint8_t kind)
{
	return kind >= TRUTH_SYSCALL && kind <= TRUTH_EXCEPTION;
}

/* Packets of a transfer with PacketEn on both sides. */
static void traced_transfer(struct pt_cpu *cpu, const struct pt_transfer *t,
			    bool compressed)
{
	switch (t->kind) {
	case TRUTH_COND:
		pt_emit_tnt_bit(cpu, t->taken);
		return;
	case TRUTH_JUMP:
	case TRUTH_CR3:
		return;
	case TRUTH_CALL:
		if (!t->no_push)
			push_return(cpu, t->next);
		return;
	case TRUTH_CALL_IND:
		push_return(cpu, t->next);
		pt_emit_tip(cpu, t->to, true);
		return;
	case TRUTH_JUMP_IND:
		pt_emit_tip(cpu, t->to, true);
		return;
	case TRUTH_RET:
		if (compressed)
			pt_emit_tnt_bit(cpu, true);
		else
			pt_emit_tip(cpu, t->to, false);
		return;
	default:
		pt_emit_mode_exec(cpu);
		pt_emit_tip(cpu, t->to, false);
		return;
	}
}

static void leave(struct pt_cpu *cpu, const struct pt_transfer *t,
		  bool compressed)
{
	bool direct = t->kind == TRUTH_JUMP || t->kind == TRUTH_CALL;
	bool with_ip = cpu->context_en && t->kind != TRUTH_COND &&
		       !compressed && !(direct && cpu->opts->skl014);

	truth_log_add(&cpu->truth, TRUTH_DISABLE, t->kind, t->from, t->to);
	pt_emit_pgd(cpu, with_ip, t->to);
	cpu->ret_depth = 0;
}

static void enter(struct pt_cpu *cpu, const struct pt_transfer *t)
{
	truth_log_add(&cpu->truth, TRUTH_ENABLE, t->kind, 0, t->to);
	pt_emit_pge(cpu, t->to);
}

static void cfe(struct pt_cpu *cpu, uint8_t type, uint8_t vector, bool ip)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len = pt_encode_cfe(bytes, type, vector, ip);

	pt_emit_packet(cpu, bytes, len, true);
}

/*
 * Event Trace: CFE, and for a page fault EVD before it. A CFE has an IP of
 * its own only where no FUP of the transfer can lend it one.
 */
static void event_trace(struct pt_cpu *cpu, const struct pt_transfer *t,
			bool was_in_context, bool traced)
{
	bool own_ip = was_in_context && !traced;
	uint8_t bytes[PT_PACKET_MAX];

	if (!was_in_context && !cpu->context_en)
		return;
	if (t->kind == TRUTH_IRET) {
		own_ip = was_in_context && (!cpu->context_en || !traced);
		cfe(cpu, CFE_IRET, 0, own_ip);
	} else {
		if (t->vector == VECTOR_PF && was_in_context)
			pt_emit_packet(cpu, bytes,
				       pt_encode_evd(bytes, EVD_PFA, t->cr2),
				       true);
		cfe(cpu, CFE_INTR, (uint8_t)(t->vector < 0 ? 0 : t->vector),
		    own_ip);
	}
	if (own_ip)
		pt_emit_source_fup(cpu, t->from, t->from_base);
}

static void pip(struct pt_cpu *cpu, const struct pt_transfer *t)
{
	if (!cpu->context_en || !(cpu->msrs.ctl & RTIT_CTL_OS) || t->concealed)
		return;
	truth_log_add(&cpu->truth, TRUTH_CR3, 0, t->from, cpu->ctx.cr3);
	pt_emit_pip(cpu);
}

/* Operations that may change an enable, in the order of the manual. */
static void full_transfer(struct pt_cpu *cpu, const struct pt_transfer *t)
{
	bool was_in_context = cpu->context_en;
	bool before = cpu->packet_en;
	bool evented = is_event(t->kind) || t->kind == TRUTH_IRET;
	bool compressed = false;
	bool stop = false;

	if (is_far(t->kind) || t->cr3_written) {
		/*
		 * What software timed before this must not look later than
		 * what follows it, however rarely the clock is looked at.
		 */
		if (cpu->msrs.ctl & RTIT_CTL_MTCEN)
			pt_emit_mtc(cpu);
		cpu->context_en = eval_context(cpu);
	}
	if (cpu->context_en && (t->kind != TRUTH_COND || t->taken))
		stop = eval_filter(cpu, t->to);
	if (before && t->kind == TRUTH_RET)
		compressed = pop_return(cpu, t);
	if (evented && (cpu->msrs.ctl & RTIT_CTL_EVENTEN))
		event_trace(cpu, t, was_in_context, before);
	if (before && t->source)
		pt_emit_source_fup(cpu, t->from, t->from_base);
	/* A packet may have filled a STOP region. */
	update_packet_en(cpu);
	if (t->cr3_written)
		pip(cpu, t);
	if (before && cpu->packet_en) {
		if (t->kind < TRUTH_ENABLE && (t->kind != TRUTH_COND || t->taken))
			truth_log_add(&cpu->truth, t->kind, 0, t->from, t->to);
		traced_transfer(cpu, t, compressed);
	} else if (before) {
		leave(cpu, t, compressed);
	} else if (cpu->packet_en) {
		enter(cpu, t);
	}
	if (stop)
		trace_stop(cpu, t->to);
}

void pt_transfer(struct pt_cpu *cpu, const struct pt_transfer *t)
{
	if (!cpu->trigger_en)
		return;
	if (cpu->packet_en && t->kind < TRUTH_RET && !cpu->any_range) {
		/* Most of what executes: no enable can change. */
		if (t->kind != TRUTH_COND || t->taken)
			truth_log_add(&cpu->truth, t->kind, 0, t->from, t->to);
		traced_transfer(cpu, t, false);
	} else {
		full_transfer(cpu, t);
	}
	pt_boundary(cpu, t->to);
}

void pt_boundary(struct pt_cpu *cpu, uint64_t next)
{
	if (!cpu->trigger_en)
		return;
	if ((cpu->msrs.ctl & RTIT_CTL_MTCEN) && --cpu->mtc_wait == 0) {
		cpu->mtc_wait = cpu->opts->mtc_stride;
		pt_emit_mtc(cpu);
	}
	if (cpu->overflow) {
		if (!cpu->overflow_left)
			pt_emit_overflow_end(cpu, next, false);
		return;
	}
	if (cpu->byte_count >= cpu->psb_period)
		pt_emit_psb(cpu, next);
	if (cpu->opts->overflow_every &&
	    cpu->since_overflow >= cpu->opts->overflow_every)
		pt_emit_overflow_begin(cpu, next);
}

/* ---- instructions with packets of their own ---- */

void pt_ptwrite(struct pt_cpu *cpu, uint64_t clip, uint64_t nlip,
		uint64_t value, unsigned int size)
{
	bool ip = cpu->msrs.ctl & RTIT_CTL_FUPONPTW;
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len;

	if (!cpu->trigger_en || !cpu->context_en || !cpu->filter_en ||
	    !(cpu->msrs.ctl & RTIT_CTL_PTWEN))
		return;
	if (size == 4)
		value = (uint32_t)value;
	truth_log_add(&cpu->truth, TRUTH_PTWRITE, size, clip, value);
	len = pt_encode_ptw(bytes, value, size, ip);
	pt_emit_packet(cpu, bytes, len, true);
	if (ip)
		pt_emit_fup(cpu, clip);
	pt_boundary(cpu, nlip);
}

static bool power_events(const struct pt_cpu *cpu)
{
	return cpu->trigger_en && (cpu->msrs.ctl & RTIT_CTL_PWREVTEN);
}

static void put_sleep(struct pt_cpu *cpu, uint64_t clip)
{
	uint8_t bytes[PT_PACKET_MAX];

	pt_emit_packet(cpu, bytes,
		       pt_encode_pwre(bytes, (uint8_t)(cpu->sleep_state << 4),
				      false), true);
	pt_emit_packet(cpu, bytes, pt_encode_exstop(bytes, cpu->context_en),
		       true);
	if (cpu->context_en)
		pt_emit_fup(cpu, clip);
}

void pt_hlt(struct pt_cpu *cpu, uint64_t clip)
{
	if (!cpu->trigger_en)
		return;
	cpu->sleeping = true;
	cpu->sleep_state = 0;
	truth_log_add(&cpu->truth, TRUTH_IDLE, 0xffffffff, clip, 0);
	if (power_events(cpu))
		put_sleep(cpu, clip);
}

void pt_wake(struct pt_cpu *cpu, uint8_t reason, uint64_t next)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len;

	if (!cpu->sleeping)
		return;
	cpu->sleeping = false;
	if (!cpu->trigger_en)
		return;
	truth_log_add(&cpu->truth, TRUTH_WAKE, reason, 0, next);
	pt_emit_clocks(cpu);
	pt_emit_mtc_restart(cpu);
	if (!power_events(cpu))
		return;
	len = pt_encode_pwrx(bytes, cpu->sleep_state, cpu->sleep_state,
			     reason);
	pt_emit_packet(cpu, bytes, len, true);
}

/* An event is pending: the sleep ends before it begins, and has no MWAIT packet. */
static void end_at_once(struct pt_cpu *cpu, uint64_t clip, uint64_t nlip)
{
	truth_log_add(&cpu->truth, TRUTH_IDLE,
		      ~((uint32_t)cpu->sleep_state << 4), clip, 0);
	if (power_events(cpu))
		put_sleep(cpu, clip);
	pt_wake(cpu, PT_WAKE_OTHER, nlip);
}

/* Hint FxH asks for C0: MWAIT is then no sleep and makes no packets. */
bool pt_mwait(struct pt_cpu *cpu, uint64_t clip, uint64_t nlip,
	      const struct pt_mwait *m)
{
	uint8_t state = m->hints >> 4 & 0xf;
	uint8_t bytes[PT_PACKET_MAX];

	if (!m->armed || state == 0xf)
		return false;
	if (!cpu->trigger_en)
		return !m->event;
	cpu->sleeping = true;
	cpu->sleep_state = state;
	if (m->event) {
		end_at_once(cpu, clip, nlip);
		return false;
	}
	truth_log_add(&cpu->truth, TRUTH_IDLE, m->hints, clip, 0);
	if (!power_events(cpu))
		return true;
	if (cpu->context_en)
		pt_emit_packet(cpu, bytes,
			       pt_encode_mwait(bytes, m->hints, m->ext), true);
	put_sleep(cpu, clip);
	return true;
}

/*
 * FilterEn may be 0 where a transaction begins or ends: MODE.TSX then comes
 * alone, and the last one before a TIP.PGE counts.
 */
static void put_tsx(struct pt_cpu *cpu, bool abort, uint64_t clip)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len = pt_encode_mode_tsx(bytes, cpu->in_tx, abort);

	if (!cpu->context_en || !(cpu->msrs.ctl & RTIT_CTL_BRANCHEN))
		return;
	pt_emit_packet(cpu, bytes, len, true);
	if (cpu->packet_en)
		pt_emit_fup(cpu, clip);
}

void pt_tsx(struct pt_cpu *cpu, enum pt_tsx change, uint64_t clip, uint64_t to)
{
	struct pt_transfer abort = {
		.kind = TRUTH_FAR,
		.from = clip,
		.to = to,
		.vector = -1,
	};

	if (!cpu->trigger_en || (change == PT_TSX_BEGIN) == cpu->in_tx)
		return;
	cpu->in_tx = change == PT_TSX_BEGIN;
	put_tsx(cpu, change == PT_TSX_ABORT, clip);
	if (change == PT_TSX_ABORT)
		pt_transfer(cpu, &abort);
}

void pt_vmptrld(struct pt_cpu *cpu)
{
	uint8_t bytes[PT_PACKET_MAX];

	if (!cpu->trigger_en || !cpu->context_en || !cpu->ctx.in_vmx)
		return;
	pt_emit_packet(cpu, bytes, pt_encode_vmcs(bytes, cpu->ctx.vmcs), true);
}

void pt_if_change(struct pt_cpu *cpu, uint64_t nlip)
{
	if (!cpu->trigger_en || !cpu->context_en ||
	    !(cpu->msrs.ctl & RTIT_CTL_EVENTEN) ||
	    (cpu->mode_sent && cpu->last_mode.intf == cpu->ctx.mode.intf))
		return;
	pt_emit_mode_exec(cpu);
	if (cpu->packet_en)
		pt_emit_fup(cpu, nlip);
	pt_boundary(cpu, nlip);
}
