/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program that is being killed has mapped to be executed: where, and of
 * which file. Code is not copied: who reads a snapshot takes it from the files,
 * whose build ids show whether they are still those.
 */
#ifndef KIPT_KILLED_MAPS_H
#define KIPT_KILLED_MAPS_H

#include <linux/mm.h>
#include <linux/types.h>

#include "../../uapi/linux/kipt_crash.h"

/* Of kind MAPS, which hold 240 mappings. */
#define KIPT_KILLED_MAP_PAGES	16U
/* For a path and for the first page of a file. */
#define KIPT_KILLED_SCRATCH	(2 * PAGE_SIZE)

/**
 * kipt_killed_maps() - write down the mappings of the running task
 * @signal: a page of kind SIGNAL, KIPT_KILLED_MAP_PAGES pages after it, all of
 *	them zero; its @ip says which mapping comes first. @page.more and
 *	@maps_lost are filled, and the pages after it but for what
 *	kipt_crash_pages_hide() makes, and the id
 * @at: where in the snapshot the page after @signal is
 * @scratch: KIPT_KILLED_SCRATCH bytes
 *
 * Never faults and waits for nobody: where another thread is changing the mappings
 * for long, nothing is found. Bounded: 4,096 mappings and 4,096 pages that may
 * have been written to are looked at, some milliseconds at most. Context: a task
 * with user memory, preemption off.
 */
void kipt_killed_maps(struct kipt_crash_signal *signal, u64 at, u8 *scratch);

#endif /* KIPT_KILLED_MAPS_H */
