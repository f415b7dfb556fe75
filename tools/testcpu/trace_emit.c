// SPDX-License-Identifier: GPL-2.0-only
/*
 * Order and buffering of packets (Intel SDM Vol. 3C, "Packet Definitions",
 * "PSB+", "Overflow"). Any packet but TNT pushes out the results before it; a
 * CYC precedes the packet or the first result it times. Owns the buffers
 * in struct pt_cpu; leaves the enables to trace_model.c. Vcpu thread.
 */
#include "trace_emit.h"

#include <string.h>

#define SHORT_TNT_MAX	6
#define LONG_TNT_MAX	47
#define CYC_WRAP	4096

/* MTC periods that one MTC may cover, and MTCs sent at once. */
#define MTC_MISSED_MAX	128
#define MTC_BURST_MAX	64

static void disable_trigger(struct pt_cpu *cpu, uint64_t status_bit)
{
	cpu->msrs.status |= status_bit;
	cpu->msrs.status &= ~RTIT_STATUS_TRIGGEREN;
	cpu->trigger_en = false;
	cpu->packet_en = false;
	cpu->len = 0;
}

void pt_emit_set_limit(struct pt_cpu *cpu)
{
	uint64_t room = pt_output_room(&cpu->out);

	if (cpu->since_start < cpu->opts->error_after)
		room = cpu->opts->error_after - cpu->since_start < room ?
			       cpu->opts->error_after - cpu->since_start : room;
	cpu->limit = room < PT_BUFFER ? (size_t)room : PT_BUFFER;
}

void pt_emit_drain(struct pt_cpu *cpu)
{
	unsigned int what = pt_output_write(&cpu->out, cpu->buf, cpu->len);

	cpu->since_start += cpu->len;
	cpu->len = 0;
	if (cpu->opts->error_after && cpu->since_start >= cpu->opts->error_after)
		what |= PT_OUT_ERROR;
	if (what & PT_OUT_PMI)
		cpu->pmi = true;
	if (what & PT_OUT_STOPPED)
		disable_trigger(cpu, RTIT_STATUS_STOPPED);
	if (what & PT_OUT_ERROR)
		disable_trigger(cpu, RTIT_STATUS_ERROR);
	pt_emit_set_limit(cpu);
}

/*
 * All bytes of the trace pass here. During an overflow packets are counted
 * and lost; OutputOffset and PacketByteCnt do not see them.
 */
static void put(struct pt_cpu *cpu, const uint8_t *bytes, unsigned int len)
{
	if (!cpu->trigger_en)
		return;
	if (cpu->overflow) {
		if (cpu->overflow_left)
			cpu->overflow_left--;
		return;
	}
	memcpy(cpu->buf + cpu->len, bytes, len);
	cpu->len += len;
	cpu->byte_count += len;
	cpu->since_overflow++;
	if (cpu->len >= cpu->limit)
		pt_emit_drain(cpu);
}

/*
 * The threshold is 2^(CycThresh-1) cycles, 0 for none. Two packets of one
 * cycle share a CYC.
 */
static void cyc(struct pt_cpu *cpu)
{
	unsigned int field = (cpu->msrs.ctl & RTIT_CTL_CYCTHRESH) >>
			     RTIT_CTL_CYCTHRESH_SHIFT;
	uint64_t threshold = field ? 1ULL << (field - 1) : 1;
	uint8_t bytes[PT_PACKET_MAX];

	if (!(cpu->msrs.ctl & RTIT_CTL_CYCEN) || cpu->overflow)
		return;
	while (cpu->opts->cyc_wrap && cpu->cycles >= CYC_WRAP) {
		put(cpu, bytes, pt_encode_cyc(bytes, CYC_WRAP - 1));
		cpu->cycles -= CYC_WRAP - 1;
	}
	if (cpu->cycles < threshold)
		return;
	put(cpu, bytes, pt_encode_cyc(bytes, cpu->cycles));
	cpu->cycles = 0;
}

static void put_tnt(struct pt_cpu *cpu)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len;

	if (cpu->tnt_count <= SHORT_TNT_MAX)
		len = pt_encode_tnt(bytes, cpu->tnt_bits, cpu->tnt_count);
	else
		len = pt_encode_long_tnt(bytes, cpu->tnt_bits, cpu->tnt_count);
	cpu->tnt_count = 0;
	cpu->tnt_bits = 0;
	put(cpu, bytes, len);
}

uint64_t pt_payload_ip(const struct pt_cpu *cpu, uint64_t ip, uint32_t base)
{
	if (!base || (cpu->msrs.caps->ecx & RTIT_CAP_LIP))
		return ip;
	return (uint32_t)(ip - base);
}

/* @ip as in pt_payload_ip(). */
static void put_payload(struct pt_cpu *cpu, enum pt_ip_packet kind,
			uint64_t ip)
{
	uint8_t bytes[PT_PACKET_MAX];
	uint64_t last_ip = cpu->last_ip;
	unsigned int len;

	len = pt_encode_ip(bytes, kind, ip, &last_ip, cpu->full_ip);
	/* LastIP is that of the decoder: a lost packet does not move it. */
	if (!cpu->overflow && cpu->trigger_en) {
		cpu->last_ip = last_ip;
		cpu->full_ip = false;
	}
	put(cpu, bytes, len);
}

static void put_ip(struct pt_cpu *cpu, enum pt_ip_packet kind, uint64_t ip)
{
	put_payload(cpu, kind, pt_payload_ip(cpu, ip, cpu->ctx.cs_base));
}

void pt_emit_flush(struct pt_cpu *cpu)
{
	unsigned int held = cpu->deferred_count;

	if (cpu->tnt_count)
		put_tnt(cpu);
	cpu->deferred_count = 0;
	for (unsigned int i = 0; i < held; i++)
		put_payload(cpu, PT_TIP, cpu->deferred[i]);
}

void pt_emit_tnt_bit(struct pt_cpu *cpu, bool taken)
{
	if (cpu->msrs.ctl & RTIT_CTL_DISTNT)
		return;
	if (cpu->overflow) {
		if (cpu->overflow_left)
			cpu->overflow_left--;
		return;
	}
	if (!cpu->tnt_count && (cpu->msrs.ctl & RTIT_CTL_CYCEN))
		cyc(cpu);
	cpu->tnt_bits = cpu->tnt_bits << 1 | taken;
	if (++cpu->tnt_count == cpu->tnt_max)
		pt_emit_flush(cpu);
}

void pt_emit_packet(struct pt_cpu *cpu, const uint8_t *bytes,
		    unsigned int len, bool timed)
{
	pt_emit_flush(cpu);
	if (timed)
		cyc(cpu);
	put(cpu, bytes, len);
}

/*
 * A TIP is only worth holding back while results of before it are still
 * collected; with none, it goes out as ever.
 */
static bool may_defer(const struct pt_cpu *cpu)
{
	return cpu->opts->deferred_tip && cpu->tnt_count && !cpu->overflow &&
	       !(cpu->msrs.ctl & RTIT_CTL_CYCEN);
}

void pt_emit_tip(struct pt_cpu *cpu, uint64_t ip, bool hold)
{
	if (hold && may_defer(cpu)) {
		cpu->deferred[cpu->deferred_count++] =
			pt_payload_ip(cpu, ip, cpu->ctx.cs_base);
		if (cpu->deferred_count == PT_DEFERRED)
			pt_emit_flush(cpu);
		return;
	}
	pt_emit_flush(cpu);
	cyc(cpu);
	put_ip(cpu, PT_TIP, ip);
}

void pt_emit_pge(struct pt_cpu *cpu, uint64_t ip)
{
	pt_emit_mode_exec(cpu);
	pt_emit_flush(cpu);
	cyc(cpu);
	put_ip(cpu, PT_TIP_PGE, ip);
}

void pt_emit_pgd(struct pt_cpu *cpu, bool with_ip, uint64_t ip)
{
	uint8_t bytes[PT_PACKET_MAX];

	pt_emit_flush(cpu);
	cyc(cpu);
	if (with_ip)
		put_ip(cpu, PT_TIP_PGD, ip);
	else
		put(cpu, bytes, pt_encode_ip_none(bytes, PT_TIP_PGD));
}

void pt_emit_fup(struct pt_cpu *cpu, uint64_t ip)
{
	pt_emit_source_fup(cpu, ip, cpu->ctx.cs_base);
}

void pt_emit_source_fup(struct pt_cpu *cpu, uint64_t ip, uint32_t base)
{
	pt_emit_flush(cpu);
	put_payload(cpu, PT_FUP, pt_payload_ip(cpu, ip, base));
}

void pt_emit_mode_exec(struct pt_cpu *cpu)
{
	struct pt_mode_exec mode = cpu->ctx.mode;
	uint8_t bytes[PT_PACKET_MAX];

	if (!(cpu->msrs.ctl & RTIT_CTL_EVENTEN))
		mode.intf = false;
	if (cpu->mode_sent && mode.lma == cpu->last_mode.lma &&
	    mode.csd == cpu->last_mode.csd && mode.intf == cpu->last_mode.intf)
		return;
	if (!cpu->overflow) {
		cpu->last_mode = mode;
		cpu->mode_sent = true;
	}
	pt_emit_packet(cpu, bytes, pt_encode_mode_exec(bytes, mode), true);
}

static uint64_t pip_cr3(const struct pt_context *ctx)
{
	return ctx->pae ? ctx->cr3 : ctx->cr3 & ~0xfffULL;
}

void pt_emit_pip(struct pt_cpu *cpu)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len = pt_encode_pip(bytes, pip_cr3(&cpu->ctx),
					 cpu->ctx.nonroot);

	pt_emit_packet(cpu, bytes, len, true);
}

/* The always-running timer that TSC is derived from. */
static uint64_t art(const struct pt_cpu *cpu, uint64_t tsc)
{
	return (uint64_t)((unsigned __int128)tsc * cpu->opts->crystal_den /
			  cpu->opts->crystal_num);
}

static unsigned int mtc_freq(const struct pt_cpu *cpu)
{
	return (cpu->msrs.ctl & RTIT_CTL_MTCFREQ) >> RTIT_CTL_MTCFREQ_SHIFT;
}

static uint16_t fast_counter(const struct pt_cpu *cpu, uint64_t tsc)
{
	unsigned __int128 edge = (unsigned __int128)art(cpu, tsc) *
				 cpu->opts->crystal_num;

	edge = (edge + cpu->opts->crystal_den - 1) / cpu->opts->crystal_den;
	return (uint16_t)((tsc - (uint64_t)edge) & 0x1ff);
}

static void put_tsc(struct pt_cpu *cpu)
{
	uint64_t tsc = cpu->tsc(cpu->tsc_ctx);
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len;

	if (!(cpu->msrs.ctl & RTIT_CTL_TSCEN))
		return;
	pt_emit_packet(cpu, bytes, pt_encode_tsc(bytes, tsc), true);
	if (!(cpu->msrs.ctl & RTIT_CTL_MTCEN))
		return;
	len = pt_encode_tma(bytes, (uint16_t)art(cpu, tsc),
			    fast_counter(cpu, tsc));
	pt_emit_packet(cpu, bytes, len, false);
	/* TMA has given this window; an MTC with it would look a round late. */
	cpu->mtc_last = art(cpu, tsc) >> mtc_freq(cpu);
}

static void put_cbr(struct pt_cpu *cpu)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len = pt_encode_cbr(bytes, cpu->opts->cbr);

	pt_emit_packet(cpu, bytes, len, false);
}

void pt_emit_clocks(struct pt_cpu *cpu)
{
	put_tsc(cpu);
	put_cbr(cpu);
}

static void put_vmcs(struct pt_cpu *cpu)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len = pt_encode_vmcs(bytes, cpu->ctx.vmcs);

	pt_emit_packet(cpu, bytes, len, true);
}

static void put_mode_tsx(struct pt_cpu *cpu)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len = pt_encode_mode_tsx(bytes, cpu->in_tx, false);

	pt_emit_packet(cpu, bytes, len, true);
}

/*
 * Status only: CPU side state starts anew (LastIP, RET stack, MODE.Exec), the
 * packets inside describe what is, and bind to nothing.
 */
void pt_emit_psb(struct pt_cpu *cpu, uint64_t next)
{
	uint8_t bytes[PT_PACKET_MAX];

	pt_emit_packet(cpu, bytes, pt_encode_psb(bytes), false);
	cpu->last_ip = 0;
	cpu->full_ip = false;
	cpu->ret_depth = 0;
	cpu->mode_sent = false;
	pt_emit_clocks(cpu);
	if (cpu->context_en && (cpu->msrs.ctl & RTIT_CTL_OS))
		pt_emit_pip(cpu);
	if (cpu->context_en && cpu->ctx.in_vmx)
		put_vmcs(cpu);
	if (cpu->context_en && (cpu->msrs.ctl & RTIT_CTL_BRANCHEN))
		put_mode_tsx(cpu);
	if (cpu->packet_en) {
		pt_emit_mode_exec(cpu);
		pt_emit_fup(cpu, next);
	}
	pt_emit_packet(cpu, bytes, pt_encode_psbend(bytes), false);
	cpu->byte_count = 0;
}

static uint64_t mtc_window(const struct pt_cpu *cpu)
{
	return art(cpu, cpu->tsc(cpu->tsc_ctx)) >> mtc_freq(cpu);
}

void pt_emit_mtc_restart(struct pt_cpu *cpu)
{
	if (cpu->msrs.ctl & RTIT_CTL_MTCEN)
		cpu->mtc_last = mtc_window(cpu);
	cpu->mtc_wait = cpu->opts->mtc_stride;
}

static void put_mtc(struct pt_cpu *cpu, uint64_t window)
{
	uint8_t bytes[PT_PACKET_MAX];
	unsigned int len = pt_encode_mtc(bytes, (uint8_t)window);

	cpu->mtc_last = window;
	pt_emit_packet(cpu, bytes, len, true);
}

/*
 * One MTC covers all periods since the last look. A vCPU that its host did
 * not run may miss so many that 8 bits cannot say: its clock has stopped as
 * in a deep sleep, and as after one a TSC says where it goes on. Without TSC
 * packets MTCs a half round apart do, up to a limit.
 */
void pt_emit_mtc(struct pt_cpu *cpu)
{
	uint64_t window = mtc_window(cpu);
	uint64_t missed = window - cpu->mtc_last;

	if (!missed || cpu->overflow)
		return;
	if (missed > MTC_MISSED_MAX && (cpu->msrs.ctl & RTIT_CTL_TSCEN)) {
		put_tsc(cpu);
		return;
	}
	if (missed > MTC_MISSED_MAX * MTC_BURST_MAX)
		cpu->mtc_last = window - MTC_MISSED_MAX;
	while (window - cpu->mtc_last > MTC_MISSED_MAX)
		put_mtc(cpu, cpu->mtc_last + MTC_MISSED_MAX);
	put_mtc(cpu, window);
}

void pt_emit_overflow_begin(struct pt_cpu *cpu, uint64_t next)
{
	pt_emit_flush(cpu);
	if (!cpu->trigger_en)
		return;
	cpu->overflow = true;
	cpu->overflow_left = cpu->opts->overflow_length;
	truth_log_add(&cpu->truth, TRUTH_OVERFLOW, 0, next, 0);
}

/*
 * Nothing after an OVF may lean on what was lost: no compressed RET, no
 * compressed IP. Mode and CR3 may have changed unseen; only a PSB+ says.
 */
void pt_emit_overflow_end(struct pt_cpu *cpu, uint64_t next, bool off)
{
	uint8_t bytes[PT_PACKET_MAX];

	cpu->overflow = false;
	cpu->ret_depth = 0;
	cpu->full_ip = true;
	pt_emit_packet(cpu, bytes, pt_encode_ovf(bytes), true);
	cpu->since_overflow = 0;
	cpu->cycles = 0;
	if (off)
		return;
	truth_log_add(&cpu->truth, TRUTH_RESUME, 0, 0,
		      cpu->packet_en ? next : 0);
	if (cpu->packet_en)
		pt_emit_fup(cpu, next);
	pt_emit_mtc_restart(cpu);
	pt_emit_psb(cpu, next);
}
