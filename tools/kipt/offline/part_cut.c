// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where parts of a trace begin and end, see part_cut.h. Reads PSB+s and nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "../../../kmod/decode/packet/psb.h"
#include "../../../kmod/decode/packet/sync.h"
#include "../cli/args.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "../view/view.h"
#include "part_cut.h"

bool part_parse(struct part *part, const char *text)
{
	const char *slash = strchr(text, '/');
	char number[16] = "";
	u64 i, n;

	if (slash && (size_t)(slash - text) < sizeof(number))
		memcpy(number, text, slash - text);
	if (!args_number(number, PARTS_MAX, &i) || !args_number(slash + 1, PARTS_MAX, &n) ||
	    !i || i > n) {
		say_error("--part %s: I/N is meant, part I of N, as 1/4; I is 1 to N, N at most %u",
			  text, PARTS_MAX);
		return false;
	}
	part->number = i;
	part->count = n;
	return true;
}

/* A view that parts do not make, an option without "--"; NULL: they do. */
static const char *view_refused(const struct view_options *view)
{
	if (view->mode == VIEW_CALLS)
		return view->json ? NULL : "the indented calls";
	if (view->mode == VIEW_SCREEN)
		return "the screen of 'kipt open'";
	return view->mode > VIEW_TOTALS ? view->mode_name : NULL;
}

static const char *option_refused(const struct view_options *view)
{
	if (view->output)
		return view->packed ? "--packed" : "-o";
	if (view->stats)
		return "--stats";
	if (view->hash)
		return "--hash";
	if (view->syms)
		return "--sym";
	if (narrow_any(&view->narrow))
		return "--cpu, --pid, --tid, --comm or --time FROM,TO";
	return view->top_given ? "--top" : NULL;
}

bool part_settle(const struct view_options *view)
{
	const char *other = view_refused(view);

	if (other) {
		say_error("--part: %s%s may need what came in parts before; --branches, --insns, --disasm, --calls --json, --counts --json and --totals --json can be made of parts",
			  other == view->mode_name ? "--" : "", other);
		return false;
	}
	other = option_refused(view);
	if (other) {
		say_error("--part: %s does not go with it, as parts would not make the whole",
			  other);
		return false;
	}
	if (view->mode < VIEW_COUNTS || view->json)
		return true;
	say_error("--part: --%s needs --json, so that 'kipt merge' can add up the parts",
		  view->mode_name);
	return false;
}

u64 part_begin(const struct part *part, u64 size)
{
	return (u64)((unsigned __int128)size * (part->number - 1) / part->count);
}

u64 part_cut(const u8 *trace, u64 size, u64 wish)
{
	u64 cut = wish < size ? kipt_sync_next(trace, size, wish) : size;

	if (!wish || cut == size)
		return wish ? size : 0;
	return cut == kipt_sync_next(trace, size, 0) ? 0 : cut;
}

static bool needs_any(const struct part_needs *needs)
{
	return needs->first || needs->time || needs->space;
}

static bool says_enough(const struct kipt_psb *psb,
			const struct part_needs *needs)
{
	return psb->status == KIPT_OK && psb->complete && (!needs->space || psb->has_pip);
}

static void time_look(struct part_search *search, u64 tsc, u64 next)
{
	if (!search->head)
		search->head = next;
	search->backwards |= search->timed && tsc < search->tsc;
	search->tsc = tsc;
	search->timed = true;
}

/* Looks at all packets: that takes a fraction of what decoding does. */
static bool has_time(const u8 *trace, u64 start, u64 end)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	enum kipt_status status;
	u64 at;

	for (at = kipt_sync_next(trace, end, start); at < end;
	     at = kipt_sync_next(trace, end, at + 1)) {
		kipt_cursor_init(&cursor, trace + at, end - at);
		while ((status = kipt_packet_next(&cursor, &packet)) == KIPT_OK) {
			if (packet.type == KIPT_PACKET_TSC)
				return true;
			if (progress_interrupted())
				return false;
		}
		if (status == KIPT_END)
			break;
		at = cursor.pos - trace;
	}
	return false;
}

bool part_look(struct part_search *search, const u8 *trace, u64 start, u64 end)
{
	u64 from = search->from - search->before;
	struct kipt_psb psb;
	u64 at, next;

	if (!needs_any(&search->needs) || search->from <= search->before)
		return true;
	for (at = kipt_sync_next(trace, end, start); at < end && at < from; at = next) {
		if (progress_interrupted())
			return false;
		next = kipt_sync_next(trace, end, at + KIPT_PSB_BYTES);
		kipt_psb_read(&psb, trace, at, next, NULL);
		if (psb.has_tsc)
			time_look(search, psb.tsc, search->before + next);
		if (!says_enough(&psb, &search->needs))
			continue;
		search->plain = search->before + at;
		if (psb.has_tsc)
			search->back = search->before + at;
	}
	if (!search->timed && !search->other)
		search->other = has_time(trace, start, end < from ? end : from);
	return !progress_interrupted();
}

void part_found(struct part_bytes *bytes, const struct part_search *search)
{
	bool all = search->backwards || search->other;

	bytes->back = bytes->from;
	bytes->head = 0;
	bytes->timed = false;
	if (!needs_any(&search->needs))
		return;
	bytes->timed = search->needs.time && (search->timed || search->other);
	if (!search->timed && !search->other) {
		bytes->back = search->needs.space ? search->plain : bytes->from;
		return;
	}
	bytes->back = all ? 0 : search->back;
	if (search->needs.first && search->head < bytes->back)
		bytes->head = search->head;
	else if (search->needs.first)
		bytes->back = 0;
}

u64 part_farther(const struct part_bytes *bytes)
{
	u64 distance = bytes->from - bytes->back;

	return distance && distance < bytes->back ? bytes->back - distance : 0;
}

void part_step(struct part_bytes *bytes, u64 found)
{
	bytes->back = found <= part_farther(bytes) ? found : 0;
}
