// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each record as a line of JSON; kipt(1) documents the members.
 */
#define _GNU_SOURCE
#include <json-c/json.h>
#include <string.h>

#include "../../../kmod/decode/code/insn.h"
#include "../cli/json_lines.h"
#include "../records/record_words.h"
#include "../records/tool_records.h"
#include "../symbols/disasm.h"
#include "../symbols/inlined.h"
#include "../symbols/source_cache.h"
#include "view.h"

static void symbol_add(struct view *view, struct json_object *line,
		       u32 pid, const char *key,
		       const char *symbol_key, const char *source_key,
		       u64 address)
{
	char text[256];

	jsonl_hex(line, key, address);
	names_text(view->names, pid, address, text, sizeof(text));
	if (text[0] != '0')
		jsonl_text(line, symbol_key, text);
	if (view->options->source &&
	    names_source(view->names, pid, address, text, sizeof(text)))
		jsonl_text(line, source_key, text);
}

/* Functions that were inlined where a call is, the outermost first. */
static void inlined_add(struct view *view, struct json_object *line, u64 address)
{
	const struct inlined *inlined = names_inlined(view->names, view_code_pid(&view->state), address,
						      view->options->source);
	struct json_object *names;

	if (!inlined)
		return;
	names = json_object_new_array();
	for (; inlined; inlined = inlined->outer)
		json_object_array_put_idx(names, inlined->level - 1,
					  jsonl_text_new(names_inlined_name(view->names, inlined)));
	json_object_object_add(line, "ip_inlined", names);
}

static bool has_inlined(const struct view *view, const struct kipt_record *r)
{
	const struct view_options *options = view->options;

	if (options->mode != VIEW_CALLS || !options->mode_given || !options->inlined ||
	    r->type != KIPT_RECORD_BRANCH || r->flags & KIPT_RF_NO_IP)
		return false;
	switch (r->kind) {
	case KIPT_BRANCH_CALL:
	case KIPT_BRANCH_CALL_IND:
	case KIPT_BRANCH_SYSCALL:
	case KIPT_BRANCH_EVENT:
	case KIPT_BRANCH_VMEXIT:
		return true;
	}
	return false;
}

static void disasm_add(struct view *view, struct json_object *line,
		       const struct kipt_record *r)
{
	char hex[2 * KIPT_INSN_MAX_LEN + 1];
	u8 bytes[KIPT_INSN_MAX_LEN];
	struct disasm insn;
	u32 i;

	if (!view_insn(view, r, &insn, bytes))
		return;
	for (i = 0; i < r->aux; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	jsonl_text(line, "bytes", hex);
	jsonl_text(line, "text", insn.text);
	if (insn.has_target && insn.branches)
		symbol_add(view, line, view_from_pid(view, r), "to", "to_symbol",
			   "to_source", insn.target);
	else if (insn.has_target)
		jsonl_hex(line, "names", insn.target);
}

static void value_add(struct view *view, struct json_object *line,
		      const struct kipt_record *r)
{
	if (r->flags & KIPT_RF_NO_VALUE)
		return;
	switch (r->type) {
	case RECORD_SAMPLE:
		jsonl_text(line, "event", names_event(view->names, r->value));
		break;
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_DISABLE:
	case KIPT_RECORD_EDGE:
		symbol_add(view, line, view_to_pid(view, r), "to", "to_symbol",
			   "to_source", r->value);
		break;
	case KIPT_RECORD_TASK:
		jsonl_number(line, "pid", r->value);
		break;
	case KIPT_RECORD_TIME:
		jsonl_number(line, "tsc", r->value);
		break;
	case KIPT_RECORD_SYNC:
	case KIPT_RECORD_CPU:
	case KIPT_RECORD_GAP:
		jsonl_number(line, r->type == KIPT_RECORD_GAP ? "value" :
			     "offset", r->value);
		break;
	case KIPT_RECORD_INSN:
		if (view->options->disasm)
			disasm_add(view, line, r);
		break;
	case KIPT_RECORD_ENABLE:
	case KIPT_RECORD_CBR:
	case KIPT_RECORD_MODE:
	case KIPT_RECORD_CODE:
		break;
	default:
		jsonl_hex(line, "value", r->value);
	}
}

static void aux_add(struct json_object *line, const struct kipt_record *r,
		    u32 pid)
{
	switch (r->type) {
	case KIPT_RECORD_DISABLE:
	case KIPT_RECORD_SYNC:
		jsonl_number(line, "insns", r->aux);
		break;
	case KIPT_RECORD_TASK:
		jsonl_number(line, "tid", r->aux);
		break;
	case KIPT_RECORD_SPACE:
		jsonl_number(line, "tgid", r->aux);
		break;
	case KIPT_RECORD_GAP:
		jsonl_number(line, "status", r->aux);
		break;
	case KIPT_RECORD_EDGE:
		jsonl_number(line, "count", r->aux);
		if (pid == NAMES_GUEST)
			jsonl_flag(line, "guest", true);
		else if (pid && (r->ip & r->value) >> 63 == 0)
			jsonl_number(line, "pid", pid);
		break;
	case KIPT_RECORD_CODE:
		jsonl_number(line, "version", r->aux);
		break;
	case KIPT_RECORD_TIME:
		jsonl_number(line, "error", r->aux);
		if (r->ip)
			jsonl_number(line, "cycles", r->ip);
		break;
	case KIPT_RECORD_CBR:
		jsonl_number(line, "ratio", r->aux);
		break;
	case KIPT_RECORD_PTWRITE:
		jsonl_number(line, "size", r->aux);
		break;
	case KIPT_RECORD_CPU:
		break;
	default:
		if (r->aux)
			jsonl_hex(line, "aux", r->aux);
	}
}

static bool has_address(const struct kipt_record *r)
{
	switch (r->type) {
	case KIPT_RECORD_CPU:
	case KIPT_RECORD_TASK:
	case KIPT_RECORD_TIME:
	case KIPT_RECORD_CBR:
	case KIPT_RECORD_SPACE:
		return false;
	}
	return !(r->flags & KIPT_RF_NO_IP);
}

/* What was counted is of no task. */
static bool has_task(const struct kipt_record *r)
{
	return r->type != KIPT_RECORD_TASK && r->type != KIPT_RECORD_SPACE &&
	       r->type != KIPT_RECORD_EDGE;
}

static struct json_object *line_make(struct view *view,
				     const struct kipt_record *r)
{
	struct json_object *line = json_object_new_object();
	const char *kind = words_kind(r->type, r->kind);

	jsonl_text(line, "type", words_type(r->type));
	if (kind)
		jsonl_text(line, "kind", kind);
	else if (r->kind && r->type != KIPT_RECORD_INSN)
		jsonl_number(line, "kind", r->kind);
	if (view->state.cpu != RECORD_CPU_UNKNOWN)
		jsonl_number(line, "cpu", view->state.cpu);
	if (view->state.tid && has_task(r))
		jsonl_number(line, "tid", view->state.tid);
	if (has_address(r))
		symbol_add(view, line, view_from_pid(view, r), "ip", "ip_symbol",
			   "ip_source", r->ip);
	if (has_inlined(view, r))
		inlined_add(view, line, r->ip);
	value_add(view, line, r);
	if (r->flags & (KIPT_RF_NR | KIPT_RF_HW | KIPT_RF_IF | KIPT_RF_TSX |
			KIPT_RF_COMPRESSED | KIPT_RF_MULT))
		jsonl_number(line, "flags", r->flags);
	return line;
}

/* What else a line says is in it: only the number is new. */
static void aux_print(struct view *view, const struct kipt_record *r,
		      const char *text, u32 length)
{
	char number[16], *digit = number + sizeof(number);
	u32 left = r->aux;

	*--digit = '\n';
	*--digit = '}';
	do {
		*--digit = '0' + left % 10;
		left /= 10;
	} while (left);
	fwrite_unlocked(text, length, 1, view->out);
	fputs_unlocked(r->type == KIPT_RECORD_BRANCH ? ",\"insns\":" :
						       ",\"size\":",
		       view->out);
	fwrite_unlocked(digit, number + sizeof(number) - digit, 1, view->out);
}

/* Records that come again and again. */
static void often_print(struct view *view, const struct kipt_record *r)
{
	struct line_scope scope = view_line_scope(view, r);
	struct cached_line *cached;
	struct json_object *line;
	const char *text;
	u32 length;

	scope.cpu = view->state.cpu;
	scope.tid = view->state.tid;
	cached = line_cache_find(view->self, r, &scope);
	if (cached->length) {
		aux_print(view, r, cached->text, cached->length);
		return;
	}
	line = line_make(view, r);
	text = jsonl_string(line);
	length = strlen(text) - 1;
	if (length <= sizeof(cached->text)) {
		memcpy(cached->text, text, length);
		cached->length = length;
	}
	aux_print(view, r, text, length);
	json_object_put(line);
}

static void record_print(struct view *view, const struct kipt_record *r)
{
	struct json_object *line;

	if (r->type == KIPT_RECORD_BRANCH || r->type == KIPT_RECORD_INSN) {
		often_print(view, r);
		return;
	}
	line = line_make(view, r);
	aux_add(line, r, view_pid(view, r));
	jsonl_print(line, view->out);
}

static void lines_finish(struct view *view)
{
	line_cache_destroy(view->self);
	view->self = NULL;
}

bool view_json_init(struct view *view)
{
	view->self = line_cache_create();
	view->print = record_print;
	view->finish = lines_finish;
	return view->self;
}
