// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the list of processes in a dump, see dump_tasks.h. It may be damaged or
 * go round.
 */
#include <string.h>

#include "../cli/printable.h"
#include "dump_tasks.h"

#define COMM_BYTES	16

/* More than machines have; names are kept in a list. */
#define TASKS_MAX	16384U

static bool name_take(struct maps *maps, u32 pid, const void *comm)
{
	char text[COMM_BYTES + 1];

	memcpy(text, comm, COMM_BYTES);
	text[COMM_BYTES] = 0;
	plain_text(text);
	return maps_name(maps, pid, text);
}

static bool task_take(struct maps *maps, const struct crash_source *kernel,
		      const struct kipt_crash_layout *layout, u64 task)
{
	u8 comm[COMM_BYTES];
	u32 pid;

	return crash_get(kernel, task + layout->task_tgid, &pid, sizeof(pid)) &&
	       crash_get(kernel, task + layout->task_comm, comm,
			 sizeof(comm)) && name_take(maps, pid, comm);
}

static void list_walk(struct maps *maps, const struct crash_source *kernel,
		      const struct kipt_crash_layout *layout,
		      const struct kipt_crash_logs *logs)
{
	u64 first = logs->init_task + logs->task_tasks, next;
	u32 i;

	if (!logs->init_task ||
	    !crash_get(kernel, first, &next, sizeof(next)))
		return;
	for (i = 0; i < TASKS_MAX && next != first; i++) {
		if (!task_take(maps, kernel, layout, next - logs->task_tasks) ||
		    !crash_get(kernel, next, &next, sizeof(next)))
			return;
	}
}

void crash_tasks_load(struct maps *maps, const struct crash_source *kernel,
		      const struct crash_set *set)
{
	bool walked = false;
	u32 i;

	for (i = 0; i < set->count; i++) {
		const struct crash_cpu *cpu = set->cpus[i];
		const struct kipt_crash_stop *stop = &cpu->page.stop;

		if (cpu->stop_good && stop->pid && stop->pid == stop->tgid)
			name_take(maps, stop->tgid, stop->comm);
		if (walked || !cpu->has_logs || !set->has_header)
			continue;
		walked = true;
		list_walk(maps, kernel, &set->header.layout, &cpu->logs);
	}
}
