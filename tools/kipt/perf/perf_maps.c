// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes of a recording of perf, see perf_maps.h. Events of several CPUs are
 * in the file in any order: they are kept, sorted by time, and then played.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "../cli/list_room.h"
#include "../cli/lookup.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "../symbols/mapped_ids.h"
#include "perf_bytes.h"
#include "perf_kernel.h"
#include "perf_maps.h"
#include "perf_running.h"

#define MISC_SWITCH_OUT	(1U << 13)
#define MISC_COMM_EXEC	(1U << 13)
#define MISC_FORK_EXEC	(1U << 13)
#define MISC_MMAP_DATA	(1U << 13)
#define PROT_EXECUTE	4
/* As many mappings that are the same are looked for one that is not. */
#define REPLACED_TRIES	16
/* What has more spaces has no names where nobody knows which one is meant. */
#define SPACES_NAMED	256
/* So many mappings of a process go to maps that are kept. */
#define MAPPINGS_LEARNT	(1 << 14)

/* Those of 16 million switches from a task to another take 1.5 GiB. */
#define NOTES_MOST	(1U << 25)
/* No event is compressed to less than a byte in what perf writes, but in what is made to harm. */
#define NOTES_LEAST	(1U << 20)

/* What an event says, and where it was in the file. There are millions of them, so what only
 * some have is elsewhere: @mapping is an index in @mapped.
 */
struct note {
	u64 time;
	u32 order;
	u16 type;
	u16 misc;
	u32 cpu;
	u32 pid, tid;
	union {
		struct {
			u32 other_pid, other_tid;
		};
		size_t mapping;
		char comm[16];
	};
};

struct ran {
	u32 cpu;
	size_t order;
	struct perf_turn turn;
};

struct perf_maps {
	struct perf_codes codes;
	struct note *notes;
	size_t note_count, notes_most;
	struct perf_mapping *mapped;
	size_t mapped_count;
	struct perf_space *spaces;
	size_t space_count;
	struct perf_pool pool;
	struct ran *rans;
	size_t ran_count;
	/* While notes are played: the TSC of one, the latest space of a pid, ran of a CPU. */
	u64 now;
	struct lookup space_of, ran_of;
	/* The first process that a thread is of. */
	struct lookup pid_of;
	/* Afterwards: spaces by pid, rans by CPU, both as they came. */
	u32 *spaces_by_pid;
	u32 only_pid;
	bool several;
	u32 reused, reused_pid;
	u64 tsc;
	/* From the event that says where the kernel is. */
	struct build_id kernel_id;
	bool has_kernel_id;
	/* Times of events, in the clock of perf. */
	u64 first, last;
	u64 lost;
};

static bool no_memory(void)
{
	say_errno(ENOMEM, "cannot hold the processes of the recording");
	return false;
}

struct perf_maps *perf_maps_create(void)
{
	struct perf_maps *maps = calloc(1, sizeof(*maps));

	if (!maps) {
		no_memory();
		return NULL;
	}
	maps->pool.random = lookup_seed();
	return maps;
}

static void notes_free(struct perf_maps *maps)
{
	free(maps->notes);
	free(maps->mapped);
	maps->notes = NULL;
	maps->mapped = NULL;
	maps->note_count = 0;
	maps->mapped_count = 0;
}

void perf_maps_destroy(struct perf_maps *maps)
{
	size_t i;

	if (!maps)
		return;
	for (i = 0; i < maps->space_count; i++)
		perf_tree_free(&maps->pool, maps->spaces[i].root);
	free(maps->spaces);
	free(maps->spaces_by_pid);
	lookup_free(&maps->space_of);
	lookup_free(&maps->ran_of);
	lookup_free(&maps->pid_of);
	notes_free(maps);
	free(maps->rans);
	perf_codes_free(&maps->codes);
	free(maps);
}

static bool note_add(struct perf_maps *maps, const struct note *note)
{
	struct note *notes;

	if (maps->note_count >= maps->notes_most) {
		say_error("the recording has more events of processes and tasks than kipt keeps of a file of its size (%zu): record fewer processes, or for a shorter time",
			  maps->notes_most);
		return false;
	}
	notes = list_room(maps->notes, maps->note_count, sizeof(*notes));
	if (!notes)
		return no_memory();
	maps->notes = notes;
	notes[maps->note_count] = *note;
	notes[maps->note_count].order = maps->note_count;
	maps->note_count++;
	return true;
}

/* The text at @at, up to what says who made the event. */
static char *text_get(const struct perf_event *event, u32 at, u32 stamp)
{
	u32 end = event->size - stamp;

	if (at >= end)
		return strdup("");
	return strndup((const char *)event->bytes + at, end - at);
}

struct where {
	u32 size;
	u32 protection;
	struct perf_code code;
};

/* What MMAP2 says more than MMAP. */
static void mmap2_read(struct where *where, const struct perf_event *event)
{
	const u8 *at = event->bytes + PERF_MMAP2_ID;

	where->size = PERF_MMAP2_NAME;
	where->protection = get32(event->bytes + 56);
	if (event->misc & PERF_MISC_MMAP_ID) {
		where->code.has_id = perf_mmap_build_id(event, &where->code.id);
		return;
	}
	where->code.device = makedev(get32(at), get32(at + 4));
	where->code.inode = get64(at + 8);
	where->code.generation = get64(at + 16);
	where->code.has_inode = where->code.inode;
}

/* 32-bit processes have another vDSO of the same name. */
static void vdso_rename(struct perf_code *code, u64 start)
{
	char *name = NULL;

	if (!code->has_id && code->path && !(start >> 32) && !strcmp(code->path, "[vdso]"))
		name = strdup("[vdso32]");
	if (!name)
		return;
	free(code->path);
	code->path = name;
}

static void code_widen(struct perf_code *code, u64 offset, u64 size)
{
	u64 end = offset + size < offset ? ~0ULL : offset + size;

	if (!code->high || offset < code->low)
		code->low = offset;
	if (end > code->high)
		code->high = end;
}

/* The kernel's own text: "[kernel.kallsyms]_stext". */
static bool kernel_is(const struct perf_event *event, u32 name)
{
	const size_t size = strlen(PERF_KERNEL_NAME);

	return (event->misc & PERF_MISC_CPU_MODE) == PERF_MISC_KERNEL &&
	       event->size - name >= size &&
	       !memcmp(event->bytes + name, PERF_KERNEL_NAME, size);
}

static bool mapped_add(struct perf_maps *maps, const struct perf_mapping *mapping)
{
	struct perf_mapping *mapped = list_room(maps->mapped, maps->mapped_count,
						sizeof(*mapped));

	if (!mapped)
		return false;
	maps->mapped = mapped;
	mapped[maps->mapped_count++] = *mapping;
	return true;
}

static bool mmap_take(struct perf_maps *maps, const struct perf_event *event,
		      struct note *note, u32 stamp)
{
	struct where where = { .size = PERF_MMAP_NAME,
			       .protection = PROT_EXECUTE };
	struct perf_mapping mapping = { 0 };

	if (event->type == PERF_EVENT_MMAP && event->misc & MISC_MMAP_DATA)
		return true;
	if (event->type == PERF_EVENT_MMAP2 && event->size >= PERF_MMAP2_NAME)
		mmap2_read(&where, event);
	if (event->size < where.size)
		return true;
	if (where.code.has_id && kernel_is(event, where.size)) {
		maps->kernel_id = where.code.id;
		maps->has_kernel_id = true;
	}
	if (!(where.protection & PROT_EXECUTE) ||
	    (event->misc & PERF_MISC_CPU_MODE) != PERF_MISC_USER)
		return true;
	where.code.path = text_get(event, where.size, stamp);
	vdso_rename(&where.code, get64(event->bytes + 8));
	if (!where.code.path)
		return no_memory();
	mapping.code = perf_codes_get(&maps->codes, &where.code);
	free(where.code.path);
	if (!mapping.code)
		return false;
	mapping.start = get64(event->bytes + 8);
	mapping.end = mapping.start + get64(event->bytes + 16);
	mapping.offset = get64(event->bytes + 24);
	if (mapping.end <= mapping.start)
		return true;
	code_widen(mapping.code, mapping.offset, mapping.end - mapping.start);
	if (!mapped_add(maps, &mapping))
		return no_memory();
	note->mapping = maps->mapped_count - 1;
	return note_add(maps, note);
}

bool perf_maps_take(struct perf_maps *maps, const struct perf_file *file,
		    const struct perf_event *event)
{
	struct note note = { .type = event->type, .misc = event->misc };
	struct perf_stamp stamp;

	if (perf_misc_is_guest(event->misc))
		return true;
	if (!maps->notes_most) {
		u64 most = NOTES_LEAST + perf_file_size(file);

		maps->notes_most = most < NOTES_MOST ? most : NOTES_MOST;
	}
	perf_file_stamp(file, event, &stamp);
	note.time = stamp.time;
	note.cpu = stamp.has & PERF_SAMPLE_BIT_CPU ? stamp.cpu : ~0U;
	if (event->size >= 8) {
		note.pid = get32(event->bytes);
		note.tid = get32(event->bytes + 4);
	}
	switch (event->type) {
	case PERF_EVENT_MMAP:
	case PERF_EVENT_MMAP2:
		return mmap_take(maps, event, &note, stamp.size);
	case PERF_EVENT_COMM:
		if (event->size <= 8 + stamp.size)
			return true;
		snprintf(note.comm, sizeof(note.comm), "%.*s",
			 (int)(event->size - 8 - stamp.size),
			 (const char *)event->bytes + 8);
		plain_text(note.comm);
		return note_add(maps, &note);
	case PERF_EVENT_EXIT:
	case PERF_EVENT_FORK:
		if (event->size < 16)
			return true;
		note.other_pid = get32(event->bytes + 4);
		note.tid = get32(event->bytes + 8);
		return note_add(maps, &note);
	case PERF_EVENT_ITRACE_START:
		return note_add(maps, &note);
	case PERF_EVENT_LOST:
		maps->lost += event->size < 16 ? 1 : get64(event->bytes + 8);
		return true;
	case PERF_EVENT_SWITCH_CPU_WIDE:
		note.other_pid = note.pid;
		note.other_tid = note.tid;
		fallthrough;
	case PERF_EVENT_SWITCH:
		note.pid = stamp.pid;
		note.tid = stamp.tid;
		return note_add(maps, &note);
	}
	return true;
}

u64 perf_maps_lost(const struct perf_maps *maps)
{
	return maps->lost;
}

static int note_compare(const void *left, const void *right)
{
	const struct note *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* The latest one of a process, or NULL. */
static struct perf_space *space_last(const struct perf_maps *maps, u32 pid)
{
	const size_t *index = lookup_get(&maps->space_of, pid);

	return index ? &maps->spaces[*index] : NULL;
}

/* With the mappings and the name of another, which may be NULL. */
static struct perf_space *space_add(struct perf_maps *maps, u32 pid, u64 from,
				    const struct perf_space *like)
{
	struct perf_space space = { 0 }, *spaces;

	if (like)
		space = *like;
	space.pid = pid;
	space.from = from;
	space.begins = false;
	space.ended = false;
	spaces = list_room(maps->spaces, maps->space_count, sizeof(*spaces));
	if (!spaces)
		return NULL;
	maps->spaces = spaces;
	if (!lookup_add(&maps->space_of, pid, maps->space_count))
		return NULL;
	spaces += maps->space_count++;
	*spaces = space;
	perf_tree_copy(space.root);
	return spaces;
}

static struct perf_space *begin_at(struct perf_space *space)
{
	if (space)
		space->begins = true;
	return space;
}

static struct perf_space *space_get(struct perf_maps *maps, u32 pid, u64 from)
{
	struct perf_space *space = space_last(maps, pid);

	return space ? space : space_add(maps, pid, from, NULL);
}

static bool mapping_same(const struct perf_mapping *a,
			 const struct perf_mapping *b)
{
	return a->code == b->code && a->offset - a->start == b->offset - b->start;
}

/* Is something else where it is to be mapped? A few are looked at. */
static bool mapping_replaces(const struct perf_node *root,
			     const struct perf_mapping *mapping)
{
	const struct perf_mapping *found;
	u64 address = mapping->end - 1;
	u32 tries = REPLACED_TRIES;

	while (tries--) {
		found = perf_tree_find(root, address);
		if (!found || found->end <= mapping->start)
			return false;
		if (!mapping_same(found, mapping))
			return true;
		if (found->start <= mapping->start)
			return false;
		address = found->start - 1;
	}
	return true;
}

static bool mapping_play(struct perf_maps *maps, const struct note *note)
{
	struct perf_space *space = space_get(maps, note->pid, maps->now);
	const struct perf_mapping *mapping = &maps->mapped[note->mapping];

	/* What was mapped there until now may have run. */
	if (space && mapping_replaces(space->root, mapping))
		space = space_add(maps, note->pid, maps->now, space);
	if (!space)
		return false;
	perf_tree_map(&maps->pool, &space->root, mapping);
	return !maps->pool.failed;
}

static bool comm_play(struct perf_maps *maps, const struct note *note)
{
	struct perf_space *space;

	if (note->pid != note->tid)
		return true;
	if (note->misc & MISC_COMM_EXEC)
		space = begin_at(space_add(maps, note->pid, maps->now, NULL));
	else
		space = space_get(maps, note->pid, maps->now);
	if (!space)
		return false;
	memcpy(space->comm, note->comm, sizeof(space->comm));
	return true;
}

/*
 * A thread has the mappings of its process; a process has a copy, but where perf says
 * of one that ran already who made it.
 */
static bool fork_play(struct perf_maps *maps, const struct note *note)
{
	bool ran = note->misc & MISC_FORK_EXEC;
	const struct perf_space *before;

	if (note->pid == note->other_pid)
		return true;
	before = space_last(maps, note->pid);
	if (before && before->ended) {
		maps->reused++;
		maps->reused_pid = note->pid;
	}
	return begin_at(space_add(maps, note->pid, maps->now,
				  ran ? NULL : space_last(maps, note->other_pid)));
}

static bool exit_play(struct perf_maps *maps, const struct note *note)
{
	struct perf_space *space = note->pid == note->tid ? space_last(maps, note->pid) : NULL;

	if (space)
		space->ended = true;
	return true;
}

static bool ran_add(struct perf_maps *maps, u32 cpu, u64 from, u32 pid, u32 tid)
{
	struct ran *rans = list_room(maps->rans, maps->ran_count, sizeof(*rans));

	if (!rans)
		return false;
	maps->rans = rans;
	rans[maps->ran_count] = (struct ran){
		.cpu = cpu,
		.order = maps->ran_count,
		.turn = { .from = from, .pid = pid, .tid = tid,
			  .space = PERF_NO_SPACE },
	};
	return lookup_add(&maps->ran_of, cpu, maps->ran_count++);
}

/* The last change of a CPU, or NULL. */
static struct ran *ran_last(const struct perf_maps *maps, u32 cpu)
{
	const size_t *index = lookup_get(&maps->ran_of, cpu);

	return index ? &maps->rans[*index] : NULL;
}

/* Who runs before the first switch of a CPU: its event says so. A task that is dead by then
 * has no numbers.
 */
static bool out_first(struct perf_maps *maps, const struct note *note)
{
	bool known = note->pid != ~0U;

	if (!ran_add(maps, note->cpu, 0, known ? note->pid : 0, known ? note->tid : 0))
		return false;
	maps->rans[maps->ran_count - 1].turn.unknown = !known;
	return true;
}

/* Tracing of the next task may begin before its event is made, but not before
 * that of the one before: from there on it is the next one's.
 */
static bool switch_play(struct perf_maps *maps, const struct note *note)
{
	struct ran *last = ran_last(maps, note->cpu);

	if (note->misc & MISC_SWITCH_OUT)
		return (last || out_first(maps, note)) &&
		       ran_add(maps, note->cpu, maps->now, note->other_pid,
			       note->other_tid);
	if (last && !last->turn.pid && last->turn.from) {
		last->turn.pid = note->pid;
		last->turn.tid = note->tid;
		return true;
	}
	if (last && last->turn.tid == note->tid)
		return true;
	return ran_add(maps, note->cpu, maps->now, note->pid, note->tid);
}

static bool start_play(struct perf_maps *maps, const struct note *note)
{
	const struct ran *last = ran_last(maps, note->cpu);

	if (last && last->turn.tid == note->tid)
		return true;
	return ran_add(maps, note->cpu, maps->now, note->pid, note->tid);
}

static bool note_play(struct perf_maps *maps, const struct note *note)
{
	switch (note->type) {
	case PERF_EVENT_MMAP:
	case PERF_EVENT_MMAP2:
		return mapping_play(maps, note);
	case PERF_EVENT_COMM:
		return comm_play(maps, note);
	case PERF_EVENT_EXIT:
		return exit_play(maps, note);
	case PERF_EVENT_FORK:
		return fork_play(maps, note);
	case PERF_EVENT_ITRACE_START:
		return start_play(maps, note);
	}
	return switch_play(maps, note);
}

/* Build ids that a list in the file has, and not the event. perf makes the list
 * in the end: of two files that had one path, nobody knows whose id it is.
 */
static void ids_fill(struct perf_maps *maps, const struct perf_file *file)
{
	const struct build_id *id;
	struct perf_code *code;

	perf_codes_mark(&maps->codes);
	for (code = maps->codes.first; code; code = code->next) {
		id = code->has_id || code->replaced ? NULL :
		     perf_file_build_id(file, code->path);
		if (!id)
			continue;
		code->has_id = true;
		code->id = *id;
	}
}

static int ran_compare(const void *left, const void *right)
{
	const struct ran *a = left, *b = right;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int space_compare(const void *left, const void *right, void *ctx)
{
	const struct perf_space *spaces = ctx;
	u32 a = *(const u32 *)left, b = *(const u32 *)right;

	if (spaces[a].pid != spaces[b].pid)
		return spaces[a].pid < spaces[b].pid ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Where nothing says who ran: the only process there is. */
static u32 only_process(struct perf_maps *maps)
{
	u32 pid = 0;
	size_t i;

	for (i = 0; i < maps->space_count; i++) {
		if (!maps->spaces[i].root)
			continue;
		maps->several |= pid && maps->spaces[i].pid != pid;
		pid = maps->spaces[i].pid;
	}
	return maps->several ? 0 : pid;
}

u32 perf_maps_reused(const struct perf_maps *maps, u32 *pid)
{
	*pid = maps->reused_pid;
	return maps->reused;
}

bool perf_maps_several(const struct perf_maps *maps)
{
	return maps->several;
}

static bool all_sort(struct perf_maps *maps)
{
	size_t i;

	maps->only_pid = only_process(maps);
	if (maps->ran_count)
		qsort(maps->rans, maps->ran_count, sizeof(*maps->rans),
		      ran_compare);
	if (!maps->space_count)
		return true;
	maps->spaces_by_pid = malloc(maps->space_count * sizeof(u32));
	if (!maps->spaces_by_pid)
		return false;
	for (i = 0; i < maps->space_count; i++)
		maps->spaces_by_pid[i] = i;
	qsort_r(maps->spaces_by_pid, maps->space_count, sizeof(u32),
		space_compare, maps->spaces);
	return true;
}

static bool thread_learn(struct perf_maps *maps, const struct note *note)
{
	return !note->pid || lookup_get(&maps->pid_of, note->tid) ||
	       lookup_add(&maps->pid_of, note->tid, note->pid);
}

static bool too_many(const struct perf_file *file)
{
	say_error("%s: its processes have more mappings of code than kipt keeps (%llu MiB): record fewer processes, or for a shorter time",
		  perf_file_path(file), PERF_POOL_MOST >> 20);
	return false;
}

bool perf_maps_settle(struct perf_maps *maps, const struct perf_file *file,
		      const struct perf_clock *clock)
{
	size_t i;

	ids_fill(maps, file);
	if (maps->note_count)
		qsort(maps->notes, maps->note_count, sizeof(*maps->notes),
		      note_compare);
	for (i = 0; i < maps->note_count; i++) {
		const struct note *note = &maps->notes[i];

		if (note->time && !maps->first)
			maps->first = note->time;
		maps->last = note->time;
		maps->now = clock->mult && note->time ?
			    perf_clock_tsc(clock, note->time) : 0;
		if (maps->now)
			maps->tsc = maps->now;
		if (!note_play(maps, note) || !thread_learn(maps, note))
			return maps->pool.full ? too_many(file) : no_memory();
	}
	notes_free(maps);
	return all_sort(maps) || no_memory();
}

static bool turn_add(struct perf_turn **list, size_t *count,
		     const struct perf_turn *turn)
{
	struct perf_turn *turns = list_room(*list, *count, sizeof(*turns));

	if (!turns)
		return false;
	*list = turns;
	turns[(*count)++] = *turn;
	return true;
}

/* The first of those spaces by pid that are of a process, and begin after a time. */
static size_t space_after(const struct perf_maps *maps, u32 pid, u64 from)
{
	size_t low = 0, high = maps->space_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct perf_space *space =
			&maps->spaces[maps->spaces_by_pid[middle]];

		if (space->pid < pid ||
		    (space->pid == pid && space->from <= from))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t space_first(const struct perf_maps *maps, u32 pid)
{
	return pid ? space_after(maps, pid - 1, ~0ULL) : 0;
}

/* The space at a place of those by pid; NULL if it is of another process. */
static const struct perf_space *space_at(const struct perf_maps *maps,
					 u32 pid, size_t at)
{
	const struct perf_space *space;

	if (at >= maps->space_count)
		return NULL;
	space = &maps->spaces[maps->spaces_by_pid[at]];
	return space->pid == pid ? space : NULL;
}

/* A task from one time to another, with all spaces its process had. */
static bool turn_play(const struct perf_maps *maps, struct perf_turn **list,
		      size_t *count, struct perf_turn turn, u64 until)
{
	const struct perf_space *space;
	size_t at;

	if (!turn.pid)
		return turn_add(list, count, &turn);
	at = space_after(maps, turn.pid, turn.from);
	if (at && space_at(maps, turn.pid, at - 1))
		turn.space = maps->spaces_by_pid[at - 1];
	if (!turn_add(list, count, &turn))
		return false;
	for (; (space = space_at(maps, turn.pid, at)); at++) {
		if (space->from >= until)
			break;
		turn.from = space->from;
		turn.space = maps->spaces_by_pid[at];
		if (!turn_add(list, count, &turn))
			return false;
	}
	return true;
}

static u32 pid_of(const struct perf_maps *maps, u32 tid)
{
	const size_t *pid = lookup_get(&maps->pid_of, tid);

	return pid ? *pid : tid;
}

/* Without times only a process that ran one program is known for sure. */
static u32 only_space(const struct perf_maps *maps, u32 pid)
{
	size_t at = space_first(maps, pid);
	const struct perf_space *space;
	u32 only = PERF_NO_SPACE;

	for (; (space = space_at(maps, pid, at)); at++) {
		if (!space->root)
			continue;
		if (only != PERF_NO_SPACE)
			return PERF_NO_SPACE;
		only = maps->spaces_by_pid[at];
	}
	return only;
}

/* The first change of a CPU, or of one after it. */
static size_t ran_first(const struct perf_maps *maps, u32 cpu)
{
	size_t low = 0, high = maps->ran_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->rans[middle].cpu < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct perf_turn *perf_maps_turns(const struct perf_maps *maps,
				  const struct perf_queue *queue,
				  bool timed, bool switched, size_t *count)
{
	struct perf_turn turn = { .space = PERF_NO_SPACE }, *list = NULL;
	bool ok = true, begun = false;
	size_t i;

	*count = 0;
	if (!timed || !maps->tsc) {
		turn.tid = queue->has_cpu ? maps->only_pid : queue->tid;
		turn.pid = queue->has_cpu ? turn.tid : pid_of(maps, turn.tid);
		turn.space = only_space(maps, turn.pid);
		turn.unknown = !turn.tid;
		ok = turn_add(&list, count, &turn);
		goto out;
	}
	if (!queue->has_cpu) {
		turn.tid = queue->tid;
		turn.pid = pid_of(maps, queue->tid);
		ok = turn_play(maps, &list, count, turn, ~0ULL);
		goto out;
	}
	turn.unknown = true;
	for (i = ran_first(maps, queue->cpu); switched && i < maps->ran_count && ok; i++) {
		if (maps->rans[i].cpu != queue->cpu)
			break;
		/* Before the first change, too: nobody else is known. */
		if (begun)
			ok = turn_play(maps, &list, count, turn,
				       maps->rans[i].turn.from);
		turn = maps->rans[i].turn;
		if (!begun)
			turn.from = 0;
		begun = true;
	}
	if (!begun) {
		turn.pid = maps->only_pid;
		turn.tid = turn.pid;
		turn.unknown &= !turn.tid;
	}
	ok = ok && turn_play(maps, &list, count, turn, ~0ULL);
out:
	if (ok)
		return list;
	no_memory();
	free(list);
	return NULL;
}

/* The kernel maps [vdso], which is the same as here if it is the same kernel. */
static void vdso_settle(struct perf_maps *maps, const struct perf_file *file)
{
	const struct build_id *kernel = perf_file_build_id(file, PERF_KERNEL_NAME);
	struct perf_code *code = maps->codes.first;
	struct build_id own, vdso;

	/* perf record --buildid-mmap makes no list. */
	if (!kernel && maps->has_kernel_id)
		kernel = &maps->kernel_id;
	if (!kernel || !perf_kernel_id(&own) || !build_id_same(kernel, &own) ||
	    !mapped_ids_vdso(&vdso))
		return;
	for (; code; code = code->next) {
		if (code->has_id || strcmp(code->path, "[vdso]"))
			continue;
		code->has_id = true;
		code->id = vdso;
	}
}

void perf_maps_files(struct perf_maps *maps, const struct perf_file *file,
		     const char *symfs)
{
	struct timespec begun;
	bool known = perf_file_begun(file, perf_maps_lasted(maps), &begun);

	vdso_settle(maps, file);
	perf_codes_find(&maps->codes, known ? &begun : NULL, symfs);
}

bool perf_maps_each(const struct perf_maps *maps,
		    bool (*take)(void *ctx, const struct perf_space *space), void *ctx)
{
	size_t i;

	for (i = 0; i < maps->space_count; i++) {
		if (!take(ctx, &maps->spaces[maps->spaces_by_pid[i]]))
			return false;
	}
	return true;
}

const struct perf_space *perf_maps_space(const struct perf_maps *maps,
					 u32 index)
{
	return index < maps->space_count ? &maps->spaces[index] : NULL;
}

const struct perf_mapping *perf_space_find(const struct perf_space *space,
					   u64 address)
{
	const struct perf_mapping *found;

	found = perf_tree_find(space->root, address);
	return found && address < found->end ? found : NULL;
}

struct perf_codes *perf_maps_codes(struct perf_maps *maps)
{
	return &maps->codes;
}

/* A file that was not found gives no symbols: another one may have its name. By
 * "[vdso]" those of this machine's would be meant.
 */
static const char *name_of(const struct perf_code *code)
{
	const char *slash = strrchr(code->shown, '/');
	const char *local = __atomic_load_n(&code->local, __ATOMIC_ACQUIRE);

	if (local)
		return *local ? local : code->shown;
	if (!strcmp(code->path, "[vdso]"))
		return "vdso";
	return slash ? slash + 1 : code->shown;
}

static struct mapping mapping_named(const struct perf_mapping *mapping)
{
	return (struct mapping){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.path = (char *)name_of(mapping->code),
		.whole = true,
	};
}

bool perf_maps_find(const struct perf_maps *maps, u32 now, u32 pid, u64 address,
		    struct mapping *found)
{
	const struct perf_space *space = perf_maps_space(maps, now);
	const struct perf_mapping *mapping, *first = NULL;
	u32 tries = SPACES_NAMED;
	size_t at;

	if (space && space->pid == pid) {
		first = perf_space_find(space, address);
		if (first)
			*found = mapping_named(first);
		return first;
	}
	for (at = space_first(maps, pid);
	     (space = space_at(maps, pid, at)); at++) {
		mapping = perf_space_find(space, address);
		if (mapping && !first) {
			first = mapping;
			*found = mapping_named(first);
			found->whole = false;
		}
		if (!tries-- || (mapping && !mapping_same(first, mapping))) {
			found->path = NULL;
			return true;
		}
	}
	return first;
}

const char *perf_maps_comm(const struct perf_maps *maps, u32 pid)
{
	const struct perf_space *space = space_last(maps, pid);

	return space && space->comm[0] ? space->comm : NULL;
}

/* The mapping below another one of a tree; the last one if that is NULL. */
static const struct perf_mapping *mapping_below(const struct perf_node *root,
						const struct perf_mapping *at)
{
	if (at && !at->start)
		return NULL;
	return perf_tree_find(root, at ? at->start - 1 : ~0ULL);
}

bool perf_maps_learn(struct perf_maps *maps, u32 pid, struct maps *names)
{
	const struct perf_space *last = space_last(maps, pid), *space;
	size_t at = space_first(maps, pid), left = MAPPINGS_LEARNT;
	const struct perf_mapping *mapping;
	struct perf_node *all = NULL;
	bool ok = true;

	for (; (space = space_at(maps, pid, at)); at++) {
		for (mapping = mapping_below(space->root, NULL);
		     mapping && left; left--) {
			struct perf_mapping one = *mapping;

			/* Without a file: several things. */
			if (mapping_replaces(all, &one))
				one.code = NULL;
			perf_tree_map(&maps->pool, &all, &one);
			mapping = mapping_below(space->root, mapping);
		}
	}
	for (mapping = mapping_below(all, NULL); mapping && ok;
	     mapping = mapping_below(all, mapping)) {
		struct mapping named;

		if (!mapping->code)
			continue;
		named = mapping_named(mapping);
		ok = maps_add(names, pid, &named);
	}
	perf_tree_free(&maps->pool, all);
	return ok && (!last || maps_name(names, pid, last->comm));
}

u64 perf_maps_lasted(const struct perf_maps *maps)
{
	return maps->last - maps->first;
}

u64 perf_maps_tsc(const struct perf_maps *maps)
{
	return maps->tsc;
}
