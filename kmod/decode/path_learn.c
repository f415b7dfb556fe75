// SPDX-License-Identifier: GPL-2.0-only
/*
 * Learning paths: the slow path uses a packet, and what it did is remembered. Runs where
 * the sink may.
 */
#include "emit.h"
#include "path_flow.h"

/* @from: of the packet at the cursor, KIPT_PATH_*; 0: paths are not for it. */
static u32 packet_from(const struct kipt_flow *flow, u32 block)
{
	u8 byte = *flow->cursor.pos;

	if (kipt_tnt_is_short(byte))
		return block << 8 | byte;
	switch (byte & KIPT_PATH_OPCODE) {
	case KIPT_PATH_TIP:
	case KIPT_PATH_PGE:
		return byte >> 5 ? block << 8 | (byte & KIPT_PATH_OPCODE) : 0;
	case KIPT_PATH_PGD:
		return block << 8 | (byte >> 5 ? KIPT_PATH_PGD : KIPT_PATH_PGD_NO_IP);
	default:
		return 0;
	}
}

bool kipt_path_watch(struct kipt_flow *flow)
{
	struct kipt_paths *paths = &flow->paths;

	if (!paths->start || flow->cursor.pos >= flow->cursor.end)
		return false;
	paths->start = packet_from(flow, paths->start);
	if (!paths->start)
		return false;
	if (flow->count > KIPT_FLOW_BUFFER - KIPT_PATH_RECORDS - 8)
		kipt_emit_give(flow);
	flow->mark = flow->count;
	paths->given = flow->given;
	paths->insns = flow->at.insns;
	paths->crossings = flow->crossings;
	paths->steps = flow->steps;
	flow->defining = flow->config.output & KIPT_FLOW_PATHS;
	flow->plain = true;
	kipt_return_stack_watch(&flow->stack);
	return true;
}

/* Number of the block the path ends at, or of the address of the packet; 0: it depends on
 * more than the block and the packet.
 */
static u32 find_end(struct kipt_flow *flow, u32 from)
{
	bool from_kernel = flow->blocks.ips[from >> 8] >> 63;
	u32 crossed = flow->crossings - flow->paths.crossings;
	u8 kind = (u8)from;

	if (kind == KIPT_PATH_PGD_NO_IP || kind == KIPT_PATH_PGD)
		return crossed ? 0 : kipt_number_at(flow, KIPT_OFF_IP);
	if (!flow->enabled)
		return 0;
	/* Which address space it is behind the kernel, a path cannot say unless it ends there. */
	if (crossed > 1 || (crossed && from_kernel && (kind != KIPT_PATH_TIP ||
						       flow->at.ip != flow->last_ip)))
		return 0;
	if (kind & 1 && flow->at.ip != flow->last_ip)
		return 0;
	return kipt_number_at(flow, flow->at.ip);
}

static u32 take_words(struct kipt_paths *paths, u32 words)
{
	u32 at = paths->used;

	if (words > paths->room - at) {
		paths->full = true;
		return 0;
	}
	paths->used += words;
	return at;
}

static bool more_effect(struct kipt_flow *flow, u32 *effect)
{
	const struct kipt_stack_watch *watch = &flow->stack.watch;
	u32 pushes = (u32)(watch->net + (s32)watch->below), i, at;
	struct kipt_stack_effect *more;

	if (pushes > 32)
		return false;
	at = take_words(&flow->paths, 1 + pushes + watch->nr_guards);
	if (!at)
		return false;
	more = (void *)&flow->paths.words[at];
	more->net = (s8)watch->net;
	more->low = (u8)watch->low;
	more->high = (u8)watch->high;
	more->guards = (u8)watch->nr_guards;
	more->pushes = (u8)pushes;
	for (i = 0; i < pushes; i++)
		more->ips[i] = *kipt_return_stack_at(&flow->stack, i);
	for (i = 0; i < watch->nr_guards; i++)
		more->ips[pushes + i] = watch->guards[i];
	*effect = KIPT_STACK_MORE << KIPT_STACK_SHIFT | at;
	return true;
}

static bool numbered_effect(struct kipt_flow *flow, enum kipt_stack_kind kind, u64 ip,
			    u32 *effect)
{
	u32 number = kipt_number_at(flow, ip);

	*effect = (u32)kind << KIPT_STACK_SHIFT | number;
	return number != KIPT_BLOCK_NONE;
}

static bool find_effect(struct kipt_flow *flow, u32 *effect)
{
	const struct kipt_stack_watch *watch = &flow->stack.watch;
	u32 pushes = (u32)(watch->net + (s32)watch->below);

	if (watch->bad)
		return false;
	if (watch->cleared) {
		if (!watch->net && !watch->below && (u8)flow->paths.start == KIPT_PATH_PGD)
			return numbered_effect(flow, KIPT_STACK_CLEAR, flow->last_ip, effect);
		*effect = KIPT_STACK_CLEAR << KIPT_STACK_SHIFT;
		return !watch->net && !watch->below;
	}
	if (!watch->below && !pushes) {
		*effect = KIPT_STACK_SAME << KIPT_STACK_SHIFT |
			  (KIPT_RETURN_STACK_SIZE - watch->high);
		return true;
	}
	if (!watch->below && pushes == 1 && watch->high == KIPT_RETURN_STACK_SIZE)
		return numbered_effect(flow, KIPT_STACK_PUSH,
				       *kipt_return_stack_at(&flow->stack, 0), effect);
	if (watch->below == 1 && !pushes && watch->high == KIPT_RETURN_STACK_SIZE - 1) {
		if (watch->nr_guards)
			return numbered_effect(flow, KIPT_STACK_RET,
					       watch->guards[0], effect);
		*effect = KIPT_STACK_DROP << KIPT_STACK_SHIFT;
		return true;
	}
	return more_effect(flow, effect);
}

/* The oldest address a path takes from the stack; false if there is none. */
static bool first_guard(const struct kipt_flow *flow, u32 effect, u64 *ip)
{
	const struct kipt_stack_effect *more;

	if (effect >> KIPT_STACK_SHIFT == KIPT_STACK_RET) {
		*ip = flow->blocks.ips[effect & KIPT_STACK_ARGUMENT];
		return true;
	}
	if (effect >> KIPT_STACK_SHIFT != KIPT_STACK_MORE)
		return false;
	more = kipt_path_more(&flow->paths, effect);
	*ip = more->guards ? more->ips[more->pushes] : 0;
	return more->guards;
}

/* What a path is found by. */
static u64 hash_of(const struct kipt_flow *flow, const struct kipt_path *path)
{
	const u64 *ips = flow->blocks.ips;
	u64 ip;

	if ((u8)path->from == KIPT_PATH_PGD)
		return kipt_path_hash_ip(path->from, ips[path->effect & KIPT_STACK_ARGUMENT]);
	if (path->from & 1)
		return kipt_path_hash_ip(path->from, ips[path->to]);
	if (first_guard(flow, path->effect, &ip))
		return kipt_path_hash_ip(path->from, ip);
	return kipt_path_hash(path->from);
}

static void enter(struct kipt_flow *flow, u32 number)
{
	struct kipt_paths *paths = &flow->paths;
	struct kipt_path_slot *slot = kipt_paths_first(paths,
					hash_of(flow, &paths->at[number]));

	while (slot->number)
		slot = kipt_paths_next(paths, slot);
	slot->from = paths->at[number].from;
	slot->number = number;
}

static void put(struct kipt_flow *flow, const struct kipt_path *path)
{
	struct kipt_paths *paths = &flow->paths;
	u32 number = paths->count, i;

	if (number == paths->max) {
		paths->full = true;
		return;
	}
	paths->at[number] = *path;
	paths->count++;
	if (paths->count * 2 > paths->size && paths->size < paths->most) {
		paths->size *= 2;
		memset(paths->slots, 0, sizeof(*paths->slots) * paths->size);
		for (i = 1; i < number; i++)
			enter(flow, i);
	}
	enter(flow, number);
	paths->last = number;
}

/* The records since the packet began; NULL if they are not there any more, or too many. */
static struct kipt_record *find_records(struct kipt_flow *flow, u32 *n)
{
	u32 at = flow->mark;

	if (flow->given != flow->paths.given)
		return NULL;
	while (at < flow->count && (flow->records[at].type == KIPT_RECORD_TIME ||
				    flow->records[at].type == KIPT_RECORD_PATHS))
		at++;
	*n = flow->count - at;
	return *n <= KIPT_PATH_RECORDS ? &flow->records[at] : NULL;
}

/* Records of @path begin with those since the packet began. */
static bool name_path(struct kipt_flow *flow, struct kipt_path *path)
{
	struct kipt_record *records;
	u32 n;

	records = find_records(flow, &n);
	if (!records || flow->at.insns > 0xffffffffU)
		return false;
	memmove(records + 1, records, n * sizeof(*records));
	path->told = ++flow->paths.numbers | (n ? KIPT_PATH_TELLS : 0);
	*records = (struct kipt_record){
		.type = KIPT_RECORD_PATH,
		.aux = flow->paths.numbers,
		.ip = flow->at.insns,
		.value = n,
	};
	flow->at.insns = 0;
	flow->count++;
	kipt_emit_path(flow, flow->paths.numbers);
	return true;
}

static bool keep_records(struct kipt_flow *flow, struct kipt_path *path)
{
	struct kipt_paths *paths = &flow->paths;
	struct kipt_record *records, *kept;
	u64 tail;
	u32 n, at;

	records = find_records(flow, &n);
	if (!records || (n && records->aux == 0xffffffffU))
		return false;
	tail = flow->at.insns - (n ? 0 : paths->insns);
	if (tail > 0xffffffffU)
		return false;
	at = take_words(paths, 1 + n * 3);
	if (!at)
		return false;
	paths->words[at] = n | tail << 32;
	kept = (void *)&paths->words[at + 1];
	memcpy(kept, records, n * sizeof(*records));
	if (n)
		kept->aux -= (u32)paths->insns;
	path->told = at;
	return true;
}

static bool tell_path(struct kipt_flow *flow, struct kipt_path *path)
{
	if (flow->counts.max)
		return true;
	if (flow->config.output & KIPT_FLOW_PATHS)
		return name_path(flow, path);
	return keep_records(flow, path);
}

void kipt_path_learn(struct kipt_flow *flow)
{
	struct kipt_paths *paths = &flow->paths;
	struct kipt_path path = { .from = paths->start };

	flow->defining = false;
	if (flow->plain && !flow->blocks.full && kipt_path_may_run(flow) &&
	    flow->steps - paths->steps <= KIPT_PATH_STEPS) {
		path.to = find_end(flow, path.from);
		if (path.to && find_effect(flow, &path.effect) &&
		    tell_path(flow, &path)) {
			put(flow, &path);
			return;
		}
	}
	kipt_emit_untold(flow);
}
