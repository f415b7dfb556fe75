// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the memo does not know yet. A single packet is walked by the slow path's
 * own functions while the recorder listens, so both say the same; a window of
 * several is put together from the ways of its packets. Runs where the
 * callbacks may.
 */
#include "flow_state.h"
#include "window.h"

static void start_recorder(const struct kipt_flow *flow,
			   struct kipt_recorder *recorder, u32 block)
{
	recorder->bad = false;
	recorder->keeps = !(flow->config.output &
			    (KIPT_FLOW_PATHS | KIPT_FLOW_COUNTS));
	recorder->block = block;
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
		kipt_flow_enable(flow, KIPT_ENABLE_PGE, target);
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
	u8 byte = (u8)window->words[0];

	if (byte & 1)
		return walk_ip(flow, byte, kipt_window_target(window));
	flow->tnt.bits = byte >> 1;
	flow->tnt.count = 30 - (u32)__builtin_clz(byte);
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
		return window->words[0] & 1 &&
		       flow->at.ip == kipt_window_target(window);
	recorder->to = kipt_number_at(flow, flow->at.ip);
	return recorder->to != KIPT_BLOCK_NONE;
}

static u32 put_words(u64 *words, u32 at, const void *from, u32 bytes)
{
	memcpy(words + at, from, bytes);
	return at + (bytes + 7) / 8;
}

/* Words of what a way is made of, but its list. */
static u32 words_before_list(const struct kipt_window *window,
			     const struct kipt_recorder *recorder, u32 records,
			     u8 kind)
{
	return (window->len + 7) / 8 + recorder->nr_pushes +
	       recorder->nr_guards + records * 3 + 2 * kind;
}

static void write_words(const struct kipt_memo *memo, struct kipt_way *way,
			const struct kipt_window *window,
			const struct kipt_recorder *recorder, u32 records)
{
	u32 at = 0, pushes = recorder->nr_pushes, i;

	for (i = 0; i < pushes; i++)
		way->words[at++] = recorder->pushes[pushes - 1 - i];
	at = put_words(way->words, at, recorder->guards,
		       recorder->nr_guards * sizeof(u64));
	at = put_words(way->words, at, window->words, (window->len + 7) & ~7U);
	if (way->kind == KIPT_WAY_WINDOW) {
		way->words[at++] = recorder->before;
		way->words[at++] = recorder->after;
	}
	at = put_words(way->words, at, recorder->records,
		       records * sizeof(*recorder->records));
	if (way->kind == KIPT_WAY_WINDOW)
		kipt_way_put_parts(memo, way, recorder->steps);
	else
		put_words(way->words, at, recorder->steps,
			  recorder->nr_steps * sizeof(*recorder->steps));
}

/* Returns NULL if there is no room. */
static struct kipt_way *write_way(struct kipt_flow *flow,
				  const struct kipt_window *window,
				  const struct kipt_recorder *recorder)
{
	u32 records = recorder->keeps ? recorder->nr_records : 0;
	u8 kind = recorder == &flow->recorder ? KIPT_WAY_PACKET :
						KIPT_WAY_WINDOW;
	struct kipt_way head = {
		.block = recorder->block,
		.to = recorder->to,
		.tail = (u16)recorder->tail,
		.len = (u8)window->len,
		.guards = (u8)recorder->nr_guards,
		.pushes = (u8)recorder->nr_pushes,
		.net = (s8)recorder->net,
		.low = (u8)recorder->low,
		.high = (u8)recorder->high,
		.records = (u16)recorder->nr_records,
		.at = (u16)words_before_list(window, recorder, records, kind),
		.listed = (u16)recorder->nr_steps,
		.kind = kind,
		.own = recorder->keeps,
		.keeps = window->keeps,
	};
	struct kipt_way *way;
	u32 number;

	number = kipt_memo_room(&flow->memo, kipt_way_size(&flow->memo, &head),
				head.kind);
	if (!number)
		return NULL;
	way = kipt_way_at(&flow->memo, number);
	*way = head;
	write_words(&flow->memo, way, window, recorder, records);
	return way;
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

/* Appends a number to PATHS records, of which there are @n. Returns how many
 * there are then.
 */
static u32 append_path(struct kipt_record *paths, u32 n, u64 path)
{
	if (!n || paths[n - 1].kind == KIPT_RECORD_PATHS_MAX) {
		memset(&paths[n], 0, sizeof(*paths));
		paths[n++].type = KIPT_RECORD_PATHS;
	}
	((u32 *)(void *)&paths[n - 1])[1 + paths[n - 1].kind++] = (u32)path;
	return n;
}

/* A path of paths. */
static void name_parts(struct kipt_flow *flow, const struct kipt_way *way,
		       struct kipt_record *paths)
{
	u32 n = 0, i;

	for (i = 0; i < way->listed; i++)
		n = append_path(paths, n,
				kipt_way_part(&flow->memo, way, i)->count);
	name_path(flow, (u32)way->count, 0, paths, n);
}

static void name(struct kipt_flow *flow, struct kipt_way *way,
		 struct kipt_recorder *recorder)
{
	way->count = ++flow->memo.paths;
	if (way->kind)
		name_parts(flow, way, recorder->records);
	else
		name_path(flow, (u32)way->count, way->tail, recorder->records,
			  recorder->nr_records);
}

/* A window stands by what is in it if there is room. Packets alone are too much
 * alike for that.
 */
static struct kipt_way *remember(struct kipt_flow *flow,
				 const struct kipt_window *window,
				 struct kipt_recorder *recorder)
{
	u64 top = recorder->nr_guards ? recorder->guards[0] : 0;
	struct kipt_way *way;

	if (recorder->bad || recorder->tail > 0xffff ||
	    recorder->nr_records > 0xffff)
		return NULL;
	way = write_way(flow, window, recorder);
	if (!way)
		return NULL;
	way->hash = way->kind ? window->hash : 0;
	kipt_memo_put(&flow->memo, way,
		      kipt_memo_second(window->hash, recorder->block, top));
	if (flow->config.output & KIPT_FLOW_PATHS)
		name(flow, way, recorder);
	return way;
}

struct kipt_way *kipt_learn_packet(struct kipt_flow *flow,
				   const struct kipt_window *window, u32 block)
{
	struct kipt_recorder *recorder = &flow->recorder;
	u32 history_count = flow->history_count;
	struct kipt_place start = flow->at;
	bool enabled = flow->enabled;
	struct kipt_way *way = NULL;

	start_recorder(flow, recorder, block);
	recorder->on = true;
	recorder->from_kernel = enabled && flow->at.ip >> 63;
	flow->at.insns = 0;
	if (walk_packet(flow, window) && find_end(flow, window)) {
		recorder->tail = flow->at.insns;
		way = remember(flow, window, recorder);
	}
	recorder->on = false;
	flow->tnt.count = 0;
	flow->at = start;
	flow->enabled = enabled;
	flow->history_count = history_count;
	return way;
}

/* Is a block one that all spaces share? */
static bool is_shared(const struct kipt_flow *flow, u32 block)
{
	return flow->blocks.table[block].ip >> 63;
}

void kipt_learn_begin(struct kipt_flow *flow, u32 block, u64 last_ip)
{
	struct kipt_recorder *recorder = &flow->joined;

	start_recorder(flow, recorder, block);
	recorder->before = last_ip;
	recorder->from_kernel = is_shared(flow, block);
	/* It can do with those of its packets. */
	if (flow->memo.used > flow->memo.room / 16)
		recorder->keeps = false;
}

/* The address that a RET of a part goes to is one from before the window. Guards
 * are the youngest of these: none may have been dropped before.
 */
static void add_guard(struct kipt_recorder *recorder, u64 ip)
{
	if (recorder->below != recorder->nr_guards ||
	    recorder->nr_guards == KIPT_WAY_GUARDS)
		recorder->bad = true;
	else
		recorder->guards[recorder->nr_guards++] = ip;
}

/* The return addresses a part takes: first those that parts before it left. */
static void add_pops(struct kipt_recorder *recorder, const u64 *guards,
		     u32 nr_guards, u32 pops)
{
	u32 i;

	for (i = 0; i < pops; i++) {
		if (recorder->nr_pushes) {
			recorder->nr_pushes--;
			continue;
		}
		if (i < nr_guards)
			add_guard(recorder, guards[i]);
		recorder->below++;
	}
}

static s32 clamp(s32 value, s32 low, s32 high)
{
	if (value < low)
		return low;
	return value > high ? high : value;
}

static void add_stack(struct kipt_recorder *recorder,
		      const struct kipt_way *entry)
{
	const u64 *pushes = kipt_way_pushes(entry);
	s32 pops = entry->pushes - entry->net;
	u32 i;

	if (entry->high)
		add_pops(recorder, pushes + entry->pushes, entry->guards,
			 pops > 0 ? (u32)pops : 0);
	else
		recorder->nr_pushes = 0;
	for (i = entry->pushes; i--;) {
		if (recorder->nr_pushes == KIPT_WAY_PUSHES)
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

/* The records of a way follow those before it; the first counts instructions
 * from before too.
 */
static void add_records(struct kipt_recorder *recorder,
			const struct kipt_way *way)
{
	struct kipt_record *to;

	if (recorder->nr_records + way->records > KIPT_WAY_RECORDS ||
	    recorder->tail + kipt_way_records(way)->aux >= 0xffffffffU) {
		recorder->keeps = false;
		return;
	}
	to = &recorder->records[recorder->nr_records];
	memcpy(to, kipt_way_records(way), way->records * sizeof(*to));
	to->aux += (u32)recorder->tail;
}

/* A way that starts where all spaces share code may not lead through what each
 * has of its own.
 */
void kipt_learn_add(struct kipt_flow *flow, const struct kipt_way *way)
{
	struct kipt_recorder *recorder = &flow->joined;

	if (recorder->from_kernel && !is_shared(flow, way->block))
		recorder->bad = true;
	if (recorder->bad)
		return;
	add_stack(recorder, way);
	if (way->records && recorder->keeps)
		add_records(recorder, way);
	recorder->steps[recorder->nr_steps++] =
		kipt_way_number(&flow->memo, way);
	recorder->nr_records += way->records;
	recorder->tail = way->records ? way->tail : recorder->tail + way->tail;
	recorder->to = way->to;
}

struct kipt_way *kipt_learn_end(struct kipt_flow *flow,
				const struct kipt_window *window, u64 last_ip)
{
	struct kipt_recorder *recorder = &flow->joined;

	recorder->after = last_ip;
	if (recorder->net < -KIPT_RETURN_STACK_SIZE)
		recorder->bad = true;
	return remember(flow, window, recorder);
}
