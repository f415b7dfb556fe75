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
	u8 byte = *flow->input.cursor.pos;

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

	if (!paths->start || flow->input.cursor.pos >= flow->input.cursor.end)
		return false;
	paths->start = packet_from(flow, paths->start);
	if (!paths->start)
		return false;
	if (flow->output.count > KIPT_FLOW_BUFFER - KIPT_PATH_RECORDS - 8)
		kipt_emit_give(flow);
	flow->output.mark = flow->output.count;
	paths->given = flow->output.given;
	paths->crossings = flow->walk.crossings;
	paths->steps = flow->walk.steps;
	flow->output.defining = true;
	flow->output.plain = true;
	kipt_return_stack_watch(&flow->walk.stack);
	return true;
}

/* Number of the block at hand. The block before has a link that mostly leads there; it does
 * from now on.
 */
static u32 number_here(struct kipt_flow *flow)
{
	u64 space = flow->at.ip >> 63 ? 0 : flow->at.space;

	if (!*flow->walk.link || !kipt_block_is(&flow->blocks.table[*flow->walk.link], space,
						flow->at.ip, flow->at.mode))
		*flow->walk.link = kipt_number_at(flow, flow->at.ip);
	return *flow->walk.link;
}

/* Number of the block the path ends at; 0: it depends on more than the block and the
 * packet. The address of an IP packet goes to @path.
 */
static u32 find_end(struct kipt_flow *flow, struct kipt_path *path)
{
	bool from_kernel = flow->blocks.ips[path->from >> 8] >> 63;
	u32 crossed = flow->walk.crossings - flow->paths.crossings;
	u8 kind = (u8)path->from;

	if (kind & 1)
		path->ips[1] = flow->input.last_ip;
	if (kind == KIPT_PATH_PGD_NO_IP || kind == KIPT_PATH_PGD)
		return crossed ? 0 : kipt_number_at(flow, KIPT_OFF_IP);
	if (!flow->state.enabled)
		return 0;
	/* Which address space it is behind the kernel, a path cannot say unless it ends there. */
	if (crossed > 1 || (crossed && from_kernel && (kind != KIPT_PATH_TIP ||
						       flow->at.ip != flow->input.last_ip)))
		return 0;
	if (kind & 1 && flow->at.ip != flow->input.last_ip)
		return 0;
	if (kind & 1 && from_kernel && !(flow->at.ip >> 63))
		path->shape |= KIPT_SHAPE_SPACE;
	return number_here(flow);
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

/* Room for the addresses of @path; NULL: there is none. */
static u64 *take_ips(struct kipt_paths *paths, struct kipt_path *path, u32 guards, u32 pushes)
{
	u32 room = path->from & 1 ? 1 : 2, at;
	struct kipt_path_more *more;

	if (guards + pushes <= room) {
		path->shape |= guards ? KIPT_SHAPE_GUARD : 0;
		path->shape |= guards > 1 ? KIPT_SHAPE_GUARDS : 0;
		path->shape |= pushes ? KIPT_SHAPE_PUSH : 0;
		path->shape |= pushes > 1 ? KIPT_SHAPE_PUSHES : 0;
		return path->ips;
	}
	at = take_words(paths, 1 + guards + pushes);
	if (!at)
		return NULL;
	path->shape |= KIPT_SHAPE_MORE;
	path->ips[0] = at;
	more = (void *)&paths->words[at];
	more->guards = guards;
	more->pushes = pushes;
	return more->ips;
}

/* What the packet did to the return stack. Returns false if a path cannot say it. */
static bool find_stack(struct kipt_flow *flow, struct kipt_path *path)
{
	const struct kipt_stack_watch *watch = &flow->walk.stack.watch;
	u32 pushes = (u32)(watch->net + (s32)watch->below), i;
	u64 *ips;

	if (watch->bad || pushes > 32 || watch->below > 64)
		return false;
	path->net = (s8)watch->net;
	path->low = (u8)watch->low;
	path->high = (u8)watch->high;
	if (watch->cleared) {
		path->low = 0;
		path->high = 0;
		path->shape |= KIPT_SHAPE_CLEARS;
		if (watch->net || watch->below)
			return false;
	}
	ips = take_ips(&flow->paths, path, watch->nr_guards, pushes);
	if (!ips)
		return false;
	for (i = 0; i < watch->nr_guards; i++)
		*ips++ = watch->guards[i];
	for (i = 0; i < pushes; i++)
		*ips++ = *kipt_return_stack_at(&flow->walk.stack, i);
	return true;
}

/* The records since the packet began; NULL if they are not there any more, or too many. */
static struct kipt_record *find_records(struct kipt_flow *flow, u32 *n)
{
	u32 at = flow->output.mark;

	if (flow->output.given != flow->paths.given)
		return NULL;
	while (at < flow->output.count && (flow->output.records[at].type == KIPT_RECORD_TIME ||
					   flow->output.records[at].type == KIPT_RECORD_PATHS))
		at++;
	*n = flow->output.count - at;
	return *n <= KIPT_PATH_RECORDS ? &flow->output.records[at] : NULL;
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
	flow->output.count++;
	kipt_emit_path(flow, flow->paths.numbers);
	return true;
}

void kipt_path_learn(struct kipt_flow *flow)
{
	struct kipt_paths *paths = &flow->paths;
	struct kipt_path path = { .from = paths->start };
	u32 used = paths->used;

	flow->output.defining = false;
	if (flow->output.plain && !flow->blocks.full && kipt_path_may_run(flow) &&
	    flow->walk.steps - paths->steps <= KIPT_PATH_STEPS) {
		path.to = find_end(flow, &path);
		if (path.to && find_stack(flow, &path) && !kipt_paths_alike(paths, &path) &&
		    name_path(flow, &path)) {
			kipt_paths_put(paths, &path);
			return;
		}
	}
	paths->used = used;
	kipt_emit_untold(flow);
}
