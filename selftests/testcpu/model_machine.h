/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A processor of the trace model with a megabyte of memory and a clock that
 * the test moves, and its packets as text. For the model tests only; one
 * machine per program.
 */
#ifndef TESTCPU_MODEL_MACHINE_H
#define TESTCPU_MODEL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "../../tools/testcpu/trace_model.h"

/* Single range output of 512 KiB at 80000H. */
#define MACHINE_OUTPUT	0x80000

/* A filter range and a TraceStop range, with which most rows are driven. */
#define IN_FILTER	0x1000
#define FILTER_LAST	0x1fff
#define OUTSIDE		0x3000
#define IN_STOP		0x5000
#define STOP_LAST	0x5fff
#define MATCHING_CR3	0x7000
#define OTHER_CR3	0x9000
#define KERNEL		0xffffffff81000000ULL

#define WITH_FILTER	((uint64_t)1 << RTIT_CTL_ADDR_CFG_SHIFT(0) | \
			 (uint64_t)2 << RTIT_CTL_ADDR_CFG_SHIFT(1))
#define WITH_STOP	((uint64_t)2 << RTIT_CTL_ADDR_CFG_SHIFT(1))

extern struct pt_cpu cpu;
extern struct pt_options machine_options;
extern uint64_t machine_tsc;

/** machine_reset - a new processor; @model as in the caps option */
void machine_reset(const char *model);

/**
 * machine_start - set TraceEn
 * @ctl: IA32_RTIT_CTL beside TraceEn
 * @cpl: privilege level
 * @cr3: CR3
 * @ip: address after the WRMSR
 * @psb: let PacketByteCnt be 0, so that a PSB+ comes first
 */
void machine_start(uint64_t ctl, unsigned int cpl, uint64_t cr3, uint64_t ip,
		   bool psb);

/** machine_stop - clear TraceEn by a WRMSR at @clip */
void machine_stop(uint64_t clip);

/** machine_packets - packets since the last call; valid until the next */
const char *machine_packets(void);

/** machine_expect - report case @name: the packets since the last call */
void machine_expect(const char *name, const char *expected);

/* Transfers; events and far transfers go to the CPL and mode they are given. */
void do_cond(uint64_t from, uint64_t to, bool taken);
void do_jump(uint64_t from, uint64_t to);
void do_call(uint64_t from, uint64_t to);
void do_jump_ind(uint64_t from, uint64_t to);
void do_call_ind(uint64_t from, uint64_t to);
void do_ret(uint64_t from, uint64_t to);
void do_far(uint8_t kind, uint64_t from, uint64_t to, unsigned int cpl);
void do_event(uint8_t kind, uint64_t from, uint64_t to, unsigned int cpl);
void do_mov_cr3(uint64_t from, uint64_t cr3);

#endif /* TESTCPU_MODEL_MACHINE_H */
