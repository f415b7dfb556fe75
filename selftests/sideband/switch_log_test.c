// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions to the log of switches: who ran, when it is not known, what an
 * overflow means; and times that have more bits than packets. User space.
 */
#include "../../kmod/shared/switch_log.h"
#include "../../kmod/shared/tsc_extend.h"
#include "../decode/ktap.h"

#define ENTRIES	8U

static struct ktap ktap;
static struct kipt_crash_switch entries[ENTRIES];
static struct kipt_switch_log log;

static void begin(void)
{
	log = (struct kipt_switch_log){
		.entries = entries, .mask = ENTRIES - 1,
	};
}

static void add(u64 tsc, u64 id)
{
	entries[log.written++ & log.mask] = (struct kipt_crash_switch){
		.tsc = tsc, .space = id ? id << 12 : 0, .id = id,
	};
}

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "%s", name);
}

static void time_shows_who_ran(void)
{
	begin();
	add(100, 1);
	add(200, 2);
	add(300, 0);
	add(400, 1);
	check("before_the_log_nobody_is_known",
	      !kipt_switch_log_running(&log, 99));
	check("at_the_switch_it_is_the_next",
	      kipt_switch_log_running(&log, 200) == 2);
	check("between_switches_it_is_the_last",
	      kipt_switch_log_running(&log, 199) == 1);
	check("in_a_kernel_thread_it_is_the_one_before",
	      kipt_switch_log_running(&log, 350) == 2);
	check("after_the_log_it_is_the_last",
	      kipt_switch_log_running(&log, ~0ULL) == 1);
	check("without_time_several_are_unknown",
	      !kipt_switch_log_running(&log, 0));
	check("nothing_was_lost", !kipt_switch_log_first(&log) &&
	      !kipt_switch_log_known(&log));
}

static void one_space_needs_no_time(void)
{
	begin();
	add(100, 1);
	add(200, 0);
	add(300, 1);
	check("one_space_needs_no_time", kipt_switch_log_running(&log, 0) == 1);
	entries[1].space = 5 << 12;
	check("a_space_nobody_noted_is_another",
	      !kipt_switch_log_running(&log, 0));
	check("a_space_nobody_noted_is_unknown",
	      !kipt_switch_log_running(&log, 250));
}

static void an_overflow_is_reported(void)
{
	u64 i;

	begin();
	for (i = 0; i < ENTRIES + 3; i++)
		add(100 + i * 10, i < ENTRIES ? 1 : 2);
	/* Entries 0 to 2 are overwritten, 3 may be half so. */
	check("overflow_counts_what_is_lost", kipt_switch_log_first(&log) == 4);
	check("overflow_says_since_when_it_knows",
	      kipt_switch_log_known(&log) == 140);
	check("overflow_before_that_nobody_is_known",
	      !kipt_switch_log_running(&log, 139) &&
	      !kipt_switch_log_running(&log, 100));
	check("overflow_from_there_on_it_knows",
	      kipt_switch_log_running(&log, 140) == 1 &&
	      kipt_switch_log_running(&log, 185) == 2);
	for (i = 0; i < ENTRIES; i++)
		add(300 + i, 2);
	check("overflow_one_space_left_is_not_the_only_one",
	      !kipt_switch_log_running(&log, 0));
}

static void times_have_64_bits(void)
{
	u64 near = (3ULL << 56) + 1000;

	begin();
	add(near, 1);
	add(near + 100, 2);
	check("packet_before_is_extended",
	      kipt_tsc_extend(near, 10) == (3ULL << 56) + 10);
	check("packet_from_before_the_wrap",
	      kipt_tsc_extend(near, (1ULL << 56) - 5) == (3ULL << 56) - 5);
	check("packet_from_after_the_wrap",
	      kipt_tsc_extend((3ULL << 56) - 5, 7) == (3ULL << 56) + 7);
	check("small_times_do_not_become_negative",
	      kipt_tsc_extend(5, (1ULL << 56) - 5) == (1ULL << 56) - 5);
	check("56_bits_alone_would_be_unknown",
	      !kipt_switch_log_running(&log, 1050));
	check("extended_they_are_known",
	      kipt_switch_log_running(&log, kipt_tsc_extend(near, 1050)) == 1);
}

/* However long ago it was, and whoever looks at it when. */
static void times_of_a_run_are_extended_by_its_start(void)
{
	u64 start = (3ULL << 56) - 1000, near = kipt_tsc_of_run(start);
	u64 later = start + (1ULL << 55) + (1ULL << 54);

	check("begin_of_a_run",
	      kipt_tsc_extend(near, start & ((1ULL << 56) - 1)) == start);
	check("another_cpu_is_earlier",
	      kipt_tsc_extend(near, (start - 5000) & ((1ULL << 56) - 1)) ==
	      start - 5000);
	check("a_run_of_months",
	      kipt_tsc_extend(near, later & ((1ULL << 56) - 1)) == later);
	check("right_after_the_machine_started",
	      kipt_tsc_extend(kipt_tsc_of_run(5), 7) == 7);
}

int main(void)
{
	ktap_start();
	times_of_a_run_are_extended_by_its_start();
	time_shows_who_ran();
	one_space_needs_no_time();
	an_overflow_is_reported();
	times_have_64_bits();
	return ktap_end(&ktap);
}
