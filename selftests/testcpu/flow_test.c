// SPDX-License-Identifier: GPL-2.0-only
/*
 * From blocks and events to transfers: what the tracker of the test CPU makes
 * of the ways in which a block can be left. The packets show what it
 * understood. User space.
 */
#include <string.h>

#include "../../tools/testcpu/flow_track.h"
#include "ktap.h"
#include "model_machine.h"

#define CTL	(RTIT_CTL_BRANCHEN | RTIT_CTL_OS | RTIT_CTL_USER)
#define A	0x401000ULL
#define B	0x401100ULL
#define C	0x402000ULL
#define HANDLER	0xffffffff81000000ULL
/* Not canonical with 4 levels of page tables. */
#define NOWHERE	0x800000000000ULL

static struct pt_context now;
static struct pt_context interrupted;
static uint64_t flags, count;
static struct flow flow;

static void get_now(void *ctx, struct pt_context *state)
{
	(void)ctx;
	*state = now;
}

static void get_interrupted(void *ctx, uint64_t ip, struct pt_context *state)
{
	(void)ctx;
	(void)ip;
	*state = interrupted;
}

static uint64_t get_flags(void *ctx)
{
	(void)ctx;
	return flags;
}

static uint64_t get_count(void *ctx)
{
	(void)ctx;
	return count;
}

static int get_vector(void *ctx, uint64_t handler)
{
	(void)ctx;
	return handler == HANDLER ? 2 : -1;
}

static const struct flow_ops ops = {
	.context = get_now,
	.interrupted = get_interrupted,
	.flags = get_flags,
	.count = get_count,
	.vector = get_vector,
	.fault_address = get_count,
};

static void start(uint64_t ctl, unsigned int cpl)
{
	machine_reset("newest");
	machine_start(ctl, cpl, 0, A, false);
	machine_packets();
	now = cpu.ctx;
	interrupted = cpu.ctx;
	flow = (struct flow) { .pt = &cpu, .ops = &ops };
}

/* A block of @insns whose last instruction, at @last, is @hex. */
static struct flow_block block(uint64_t at, uint64_t last, const char *hex)
{
	struct flow_block b = { .start = at, .last = last, .insns = 1 };

	for (; hex[0]; hex += 2) {
		unsigned int v;

		sscanf(hex, "%2x", &v);
		b.bytes[b.len++] = (uint8_t)v;
	}
	b.next = last + b.len;
	return b;
}

/* @first runs to its end, then @second begins. */
static void step(struct flow_block *first, struct flow_block *second)
{
	flow_arrive(&flow, first, first->start, NULL);
	flow_arrive(&flow, second, second->start, first);
}

static void test_ends(void)
{
	struct flow_block jcc = block(A, A + 0x10, "7402");
	struct flow_block taken = block(A + 0x14, A + 0x14, "90");
	struct flow_block after = block(A + 0x12, A + 0x12, "90");
	struct flow_block plain = block(A, A + 0x11, "90");
	struct flow_block call = block(A, A + 0x10, "e8ebffffff");
	struct flow_block ret = block(A, A, "c3");
	struct flow_block back = block(A + 0x15, A + 0x15, "90");

	start(CTL, 3);
	step(&jcc, &taken);
	machine_expect("flow_jcc_taken", "TNT(T)");
	step(&jcc, &after);
	machine_expect("flow_jcc_not_taken", "TNT(N)");
	step(&plain, &after);
	machine_expect("flow_fall_through", "");
	step(&plain, &plain);
	machine_expect("flow_rep_reenters_its_block", "");
	step(&call, &ret);
	flow_arrive(&flow, &back, back.start, &ret);
	machine_expect("flow_call_and_ret", "TNT(T)");
	ktap_case(flow.unexplained == 0, "flow_all_explained");
	step(&call, &after);
	ktap_case(flow.unexplained == 1, "flow_wrong_target_is_counted");
}

static void test_left_early(void)
{
	struct flow_block jcc = block(A, A + 0x10, "74ee");
	struct flow_block self = block(A, A, "ebfe");

	start(CTL, 3);
	flow_arrive(&flow, &jcc, A, NULL);
	flow_arrive(&flow, &jcc, A, NULL);
	machine_expect("flow_left_before_its_end_is_no_branch", "");
	flow_arrive(&flow, &jcc, A, &jcc);
	machine_expect("flow_loop_to_own_start", "TNT(T)");
	step(&self, &self);
	flow_event(&flow, TRUTH_INTERRUPT, A, HANDLER, &self);
	machine_expect("flow_interrupted_jump_to_self",
		       "FUP(401000) TIP(ffffffff81000000)");
}

static void test_to_next(void)
{
	struct flow_block je = block(A, A, "7400");
	struct flow_block jrcxz = block(A, A, "e300");
	struct flow_block loop = block(A, A, "e200");
	struct flow_block next = block(A + 2, A + 2, "90");

	start(CTL, 3);
	flags = 1 << 6;
	step(&je, &next);
	flags = 0;
	step(&je, &next);
	machine_expect("flow_je_to_next_by_flags", "TNT(TN)");
	count = 0;
	step(&jrcxz, &next);
	step(&loop, &next);
	count = 1;
	step(&jrcxz, &next);
	step(&loop, &next);
	machine_expect("flow_counted_to_next_by_rcx", "TNT(TNNT)");
}

static void test_events(void)
{
	struct flow_block mid = block(A, A + 0x10, "eb00");
	struct flow_block call = block(A, A + 0x10, "ffd0");
	struct flow_block int3 = block(A, A + 0x10, "cc");
	struct flow_block ret = block(A, A + 0x10, "c3");
	struct flow_block jcc = block(A, A + 0x10, "7402");
	struct flow_block handler = block(HANDLER, HANDLER, "90");

	start(CTL, 3);
	flow_arrive(&flow, &mid, A, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, A + 8, HANDLER, NULL);
	flow_arrive(&flow, &handler, HANDLER, NULL);
	machine_expect("flow_fault_inside_block",
		       "FUP(401008) TIP(ffffffff81000000)");
	flow_arrive(&flow, &call, A, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, A + 0x10, HANDLER, &call);
	machine_expect("flow_fault_of_the_branch_itself",
		       "FUP(401010) TIP(ffffffff81000000)");
	flow_arrive(&flow, &call, A, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, C, HANDLER, &call);
	machine_expect("flow_fault_fetching_the_target",
		       "TIP(402000) FUP(402000) TIP(ffffffff81000000)");
	flow_arrive(&flow, &call, A, NULL);
	flow_event(&flow, TRUTH_INTERRUPT, C, HANDLER, &call);
	machine_expect("flow_interrupt_behind_the_branch",
		       "TIP(402000) FUP(402000) TIP(ffffffff81000000)");
	flow_arrive(&flow, &call, A, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, NOWHERE, HANDLER, &call);
	machine_expect("flow_fault_of_a_call_to_nowhere",
		       "FUP(401010) TIP(ffffffff81000000)");
	flow_arrive(&flow, &ret, A + 0x5000, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, NOWHERE, HANDLER, &ret);
	machine_expect("flow_fault_of_a_ret_to_nowhere",
		       "FUP(406010) TIP(ffffffff81000000)");
	flow_arrive(&flow, &jcc, A, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, NOWHERE, HANDLER, NULL);
	machine_expect("flow_fault_in_nowhere_without_a_branch",
		       "FUP(800000000000) TIP(ffffffff81000000)");
	cpu.msrs.la57 = true;
	flow_arrive(&flow, &call, A, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, NOWHERE, HANDLER, &call);
	machine_expect("flow_fault_fetching_a_target_of_57_bits",
		       "TIP(800000000000) FUP(800000000000) TIP(ffffffff81000000)");
	flow_arrive(&flow, &int3, A, NULL);
	flow_event(&flow, TRUTH_EXCEPTION, A + 0x10, HANDLER, &int3);
	machine_expect("flow_int3", "FUP(401010) TIP(ffffffff81000000)");
}

/* User-only tracing: blocks of the kernel do not report. */
static void test_dormant(void)
{
	struct flow_block syscall = block(A, A + 0x10, "0f05");
	struct flow_block kernel = block(HANDLER, HANDLER, "90");
	struct flow_block sysret = block(HANDLER + 8, HANDLER + 8, "480f07");
	struct flow_block user = block(B, B, "90");
	struct flow_block old = block(C, C, "eb0e");

	start(RTIT_CTL_BRANCHEN | RTIT_CTL_USER, 3);
	flow_arrive(&flow, &syscall, A, NULL);
	now.cpl = 0;
	flow_arrive(&flow, &kernel, HANDLER, &syscall);
	machine_expect("flow_syscall_out_of_context", "TIP.PGD()");
	flow.dormant = true;
	now.cpl = 3;
	flow_arrive(&flow, &user, B, &sysret);
	machine_expect("flow_sysret_wakes", "TIP.PGE(401100)");
	flow_arrive(&flow, &syscall, A, &user);
	now.cpl = 0;
	flow_arrive(&flow, &kernel, HANDLER, &syscall);
	machine_packets();
	flow.dormant = true;
	interrupted.cpl = 3;
	flow_event(&flow, TRUTH_INTERRUPT, B, HANDLER, &sysret);
	machine_expect("flow_interrupt_right_behind_sysret",
		       "TIP.PGE(401100) FUP(401100) TIP.PGD()");
	flow.dormant = true;
	flow_event(&flow, TRUTH_EXCEPTION, HANDLER + 8, HANDLER, &sysret);
	machine_expect("flow_sysret_that_faults", "");
	flow.dormant = true;
	now.cpl = 0;
	flow_arrive(&flow, &kernel, HANDLER, &old);
	ktap_case(flow.unexplained == 0,
		  "flow_jump_reached_long_ago_explains_nothing");
}

static void test_shift(void)
{
	struct flow_block jmp = block(A, A + 0x10, "eb0e");
	struct flow_block target = block(A + 0x20, A + 0x20, "ffe0");
	struct flow_block user = block(B, B, "90");

	start(CTL, 3);
	flow_arrive(&flow, &jmp, A + 0x5000, NULL);
	ktap_case(flow_expected(&flow, &jmp, A + 0x5020) &&
		  !flow_expected(&flow, &jmp, A + 0x20),
		  "flow_shared_translation_expected_address");
	flow_arrive(&flow, &target, A + 0x5020, &jmp);
	flow_arrive(&flow, &user, B, &target);
	machine_expect("flow_shared_translation", "TIP(401100)");
	ktap_case(flow.unexplained == 0,
		  "flow_shared_translation_is_explained");
}

static void test_sleep(void)
{
	start(CTL | RTIT_CTL_PWREVTEN, 0);
	pt_hlt(&cpu, A);
	machine_packets();
	flow_event(&flow, TRUTH_INTERRUPT, A + 1, HANDLER, NULL);
	machine_expect("flow_nmi_ends_sleep",
		       "CBR(20) PWRX(0,0,0) FUP(401001) TIP(ffffffff81000000)");
	pt_hlt(&cpu, A);
	machine_packets();
	flow_event(&flow, TRUTH_INTERRUPT, A + 1, HANDLER + 16, NULL);
	machine_expect("flow_interrupt_ends_sleep",
		       "CBR(20) PWRX(0,0,1) FUP(401001) TIP(ffffffff81000010)");
}

int main(void)
{
	test_ends();
	test_left_early();
	test_to_next();
	test_events();
	test_dormant();
	test_shift();
	test_sleep();
	return ktap_finish();
}
