// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines from records, see excerpt_lines.h. Returns are held against the
 * addresses behind calls: what does not fit is a thunk, a trampoline, or
 * another stack, and never taken for the return of the innermost call. Any
 * context.
 */
#include "excerpt_lines.h"

/* An instruction has no more bytes, and a thunk's call goes no further. */
#define INSN_BYTES	15U
#define THUNK_BYTES	64U
/* Open calls that a return is looked for in. */
#define LOOK_MOST	64U
/* Lines that may repeat together: of calls that returned, and in the end. */
#define PERIOD_MOST	4U
#define PERIOD_MOST_SHOWN	8U

static bool is_kernel(u64 ip)
{
	return ip >> 63;
}

void kipt_excerpt_lines_init(struct kipt_excerpt_lines *list,
			     struct kipt_excerpt_line *memory, u32 room)
{
	memset(list, 0, sizeof(*list));
	list->lines = memory;
	list->room = room;
	list->top = -1;
	list->strange = -1;
}

static bool same_line(const struct kipt_excerpt_line *a,
		      const struct kipt_excerpt_line *b)
{
	return a->kind == b->kind && a->ip == b->ip && a->site == b->site &&
	       a->gap == b->gap && a->open == b->open && a->left == b->left;
}

/* Do the last @period lines before @end say what those before them do? */
static bool repeats(const struct kipt_excerpt_line *end, u32 period)
{
	const struct kipt_excerpt_line *line = end - period;
	s32 deeper = line->depth - (line - period)->depth;
	bool open = false;

	for (; line < end; line++) {
		if (!same_line(line, line - period) ||
		    line->depth - (line - period)->depth != deeper)
			return false;
		open |= line->open;
	}
	return open || !deeper;
}

static void add_up(u32 *sum, u32 more)
{
	*sum = *sum + more < *sum ? ~0U : *sum + more;
}

static void merge(struct kipt_excerpt_line *end, u32 period)
{
	struct kipt_excerpt_line *line;

	for (line = end - period; line < end; line++) {
		add_up(&(line - period)->times, line->times);
		add_up(&(line - period)->calls, line->calls);
		add_up(&(line - period)->dropped, line->dropped);
	}
}

/* Calls that returned, at the end of the list. */
static void fold_returned(struct kipt_excerpt_lines *list)
{
	s32 first = list->top + 1;
	u32 period, n;

	if (first < (s32)list->segment)
		first = (s32)list->segment;
	n = list->count - (u32)first;
	for (period = 1; period <= PERIOD_MOST && 2 * period <= n; period++) {
		if (!repeats(list->lines + list->count, period))
			continue;
		merge(list->lines + list->count, period);
		list->count -= period;
		break;
	}
}

static u32 calls_of(const struct kipt_excerpt_line *line)
{
	u32 calls = line->calls;

	if (line->kind != KIPT_EXCERPT_LOCAL &&
	    line->kind != KIPT_EXCERPT_STACK)
		add_up(&calls, line->times);
	add_up(&calls, line->dropped);
	return calls;
}

static u32 calls_from(const struct kipt_excerpt_lines *list, u32 first)
{
	u32 calls = 0, i;

	for (i = first; i < list->count; i++)
		add_up(&calls, calls_of(&list->lines[i]));
	return calls;
}

/* The first line of those open, or of those not, so that @most are left. */
static u32 first_of(const struct kipt_excerpt_lines *list, bool open, u32 most)
{
	u32 i = list->count;

	while (i && (list->lines[i - 1].open != open || most)) {
		i--;
		most -= list->lines[i].open == open;
	}
	return i;
}

/*
 * What goes is told by the line before it, which is the call it was made in.
 * Of a recursion that has no room the oldest call that has counts the others.
 */
static void drop(struct kipt_excerpt_lines *list,
		 const struct kipt_excerpt_line *line, u32 kept,
		 struct kipt_excerpt_line *outer)
{
	if (line->open)
		*outer = *line;
	else if (kept && list->lines[kept - 1].open)
		add_up(&list->lines[kept - 1].dropped, calls_of(line));
}

static void link_lines(struct kipt_excerpt_lines *list, u32 segment)
{
	u32 i;

	list->top = -1;
	list->segment = segment;
	list->strange = -1;
	for (i = 0; i < list->count; i++) {
		list->lines[i].below = list->top;
		if (!list->lines[i].open)
			continue;
		list->top = (s32)i;
		if (list->lines[i].kind == KIPT_EXCERPT_STACK)
			list->strange = (s32)i;
	}
}

static void keep(struct kipt_excerpt_lines *list, u32 most_open, u32 most_other)
{
	u32 first_open = first_of(list, true, most_open);
	u32 first_other = first_of(list, false, most_other);
	struct kipt_excerpt_line outer = { .open = false };
	u32 i, kept = 0, segment = 0;

	for (i = 0; i < list->count; i++) {
		struct kipt_excerpt_line *line = &list->lines[i];

		if (i == list->segment)
			segment = kept;
		if (i < (line->open ? first_open : first_other)) {
			u32 times = outer.open && same_line(&outer, line) ?
				    outer.times : 0;

			drop(list, line, kept, &outer);
			if (line->open)
				add_up(&outer.times, times);
			continue;
		}
		if (line->open && outer.open) {
			if (same_line(&outer, line))
				add_up(&line->times, outer.times);
			outer.open = false;
		}
		list->lines[kept++] = *line;
	}
	if (list->segment >= list->count)
		segment = kept;
	list->count = kept;
	link_lines(list, segment);
}

static struct kipt_excerpt_line *append(struct kipt_excerpt_lines *list, u8 kind,
					u64 ip, u64 site)
{
	struct kipt_excerpt_line *line;

	if (list->count == list->room)
		keep(list, list->room / 2, list->room / 4);
	line = &list->lines[list->count++];
	*line = (struct kipt_excerpt_line){
		.ip = ip,
		.site = site,
		.time = list->time,
		.times = 1,
		.depth = list->depth,
		.below = list->top,
		.kind = kind,
	};
	list->nr_jumps = 0;
	return line;
}

static void push(struct kipt_excerpt_lines *list, u8 kind, u64 ip, u64 site)
{
	append(list, kind, ip, site)->open = true;
	list->top = (s32)list->count - 1;
	list->depth++;
}

/* The system call of an entry is two calls below it, with all it does. */
static void name_entry(struct kipt_excerpt_lines *list,
		       const struct kipt_excerpt_line *line)
{
	struct kipt_excerpt_line *entry;
	s32 i = line->below;

	i = i < 0 ? i : list->lines[i].below;
	if (i < 0 || list->lines[i].kind != KIPT_EXCERPT_ENTRY ||
	    line->kind != KIPT_EXCERPT_CALL)
		return;
	entry = &list->lines[i];
	if (line->calls < entry->most)
		return;
	entry->most = line->calls + 1;
	entry->site = line->jumped ? line->jumped : line->ip;
}

/* An open line returns, and with it all behind it. */
static void pop(struct kipt_excerpt_lines *list, u32 index)
{
	struct kipt_excerpt_line *line = &list->lines[index];

	add_up(&line->calls, calls_from(list, index + 1));
	add_up(&line->calls, line->dropped);
	line->dropped = 0;
	list->count = index + 1;
	list->depth = line->depth;
	list->nr_jumps = 0;
	if (list->strange >= (s32)index)
		list->strange = -1;
	if (line->times > 1) {
		/* One of those that it stands for. */
		line->times--;
		add_up(&line->calls, 1);
		list->top = (s32)index;
		list->depth++;
		return;
	}
	line->open = false;
	name_entry(list, line);
	list->top = line->below;
	if (line->kind == KIPT_EXCERPT_LOCAL)
		list->count--;
	else
		fold_returned(list);
}

/* What is open from a line on is not known to be so any more. */
static void leave(struct kipt_excerpt_lines *list, s32 i)
{
	for (; i >= 0; i = list->lines[i].below) {
		list->lines[i].open = false;
		list->lines[i].left = true;
	}
}

/* What was called on another stack is a segment of its own. */
static void settle(struct kipt_excerpt_lines *list)
{
	s32 strange = list->strange, deeper;
	u32 i;

	if (strange < 0)
		return;
	leave(list, strange);
	deeper = list->lines[strange].depth + 1;
	list->lines[strange].depth = 0;
	list->segment = (u32)strange + 1;
	for (i = list->segment; i < list->count; i++) {
		list->lines[i].depth -= deeper;
		if (list->lines[i].below <= strange)
			list->lines[i].below = -1;
	}
	list->depth -= deeper;
	list->strange = -1;
	if (list->top <= strange)
		list->top = -1;
}

static void begin_segment(struct kipt_excerpt_lines *list, u8 gap, u64 ip)
{
	struct kipt_excerpt_line *last;

	settle(list);
	leave(list, list->top);
	list->top = -1;
	list->depth = 0;
	list->nr_user = 0;
	last = list->count ? &list->lines[list->count - 1] : NULL;
	if (last && last->kind == KIPT_EXCERPT_GAP && last->gap == gap) {
		add_up(&last->times, 1);
		last->ip = ip;
	} else {
		append(list, KIPT_EXCERPT_GAP, ip, 0)->gap = gap;
	}
	list->segment = list->count;
}

/* The function that all of the segment was called from returned. */
static void return_before(struct kipt_excerpt_lines *list, u64 ip)
{
	u64 time = list->time;
	u32 calls = calls_from(list, list->segment);
	struct kipt_excerpt_line *line;

	if (list->segment < list->count)
		time = list->lines[list->segment].time;
	list->count = list->segment;
	list->top = -1;
	list->depth--;
	line = append(list, KIPT_EXCERPT_BEFORE, ip, 0);
	line->time = time;
	line->calls = calls;
}

static bool is_behind(u64 site, u64 ip)
{
	return ip - site - 1 < INSN_BYTES;
}

/* Return: the open call that control returned from, or -1. */
static s32 find_call(const struct kipt_excerpt_lines *list, u64 ip)
{
	const struct kipt_excerpt_line *line;
	u32 looked = 0;
	s32 i;

	for (i = list->top; i >= 0 && looked < LOOK_MOST; i = line->below) {
		line = &list->lines[i];
		if ((line->kind == KIPT_EXCERPT_CALL ||
		     line->kind == KIPT_EXCERPT_LOCAL) &&
		    is_behind(line->site, ip))
			return i;
		looked++;
	}
	return -1;
}

static bool is_in_thunk(u64 ip, u64 thunk)
{
	return thunk && ip - thunk < THUNK_BYTES;
}

/* A thunk called itself to replace the return address: it is a jump. */
static void jump_by_thunk(struct kipt_excerpt_lines *list, u64 to)
{
	u64 site = list->lines[list->top].site;
	struct kipt_excerpt_line *line;

	pop(list, (u32)list->top);
	if (list->top < 0)
		return;
	line = &list->lines[list->top];
	if (!is_in_thunk(site, line->jumped) && is_in_thunk(site, line->ip))
		line->ip = to;
	else
		line->jumped = to;
}

/* Into a ring of @room. */
static void note_branch(struct kipt_excerpt_jump *ring, u32 room, u32 *nr,
			const struct kipt_record *record)
{
	struct kipt_excerpt_jump *last = &ring[(*nr - 1) % room];

	if (*nr && last->from == record->ip && last->to == record->value &&
	    last->kind == record->kind)
		add_up(&last->times, 1);
	else
		ring[(*nr)++ % room] = (struct kipt_excerpt_jump){
			.from = record->ip,
			.to = record->value,
			.times = 1,
			.kind = record->kind,
		};
}

static struct kipt_excerpt_jump *last_jump(struct kipt_excerpt_lines *list)
{
	return list->nr_jumps ?
	       &list->jumps[(list->nr_jumps - 1) % KIPT_EXCERPT_JUMPS] : NULL;
}

/* A return may stand in a thunk, which was jumped to. */
static u64 leave_thunk(struct kipt_excerpt_lines *list, u64 ret)
{
	const struct kipt_excerpt_jump *jump = last_jump(list);
	struct kipt_excerpt_line *line;

	if (!jump || ret - jump->to > INSN_BYTES)
		return ret;
	if (list->top >= 0) {
		line = &list->lines[list->top];
		line->jumped = line->jumped_before;
	}
	return jump->from;
}

static void see_return(struct kipt_excerpt_lines *list,
		       const struct kipt_record *record)
{
	u64 ip = leave_thunk(list, record->ip);
	s32 call = find_call(list, record->value);

	if (call >= 0) {
		pop(list, (u32)call);
		return;
	}
	if (list->top >= 0 &&
	    list->lines[list->top].kind == KIPT_EXCERPT_LOCAL) {
		jump_by_thunk(list, record->value);
		return;
	}
	settle(list);
	if (list->top >= 0) {
		push(list, KIPT_EXCERPT_STACK, record->value, 0);
		list->strange = list->top;
		list->nr_user = 0;
	} else {
		return_before(list, ip);
	}
}

static void enter_user(struct kipt_excerpt_lines *list, u64 ip)
{
	s32 i;

	if (list->user)
		return;
	settle(list);
	i = list->top;
	while (i >= 0 && list->lines[i].below >= 0)
		i = list->lines[i].below;
	if (i >= 0) {
		list->lines[i].times = 1;
		pop(list, (u32)i);
	} else {
		return_before(list, ip);
	}
	list->user = true;
}

static void see_iret(struct kipt_excerpt_lines *list,
		     const struct kipt_record *record)
{
	s32 i, event = -1;

	if (record->flags & KIPT_RF_NO_VALUE || !is_kernel(record->value)) {
		enter_user(list, record->ip);
		return;
	}
	settle(list);
	for (i = list->top; i >= 0; i = list->lines[i].below) {
		if (list->lines[i].kind != KIPT_EXCERPT_EVENT)
			continue;
		if (event < 0 || list->lines[i].site == record->value)
			event = i;
		if (list->lines[i].site == record->value)
			break;
	}
	if (event >= 0)
		pop(list, (u32)event);
	else
		return_before(list, record->ip);
}

static void see_jump(struct kipt_excerpt_lines *list,
		     const struct kipt_record *record)
{
	struct kipt_excerpt_line *line;

	note_branch(list->jumps, KIPT_EXCERPT_JUMPS, &list->nr_jumps, record);
	if (list->top < 0)
		return;
	line = &list->lines[list->top];
	line->jumped_before = line->jumped;
	line->jumped = record->value;
}

static void see_call(struct kipt_excerpt_lines *list,
		     const struct kipt_record *record)
{
	u8 kind = record->value - record->ip < THUNK_BYTES ?
		  KIPT_EXCERPT_LOCAL : KIPT_EXCERPT_CALL;

	push(list, kind, record->value, record->ip);
}

static void see_kernel_branch(struct kipt_excerpt_lines *list,
			      const struct kipt_record *record)
{
	switch (record->kind) {
	case KIPT_BRANCH_COND:
	case KIPT_BRANCH_JUMP:
	case KIPT_BRANCH_JUMP_IND:
		see_jump(list, record);
		break;
	case KIPT_BRANCH_CALL:
	case KIPT_BRANCH_CALL_IND:
		see_call(list, record);
		break;
	case KIPT_BRANCH_RET:
		see_return(list, record);
		break;
	case KIPT_BRANCH_SYSRET:
		enter_user(list, record->ip);
		break;
	case KIPT_BRANCH_IRET:
		see_iret(list, record);
		break;
	case KIPT_BRANCH_EVENT:
		push(list, KIPT_EXCERPT_EVENT, record->value, record->ip);
		break;
	default:
		break;
	}
}

static void see_branch(struct kipt_excerpt_lines *list,
		       const struct kipt_record *record)
{
	bool enters = is_kernel(record->value) &&
		      !(record->flags & KIPT_RF_NO_VALUE);

	if (!list->user || is_kernel(record->ip)) {
		list->user = false;
		see_kernel_branch(list, record);
	} else {
		note_branch(list->user_branches, KIPT_EXCERPT_USER_MOST,
			    &list->nr_user, record);
		if (enters)
			push(list, KIPT_EXCERPT_ENTRY, record->value, 0);
		list->user = !enters;
	}
	if (!(record->flags & KIPT_RF_NO_VALUE))
		list->here = record->value;
}

static void see_enable(struct kipt_excerpt_lines *list,
		       const struct kipt_record *record)
{
	bool off = list->off;

	list->user = !is_kernel(record->ip);
	list->here = record->ip;
	list->off = false;
	if (list->waits) {
		list->waits = false;
		if (list->segment == list->count)
			list->lines[list->count - 1].ip = record->ip;
	} else if (off && list->top >= 0) {
		begin_segment(list, 0, record->ip);
	} else if (!list->user && record->type == KIPT_RECORD_ENABLE) {
		push(list, KIPT_EXCERPT_ENTRY, record->ip, 0);
	}
}

/* Code of user space is not read here; before the first line no line is open. */
static void see_gap(struct kipt_excerpt_lines *list,
		    const struct kipt_record *record)
{
	bool known = !(record->flags & KIPT_RF_NO_IP);

	if (record->kind == KIPT_GAP_NO_CODE && known &&
	    !is_kernel(record->ip) && list->user) {
		list->nr_user = 0;
		return;
	}
	if (!list->count)
		return;
	begin_segment(list, record->kind, 0);
	list->waits = true;
}

void kipt_excerpt_lines_add(struct kipt_excerpt_lines *list,
			    const struct kipt_record *record)
{
	bool known = !(record->flags & KIPT_RF_NO_IP);

	switch (record->type) {
	case KIPT_RECORD_BRANCH:
		see_branch(list, record);
		break;
	case KIPT_RECORD_TIME:
		list->time = record->value;
		break;
	case KIPT_RECORD_ENABLE:
		see_enable(list, record);
		break;
	case KIPT_RECORD_SYNC:
		if (record->kind == KIPT_SYNC_START && known)
			see_enable(list, record);
		break;
	case KIPT_RECORD_DISABLE:
		/* In a gap, which was told. */
		if (!known)
			break;
		if (record->kind == KIPT_DISABLE_BRANCH)
			enter_user(list, record->ip);
		else
			list->off = true;
		break;
	case KIPT_RECORD_GAP:
		see_gap(list, record);
		break;
	default:
		break;
	}
}

static void remove_local(struct kipt_excerpt_lines *list)
{
	u32 i, kept = 0;
	s32 local = 0;

	for (i = 0; i < list->count; i++) {
		struct kipt_excerpt_line *line = &list->lines[i];

		if (line->kind == KIPT_EXCERPT_GAP ||
		    line->kind == KIPT_EXCERPT_STACK)
			local = 0;
		if (line->kind == KIPT_EXCERPT_LOCAL) {
			local++;
			continue;
		}
		line->depth -= local;
		list->lines[kept++] = *line;
	}
	list->depth -= local;
	list->count = kept;
}

/* Also open calls: a recursion goes no deeper than one round of it. */
static void fold_all(struct kipt_excerpt_lines *list)
{
	struct kipt_excerpt_line *lines = list->lines;
	u32 i, period, kept = 0;
	s32 deeper = 0;

	for (i = 0; i < list->count; i++) {
		if (lines[i].kind == KIPT_EXCERPT_GAP ||
		    lines[i].kind == KIPT_EXCERPT_STACK)
			deeper = 0;
		lines[kept] = lines[i];
		lines[kept++].depth -= deeper;
		for (period = 1; period <= PERIOD_MOST_SHOWN &&
		     2 * period <= kept; period++) {
			if (!repeats(lines + kept, period))
				continue;
			deeper += lines[kept - 1].depth -
				  lines[kept - 1 - period].depth;
			merge(lines + kept, period);
			kept -= period;
			break;
		}
	}
	list->depth -= deeper;
	list->count = kept;
}

void kipt_excerpt_lines_trim(struct kipt_excerpt_lines *list, u32 most)
{
	u32 open = 0, other, i;

	settle(list);
	remove_local(list);
	fold_all(list);
	for (i = 0; i < list->count; i++)
		open += list->lines[i].open;
	other = list->count - open;
	if (open + other > most) {
		if (other > most / 2)
			other = most - open > most / 2 && open < most ?
				most - open : most / 2;
		open = most - other;
	}
	keep(list, open, other);
}
