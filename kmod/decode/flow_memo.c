// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fast path: windows of trace bytes looked up in the memo. A window that is
 * not there is walked once by the slow path's own functions while the recorder
 * listens, so both say the same. What cannot be remembered is left to the slow
 * path. Runs where the callbacks may.
 */
#include "flow_state.h"

/* No address of code: the block number of "tracing is off". */
#define OFF_IP		(1ULL << 62)
/* kipt_memo_entry.to: off, or an address that depends on the space. */
#define TO_OFF		0U
#define TO_SPACE	0xffffffffU
/* Bytes behind the last window that looking at it may read. */
#define READ_AHEAD	32
/* What begins an IP packet that can end a window. */
#define IP_OPCODE	0x1f
#define OPC_TIP		0x0d
#define OPC_TIP_PGE	0x11
#define OPC_TIP_PGD	0x01

#define ONES(byte)	(0x0101010101010101ULL * (byte))

/**
 * struct ip_form - an IP payload by its IPBytes
 * @take: bits of the payload
 * @sign: the uppermost of them, where it is extended
 * @keep: bits of the IP before
 */
struct ip_form {
	u64 take;
	u64 sign;
	u64 keep;
};

static const struct ip_form ip_forms[8] = {
	[1] = { 0xffffULL, 0, ~0xffffULL },
	[2] = { 0xffffffffULL, 0, ~0xffffffffULL },
	[3] = { 0xffffffffffffULL, 1ULL << 47, 0 },
	[4] = { 0xffffffffffffULL, 0, ~0xffffffffffffULL },
	[6] = { ~0ULL, 0, 0 },
};

/* Bytes of the IP packet that starts with a byte; 0: another packet, or one
 * that never is in a window.
 */
#define IP_LENS(opcode) \
	[(opcode) | 1 << 5] = 3, [(opcode) | 2 << 5] = 5, \
	[(opcode) | 3 << 5] = 7, [(opcode) | 4 << 5] = 7, \
	[(opcode) | 6 << 5] = 9
static const u8 ip_lens[256] = {
	IP_LENS(OPC_TIP), IP_LENS(OPC_TIP_PGE), IP_LENS(OPC_TIP_PGD),
	[OPC_TIP_PGD] = 1,
};

static u64 load64(const u8 *at)
{
	u64 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* How many of the 8 bytes, from the lowest on, are short TNTs or PADs: even
 * and not 02.
 */
static u32 run_length(u64 word)
{
	u64 other = word ^ ONES(0x02);
	u64 is_two = ~(((other & ONES(0x7f)) + ONES(0x7f)) | other);
	u64 stop = (word << 7 | is_two) & ONES(0x80);

	return stop ? (u32)__builtin_ctzll(stop) >> 3 : 8;
}

/**
 * struct fast - the flow's state while the memo runs
 * @pos: next byte
 * @end: windows end before it
 * @block: number of the block execution is at, or of "off"
 * @off: number of "off" in this space
 * @last_ip: IP compression
 */
struct fast {
	const u8 *pos;
	const u8 *end;
	u32 block;
	u32 off;
	u64 last_ip;
};

static u32 number_at(struct kipt_flow *flow, u64 ip)
{
	return kipt_blocks_number(&flow->blocks,
				  ip >> 63 ? 0 : flow->at.space, ip,
				  flow->at.mode);
}

/* Returns the window's bytes, 0 if there is no packet of a window. */
static inline u32 read_window(const struct kipt_flow *flow,
			      const struct fast *fast,
			      struct kipt_window *window, u64 *last_ip)
{
	u64 word = load64(fast->pos);
	u32 run = run_length(word), len;
	u8 byte = fast->pos[run];
	const struct ip_form *form = &ip_forms[byte >> 5];
	u64 payload, target;

	len = ip_lens[byte];
	payload = load64(fast->pos + run + 1);
	target = ((payload & form->take) ^ form->sign) - form->sign;
	target |= *last_ip & form->keep;
	window->tag = fast->block;
	if (len) {
		window->tag |= (u64)byte << 32;
		window->target = form->take ? target : 0;
		*last_ip = form->take ? target : *last_ip;
	} else {
		window->target = 0;
	}
	window->key = run == 8 ? word : word & ((1ULL << run * 8) - 1);
	window->top = flow->compressed ?
		flow->stack.ip[(flow->stack.top - 1) % KIPT_RETURN_STACK_SIZE] :
		0;
	return run + len;
}

static bool more_guards(const struct kipt_flow *flow,
			const struct kipt_memo_entry *entry)
{
	const u64 *guards = kipt_tape_guards(&flow->memo, entry);
	u32 i;

	for (i = KIPT_MEMO_GUARDS; i < entry->guards; i++) {
		if (flow->stack.ip[(flow->stack.top - 1 - i) %
				   KIPT_RETURN_STACK_SIZE] !=
		    guards[i - KIPT_MEMO_GUARDS])
			return false;
	}
	return true;
}

static inline bool guards_hold(const struct kipt_flow *flow,
			       const struct kipt_memo_entry *entry)
{
	const struct kipt_return_stack *stack = &flow->stack;
	u64 first, second;

	if (!entry->guards)
		return true;
	first = stack->ip[(stack->top - 1) % KIPT_RETURN_STACK_SIZE];
	second = stack->ip[(stack->top - 2) % KIPT_RETURN_STACK_SIZE];
	if (stack->depth < entry->guards || first != entry->guard[0] ||
	    (entry->guards > 1 && second != entry->guard[1]))
		return false;
	return likely(entry->guards <= KIPT_MEMO_GUARDS) ||
	       more_guards(flow, entry);
}

static inline struct kipt_memo_entry *
find_entry(const struct kipt_flow *flow, const struct kipt_window *window)
{
	struct kipt_memo_entry *entry =
		kipt_memo_pair(&flow->memo, kipt_memo_hash(window));

	if (likely(kipt_memo_is(entry, window) && guards_hold(flow, entry)))
		return entry;
	entry++;
	if (kipt_memo_is(entry, window) && guards_hold(flow, entry))
		return entry;
	return NULL;
}

static inline void apply_stack(struct kipt_flow *flow,
			       const struct kipt_memo_entry *entry)
{
	struct kipt_return_stack *stack = &flow->stack;
	const u64 *pushes = kipt_tape_pushes(&flow->memo, entry);
	s32 depth = (s32)stack->depth + entry->net;
	u32 i;

	stack->top += (u32)entry->net;
	for (i = 0; i < entry->pushes; i++)
		stack->ip[(stack->top - 1 - i) % KIPT_RETURN_STACK_SIZE] =
			pushes[i];
	depth = depth < entry->low ? entry->low : depth;
	stack->depth = (u32)(depth > entry->high ? entry->high : depth);
}

/* How what happens is told. */
enum tell {
	TELL_RECORDS,
	TELL_PATHS,
	TELL_COUNTS,
};

static void tell_records(struct kipt_flow *flow,
			 const struct kipt_record *records, u32 n, u32 tail)
{
	struct kipt_record *out;
	u64 insns;

	if (!n) {
		flow->at.insns += tail;
		return;
	}
	out = kipt_emit_room(flow, n);
	memcpy(out, records, n * sizeof(*out));
	insns = flow->at.insns + out->aux;
	out->aux = insns < 0xffffffffU ? (u32)insns : 0xffffffffU;
	flow->at.insns = tail;
}

static inline void tell_path(struct kipt_flow *flow,
			     const struct kipt_memo_entry *entry)
{
	if (unlikely(flow->clock.moved && entry->records))
		kipt_emit_room(flow, 0);
	flow->paths.type = KIPT_RECORD_PATHS;
	((u32 *)(void *)&flow->paths)[1 + flow->nr_paths++] = entry->count;
	if (flow->nr_paths == KIPT_RECORD_PATHS_MAX)
		kipt_emit_paths(flow);
}

static inline void tell(struct kipt_flow *flow, struct kipt_memo_entry *entry,
			enum tell how)
{
	if (how == TELL_RECORDS)
		tell_records(flow, kipt_tape_records(&flow->memo, entry),
			     entry->records, entry->tail);
	else if (how == TELL_PATHS)
		tell_path(flow, entry);
	else
		entry->count++;
}

static inline void go(struct kipt_flow *flow, struct fast *fast,
		      const struct kipt_memo_entry *entry)
{
	u32 to = entry->to;

	if (unlikely(to == TO_OFF))
		to = fast->off;
	else if (unlikely(to == TO_SPACE))
		to = number_at(flow, entry->target);
	fast->block = to;
	flow->history[flow->history_count++ % KIPT_FLOW_HISTORY].tape =
		entry->tape;
}

/* Tries the window with the slow path's functions. What they would tell and
 * do to the return stack goes to the recorder. Returns true if the flow is
 * behind it now, and false if it is not where it was.
 */
static bool walk_window(struct kipt_flow *flow,
			const struct kipt_window *window)
{
	u32 i, bits;
	u8 byte = (u8)(window->tag >> 32);

	for (i = 0; i < 8; i++) {
		bits = window->key >> 8 * i & 0xff;
		if (!bits)
			continue;
		flow->tnt.bits = bits >> 1;
		flow->tnt.count = 30 - (u32)__builtin_clz(bits);
		if (!flow->enabled || kipt_walk_tnt(flow) != KIPT_OK ||
		    flow->tnt.count)
			return false;
	}
	switch (byte & IP_OPCODE) {
	case 0:
		return true;
	case OPC_TIP:
		return flow->enabled &&
		       kipt_walk_tip(flow, window->target) == KIPT_OK;
	case OPC_TIP_PGE:
		if (flow->enabled)
			return false;
		kipt_flow_resume(flow, KIPT_ENABLE_PGE, window->target);
		return true;
	default:
		if (!flow->enabled ||
		    kipt_walk_pgd(flow, byte != OPC_TIP_PGD,
				  window->target) != KIPT_OK)
			return false;
		kipt_flow_disable(flow);
		return true;
	}
}

static void start_recorder(struct kipt_flow *flow)
{
	struct kipt_recorder *recorder = &flow->recorder;

	recorder->on = true;
	recorder->bad = false;
	recorder->from_kernel = flow->enabled && flow->at.ip >> 63;
	recorder->net = 0;
	recorder->low = 0;
	recorder->high = KIPT_RETURN_STACK_SIZE;
	recorder->below = 0;
	recorder->nr_guards = 0;
	recorder->nr_pushes = 0;
	recorder->nr_records = 0;
	recorder->nr_steps = 0;
}

static u32 put_words(u64 *words, u32 at, const void *from, u32 bytes)
{
	memcpy(words + at, from, bytes);
	return at + (bytes + 7) / 8;
}

/* Returns the tape, 0 if there is no room: see struct kipt_tape. */
static u32 write_tape(struct kipt_flow *flow, bool keep_records)
{
	const struct kipt_recorder *recorder = &flow->recorder;
	u32 records = keep_records ? recorder->nr_records : 0;
	u32 pushes = recorder->nr_pushes, guards = 0, at = 1, tape, i;
	u64 *words;

	if (recorder->nr_guards > KIPT_MEMO_GUARDS)
		guards = recorder->nr_guards - KIPT_MEMO_GUARDS;
	tape = kipt_memo_tape(&flow->memo, 1 + pushes + guards + records * 3 +
			      (recorder->nr_steps + 1) / 2);
	if (!tape)
		return 0;
	words = &flow->memo.tapes[tape];
	for (i = 0; i < pushes; i++)
		words[at++] = recorder->pushes[pushes - 1 - i];
	at = put_words(words, at, recorder->guards + KIPT_MEMO_GUARDS,
		       guards * sizeof(*words));
	at = put_words(words, at, recorder->records,
		       records * sizeof(*recorder->records));
	words[0] = recorder->nr_steps | (u64)at << 32;
	put_words(words, at, recorder->steps,
		  recorder->nr_steps * sizeof(*recorder->steps));
	return tape;
}

static void name_path(struct kipt_flow *flow, u32 number, u32 tail)
{
	const struct kipt_recorder *recorder = &flow->recorder;
	struct kipt_record record = {
		.type = KIPT_RECORD_PATH,
		.aux = number,
		.ip = tail,
		.value = recorder->nr_records,
	};
	u32 i;

	kipt_emit_raw(flow, &record);
	for (i = 0; i < recorder->nr_records; i++)
		kipt_emit_raw(flow, &recorder->records[i]);
}

/* Where the window led; false if that depends on more than the window. */
static bool find_end(struct kipt_flow *flow, const struct kipt_window *window,
		     u32 *to)
{
	bool low = !(flow->at.ip >> 63);

	*to = TO_OFF;
	if (!flow->enabled)
		return true;
	*to = TO_SPACE;
	if (flow->recorder.from_kernel && low)
		return flow->at.ip == window->target;
	*to = number_at(flow, flow->at.ip);
	return *to != KIPT_BLOCK_NONE;
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

/* The pair's younger entry stands first. */
static struct kipt_memo_entry *make_entry(struct kipt_flow *flow,
					  const struct kipt_window *window)
{
	u64 hash = kipt_memo_hash(window);
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
	return pair;
}

static void fill_entry(struct kipt_memo_entry *entry,
		       const struct kipt_window *window,
		       const struct kipt_recorder *recorder)
{
	entry->key = window->key;
	entry->target = window->target;
	entry->tag = window->tag;
	entry->guard[0] = recorder->nr_guards ? recorder->guards[0] :
						window->top;
	entry->guard[1] = recorder->nr_guards > 1 ? recorder->guards[1] : 0;
	entry->guards = (u8)recorder->nr_guards;
	entry->pushes = (u8)recorder->nr_pushes;
	entry->net = (s8)recorder->net;
	entry->low = (u8)recorder->low;
	entry->high = (u8)recorder->high;
	entry->records = (u8)recorder->nr_records;
}

static struct kipt_memo_entry *remember(struct kipt_flow *flow,
					const struct kipt_window *window,
					enum tell how)
{
	struct kipt_memo_entry *entry;
	u64 tail = flow->at.insns;
	u32 to, tape;

	if (flow->recorder.bad || tail >> 32 ||
	    !find_end(flow, window, &to))
		return NULL;
	tape = write_tape(flow, how == TELL_RECORDS);
	if (!tape)
		return NULL;
	entry = make_entry(flow, window);
	fill_entry(entry, window, &flow->recorder);
	entry->to = to;
	entry->tape = tape;
	entry->tail = (u32)tail;
	if (how == TELL_PATHS) {
		entry->count = ++flow->memo.paths;
		name_path(flow, entry->count, entry->tail);
	}
	return entry;
}

/* Walks a window that is not in the memo. The flow is where it was afterwards;
 * NULL: what happens cannot be remembered.
 */
static struct kipt_memo_entry *learn(struct kipt_flow *flow,
				     const struct kipt_window *window,
				     enum tell how)
{
	struct kipt_place start = flow->at;
	u32 history_count = flow->history_count;
	struct kipt_memo_entry *entry = NULL;
	bool enabled = flow->enabled;

	start_recorder(flow);
	flow->at.insns = 0;
	if (walk_window(flow, window))
		entry = remember(flow, window, how);
	flow->recorder.on = false;
	flow->tnt.count = 0;
	flow->at = start;
	flow->enabled = enabled;
	flow->history_count = history_count;
	return entry;
}

static void enter(struct kipt_flow *flow, struct fast *fast)
{
	const u8 *data_end = flow->data + flow->size;
	const u8 *end = flow->cursor.end;

	if (data_end - end < READ_AHEAD)
		end = flow->size > READ_AHEAD ? data_end - READ_AHEAD :
						flow->cursor.pos;
	fast->pos = flow->cursor.pos;
	fast->end = end;
	fast->last_ip = flow->last_ip;
	fast->off = number_at(flow, OFF_IP);
	fast->block = flow->enabled ? number_at(flow, flow->at.ip) : fast->off;
}

/* The flow is where the block is. */
static void settle(struct kipt_flow *flow, const struct fast *fast)
{
	flow->cursor.pos = fast->pos;
	flow->last_ip = fast->last_ip;
	flow->enabled = fast->block != fast->off;
	if (flow->enabled)
		flow->at.ip = flow->blocks.table[fast->block].ip;
}

/* A packet that only tells time is read by the way. */
static bool take_time(struct kipt_flow *flow, struct fast *fast)
{
	struct kipt_packet packet;

	flow->cursor.pos = fast->pos;
	if (kipt_packet_next(&flow->cursor, &packet) != KIPT_OK ||
	    !kipt_packet_is_time(packet.type))
		return false;
	kipt_flow_on_time(flow, &packet);
	fast->pos = flow->cursor.pos;
	return true;
}

static struct kipt_memo_entry *missed(struct kipt_flow *flow, struct fast *fast,
				      const struct kipt_window *window,
				      u32 len, enum tell how)
{
	struct kipt_memo_entry *entry;

	settle(flow, fast);
	entry = learn(flow, window, how);
	if (!entry)
		flow->slow_until = fast->pos + len;
	return entry;
}

static inline void run(struct kipt_flow *flow, struct fast *fast, enum tell how)
{
	struct kipt_memo_entry *entry;
	struct kipt_window window;
	u64 last_ip;
	u32 len;

	while (fast->pos < fast->end && fast->block != KIPT_BLOCK_NONE &&
	       !flow->stopped) {
		last_ip = fast->last_ip;
		len = read_window(flow, fast, &window, &last_ip);
		if (fast->pos + len > fast->end)
			break;
		if (unlikely(!len)) {
			if (!take_time(flow, fast))
				break;
			continue;
		}
		if (unlikely(!window.key && !(window.tag >> 32))) {
			fast->pos += len;
			continue;
		}
		entry = find_entry(flow, &window);
		if (unlikely(!entry)) {
			entry = missed(flow, fast, &window, len, how);
			if (!entry)
				break;
		}
		fast->pos += len;
		fast->last_ip = last_ip;
		apply_stack(flow, entry);
		tell(flow, entry, how);
		go(flow, fast, entry);
	}
}

/* Instructions that no path tells of stand before the next. */
static void tell_untold(struct kipt_flow *flow)
{
	while (flow->at.insns) {
		kipt_emit_paths(flow);
		flow->paths.type = KIPT_RECORD_PATHS;
		flow->paths.flags = flow->at.insns < 0xffff ?
					    (u16)flow->at.insns : 0xffff;
		flow->at.insns -= flow->paths.flags;
	}
}

bool kipt_memo_may_run(const struct kipt_flow *flow)
{
	return flow->memo.max && flow->cursor.pos >= flow->slow_until &&
	       !flow->version && !flow->tnt.count && !flow->cursor.block &&
	       !flow->held_count && flow->lost == KIPT_LOST_NOT &&
	       flow->claim == KIPT_CLAIM_NONE &&
	       !(flow->event | flow->abort | flow->overflow | flow->echo |
		 flow->share | flow->tsx | flow->mode_pending |
		 flow->at.pip_pending);
}

void kipt_memo_run(struct kipt_flow *flow)
{
	struct fast fast;
	const u8 *start;

	if (flow->blocks.full || flow->memo.full || flow->counts.full)
		kipt_flow_renew(flow);
	enter(flow, &fast);
	start = fast.pos;
	if (fast.pos >= fast.end || fast.block == KIPT_BLOCK_NONE ||
	    fast.off == KIPT_BLOCK_NONE)
		return;
	if (flow->counts.max) {
		run(flow, &fast, TELL_COUNTS);
	} else if (flow->config.output & KIPT_FLOW_PATHS) {
		tell_untold(flow);
		run(flow, &fast, TELL_PATHS);
	} else {
		run(flow, &fast, TELL_RECORDS);
	}
	settle(flow, &fast);
	if (fast.pos != start)
		flow->previous = KIPT_PACKET_TNT;
}

/* Appends the blocks of a tape, the youngest first; false: older ones are of
 * another time.
 */
static bool trail_tape(const struct kipt_flow *flow, u32 number,
		       struct kipt_trail *trail, u32 *count)
{
	const struct kipt_block *block;
	struct kipt_tape tape;
	u32 step;

	kipt_tape_read(&flow->memo, number, &tape);
	while (tape.nr_steps && *count < KIPT_FLOW_HISTORY) {
		step = tape.steps[--tape.nr_steps];
		if (step & KIPT_STEP_START)
			return false;
		if (step & KIPT_STEP_EDGE)
			continue;
		block = &flow->blocks.table[step & KIPT_STEP_NUMBER];
		trail[*count].ip = block->ip;
		trail[*count].len = block->len;
		trail[*count].tape = 0;
		(*count)++;
	}
	return *count < KIPT_FLOW_HISTORY;
}

u32 kipt_trail_read(const struct kipt_flow *flow, struct kipt_trail *trail)
{
	u32 end = flow->history_count, count = 0, i;
	const struct kipt_trail *item;

	for (i = 1; i <= end && i <= KIPT_FLOW_HISTORY; i++) {
		item = &flow->history[(end - i) % KIPT_FLOW_HISTORY];
		if (item->tape) {
			if (!trail_tape(flow, item->tape, trail, &count))
				break;
		} else {
			trail[count++] = *item;
		}
		if (count == KIPT_FLOW_HISTORY)
			break;
	}
	return count;
}
