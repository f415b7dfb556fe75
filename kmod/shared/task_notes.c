// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps notes of tasks, see task_notes.h. Each is one word, so that it is whole
 * whoever writes another one meanwhile.
 */
#include "task_notes.h"

static u64 note_of(u32 task, u32 value)
{
	return (u64)task << 32 | value;
}

void kipt_task_notes_add(struct kipt_task_notes *notes, u32 task, u32 value)
{
	u32 number = atomic_inc_return(&notes->last), i;

	for (i = 0; i < KIPT_TASK_NOTES; i++)
		if (!atomic64_cmpxchg(&notes->notes[i], 0,
				      note_of(task, value)))
			return;
	atomic64_set(&notes->notes[number % KIPT_TASK_NOTES],
		     note_of(task, value));
}

/* Return: the number of such a note, *@note, or KIPT_TASK_NOTES. */
static u32 find(const struct kipt_task_notes *notes, u32 task, u32 value,
		u32 within, u64 *note)
{
	u32 i;

	for (i = 0; i < KIPT_TASK_NOTES; i++) {
		*note = atomic64_read(&notes->notes[i]);
		if (*note >> 32 == task && value - (u32)*note < within)
			break;
	}
	return i;
}

bool kipt_task_notes_has(const struct kipt_task_notes *notes, u32 task,
			 u32 value, u32 within)
{
	u64 note;

	return find(notes, task, value, within, &note) < KIPT_TASK_NOTES;
}

bool kipt_task_notes_take(struct kipt_task_notes *notes, u32 task, u32 value,
			  u32 within)
{
	u64 note;
	u32 number = find(notes, task, value, within, &note);

	return number < KIPT_TASK_NOTES &&
	       atomic64_cmpxchg(&notes->notes[number], note, 0) == (s64)note;
}
