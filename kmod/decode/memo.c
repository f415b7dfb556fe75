// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memo's memory: a table that starts small and doubles in place, and ways
 * that are only dropped together. Any context.
 */
#include "memo.h"
#include "return_stack.h"

/* Bytes taken packet by packet when windows were not worth it. */
#define PAUSE_LEAST	(KIPT_MEMO_TRIES * KIPT_WINDOW_BYTES)
#define PAUSE_MOST	(PAUSE_LEAST * 256)

_Static_assert(sizeof(struct kipt_way) % sizeof(u64) == 0, "words follow");

void kipt_memo_init(struct kipt_memo *memo, u64 *words, u32 room)
{
	memo->filters = false;
	memo->seen_size = memo->max * KIPT_MEMO_BUCKET;
	memo->words = words;
	memo->room = room;
	memo->part = room <= KIPT_MEMO_NEAR ? 3 : 4;
	kipt_memo_clear(memo);
}

static void clear_hops(struct kipt_hops *hops, u32 size)
{
	hops->size = size < hops->max ? size : hops->max;
	hops->puts = 0;
	memset(hops->at, 0, sizeof(*hops->at) * hops->size);
}

void kipt_memo_clear(struct kipt_memo *memo)
{
	memo->size = memo->max < KIPT_MEMO_FIRST ? memo->max : KIPT_MEMO_FIRST;
	memo->count = 0;
	memo->used = 1;
	memo->paths = 0;
	memo->ways = 0;
	memo->missed = 0;
	memo->tried = 0;
	memo->known = 0;
	memo->guessed = 0;
	memo->wrong = 0;
	memo->reads = 0;
	memo->rest = 0;
	memo->pause = 0;
	memo->grace = KIPT_MEMO_GRACE;
	memo->bytes = 0;
	memset(memo->table, 0, sizeof(*memo->table) * memo->size);
	clear_hops(&memo->hops, KIPT_HOPS_FIRST);
	kipt_log_forget(&memo->log);
}

u32 kipt_memo_room(struct kipt_memo *memo, u32 words, u8 kind)
{
	u32 way = memo->used, room = memo->room - memo->room / 16 * kind;

	/* Words behind a way are read whatever they are. */
	if (memo->used + words + KIPT_WAY_WORDS > room) {
		memo->missed += kind == KIPT_WAY_PACKET;
		return 0;
	}
	memo->used += words;
	memo->ways++;
	return way;
}

/* The first free place, KIPT_MEMO_BUCKET if there is none. */
static u32 free_place(const struct kipt_bucket *bucket)
{
	u32 i;

	for (i = 0; i < KIPT_MEMO_BUCKET && bucket->way[i]; i++)
		;
	return i;
}

static void put(struct kipt_bucket *bucket, u32 place, u32 number,
		const struct kipt_way *way)
{
	bucket->key[place] = kipt_memo_key(way->hash, way->block);
	bucket->way[place] = number;
}

/* The doubled table tells buckets apart by one bit more: a way stays or goes to
 * the bucket as far behind as the table was long, which is empty.
 */
static void split(struct kipt_memo *memo, u32 at, u32 old_size)
{
	struct kipt_bucket old = memo->table[at], *to;
	const struct kipt_way *way;
	u32 i;

	memset(&memo->table[at], 0, sizeof(old));
	for (i = 0; i < KIPT_MEMO_BUCKET && old.way[i]; i++) {
		way = kipt_way_at(memo, old.way[i]);
		to = &memo->table[at + (way->hash & old_size)];
		put(to, free_place(to), old.way[i], way);
	}
}

static void grow(struct kipt_memo *memo)
{
	u32 old_size = memo->size, i;

	memo->size *= 2;
	memset(memo->table + old_size, 0, sizeof(*memo->table) * old_size);
	for (i = 0; i < old_size; i++)
		split(memo, i, old_size);
}

/* The oldest of a full bucket goes; the younger stand first. */
static void put_first(struct kipt_memo *memo, struct kipt_bucket *bucket,
		      struct kipt_way *way)
{
	u32 i;

	for (i = KIPT_MEMO_BUCKET - 1; i; i--) {
		bucket->key[i] = bucket->key[i - 1];
		bucket->way[i] = bucket->way[i - 1];
	}
	put(bucket, 0, kipt_way_number(memo, way), way);
}

void kipt_memo_put(struct kipt_memo *memo, struct kipt_way *way, u32 second)
{
	u32 places = KIPT_MEMO_BUCKET, place = places;
	struct kipt_bucket *bucket = NULL;

	while (memo->count * 2 >= memo->size * places && memo->size < memo->max)
		grow(memo);
	if (way->hash) {
		bucket = kipt_memo_bucket(memo, way->hash);
		place = free_place(bucket);
	}
	if (place == places) {
		way->hash = second;
		bucket = kipt_memo_bucket(memo, second);
		place = free_place(bucket);
	}
	if (place == places) {
		put_first(memo, bucket, way);
		return;
	}
	put(bucket, place, kipt_way_number(memo, way), way);
	memo->count++;
}

/* Windows are learnt whether they were met before or not. */
static bool has_much_room(const struct kipt_memo *memo)
{
	return memo->used < memo->room / 8 * 7;
}

/* The filter costs nothing before it is needed. */
bool kipt_memo_worthy(struct kipt_memo *memo, u32 hash)
{
	u16 *seen = &memo->seen[hash & (memo->seen_size - 1)];
	u16 mark = (u16)(hash >> 16 | 1);
	bool worthy;

	if (has_much_room(memo))
		return true;
	if (!memo->filters) {
		memset(memo->seen, 0, sizeof(*seen) * memo->seen_size);
		memo->filters = true;
	}
	worthy = *seen == mark;
	*seen = mark;
	return worthy;
}

/* Windows are tried again later, and later. */
static void pause(struct kipt_memo *memo)
{
	memo->pause = memo->pause ? memo->pause * 2 : PAUSE_LEAST;
	if (memo->pause > PAUSE_MOST)
		memo->pause = PAUSE_MOST;
	memo->rest = memo->pause;
}

/* The next pause is shorter. That of a program that is seldom worth windows stays
 * long: to find out each time costs more than windows save it.
 */
static void go_on(struct kipt_memo *memo)
{
	memo->grace += memo->grace < KIPT_MEMO_GRACE_AGAIN;
	memo->pause -= memo->pause / 8;
	if (memo->pause < PAUSE_LEAST)
		memo->pause = 0;
}

/* All windows are new at first: few that come again are enough a few times, and
 * hardly any half as often. Returns whether it is so once more.
 */
static bool bears(struct kipt_memo *memo)
{
	u32 cost = memo->known >= memo->tried / 10 ? 1 : 2;

	if (memo->grace < cost)
		return false;
	memo->grace -= cost;
	return true;
}

/* In traces full of PADs or CYCs guesses are wrong. */
static void judge_guesses(struct kipt_memo *memo)
{
	if (memo->guessed < KIPT_MEMO_TRIES)
		return;
	memo->reads -= memo->reads > 0;
	if (memo->wrong > memo->guessed / 3 * 2)
		memo->reads = KIPT_MEMO_READS;
	memo->guessed = 0;
	memo->wrong = 0;
}

/* Windows are worth it if every fifth one comes again. Where no more are learnt,
 * every other one must.
 */
void kipt_memo_judge(struct kipt_memo *memo)
{
	bool learns = has_much_room(memo);

	if (memo->tried < KIPT_MEMO_TRIES)
		return;
	memo->rest = 0;
	judge_guesses(memo);
	if (memo->known >= memo->tried / (learns ? 5 : 2))
		go_on(memo);
	else if (!learns || !bears(memo))
		pause(memo);
	memo->tried = 0;
	memo->known = 0;
}

/* Is all it does to the stack one CALL, or one RET? */
static bool is_one_call(const struct kipt_way *way)
{
	return way->guards + way->pushes == 1 &&
	       way->net == way->pushes - way->guards &&
	       way->low == way->pushes &&
	       way->high == KIPT_RETURN_STACK_SIZE - way->guards;
}

static enum kipt_hop_kind hop_kind(u32 key, const struct kipt_way *way)
{
	if (key & 1 || way->to == KIPT_TO_OFF || way->to == KIPT_TO_SPACE)
		return KIPT_HOP_OTHER;
	if (is_one_call(way))
		return way->guards ? KIPT_HOP_RET : KIPT_HOP_CALL;
	if (way->guards || way->pushes || way->net || way->low ||
	    way->high < KIPT_RETURN_STACK_SIZE - KIPT_HOP_DEEP_MOST)
		return KIPT_HOP_CALLS;
	return KIPT_HOP_PLAIN;
}

static u32 hop_next(const struct kipt_hops *hops, u32 key,
		    const struct kipt_way *way)
{
	enum kipt_hop_kind kind = hop_kind(key, way);

	if (kind == KIPT_HOP_OTHER)
		return kind;
	if (kind == KIPT_HOP_PLAIN)
		return (KIPT_RETURN_STACK_SIZE - way->high) << KIPT_HOP_DEEP |
		       kipt_hop_row(hops, way->to) | kind;
	return kipt_hop_row(hops, way->to) | kind;
}

/* As many as are wanted, while there is memory. */
void kipt_memo_put_hop(struct kipt_memo *memo, u32 key,
		       const struct kipt_way *way)
{
	struct kipt_hops *hops = &memo->hops;
	struct kipt_hop *hop;

	if (++hops->puts > hops->size && hops->size < hops->max)
		clear_hops(hops, hops->size * 2);
	hop = kipt_hop_place(hops, key);
	hop->key = key;
	hop->way = kipt_way_number(memo, way);
	hop->to = way->to;
	hop->next = hop_next(hops, key, way);
}
