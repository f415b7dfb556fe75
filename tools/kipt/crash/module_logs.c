// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of the module's logs, see module_logs.h: the newest entries, in the form
 * in which the module's own code asks them.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/status.h"
#include "../cli/printable.h"
#include "module_logs.h"

/* Of the entries of a log so many are kept; no trace of a ring has more. */
#define ENTRIES_MAX	(1U << 17)

/* More are written by no machine; sums of them do not overflow. */
#define NUMBER_MAX	(1ULL << 48)

static bool number_get(const struct crash_source *kernel, u64 address,
		       u64 *number)
{
	return address && crash_get(kernel, address, number, sizeof(*number));
}

static bool ring_good(const struct kipt_crash_ring *ring, u32 size)
{
	return ring->entries && ring->size == size && ring->nr &&
	       !(ring->nr & (ring->nr - 1));
}

static bool entry_get(const struct crash_source *kernel,
		      const struct kipt_crash_ring *ring, u64 number,
		      void *entry)
{
	u64 at = ring->entries + (number & (ring->nr - 1)) * ring->size;

	return crash_get(kernel, at, entry, ring->size);
}

/* The oldest number that is whole. */
static u64 oldest(const struct kipt_crash_ring *ring, u64 written)
{
	return written >= ring->nr ? written - ring->nr + 1 : 0;
}

/* A log that cannot be read is empty; one of which a part is missing begins
 * after that.
 */
static bool switches_load(struct crash_logs *logs,
			  const struct crash_source *kernel,
			  const struct kipt_crash_ring *ring)
{
	struct kipt_switch_log *log = &logs->switches;
	u64 written, i;
	u32 nr = ring->nr < ENTRIES_MAX ? ring->nr : ENTRIES_MAX;

	if (!ring_good(ring, sizeof(*log->entries)) ||
	    !number_get(kernel, ring->written, &written) ||
	    written > NUMBER_MAX)
		return true;
	log->entries = calloc(nr, sizeof(*log->entries));
	if (!log->entries)
		return false;
	log->mask = nr - 1;
	log->written = written;
	for (i = kipt_switch_log_first(log); i < written; i++)
		if (!entry_get(kernel, ring, i, &log->entries[i & log->mask]))
			log->first = i + 1;
	return true;
}

static u32 room_for(u64 count)
{
	u32 room = 1;

	while (room < count)
		room *= 2;
	return room;
}

static void patch_add(struct kipt_patch_log *log,
		      const struct kipt_crash_patch *patch)
{
	kipt_patch_log_add(log, patch->tsc, patch->address,
			   patch->len & ~KIPT_CRASH_PATCH_KNOWN,
			   patch->len & KIPT_CRASH_PATCH_KNOWN ?
			   patch->before : NULL);
}

/* What cannot be read is as bad as what nobody saw. */
static void patches_copy(struct crash_logs *logs,
			 const struct crash_source *kernel,
			 const struct kipt_crash_ring *ring, u64 from,
			 u64 missed)
{
	struct kipt_crash_patch patch;
	u64 i;

	for (i = from; i < logs->end_patch; i++) {
		if (i + 1 == missed)
			kipt_patch_log_missed(logs->patches);
		if (!entry_get(kernel, ring, i, &patch)) {
			memset(&patch, 0, sizeof(patch));
			kipt_patch_log_missed(logs->patches);
		}
		patch_add(logs->patches, &patch);
	}
}

/* A patch after all that were logged, of which neither time nor place is known. */
static void unknown_add(struct crash_logs *logs)
{
	const struct kipt_crash_patch patch = { .tsc = ~0ULL };

	kipt_patch_log_missed(logs->patches);
	patch_add(logs->patches, &patch);
	logs->end_patch++;
	logs->text_unknown = true;
}

static bool unseen(const struct crash_source *kernel,
		   const struct kipt_crash_logs *page)
{
	u64 first, second, sum;

	return !number_get(kernel, page->patches_unseen[0], &first) ||
	       !number_get(kernel, page->patches_unseen[1], &second) ||
	       !number_get(kernel, page->patches_unseen_count, &sum) ||
	       first + second != sum;
}

static bool patches_make(struct crash_logs *logs, u64 from)
{
	u32 room = room_for(logs->end_patch - from + 1);
	void *memory = calloc(1, kipt_patch_log_size(room));

	logs->patches = memory ? kipt_patch_log_init(memory, room, from) : NULL;
	return logs->patches;
}

/* A log that cannot be read says nothing of any text. */
static bool nothing_known(struct crash_logs *logs)
{
	if (!patches_make(logs, 0))
		return false;
	unknown_add(logs);
	return true;
}

static bool patches_load(struct crash_logs *logs,
			 const struct crash_source *kernel,
			 const struct kipt_crash_logs *page)
{
	const struct kipt_crash_ring *ring = &page->patches;
	u64 written, start, first, missed, from;

	if (!ring->entries)
		return true;
	if (!ring_good(ring, sizeof(struct kipt_crash_patch)) ||
	    !number_get(kernel, ring->written, &written) ||
	    !number_get(kernel, page->patches_start, &start) ||
	    !number_get(kernel, page->patches_first, &first) ||
	    !number_get(kernel, page->patches_missed, &missed) ||
	    written > NUMBER_MAX || start > written || first > written)
		return nothing_known(logs);
	from = start + oldest(ring, written - start);
	if (from < first)
		from = first;
	if (written - from > ENTRIES_MAX)
		from = written - ENTRIES_MAX;
	logs->first_patch = first;
	logs->end_patch = written;
	if (!patches_make(logs, from))
		return false;
	patches_copy(logs, kernel, ring, from, missed);
	if (missed > written || unseen(kernel, page))
		unknown_add(logs);
	return true;
}

bool crash_logs_load(struct crash_logs *logs, const struct crash_source *kernel,
		     const struct crash_cpu *cpu)
{
	memset(logs, 0, sizeof(*logs));
	if (!cpu->has_logs)
		return true;
	logs->space_mask = cpu->logs.space_mask;
	return switches_load(logs, kernel, &cpu->logs.switches) &&
	       patches_load(logs, kernel, &cpu->logs);
}

void crash_logs_free(struct crash_logs *logs)
{
	free(logs->switches.entries);
	free(logs->patches);
	memset(logs, 0, sizeof(*logs));
}

bool crash_logs_tgid(const struct crash_logs *logs, u64 space, u32 *tgid)
{
	const struct kipt_switch_log *log = &logs->switches;
	bool found = false;
	u64 i;

	if (!log->entries || !space)
		return false;
	for (i = kipt_switch_log_first(log); i < log->written; i++) {
		const struct kipt_crash_switch *entry = &log->entries[i & log->mask];

		if (entry->space != space)
			continue;
		if (found && entry->tgid != *tgid)
			return false;
		*tgid = entry->tgid;
		found = true;
	}
	return found;
}

#define COMM_BYTES	16

/* The list may be damaged or go round: more than machines have; names are kept in a list. */
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

/* The few records of time and address spaces; all others pass. */
#define LOOKED_AT	(1U << KIPT_RECORD_CONTEXT | 1U << KIPT_RECORD_TIME | \
			 1U << KIPT_RECORD_CBR | 1U << KIPT_RECORD_SPACE)

bool crash_who_known(const struct crash_who *who)
{
	return who->logs && who->logs->switches.entries;
}

static bool space_tgid(void *ctx, u64 space, u32 *tgid)
{
	return crash_logs_tgid(ctx, space, tgid);
}

u64 crash_who_begin(struct crash_who *who, u64 begin, u64 end)
{
	const struct kipt_task_spaces spaces = {
		.mask = crash_who_known(who) ? who->logs->space_mask : 0,
		.tgid = space_tgid,
		.ctx = (void *)who->logs,
	};
	const struct kipt_switch_log *log;

	if (!crash_who_known(who))
		return 0;
	log = &who->logs->switches;
	kipt_task_merge_init(&who->merge, log, &spaces);
	kipt_task_merge_at(&who->merge, begin, end);
	return begin && begin >= kipt_switch_log_known(log) ? 0 :
	       kipt_switch_log_first(log);
}

static void space_see(const struct crash_who *who, struct kipt_record *space)
{
	u32 tgid;

	if (crash_who_known(who) && !(space->flags & KIPT_RF_NO_VALUE) &&
	    crash_logs_tgid(who->logs, space->value & who->logs->space_mask,
			    &tgid))
		space->aux = tgid;
}

static bool see(struct crash_who *who, const struct kipt_record *given)
{
	struct kipt_record record = *given, task;

	if (record.type == KIPT_RECORD_SPACE)
		space_see(who, &record);
	if ((who->time || (record.type != KIPT_RECORD_TIME &&
			   record.type != KIPT_RECORD_CBR)) &&
	    !who->give(who->ctx, &record, 1))
		return false;
	return !crash_who_known(who) ||
	       !kipt_task_merge_see(&who->merge, &record, &task) ||
	       who->give(who->ctx, &task, 1);
}

bool crash_who_take(struct crash_who *who, const struct kipt_record *records,
		    u32 count)
{
	u32 from = 0, i;

	for (i = 0; i < count; i++) {
		if (!(LOOKED_AT >> records[i].type & 1))
			continue;
		if (i > from && !who->give(who->ctx, records + from, i - from))
			return false;
		if (!see(who, &records[i]))
			return false;
		from = i + 1;
	}
	return from == count ||
	       who->give(who->ctx, records + from, count - from);
}
