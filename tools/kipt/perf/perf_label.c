// SPDX-License-Identifier: GPL-2.0-only
/*
 * Says in a trace whose code it is of, see perf_label.h. Walks over the packets
 * with a clock, without decoding any code.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "../../../kmod/decode/packet/clock.h"
#include "../../../kmod/decode/packet/last_ip.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../../../kmod/decode/packet/tnt.h"
#include "../cli/large_memory.h"
#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../symbols/page_tables.h"
#include "perf_bytes.h"
#include "perf_label.h"

#define PIP_LENGTH	8
/* Older address spaces get an index again. */
#define OWNERS_RECENT	256
/* So many turns of kernel threads are passed over: they leave the address space loaded. */
#define TURNS_LOADED	4096
/* No place of a trace. */
#define NOWHERE	(~0ULL)

/* A walk over the packets of a trace, which goes on from stretch to stretch of it. */
struct walk {
	struct kipt_clock clock;
	struct kipt_cursor cursor;
	const u8 *bytes;
	u64 end;
	const struct perf_turn *turns;
	size_t count;
	/* The turn that the time is in. */
	size_t turn;
	/* Of the last packet that has one. */
	u64 last_ip;
};

static bool no_memory(void)
{
	say_errno(ENOMEM, "cannot find out which process ran when");
	return false;
}

/* Nothing before it is known. */
static void walk_start(struct walk *walk, const struct kipt_flow_config *config)
{
	kipt_clock_init(&walk->clock, config->tsc_num, config->tsc_den,
			config->mtc_freq, config->max_nonturbo_ratio, config->tsc_near);
}

static void walk_over(struct walk *walk, const struct perf_trace *trace, u64 start, u64 end)
{
	walk->bytes = trace->bytes;
	walk->end = end;
	kipt_cursor_init(&walk->cursor, trace->bytes + start, end - start);
}

static u64 walk_at(const struct walk *walk)
{
	return walk->cursor.pos - walk->bytes;
}

/* Bytes before the first PSB are decoded by nobody: what looks like packets there may end in it. */
static void walk_sync(struct walk *walk)
{
	u64 next = kipt_sync_next(walk->bytes, walk->end, walk_at(walk));

	kipt_cursor_init(&walk->cursor, walk->bytes + next, walk->end - next);
}

/* The turn a time is in; most often @turn, or the next one. */
static size_t turn_find(const struct perf_turn *turns, size_t count,
			size_t turn, u64 time)
{
	size_t low = 0, high = count;

	if (turn + 1 < count && turns[turn + 1].from <= time)
		turn++;
	if (turns[turn].from <= time &&
	    (turn + 1 == count || turns[turn + 1].from > time))
		return turn;
	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;

		if (turns[middle].from <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void walk_time(struct walk *walk)
{
	if (walk->clock.valid)
		walk->turn = turn_find(walk->turns, walk->count, walk->turn,
				       walk->clock.now);
}

/* Short TNTs are most packets, and nobody here looks at outcomes. In a block a byte may mean
 * something else.
 */
static void outcomes_skip(struct kipt_cursor *cursor)
{
	const u8 *at = cursor->pos;

	if (cursor->block)
		return;
	while (at < cursor->end && kipt_tnt_is_short(*at))
		at++;
	cursor->pos = at;
}

/* The next packet, but for short TNTs; what is none is passed over. False at the end. */
static bool walk_next(struct walk *walk, struct kipt_packet *packet)
{
	enum kipt_status status;
	u64 next;

	for (;;) {
		outcomes_skip(&walk->cursor);
		status = kipt_packet_next(&walk->cursor, packet);
		if (status == KIPT_OK)
			break;
		if (status == KIPT_END)
			return false;
		next = kipt_sync_next(walk->bytes, walk->end, walk_at(walk) + 1);
		if (next >= walk->end)
			return false;
		kipt_cursor_init(&walk->cursor, walk->bytes + next,
				 walk->end - next);
	}
	switch (packet->type) {
	case KIPT_PACKET_TNT:
	case KIPT_PACKET_TIP:
		/* Most packets, of which no clock knows. */
		return true;
	case KIPT_PACKET_PSB:
		kipt_clock_reset(&walk->clock);
		break;
	case KIPT_PACKET_OVF:
		kipt_clock_lost(&walk->clock);
	}
	kipt_clock_packet(&walk->clock, packet);
	walk_time(walk);
	return true;
}

/* A trace while it becomes longer. */
struct copy {
	u8 *bytes;
	u64 size;
	u64 room;
	u64 taken;
	/* The first of the trace's stops that is not taken yet. */
	size_t stop;
	/* Where PIPs were put in. */
	u64 *labels;
	size_t label_count;
};

static bool copy_grow(struct copy *copy, u64 more)
{
	u8 *bytes;
	u64 size;

	if (copy->size + more <= copy->room)
		return true;
	size = (copy->size + more) + (copy->size + more) / 4;
	bytes = realloc(copy->bytes, size);
	if (!bytes)
		return false;
	copy->bytes = bytes;
	copy->room = size;
	return true;
}

/* Room for all of a trace, and for what it gets most often. */
static bool copy_begin(struct copy *copy, const struct perf_trace *trace)
{
	u64 room = trace->end + trace->end / 16;

	*copy = (struct copy){ .bytes = large_alloc(room), .room = room };
	return copy->bytes;
}

static bool copy_upto(struct copy *copy, struct perf_trace *trace, u64 end)
{
	u64 size = end - copy->taken;
	struct perf_stop *stop;

	if (!copy_grow(copy, size))
		return false;
	for (; copy->stop < trace->stop_count; copy->stop++) {
		stop = &trace->stops[copy->stop];
		if (stop->offset > end)
			break;
		stop->offset += copy->size - copy->taken;
	}
	/* An empty trace has no memory. */
	if (size)
		memcpy(copy->bytes + copy->size, trace->bytes + copy->taken, size);
	copy->size += size;
	copy->taken = end;
	return true;
}

/* With the made-up CR3 of an index. */
static void pip_write(u8 *at, size_t index)
{
	u64 payload = ((u64)(index + 1) << PERF_LABEL_SHIFT) >> 5 << 1;

	at[0] = 0x02;
	at[1] = 0x43;
	memcpy(at + 2, &payload, PIP_LENGTH - 2);
}

static bool pip_put(struct copy *copy, size_t turn)
{
	u64 *labels = list_room(copy->labels, copy->label_count, sizeof(*labels));

	if (labels)
		copy->labels = labels;
	if (!labels || !copy_grow(copy, PIP_LENGTH))
		return false;
	labels[copy->label_count++] = copy->size;
	pip_write(copy->bytes + copy->size, turn);
	copy->size += PIP_LENGTH;
	return true;
}

/* A PIP of the trace, or one that it gets, and whose code runs until the next one. */
struct load {
	u64 at;
	u64 cr3;
	u32 space;
	u32 index : 31;
	u32 is_new : 1;
};

/* @guests: there were PIPs of guests as well, here or in an earlier stretch. */
struct loads {
	struct load *list;
	size_t count;
	bool guests;
};

/* What is known of a part of the trace, up to where the walk is. */
struct known {
	struct walk walk;
	/* Where PIPs are put in: the turn that the last one named; @walk.count: none yet. */
	size_t said;
	/* Where they are replaced: the first of the part, and of those without an owner. */
	size_t first, timed;
	/* The turn of the last packet that has a time, its time, whose space was loaded then;
	 * and the space of the last PIPs that have an owner.
	 */
	size_t turn;
	u64 time;
	u32 now, space;
	/* Where user code began to run since; or NOWHERE. */
	u64 entered;
	bool in_psb;
	/* A guest runs. */
	bool guest;
};

struct perf_label {
	const struct kipt_flow_config *config;
	/* At the end of the last stretch, or where the walk is: of a trace whose PIPs are replaced,
	 * and of one that gets some.
	 */
	struct known replaced, inserted;
	/* Of this stretch; the first @old ones are of the one before. */
	struct loads loads;
	size_t old;
	struct perf_owner *owners;
	size_t owner_count;
};

struct perf_label *perf_label_create(const struct kipt_flow_config *config,
				     const struct perf_turn *turns, size_t count)
{
	struct perf_label *label = calloc(1, sizeof(*label));

	if (!label) {
		no_memory();
		return NULL;
	}
	label->config = config;
	label->replaced.walk = (struct walk){ .turns = turns, .count = count };
	label->inserted.walk = label->replaced.walk;
	return label;
}

void perf_label_destroy(struct perf_label *label)
{
	if (!label)
		return;
	free(label->loads.list);
	free(label->owners);
	free(label);
}

bool perf_label_guests(const struct perf_label *label)
{
	return label->loads.guests;
}

const struct perf_owner *perf_label_owners(const struct perf_label *label, size_t *count)
{
	*count = label->owner_count;
	return label->owners;
}

/* The space of the task that runs at a time, or that a kernel thread took the turn from. */
static u32 space_loaded(const struct perf_turn *turns, size_t turn)
{
	size_t tries = TURNS_LOADED;

	while (turns[turn].space == PERF_NO_SPACE && turn && tries--)
		turn--;
	return turns[turn].space;
}

static void known_begin(const struct perf_label *label, struct known *known)
{
	walk_start(&known->walk, label->config);
	known->said = known->walk.count;
	known->first = label->loads.count;
	known->timed = known->first;
	known->turn = known->walk.turn;
	known->time = known->walk.clock.now;
	known->now = space_loaded(known->walk.turns, known->turn);
	known->space = PERF_NO_SPACE;
	known->entered = NOWHERE;
	known->in_psb = false;
	known->guest = false;
}

static bool load_add(struct loads *loads, const struct load *load)
{
	struct load *list = list_room(loads->list, loads->count, sizeof(*list));

	if (!list)
		return false;
	loads->list = list;
	list[loads->count++] = *load;
	return true;
}

/* Copies packets up to @end, with PIPs among them. */
static bool packets_label(struct known *known, struct perf_trace *trace, struct copy *copy)
{
	struct walk *walk = &known->walk;
	struct kipt_packet packet;
	bool wanted;

	while (walk_next(walk, &packet)) {
		u64 at = walk_at(walk) - packet.len;

		wanted = packet.type == KIPT_PACKET_PSBEND ||
			 (packet.type == KIPT_PACKET_TIP_PGE &&
			  known->said != walk->turn);
		if (!wanted)
			continue;
		/* In the middle of a program nobody else begins to run. */
		if (packet.type == KIPT_PACKET_TIP_PGE || known->said == walk->count)
			known->said = walk->turn;
		if (!copy_upto(copy, trace, at) || !pip_put(copy, known->said))
			return false;
	}
	return copy_upto(copy, trace, walk->end);
}

/* Whether a part does not go on where the one before, maybe of an earlier stretch, ended. */
static bool is_anew(const struct perf_trace *trace, const struct perf_part *part)
{
	return part > trace->parts || !trace->goes_on;
}

static void part_begin(const struct perf_label *label, struct known *known,
		       const struct perf_trace *trace, const struct perf_part *part)
{
	if (is_anew(trace, part))
		known_begin(label, known);
	walk_over(&known->walk, trace, part->start, part->start + part->size);
	if (is_anew(trace, part))
		walk_sync(&known->walk);
}

static bool part_label(struct perf_label *label, struct perf_trace *trace,
		       struct perf_part *part, struct copy *copy)
{
	u64 start = copy->size;

	part_begin(label, &label->inserted, trace, part);
	if (!packets_label(&label->inserted, trace, copy))
		return false;
	part->start = start;
	part->size = copy->size - start;
	return true;
}

/* What comes again in the next stretch changes nothing of what is known at the end of this. */
static bool ahead_label(const struct perf_label *label, struct perf_trace *trace,
			struct copy *copy)
{
	struct known known = label->inserted;

	walk_over(&known.walk, trace, trace->size, trace->end);
	return packets_label(&known, trace, copy);
}

static void trace_replace(struct perf_trace *trace, const struct copy *copy, u64 size)
{
	free(trace->bytes);
	trace->bytes = copy->bytes;
	trace->size = size;
	trace->end = copy->size;
	free(trace->labels);
	trace->labels = copy->labels;
	trace->label_count = copy->label_count;
}

static void copy_drop(struct copy *copy)
{
	free(copy->bytes);
	free(copy->labels);
}

u64 perf_label_place(const struct perf_trace *trace, u64 offset)
{
	size_t low = 0, high = trace->label_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (trace->labels[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return offset - low * PIP_LENGTH;
}

bool perf_label_insert(struct perf_label *label, struct perf_trace *trace)
{
	struct copy copy;
	bool ok = copy_begin(&copy, trace);
	u64 size;
	size_t i;

	for (i = 0; i < trace->part_count && ok; i++)
		ok = part_label(label, trace, &trace->parts[i], &copy);
	size = copy.size;
	if (!ok || !ahead_label(label, trace, &copy)) {
		copy_drop(&copy);
		return no_memory();
	}
	trace_replace(trace, &copy, size);
	return true;
}

/* Does user code run from this packet on, and did not before it? */
static bool enters_user(struct walk *walk, const struct kipt_packet *packet)
{
	bool was_kernel = walk->last_ip >> 63;

	if (packet->type == KIPT_PACKET_PSB)
		walk->last_ip = 0;
	if (packet->type != KIPT_PACKET_TIP && packet->type != KIPT_PACKET_TIP_PGE &&
	    packet->type != KIPT_PACKET_TIP_PGD && packet->type != KIPT_PACKET_FUP)
		return false;
	walk->last_ip = kipt_last_ip_apply(walk->last_ip, packet);
	return !(walk->last_ip >> 63) &&
	       (packet->type == KIPT_PACKET_TIP_PGE ||
		(packet->type == KIPT_PACKET_TIP && was_kernel));
}

/*
 * What was loaded last runs at the time of the next packet that has one: @space. What was
 * loaded before that is of the process before, or nobody knows whose it was.
 */
static void loads_settle(struct loads *loads, size_t first, size_t timed, u32 space)
{
	struct load *list = loads->list;
	size_t i, last = timed;

	for (i = timed + 1; i < loads->count; i++)
		if (!page_tables_same(list[i].cr3, list[i - 1].cr3))
			last = i;
	for (i = timed; i < loads->count; i++) {
		if (i >= last)
			list[i].space = space;
		else if (i > first && page_tables_same(list[i].cr3, list[i - 1].cr3))
			list[i].space = list[i - 1].space;
		else
			list[i].space = PERF_NO_SPACE;
	}
}

/*
 * Does the clock know when this packet was, and not that of before, @time, alone? PAD, CBR
 * and others have no time; a PIP in a PSB+ has that of the TSC there.
 */
static bool has_time(const struct walk *walk, const struct kipt_packet *packet,
		     bool in_psb, u64 time)
{
	return walk->clock.valid &&
	       (walk->clock.now != time || packet->type == KIPT_PACKET_TSC ||
		(in_psb && packet->type == KIPT_PACKET_PIP));
}

/* The packet has a time: the PIPs since the one before have owners. */
static bool loads_time(struct loads *loads, struct known *known)
{
	const struct walk *walk = &known->walk;
	struct load load;

	known->time = walk->clock.now;
	if (known->turn != walk->turn)
		known->now = space_loaded(walk->turns, walk->turn);
	known->turn = walk->turn;
	if (known->timed == loads->count && known->timed > known->first &&
	    known->space != known->now && known->entered != NOWHERE) {
		load = loads->list[known->timed - 1];
		load.at = known->entered;
		load.is_new = 1;
		if (!load_add(loads, &load))
			return false;
	}
	if (known->timed < loads->count) {
		loads_settle(loads, known->first, known->timed, known->now);
		known->timed = loads->count;
		known->space = known->now;
	}
	known->entered = NOWHERE;
	return true;
}

/*
 * The time of a PIP is that of the next packet that has a time, but in a PSB+: the one
 * before may be of before the switch. A process may execute another program, or map code
 * in the place of other code, and go on with the address space that is loaded: where user
 * code runs after that the trace gets a PIP. Ends early where the first @enough have owners.
 */
static bool loads_find(struct loads *loads, struct known *known, size_t enough)
{
	struct walk *walk = &known->walk;
	struct kipt_packet packet;
	struct load load;

	while (known->timed < enough && walk_next(walk, &packet)) {
		if (packet.type == KIPT_PACKET_TNT)
			continue;
		if (packet.type == KIPT_PACKET_PSB || packet.type == KIPT_PACKET_PSBEND)
			known->in_psb = packet.type == KIPT_PACKET_PSB;
		if (enters_user(walk, &packet) && known->entered == NOWHERE && !known->guest)
			known->entered = walk_at(walk) - packet.len;
		if (packet.type == KIPT_PACKET_PIP)
			known->guest = packet.flags & KIPT_PF_NR;
		loads->guests |= known->guest;
		if (packet.type == KIPT_PACKET_PIP && !known->guest) {
			load = (struct load){ .at = walk_at(walk) - packet.len,
					      .cr3 = packet.value };
			known->entered = NOWHERE;
			if (!load_add(loads, &load))
				return false;
		}
		if (has_time(walk, &packet, known->in_psb, known->time) &&
		    !loads_time(loads, known))
			return false;
	}
	return true;
}

/* Who runs after the last time of a part is known if nobody else does. Where there is only one
 * turn, all page tables are of that.
 */
static void loads_end(struct loads *loads, const struct known *known)
{
	const struct walk *walk = &known->walk;
	u32 space = walk->turn + 1 == walk->count ? space_loaded(walk->turns, walk->turn) :
						    PERF_NO_SPACE;
	size_t i;

	loads_settle(loads, known->first, known->timed, space);
	for (i = known->timed; walk->count == 1 && i < loads->count; i++)
		loads->list[i].space = space;
}

/* The index of an address space and whose it is; the latest come again. */
static bool owner_get(struct perf_owner **owners, size_t *count, u64 cr3,
		      u32 space, size_t *index)
{
	struct perf_owner *list = *owners;
	size_t i;

	for (i = *count; i > 0 && *count - i < OWNERS_RECENT; i--) {
		if (list[i - 1].cr3 == cr3 && list[i - 1].space == space) {
			*index = i - 1;
			return true;
		}
	}
	list = list_room(list, *count, sizeof(*list));
	if (!list)
		return false;
	*owners = list;
	list[*count] = (struct perf_owner){ cr3, space };
	*index = (*count)++;
	return true;
}

static bool loads_label(struct perf_label *label, struct perf_trace *trace)
{
	struct loads *loads = &label->loads;
	size_t i, index;

	for (i = label->old; i < loads->count; i++) {
		struct load *load = &loads->list[i];

		if (!owner_get(&label->owners, &label->owner_count, load->cr3, load->space,
			       &index))
			return false;
		load->index = index;
		if (!load->is_new)
			pip_write(trace->bytes + load->at, index);
	}
	return true;
}

/* Copies up to @end, with those that the trace gets. */
static bool loads_copy(struct perf_trace *trace, const struct loads *loads, size_t *next,
		       u64 end, struct copy *copy)
{
	for (; *next < loads->count && loads->list[*next].at < end; ++*next) {
		const struct load *load = &loads->list[*next];

		if (load->is_new && (!copy_upto(copy, trace, load->at) ||
				     !pip_put(copy, load->index)))
			return false;
	}
	return copy_upto(copy, trace, end);
}

/* Most often there are none. */
static bool loads_insert(const struct perf_label *label, struct perf_trace *trace)
{
	const struct loads *loads = &label->loads;
	struct copy copy;
	size_t next = label->old, i;
	bool ok;
	u64 size;

	while (next < loads->count && !loads->list[next].is_new)
		next++;
	if (next == loads->count)
		return true;
	ok = copy_begin(&copy, trace);
	for (i = 0; i < trace->part_count && ok; i++) {
		struct perf_part *part = &trace->parts[i];
		u64 start = copy.size;

		ok = loads_copy(trace, loads, &next, part->start + part->size, &copy);
		part->start = start;
		part->size = copy.size - start;
	}
	size = copy.size;
	if (!ok || !loads_copy(trace, loads, &next, trace->end, &copy)) {
		copy_drop(&copy);
		return false;
	}
	trace_replace(trace, &copy, size);
	return true;
}

/* Finds the PIPs of a stretch, @count, and owners for those at its end by what is ahead. */
static bool stretch_find(struct perf_label *label, const struct perf_trace *trace,
			 size_t *count)
{
	struct known ahead;
	struct loads *loads = &label->loads;
	bool ok = true;
	size_t i;

	for (i = 0; i < trace->part_count && ok; i++) {
		const struct perf_part *part = &trace->parts[i];

		if (is_anew(trace, part))
			loads_end(loads, &label->replaced);
		part_begin(label, &label->replaced, trace, part);
		ok = loads_find(loads, &label->replaced, SIZE_MAX);
	}
	*count = loads->count;
	ahead = label->replaced;
	walk_over(&ahead.walk, trace, trace->size, trace->end);
	ok = ok && loads_find(loads, &ahead, *count);
	loads_end(loads, &ahead);
	return ok;
}

/* Of the PIPs of a stretch the next one needs the last. */
static void loads_keep(struct perf_label *label, size_t count)
{
	struct known *known = &label->replaced;
	size_t all = count - known->first;

	label->old = all ? 1 : 0;
	if (all)
		label->loads.list[0] = label->loads.list[count - 1];
	known->timed = known->timed == count ? label->old : 0;
	known->first = 0;
	label->loads.count = label->old;
}

bool perf_label_replace(struct perf_label *label, struct perf_trace *trace)
{
	size_t count;

	if (!stretch_find(label, trace, &count) || !loads_label(label, trace) ||
	    !loads_insert(label, trace))
		return no_memory();
	loads_keep(label, count);
	return true;
}
