/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Notes that a task leaves for itself and finds again on whatever CPU it runs later.
 * There is room for a few of all tasks: new ones replace old ones that nobody took.
 */
#ifndef KIPT_TASK_NOTES_H
#define KIPT_TASK_NOTES_H

#include <linux/atomic.h>
#include <linux/types.h>

#define KIPT_TASK_NOTES	16U

/**
 * struct kipt_task_notes - notes of one kind; all 0 in the beginning
 * @last: how many were left, modulo 2^32
 * @notes: the last ones: the task in the upper half, the value in the lower; 0: none
 */
struct kipt_task_notes {
	atomic_t last;
	atomic64_t notes[KIPT_TASK_NOTES];
};

/**
 * kipt_task_notes_add() - leave a note, in the place of an old one if there is no other
 * @notes: where
 * @task: whose, not 0; no other task has it at that time
 * @value: any
 *
 * Context: any, also NMI.
 */
void kipt_task_notes_add(struct kipt_task_notes *notes, u32 task, u32 value);

/**
 * kipt_task_notes_has() - whether the task left such a note
 * @notes: where
 * @task: whose
 * @value: modulo 2^32
 * @within: the note is less than this below @value
 *
 * Context: any, also NMI.
 */
bool kipt_task_notes_has(const struct kipt_task_notes *notes, u32 task,
			 u32 value, u32 within);

/**
 * kipt_task_notes_take() - whether there is such a note; then it is gone
 * @notes: where
 * @task: whose
 * @value: as for kipt_task_notes_has()
 * @within: as for kipt_task_notes_has()
 *
 * Context: any, also NMI.
 */
bool kipt_task_notes_take(struct kipt_task_notes *notes, u32 task, u32 value,
			  u32 within);

#endif /* KIPT_TASK_NOTES_H */
