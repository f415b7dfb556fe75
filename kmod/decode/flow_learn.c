// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the memo does not know yet. A single packet is walked by the slow path's
 * own functions while the recorder listens, so both say the same; a window of
 * several is put together from the ways of its packets. Runs where the
 * callbacks may.
 */
#include "flow_state.h"
#include "window.h"

static void start_recorder(struct kipt_recorder *recorder)
{
	recorder->bad = false;
	recorder->net = 0;
	recorder->low = 0;
	recorder->high = KIPT_RETURN_STACK_SIZE;
	recorder->tail = 0;
	recorder->below = 0;
	recorder->nr_guards = 0;
	recorder->nr_pushes = 0;
	recorder->nr_records = 0;
	recorder->nr_steps = 0;
}

/* Returns false if the packet contradicts the code, or is not for the memo. */
static bool walk_ip(struct kipt_flow *flow, u8 byte, u64 target)
{
	switch (byte & KIPT_WINDOW_OPCODE) {
	case KIPT_WINDOW_TIP:
		return flow->enabled && kipt_ip_is_canonical(target) &&
		       kipt_walk_tip(flow, target) == KIPT_OK;
	case KIPT_WINDOW_TIP_PGE:
		if (flow->enabled || !kipt_ip_is_canonical(target))
			return false;
		kipt_flow_resume(flow, KIPT_ENABLE_PGE, target);
		return true;
	default:
		if (!flow->enabled ||
		    kipt_walk_pgd(flow, byte != KIPT_WINDOW_TIP_PGD, target) !=
			    KIPT_OK)
			return false;
		kipt_flow_disable(flow);
		return true;
	}
}

static bool walk_packet(struct kipt_flow *flow,
			const struct kipt_window *window)
{
	u8 byte = (u8)(window->tag >> 32);
	u32 bits = (u32)window->key;

	if (byte)
		return walk_ip(flow, byte, window->target);
	flow->tnt.bits = bits >> 1;
	flow->tnt.count = 30 - (u32)__builtin_clz(bits);
	return flow->enabled && kipt_walk_tnt(flow) == KIPT_OK &&
	       !flow->tnt.count;
}

/* Where the packet led; false if that depends on more than the packet. */
static bool find_end(struct kipt_flow *flow, const struct kipt_window *window)
{
	struct kipt_recorder *recorder = &flow->recorder;

	recorder->to = KIPT_TO_OFF;
	if (!flow->enabled)
		return true;
	recorder->to = KIPT_TO_SPACE;
	if (recorder->from_kernel && !(flow->at.ip >> 63))
		return flow->at.ip == window->target;
	recorder->to = kipt_number_at(flow, flow->at.ip);
	return recorder->to != KIPT_BLOCK_NONE;
}

static u32 put_words(u64 *words, u32 at, const void *from, u32 bytes)
{
	memcpy(words + at, from, bytes);
	return at + (bytes + 7) / 8;
}

/* Are records kept on tapes, or paths named, or only counts made? */
static bool keeps_records(const struct kipt_flow *flow)
{
	return !(flow->config.output & (KIPT_FLOW_PATHS | KIPT_FLOW_COUNTS));
}

/* Returns the tape, 0 if there is no room. */
static u32 write_tape(struct kipt_flow *flow,
		      const struct kipt_recorder *recorder)
{
	bool of_packet = recorder == &flow->recorder;
	u32 records = keeps_records(flow) ? recorder->nr_records : 0;
	u32 upto = of_packet ? 0 : recorder->nr_steps;
	u32 pushes = recorder->nr_pushes, guards = 0, at, number, i;
	struct kipt_tape *tape;
	u64 *words;

	if (recorder->nr_guards > KIPT_MEMO_GUARDS)
		guards = recorder->nr_guards - KIPT_MEMO_GUARDS;
	number = kipt_memo_tape(&flow->memo, KIPT_TAPE_WORDS + pushes + guards +
				records * 3 +
				(recorder->nr_steps * 4 + upto + 7) / 8);
	if (!number)
		return 0;
	tape = kipt_tape_at(&flow->memo, number);
	memset(tape, 0, sizeof(*tape));
	words = &flow->memo.tapes[number];
	at = KIPT_TAPE_WORDS;
	for (i = 0; i < pushes; i++)
		words[at++] = recorder->pushes[pushes - 1 - i];
	at = put_words(words, at, recorder->guards + KIPT_MEMO_GUARDS,
		       guards * sizeof(*words));
	at = put_words(words, at, recorder->records,
		       records * sizeof(*recorder->records));
	put_words(words, at, recorder->steps,
		  recorder->nr_steps * sizeof(*recorder->steps));
	tape->at = (u16)at;
	tape->records = (u16)records;
	tape->tail = (u32)recorder->tail;
	if (of_packet) {
		tape->steps = (u16)recorder->nr_steps;
	} else {
		tape->parts = (u8)recorder->nr_steps;
		memcpy(kipt_tape_upto(tape), recorder->upto, upto);
	}
	return number;
}

/* Sparse, because only entries cost cache lines: room is cheaper than the walk
 * of a window that had to go for another.
 */
static bool should_grow(const struct kipt_memo *memo,
			const struct kipt_memo_entry *pair)
{
	u32 load = memo->count * (pair[0].tag && pair[1].tag ? 16 : 4);

	return load >= memo->size && memo->size < memo->max;
}

/* Makes room: the pair's younger entry stands first. */
static struct kipt_memo_entry *make_room(struct kipt_flow *flow, u32 hash)
{
	struct kipt_memo_entry *pair = kipt_memo_pair(&flow->memo, hash);

	while (should_grow(&flow->memo, pair)) {
		kipt_memo_grow(&flow->memo);
		pair = kipt_memo_pair(&flow->memo, hash);
	}
	if (!pair[0].tag || !pair[1].tag)
		flow->memo.count++;
	else if (flow->counts.max)
		kipt_count_fold(flow, &pair[1]);
	if (pair[0].tag)
		pair[1] = pair[0];
	memset(pair, 0, sizeof(*pair));
	pair->hash = hash;
	return pair;
}

/* A window goes to its first pair if there is room. Packets alone are too much
 * alike for that.
 */
static struct kipt_memo_entry *
make_entry(struct kipt_flow *flow, const struct kipt_window *window, u32 hash,
	   const struct kipt_recorder *recorder)
{
	const struct kipt_memo_entry *pair = kipt_memo_pair(&flow->memo, hash);

	if (recorder == &flow->joined && (!pair[0].tag || !pair[1].tag))
		return make_room(flow, hash);
	return make_room(flow, kipt_memo_second(hash, window->tag,
						recorder->nr_guards ?
						recorder->guards[0] : 0));
}

static void fill_entry(struct kipt_memo_entry *entry,
		       const struct kipt_window *window,
		       const struct kipt_recorder *recorder)
{
	entry->key = window->key;
	entry->target = window->target;
	entry->tag = window->tag;
	entry->guard[0] = recorder->nr_guards ? recorder->guards[0] : 0;
	entry->guard[1] = recorder->nr_guards > 1 ? recorder->guards[1] : 0;
	entry->to = recorder->to;
	entry->tail = (u16)recorder->tail;
	entry->guards = (u8)recorder->nr_guards;
	entry->pushes = (u8)recorder->nr_pushes;
	entry->net = (s8)recorder->net;
	entry->low = (u8)recorder->low;
	entry->high = (u8)recorder->high;
	entry->records = (u8)(recorder->nr_records < 255 ?
			      recorder->nr_records : 255);
}

static void name_path(struct kipt_flow *flow, u32 number, u32 tail,
		      const struct kipt_record *records, u32 n)
{
	struct kipt_record record = {
		.type = KIPT_RECORD_PATH,
		.aux = number,
		.ip = tail,
		.value = n,
	};
	u32 i;

	kipt_emit_raw(flow, &record);
	for (i = 0; i < n; i++)
		kipt_emit_raw(flow, &records[i]);
}

/* A path of paths. */
static void name_parts(struct kipt_flow *flow, u32 number)
{
	struct kipt_recorder *recorder = &flow->joined;
	struct kipt_record *paths = recorder->records;
	u32 n = 0, i;

	for (i = 0; i < recorder->nr_steps; i++) {
		if (i % KIPT_RECORD_PATHS_MAX == 0) {
			memset(&paths[n], 0, sizeof(*paths));
			paths[n++].type = KIPT_RECORD_PATHS;
		}
		((u32 *)(void *)&paths[n - 1])[1 + paths[n - 1].kind++] =
			kipt_tape_at(&flow->memo, recorder->steps[i])->path;
	}
	name_path(flow, number, 0, paths, n);
}

static struct kipt_memo_entry *remember(struct kipt_flow *flow,
					const struct kipt_window *window,
					u32 hash,
					const struct kipt_recorder *recorder)
{
	struct kipt_memo_entry *entry;
	struct kipt_tape *tape;
	u32 number;

	if (recorder->bad || recorder->tail > 0xffff)
		return NULL;
	number = write_tape(flow, recorder);
	if (!number)
		return NULL;
	entry = make_entry(flow, window, hash, recorder);
	fill_entry(entry, window, recorder);
	entry->tape = number;
	if (!(flow->config.output & KIPT_FLOW_PATHS))
		return entry;
	tape = kipt_tape_at(&flow->memo, number);
	tape->path = entry->count = ++flow->memo.paths;
	if (recorder == &flow->recorder)
		name_path(flow, tape->path, entry->tail, recorder->records,
			  recorder->nr_records);
	else
		name_parts(flow, tape->path);
	return entry;
}

struct kipt_memo_entry *kipt_learn_packet(struct kipt_flow *flow,
					  const struct kipt_window *window,
					  u32 hash)
{
	struct kipt_recorder *recorder = &flow->recorder;
	u32 history_count = flow->history_count;
	struct kipt_memo_entry *entry = NULL;
	struct kipt_place start = flow->at;
	bool enabled = flow->enabled;

	start_recorder(recorder);
	recorder->on = true;
	recorder->from_kernel = enabled && flow->at.ip >> 63;
	flow->at.insns = 0;
	if (walk_packet(flow, window) && find_end(flow, window)) {
		recorder->tail = flow->at.insns;
		entry = remember(flow, window, hash, recorder);
	}
	recorder->on = false;
	flow->tnt.count = 0;
	flow->at = start;
	flow->enabled = enabled;
	flow->history_count = history_count;
	return entry;
}

void kipt_learn_begin(struct kipt_flow *flow)
{
	start_recorder(&flow->joined);
}

/* The return addresses a part takes: first those that parts before it left. */
static void add_pops(struct kipt_recorder *recorder, const u64 *guards,
		     u32 nr_guards, u32 pops)
{
	u32 i;

	for (i = 0; i < pops; i++) {
		if (recorder->nr_pushes)
			recorder->nr_pushes--;
		else if (i >= nr_guards)
			continue;
		else if (recorder->nr_guards == KIPT_TAPE_GUARDS)
			recorder->bad = true;
		else
			recorder->guards[recorder->nr_guards++] = guards[i];
	}
}

static s32 clamp(s32 value, s32 low, s32 high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

static void add_stack(struct kipt_recorder *recorder,
		      const struct kipt_memo_entry *entry,
		      const struct kipt_tape *tape)
{
	const u64 *pushes = kipt_tape_pushes(tape);
	u64 guards[KIPT_TAPE_GUARDS] = { entry->guard[0], entry->guard[1] };
	s32 pops = entry->pushes - entry->net;
	u32 i;

	for (i = KIPT_MEMO_GUARDS; i < entry->guards; i++)
		guards[i] = pushes[entry->pushes + i - KIPT_MEMO_GUARDS];
	if (entry->high)
		add_pops(recorder, guards, entry->guards,
			 pops > 0 ? (u32)pops : 0);
	else
		recorder->nr_pushes = 0;
	for (i = entry->pushes; i--;) {
		if (recorder->nr_pushes == KIPT_TAPE_PUSHES)
			recorder->bad = true;
		else
			recorder->pushes[recorder->nr_pushes++] = pushes[i];
	}
	recorder->low = clamp(recorder->low + entry->net, entry->low,
			      entry->high);
	recorder->high = clamp(recorder->high + entry->net, entry->low,
			       entry->high);
	recorder->net += entry->net;
}

/* The records of a part follow those before it; the first counts instructions
 * from before too.
 */
static void add_records(struct kipt_recorder *recorder,
			const struct kipt_tape *tape)
{
	const struct kipt_record *records = kipt_tape_records(tape);
	struct kipt_record *to;

	if (!tape->records)
		return;
	if (recorder->nr_records + tape->records > KIPT_TAPE_RECORDS ||
	    recorder->tail + records->aux >= 0xffffffffU) {
		recorder->bad = true;
		return;
	}
	to = &recorder->records[recorder->nr_records];
	memcpy(to, records, tape->records * sizeof(*to));
	to->aux += (u32)recorder->tail;
}

void kipt_learn_add(struct kipt_flow *flow, const struct kipt_memo_entry *entry)
{
	const struct kipt_tape *tape = kipt_tape_at(&flow->memo, entry->tape);
	struct kipt_recorder *recorder = &flow->joined;

	add_stack(recorder, entry, tape);
	add_records(recorder, tape);
	recorder->nr_records += entry->records;
	recorder->tail = entry->records ? entry->tail :
					  recorder->tail + entry->tail;
	recorder->to = entry->to;
	recorder->upto[recorder->nr_steps] = (u8)recorder->nr_records;
	recorder->steps[recorder->nr_steps++] = entry->tape;
}

void kipt_learn_end(struct kipt_flow *flow, const struct kipt_window *window,
		    u32 hash)
{
	struct kipt_recorder *recorder = &flow->joined;

	if (recorder->net < -KIPT_RETURN_STACK_SIZE)
		recorder->bad = true;
	remember(flow, window, hash, recorder);
}
