// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packet generation of the test CPU row by row of the manual's tables (Intel
 * SDM Vol. 3C, "Packet Generation Scenarios"), and what is not in them:
 * PSB+, compression, timing, power, PTWRITE, TSX, VMX, overflow. Every case
 * compares the exact list of packets. User space.
 */
#include <string.h>

#include "../../tools/testcpu/trace_emit.h"
#include "ktap.h"
#include "model_machine.h"

#define ALL	(RTIT_CTL_BRANCHEN | RTIT_CTL_OS | RTIT_CTL_USER)
#define USER	(RTIT_CTL_BRANCHEN | RTIT_CTL_USER)
#define KERN	(RTIT_CTL_BRANCHEN | RTIT_CTL_OS)
#define BY_CR3	(ALL | RTIT_CTL_CR3FILTER)

/* A running trace whose start packets have been read. */
static void begin(uint64_t ctl, unsigned int cpl, uint64_t cr3, uint64_t ip)
{
	machine_reset("newest");
	machine_start(ctl, cpl, cr3, ip, false);
	machine_packets();
}

static void rows_1(void)
{
	begin(ALL | WITH_FILTER, 0, 0, OUTSIDE);
	pt_boundary(&cpu, OUTSIDE + 1);
	machine_expect("case_1a", "");
	begin(ALL, 0, 0, IN_FILTER);
	pt_boundary(&cpu, IN_FILTER + 1);
	machine_expect("case_1b", "");
}

/* Stop and go on without a PSB+; the bytes of packets that this made. */
static uint64_t enabled_bytes(void)
{
	uint64_t before;

	machine_stop(KERNEL);
	before = cpu.msrs.mask_ptrs >> 32;
	pt_wrmsr(&cpu, RTIT_CTL, ALL | RTIT_CTL_TRACEEN, KERNEL, KERNEL);
	pt_emit_drain(&cpu);
	return cpu.out.offset - before;
}

static void rows_2(void)
{
	machine_reset("newest");
	machine_start(USER, 0, 0, KERNEL, false);
	machine_expect("case_2a", "CBR(20)");
	machine_reset("newest");
	machine_start(USER | RTIT_CTL_TSCEN | RTIT_CTL_MTCEN, 0, 0, KERNEL,
		      false);
	machine_expect("case_2a_clocks", "TSC(10000) TMA(333,10) CBR(20)");
	machine_reset("newest");
	machine_start(USER, 0, 0, KERNEL, true);
	machine_expect("case_2b", "PSB CBR(20) PSBEND");
	machine_reset("newest");
	machine_start(ALL, 0, 0, KERNEL, false);
	machine_expect("case_2d",
		       "CBR(20) MODE.Exec(64) TIP.PGE(ffffffff81000000)");
	machine_stop(KERNEL + 2);
	machine_packets();
	pt_wrmsr(&cpu, RTIT_CTL, ALL | RTIT_CTL_TRACEEN, KERNEL + 2,
		 KERNEL + 4);
	machine_expect("case_2d_again",
		       "CBR(20) MODE.Exec(64) TIP.PGE(ffffffff81000004)");
	/* 4 bytes of CBR, 2 of MODE.Exec, 7 of a TIP.PGE that is not compressed. */
	ktap_case(enabled_bytes() == 13, "case_2d_again_ip_is_whole");
	machine_reset("newest");
	machine_start(ALL, 0, MATCHING_CR3, KERNEL, true);
	machine_expect("case_2e",
		       "PSB CBR(20) PIP(7000) MODE.TSX(none) PSBEND MODE.Exec(64) TIP.PGE(ffffffff81000000)");
	machine_reset("broadwell");
	machine_start(USER | RTIT_CTL_TOPA, 0, 0, KERNEL, false);
	ktap_case(cpu.msrs.status & RTIT_STATUS_ERROR,
		  "case_2_bad_table_is_operational_error");
	machine_reset("0:5");
	machine_start(USER, 0, 0, KERNEL, false);
	machine_expect("case_2_psb_always_without_psb_cyc",
		       "PSB CBR(20) PSBEND");
	machine_reset("newest");
	machine_start(ALL | WITH_STOP, 0, 0, IN_STOP, false);
	machine_expect("case_2_in_tracestop_range", "CBR(20) TraceStop");
	ktap_case(cpu.msrs.status & RTIT_STATUS_STOPPED,
		  "case_2_in_tracestop_range_sets_stopped");
	machine_reset("newest");
	machine_start(ALL | WITH_FILTER, 0, 0, OUTSIDE, false);
	machine_expect("case_2_outside_filter", "CBR(20)");
}

static void rows_3(void)
{
	begin(USER, 0, 0, KERNEL);
	machine_stop(KERNEL + 0x10);
	machine_expect("case_3a", "");
	begin(ALL, 0, 0, KERNEL);
	machine_stop(KERNEL + 0x10);
	machine_expect("case_3b", "FUP(ffffffff81000010) TIP.PGD()");
	begin(ALL, 0, 0, IN_FILTER);
	do_cond(IN_FILTER, IN_FILTER + 8, true);
	machine_stop(IN_FILTER + 0x10);
	machine_expect("case_3b_tnt_first", "TNT(T) FUP(1010) TIP.PGD()");
}

static void rows_5(void)
{
	begin(BY_CR3, 0, OTHER_CR3, KERNEL);
	do_mov_cr3(KERNEL, OTHER_CR3 + 0x1000);
	machine_expect("case_5a", "");
	begin(ALL | WITH_FILTER, 0, OTHER_CR3, OUTSIDE);
	do_mov_cr3(OUTSIDE, MATCHING_CR3);
	machine_expect("case_5f", "PIP(7000)");
	do_mov_cr3(IN_STOP, OTHER_CR3);
	machine_expect("case_5f_in_tracestop", "PIP(9000) TraceStop");
	begin(BY_CR3, 0, OTHER_CR3, KERNEL);
	do_mov_cr3(KERNEL, MATCHING_CR3);
	machine_expect("case_5b",
		       "PIP(7000) MODE.Exec(64) TIP.PGE(ffffffff81000003)");
	do_mov_cr3(KERNEL + 8, OTHER_CR3);
	machine_expect("case_5c", "TIP.PGD()");
	begin(ALL | WITH_FILTER, 0, OTHER_CR3, IN_FILTER);
	do_mov_cr3(FILTER_LAST, MATCHING_CR3);
	machine_expect("case_5e", "PIP(7000) TIP.PGD(2002)");
	begin(ALL | WITH_STOP, 0, OTHER_CR3, IN_FILTER);
	do_mov_cr3(IN_STOP, MATCHING_CR3);
	machine_expect("case_5e_in_tracestop",
		       "PIP(7000) TIP.PGD(5003) TraceStop");
	begin(ALL, 0, OTHER_CR3, KERNEL);
	do_mov_cr3(KERNEL, MATCHING_CR3);
	machine_expect("case_5d", "PIP(7000)");
	do_mov_cr3(KERNEL, MATCHING_CR3);
	machine_expect("case_5d_same_value", "PIP(7000)");
	begin(ALL, 0, OTHER_CR3, KERNEL);
	do_mov_cr3(KERNEL, MATCHING_CR3 | 0x803);
	machine_expect("case_5d_pcid_not_in_pip", "PIP(7000)");
	begin(USER, 0, OTHER_CR3, KERNEL);
	do_mov_cr3(KERNEL, MATCHING_CR3);
	machine_expect("case_5_no_pip_without_os", "");
}

static void rows_6(void)
{
	begin(ALL | WITH_FILTER, 0, 0, OUTSIDE);
	do_jump(OUTSIDE, OUTSIDE + 0x10);
	machine_expect("case_6a", "");
	do_jump(OUTSIDE, IN_FILTER);
	machine_expect("case_6c", "MODE.Exec(64) TIP.PGE(1000)");
	do_jump(IN_FILTER, IN_FILTER + 0x10);
	do_call(IN_FILTER, IN_FILTER + 0x20);
	machine_expect("case_6d", "");
	do_jump(IN_FILTER, OUTSIDE);
	machine_expect("case_6b", "TIP.PGD(3000)");
	do_jump(OUTSIDE, FILTER_LAST);
	machine_expect("case_6c_mode_known", "TIP.PGE(1fff)");
	do_jump(IN_FILTER, IN_STOP);
	machine_expect("case_6b_tracestop", "TIP.PGD(5000) TraceStop");
	do_jump(IN_STOP, IN_FILTER);
	machine_expect("case_6_nothing_after_tracestop", "");
}

static void rows_7(void)
{
	begin(ALL | WITH_FILTER, 0, 0, OUTSIDE);
	do_cond(OUTSIDE, OUTSIDE + 8, true);
	machine_expect("case_7a", "");
	do_cond(OUTSIDE, IN_FILTER, true);
	machine_expect("case_7b", "MODE.Exec(64) TIP.PGE(1000)");
	for (int i = 0; i < 5; i++)
		do_cond(IN_FILTER, IN_FILTER + 8, i & 1);
	ktap_case(cpu.tnt_count == 5, "case_7_tnt_buffered");
	do_cond(IN_FILTER, IN_FILTER + 8, true);
	ktap_case(cpu.tnt_count == 0, "case_7_tnt_sent_when_full");
	machine_expect("case_7d", "TNT(NTNTNT)");
	do_cond(IN_FILTER, OUTSIDE, true);
	machine_expect("case_7e", "TIP.PGD()");
	do_cond(OUTSIDE, IN_FILTER, true);
	machine_packets();
	do_cond(IN_FILTER, IN_FILTER + 2, false);
	do_cond(IN_FILTER, IN_STOP, true);
	machine_expect("case_7f_tracestop", "TNT(N) TIP.PGD() TraceStop");
	begin(ALL | WITH_FILTER, 0, 0, IN_FILTER);
	do_call(IN_FILTER, IN_FILTER + 0x40);
	do_ret(IN_FILTER + 0x40, IN_FILTER + 5);
	machine_expect("case_7_compressed_ret", "TNT(T)");
	do_call(FILTER_LAST - 4, IN_FILTER);
	do_ret(IN_FILTER, FILTER_LAST + 1);
	machine_expect("case_7e_compressed_ret", "TIP.PGD()");
	begin(ALL | WITH_STOP, 0, 0, IN_FILTER);
	do_cond(IN_FILTER, IN_STOP, true);
	machine_expect("case_7e_tracestop", "TIP.PGD() TraceStop");
	begin(ALL | WITH_STOP, 0, 0, IN_STOP - 0x1000);
	do_call(IN_STOP - 5, IN_FILTER);
	do_ret(IN_FILTER, IN_STOP);
	machine_expect("case_7e_compressed_ret_tracestop",
		       "TIP.PGD() TraceStop");
	begin(ALL | WITH_STOP, 0, 0, IN_STOP - 0x1000);
	do_call(IN_STOP - 5, IN_FILTER);
	do_cond(IN_FILTER, IN_FILTER + 2, false);
	do_ret(IN_FILTER + 2, IN_STOP);
	machine_expect("case_7f_compressed_ret_tracestop",
		       "TNT(N) TIP.PGD() TraceStop");
}

static void rows_8(void)
{
	begin(ALL | WITH_FILTER, 0, 0, OUTSIDE);
	do_cond(OUTSIDE, OUTSIDE + 2, false);
	machine_expect("case_8a", "");
	do_cond(OUTSIDE, IN_FILTER, false);
	machine_expect("case_8_no_filter_evaluation_in", "");
	begin(ALL | WITH_FILTER, 0, 0, IN_FILTER);
	for (int i = 0; i < 6; i++)
		do_cond(IN_FILTER, IN_FILTER + 2, false);
	machine_expect("case_8d", "TNT(NNNNNN)");
	do_cond(FILTER_LAST, OUTSIDE, false);
	machine_expect("case_8_no_filter_evaluation_out", "TNT(N)");
}

static void rows_9(void)
{
	begin(ALL | WITH_FILTER, 0, 0, OUTSIDE);
	do_jump_ind(OUTSIDE, OUTSIDE + 0x20);
	do_ret(OUTSIDE, OUTSIDE + 0x20);
	machine_expect("case_9a", "");
	do_call_ind(OUTSIDE, IN_FILTER);
	machine_expect("case_9b", "MODE.Exec(64) TIP.PGE(1000)");
	do_ret(IN_FILTER, IN_FILTER + 0x30);
	machine_expect("case_9d_ret", "TIP(1030)");
	do_jump_ind(IN_FILTER, IN_FILTER + 0x40);
	machine_expect("case_9d", "TIP(1040)");
	do_call_ind(IN_FILTER, OUTSIDE);
	machine_expect("case_9c", "TIP.PGD(3000)");
	do_ret(OUTSIDE, IN_FILTER + 5);
	machine_expect("case_9b_ret", "TIP.PGE(1005)");
	do_ret(IN_FILTER, OUTSIDE);
	machine_expect("case_9c_ret", "TIP.PGD(3000)");
	do_jump_ind(OUTSIDE, IN_FILTER);
	machine_packets();
	do_jump_ind(IN_FILTER, IN_STOP);
	machine_expect("case_9c_tracestop", "TIP.PGD(5000) TraceStop");
	begin(ALL | WITH_FILTER, 0, 0, IN_FILTER);
	do_ret(IN_FILTER, IN_STOP);
	machine_expect("case_9c_ret_tracestop", "TIP.PGD(5000) TraceStop");
}

/* Task switch: a far branch that loads CR3 without MOV CR3. */
static void switch_task(uint64_t from, uint64_t to, uint64_t cr3)
{
	struct pt_transfer t = {
		.kind = TRUTH_FAR, .from = from, .to = to,
		.cr3_written = true, .vector = -1,
	};

	cpu.ctx.cr3 = cr3;
	pt_transfer(&cpu, &t);
}

static void rows_10(void)
{
	begin(USER, 0, 0, KERNEL);
	do_far(TRUTH_IRET, KERNEL, KERNEL + 0x100, 0);
	machine_expect("case_10a", "");
	do_far(TRUTH_SYSRET, KERNEL, 0x400000, 3);
	machine_expect("case_10b", "MODE.Exec(64) TIP.PGE(400000)");
	do_far(TRUTH_SYSCALL, 0x400000, KERNEL, 0);
	machine_expect("case_10c", "TIP.PGD()");
	begin(ALL | WITH_FILTER, 3, 0, OUTSIDE);
	do_far(TRUTH_SYSCALL, OUTSIDE, KERNEL, 0);
	machine_expect("case_10f", "");
	do_far(TRUTH_SYSRET, KERNEL, IN_STOP, 3);
	machine_expect("case_10f_tracestop", "TraceStop");
	begin(ALL | WITH_FILTER, 0, OTHER_CR3, OUTSIDE);
	switch_task(OUTSIDE, OUTSIDE + 0x100, MATCHING_CR3);
	machine_expect("case_10f_task_switch", "PIP(7000)");
	switch_task(OUTSIDE, IN_STOP, OTHER_CR3);
	machine_expect("case_10f_task_switch_tracestop",
		       "PIP(9000) TraceStop");
	begin(USER | WITH_FILTER, 3, OTHER_CR3, OUTSIDE);
	switch_task(OUTSIDE, OUTSIDE + 0x100, MATCHING_CR3);
	machine_expect("case_10f_no_pip_without_os", "");
	begin(ALL | WITH_FILTER, 3, 0, IN_FILTER);
	do_far(TRUTH_SYSCALL, IN_FILTER, KERNEL, 0);
	machine_expect("case_10d", "TIP.PGD(ffffffff81000000)");
	begin(ALL, 3, 0, IN_FILTER);
	do_far(TRUTH_SYSCALL, IN_FILTER, KERNEL, 0);
	machine_expect("case_10e", "TIP(ffffffff81000000)");
	cpu.ctx.mode = (struct pt_mode_exec) { .csd = true };
	do_far(TRUTH_IRET, KERNEL, 0x8048000, 3);
	machine_expect("case_10e_mode", "MODE.Exec(32) TIP(8048000)");
}

static void rows_11_to_13(uint8_t kind, const char *row)
{
	char name[64];

#define ROW(letter, expected) do {					\
	snprintf(name, sizeof(name), "case_%s" letter, row);		\
	machine_expect(name, expected);					\
} while (0)
	begin(USER, 0, 0, KERNEL);
	do_event(kind, KERNEL, KERNEL + 0x100, 0);
	ROW("a", "");
	begin(ALL | WITH_FILTER, 3, 0, OUTSIDE);
	do_event(kind, OUTSIDE, KERNEL, 0);
	ROW("f", "");
	begin(KERN, 3, 0, OUTSIDE);
	do_event(kind, OUTSIDE, KERNEL, 0);
	ROW("b", "MODE.Exec(64) TIP.PGE(ffffffff81000000)");
	begin(USER, 3, 0, IN_FILTER);
	do_event(kind, IN_FILTER + 1, KERNEL, 0);
	ROW("c", "FUP(1001) TIP.PGD()");
	begin(ALL | WITH_FILTER, 3, 0, IN_FILTER);
	do_event(kind, IN_FILTER + 1, KERNEL, 0);
	ROW("d", "FUP(1001) TIP.PGD(ffffffff81000000)");
	begin(ALL | WITH_STOP, 3, 0, IN_FILTER);
	do_event(kind, IN_FILTER + 1, IN_STOP, 0);
	ROW("d_tracestop", "FUP(1001) TIP.PGD(5000) TraceStop");
	begin(ALL, 3, 0, IN_FILTER);
	do_event(kind, IN_FILTER + 1, KERNEL, 0);
	ROW("e", "FUP(1001) TIP(ffffffff81000000)");
	cpu.ctx.mode = (struct pt_mode_exec) { .csd = true };
	do_far(TRUTH_IRET, KERNEL, 0x8048000, 3);
	machine_packets();
	cpu.ctx.mode = (struct pt_mode_exec) { .lma = true };
	do_event(kind, 0x8048001, KERNEL, 0);
	ROW("e_mode",
	    "FUP(8048001) MODE.Exec(64) TIP(ffffffff81000000)");
#undef ROW
}

static void rows_16_to_17(void)
{
	struct pt_transfer exit = {
		.kind = TRUTH_FAR, .from = IN_FILTER, .to = KERNEL,
		.source = true, .cr3_written = true, .vector = -1,
	};
	struct pt_transfer entry = {
		.kind = TRUTH_FAR, .from = KERNEL, .to = IN_FILTER,
		.cr3_written = true, .vector = -1,
	};

	begin(ALL, 0, 0, IN_FILTER);
	cpu.ctx.in_vmx = true;
	cpu.ctx.cr3 = MATCHING_CR3;
	pt_transfer(&cpu, &exit);
	machine_expect("case_16h", "FUP(1000) PIP(7000) TIP(ffffffff81000000)");
	cpu.ctx.nonroot = true;
	pt_transfer(&cpu, &entry);
	machine_expect("case_17i", "PIP(7000,nr) TIP(1000)");
	exit.concealed = true;
	pt_transfer(&cpu, &exit);
	machine_expect("case_16h_concealed", "FUP(1000) TIP(ffffffff81000000)");
	cpu.ctx.vmcs = 0x123000;
	pt_vmptrld(&cpu);
	machine_expect("vmptrld", "VMCS(123000)");
	begin(ALL, 0, 0, IN_FILTER);
	cpu.ctx.in_vmx = true;
	cpu.ctx.nonroot = true;
	do_mov_cr3(IN_FILTER, MATCHING_CR3);
	machine_expect("mov_cr3_nonroot", "PIP(7000,nr)");
	/* "Conceal VMX from PT" in the guest: as in root operation. */
	cpu.ctx.nonroot = false;
	do_mov_cr3(IN_FILTER, OTHER_CR3);
	machine_expect("mov_cr3_concealed", "PIP(9000)");
	begin(ALL | WITH_FILTER, 0, 0, IN_FILTER);
	exit.concealed = false;
	pt_transfer(&cpu, &exit);
	machine_expect("case_16g",
		       "FUP(1000) PIP(0) TIP.PGD(ffffffff81000000)");
	pt_transfer(&cpu, &entry);
	machine_expect("case_17f", "PIP(0) TIP.PGE(1000)");
	machine_reset("newest");
	cpu.ctx.in_vmx = true;
	cpu.ctx.vmcs = 0x123000;
	cpu.msrs.vmx_pt = true;
	machine_start(ALL, 0, MATCHING_CR3, KERNEL, true);
	machine_expect("psb_in_vmx_root",
		       "PSB CBR(20) PIP(7000) VMCS(123000) MODE.TSX(none) PSBEND MODE.Exec(64) TIP.PGE(ffffffff81000000)");
}

static void rows_26_to_28(void)
{
	begin(ALL, 3, 0, IN_FILTER);
	pt_tsx(&cpu, PT_TSX_BEGIN, IN_FILTER, 0);
	machine_expect("case_26e", "MODE.TSX(begin) FUP(1000)");
	pt_tsx(&cpu, PT_TSX_BEGIN, IN_FILTER, 0);
	machine_expect("case_26d", "");
	pt_tsx(&cpu, PT_TSX_COMMIT, IN_FILTER + 8, 0);
	machine_expect("case_27e", "MODE.TSX(none) FUP(1008)");
	pt_tsx(&cpu, PT_TSX_COMMIT, IN_FILTER + 8, 0);
	machine_expect("case_27d", "");
	pt_tsx(&cpu, PT_TSX_BEGIN, IN_FILTER, 0);
	machine_packets();
	pt_tsx(&cpu, PT_TSX_ABORT, IN_FILTER + 4, IN_FILTER + 0x40);
	machine_expect("case_28d", "MODE.TSX(abort) FUP(1004) TIP(1040)");
	begin(ALL | WITH_FILTER, 3, 0, IN_FILTER);
	pt_tsx(&cpu, PT_TSX_BEGIN, IN_FILTER, 0);
	machine_packets();
	pt_tsx(&cpu, PT_TSX_ABORT, IN_FILTER + 4, OUTSIDE);
	machine_expect("case_28c",
		       "MODE.TSX(abort) FUP(1004) TIP.PGD(3000)");
	pt_tsx(&cpu, PT_TSX_BEGIN, OUTSIDE, 0);
	machine_expect("case_26a_in_context", "MODE.TSX(begin)");
	pt_tsx(&cpu, PT_TSX_ABORT, OUTSIDE, IN_FILTER);
	machine_expect("case_28b", "MODE.TSX(abort) TIP.PGE(1000)");
	begin(KERN, 3, 0, IN_FILTER);
	pt_tsx(&cpu, PT_TSX_BEGIN, IN_FILTER, 0);
	pt_tsx(&cpu, PT_TSX_ABORT, IN_FILTER, OUTSIDE);
	machine_expect("case_28a", "");
}

#define POWER	(ALL | RTIT_CTL_PWREVTEN)

/* MWAIT at KERNEL + 4, of a monitor that is armed. */
static bool do_mwait(uint32_t hints, uint32_t ext)
{
	struct pt_mwait m = { .hints = hints, .ext = ext, .armed = true };

	return pt_mwait(&cpu, KERNEL + 4, KERNEL + 7, &m);
}

static void rows_mwait_awake(void)
{
	struct pt_mwait unarmed = { .hints = 0x20, .ext = 1, .event = true };
	struct pt_mwait event = unarmed;

	event.armed = true;
	begin(POWER, 0, 0, KERNEL);
	ktap_case(!pt_mwait(&cpu, KERNEL + 4, KERNEL + 7, &unarmed) &&
		  !cpu.sleeping, "case_16_3_mwait_of_no_monitor_does_not_sleep");
	machine_expect("case_16_3_mwait_of_no_monitor", "");
	ktap_case(!pt_mwait(&cpu, KERNEL + 4, KERNEL + 7, &event) &&
		  !cpu.sleeping, "case_16_5_does_not_sleep");
	machine_expect("case_16_5b",
		       "PWRE(20) EXSTOP(ip) FUP(ffffffff81000004) CBR(20) PWRX(2,2,0)");
	event.hints = 0xf0;
	pt_mwait(&cpu, KERNEL + 4, KERNEL + 7, &event);
	machine_expect("case_16_3_mwait_to_c0_with_event", "");
	begin(USER | RTIT_CTL_PWREVTEN, 0, 0, KERNEL);
	event.hints = 0x20;
	pt_mwait(&cpu, KERNEL + 4, KERNEL + 7, &event);
	machine_expect("case_16_5a", "PWRE(20) EXSTOP CBR(20) PWRX(2,2,0)");
	machine_stop(KERNEL);
	event.event = false;
	ktap_case(pt_mwait(&cpu, KERNEL + 4, KERNEL + 7, &event) &&
		  !pt_mwait(&cpu, KERNEL + 4, KERNEL + 7, &unarmed),
		  "mwait_sleeps_without_tracing");
}

static void rows_power(void)
{
	begin(POWER, 0, 0, KERNEL);
	ktap_case(!do_mwait(0xf0, 0), "case_16_3_mwait_to_c0_does_not_sleep");
	machine_expect("case_16_3_mwait_to_c0", "");
	ktap_case(do_mwait(0x21, 1), "case_16_4_sleeps");
	machine_expect("case_16_4b",
		       "MWAIT(21,1) PWRE(20) EXSTOP(ip) FUP(ffffffff81000004)");
	pt_wake(&cpu, PT_WAKE_STORE, KERNEL + 7);
	machine_expect("case_16_20", "CBR(20) PWRX(2,2,4)");
	pt_hlt(&cpu, KERNEL + 8);
	machine_expect("case_16_9b",
		       "PWRE(0) EXSTOP(ip) FUP(ffffffff81000008)");
	pt_wake(&cpu, PT_WAKE_INTERRUPT, KERNEL + 9);
	do_event(TRUTH_INTERRUPT, KERNEL + 9, KERNEL + 0x100, 0);
	machine_expect("case_16_18",
		       "CBR(20) PWRX(0,0,1) FUP(ffffffff81000009) TIP(ffffffff81000100)");
	pt_hlt(&cpu, KERNEL + 8);
	machine_packets();
	pt_wake(&cpu, PT_WAKE_OTHER, KERNEL + 9);
	machine_expect("case_16_19", "CBR(20) PWRX(0,0,0)");
	begin(USER | RTIT_CTL_PWREVTEN, 0, 0, KERNEL);
	do_mwait(0x20, 1);
	machine_expect("case_16_4a", "PWRE(20) EXSTOP");
	pt_wake(&cpu, PT_WAKE_INTERRUPT, KERNEL + 7);
	machine_packets();
	pt_hlt(&cpu, KERNEL + 8);
	machine_expect("case_16_9a", "PWRE(0) EXSTOP");
	begin(ALL, 0, 0, KERNEL);
	pt_hlt(&cpu, KERNEL + 8);
	machine_expect("power_off_no_packets", "");
	pt_wake(&cpu, PT_WAKE_INTERRUPT, KERNEL + 9);
	machine_expect("case_33b", "CBR(20)");
	begin(ALL | RTIT_CTL_TSCEN, 0, 0, KERNEL);
	do_mwait(0, 0);
	machine_tsc = 0x20000;
	pt_wake(&cpu, PT_WAKE_INTERRUPT, KERNEL + 9);
	machine_expect("case_33b_tsc", "TSC(20000) CBR(20)");
	begin(POWER & ~RTIT_CTL_BRANCHEN, 0, 0, KERNEL);
	pt_hlt(&cpu, KERNEL + 8);
	machine_expect("power_without_branches",
		       "PWRE(0) EXSTOP(ip) FUP(ffffffff81000008)");
}

static void rows_ptwrite(void)
{
	uint64_t ptw = RTIT_CTL_PTWEN;

	begin(ALL, 3, 0, IN_FILTER);
	pt_ptwrite(&cpu, IN_FILTER, IN_FILTER + 5, 1, 4);
	machine_expect("case_16_24a", "");
	begin(KERN | ptw, 3, 0, IN_FILTER);
	pt_ptwrite(&cpu, IN_FILTER, IN_FILTER + 5, 1, 4);
	machine_expect("case_16_24b_context", "");
	begin(ALL | ptw | WITH_FILTER, 3, 0, OUTSIDE);
	pt_ptwrite(&cpu, OUTSIDE, OUTSIDE + 5, 1, 4);
	machine_expect("case_16_24b_filter", "");
	begin(ALL | ptw, 3, 0, IN_FILTER);
	do_cond(IN_FILTER, IN_FILTER + 2, false);
	pt_ptwrite(&cpu, IN_FILTER, IN_FILTER + 5, 0x1122334455667788, 4);
	machine_expect("case_16_24d", "TNT(N) PTW(4,55667788)");
	pt_ptwrite(&cpu, IN_FILTER, IN_FILTER + 5, 0x1122334455667788, 8);
	machine_expect("case_16_24e", "PTW(8,1122334455667788)");
	begin(ALL | ptw | RTIT_CTL_FUPONPTW, 3, 0, IN_FILTER);
	pt_ptwrite(&cpu, IN_FILTER, IN_FILTER + 5, 9, 8);
	machine_expect("case_16_24e_fup", "PTW(8,9,ip) FUP(1000)");
	begin((ALL | ptw) & ~RTIT_CTL_BRANCHEN, 3, 0, IN_FILTER);
	do_jump_ind(IN_FILTER, OUTSIDE);
	pt_ptwrite(&cpu, IN_FILTER, IN_FILTER + 5, 9, 4);
	machine_expect("ptwrite_without_branches", "PTW(4,9)");
}

static void psb_cases(void)
{
	machine_reset("newest");
	machine_options.psb_period = 68;
	machine_start(ALL | RTIT_CTL_TSCEN | RTIT_CTL_MTCEN, 0, MATCHING_CR3,
		      IN_FILTER, false);
	machine_packets();
	do_call(IN_FILTER, IN_FILTER + 0x40);
	do_cond(IN_FILTER, IN_FILTER + 2, true);
	for (int i = 0; i < 8; i++)
		do_jump_ind(IN_FILTER, (0x1234ULL + (i & 1)) << 32);
	machine_expect("psb_order_and_period",
		       "TNT(T) TIP(123400000000) TIP(123500000000) TIP(123400000000) TIP(123500000000) TIP(123400000000) TIP(123500000000) PSB TSC(10000) TMA(333,10) CBR(20) PIP(7000) MODE.TSX(none) MODE.Exec(64) FUP(123500000000) PSBEND TIP(123400000000) TIP(123500000000)");
	do_ret(IN_FILTER + 0x40, IN_FILTER + 5);
	machine_expect("psb_empties_ret_stack", "TIP(1005)");
	begin(KERN, 0, 0, KERNEL);
	machine_reset("newest");
	machine_options.psb_period = 64;
	machine_start(USER | RTIT_CTL_PWREVTEN, 0, 0, KERNEL, false);
	machine_packets();
	for (int i = 0; i < 6; i++) {
		pt_hlt(&cpu, KERNEL);
		pt_wake(&cpu, PT_WAKE_INTERRUPT, KERNEL);
	}
	machine_packets();
	do_event(TRUTH_INTERRUPT, KERNEL, KERNEL, 0);
	machine_expect("psb_out_of_context", "PSB CBR(20) PSBEND");
	machine_stop(KERNEL);
	ktap_case(cpu.msrs.status == 0, "psb_resets_packetbytecnt");
	begin(ALL, 0, 0, IN_FILTER);
	do_jump_ind(IN_FILTER, IN_FILTER + 2);
	machine_stop(IN_FILTER);
	/* 1 before, CBR 4, MODE 2, PGE 7, TIP 3, FUP 3, PGD 1 */
	ktap_case(cpu.msrs.status >> 32 == 21, "packetbytecnt_saved");
}

static void compression_cases(void)
{
	begin(ALL, 3, 0, IN_FILTER);
	do_call(IN_FILTER, IN_FILTER + 5);
	do_ret(IN_FILTER + 5, IN_FILTER + 5);
	machine_expect("direct_call_to_next_is_not_pushed", "TIP(1005)");
	do_call_ind(IN_FILTER, IN_FILTER + 5);
	do_ret(IN_FILTER + 5, IN_FILTER + 5);
	machine_expect("indirect_call_to_next_is_pushed", "TIP(1005) TNT(T)");
	do_call(IN_FILTER, 0x2000);
	do_call(0x2000, 0x2100);
	do_ret(0x2100, 0x9999);
	do_ret(0x9999, IN_FILTER + 5);
	machine_expect("uncompressed_ret_pops_too", "TIP(9999) TNT(T)");
	for (int i = 0; i < 65; i++)
		do_call(0x2000 + 0x10 * i, 0x2010 + 0x10 * i);
	for (int i = 64; i >= 0; i--)
		do_ret(0x2010, 0x2005 + 0x10 * i);
	machine_expect("ret_stack_holds_64",
		       "TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTTTT) TNT(TTTT) TIP(2005)");
	begin(ALL | RTIT_CTL_DISRETC, 3, 0, IN_FILTER);
	do_call(IN_FILTER, 0x2000);
	do_ret(0x2000, IN_FILTER + 5);
	machine_expect("disretc", "TIP(1005)");
	begin(ALL | WITH_FILTER, 3, 0, IN_FILTER);
	do_call(IN_FILTER, IN_FILTER + 0x100);
	do_jump(IN_FILTER + 0x100, OUTSIDE);
	do_jump(OUTSIDE, IN_FILTER + 0x200);
	do_ret(IN_FILTER + 0x200, IN_FILTER + 5);
	machine_expect("leaving_empties_ret_stack",
		       "TIP.PGD(3000) TIP.PGE(1200) TIP(1005)");
	do_call(IN_FILTER, OUTSIDE);
	do_jump(OUTSIDE, IN_FILTER + 0x200);
	do_ret(IN_FILTER + 0x200, IN_FILTER + 5);
	machine_expect("call_that_leaves_is_not_pushed",
		       "TIP.PGD(3000) TIP.PGE(1200) TIP(1005)");
	begin(ALL | WITH_FILTER, 3, 0, OUTSIDE);
	do_call(IN_FILTER - 5, OUTSIDE);
	do_jump(OUTSIDE, IN_FILTER + 0x200);
	do_ret(IN_FILTER + 0x200, IN_FILTER);
	machine_expect("call_outside_is_not_pushed",
		       "MODE.Exec(64) TIP.PGE(1200) TIP(1000)");
	begin(ALL | WITH_FILTER, 3, 0, OUTSIDE);
	do_call(IN_FILTER - 5, IN_FILTER + 0x200);
	do_ret(IN_FILTER + 0x200, IN_FILTER);
	machine_expect("call_that_enters_is_not_pushed",
		       "MODE.Exec(64) TIP.PGE(1200) TIP(1000)");
	begin(USER, 3, 0, 0x7f0000001000);
	do_far(TRUTH_SYSCALL, 0x7f0000001000, KERNEL, 0);
	do_far(TRUTH_SYSRET, KERNEL, 0x401000, 3);
	/* A PGE against LastIP 0 would have 4 bytes, and read 7f0000401000. */
	machine_expect("pgd_without_ip_keeps_last_ip",
		       "TIP.PGD() TIP.PGE(401000)");
	begin(ALL | RTIT_CTL_DISTNT, 3, 0, IN_FILTER);
	do_cond(IN_FILTER, IN_FILTER + 9, true);
	do_call(IN_FILTER, 0x2000);
	do_ret(0x2000, IN_FILTER + 5);
	do_jump_ind(IN_FILTER, 0x2000);
	machine_expect("distnt", "TIP(2000)");
}

/*
 * A CALL in 64-bit code, a far branch to code of @width, and a RET there to
 * @to: "Indirect Transfer Compression for Returns (RET)".
 */
static void narrow_ret(uint8_t width, uint64_t to)
{
	struct pt_transfer ret = {
		.kind = TRUTH_RET, .from = 0x8000, .to = to,
		.ret_width = width, .vector = -1,
	};

	begin(ALL, 3, 0, IN_FILTER);
	do_call(0x700401000, 0x700401100);
	cpu.ctx.mode = (struct pt_mode_exec) { .csd = width == 32 };
	do_far(TRUTH_FAR, 0x700401100, 0x8000, 3);
	machine_packets();
	pt_transfer(&cpu, &ret);
}

static void ret_mode_cases(void)
{
	narrow_ret(32, 0x401005);
	machine_expect("ret32_of_call64_compares_32_bits", "TNT(T)");
	narrow_ret(32, 0x1005);
	machine_expect("ret32_compares_more_than_16_bits", "TIP(1005)");
	narrow_ret(16, 0x1005);
	machine_expect("ret16_of_call64_compares_16_bits", "TNT(T)");
	narrow_ret(16, 0x1006);
	machine_expect("ret16_elsewhere", "TIP(1006)");
}

/* Erratum SKL014: direct branches only. */
static void skl014_cases(void)
{
	begin(ALL | WITH_FILTER, 0, 0, OUTSIDE);
	machine_options.skl014 = true;
	do_jump(OUTSIDE, IN_FILTER);
	do_jump(IN_FILTER, OUTSIDE);
	machine_expect("skl014_jump", "MODE.Exec(64) TIP.PGE(1000) TIP.PGD()");
	do_jump(OUTSIDE, IN_FILTER);
	do_call(IN_FILTER, OUTSIDE);
	machine_expect("skl014_call", "TIP.PGE(1000) TIP.PGD()");
	do_jump(OUTSIDE, IN_FILTER);
	do_jump_ind(IN_FILTER, OUTSIDE);
	machine_expect("skl014_not_indirect", "TIP.PGE(1000) TIP.PGD(3000)");
	do_jump(OUTSIDE, IN_FILTER);
	do_jump(IN_FILTER, IN_STOP);
	machine_expect("skl014_tracestop",
		       "TIP.PGE(1000) TIP.PGD() TraceStop");
}

/*
 * N and T: a conditional branch; a digit: an indirect JMP to 2000H plus the
 * character. With TIPs deferred.
 */
static void begin_deferred(const char *branches)
{
	begin(ALL, 3, 0, IN_FILTER);
	machine_options.deferred_tip = true;
	for (const char *p = branches; *p; p++) {
		if (*p == 'N' || *p == 'T')
			do_cond(IN_FILTER, IN_FILTER + 2, *p == 'T');
		else
			do_jump_ind(IN_FILTER, 0x2000 + *p);
	}
}

/* The code of the table "TNT Examples with Deferred TIPs". */
static void table_of_deferred_tips(bool deferred)
{
	begin(ALL, 3, 0, IN_FILTER);
	machine_options.deferred_tip = deferred;
	do_cond(0x1004, 0x1008, false);
	do_jump_ind(0x1008, 0x1308);
	do_cond(0x130c, 0x1310, false);
	do_cond(0x1314, 0x1500, true);
	do_cond(0x1504, 0x1508, false);
	do_jump_ind(0x1508, 0x1100);
	do_cond(0x1104, 0x1108, false);
	do_event(TRUTH_INTERRUPT, 0x110c, 0xcc00, 0);
}

static void deferred_cases(void)
{
	table_of_deferred_tips(false);
	machine_expect("table_tip_not_deferred",
		       "TNT(N) TIP(1308) TNT(NTN) TIP(1100) TNT(N) FUP(110c) TIP(cc00)");
	table_of_deferred_tips(true);
	machine_expect("table_tip_deferred",
		       "TNT(NNTNN) TIP(1308) TIP(1100) FUP(110c) TIP(cc00)");
	begin_deferred("T");
	do_ret(IN_FILTER, 0x2000);
	do_cond(0x2000, 0x2002, false);
	machine_expect("ret_is_not_deferred", "TNT(T) TIP(2000) TNT(N)");
	begin_deferred("T1N");
	do_ret(IN_FILTER, 0x2000);
	do_cond(0x2000, 0x2002, false);
	machine_expect("ret_forces_out_deferred_tips",
		       "TNT(TN) TIP(2031) TIP(2000) TNT(N)");
	begin_deferred("N1NTN2NTN");
	machine_expect("full_tnt_forces_out_deferred_tips",
		       "TNT(NNTNNT) TIP(2031) TIP(2032) TNT(N)");
	begin_deferred("N1N234N567T8N");
	machine_expect("eight_tips_are_deferred",
		       "TNT(NNNT) TIP(2031) TIP(2032) TIP(2033) TIP(2034) TIP(2035) TIP(2036) TIP(2037) TIP(2038) TNT(N)");
	begin_deferred("N123456789N");
	machine_expect("ninth_tip_has_nothing_to_wait_for",
		       "TNT(N) TIP(2031) TIP(2032) TIP(2033) TIP(2034) TIP(2035) TIP(2036) TIP(2037) TIP(2038) TIP(2039) TNT(N)");
	begin(ALL, 3, 0, IN_FILTER);
	machine_options.long_tnt = true;
	cpu.tnt_max = 47;
	for (int i = 0; i < 48; i++)
		do_cond(IN_FILTER, IN_FILTER + 2, i % 3 == 0);
	machine_expect("long_tnt",
		       "TNT(TNNTNNTNNTNNTNNTNNTNNTNNTNNTNNTNNTNNTNNTNNTNNTN) TNT(N)");
}

static void timing_cases(void)
{
	uint64_t mtc = ALL | RTIT_CTL_MTCEN | 3ULL << RTIT_CTL_MTCFREQ_SHIFT;
	uint64_t cyc = ALL | RTIT_CTL_CYCEN;

	begin(mtc, 3, 0, IN_FILTER);
	machine_tsc += 79;
	do_jump(IN_FILTER, IN_FILTER);
	machine_expect("mtc_not_before_its_time", "");
	machine_tsc += 8 * 80;
	do_cond(IN_FILTER, IN_FILTER, true);
	machine_expect("mtc_behind_pending_tnt", "TNT(T) MTC(67)");
	machine_tsc += 100 * 8 * 80;
	do_jump(IN_FILTER, IN_FILTER);
	machine_expect("mtc_skips_missed_periods", "MTC(cb)");
	machine_tsc += 300 * 8 * 80;
	do_jump(IN_FILTER, IN_FILTER);
	machine_expect("mtc_never_half_a_round_apart",
		       "MTC(4b) MTC(cb) MTC(f7)");
	begin(mtc | RTIT_CTL_TSCEN, 3, 0, IN_FILTER);
	machine_tsc += 300 * 8 * 80;
	do_jump(IN_FILTER, IN_FILTER);
	machine_expect("tsc_after_many_missed_periods",
		       "TSC(3ee00) TMA(c93,10)");
	do_jump(IN_FILTER, IN_FILTER);
	machine_expect("no_mtc_for_the_window_of_tma", "");
	machine_tsc += 8 * 80;
	cpu.byte_count = cpu.psb_period;
	pt_emit_psb(&cpu, IN_FILTER);
	machine_packets();
	do_jump(IN_FILTER, IN_FILTER);
	machine_expect("no_mtc_for_the_window_of_psb", "");
	begin(cyc, 3, 0, IN_FILTER);
	cpu.cycles = 6;
	do_cond(IN_FILTER, IN_FILTER, true);
	cpu.cycles += 1;
	do_cond(IN_FILTER, IN_FILTER, true);
	cpu.cycles += 7;
	do_jump_ind(IN_FILTER, IN_FILTER + 4);
	machine_expect("cyc_before_first_tnt_bit_and_tip",
		       "CYC(6) TNT(TT) CYC(8) TIP(1004)");
	do_jump_ind(IN_FILTER, IN_FILTER + 8);
	machine_expect("cyc_shared_in_one_cycle", "TIP(1008)");
	begin(cyc | 5ULL << RTIT_CTL_CYCTHRESH_SHIFT, 3, 0, IN_FILTER);
	cpu.cycles = 15;
	do_jump_ind(IN_FILTER, IN_FILTER + 4);
	machine_expect("cyc_below_threshold", "TIP(1004)");
	cpu.cycles++;
	do_jump_ind(IN_FILTER, IN_FILTER + 8);
	machine_expect("cyc_at_threshold", "CYC(16) TIP(1008)");
	begin(cyc, 3, 0, IN_FILTER);
	machine_options.cyc_wrap = true;
	cpu.cycles = 5000;
	do_jump_ind(IN_FILTER, IN_FILTER + 4);
	machine_expect("cyc_wrap", "CYC(4095) CYC(905) TIP(1004)");
}

static void event_trace_cases(void)
{
	uint64_t ctl = ALL | RTIT_CTL_EVENTEN;
	struct pt_transfer fault = {
		.kind = TRUTH_EXCEPTION, .from = IN_FILTER, .to = KERNEL,
		.source = true, .vector = 14, .cr2 = 0xabc,
	};

	begin(ctl, 3, 0, IN_FILTER);
	cpu.ctx.cpl = 0;
	pt_transfer(&cpu, &fault);
	machine_expect("event_page_fault",
		       "EVD(0,abc) CFE(1,14) FUP(1000) TIP(ffffffff81000000)");
	do_far(TRUTH_IRET, KERNEL, IN_FILTER, 3);
	machine_expect("event_iret", "CFE(2,0) TIP(1000)");
	cpu.ctx.mode.intf = true;
	pt_if_change(&cpu, IN_FILTER + 1);
	machine_expect("event_sti", "MODE.Exec(64,if) FUP(1001)");
	pt_if_change(&cpu, IN_FILTER + 2);
	machine_expect("event_if_unchanged", "");
	begin(USER | RTIT_CTL_EVENTEN, 3, 0, IN_FILTER);
	do_event(TRUTH_INTERRUPT, IN_FILTER, KERNEL, 0);
	machine_expect("event_out_of_context",
		       "CFE(1,32) FUP(1000) TIP.PGD()");
	do_far(TRUTH_IRET, KERNEL, IN_FILTER, 3);
	machine_expect("event_iret_into_context", "CFE(2,0) TIP.PGE(1000)");
	begin(ctl & ~RTIT_CTL_BRANCHEN, 3, 0, IN_FILTER);
	do_event(TRUTH_INTERRUPT, IN_FILTER, KERNEL, 0);
	machine_expect("event_without_branches", "CFE(1,32,ip) FUP(1000)");
}

static void overflow_cases(void)
{
	begin(ALL, 3, 0, IN_FILTER);
	machine_options.overflow_every = 4;
	cpu.since_overflow = 0;
	do_call(IN_FILTER, IN_FILTER + 0x80);
	for (int i = 0; i < 8; i++)
		do_jump_ind(IN_FILTER, IN_FILTER + 0x10 * i);
	machine_expect("overflow_in_context",
		       "TIP(1000) TIP(1010) TIP(1020) TIP(1030) OVF FUP(1070) PSB CBR(20) PIP(0) MODE.TSX(none) MODE.Exec(64) FUP(1070) PSBEND");
	machine_options.overflow_every = 0;
	cpu.overflow = false;
	do_ret(IN_FILTER + 0x80, IN_FILTER + 5);
	machine_expect("overflow_empties_ret_stack", "TIP(1005)");
	begin(ALL, 3, 0, IN_FILTER);
	cpu.overflow = true;
	cpu.overflow_left = 100;
	do_cond(IN_FILTER, IN_FILTER, true);
	machine_stop(IN_FILTER);
	machine_expect("overflow_ends_with_traceen", "OVF");
	begin(USER, 3, 0, IN_FILTER);
	cpu.overflow = true;
	cpu.overflow_left = 1;
	do_far(TRUTH_SYSCALL, IN_FILTER, KERNEL, 0);
	machine_expect("overflow_resolved_out_of_context",
		       "OVF PSB CBR(20) PSBEND");
	do_far(TRUTH_SYSRET, KERNEL, IN_FILTER, 3);
	machine_expect("overflow_then_enabled", "MODE.Exec(64) TIP.PGE(1000)");
}

static void status_cases(void)
{
	begin(ALL | WITH_FILTER, 3, 0, IN_FILTER);
	ktap_case((cpu.msrs.status & 7) == 7, "status_all_enabled");
	do_jump(IN_FILTER, OUTSIDE);
	ktap_case((cpu.msrs.status & 7) ==
		  (RTIT_STATUS_CONTEXTEN | RTIT_STATUS_TRIGGEREN),
		  "status_filteren_off");
	begin(USER, 0, 0, IN_FILTER);
	ktap_case((cpu.msrs.status & 7) ==
		  (RTIT_STATUS_FILTEREN | RTIT_STATUS_TRIGGEREN),
		  "status_contexten_off");
	machine_stop(IN_FILTER);
	ktap_case((cpu.msrs.status & 7) == 0, "status_off");
	begin(RTIT_CTL_BRANCHEN, 0, 0, IN_FILTER);
	do_far(TRUTH_SYSRET, IN_FILTER, IN_FILTER, 3);
	machine_expect("neither_os_nor_user", "");
	machine_reset("newest");
	pt_wrmsr(&cpu, RTIT_STATUS, RTIT_STATUS_STOPPED, 0, 0);
	pt_wrmsr(&cpu, RTIT_OUTPUT_BASE, MACHINE_OUTPUT, 0, 0);
	pt_wrmsr(&cpu, RTIT_CTL, ALL | RTIT_CTL_TRACEEN, 0, 0);
	ktap_case(!cpu.trigger_en && (cpu.msrs.ctl & RTIT_CTL_TRACEEN),
		  "stopped_keeps_triggeren_off");
}

/* Table at 1000H: a region of 4 KiB with STOP at 2000H, END to itself. */
static void stop_table(void)
{
	uint64_t table[2] = { 0x2000 | TOPA_STOP, 0x1000 | TOPA_END };

	cpu.out.mem.write(cpu.out.mem.ctx, 0x1000, table, sizeof(table));
	pt_wrmsr(&cpu, RTIT_OUTPUT_BASE, 0x1000, 0, 0);
	pt_wrmsr(&cpu, RTIT_OUTPUT_MASK_PTRS, 0x7f, 0, 0);
}

/*
 * A STOP leaves OutputOffset at the region's size, or a byte before it. That
 * is an error only with Stopped clear, "ToPA Errors".
 */
static void restored_stop(unsigned int stop_offset, const char *name)
{
	uint64_t on = ALL | RTIT_CTL_TOPA | RTIT_CTL_TRACEEN;
	uint64_t pointers;

	machine_reset("newest");
	cpu.out.stop_short = stop_offset;
	cpu.ctx.mode.lma = true;
	stop_table();
	pt_wrmsr(&cpu, RTIT_CTL, on, KERNEL, KERNEL);
	for (int i = 0; i < 2000; i++)
		do_jump_ind(KERNEL, KERNEL + (i & 1));
	machine_stop(KERNEL);
	pointers = cpu.msrs.mask_ptrs;
	pt_wrmsr(&cpu, RTIT_CTL, on, KERNEL, KERNEL);
	ktap_case((cpu.msrs.status & 0x37) ==
		  (RTIT_STATUS_STOPPED | RTIT_STATUS_FILTEREN) &&
		  !cpu.trigger_en, "%s_is_stopped_and_no_error", name);
	machine_stop(KERNEL);
	ktap_case(cpu.msrs.mask_ptrs == pointers &&
		  pointers >> 32 == 4096 - stop_offset,
		  "%s_keeps_its_pointers", name);
}

#define PENDING	((uint64_t)RTIT_STATUS_PENDPSB | RTIT_STATUS_PENDTOPAPMI)

/* TraceEn is set with @status, no PSB+ due by PacketByteCnt. */
static void restore(uint64_t ctl, uint64_t status)
{
	machine_reset("newest");
	machine_start(ALL, 0, 0, KERNEL, false);
	machine_stop(KERNEL);
	machine_packets();
	pt_wrmsr(&cpu, RTIT_STATUS, status | 1ULL << RTIT_STATUS_BYTECNT_SHIFT,
		 KERNEL, KERNEL);
	cpu.pmi = false;
	pt_wrmsr(&cpu, RTIT_CTL, ctl | RTIT_CTL_TRACEEN, KERNEL, KERNEL);
}

/* "PSB and PMI Preservation": the two bits act where TraceEn is set. */
static void preservation_cases(void)
{
	uint64_t on = USER | RTIT_CTL_INJECTPSBPMI;

	restore(on, PENDING);
	machine_expect("pending_psb_is_injected", "PSB CBR(20) PSBEND");
	ktap_case(cpu.pmi && (cpu.msrs.status & PENDING) == RTIT_STATUS_PENDTOPAPMI,
		  "pending_pmi_is_injected");
	restore(on, 0);
	machine_expect("nothing_pending_injects_no_psb", "CBR(20)");
	ktap_case(!cpu.pmi, "nothing_pending_injects_no_pmi");
	restore(USER, PENDING);
	machine_expect("pending_psb_without_injection", "CBR(20)");
	ktap_case(!cpu.pmi && (cpu.msrs.status & PENDING) == PENDING,
		  "pending_bits_stay_without_injection");
	restore(on, PENDING | RTIT_STATUS_STOPPED);
	ktap_case(cpu.pmi && (cpu.msrs.status & PENDING) == PENDING,
		  "pending_pmi_is_injected_while_stopped");
	restore(on, PENDING | RTIT_STATUS_ERROR);
	ktap_case(cpu.pmi && (cpu.msrs.status & PENDING) == PENDING,
		  "pending_pmi_is_injected_with_error");
}

static void stopped_cases(void)
{
	restored_stop(0, "topa_stop_restored");
	restored_stop(1, "topa_stop_restored_one_short");
	pt_wrmsr(&cpu, RTIT_STATUS, 0, 0, 0);
	pt_wrmsr(&cpu, RTIT_OUTPUT_MASK_PTRS, 4096ULL << 32 | 0x7f, 0, 0);
	pt_wrmsr(&cpu, RTIT_CTL, ALL | RTIT_CTL_TOPA | RTIT_CTL_TRACEEN, 0, 0);
	ktap_case((cpu.msrs.status & 0x30) == RTIT_STATUS_ERROR,
		  "topa_stop_restored_without_stopped_is_an_error");
	machine_reset("newest");
	pt_wrmsr(&cpu, RTIT_STATUS, RTIT_STATUS_STOPPED, 0, 0);
	pt_wrmsr(&cpu, RTIT_OUTPUT_BASE, MACHINE_OUTPUT, 0, 0);
	pt_wrmsr(&cpu, RTIT_CTL, ALL | WITH_FILTER | RTIT_CTL_TRACEEN, 0, 0);
	ktap_case((cpu.msrs.status & 0x37) == RTIT_STATUS_STOPPED,
		  "stopped_with_a_filter_leaves_filteren_off");
}

/*
 * 32-bit code in a segment that begins at BASED: packets, filters and the
 * return stack know its addresses as linear ones (LIP) or as offsets in the
 * segment, "CPUID.(EAX=14H,ECX=0):ECX[31]".
 */
#define BASED	0x10000000

static void begin_based(const char *model, uint64_t ctl, uint64_t ip)
{
	machine_reset(model);
	cpu.ctx.mode.csd = true;
	cpu.ctx.cs_base = BASED;
	machine_start(ctl, 3, 0, ip, false);
	machine_packets();
}

static void leave_based(uint64_t from)
{
	struct pt_transfer t = {
		.kind = TRUTH_INTERRUPT,
		.from = from,
		.from_base = BASED,
		.to = KERNEL,
		.source = true,
		.vector = 32,
	};

	cpu.ctx.cpl = 0;
	cpu.ctx.cs_base = 0;
	cpu.ctx.mode.csd = false;
	cpu.ctx.mode.lma = true;
	pt_transfer(&cpu, &t);
}

static void based_cases(void)
{
	begin_based("skylake", ALL, BASED + 0x100);
	do_jump_ind(BASED + 0x102, BASED + 0x2345);
	do_call(BASED + 0x2345, BASED + 0x3000);
	do_ret(BASED + 0x3001, BASED + 0x234a);
	leave_based(BASED + 0x234b);
	machine_expect("based_rip_is_offset",
		       "TIP(2345) TNT(T) FUP(234b) MODE.Exec(64) TIP(ffffffff81000000)");
	begin_based("goldmont", ALL, BASED + 0x100);
	do_jump_ind(BASED + 0x102, BASED + 0x2345);
	do_call(BASED + 0x2345, BASED + 0x3000);
	do_ret(BASED + 0x3001, BASED + 0x234a);
	leave_based(BASED + 0x234b);
	machine_expect("based_lip_is_linear",
		       "TIP(10002345) TNT(T) FUP(1000234b) MODE.Exec(64) TIP(ffffffff81000000)");
	begin_based("skylake", ALL | WITH_FILTER, BASED + IN_FILTER);
	do_jump_ind(BASED + IN_FILTER, BASED + OUTSIDE);
	machine_expect("based_rip_filter_compares_offset", "TIP.PGD(3000)");
	begin_based("goldmont", ALL | WITH_FILTER, BASED + IN_FILTER);
	do_jump_ind(BASED + IN_FILTER, IN_FILTER);
	machine_expect("based_lip_filter_compares_linear",
		       "MODE.Exec(32) TIP.PGE(1000)");
}

int main(void)
{
	rows_1();
	rows_2();
	rows_3();
	rows_5();
	rows_6();
	rows_7();
	rows_8();
	rows_9();
	rows_10();
	rows_11_to_13(TRUTH_INTERRUPT, "11");
	rows_11_to_13(TRUTH_EXCEPTION, "12");
	rows_11_to_13(TRUTH_EXCEPTION, "13");
	rows_16_to_17();
	rows_26_to_28();
	rows_power();
	rows_mwait_awake();
	rows_ptwrite();
	psb_cases();
	compression_cases();
	ret_mode_cases();
	skl014_cases();
	deferred_cases();
	timing_cases();
	event_trace_cases();
	overflow_cases();
	status_cases();
	stopped_cases();
	preservation_cases();
	based_cases();
	return ktap_finish();
}
