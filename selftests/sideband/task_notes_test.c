// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task finds its own notes again and no other's, takes one once, and finds the last
 * ones of many. User space.
 */
#include "../../kmod/shared/task_notes.h"
#include "../decode/ktap.h"

#define TASK	7U
#define OTHER	8U
#define WITHIN	64U

static struct ktap ktap;

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "task_notes_%s", name);
}

static void one_note(void)
{
	struct kipt_task_notes notes = {};

	check("none_in_the_beginning",
	      !kipt_task_notes_has(&notes, TASK, 0, ~0U));
	kipt_task_notes_add(&notes, TASK, 1000);
	check("has_it", kipt_task_notes_has(&notes, TASK, 1000, WITHIN) &&
	      kipt_task_notes_has(&notes, TASK, 1000 + WITHIN - 1, WITHIN));
	check("not_beyond",
	      !kipt_task_notes_has(&notes, TASK, 1000 + WITHIN, WITHIN) &&
	      !kipt_task_notes_has(&notes, TASK, 999, WITHIN));
	check("not_anothers", !kipt_task_notes_has(&notes, OTHER, 1000, WITHIN) &&
	      !kipt_task_notes_take(&notes, OTHER, 1000, WITHIN));
	check("takes_it_once", kipt_task_notes_take(&notes, TASK, 1001, WITHIN) &&
	      !kipt_task_notes_take(&notes, TASK, 1001, WITHIN) &&
	      !kipt_task_notes_has(&notes, TASK, 1001, WITHIN));
}

static void values_begin_anew(void)
{
	struct kipt_task_notes notes = {};

	kipt_task_notes_add(&notes, TASK, ~0U - 1);
	check("value_beyond_2_to_32", kipt_task_notes_has(&notes, TASK, 3, WITHIN));
	/* The last task, whose note must not become another's. */
	kipt_task_notes_add(&notes, ~0U, ~0U);
	check("highest_task_and_value",
	      kipt_task_notes_take(&notes, ~0U, ~0U, 1) &&
	      kipt_task_notes_has(&notes, TASK, 3, WITHIN));
}

static void the_last_ones_are_kept(void)
{
	struct kipt_task_notes notes = {};
	u32 i, kept = 0;

	for (i = 0; i <= KIPT_TASK_NOTES; i++)
		kipt_task_notes_add(&notes, TASK + i, i * WITHIN);
	for (i = 0; i <= KIPT_TASK_NOTES; i++)
		kept += kipt_task_notes_has(&notes, TASK + i, i * WITHIN, 1);
	check("last_ones", kept == KIPT_TASK_NOTES);
	check("one_of_more_is_gone", !kipt_task_notes_has(&notes, TASK + 1, WITHIN, 1) ||
	      !kipt_task_notes_has(&notes, TASK, 0, 1));
	kipt_task_notes_take(&notes, TASK + 5, 5 * WITHIN, 1);
	kipt_task_notes_add(&notes, OTHER + 100, 1);
	for (kept = 0, i = 0; i <= KIPT_TASK_NOTES; i++)
		kept += kipt_task_notes_has(&notes, TASK + i, i * WITHIN, 1);
	check("room_of_what_was_taken_first", kept == KIPT_TASK_NOTES - 1 &&
	      kipt_task_notes_has(&notes, OTHER + 100, 1, 1));
}

int main(void)
{
	ktap_start();
	one_note();
	values_begin_anew();
	the_last_ones_are_kept();
	return ktap_end(&ktap);
}
