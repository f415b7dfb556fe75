// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the comparison itself: what must be found equal, and above all
 * what must not. Runs in user space on the host; prints KTAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "match.h"

#define ENTRIES_MAX	512000
#define CTL_ALL		((1ULL << 4) | (1ULL << 12) | 1)

static struct truth_entry truth_entries[ENTRIES_MAX];
static struct kipt_record record_entries[ENTRIES_MAX];
static struct flow_file truth_file = { .entries = truth_entries };
static struct flow_file record_file = { .entries = record_entries };
static struct match_options options;
static struct match_result result;
static unsigned int controls_made;

static void truth(uint8_t kind, uint64_t from, uint64_t to, uint32_t aux)
{
	truth_entries[truth_file.count++] = (struct truth_entry){
		.kind = kind, .from = from, .to = to, .aux = aux,
	};
}

static void record(uint8_t type, uint8_t kind, uint64_t ip, uint64_t value,
		   uint32_t aux, uint16_t flags)
{
	record_entries[record_file.count++] = (struct kipt_record){
		.type = type, .kind = kind, .ip = ip, .value = value,
		.aux = aux, .flags = flags,
	};
}

static void branch(uint8_t kind, uint64_t from, uint64_t to)
{
	record(KIPT_RECORD_BRANCH, kind, from, to, 1, 0);
}

static void gap(uint8_t kind)
{
	record(KIPT_RECORD_GAP, kind, 0, 0, 0, KIPT_RF_NO_IP);
}

static void begin(void)
{
	truth_file.count = 0;
	record_file.count = 0;
	memset(&options, 0, sizeof(options));
	truth(TRUTH_MARK_ON, 1, CTL_ALL, 0);
	truth(TRUTH_ENABLE, 0, 0x1000, 0);
	record(KIPT_RECORD_SYNC, 0, 0, 0, 0, KIPT_RF_NO_IP);
	record(KIPT_RECORD_CBR, 0, 0, 0, 10, 0);
	record(KIPT_RECORD_ENABLE, KIPT_ENABLE_PGE, 0x1000, 0, 0, 0);
}

/* One transfer of each kind, on both sides. */
static void mixed(void)
{
	static const uint8_t kinds[][2] = {
		{ TRUTH_COND, KIPT_BRANCH_COND },
		{ TRUTH_JUMP, KIPT_BRANCH_JUMP },
		{ TRUTH_CALL, KIPT_BRANCH_CALL },
		{ TRUTH_JUMP_IND, KIPT_BRANCH_JUMP_IND },
		{ TRUTH_CALL_IND, KIPT_BRANCH_CALL_IND },
		{ TRUTH_RET, KIPT_BRANCH_RET },
		{ TRUTH_SYSCALL, KIPT_BRANCH_SYSCALL },
		{ TRUTH_SYSRET, KIPT_BRANCH_SYSRET },
		{ TRUTH_IRET, KIPT_BRANCH_IRET },
		{ TRUTH_FAR, KIPT_BRANCH_FAR },
		{ TRUTH_INTERRUPT, KIPT_BRANCH_EVENT },
		{ TRUTH_EXCEPTION, KIPT_BRANCH_EVENT },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		truth(kinds[i][0], 0x1000 + 8 * i, 0x1004 + 8 * i, 0);
		branch(kinds[i][1], 0x1000 + 8 * i, 0x1004 + 8 * i);
	}
}

/* @n transfers that all differ, the @first at 0x2000. */
static void many(unsigned int first, unsigned int n, bool recorded)
{
	unsigned int i;

	for (i = first; i < first + n; i++) {
		truth(TRUTH_COND, 0x2000 + 16 * i, 0x2000 + 16 * (i + 1), 0);
		if (recorded)
			branch(KIPT_BRANCH_COND, 0x2000 + 16 * i,
			       0x2000 + 16 * (i + 1));
	}
}

static void psb(uint64_t ip)
{
	record(KIPT_RECORD_SYNC, 0, ip, 0, 0, 0);
}

static void ptwrite(uint64_t from, uint64_t value, uint64_t recorded)
{
	truth(TRUTH_PTWRITE, from, value, 8);
	record(KIPT_RECORD_PTWRITE, 0, from, recorded, 8, 0);
}

static void sleep_and_wake(uint64_t ip, uint32_t hints, uint32_t recorded)
{
	truth(TRUTH_IDLE, ip, 0, hints);
	if (hints != FLOW_HLT)
		record(KIPT_RECORD_POWER, KIPT_POWER_MWAIT, ip, 0, recorded, 0);
	record(KIPT_RECORD_POWER, KIPT_POWER_PWRE, ip, 0,
	       hints == FLOW_HLT ? 0 : recorded, 0);
	record(KIPT_RECORD_POWER, KIPT_POWER_EXSTOP, ip, 0, 0, 0);
	truth(TRUTH_WAKE, ip, ip + 3, 1);
	record(KIPT_RECORD_POWER, KIPT_POWER_PWRX, ip, 1, 0, 0);
}

static void end(void)
{
	truth(TRUTH_DISABLE, 0x9000, 0x9002, TRUTH_MARK_OFF);
	truth(TRUTH_MARK_OFF, 2, 0, 0);
	record(KIPT_RECORD_DISABLE, KIPT_DISABLE_ASYNC, 0x9000, 0, 1,
	       KIPT_RF_NO_VALUE);
}

static bool equal(void)
{
	struct flow_cursor t = { .file = &truth_file, .cpu = -1 };
	struct flow_cursor r = { .file = &record_file, .cpu = -1 };

	match_run(&result, t, r, &options);
	return result.equal;
}

static bool every_kind_is_equal(void)
{
	begin();
	mixed();
	end();
	return equal() && result.branches == 12 &&
	       result.compared[FLOW_ENABLE] == 1 &&
	       result.compared[FLOW_DISABLE] == 1;
}

static bool changed_target_is_found(void)
{
	begin();
	many(0, 10, true);
	record_entries[record_file.count - 3].value ^= 1;
	end();
	return !equal() && result.truth.index == 9;
}

static bool changed_source_is_found(void)
{
	begin();
	many(0, 10, true);
	record_entries[record_file.count - 1].ip ^= 0x100000000ULL;
	end();
	return !equal();
}

static bool changed_kind_is_found(void)
{
	begin();
	many(0, 10, true);
	record_entries[record_file.count - 1].kind = KIPT_BRANCH_JUMP;
	end();
	return !equal();
}

static bool missing_record_is_found(void)
{
	begin();
	many(0, 5, true);
	many(5, 1, false);
	many(6, 5, true);
	end();
	return !equal();
}

static bool extra_record_is_found(void)
{
	begin();
	many(0, 5, true);
	branch(KIPT_BRANCH_COND, 0x7777, 0x8888);
	many(5, 5, true);
	end();
	return !equal();
}

static bool missing_end_is_found(void)
{
	begin();
	many(0, 5, true);
	many(5, 5, false);
	return !equal() && result.tail == 5;
}

static bool missing_truth_end_is_found(void)
{
	begin();
	many(0, 5, true);
	branch(KIPT_BRANCH_COND, 0x7777, 0x8888);
	return !equal();
}

static bool rare_changed_code_is_allowed(void)
{
	begin();
	many(0, 250000, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(250000, 2, false);
	psb(0x2000 + 16 * 250002);
	many(250002, 50000, true);
	end();
	return equal() && result.missed == 2 &&
	       result.gaps[KIPT_GAP_CODE_CHANGED] == 1;
}

static bool frequent_changed_code_is_refused(void)
{
	begin();
	many(0, 250000, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(250000, 4, false);
	psb(0x2000 + 16 * 250004);
	many(250004, 50000, true);
	end();
	return !equal();
}

/* Tracing ends and begins again; the record of the end has no address. */
static void disable_and_enable(unsigned int at)
{
	truth(TRUTH_DISABLE, 0x2000 + 16 * at, 0x9000, TRUTH_JUMP_IND);
	record(KIPT_RECORD_DISABLE, KIPT_DISABLE_BRANCH, 0, 0, 0,
	       KIPT_RF_NO_IP | KIPT_RF_NO_VALUE);
	truth(TRUTH_ENABLE, 0, 0x2000 + 16 * (at + 1), 0);
	record(KIPT_RECORD_ENABLE, KIPT_ENABLE_PGE, 0x2000 + 16 * (at + 1), 0,
	       0, 0);
}

static bool disable_in_a_gap_needs_no_address(void)
{
	begin();
	many(0, 250000, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(250000, 1, false);
	disable_and_enable(250001);
	many(250002, 50000, true);
	end();
	return equal() && result.missed == 1;
}

static bool disable_elsewhere_needs_its_address(void)
{
	begin();
	many(0, 10, true);
	disable_and_enable(10);
	many(11, 10, true);
	end();
	return !equal();
}

/* Up to the next PSB, which comes after transfer 11, only disables have records. */
static void disables_in_one_gap(unsigned int second)
{
	begin();
	options.all_gaps = true;
	many(0, 5, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(5, 3, false);
	disable_and_enable(8);
	record_file.count--;
	many(9, 2, false);
	disable_and_enable(second);
	record_file.count--;
	psb(0x2000 + 16 * 12);
	many(12, 5, true);
	end();
}

static bool disables_in_one_gap_are_equal(void)
{
	disables_in_one_gap(11);
	return equal() && result.branches == 10 && result.missed == 5;
}

static bool wrong_branch_after_them_is_found(void)
{
	disables_in_one_gap(11);
	record_entries[record_file.count - 2].value ^= 0x10;
	return !equal();
}

static bool disables_that_nobody_made_are_found(void)
{
	disables_in_one_gap(11);
	truth_entries[10].kind = TRUTH_JUMP_IND;
	return !equal();
}

static bool decode_gap_is_refused(void)
{
	begin();
	many(0, 250000, true);
	gap(KIPT_GAP_DECODE);
	many(250000, 1, false);
	psb(0x2000 + 16 * 250001);
	many(250001, 10, true);
	end();
	return !equal() && result.gaps[KIPT_GAP_DECODE] == 1;
}

static bool silent_gap_is_refused(void)
{
	begin();
	many(0, 250000, true);
	many(250000, 1, false);
	psb(0x2000 + 16 * 250001);
	many(250001, 10, true);
	end();
	return !equal();
}

static bool wrong_resume_address_is_refused(void)
{
	begin();
	many(0, 250000, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(250000, 1, false);
	psb(0x2000 + 16 * 250001 + 1);
	many(250001, 10, true);
	end();
	return !equal();
}

static bool psb_on_the_way_is_equal(void)
{
	begin();
	many(0, 10, true);
	psb(0x2000 + 16 * 10);
	psb(0x2000 + 16 * 10);
	many(10, 10, true);
	end();
	return equal();
}

static bool psb_elsewhere_is_found(void)
{
	begin();
	many(0, 10, true);
	psb(0x2000 + 16 * 10 + 1);
	many(10, 10, true);
	end();
	if (equal())
		return false;
	begin();
	many(0, 10, true);
	psb(0x2000 + 16 * 10 - 1);
	many(10, 10, true);
	end();
	return !equal();
}

static bool wrong_branch_after_gap_is_found(void)
{
	begin();
	many(0, 250000, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(250000, 1, false);
	psb(0x2000 + 16 * 250001);
	many(250001, 100, true);
	record_entries[record_file.count - 1].value++;
	end();
	return !equal();
}

static bool ptwrite_is_equal(void)
{
	begin();
	many(0, 2, true);
	ptwrite(0x2028, 0x1122334455667788ULL, 0x1122334455667788ULL);
	many(2, 2, true);
	end();
	return equal() && result.compared[FLOW_PTWRITE] == 1;
}

static bool changed_ptwrite_is_found(void)
{
	begin();
	ptwrite(0x2028, 0x1122334455667788ULL, 0x1122334455667789ULL);
	end();
	return !equal();
}

static bool sleep_is_equal(void)
{
	begin();
	sleep_and_wake(0x2000, 0x20, 0x20);
	sleep_and_wake(0x3000, FLOW_HLT, FLOW_HLT);
	end();
	return equal() && result.compared[FLOW_IDLE] == 2 &&
	       result.compared[FLOW_WAKE] == 2;
}

static bool changed_hints_are_found(void)
{
	begin();
	sleep_and_wake(0x2000, 0x20, 0x30);
	end();
	return !equal();
}

/* An MWAIT that an event ended at once has no packet of its own. */
static bool ended_mwait(uint32_t state, uint32_t recorded)
{
	begin();
	truth(TRUTH_IDLE, 0x2000, 0, ~state);
	record(KIPT_RECORD_POWER, KIPT_POWER_PWRE, 0x2000, 0, recorded, 0);
	record(KIPT_RECORD_POWER, KIPT_POWER_EXSTOP, 0x2000, 0, 0, 0);
	truth(TRUTH_WAKE, 0x2000, 0x2003, 0);
	record(KIPT_RECORD_POWER, KIPT_POWER_PWRX, 0x2000, 0, 0, 0);
	end();
	return equal();
}

static bool state_without_mwait_is_compared(void)
{
	return ended_mwait(0x20, 0x20) && ended_mwait(0, 0) &&
	       !ended_mwait(0x20, 0x10) && !ended_mwait(0, 0x20);
}

static bool sleep_without_pwre_is_found(void)
{
	begin();
	truth(TRUTH_IDLE, 0x2000, 0, FLOW_HLT);
	record(KIPT_RECORD_POWER, KIPT_POWER_EXSTOP, 0x2000, 0, 0, 0);
	end();
	return !equal();
}

static bool ring_may_start_late(void)
{
	begin();
	record_file.count = 0;
	many(0, 10, false);
	gap(KIPT_GAP_RING);
	psb(0x2000 + 16 * 10);
	many(10, 10, true);
	end();
	if (equal())
		return false;
	options.late_start = true;
	return equal() && result.missed == 10 && result.branches == 10;
}

/* What a ring overwrote excuses no other gap. */
static bool frequent_changed_code_in_a_ring_is_refused(void)
{
	begin();
	options.late_start = true;
	record_file.count = 0;
	many(0, 10, false);
	gap(KIPT_GAP_RING);
	psb(0x2000 + 16 * 10);
	many(10, 100000, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(100010, 4, false);
	psb(0x2000 + 16 * 100014);
	many(100014, 50000, true);
	end();
	return !equal() && result.missed == 14 && result.hidden == 4;
}

static bool full_buffer_may_end_early(void)
{
	begin();
	many(0, 10, true);
	gap(KIPT_GAP_STOPPED);
	many(10, 10, false);
	truth(TRUTH_MARK_OFF, 2, 0, 0);
	if (equal())
		return false;
	options.early_end = true;
	return equal() && result.tail == 10;
}

static bool early_end_needs_a_gap(void)
{
	begin();
	many(0, 10, true);
	many(10, 10, false);
	options.early_end = true;
	return !equal();
}

static bool overflow_gap_is_equal(void)
{
	begin();
	many(0, 10, true);
	truth(TRUTH_OVERFLOW, 0, 0, 0);
	many(10, 3, false);
	truth(TRUTH_RESUME, 0, 0x2000 + 16 * 13, 0);
	gap(KIPT_GAP_OVERFLOW);
	record(KIPT_RECORD_ENABLE, KIPT_ENABLE_OVERFLOW, 0x2000 + 16 * 13, 0,
	       0, 0);
	many(13, 10, true);
	end();
	return equal() && result.branches == 20;
}

static bool overflow_gap_without_overflow_is_found(void)
{
	begin();
	many(0, 10, true);
	many(10, 3, false);
	gap(KIPT_GAP_OVERFLOW);
	record(KIPT_RECORD_ENABLE, KIPT_ENABLE_OVERFLOW, 0x2000 + 16 * 13, 0,
	       0, 0);
	many(13, 10, true);
	end();
	return !equal();
}

static bool unknown_record_is_found(void)
{
	begin();
	many(0, 10, true);
	record(200, 0, 0, 0, 0, 0);
	end();
	return !equal();
}

static bool unknown_truth_is_found(void)
{
	begin();
	many(0, 10, true);
	truth(200, 0, 0, 0);
	end();
	return !equal();
}

static unsigned int missed_controls(void)
{
	struct flow_cursor t = { .file = &truth_file, .cpu = -1 };
	struct flow_cursor r = { .file = &record_file, .cpu = -1 };

	return control_run(t, r, &options, &result, &controls_made);
}

static bool controls_are_found(void)
{
	begin();
	mixed();
	many(0, 1000, true);
	ptwrite(0x2028, 5, 5);
	sleep_and_wake(0x2000, 0x20, 0x20);
	end();
	return equal() && missed_controls() == 0 && equal();
}

/* A jump to itself: which of its turns the ring begins with, nothing says. */
static bool controls_are_found_in_a_loop(void)
{
	unsigned int i;

	begin();
	options.late_start = true;
	record_file.count = 0;
	gap(KIPT_GAP_RING);
	for (i = 0; i < 100; i++) {
		truth(TRUTH_COND, 0x1800, 0x1800, 0);
		if (i >= 10)
			branch(KIPT_BRANCH_COND, 0x1800, 0x1800);
	}
	many(0, 50, true);
	end();
	return equal() && result.missed == 10 &&
	       missed_controls() == 0;
}

static bool blind_comparison_is_caught(void)
{
	begin();
	truth(TRUTH_CALL_IND, 0x2000, 0x3000, 0);
	branch(KIPT_BRANCH_CALL_IND, 0x2000, 0x3000);
	end();
	if (!equal())
		return false;
	/* One that looks at nothing: no record, and all may be missing. */
	record_file.count = 0;
	gap(KIPT_GAP_STOPPED);
	options.early_end = true;
	result.skip_count = 0;
	return missed_controls() > 0;
}

/* A MOV CR3 to @cr3, of which a PIP packet says @reported. */
static void moves_cr3(unsigned int at, uint64_t cr3, uint64_t reported)
{
	truth(TRUTH_CR3, 0x2000 + 16 * at, cr3, 0);
	record(KIPT_RECORD_CONTEXT, 0, 0, reported, 0, 0);
}

static bool address_spaces_are_compared(void)
{
	begin();
	many(0, 10, true);
	moves_cr3(10, 0x5000, 0x5000);
	many(10, 10, true);
	/* A PIP does not have the PCID, which CR3 has. */
	moves_cr3(20, 0x8000000000006003, 0x6000);
	many(20, 10, true);
	end();
	return equal() && result.spaces == 20;
}

static bool wrong_address_space_is_found(void)
{
	begin();
	many(0, 10, true);
	moves_cr3(10, 0x5000, 0x6000);
	many(10, 10, true);
	end();
	return !equal() && result.branches == 10;
}

static bool missing_address_space_is_found(void)
{
	begin();
	moves_cr3(0, 0x5000, 0x5000);
	many(0, 10, true);
	truth(TRUTH_CR3, 0, 0x6000, 0);
	many(10, 10, true);
	end();
	return !equal();
}

static bool address_space_after_a_gap_may_be_unknown(void)
{
	begin();
	moves_cr3(0, 0x5000, 0x5000);
	many(0, 250000, true);
	gap(KIPT_GAP_CODE_CHANGED);
	many(250000, 1, false);
	truth(TRUTH_CR3, 0, 0x6000, 0);
	psb(0x2000 + 16 * 250001);
	many(250001, 10, true);
	end();
	return equal() && result.spaces == 250000;
}

struct test {
	const char *name;
	bool (*run)(void);
};

#define TEST(name) { #name, name }

static const struct test tests[] = {
	TEST(every_kind_is_equal),
	TEST(changed_target_is_found),
	TEST(changed_source_is_found),
	TEST(changed_kind_is_found),
	TEST(missing_record_is_found),
	TEST(extra_record_is_found),
	TEST(missing_end_is_found),
	TEST(missing_truth_end_is_found),
	TEST(rare_changed_code_is_allowed),
	TEST(frequent_changed_code_is_refused),
	TEST(disable_in_a_gap_needs_no_address),
	TEST(disable_elsewhere_needs_its_address),
	TEST(disables_in_one_gap_are_equal),
	TEST(wrong_branch_after_them_is_found),
	TEST(disables_that_nobody_made_are_found),
	TEST(decode_gap_is_refused),
	TEST(silent_gap_is_refused),
	TEST(wrong_resume_address_is_refused),
	TEST(psb_on_the_way_is_equal),
	TEST(psb_elsewhere_is_found),
	TEST(wrong_branch_after_gap_is_found),
	TEST(ptwrite_is_equal),
	TEST(changed_ptwrite_is_found),
	TEST(sleep_is_equal),
	TEST(changed_hints_are_found),
	TEST(state_without_mwait_is_compared),
	TEST(sleep_without_pwre_is_found),
	TEST(ring_may_start_late),
	TEST(frequent_changed_code_in_a_ring_is_refused),
	TEST(full_buffer_may_end_early),
	TEST(early_end_needs_a_gap),
	TEST(overflow_gap_is_equal),
	TEST(overflow_gap_without_overflow_is_found),
	TEST(unknown_record_is_found),
	TEST(unknown_truth_is_found),
	TEST(address_spaces_are_compared),
	TEST(wrong_address_space_is_found),
	TEST(missing_address_space_is_found),
	TEST(address_space_after_a_gap_may_be_unknown),
	TEST(controls_are_found),
	TEST(controls_are_found_in_a_loop),
	TEST(blind_comparison_is_caught),
};

int main(void)
{
	unsigned int n = sizeof(tests) / sizeof(tests[0]), failed = 0, i;

	printf("KTAP version 1\n1..%u\n", n);
	for (i = 0; i < n; i++) {
		bool ok = tests[i].run();

		printf("%s %u compare %s\n", ok ? "ok" : "not ok", i + 1,
		       tests[i].name);
		failed += !ok;
	}
	return failed != 0;
}
