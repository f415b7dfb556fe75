// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines from records, see excerpt_lines.h. Returns are compared with the
 * addresses after calls: what does not fit is a thunk, a trampoline, or
 * another stack, and never taken for the return of the innermost call. Any
 * context.
 */
#include "excerpt_lines.h"

/* An instruction has no more bytes, and a thunk's call goes no further. */
#define INSN_BYTES	15U
#define THUNK_BYTES	64U
/* Open calls that a return is looked for in. */
#define LOOK_MOST	64U

static bool is_kernel(u64 ip)
{
	return ip >> 63;
}

static bool is_break(const struct kipt_excerpt_line *line)
{
	return line->kind >= KIPT_EXCERPT_BREAK;
}

void kipt_excerpt_lines_init(struct kipt_excerpt_lines *list,
			     struct kipt_excerpt_line *memory, u32 room)
{
	memset(list, 0, sizeof(*list));
	list->lines = memory;
	list->room = room;
	list->top = -1;
}

static void add_up(u32 *sum, u32 more)
{
	*sum = *sum + more < *sum ? ~0U : *sum + more;
}

static u32 calls_of(const struct kipt_excerpt_line *line)
{
	u32 calls = line->calls;

	if (line->kind != KIPT_EXCERPT_LOCAL && !is_break(line))
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

void kipt_excerpt_lines_trim(struct kipt_excerpt_lines *list, u32 most)
{
	struct kipt_excerpt_line *line = list->lines, *end = line + list->count;
	struct kipt_excerpt_line *kept = line;
	u32 open = 0, other, most_other = most / 2;

	for (; line < end; line++)
		open += line->open;
	other = list->count - open;
	if (open < most - most_other)
		most_other = most - open;
	if (other < most_other)
		most_other = other;
	list->top = -1;
	for (line = list->lines; line < end; line++) {
		if (line->open ? open-- > most - most_other :
				 other-- > most_other) {
			if (!line->open && kept > list->lines)
				add_up(&kept[-1].dropped, calls_of(line));
			continue;
		}
		*kept = *line;
		if (!is_break(line) || line->below >= 0)
			kept->below = list->top;
		if (line->open)
			list->top = (s32)(kept - list->lines);
		kept++;
	}
	list->count = (u32)(kept - list->lines);
}

static struct kipt_excerpt_line *append(struct kipt_excerpt_lines *list, u8 kind,
					u64 ip, u64 site)
{
	struct kipt_excerpt_line *line;

	if (list->count == list->room)
		kipt_excerpt_lines_trim(list, list->room / 4 * 3);
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
	list->jump_to = 0;
	return line;
}

static bool same_line(const struct kipt_excerpt_line *a,
		      const struct kipt_excerpt_line *b)
{
	return a->kind == b->kind && a->ip == b->ip && a->site == b->site;
}

/* A recursion is one line, from its second round on. */
static void push(struct kipt_excerpt_lines *list, u8 kind, u64 ip, u64 site)
{
	struct kipt_excerpt_line *line = append(list, kind, ip, site);

	if (kind == KIPT_EXCERPT_CALL && line->below >= 0 &&
	    line->below == (s32)list->count - 2 && same_line(line, line - 1)) {
		list->count--;
		add_up(&line[-1].times, 1);
		line[-1].now = 0;
		return;
	}
	line->open = true;
	list->top = (s32)list->count - 1;
	list->depth = is_break(line) ? 0 : list->depth + 1;
}

/* The system call of an entry is two calls below it, with all it does. */
static void name_entry(struct kipt_excerpt_lines *list,
		       const struct kipt_excerpt_line *line)
{
	s32 i = line->below < 0 ? -1 : list->lines[line->below].below;
	struct kipt_excerpt_line *entry = &list->lines[i < 0 ? 0 : i];

	if (i < 0 || entry->kind != KIPT_EXCERPT_ENTRY ||
	    line->kind != KIPT_EXCERPT_CALL || line->calls < entry->most)
		return;
	entry->most = line->calls + 1;
	entry->site = line->now ? line->now : line->ip;
}

/* What returned is counted at the line before it, if that says the same. */
static void fold(struct kipt_excerpt_lines *list)
{
	struct kipt_excerpt_line *line = &list->lines[list->count - 1];

	if ((s32)list->count - 2 <= list->top || !same_line(line, line - 1))
		return;
	add_up(&line[-1].times, line->times);
	add_up(&line[-1].calls, line->calls);
	list->count--;
}

/* An open line returns, and with it all after it. */
static void pop(struct kipt_excerpt_lines *list, s32 index)
{
	struct kipt_excerpt_line *line = &list->lines[index];

	add_up(&line->calls, calls_from(list, (u32)index + 1));
	add_up(&line->calls, line->dropped);
	line->dropped = 0;
	list->count = (u32)index + 1;
	list->depth = line->depth;
	list->jump_to = 0;
	if (line->times > 1) {
		/* One round of a recursion. */
		line->times--;
		add_up(&line->calls, 1);
		list->top = index;
		list->depth++;
		return;
	}
	line->open = false;
	name_entry(list, line);
	list->top = line->below;
	if (line->kind == KIPT_EXCERPT_LOCAL)
		list->count--;
	else
		fold(list);
}

/* Return: the last GAP or STACK, or -1; @first: the open line after it, or -1. */
static s32 last_break(const struct kipt_excerpt_lines *list, s32 *first)
{
	s32 i = list->top;

	*first = -1;
	while (i >= 0 && !is_break(&list->lines[i])) {
		*first = i;
		i = list->lines[i].below;
	}
	return i;
}

/* What runs on another stack is not to return to the one before. */
static void settle(struct kipt_excerpt_lines *list)
{
	s32 first, stack = last_break(list, &first);

	if (stack >= 0)
		list->lines[stack].below = -1;
}

static struct kipt_excerpt_line *newest(const struct kipt_excerpt_lines *list)
{
	return list->count ? &list->lines[list->count - 1] : NULL;
}

static void begin_gap(struct kipt_excerpt_lines *list, u8 gap, u64 ip)
{
	struct kipt_excerpt_line *last = newest(list);

	list->nr_user = 0;
	if (last && last->kind == KIPT_EXCERPT_GAP && last->gap == gap) {
		add_up(&last->times, 1);
		last->ip = ip;
		return;
	}
	push(list, KIPT_EXCERPT_GAP, ip, 0);
	list->lines[list->top].below = -1;
	list->lines[list->top].gap = gap;
}

/* The function that all after the last break was called from returned. */
static void return_before(struct kipt_excerpt_lines *list, u64 ip)
{
	s32 first, stack = last_break(list, &first);
	u32 calls = calls_from(list, (u32)(stack + 1));

	list->count = (u32)(stack + 1);
	list->top = stack;
	list->depth = 0;
	append(list, KIPT_EXCERPT_BEFORE, ip, 0)->calls = calls;
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
		    ip - line->site - 1 < INSN_BYTES)
			return i;
		looked++;
	}
	return -1;
}

/* A thunk called itself to replace the return address: it is a jump. */
static void jump_by_thunk(struct kipt_excerpt_lines *list, u64 to)
{
	u64 thunk = list->lines[list->top].site;
	struct kipt_excerpt_line *line;

	pop(list, list->top);
	if (list->top < 0)
		return;
	line = &list->lines[list->top];
	/* Was the thunk called, or jumped to? */
	if (thunk - line->ip < THUNK_BYTES)
		line->ip = to;
	else
		line->now = to;
}

/* A return may be in a thunk, which was jumped to. */
static u64 leave_thunk(struct kipt_excerpt_lines *list, u64 ret)
{
	if (!list->jump_to || ret - list->jump_to > INSN_BYTES)
		return ret;
	if (list->top >= 0)
		list->lines[list->top].now = list->jump_before;
	return list->jump_from;
}

static void see_return(struct kipt_excerpt_lines *list,
		       const struct kipt_record *record)
{
	u64 ip = leave_thunk(list, record->ip);
	s32 call = find_call(list, record->value);

	if (call >= 0) {
		pop(list, call);
	} else if (list->top < 0 || is_break(&list->lines[list->top])) {
		return_before(list, ip);
	} else if (list->lines[list->top].kind == KIPT_EXCERPT_LOCAL) {
		jump_by_thunk(list, record->value);
	} else {
		settle(list);
		push(list, KIPT_EXCERPT_STACK, record->value, 0);
		list->nr_user = 0;
	}
}

static void enter_user(struct kipt_excerpt_lines *list, u64 ip)
{
	s32 first;

	if (list->user)
		return;
	settle(list);
	last_break(list, &first);
	if (first >= 0) {
		list->lines[first].times = 1;
		pop(list, first);
	} else {
		return_before(list, ip);
	}
	list->user = true;
}

static void see_iret(struct kipt_excerpt_lines *list,
		     const struct kipt_record *record)
{
	s32 i;

	if (record->flags & KIPT_RF_NO_VALUE || !is_kernel(record->value)) {
		enter_user(list, record->ip);
		return;
	}
	settle(list);
	i = list->top;
	while (i >= 0 && list->lines[i].kind != KIPT_EXCERPT_EVENT)
		i = list->lines[i].below;
	if (i >= 0)
		pop(list, i);
	else
		return_before(list, record->ip);
}

static void see_jump(struct kipt_excerpt_lines *list,
		     const struct kipt_record *record)
{
	list->jump_from = record->ip;
	list->jump_to = record->value;
	if (list->top < 0)
		return;
	list->jump_before = list->lines[list->top].now;
	list->lines[list->top].now = record->value;
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
		push(list, record->value - record->ip < THUNK_BYTES ?
		     KIPT_EXCERPT_LOCAL : KIPT_EXCERPT_CALL, record->value,
		     record->ip);
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

static void note_user_branch(struct kipt_excerpt_lines *list,
			     const struct kipt_record *record)
{
	struct kipt_excerpt_branch *ring = list->user_branches, *last;

	last = &ring[(list->nr_user - 1) % KIPT_EXCERPT_USER_MOST];
	if (list->nr_user && last->from == record->ip && last->to == record->value)
		add_up(&last->times, 1);
	else
		ring[list->nr_user++ % KIPT_EXCERPT_USER_MOST] =
			(struct kipt_excerpt_branch){ record->ip, record->value, 1 };
}

static void see_branch(struct kipt_excerpt_lines *list,
		       const struct kipt_record *record)
{
	bool known = !(record->flags & KIPT_RF_NO_VALUE);
	bool enters = is_kernel(record->value) && known;

	if (!list->user || is_kernel(record->ip)) {
		list->user = false;
		see_kernel_branch(list, record);
	} else {
		note_user_branch(list, record);
		if (enters)
			push(list, KIPT_EXCERPT_ENTRY, record->value, 0);
		list->user = !enters;
	}
	if (known)
		list->here = record->value;
}

static void see_enable(struct kipt_excerpt_lines *list,
		       const struct kipt_record *record)
{
	struct kipt_excerpt_line *last = newest(list);
	bool off = list->off, back = list->back;

	list->user = !is_kernel(record->ip);
	list->here = record->ip;
	list->off = false;
	list->back = false;
	if (back)
		return;
	if (last && last->kind == KIPT_EXCERPT_GAP && !last->ip)
		last->ip = record->ip;
	else if (off && list->top >= 0)
		begin_gap(list, 0, record->ip);
	else if (!list->user && record->type == KIPT_RECORD_ENABLE)
		push(list, KIPT_EXCERPT_ENTRY, record->ip, 0);
}

/* Code of user space may not be read here; before the first line none is open. */
static void see_gap(struct kipt_excerpt_lines *list,
		    const struct kipt_record *record)
{
	if (record->kind == KIPT_GAP_NO_CODE && list->user &&
	    !(record->flags & KIPT_RF_NO_IP) && !is_kernel(record->ip)) {
		list->nr_user = 0;
	} else if (list->count) {
		begin_gap(list, record->kind, 0);
	}
}

/* Return: whether the record is one of a guest, or of the way into one or out of it. */
static bool see_guest(struct kipt_excerpt_lines *list, const struct kipt_record *record)
{
	bool was = list->guest;

	/* What was before is forgotten. */
	if (record->type == KIPT_RECORD_SYNC && record->kind == KIPT_SYNC_START) {
		list->guest = false;
		list->back = false;
		return false;
	}
	if (record->type == KIPT_RECORD_GAP)
		return was && (record->kind == KIPT_GAP_NO_CODE ||
			       record->kind == KIPT_GAP_CODE_CHANGED);
	if (record->type == KIPT_RECORD_CONTEXT) {
		list->guest = record->flags & KIPT_RF_NR;
		list->back |= was && !list->guest;
		return true;
	}
	if (record->type != KIPT_RECORD_BRANCH)
		return was && record->type != KIPT_RECORD_TIME;
	if (record->kind == KIPT_BRANCH_VMENTRY) {
		list->guest = true;
	} else if (record->kind == KIPT_BRANCH_VMEXIT) {
		list->guest = false;
		list->user = false;
		list->here = record->value;
		was = true;
	}
	return was || list->guest;
}

void kipt_excerpt_lines_add(struct kipt_excerpt_lines *list,
			    const struct kipt_record *record)
{
	bool known = !(record->flags & KIPT_RF_NO_IP);

	if (see_guest(list, record))
		return;
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
		/* In a gap, which was shown, the address is not known. */
		if (known && record->kind == KIPT_DISABLE_BRANCH)
			enter_user(list, record->ip);
		else if (known)
			list->off = true;
		break;
	case KIPT_RECORD_GAP:
		see_gap(list, record);
		break;
	default:
		break;
	}
}
