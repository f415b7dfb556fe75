// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the packet generation tables, inside the test machine: small
 * programs run with PT programmed by hand, and the exact packets are compared
 * with what Intel SDM Vol. 3C, "Packet Generation Scenarios", says. Root, in the
 * guest.
 *
 * A timer tick may fall into a run, and so may what it wakes; neither can be
 * kept away from user code. Each case has some tries, of which one must match in
 * full: with no tick in it or, where the case is about the tick, with one. So a
 * pattern may be exact, and a packet that is always there, or never, fails all
 * tries; one that is wrong now and then is for the proofs with a truth.
 *
 * "cases mwait" only looks at idle, on a CPU that enumerates C-states and counts its
 * instructions. "cases reboot FILE" restarts the machine with a trace of this CPU on,
 * unless FILE, which a guest's restart leaves alone, says that it has.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "guest_pt.h"
#include "ktap.h"

#define TRIES	30
/* Every run but the ones that test it begins with a PSB+. */
#define START	"PSB ... PSBEND"
#define ALL	(RTIT_CTL_BRANCHEN | RTIT_CTL_OS | RTIT_CTL_USER)
#define USER	(RTIT_CTL_BRANCHEN | RTIT_CTL_USER)
#define KERN	(RTIT_CTL_BRANCHEN | RTIT_CTL_OS)
#define FILTER	(1ULL << RTIT_CTL_ADDR_CFG_SHIFT(0))
#define FILTER_1	(1ULL << RTIT_CTL_ADDR_CFG_SHIFT(1))
/* Kernel only: from the MSR write that begins tracing to the first user code. */
#define ENTER	START " MODE.Exec(64) TIP.PGE(ffff*) ~ TIP.PGD()"
/* Kernel only: entered at an address, and left for user code. */
#define VISIT	" TIP.PGE(%lx) ~ TIP.PGD()"
/* The system call that ends tracing. */
#define LEAVE	" TIP.PGE(%lx) ~ FUP(ffff*) TIP.PGD()"
#define STOP	(2ULL << RTIT_CTL_ADDR_CFG_SHIFT(1))

/* ---- code to trace; every branch has a label ---- */

__asm__(
"	.text\n"
"	.balign 4096\n"
/* Direct, conditional, indirect, RET, between an inner and an outer part. */
"	.globl mix, mix_in, mix_in_last, mix_ret, mix_ind, mix_out, mix_back\n"
"	.globl mix_call_next, mix_call_ret, mix_end\n"
"mix:\n"
"	xor %eax, %eax\n"
"	jnz mix\n"
"	jz mix_in\n"
"	ud2\n"
"	.balign 64\n"
"mix_in:\n"
"	jmp 1f\n"
"	nop\n"
"1:	test %eax, %eax\n"
"	jnz mix_in\n"
"	lea mix_ind(%rip), %rdx\n"
"	jmp *%rdx\n"
"	nop\n"
"mix_ind:\n"
"	call mix_ret\n"
"mix_call_ret:\n"
"	jz 2f\n"
"	nop\n"
"2:	jmp mix_out\n"
"	nop\n"
"mix_ret:\n"
"	ret\n"
"mix_in_last:\n"
"	nop\n"
"	.balign 64\n"
"mix_out:\n"
"	call mix_call_next\n"
"mix_call_next:\n"
"	lea mix_back(%rip), %rdx\n"
"	mov %rdx, (%rsp)\n"
"	ret\n"
"	nop\n"
"mix_back:\n"
"	jz mix_end\n"
"	nop\n"
"mix_end:\n"
"	ret\n"
/* Leaves the inner part in other ways. */
"	.balign 64\n"
"	.globl leave_cond, leave_ind, leave_ret, leave_in_last, leave_out\n"
"	.globl leave_call, leave_not\n"
"leave_cond:\n"
"	xor %eax, %eax\n"
"	jnz leave_cond\n"
"	jz leave_out\n"
"	nop\n"
"leave_ind:\n"
"	lea leave_out(%rip), %rdx\n"
"	jmp *%rdx\n"
"	nop\n"
"leave_ret:\n"
"	lea leave_out(%rip), %rdx\n"
"	push %rdx\n"
"	ret\n"
"leave_call:\n"
"	call *%rsi\n"
"	ret\n"
"leave_not:\n"
"	test %rsp, %rsp\n"
"	jz leave_out\n"
"leave_in_last:\n"
"	nop\n"
"	.balign 64\n"
"leave_out:\n"
"	ret\n"
/* Enters the inner part at a branch that leaves it. */
"	.globl empty, empty_in\n"
"empty:\n"
"	xor %eax, %eax\n"
"	jmp empty_in\n"
"	nop\n"
"empty_in:\n"
"	jz leave_out\n"
"	nop\n"
/* A system call. */
"	.globl sys, sys_insn, sys_after\n"
"	.balign 64\n"
"sys:\n"
"	mov $39, %eax\n"
"sys_insn:\n"
"	syscall\n"
"sys_after:\n"
"	ret\n"
/* Events. */
"	.globl brk, brk_insn, ill, ill_insn, on_trap, on_ill, restorer\n"
"	.globl restorer_call, pf, pf_insn, on_segv, pf_after\n"
"brk:\n"
"	nop\n"
"brk_insn:\n"
"	int3\n"
"	ret\n"
"ill:\n"
"	nop\n"
"ill_insn:\n"
"	ud2\n"
"	ret\n"
"pf:\n"
"	xor %eax, %eax\n"
"pf_insn:\n"
"	mov (%rax), %eax\n"
"pf_after:\n"
"	ret\n"
/* Branches to an address that none can have. */
"	.globl gp_call, gp_call_insn, gp_jmp, gp_jmp_insn, gp_ret, gp_ret_insn\n"
"	.globl gp_retn, gp_retn_insn\n"
"gp_call:\n"
"	movabs $0x4141000000000000, %rax\n"
"gp_call_insn:\n"
"	call *%rax\n"
"	ret\n"
"gp_jmp:\n"
"	movabs $0x4141000000000000, %rax\n"
"gp_jmp_insn:\n"
"	jmp *%rax\n"
"	ret\n"
"gp_ret:\n"
"	movabs $0x4141000000000000, %rax\n"
"	push %rax\n"
"gp_ret_insn:\n"
"	ret\n"
"	nop\n"
"	pop %rax\n"
"	ret\n"
"gp_retn:\n"
"	movabs $0x4141000000000000, %rax\n"
"	push %rax\n"
"gp_retn_insn:\n"
/* RET with an operand whose upper byte, where the handler goes on, is NOP. */
"	.byte 0xc2, 8, 0x90\n"
"	pop %rax\n"
"	ret\n"
"on_trap:\n"
"	ret\n"
"on_ill:\n"
"	addq $2, 168(%rdx)\n"
"	ret\n"
"on_segv:\n"
"	addq $2, 168(%rdx)\n"
"	ret\n"
"restorer:\n"
"	mov $15, %eax\n"
"	syscall\n"
/* Waits for a tick. */
"	.globl spin, spin_loop\n"
"spin:\n"
"	mov $400000, %ecx\n"
"spin_loop:\n"
"	dec %ecx\n"
"	jnz spin_loop\n"
"	ret\n"
/* 32-bit code, entered and left by far returns, on a stack below 4 GiB. */
"	.globl to32, code32, code32_ind, back64, code32_far\n"
"to32:\n"
"	mov %rsp, %r8\n"
"	lea low_stack_top(%rip), %rsp\n"
"	pushq $0x23\n"
"	lea code32(%rip), %rdx\n"
"	push %rdx\n"
"	lretq\n"
"	.code32\n"
"code32:\n"
"	xor %eax, %eax\n"
"	jnz code32\n"
"	call 1f\n"
"	mov $code32_ind, %edx\n"
"	jmp *%edx\n"
"	nop\n"
"1:	ret\n"
"code32_ind:\n"
"	ljmp $0x33, $back64\n"
"	.code64\n"
"back64:\n"
"	mov %r8, %rsp\n"
"	ret\n"
/* PTWRITE in its forms. */
"	.globl ptw, ptw1, ptw2, ptw3, ptw4, ptw5\n"
"ptw:\n"
"	movabs $0x1122334455667788, %rax\n"
"	lea ptw_data(%rip), %rdx\n"
"	mov $1, %ecx\n"
"ptw1:	.byte 0xf3, 0x0f, 0xae, 0xe0\n"
"ptw2:	.byte 0xf3, 0x48, 0x0f, 0xae, 0xe0\n"
"ptw3:	.byte 0xf3, 0x0f, 0xae, 0x22\n"
"ptw4:	.byte 0xf3, 0x48, 0x0f, 0xae, 0x64, 0xca, 0xf8\n"
"ptw5:	.byte 0x64, 0xf3, 0x48, 0x0f, 0xae, 0x24, 0x25, 0, 0, 0, 0\n"
"	ret\n"
"	.globl ptwf, ptwf_insn\n"
"ptwf:	xor %eax, %eax\n"
"ptwf_insn:\n"
"	.byte 0xf3, 0x0f, 0xae, 0x20\n"
"	ret\n"
/* Operands at addresses that none can have, of DS and of SS. */
"	.globl ptwg, ptwg_insn, ptws\n"
"ptwg:	movabs $0x4141000000000000, %rax\n"
"ptwg_insn:\n"
"	.byte 0xf3, 0x0f, 0xae, 0x20\n"
"	ret\n"
"ptws:	mov %rbp, %rdx\n"
"	movabs $0x4141000000000000, %rbp\n"
"	.byte 0xf3, 0x0f, 0xae, 0x65, 0x90\n"
"	mov %rdx, %rbp\n"
"	ret\n"
/* 50 conditional branches with a pattern, then a jump. */
"	.globl bits\n"
"bits:\n"
"	mov $0x5a5a5, %eax\n"
"	mov $50, %ecx\n"
"1:	shr $1, %eax\n"
"	jc 2f\n"
"2:	dec %ecx\n"
"	jnz 1b\n"
"	ret\n"
"	.data\n"
"	.balign 16\n"
"ptw_data:\n"
"	.quad 0x99aabbccddeeff00\n"
"	.bss\n"
"	.balign 16\n"
"	.skip 4096\n"
"low_stack_top:\n"
"	.text\n");

#define LABEL(name) extern const char name[]
LABEL(mix_in); LABEL(mix_in_last); LABEL(mix_ret); LABEL(mix_ind);
LABEL(mix_out); LABEL(mix_back); LABEL(mix_call_next); LABEL(mix_call_ret);
LABEL(mix_end); LABEL(leave_in_last); LABEL(leave_out); LABEL(sys_insn);
LABEL(sys_after); LABEL(empty_in); LABEL(brk_insn); LABEL(ill_insn); LABEL(restorer);
LABEL(pf_insn); LABEL(pf_after); LABEL(spin_loop); LABEL(code32);
LABEL(code32_ind); LABEL(back64); LABEL(ptw1); LABEL(ptw2); LABEL(ptw3);
LABEL(ptw4); LABEL(ptw5); LABEL(ptwf_insn); LABEL(gp_call_insn);
LABEL(ptwg_insn); LABEL(gp_jmp_insn); LABEL(gp_ret_insn); LABEL(gp_retn_insn);
void mix(void);
void leave_cond(void);
void leave_ind(void);
void leave_ret(void);
void leave_call(void);
void leave_not(void);
void sys(void);
void empty(void);
void brk_(void) __asm__("brk");
void ill(void);
void pf(void);
void gp_call(void);
void gp_jmp(void);
void gp_ret(void);
void gp_retn(void);
void on_trap(int sig);
void on_ill(int sig);
void on_segv(int sig);
void spin(void);
void to32(void);
void ptw(void);
void ptwf(void);
void ptwg(void);
void ptws(void);
void bits(void);

#define A(label) ((unsigned long)(label))

static void nothing(void)
{
}

/* ---- running a case ---- */

struct range {
	uint64_t first;
	uint64_t last;
};

static const struct range no_range = { 0, 0 };

static void set_ranges(struct range filter, struct range stop)
{
	guest_wrmsr(RTIT_ADDR_A(0), filter.first);
	guest_wrmsr(RTIT_ADDR_B(0), filter.last);
	guest_wrmsr(RTIT_ADDR_A(1), stop.first);
	guest_wrmsr(RTIT_ADDR_B(1), stop.last);
}

static void report(bool ok, const char *name, const char *pattern,
		   const char *got)
{
	if (!ktap_case(ok, "%s", name))
		printf("# got      %.3000s\n# expected %s\n", got, pattern);
}

static void __attribute__((format(printf, 4, 5)))
expect(const char *name, uint64_t ctl, void (*fn)(void),
	const char *format, ...)
{
	char pattern[4096];
	const char *got = "";
	bool ok = false;
	va_list args;

	va_start(args, format);
	vsnprintf(pattern, sizeof(pattern), format, args);
	va_end(args);
	for (int i = 0; i < TRIES && !ok; i++) {
		if (!guest_output(true)) {
			got = "output registers refused";
			break;
		}
		guest_run(ctl, fn);
		got = guest_packets();
		ok = packets_match(pattern, got);
	}
	report(ok, name, pattern, got);
}

/* ---- cases with user code only ---- */

/* PacketByteCnt is not 0: no PSB+; the mode comes before the first TIP.PGE. */
static void case_resume(const char *name, uint64_t ctl, const char *pattern)
{
	guest_output(true);
	guest_run(ctl, nothing);
	guest_output(false);
	guest_run(ctl, nothing);
	report(packets_match(pattern, guest_packets()), name, pattern,
	       guest_packets());
}

static void cases_enable(void)
{
	uint64_t status = 0;
	char pattern[256];

	expect("guest_2b_10b_10c_3a", USER, nothing,
	       "PSB CBR(20) PSBEND MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(T) TIP.PGD()",
	       A(guest_after_on), A(nothing));
	snprintf(pattern, sizeof(pattern),
		 "CBR(20) MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(T) TIP.PGD()",
		 A(guest_after_on), A(nothing));
	case_resume("guest_2a", USER, pattern);
	case_resume("guest_2d_3b", ALL,
		    "CBR(20) MODE.Exec(64) TIP.PGE(ffff*) ... FUP(ffff*) TIP.PGD()");
	expect("guest_2e_3b", ALL, nothing,
	       "PSB CBR(20) PIP(*) MODE.TSX(none) PSBEND MODE.Exec(64) TIP.PGE(ffff*) ... FUP(ffff*) TIP.PGD()");
	guest_rdmsr(RTIT_STATUS, &status);
	ktap_case(!(status & 0x37), "guest_status_clean_after_stop");
	expect("guest_branchen_off", RTIT_CTL_USER, mix, START);
}

static void cases_branches(void)
{
	expect("guest_6d_7d_8d_9d", USER, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(NTN) TIP(%lx) TNT(TT) TIP(%lx) TNT(T) TIP(%lx) TIP.PGD()",
	       A(guest_after_on), A(mix), A(mix_ind), A(mix_back),
	       A(guest_after_call));
	expect("guest_disretc", USER | RTIT_CTL_DISRETC, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(NTN) TIP(%lx) TIP(%lx) TNT(T) TIP(%lx) TNT(T) TIP(%lx) TIP.PGD()",
	       A(guest_after_on), A(mix), A(mix_ind), A(mix_call_ret),
	       A(mix_back), A(guest_after_call));
	expect("guest_jcc_to_next", USER, bits,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(TTNTTT) ...",
	       A(guest_after_on), A(bits));
}

static void cases_filter(void)
{
	struct range in = { A(mix_in), A(mix_in_last) };
	struct range leave = { A(leave_cond), A(leave_in_last) };
	uint64_t on = USER | FILTER;

	set_ranges(in, no_range);
	expect("guest_7a_7b_6b", on, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TNT(N) TIP(%lx) TNT(TT) TIP.PGD(%lx)",
	       A(mix_in), A(mix_ind), A(mix_out));
	set_ranges((struct range){ A(mix_ind), A(mix_in_last) }, no_range);
	expect("guest_9a_9b", on, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TNT(TT) TIP.PGD(%lx)",
	       A(mix_ind), A(mix_out));
	set_ranges((struct range){ A(mix_out), A(mix_out) + 4 }, no_range);
	expect("guest_6c_6b_call", on, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP.PGD(%lx)", A(mix_out),
	       A(mix_call_next));
	set_ranges(leave, no_range);
	expect("guest_7f", on, leave_cond,
	       START " MODE.Exec(64) TIP.PGE(%lx) TNT(N) TIP.PGD()",
	       A(leave_cond));
	expect("guest_9c", on, leave_ind,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP.PGD(%lx)",
	       A(leave_ind), A(leave_out));
	expect("guest_9c_ret", on, leave_ret,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP.PGD(%lx)",
	       A(leave_ret), A(leave_out));
	expect("guest_8_fall_out_of_range", on, leave_not,
	       START " MODE.Exec(64) TIP.PGE(%lx) TNT(N) TIP.PGD(%lx)",
	       A(leave_not), A(guest_after_call));
	set_ranges((struct range){ A(mix_call_ret), A(mix_ret) }, no_range);
	expect("guest_6c_ret_of_unseen_call", on, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(T) TIP.PGD(%lx)",
	       A(mix_ret), A(mix_call_ret), A(mix_out));
}

static void cases_filter_events(void)
{
	struct range all = { A(mix), A(bits) + 64 };
	uint64_t entry = kernel_symbol("entry_SYSCALL_64");
	uint64_t on = ALL | FILTER;

	set_ranges(all, no_range);
	expect("guest_10d_5f_10b", on, sys,
	       START " ... MODE.Exec(64) TIP.PGE(%lx) TIP.PGD(%lx) PIP(*) PIP(*) TIP.PGE(%lx) TIP.PGD(%lx) PIP(*)",
	       A(sys), (unsigned long)entry, A(sys_after),
	       A(guest_after_call));
	expect("guest_12d_int3", on, brk_,
	       START " ... TIP.PGE(%lx) FUP(%lx) TIP.PGD(%lx) ...",
	       A(brk_), A(brk_insn),
	       (unsigned long)kernel_symbol("asm_exc_int3"));
	expect("guest_13d_ud", on, ill,
	       START " ... TIP.PGE(%lx) FUP(%lx) TIP.PGD(%lx) ...",
	       A(ill), A(ill_insn),
	       (unsigned long)kernel_symbol("asm_exc_invalid_op"));
	expect("guest_13d_pf", on, pf,
	       START " ... TIP.PGE(%lx) FUP(%lx) TIP.PGD(%lx) ...",
	       A(pf), A(pf_insn),
	       (unsigned long)kernel_symbol("asm_exc_page_fault"));
	expect("guest_11d_tick", on, spin,
	       START " ... TIP.PGE(%lx) ... FUP(%lx) TIP.PGD(%lx) ...",
	       A(spin), A(spin_loop),
	       (unsigned long)kernel_symbol("asm_sysvec_apic_timer_interrupt"));
}

static void expect_stopped(const char *name)
{
	uint64_t status = 0;

	guest_rdmsr(RTIT_STATUS, &status);
	ktap_case(status & RTIT_STATUS_STOPPED, "%s_sets_stopped", name);
}

static void cases_trace_stop(void)
{
	struct range out = { A(mix_out), A(mix_end) };
	struct range leave = { A(leave_out), A(leave_out) };
	uint64_t on = USER | STOP;

	set_ranges(no_range, out);
	expect("guest_6b_tracestop", on, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(NTN) TIP(%lx) TNT(TT) TIP.PGD(%lx) TraceStop",
	       A(guest_after_on), A(mix), A(mix_ind), A(mix_out));
	expect_stopped("guest_6b_tracestop");
	set_ranges(no_range, leave);
	expect("guest_7f_tracestop", on, leave_cond,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(N) TIP.PGD() TraceStop",
	       A(guest_after_on), A(leave_cond));
	expect("guest_9c_tracestop", on, leave_ind,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TIP.PGD(%lx) TraceStop",
	       A(guest_after_on), A(leave_ind), A(leave_out));
	set_ranges(no_range, (struct range){ A(guest_after_on),
					     A(guest_after_on) });
	expect("guest_10f_tracestop", on, nothing, START " TraceStop");
}

/* The call of mix() is not in the range, so no packet is about it. */
#define MIX_IN_RANGE	" MODE.Exec(64) TIP.PGE(%lx) TNT(NTN) TIP(%lx) TNT(TT) TIP.PGD(%lx)"

static void cases_two_ranges(void)
{
	struct range out = { A(mix_out), A(mix_end) };
	struct range around = { A(mix), A(mix_end) };
	struct range before = { A(mix), A(mix_out) - 1 };
	uint64_t status = 0;

	set_ranges(before, out);
	expect("guest_filter_and_tracestop", USER | FILTER | STOP, mix,
	       START MIX_IN_RANGE " TraceStop", A(mix), A(mix_ind),
	       A(mix_out));
	expect_stopped("guest_filter_and_tracestop");
	set_ranges(around, out);
	expect("guest_tracestop_within_filter", USER | FILTER | STOP, mix,
	       START MIX_IN_RANGE " TraceStop", A(mix), A(mix_ind),
	       A(mix_out));
	expect_stopped("guest_tracestop_within_filter");
	set_ranges((struct range){ A(leave_cond), A(leave_out) }, out);
	expect("guest_tracestop_outside_filter", USER | FILTER | STOP,
	       leave_ind, START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TIP.PGD(%lx)",
	       A(leave_ind), A(leave_out), A(guest_after_call));
	guest_rdmsr(RTIT_STATUS, &status);
	ktap_case(!(status & RTIT_STATUS_STOPPED),
		  "guest_tracestop_not_entered_is_not_stopped");
	set_ranges((struct range){ A(mix), A(mix_in) - 1 },
		   (struct range){ A(mix_in), A(mix_in_last) });
	expect("guest_two_filters_touch", USER | FILTER | FILTER_1, mix,
	       START MIX_IN_RANGE, A(mix), A(mix_ind), A(mix_out));
	set_ranges((struct range){ A(mix), A(mix_in) - 1 },
		   (struct range){ A(mix_ind), A(mix_in_last) });
	expect("guest_two_filters_apart", USER | FILTER | FILTER_1, mix,
	       START " MODE.Exec(64) TIP.PGE(%lx) TNT(N) TIP.PGD() TIP.PGE(%lx) TNT(TT) TIP.PGD(%lx)",
	       A(mix), A(mix_ind), A(mix_out));
}

/* Case 7e: the branch that leaves is the first since the buffer was sent. */
static void cases_tnt_empty(void)
{
	set_ranges((struct range){ A(empty_in), A(empty_in) + 1 }, no_range);
	expect("guest_7e", USER | FILTER, empty,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP.PGD()", A(empty_in));
	set_ranges((struct range){ A(spin_loop), A(spin_loop) + 3 }, no_range);
	expect("guest_1a_nothing_in_range", USER | FILTER, nothing, START);
}

/* ---- events and far transfers ---- */

struct kernel_sigaction {
	void (*handler)(int sig);
	unsigned long flags;
	const char *restorer;
	unsigned long mask;
};

static void set_handler(int sig, void (*handler)(int))
{
	struct kernel_sigaction sa = {
		.handler = handler,
		.flags = 0x04000000 | SA_SIGINFO | SA_NODEFER,
		.restorer = restorer,
	};

	syscall(SYS_rt_sigaction, sig, &sa, NULL, 8);
}

static void cases_events(void)
{
	unsigned long start = A(guest_after_on);

	set_handler(SIGTRAP, on_trap);
	set_handler(SIGILL, on_ill);
	set_handler(SIGSEGV, on_segv);
	expect("guest_10c_10b_syscall", USER, sys,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD()",
	       start, A(sys), A(sys_after), A(guest_after_call));
	expect("guest_12c_int3", USER, brk_,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) FUP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD()",
	       start, A(brk_), A(brk_insn), A(on_trap), A(restorer),
	       A(brk_insn) + 1, A(guest_after_call));
	expect("guest_13c_ud", USER, ill,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) FUP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD()",
	       start, A(ill), A(ill_insn), A(on_ill), A(restorer),
	       A(ill_insn) + 2, A(guest_after_call));
	expect("guest_13c_pf", USER, pf,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) FUP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD()",
	       start, A(pf), A(pf_insn), A(on_segv), A(restorer), A(pf_after),
	       A(guest_after_call));
	expect("guest_11c_tick", USER, spin,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) ... FUP(%lx) TIP.PGD() TIP.PGE(%lx) ... TIP.PGD()",
	       start, A(spin), A(spin_loop), A(spin_loop));
}

static void cases_events_all(void)
{
	unsigned long entry = kernel_symbol("entry_SYSCALL_64");

	expect("guest_10e_syscall_5d", ALL, sys,
	       "... TIP(%lx) TIP(%lx) ... PIP(*) ... PIP(*) ... TIP(%lx) ... FUP(*) TIP.PGD()",
	       A(sys), entry, A(sys_after));
	expect("guest_12e_int3", ALL, brk_,
	       "... TIP(%lx) FUP(%lx) TIP(%lx) ...", A(brk_), A(brk_insn),
	       (unsigned long)kernel_symbol("asm_exc_int3"));
	expect("guest_13e_ud", ALL, ill,
	       "... TIP(%lx) FUP(%lx) TIP(%lx) ...", A(ill), A(ill_insn),
	       (unsigned long)kernel_symbol("asm_exc_invalid_op"));
	expect("guest_13e_pf", ALL, pf,
	       "... TIP(%lx) FUP(%lx) TIP(%lx) ...", A(pf), A(pf_insn),
	       (unsigned long)kernel_symbol("asm_exc_page_fault"));
	expect("guest_11e_tick", ALL, spin,
	       "... TIP(%lx) ... FUP(%lx) TIP(%lx) ...", A(spin),
	       A(spin_loop),
	       (unsigned long)kernel_symbol("asm_sysvec_apic_timer_interrupt"));
}

/* The branch faults, and so has no packet of its own; RIP and RSP are of before it. */
static void cases_not_canonical(void)
{
	static const struct {
		const char *name;
		void (*fn)(void);
		const char *insn;
	} branches[] = {
		{ "call", gp_call, gp_call_insn },
		{ "jmp", gp_jmp, gp_jmp_insn },
		{ "ret", gp_ret, gp_ret_insn },
		{ "ret_imm", gp_retn, gp_retn_insn },
	};
	unsigned long gp = kernel_symbol("asm_exc_general_protection");
	char name[64];

	for (unsigned int i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
		snprintf(name, sizeof(name), "guest_13c_gp_%s", branches[i].name);
		expect(name, USER, branches[i].fn,
		       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) FUP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD()",
		       A(guest_after_on), A(branches[i].fn),
		       A(branches[i].insn), A(on_segv), A(restorer),
		       A(branches[i].insn) + 2, A(guest_after_call));
		snprintf(name, sizeof(name), "guest_13e_gp_%s", branches[i].name);
		expect(name, ALL, branches[i].fn, "... TIP(%lx) FUP(%lx) TIP(%lx) ...",
		       A(branches[i].fn), A(branches[i].insn), gp);
	}
}

/*
 * Flags that a comparison left, read after an instruction that the test CPU
 * executes instead of QEMU.
 */
#define FLAGS_AFTER(name, insn)					\
	static uint64_t name(uint64_t a, uint64_t b)			\
	{								\
		uint64_t flags;						\
									\
		__asm__ volatile("mov $0x14, %%eax\n\t"		\
				 "xor %%ecx, %%ecx\n\t"			\
				 "cmp %2, %1\n\t" insn "\n\t"		\
				 "pushfq\n\tpop %0"			\
				 : "=r"(flags) : "r"(a), "r"(b)		\
				 : "rax", "rbx", "rcx", "rdx", "cc", "memory"); \
		return flags;						\
	}

FLAGS_AFTER(flags_behind_nop, "nop")
FLAGS_AFTER(flags_behind_ptwrite, "ptwrite %1")
FLAGS_AFTER(flags_behind_cpuid, "cpuid")

static void cases_flags(void)
{
	uint64_t a = 0x9e3779b97f4a7c15, b = a, flags;
	bool ptwrite = true, cpuid = true;
	int i;

	for (i = 0; i < 2000; i++) {
		flags = flags_behind_nop(a, b);
		ptwrite &= flags_behind_ptwrite(a, b) == flags;
		cpuid &= flags_behind_cpuid(a, b) == flags;
		b = a;
		/* Every third pair is equal. */
		if (i % 3)
			a = a * 6364136223846793005 + 1442695040888963407;
	}
	ktap_case(ptwrite, "ptwrite_leaves_the_flags");
	ktap_case(cpuid, "cpuid_leaves_the_flags");
}

static void cases_kernel_only(void)
{
	unsigned long int3 = kernel_symbol("asm_exc_int3");
	unsigned long ud = kernel_symbol("asm_exc_invalid_op");
	unsigned long tick = kernel_symbol("asm_sysvec_apic_timer_interrupt");
	unsigned long entry = kernel_symbol("entry_SYSCALL_64");

	expect("guest_10b_os_only", KERN, sys, ENTER VISIT LEAVE, entry, entry);
	/* The handlers of both signals return by a system call. */
	expect("guest_12b_int3", KERN, brk_, ENTER VISIT VISIT LEAVE, int3,
	       entry, entry);
	expect("guest_13b_ud", KERN, ill, ENTER VISIT VISIT LEAVE, ud, entry,
	       entry);
	/* More ticks may follow, and others' turns. */
	expect("guest_11b_tick", KERN, spin, ENTER VISIT " ..." LEAVE, tick,
	       entry);
	set_ranges((struct range){ int3, int3 }, no_range);
	expect("guest_12b_filter", KERN | FILTER, brk_,
	       START " ... MODE.Exec(64) TIP.PGE(%lx) TIP.PGD(*) ...",
	       int3);
	set_ranges(no_range, (struct range){ int3, int3 });
	expect("guest_12f_tracestop", KERN | STOP, brk_, ENTER " TraceStop");
	set_ranges((struct range){ A(mix), A(mix) },
		   (struct range){ ud, ud });
	/* No code is in the filter: the only packet of the flow is CR3's on the way out. */
	expect("guest_13f_tracestop", ALL | FILTER | STOP, ill,
	       START " PIP(*) TraceStop");
	set_ranges(no_range, (struct range){ A(brk_insn) + 1,
					     A(brk_insn) + 1 });
	expect("guest_iret_tracestop", USER | STOP, brk_,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) FUP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD() TraceStop",
	       A(guest_after_on), A(brk_), A(brk_insn), A(on_trap),
	       A(restorer));
}

/* Bytes of kernel text, from /proc/kcore's ELF segments. */
static bool read_kernel(uint64_t address, uint8_t *buf, size_t len)
{
	struct {
		uint32_t type, flags;
		uint64_t offset, vaddr, paddr, filesz, memsz, align;
	} segment;
	uint8_t header[64];
	bool ok = false;
	uint16_t n;
	int fd = open("/proc/kcore", O_RDONLY);

	if (fd < 0 || pread(fd, header, 64, 0) != 64) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	memcpy(&n, header + 56, 2);
	for (uint16_t i = 0; i < n && !ok; i++) {
		if (pread(fd, &segment, 56, 64 + 56 * i) != 56)
			break;
		if (segment.type == 1 && address >= segment.vaddr &&
		    address + len <= segment.vaddr + segment.memsz)
			ok = pread(fd, buf, len, (off_t)(segment.offset +
				   address - segment.vaddr)) == (ssize_t)len;
	}
	close(fd);
	return ok;
}

/* The first MOV CR3 in the system call entry: kernel page tables go live. */
static uint64_t find_mov_cr3(uint64_t entry)
{
	uint8_t text[256];

	if (!entry || !read_kernel(entry, text, sizeof(text)))
		return 0;
	for (unsigned int i = 0; i + 2 < sizeof(text); i++)
		if (text[i] == 0x0f && text[i + 1] == 0x22 &&
		    (text[i + 2] & 0xf8) == 0xd8)
			return entry + i;
	return 0;
}

static uint64_t cr3_from_packets(const char *packets, int nth)
{
	uint64_t cr3 = 0;

	while (nth-- >= 0) {
		packets = strstr(packets, "PIP(");
		if (!packets)
			return 0;
		packets += 4;
		cr3 = strtoull(packets, NULL, 16);
	}
	return cr3;
}

static void cases_cr3(void)
{
	uint64_t entry = kernel_symbol("entry_SYSCALL_64");
	uint64_t mov = find_mov_cr3(entry);
	uint64_t on = ALL | RTIT_CTL_CR3FILTER;
	uint64_t kernel, user;

	if (!ktap_case(mov, "guest_kernel_switches_cr3_at_entry"))
		return;
	set_ranges((struct range){ entry, mov + 2 }, no_range);
	expect("guest_5e", ALL | FILTER, sys,
	       "... TIP.PGE(%lx) PIP(*) TIP.PGD(%lx) ...",
	       (unsigned long)entry, (unsigned long)mov + 3);
	set_ranges((struct range){ A(sys), A(sys_after) }, no_range);
	guest_output(false);
	guest_run(ALL | FILTER, sys);
	kernel = cr3_from_packets(strstr(guest_packets(), "TIP.PGD(") ?
				  strstr(guest_packets(), "TIP.PGD(") : "", 0);
	user = cr3_from_packets(strstr(guest_packets(), "TIP.PGD(") ?
				strstr(guest_packets(), "TIP.PGD(") : "", 1);
	ktap_case(kernel && user && kernel != user,
		  "guest_user_and_kernel_cr3_differ");
	guest_wrmsr(RTIT_CR3_MATCH, kernel);
	expect("guest_5b_5c", on, sys,
	       "... TIP.PGD() PIP(%lx) TIP.PGE(%lx) ... TIP.PGD() ...",
	       (unsigned long)kernel, (unsigned long)mov + 3);
	guest_wrmsr(RTIT_CR3_MATCH, user);
	expect("guest_5_cr3_user", USER | RTIT_CTL_CR3FILTER, sys,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TIP.PGD() TIP.PGE(%lx) TIP(%lx) TIP.PGD()",
	       A(guest_after_on), A(sys), A(sys_after),
	       A(guest_after_call));
	guest_wrmsr(RTIT_CR3_MATCH, 0x12345000);
	expect("guest_5a_no_match", on, sys, START);
}

static void cases_32bit(void)
{
	expect("guest_10e_mode_32", USER, to32,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) MODE.Exec(32) TIP(%lx) TNT(NT) TIP(%lx) MODE.Exec(64) TIP(%lx) TNT(T) TIP.PGD()",
	       A(guest_after_on), A(to32), A(code32), A(code32_ind),
	       A(back64));
}

static void cases_ptwrite(void)
{
	uint64_t on = USER | RTIT_CTL_PTWEN;
	uint64_t fs0 = 0;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(fs0));
	expect("guest_16_24", on, ptw,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) PTW(4,55667788) PTW(8,1122334455667788) PTW(4,ddeeff00) PTW(8,99aabbccddeeff00) PTW(8,%lx) TNT(T) TIP.PGD()",
	       A(guest_after_on), A(ptw), (unsigned long)fs0);
	expect("guest_16_24_fup", on | RTIT_CTL_FUPONPTW, ptw,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) PTW(4,55667788,ip) FUP(%lx) PTW(8,1122334455667788,ip) FUP(%lx) PTW(4,ddeeff00,ip) FUP(%lx) PTW(8,99aabbccddeeff00,ip) FUP(%lx) PTW(8,%lx,ip) FUP(%lx) TNT(T) TIP.PGD()",
	       A(guest_after_on), A(ptw), A(ptw1), A(ptw2), A(ptw3), A(ptw4),
	       (unsigned long)fs0, A(ptw5));
	expect("guest_16_24a", USER, ptw,
	       START " MODE.Exec(64) TIP.PGE(%lx) TIP(%lx) TNT(T) TIP.PGD()",
	       A(guest_after_on), A(ptw));
}

static volatile int faults;
static volatile uint64_t fault_address = 1;
static volatile int fault_code;
static volatile int fault_vector;

static void count_fault(int sig, siginfo_t *info, void *context)
{
	uint64_t *gregs = (uint64_t *)((char *)context + 40);

	faults += sig == SIGSEGV || sig == SIGBUS;
	fault_address = (uint64_t)info->si_addr;
	fault_code = (int)gregs[19];
	fault_vector = (int)gregs[20];
	/* What may be left of the instruction is NOP. */
	gregs[16] += 4;
}

static bool one_fault(void (*fn)(void), int vector, int code)
{
	faults = 0;
	fn();
	return faults == 1 && fault_vector == vector && fault_code == code;
}

static void cases_ptwrite_fault(void)
{
	struct sigaction sa = {
		.sa_sigaction = count_fault,
		.sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	ktap_case(one_fault(ptwf, 14, 4) && fault_address == 0,
		  "guest_16_25_ptwrite_page_fault");
	ktap_case(one_fault(ptwg, 13, 0), "guest_16_25_ptwrite_gp");
	ktap_case(one_fault(ptws, 12, 0), "guest_16_25_ptwrite_stack_fault");
	expect("guest_16_25_ptwrite_gp_packets", ALL | RTIT_CTL_PTWEN, ptwg,
	       "... TIP(%lx) FUP(%lx) TIP(%lx) ...", A(ptwg), A(ptwg_insn),
	       (unsigned long)kernel_symbol("asm_exc_general_protection"));
	set_handler(SIGSEGV, on_segv);
}

/* ---- registers, output, clocks ---- */

static void refused(const char *name, uint32_t msr, uint64_t value)
{
	errno = 0;
	ktap_case(!guest_wrmsr(msr, value) && errno == EIO,
		  "guest_gp_%s", name);
}

static void cases_registers(void)
{
	uint64_t value;

	refused("ctl_reserved", RTIT_CTL, 1ULL << 18);
	refused("ctl_mtcfreq", RTIT_CTL, 4ULL << RTIT_CTL_MTCFREQ_SHIFT);
	refused("ctl_addr_cfg", RTIT_CTL, 3ULL << 32);
	refused("ctl_fabric", RTIT_CTL, RTIT_CTL_FABRICEN);
	refused("status_reserved", RTIT_STATUS, 1 << 3);
	refused("base_low", RTIT_OUTPUT_BASE, 1);
	refused("base_high", RTIT_OUTPUT_BASE, 1ULL << 50);
	refused("cr3_match", RTIT_CR3_MATCH, 1);
	refused("addr", RTIT_ADDR_A(0), 1ULL << 60);
	ktap_case(guest_rdmsr(RTIT_CTL, &value) && value == 0,
		  "guest_ctl_untouched_by_refusals");
	guest_output(false);
	guest_wrmsr(RTIT_CTL, USER | RTIT_CTL_TRACEEN);
	refused("base_while_on", RTIT_OUTPUT_BASE, 0);
	refused("ctl_change_while_on", RTIT_CTL, ALL | RTIT_CTL_TRACEEN);
	ktap_case(guest_wrmsr(RTIT_CTL, USER | RTIT_CTL_TRACEEN),
		  "guest_same_ctl_while_on");
	guest_rdmsr(RTIT_STATUS, &value);
	ktap_case((value & 7) == (RTIT_STATUS_FILTEREN |
				  RTIT_STATUS_TRIGGEREN),
		  "guest_status_enables_in_kernel");
	guest_wrmsr(RTIT_CTL, 0);
}

static void entry(unsigned int index, uint64_t value)
{
	memcpy(guest_page + 8 * index, &value, 8);
}

/* Table at the page's start, regions of 4 KiB in its trace half. */
static uint64_t run_topa(uint64_t flags0, uint64_t flags1)
{
	uint64_t trace = guest_page_pa + GUEST_TRACE;
	uint64_t status = 0;

	memset(guest_page + GUEST_TRACE, 0, 8192);
	entry(0, trace | flags0);
	entry(1, (trace + 4096) | flags1);
	entry(2, guest_page_pa | TOPA_END);
	guest_wrmsr(RTIT_PERF_GLOBAL_STATUS_RESET, RTIT_GLOBAL_TOPA_PMI);
	guest_wrmsr(RTIT_STATUS, 0);
	guest_wrmsr(RTIT_OUTPUT_BASE, guest_page_pa);
	guest_wrmsr(RTIT_OUTPUT_MASK_PTRS, 0x7f);
	guest_run(USER | RTIT_CTL_TOPA | RTIT_CTL_DISRETC, spin);
	guest_rdmsr(RTIT_STATUS, &status);
	return status;
}

static void cases_topa(void)
{
	uint64_t pointers = 0, global = 0;
	uint64_t status = run_topa(0, TOPA_STOP);

	guest_rdmsr(RTIT_OUTPUT_MASK_PTRS, &pointers);
	ktap_case((status & RTIT_STATUS_STOPPED) &&
		  pointers == (4096ULL << 32 | 1 << 7 | 0x7f),
		  "guest_topa_stop");
	guest_rdmsr(RTIT_PERF_GLOBAL_STATUS, &global);
	ktap_case(!(global & RTIT_GLOBAL_TOPA_PMI), "guest_topa_no_pmi");
	status = run_topa(TOPA_INT, 0);
	guest_rdmsr(RTIT_PERF_GLOBAL_STATUS, &global);
	ktap_case(!(status & 0x30) && (global & RTIT_GLOBAL_TOPA_PMI),
		  "guest_topa_int_sets_bit_55");
	guest_wrmsr(RTIT_PERF_GLOBAL_STATUS_RESET, RTIT_GLOBAL_TOPA_PMI);
	guest_rdmsr(RTIT_PERF_GLOBAL_STATUS, &global);
	ktap_case(!(global & RTIT_GLOBAL_TOPA_PMI),
		  "guest_topa_bit_55_cleared_by_390");
	ktap_case(run_topa(1 << 1, 0) & RTIT_STATUS_ERROR,
		  "guest_topa_reserved_bit_is_error");
	ktap_case(run_topa(0, 1 << 3) & RTIT_STATUS_ERROR,
		  "guest_topa_error_when_reached");
	guest_wrmsr(RTIT_STATUS, 0);
}

static void cases_clocks(void)
{
	uint64_t on = USER | RTIT_CTL_TSCEN | RTIT_CTL_MTCEN |
		      3ULL << RTIT_CTL_MTCFREQ_SHIFT;
	unsigned long long tsc = 0;
	unsigned int ctc = 0, fast = 0, mtc = 0, n = 0;
	uint64_t before, after;
	const char *p;

	guest_output(true);
	before = __rdtsc();
	guest_run(on, spin);
	after = __rdtsc();
	p = guest_packets();
	ktap_case(sscanf(p, "PSB TSC(%llx) TMA(%x,%x) CBR(20)", &tsc, &ctc,
			 &fast) == 3 && tsc > before && tsc < after,
		  "guest_tsc_between_two_rdtsc");
	ktap_case(((tsc - fast) / 80 & 0xffff) == ctc && fast < 80,
		  "guest_tma_agrees_with_tsc");
	for (p = strstr(p, "MTC("); p; p = strstr(p + 1, "MTC("))
		n += sscanf(p, "MTC(%x)", &mtc);
	ktap_case(n > 10 && n <= (after - before) / 640 + 1,
		  "guest_mtc_no_more_than_periods");
	guest_output(true);
	guest_run(USER | RTIT_CTL_CYCEN, mix);
	report(packets_match("PSB CBR(20) PSBEND CYC(*) MODE.Exec(64) ... CYC(*) TNT(NTN) CYC(*) TIP(*) ... CYC(*) TIP.PGD()",
			     guest_packets()), "guest_cyc_before_packets",
	       "CYC before TNT and TIP", guest_packets());
}

/* Instructions that this CPU has begun, where it has insn-count=on. */
static uint64_t insns_begun(void)
{
	uint32_t eax = 0x4b495054, ebx, ecx = 0, edx;

	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return (uint64_t)edx << 32 | eax;
}

static uint64_t call_insns;

static void long_call(void)
{
	static char random[65536];
	uint64_t before = insns_begun();

	syscall(SYS_getrandom, random, sizeof(random), 0);
	call_insns = insns_begun() - before;
}

/* The cycle counter runs on in the kernel, though only user code is traced. */
static void cases_cycles(void)
{
	uint64_t cycles = 0;
	const char *p;

	guest_output(true);
	guest_run(USER | RTIT_CTL_CYCEN, long_call);
	for (p = strstr(guest_packets(), "CYC("); p; p = strstr(p + 1, "CYC("))
		cycles += strtoull(p + 4, NULL, 10);
	if (!ktap_case(call_insns > 65536 && cycles >= call_insns,
		       "guest_cyc_runs_out_of_context"))
		printf("# got      %llu cycles\n# expected %llu instructions\n",
		       (unsigned long long)cycles,
		       (unsigned long long)call_insns);
}

static void cases_event_trace(void)
{
	uint64_t on = USER | RTIT_CTL_EVENTEN;

	expect("guest_event_interrupt_and_iret", on, spin,
	       START " ... CFE(1,%u) FUP(%lx) TIP.PGD() ... CFE(2,0) TIP.PGE(%lx) ...",
	       0xec, A(spin_loop), A(spin_loop));
	expect("guest_event_page_fault", on, pf,
	       START " ... EVD(0,0) CFE(1,14) FUP(%lx) TIP.PGD() ...",
	       A(pf_insn));
	expect("guest_event_int3", on, brk_,
	       START " ... CFE(1,3) FUP(%lx) TIP.PGD() ...", A(brk_insn));
	expect("guest_event_if_in_kernel", ALL | RTIT_CTL_EVENTEN, sys,
	       START " ... MODE.Exec(64) TIP(%lx) ... MODE.Exec(64,if) FUP(ffff*) ...",
	       (unsigned long)kernel_symbol("entry_SYSCALL_64"));
}

/*
 * The other CPU sleeps while this one does. Woken by an interrupt, or from
 * MWAIT also by a store to the line it watches.
 */
static void cases_power(bool mwait)
{
	struct timespec nap = { .tv_nsec = 300000000 };
	const char *pattern = mwait ?
		START " ... MWAIT(*,*) PWRE(*) EXSTOP(ip) FUP(ffff*) CBR(20) PWRX(*,*,*) ..." :
		START " PWRE(0) EXSTOP(ip) FUP(ffff*) CBR(20) PWRX(0,0,1) ...";
	int other = !guest_cpu;

	memset(guest_page + GUEST_TRACE, 0, GUEST_TRACE);
	guest_wrmsr_on(other, RTIT_OUTPUT_BASE, guest_page_pa + GUEST_TRACE);
	guest_wrmsr_on(other, RTIT_OUTPUT_MASK_PTRS, GUEST_TRACE - 1);
	guest_wrmsr_on(other, RTIT_STATUS, 0);
	guest_wrmsr_on(other, RTIT_CTL, RTIT_CTL_OS | RTIT_CTL_PWREVTEN |
					RTIT_CTL_TRACEEN);
	nanosleep(&nap, NULL);
	guest_wrmsr_on(other, RTIT_CTL, 0);
	guest_list(GUEST_TRACE);
	report(packets_match(pattern, guest_packets()),
	       mwait ? "guest_16_4_mwait_idle" : "guest_16_9_16_18_hlt_idle",
	       pattern, guest_packets());
}

/* A reset is of all CPUs: none goes on writing to memory that is another's now. */
static int cases_reboot(const char *done)
{
	uint64_t ctl = 0, status = 0;
	FILE *f;

	if (access(done, F_OK) == 0) {
		ktap_case(guest_rdmsr(RTIT_CTL, &ctl) && !(ctl & RTIT_CTL_TRACEEN),
			  "guest_reset_clears_traceen_of_other_cpus");
		ktap_case(guest_rdmsr(RTIT_STATUS, &status) &&
			  !(status & RTIT_STATUS_TRIGGEREN),
			  "guest_reset_clears_triggeren_of_other_cpus");
		return ktap_finish();
	}
	f = fopen(done, "w");
	if (!f || fclose(f) || !guest_output(true) ||
	    !guest_wrmsr(RTIT_CTL, ALL | RTIT_CTL_TRACEEN)) {
		ktap_case(false, "guest_traces_before_its_reset");
		return ktap_finish();
	}
	reboot(RB_AUTOBOOT);
	return 1;
}

int main(int argc, char **argv)
{
	bool mwait = argc > 1 && strcmp(argv[1], "mwait") == 0;
	const char *why;

	if (!guest_open(1, &why)) {
		printf("# %s: %s\n", why, strerror(errno));
		ktap_case(false, "guest_open");
		return ktap_finish();
	}
	if (argc > 2 && strcmp(argv[1], "reboot") == 0)
		return cases_reboot(argv[2]);
	if (mwait) {
		cases_cycles();
		cases_power(true);
		return ktap_finish();
	}
	cases_registers();
	cases_enable();
	cases_branches();
	cases_filter();
	cases_trace_stop();
	cases_two_ranges();
	cases_tnt_empty();
	cases_events();
	cases_not_canonical();
	cases_filter_events();
	cases_events_all();
	cases_flags();
	cases_kernel_only();
	cases_cr3();
	cases_32bit();
	cases_ptwrite();
	cases_ptwrite_fault();
	cases_topa();
	cases_clocks();
	cases_event_trace();
	cases_power(false);
	return ktap_finish();
}
