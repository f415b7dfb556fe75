// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of kernel code in a recording of perf, see perf_text.h. Events are kept, sorted
 * by time, and then played: each becomes entries of the log with what was there before,
 * and what is there at the end is kept by lines of 64 bytes. There are two logs, which
 * differ in the bytes that nobody knows: what is the same when read with both is known.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../kmod/shared/patch_log.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "perf_bpf.h"
#include "perf_bytes.h"
#include "perf_text.h"

/* Of KSYMBOL. */
#define KSYM_NAME	16
#define KSYM_TYPE_BPF	1
#define KSYM_WENT	1
/* Of TEXT_POKE: where its bytes are. */
#define POKE_BYTES	12
/* Of BPF_EVENT: its size, and the type of a load. */
#define BPF_SIZE	16
#define BPF_LOAD	1

#define LOGS		2U
#define LINE		64U
/* 64 MiB of code; bytes of all changes; entries of the log, of which the latest count. */
#define LINES_MOST	(1U << 20)
#define CHANGED_MOST	(512ULL << 20)
/* The kernel gets code for BPF programs in packs of 2 MiB. */
#define KSYM_MOST	(16U << 20)
#define ENTRIES_MOST	(1ULL << 20)
#define ENTRIES_LEAST	64U
/* Each reading of code looks through all changes of its page. */
#define CHAIN_MOST	4096U
/* Bytes that events of the file may take here. */
#define HELD_MOST	(128ULL << 20)

/*
 * An event that perf lost may have been a change of code. LOST says neither of which
 * event it was nor of when: all events of a CPU have one ring, LOST is of the next one
 * that fit, and switches of tasks are lost by thousands. So what no event of the
 * recording is of stays as it is, and a note says so; what one is of is unknown from the
 * last event of that CPU before the loss on, until its next event after it. What an event
 * says was there before it counts no more if events were lost before it.
 */
#define RINGS_MOST	8192U

/* What bytes are in each log that nobody knows. */
static const u8 fills[LOGS] = { 0, 0xff };

/* Of notes of LOST. */
enum { LOSS_BEGINS, LOSS_ENDS };

/* What an event says. @bytes: old, then new ones, or the name. */
struct note {
	u64 time;
	size_t order;
	u32 type;
	u32 flags;
	u64 address;
	u32 size;
	u16 old_size, new_size;
	bool bpf;
	u8 tag[PERF_BPF_TAG];
	u8 *bytes;
};

/* Code at the end: bits of @unknown, @image and @poked say where each byte is from; one
 * that has none is as it is in the kernel's image. @fresh: it is in the list of these.
 */
struct line {
	u64 unknown;
	u64 image;
	u64 poked;
	bool fresh;
	u8 bytes[LINE];
};

struct perf_text {
	struct note *notes;
	size_t note_count;
	struct line *lines;
	size_t line_count;
	/* The index of a line by its address / LINE. */
	struct lookup line_of;
	/* Addresses of lines that changed since events were lost. */
	u64 *fresh;
	size_t fresh_count;
	/* The time of the last event by its CPU. */
	struct lookup ring_of;
	/* Losses until now, and how many may have been just now. */
	size_t lost, open;
	struct perf_ksyms ksyms;
	struct perf_bpf bpf;
	struct kipt_patch_log *logs[LOGS];
	/* Of the logs: how many changes are in each chain. */
	u16 *chains;
	bool crowded;
	/* Of what was copied of the file. */
	u64 held;
	u64 slack;
	/* Of the last event; of the last entries of the log, which are in order. */
	u64 tsc;
	u64 played;
	/* Events of BPF programs' loads: while perf recorded, and those that perf makes of
	 * programs that were there before, without a time.
	 */
	u64 loads, loads_before;
	u64 changes;
	u64 changed;
	bool untimed;
	bool full;
	bool failed;
};

static bool no_memory(void)
{
	say_errno(ENOMEM, "cannot hold the changes of the recorded kernel");
	return false;
}

struct perf_text *perf_text_create(void)
{
	struct perf_text *text = calloc(1, sizeof(*text));

	if (text)
		text->ring_of.seed = lookup_seed();
	else
		no_memory();
	return text;
}

void perf_text_destroy(struct perf_text *text)
{
	size_t i;

	if (!text)
		return;
	for (i = 0; i < text->note_count; i++)
		free(text->notes[i].bytes);
	free(text->notes);
	free(text->lines);
	free(text->fresh);
	lookup_free(&text->line_of);
	lookup_free(&text->ring_of);
	perf_ksyms_free(&text->ksyms);
	perf_bpf_free(&text->bpf);
	free(text->logs[0]);
	free(text->logs[1]);
	free(text->chains);
	free(text);
}

/* Returns false if there is no room for so much more of the file. */
static bool hold(struct perf_text *text, u64 size)
{
	text->held += size;
	text->full |= text->held > HELD_MOST;
	return !text->full;
}

static bool note_add(struct perf_text *text, const struct note *note,
		     const u8 *bytes, u32 size)
{
	struct note *notes;
	u8 *copy;

	if (!hold(text, sizeof(*note) + size))
		return true;
	notes = list_room(text->notes, text->note_count, sizeof(*notes));
	copy = calloc(1, (size_t)size + 1);
	if (notes)
		text->notes = notes;
	if (!notes || !copy) {
		free(copy);
		return no_memory();
	}
	memcpy(copy, bytes, size);
	notes += text->note_count;
	*notes = *note;
	notes->bytes = copy;
	notes->order = text->note_count++;
	return true;
}

/* Only code of the kernel, all of it. */
static bool is_kernel(u64 address, u64 size)
{
	return size && address >> 63 && size <= ~0ULL - address;
}

static bool poke_take(struct perf_text *text, struct note *note,
		      const struct perf_event *event, u32 size)
{
	if (size < POKE_BYTES)
		return true;
	note->address = get64(event->bytes);
	note->old_size = get16(event->bytes + 8);
	note->new_size = get16(event->bytes + 10);
	note->size = note->old_size > note->new_size ? note->old_size :
						       note->new_size;
	if (!is_kernel(note->address, note->size))
		return true;
	text->changes++;
	/* Cut: that it changed is known, what to is not. */
	if ((u32)note->old_size + note->new_size > size - POKE_BYTES) {
		note->old_size = 0;
		note->new_size = 0;
	}
	return note_add(text, note, event->bytes + POKE_BYTES,
			(u32)note->old_size + note->new_size);
}

static bool ksym_take(struct perf_text *text, struct note *note,
		      const struct perf_event *event, u32 size)
{
	if (size < KSYM_NAME)
		return true;
	note->address = get64(event->bytes);
	note->size = get32(event->bytes + 8);
	note->bpf = get16(event->bytes + 12) == KSYM_TYPE_BPF;
	note->flags = get16(event->bytes + 14);
	if (!is_kernel(note->address, note->size))
		return true;
	text->changes++;
	text->full |= note->size > KSYM_MOST;
	return note_add(text, note, event->bytes + KSYM_NAME, size - KSYM_NAME);
}

static bool bpf_take(struct perf_text *text, struct note *note,
		     const struct perf_event *event, u32 size)
{
	if (size < BPF_SIZE || get16(event->bytes) != BPF_LOAD)
		return true;
	note->size = get32(event->bytes + 4);
	memcpy(note->tag, event->bytes + 8, sizeof(note->tag));
	if (note->time)
		text->loads++;
	else
		text->loads_before++;
	return note_add(text, note, event->bytes, 0);
}

/* The time of the last event of this CPU before this one. */
static u64 ring_time(struct perf_text *text, const struct perf_stamp *stamp)
{
	size_t *last = lookup_get(&text->ring_of, stamp->cpu);
	u64 before = last ? *last : 0;

	if (last && stamp->time > before)
		*last = stamp->time;
	else if (!last && stamp->time &&
		 (text->ring_of.count == RINGS_MOST ||
		  !lookup_add(&text->ring_of, stamp->cpu, stamp->time)))
		text->untimed = true;
	return before;
}

static bool lost_take(struct perf_text *text, struct note *note,
		      const struct perf_event *event, const struct perf_stamp *stamp,
		      u64 before)
{
	text->untimed |= !(stamp->has & PERF_SAMPLE_BIT_CPU);
	note->flags = LOSS_BEGINS;
	note->time = before < stamp->time ? before : stamp->time;
	if (!note_add(text, note, event->bytes, 0))
		return false;
	note->flags = LOSS_ENDS;
	note->time = stamp->time;
	return note_add(text, note, event->bytes, 0);
}

bool perf_text_take(struct perf_text *text, const struct perf_file *file,
		    const struct perf_event *event)
{
	struct note note = { .type = event->type };
	struct perf_stamp stamp;
	u64 before;
	u32 size;

	if (event->type == PERF_EVENT_HEADER_FEATURE)
		return event->size < 8 ||
		       get64(event->bytes) != PERF_FEATURE_BPF ||
		       !hold(text, event->size) ||
		       perf_bpf_take(&text->bpf, event->bytes + 8,
				     event->size - 8) || no_memory();
	if (event->type >= PERF_EVENT_HEADER_ATTR || event->type == PERF_EVENT_SAMPLE)
		return true;
	perf_file_stamp(file, event, &stamp);
	before = ring_time(text, &stamp);
	if (perf_misc_is_guest(event->misc))
		return true;
	if (event->type != PERF_EVENT_TEXT_POKE && event->type != PERF_EVENT_LOST &&
	    event->type != PERF_EVENT_KSYMBOL && event->type != PERF_EVENT_BPF)
		return true;
	note.time = stamp.time;
	text->untimed |= !(stamp.has & PERF_SAMPLE_BIT_TIME);
	size = event->size - stamp.size;
	if (event->type == PERF_EVENT_LOST)
		return lost_take(text, &note, event, &stamp, before);
	if (event->type == PERF_EVENT_TEXT_POKE)
		return poke_take(text, &note, event, size);
	return event->type == PERF_EVENT_KSYMBOL ?
	       ksym_take(text, &note, event, size) :
	       bpf_take(text, &note, event, size);
}

/* One event while it is played. */
struct change {
	enum {
		/* Patched from @old to @new. */
		CHANGE_POKE,
		/* What is there now is not what was there. */
		CHANGE_CAME,
		/* What was there is gone. */
		CHANGE_WENT,
		/* What is there is @new, as far as nothing else is known. */
		CHANGE_IMAGE,
		/* Nobody knows any more; since when, neither, if @unsure. */
		CHANGE_LOST,
	} kind;
	bool unsure;
	u64 tsc;
	u64 address;
	u64 size;
	const u8 *old;
	u64 old_size;
	const u8 *new;
	u64 new_size;
};

static u64 bits(u32 first, u32 count)
{
	return (count == LINE ? ~0ULL : (1ULL << count) - 1) << first;
}

static struct line *line_find(const struct perf_text *text, u64 address)
{
	const size_t *index = lookup_get(&text->line_of, address / LINE);

	return index ? &text->lines[*index] : NULL;
}

static struct line *line_get(struct perf_text *text, u64 address)
{
	struct line *line = line_find(text, address), *lines;

	if (line)
		return line;
	if (text->line_count == LINES_MOST) {
		text->full = true;
		return NULL;
	}
	lines = list_room(text->lines, text->line_count, sizeof(*lines));
	if (lines)
		text->lines = lines;
	if (!lines || !lookup_add(&text->line_of, address / LINE,
				  text->line_count)) {
		text->failed = true;
		return NULL;
	}
	lines += text->line_count++;
	*lines = (struct line){ 0 };
	return lines;
}

/* Of so many bytes, how many are from where the first one is from. */
static u32 same_origin(const struct line *line, u32 first, u32 count)
{
	u32 i;

	for (i = 1; i < count; i++) {
		if (((line->unknown >> first ^ line->unknown >> (first + i)) |
		     (line->image >> first ^ line->image >> (first + i)) |
		     (line->poked >> first ^ line->poked >> (first + i))) & 1)
			break;
	}
	return i;
}

/* @before: NULL: unknown. */
static void log_add(struct perf_text *text, u64 tsc, u64 address, u32 size,
		    const u8 *before)
{
	u64 early = text->slack / 2;
	u8 unknown[KIPT_CRASH_PATCH_BYTES];
	u16 *count = &text->chains[kipt_patch_log_chain(text->logs[0], address)];
	u32 i;

	if (*count <= CHAIN_MOST)
		++*count;
	if (*count > CHAIN_MOST) {
		text->crowded = true;
		return;
	}
	for (i = 0; i < LOGS; i++) {
		memset(unknown, fills[i], sizeof(unknown));
		kipt_patch_log_add(text->logs[i], tsc > early ? tsc - early : 0,
				   address, size, before ? before : unknown);
	}
}

/* Whether bytes change, and what they were before: @before, NULL: nobody knows. */
static bool before_find(const struct change *change, const struct line *line,
			u32 first, u64 offset, const u8 **before)
{
	bool unknown = line->unknown >> first & 1;

	*before = NULL;
	switch (change->kind) {
	case CHANGE_POKE:
		if (offset < change->old_size)
			*before = change->old + offset;
		return *before || offset < change->new_size || !unknown;
	case CHANGE_WENT:
		if ((line->image | line->poked) >> first & 1)
			*before = line->bytes + first;
		return !unknown;
	case CHANGE_CAME:
		return !unknown;
	case CHANGE_IMAGE:
		return unknown;
	case CHANGE_LOST:
		if (!change->unsure)
			*before = line->bytes + first;
		return (line->image | line->poked) >> first & 1;
	}
	return true;
}

/* Bytes of one line and one origin, no more than an entry of the log has. */
static void piece_play(struct perf_text *text, const struct change *change,
		       struct line *line, u64 address, u32 size)
{
	u32 first = address % LINE;
	u64 offset = address - change->address, mask = bits(first, size);
	const u8 *before;

	if (!before_find(change, line, first, offset, &before))
		return;
	/* Another change was not recorded: when, and what was there, is unknown. */
	if (change->kind == CHANGE_POKE && before &&
	    (text->open || (text->lost && !((line->image | line->poked) & mask)) ||
	     (line->poked & mask && memcmp(line->bytes + first, before, size))))
		log_add(text, change->tsc, address, size, NULL);
	log_add(text, change->tsc, address, size, before);
	line->unknown &= ~mask;
	line->image &= ~mask;
	line->poked &= ~mask;
	if (offset >= change->new_size) {
		line->unknown |= mask;
		return;
	}
	memcpy(line->bytes + first, change->new + offset, size);
	if (change->kind == CHANGE_IMAGE)
		line->image |= mask;
	else
		line->poked |= mask;
}

static u64 up_to(u64 most, u64 offset, u64 bound)
{
	return offset < bound && bound - offset < most ? bound - offset : most;
}

static void line_list(struct perf_text *text, struct line *line, u64 address)
{
	u64 *fresh = line->fresh ? NULL : list_room(text->fresh, text->fresh_count,
						    sizeof(*fresh));

	if (line->fresh)
		return;
	if (!fresh) {
		text->failed = true;
		return;
	}
	text->fresh = fresh;
	fresh[text->fresh_count++] = address - address % LINE;
	line->fresh = true;
}

static void change_play(struct perf_text *text, const struct change *change)
{
	u64 offset, size;

	text->played = change->tsc;
	text->changed += change->size;
	if (text->changed > CHANGED_MOST)
		text->full = true;
	for (offset = 0; offset < change->size; offset += size) {
		u64 address = change->address + offset;
		struct line *line;

		if (text->full || text->failed)
			return;
		line = line_get(text, address);
		if (!line)
			return;
		size = KIPT_CRASH_PATCH_BYTES - address % KIPT_CRASH_PATCH_BYTES;
		size = up_to(size, offset, change->size);
		size = up_to(size, offset, change->old_size);
		size = up_to(size, offset, change->new_size);
		size = same_origin(line, address % LINE, size);
		piece_play(text, change, line, address, size);
		if (change->kind != CHANGE_LOST)
			line_list(text, line, address);
	}
}

/* See RINGS_MOST. */
static void lost_play(struct perf_text *text, const struct note *note, u64 tsc)
{
	struct change change = { .kind = CHANGE_LOST, .tsc = tsc, .size = LINE,
				 .unsure = text->open };

	for (; text->fresh_count && !text->full && !text->failed; text->fresh_count--) {
		change.address = text->fresh[text->fresh_count - 1];
		line_find(text, change.address)->fresh = false;
		change_play(text, &change);
	}
	if (note->flags == LOSS_BEGINS) {
		text->lost++;
		text->open++;
	} else if (text->open) {
		text->open--;
	}
}

static void poke_play(struct perf_text *text, const struct note *note, u64 tsc)
{
	const struct change change = {
		.kind = CHANGE_POKE,
		.tsc = tsc,
		.address = note->address,
		.size = note->size,
		.old = note->bytes,
		.old_size = note->old_size,
		.new = note->bytes + note->old_size,
		.new_size = note->new_size,
	};

	change_play(text, &change);
}

/* A BPF program runs only after the events of its load, which is then over. */
static u64 load_time(const struct perf_text *text, u64 tsc)
{
	u64 late = text->slack / 2, early = tsc > late ? tsc - late : 0;

	return early > text->played ? early : text->played;
}

/* The name of a program has its tag, as "bpf_prog_0123456789abcdef_name" does. */
static bool has_tag(const char *name, const u8 *tag)
{
	char wanted[sizeof("bpf_prog_") + 2 * PERF_BPF_TAG];
	u32 at = snprintf(wanted, sizeof(wanted), "bpf_prog_"), i;

	for (i = 0; i < PERF_BPF_TAG; i++)
		at += snprintf(wanted + at, sizeof(wanted) - at, "%02x", tag[i]);
	return !strncmp(name, wanted, at) && (!name[at] || name[at] == '_');
}

static void image_play(struct perf_text *text, const struct perf_bpf_code *code, u64 tsc)
{
	const struct change change = {
		.kind = CHANGE_IMAGE,
		.tsc = tsc,
		.address = code->address,
		.size = code->size,
		.new = code->bytes,
		.new_size = code->size,
	};

	change_play(text, &change);
}

/* Of a function that came while perf followed no loads, as in processes it did not trace. */
static void unloaded_play(struct perf_text *text, const struct perf_ksym *ksym, u64 tsc)
{
	/* One that was there before has both events without a time. */
	u64 loads = text->loads + (ksym->from ? 0 : text->loads_before);
	struct perf_bpf_code code;

	if (!loads && perf_bpf_find(&text->bpf, ksym->address, ksym->size, &code) &&
	    has_tag(ksym->name, code.tag))
		image_play(text, &code, tsc);
}

static void ksym_play(struct perf_text *text, const struct note *note, u64 tsc)
{
	struct perf_ksym ksym = {
		.address = note->address,
		.size = note->size,
		.bpf = note->bpf,
		.from = note->flags & KSYM_WENT ? 0 : tsc,
		.to = note->flags & KSYM_WENT ? tsc : ~0ULL,
		.name = (char *)note->bytes,
	};
	struct perf_ksym *last = perf_ksym_latest(&text->ksyms, note->address);
	struct change change = {
		.kind = CHANGE_CAME,
		.tsc = tsc,
		.address = note->address,
		.size = note->size,
	};
	bool there = last && last->to == ~0ULL;

	plain_text(ksym.name);
	if (note->flags & KSYM_WENT && there && last->size == note->size &&
	    !strcmp(last->name, ksym.name))
		change.kind = CHANGE_WENT;
	if (there)
		last->to = tsc;
	if (note->bpf && change.kind == CHANGE_CAME)
		change.tsc = load_time(text, tsc);
	change_play(text, &change);
	if (note->bpf && change.kind == CHANGE_CAME)
		unloaded_play(text, &ksym, change.tsc);
	if (change.kind == CHANGE_CAME && !text->full &&
	    !perf_ksym_add(&text->ksyms, &ksym))
		text->failed = true;
}

/* Its functions came just before. */
static void bpf_play(struct perf_text *text, const struct note *note, u64 tsc)
{
	struct perf_bpf_code code;
	struct perf_ksym *ksym;
	u32 i;

	for (i = 0; perf_bpf_code(&text->bpf, note->size, note->tag, i, &code);
	     i++) {
		ksym = perf_ksym_latest(&text->ksyms, code.address);
		if (!ksym || ksym->to != ~0ULL || ksym->loaded || !ksym->bpf ||
		    ksym->size != code.size || !has_tag(ksym->name, code.tag))
			continue;
		ksym->loaded = true;
		image_play(text, &code, load_time(text, tsc));
	}
}

static int note_compare(const void *left, const void *right)
{
	const struct note *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* At most so many entries: pieces of 16 bytes, and one more at each boundary; all of it
 * is lost once at most.
 */
static u32 entries_needed(const struct perf_text *text)
{
	u64 count = ENTRIES_LEAST, most = 0;
	size_t i;

	for (i = 0; i < text->note_count && most < ENTRIES_MOST; i++)
		most += 4 * (text->notes[i].size / KIPT_CRASH_PATCH_BYTES + 4ULL);
	while (count < most && count < ENTRIES_MOST)
		count *= 2;
	return count;
}

static bool logs_make(struct perf_text *text)
{
	u32 entries = entries_needed(text), i;
	void *memory;

	for (i = 0; i < LOGS; i++) {
		memory = calloc(1, kipt_patch_log_size(entries));
		if (!memory)
			return false;
		text->logs[i] = kipt_patch_log_init(memory, entries, 0);
	}
	text->chains = calloc(entries, sizeof(*text->chains));
	return text->chains;
}

static void notes_play(struct perf_text *text, const struct perf_clock *clock)
{
	size_t i;

	for (i = 0; i < text->note_count && !text->full && !text->failed; i++) {
		const struct note *note = &text->notes[i];
		u64 tsc = note->time && clock->mult ?
			  perf_clock_tsc(clock, note->time) : 0;

		text->tsc = tsc;
		if (note->type == PERF_EVENT_TEXT_POKE)
			poke_play(text, note, tsc);
		else if (note->type == PERF_EVENT_KSYMBOL)
			ksym_play(text, note, tsc);
		else if (note->type == PERF_EVENT_LOST)
			lost_play(text, note, tsc);
		else
			bpf_play(text, note, tsc);
	}
}

bool perf_text_settle(struct perf_text *text, const struct perf_file *file,
		      const struct perf_clock *clock)
{
	u32 khz = perf_clock_khz(clock);

	if (!text->changes)
		return true;
	if (!perf_bpf_load(&text->bpf, file))
		return false;
	text->untimed |= !khz;
	text->slack = 2ULL * khz * KIPT_TEXT_SLACK_MS;
	text->line_of.seed = lookup_seed();
	text->ksyms.latest.seed = lookup_seed();
	if (!logs_make(text))
		return no_memory();
	if (text->note_count)
		qsort(text->notes, text->note_count, sizeof(*text->notes), note_compare);
	notes_play(text, clock);
	return (!text->failed &&
		perf_ksyms_sort(&text->ksyms, text->slack / 2)) || no_memory();
}

const struct kipt_patch_log *perf_text_log(const struct perf_text *text,
					   bool *timed)
{
	*timed = !text->untimed;
	return text->logs[0];
}

u64 perf_text_slack(const struct perf_text *text)
{
	return text->slack;
}

u64 perf_text_tsc(const struct perf_text *text)
{
	return text->tsc;
}

/* Where code is from that no event is of. */
struct source {
	u32 (*read)(void *ctx, u64 ip, u8 *bytes, u32 size);
	void *ctx;
};

/* Bytes of one line at the end; those that nobody knows are @fill. */
static void end_read(const struct perf_text *text, const struct source *source,
		     u64 ip, u8 *bytes, u32 size, u8 fill)
{
	const struct line *line = line_find(text, ip);
	u32 first = ip % LINE, done = 0, part;
	u64 changed = line ? line->unknown | line->image | line->poked : 0;

	memset(bytes, fill, size);
	/* It ends at the first byte that is not there: go on after what is known. */
	while (done < size) {
		part = source->read(source->ctx, ip + done, bytes + done,
				    size - done);
		done += part;
		while (done < size && changed >> (first + done) & 1)
			done++;
		if (!part && done < size && !(changed >> (first + done) & 1))
			break;
	}
	for (done = 0; line && done < size; done++) {
		if ((line->image | line->poked) >> (first + done) & 1)
			bytes[done] = line->bytes[first + done];
		else if (line->unknown >> (first + done) & 1)
			bytes[done] = fill;
	}
}

static u32 line_read(const struct perf_text *text,
		     const struct kipt_text_view *view,
		     const struct source *source, u64 ip, u8 *bytes, u32 size)
{
	u8 other[LINE];
	u32 done = 0;

	if (text->chains[kipt_patch_log_chain(text->logs[0], ip)] > CHAIN_MOST)
		return 0;
	size = kipt_text_view_sure(view, ip, size);
	if (!size)
		return 0;
	end_read(text, source, ip, bytes, size, fills[0]);
	end_read(text, source, ip, other, size, fills[1]);
	if (!kipt_patch_log_undo(text->logs[0], view->at, ip, bytes, size) ||
	    !kipt_patch_log_undo(text->logs[1], view->at, ip, other, size))
		return 0;
	while (done < size && bytes[done] == other[done])
		done++;
	return done;
}

u32 perf_text_read(const struct perf_text *text,
		   const struct kipt_text_view *view,
		   u32 (*read)(void *ctx, u64 ip, u8 *bytes, u32 size),
		   void *ctx, u64 ip, u8 *bytes, u32 size)
{
	const struct source source = { read, ctx };
	u32 done = 0, part, got;

	if (text->full)
		return 0;
	if (!text->logs[0] || !view)
		return text->logs[0] ? 0 : read(ctx, ip, bytes, size);
	while (done < size) {
		part = LINE - (ip + done) % LINE;
		if (part > size - done)
			part = size - done;
		got = line_read(text, view, &source, ip + done, bytes + done,
				part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

const struct perf_ksyms *perf_text_ksyms(const struct perf_text *text)
{
	return &text->ksyms;
}

u64 perf_text_changes(const struct perf_text *text)
{
	return text->changes;
}

u32 perf_text_crowded(const struct perf_text *text)
{
	return text->crowded ? CHAIN_MOST : 0;
}

bool perf_text_full(const struct perf_text *text)
{
	return text->full;
}
