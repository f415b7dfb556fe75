// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damage: real traces with bytes changed, cleared, left out and put in at
 * random places. What comes before the damage must be decoded as without it,
 * and so must all from the next PSB on; each gap must say why and where. The
 * places are the same in each run. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet/sync.h"
#include "arena.h"
#include "image.h"
#include "ktap.h"
#include "record_list.h"

#define ROUNDS		60
/* Records of an undamaged beginning that the packets after it may change: those
 * that were held, and those that its own end makes.
 */
#define TAIL_RECORDS	9

/**
 * struct damage - a damaged trace
 * @bytes: packets
 * @size: how many bytes
 * @begin: up to here it is as it was
 * @end: from here on it is again
 * @shift: what follows is so many bytes further
 * @before: records of the bytes before @begin, its memory used again
 * @after: records of all bytes, in the same way
 */
struct damage {
	u8 *bytes;
	u64 size;
	u64 begin;
	u64 end;
	s64 shift;
	struct record_list before;
	struct record_list after;
};

/**
 * struct figures - what was seen
 * @gaps: GAP records that the damage made
 * @silent: times it made none
 * @lost: records of the undamaged trace that were not compared
 * @all: of so many
 */
struct figures {
	u64 gaps;
	u64 silent;
	u64 lost;
	u64 all;
};

static u64 state = 7;

static u32 below(u32 bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(state >> 33) % bound;
}

static void decode(const struct recording *recording, const u8 *bytes,
		   u64 size, struct record_list *list)
{
	struct kipt_flow_config config = {
		.output = KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME,
		.memory = 4 << 20, .tsc_num = 176, .tsc_den = 2, .mtc_freq = 3,
		.max_nonturbo_ratio = 21,
	};
	struct kipt_code code = { .read = image_read,
				  .ctx = (void *)&recording->image };
	struct kipt_sink sink = { .emit = record_list_add, .ctx = list };
	size_t room;
	void *arena = arena_take(&config, &room);
	struct kipt_flow *flow;

	flow = arena ? kipt_flow_init(arena, room, &config, &code, &sink) :
		       NULL;
	if (!flow) {
		fprintf(stderr, "no flow\n");
		exit(2);
	}
	kipt_flow_run(flow, bytes, size, 0, size);
	arena_give(arena);
}

static void fill(u8 *bytes, u32 count, bool clear)
{
	u32 i;

	for (i = 0; i < count; i++)
		bytes[i] = clear ? 0 : (u8)below(256);
}

/* Some bytes of the trace become other bytes, maybe fewer or more. */
static void make_damage(const struct recording *recording,
			struct damage *damage)
{
	u32 most = 1U << below(8), old = below(most + 1), new;
	u64 rest;

	if (!old)
		old = below(2);
	new = below(3) ? old : below(most + 1);
	damage->begin = 16 + below((u32)recording->size - most - 16);
	damage->end = damage->begin + new;
	damage->shift = (s64)new - (s64)old;
	damage->size = recording->size + (u64)damage->shift;
	rest = recording->size - damage->begin - old;
	memcpy(damage->bytes, recording->trace, damage->begin);
	fill(damage->bytes + damage->begin, new, !below(4));
	memcpy(damage->bytes + damage->end,
	       recording->trace + damage->begin + old, rest);
}

/* The records from the SYNC record of a PSB on. */
static u64 find_psb(const struct record_list *list, u64 offset)
{
	const struct kipt_record *record = list->record;
	u64 i;

	for (i = 0; i < list->count; i++) {
		if (record[i].type == KIPT_RECORD_SYNC &&
		    record[i].kind == KIPT_SYNC_START &&
		    record[i].value == offset)
			break;
	}
	return i;
}

static bool same_after(const struct record_list *damaged, u64 at,
		       const struct record_list *whole, u64 from, s64 shift)
{
	struct kipt_record record;

	if (damaged->count - at != whole->count - from)
		return false;
	for (; at < damaged->count; at++, from++) {
		record = whole->record[from];
		if (record.type == KIPT_RECORD_SYNC ||
		    record.type == KIPT_RECORD_GAP)
			record.value += (u64)shift;
		if (memcmp(&record, &damaged->record[at], sizeof(record)))
			return false;
	}
	return true;
}

/* The first PSB that no changed byte is a part of, in the damaged trace. */
static const char *check_after(const struct damage *damage,
			       const struct record_list *damaged,
			       const struct record_list *whole,
			       struct figures *figures)
{
	u64 psb = kipt_sync_next(damage->bytes, damage->size, damage->end);
	u64 at = find_psb(damaged, psb);
	u64 from = find_psb(whole, psb - (u64)damage->shift);

	u64 same = record_list_difference(damaged, whole);

	figures->all += whole->count;
	figures->lost += from > same ? from - same : 0;
	if (psb == damage->size)
		return NULL;
	if (at == damaged->count || from == whole->count)
		return "no SYNC record of the PSB after the damage";
	return same_after(damaged, at, whole, from, damage->shift) ? NULL :
	       "other records from the PSB after the damage on";
}

static const char *check_before(const struct recording *recording,
				struct damage *damage)
{
	u64 same;

	damage->before.count = 0;
	decode(recording, recording->trace, damage->begin, &damage->before);
	same = record_list_difference(&damage->before, &damage->after);
	same = damage->before.count - same;
	return same <= TAIL_RECORDS ? NULL : "other records before the damage";
}

static const char *check_gaps(const struct damage *damage,
			      const struct record_list *damaged,
			      const struct record_list *whole,
			      struct figures *figures)
{
	const struct kipt_record *record;
	s64 gaps = 0;
	u64 i;

	for (i = 0; i < damaged->count; i++) {
		record = &damaged->record[i];
		if (record->type != KIPT_RECORD_GAP)
			continue;
		gaps++;
		if (record->value >= damage->size ||
		    (record->kind != KIPT_GAP_OVERFLOW &&
		     (record->aux == KIPT_OK ||
		      record->aux > KIPT_STATUS_MAX)))
			return "a gap without a status and an offset";
	}
	for (i = 0; i < whole->count; i++)
		gaps -= whole->record[i].type == KIPT_RECORD_GAP;
	figures->gaps += gaps > 0 ? (u64)gaps : 0;
	figures->silent += gaps <= 0;
	return NULL;
}

static const char *check_round(const struct recording *recording,
			       struct damage *damage,
			       const struct record_list *whole,
			       struct figures *figures)
{
	const char *wrong;

	make_damage(recording, damage);
	damage->after.count = 0;
	decode(recording, damage->bytes, damage->size, &damage->after);
	wrong = check_before(recording, damage);
	if (!wrong)
		wrong = check_after(damage, &damage->after, whole, figures);
	if (!wrong)
		wrong = check_gaps(damage, &damage->after, whole, figures);
	return wrong;
}

static bool check_trace(const struct recording *recording, const char *name)
{
	struct figures figures = { 0 };
	struct record_list whole = { 0 };
	struct damage damage = { 0 };
	const char *wrong = NULL;
	u32 round;

	damage.bytes = malloc(recording->size + 256);
	if (!damage.bytes)
		exit(2);
	decode(recording, recording->trace, recording->size, &whole);
	for (round = 0; round < ROUNDS && !wrong; round++)
		wrong = check_round(recording, &damage, &whole, &figures);
	if (wrong)
		printf("# %s: %s: bytes %llu to %llu, %lld more\n", name,
		       wrong, (unsigned long long)damage.begin,
		       (unsigned long long)damage.end,
		       (long long)damage.shift);
	printf("# %s: %u times: %llu gaps, none %llu times; %llu.%02llu %% of the records in reach of the damage\n",
	       name, round, (unsigned long long)figures.gaps,
	       (unsigned long long)figures.silent,
	       (unsigned long long)(figures.lost * 100 / figures.all),
	       (unsigned long long)(figures.lost * 10000 / figures.all % 100));
	record_list_free(&whole);
	record_list_free(&damage.before);
	record_list_free(&damage.after);
	free(damage.bytes);
	return !wrong && figures.gaps;
}

static void run_trace(struct ktap *ktap, const char *dir, const char *name)
{
	struct recording recording;

	if (!recording_load(&recording, dir, name)) {
		ktap_result(ktap, false, "%s is readable", name);
		return;
	}
	ktap_result(ktap, check_trace(&recording, name),
		    "%s damaged: same before, and from the next PSB on", name);
	recording_free(&recording);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"arcus-hello", "arcus-last", "arcus-cve-2018-12327-poc",
		"xdc-mruby", "xdc-foo", "dr-hello",
	};
	struct ktap ktap = { 0 };
	int i;

	if (argc < 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: %s DIR [NAME]...\n", argv[0]);
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	ktap_start();
	for (i = 2; i < argc; i++)
		run_trace(&ktap, argv[1], argv[i]);
	for (i = 0; argc == 2 && i < (int)(sizeof(names) / sizeof(names[0]));
	     i++)
		run_trace(&ktap, argv[1], names[i]);
	return ktap_end(&ktap);
}
