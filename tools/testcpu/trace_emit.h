/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How packets leave the model: the TNT buffer, deferred TIPs, CYC before what
 * it times, PSB+, clock packets, overflow, and the bytes' way to the output.
 * Internal to the trace model; which packets an operation makes is decided in
 * trace_model.c. Runs on the thread that owns the struct pt_cpu.
 */
#ifndef TESTCPU_TRACE_EMIT_H
#define TESTCPU_TRACE_EMIT_H

#include "trace_model.h"

/**
 * pt_payload_ip - what packets and filters know an address as
 * @cpu: the processor
 * @ip: linear address
 * @base: base of its code segment
 *
 * Return: @ip on CPUs whose payloads are linear addresses (LIP), else its
 * offset in the segment.
 */
uint64_t pt_payload_ip(const struct pt_cpu *cpu, uint64_t ip, uint32_t base);

/** pt_emit_tnt_bit - one result, oldest first */
void pt_emit_tnt_bit(struct pt_cpu *cpu, bool taken);

/** pt_emit_flush - everything held back becomes packets, in order */
void pt_emit_flush(struct pt_cpu *cpu);

/** pt_emit_drain - buffered bytes go to memory; STATUS follows */
void pt_emit_drain(struct pt_cpu *cpu);

/** pt_emit_set_limit - recompute when to drain; after output was started */
void pt_emit_set_limit(struct pt_cpu *cpu);

/** pt_emit_tip - TIP of an indirect branch; @hold: it may be deferred */
void pt_emit_tip(struct pt_cpu *cpu, uint64_t ip, bool hold);

/** pt_emit_pge - MODE.Exec when the decoder cannot know it, TIP.PGE */
void pt_emit_pge(struct pt_cpu *cpu, uint64_t ip);

/** pt_emit_pgd - TIP.PGD, with its IP or without */
void pt_emit_pgd(struct pt_cpu *cpu, bool with_ip, uint64_t ip);

/** pt_emit_fup - FUP of an address in the current code segment */
void pt_emit_fup(struct pt_cpu *cpu, uint64_t ip);

/** pt_emit_source_fup - FUP of where a transfer came from
 * @cpu: the processor
 * @ip: the address
 * @base: base of the code segment there
 */
void pt_emit_source_fup(struct pt_cpu *cpu, uint64_t ip, uint32_t base);

/** pt_emit_mode_exec - MODE.Exec if it differs from the last one sent */
void pt_emit_mode_exec(struct pt_cpu *cpu);

/** pt_emit_pip - PIP of the current CR3 */
void pt_emit_pip(struct pt_cpu *cpu);

/** pt_emit_packet - any other packet, already encoded
 * @cpu: the processor
 * @bytes: the packet
 * @len: its length
 * @timed: a CYC may precede it
 */
void pt_emit_packet(struct pt_cpu *cpu, const uint8_t *bytes,
		    unsigned int len, bool timed);

/** pt_emit_clocks - TSC and TMA as far as enabled, and CBR */
void pt_emit_clocks(struct pt_cpu *cpu);

/** pt_emit_psb - PSB+ with the state as of now; @next executes next */
void pt_emit_psb(struct pt_cpu *cpu, uint64_t next);

/** pt_emit_mtc - MTC if its clock window has changed */
void pt_emit_mtc(struct pt_cpu *cpu);

/** pt_emit_mtc_restart - the current window counts as sent */
void pt_emit_mtc_restart(struct pt_cpu *cpu);

/** pt_emit_overflow_begin - packets are lost from here on */
void pt_emit_overflow_begin(struct pt_cpu *cpu, uint64_t next);

/** pt_emit_overflow_end - OVF; @next executes next; @off: tracing ends here */
void pt_emit_overflow_end(struct pt_cpu *cpu, uint64_t next, bool off);

#endif /* TESTCPU_TRACE_EMIT_H */
