// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches of a CPU merged into its records: each address space the trace comes
 * to, and each time, names the thread that ran then, unless that cannot be known.
 * Also of made-up schedules, whose records come late, as in a trace. The numbers are
 * the same in each run. User space, with the log of switches.
 */
#include "../../uapi/linux/kipt_record.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../kmod/shared/task_merge.h"
#include "../decode/ktap.h"
#include "../decode/random_below.h"

#define ENTRIES		16U
#define A		0x1000ULL
#define B		0x2000ULL
#define C		0x3000ULL
/* None was named. */
#define NONE		0U
#define SCHEDULES	2000U
/* Entries of a large log, and those of another space. */
#define LARGE		(1U << 22)
#define NEAR		4000U
#define FAR		10000U
#define HANGS_SECONDS	30

static struct ktap ktap;
static struct kipt_crash_switch entries[ENTRIES];
static struct kipt_switch_log log;
static struct kipt_task_merge merge;

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "task_merge_%s", name);
}

/* Only C is known to be of one process. */
static bool tgid(void *ctx, u64 space, u32 *tgid)
{
	*tgid = 300;
	return !ctx && space == C;
}

static void log_begins(void)
{
	memset(entries, 0, sizeof(entries));
	log = (struct kipt_switch_log){
		.entries = entries, .mask = ENTRIES - 1,
	};
}

static void switched(u64 tsc, u64 space, u32 tid)
{
	entries[log.written++ % ENTRIES] = (struct kipt_crash_switch){
		.tsc = tsc, .space = space, .tid = tid, .tgid = tid / 100 * 100,
	};
}

static void records_begin(void)
{
	const struct kipt_task_spaces spaces = { .mask = ~0xfffULL, .tgid = tgid };

	kipt_task_merge_init(&merge, &log, &spaces);
}

/* Return: the thread that a record names; NONE. */
static u32 see(u8 type, u64 value)
{
	struct kipt_record record = { .type = type, .value = value };
	struct kipt_record task = { .type = 0 };

	if (!kipt_task_merge_see(&merge, &record, &task))
		return NONE;
	return task.type == KIPT_RECORD_TASK &&
	       task.value == task.aux / 100 * 100 ? task.aux : ~0U;
}

static u32 context(u64 space)
{
	return see(KIPT_RECORD_CONTEXT, space);
}

static u32 passed(u64 tsc)
{
	return see(KIPT_RECORD_TIME, tsc);
}

static void address_spaces_place_switches(void)
{
	log_begins();
	switched(100, A, 101);
	switched(200, B, 201);
	switched(300, A, 102);
	records_begin();
	check("the_first_is_named", context(A) == 101);
	check("flags_of_cr3_do_not_matter", context(B | 0x7) == 201);
	check("the_next_of_a_space_is_named", context(A) == 102);
	check("one_that_nobody_logged_is_not", context(B) == NONE);
	check("the_process_of_a_space_is_named", context(C) == 300);
	check("other_records_name_nobody",
	      see(KIPT_RECORD_BRANCH, 100) == NONE);
}

static void times_place_switches(void)
{
	log_begins();
	switched(100, A, 101);
	switched(200, A, 102);
	switched(300, 0, 103);
	records_begin();
	check("none_is_named_before_the_first", passed(50) == NONE);
	check("a_time_passes_a_switch", passed(100) == 101);
	check("none_is_named_twice", passed(150) == NONE);
	check("threads_of_a_space_are_distinguished", passed(250) == 102);
	check("a_kernel_thread_is_named", passed(301) == 103);
	check("time_passes_several", !passed(302) && (records_begin(), true) &&
	      passed(400) == 103);
}

/* A switch is logged before its address space is in the trace. */
static void time_may_be_ahead_of_the_space(void)
{
	log_begins();
	switched(100, A, 101);
	switched(200, B, 201);
	switched(300, A, 102);
	switched(400, B, 202);
	records_begin();
	check("the_space_is_named", context(A) == 101);
	check("a_time_ahead_of_the_space_names_nobody", passed(210) == NONE);
	check("the_space_after_it_names_the_switch", context(B) == 201);
	check("and_the_next_one_the_next", context(A) == 102);
	check("a_time_after_the_space_names_nobody", passed(310) == NONE);
	check("and_the_last_one", passed(410) == NONE && context(B) == 202);
}

static void records_begin_at_a_psb(void)
{
	log_begins();
	switched(100, A, 101);
	switched(200, B, 201);
	switched(300, A, 102);
	switched(400, A, 103);
	records_begin();
	kipt_task_merge_at(&merge, 250, 290);
	check("who_runs_at_a_psb_is_named", context(B) == 201);
	kipt_task_merge_at(&merge, 350, 390);
	check("also_after_another", context(A) == 102);
	kipt_task_merge_at(&merge, 205, 230);
	check("a_switch_is_logged_before_its_space", context(A) == 101);
	kipt_task_merge_at(&merge, 250, 290);
	check("what_is_later_than_the_records_is_not_named",
	      context(C) == 300);
	check("spaces_place_what_is_between",
	      !kipt_task_merge_needs_time(&merge, 150, 350));
	check("a_space_alone_does_not_distinguish_threads",
	      kipt_task_merge_needs_time(&merge, 350, 450) &&
	      kipt_task_merge_needs_time(&merge, 0, ~0ULL));
}

/* The idle thread leaves CR3 as it is, and the task that it was taken from comes back. */
static void a_task_that_comes_back_from_idle_needs_time(void)
{
	log_begins();
	switched(100, A, 101);
	switched(200, 0, 0);
	switched(300, A, 101);
	switched(400, B, 201);
	records_begin();
	check("coming_back_from_idle_needs_time",
	      kipt_task_merge_needs_time(&merge, 250, 350));
	check("another_space_after_that_does_not",
	      !kipt_task_merge_needs_time(&merge, 350, 450));
	/* It came back while nothing was traced. */
	check("it_runs_at_first", context(A) == 101);
	check("then_the_idle_thread", passed(210) == 0);
	kipt_task_merge_go_on(&merge, 310);
	check("and_it_runs_at_the_next_psb", context(A) == 101);
	kipt_task_merge_go_on(&merge, 320);
	check("which_is_said_once", context(A) == NONE);
}

/* Its address space is loaded before it sleeps, and its entry comes after that. */
static void exec_is_logged_late(void)
{
	log_begins();
	switched(10, A, 101);
	switched(30, C, 301);
	switched(40, B, 101);
	switched(45, B, 101);
	switched(60, C, 302);
	records_begin();
	check("before_exec", context(A) == 101);
	check("exec_passes_no_switch", context(B) == NONE && context(C) == 301);
	check("it_comes_back_after_exec", context(B) == 101);
	check("and_the_next_is_another_thread", context(C) == 302);
	log_begins();
	switched(10, A, 101);
	switched(30, C, 301);
	switched(60, A, 102);
	switched(90, B, 201);
	records_begin();
	check("what_goes_on_elsewhere_after_exec_passes_no_switch",
	      context(A) == 101 && context(B) == NONE && context(C) == 301 &&
	      context(A) == 102 && context(B) == 201);
}

static void what_was_lost_is_not_named(void)
{
	u32 i;

	log_begins();
	switched(10, C, 301);
	for (i = 0; i < ENTRIES; i++)
		switched(100 + i, i % 2 ? A : B, i % 2 ? 101 : 201);
	records_begin();
	check("of_a_process_a_lost_thread_is_not_known", context(C) == ~0U);
	check("lost_switches_do_not_matter_to_others", context(A) == 101);
}

/* Which of the threads: two in each of two spaces, and one of the kernel. */
static const struct {
	u64 space;
	u32 tid;
} threads[] = { { A, 101 }, { A, 102 }, { B, 201 }, { B, 202 }, { 0, 501 } };

/*
 * A schedule of which the trace names each change of the space, a bit after its
 * switch was logged, with the time of a moment between now and then.
 */
static bool schedule_is_right(void)
{
	u64 tsc = 1000, space = 0, at[ENTRIES];
	u32 which[ENTRIES], i, got;

	log_begins();
	for (i = 0; i < ENTRIES - 1; i++) {
		which[i] = next_random() % 4;
		at[i] = tsc += 10 + next_random() % 100;
		switched(tsc, threads[which[i]].space, threads[which[i]].tid);
	}
	records_begin();
	for (i = 0; i < ENTRIES - 1; i++) {
		bool other = threads[which[i]].space != space;

		/* It has to wait for the space, if one is known. */
		if (next_random() % 2 && passed(at[i] + 2) != NONE && other &&
		    space)
			return false;
		if (other) {
			space = threads[which[i]].space;
			got = context(space);
			if (got != NONE && got != threads[which[i]].tid)
				return false;
		}
		passed(at[i] + 5);
		if (merge.tid != threads[which[i]].tid)
			return false;
	}
	return true;
}

static void schedules_are_followed(void)
{
	bool right = true;
	u32 i;

	for (i = 0; i < SCHEDULES; i++)
		right &= schedule_is_right();
	check("each_thread_of_a_schedule_is_named_while_it_runs", right);
}

/* Without time, and with a log as large as there can be. */
static void an_unknown_space_is_not_looked_for_in_all_of_a_log(void)
{
	u32 i, named = 0;

	log = (struct kipt_switch_log){
		.entries = calloc(LARGE, sizeof(*log.entries)),
		.mask = LARGE - 1,
		.written = LARGE - 1,
	};
	for (i = 0; i < LARGE; i++)
		log.entries[i] = (struct kipt_crash_switch){
			.space = i == NEAR || i == FAR ? B : A,
			.tid = i, .tgid = i / 100 * 100,
		};
	records_begin();
	/* It takes less than one, or minutes. */
	alarm(HANGS_SECONDS);
	for (i = 0; i < LARGE / 64; i++)
		named += context(C + (i + 1) * 0x1000) != NONE;
	alarm(0);
	check("an_unknown_space_is_not_looked_for_in_all_of_a_log", !named);
	context(A);
	check("a_space_is_found_beyond_threads_of_another",
	      context(B) == NEAR && context(A) == NEAR + 1);
	check("but_not_beyond_any_number_of_them", context(B) == NONE);
	free(log.entries);
}

int main(void)
{
	ktap_start();
	address_spaces_place_switches();
	times_place_switches();
	time_may_be_ahead_of_the_space();
	records_begin_at_a_psb();
	a_task_that_comes_back_from_idle_needs_time();
	exec_is_logged_late();
	what_was_lost_is_not_named();
	schedules_are_followed();
	an_unknown_space_is_not_looked_for_in_all_of_a_log();
	return ktap_end(&ktap);
}
