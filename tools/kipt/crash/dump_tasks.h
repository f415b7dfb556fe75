/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the processes of a machine that died were called: from its list of all.
 */
#ifndef KIPT_DUMP_TASKS_H
#define KIPT_DUMP_TASKS_H

#include "../symbols/process_maps.h"
#include "crash_pages.h"

/**
 * crash_tasks_load() - name the processes that were there at the end
 * @maps: gets the names
 * @kernel: memory by virtual addresses of the kernel
 * @set: what kipt left
 *
 * Also those that a CPU ran when it was stopped. What cannot be read has no
 * name.
 */
void crash_tasks_load(struct maps *maps, const struct crash_source *kernel,
		      const struct crash_set *set);

#endif /* KIPT_DUMP_TASKS_H */
