// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in words, see record_words.h. Pure functions.
 */
#include <stdio.h>

#include "../../../kmod/decode/status.h"
#include "../cli/kipt.h"
#include "record_names.h"
#include "record_words.h"
#include "tool_records.h"

static const char *const types[] = RECORD_TYPE_NAMES;
static const char *const branches[] = RECORD_BRANCH_NAMES;

static const char *const enables[] = {
	[KIPT_ENABLE_PGE] = "pge",
	[KIPT_ENABLE_SYNC] = "sync",
	[KIPT_ENABLE_OVERFLOW] = "overflow",
	[KIPT_ENABLE_RESUME] = "resume",
	[KIPT_ENABLE_CHOSEN] = "chosen",
};

static const char *const syncs[] = {
	[KIPT_SYNC_START] = "start",
	[KIPT_SYNC_REACHED] = "reached",
};

static const char *const disables[] = {
	[KIPT_DISABLE_BRANCH] = "branch",
	[KIPT_DISABLE_ASYNC] = "async",
	[KIPT_DISABLE_OTHERS] = "others",
};

static const char *const modes[] = {
	[KIPT_EXEC_64] = "64",
	[KIPT_EXEC_32] = "32",
	[KIPT_EXEC_16] = "16",
};

static const char *const tsx[] = {
	[KIPT_TSX_BEGIN] = "begin",
	[KIPT_TSX_COMMIT] = "commit",
	[KIPT_TSX_ABORT] = "abort",
};

static const char *const times[] = {
	[KIPT_TIME_FIRST] = "first",
	[KIPT_TIME_CUT] = "cut",
};

static const char *const powers[] = {
	[KIPT_POWER_MWAIT] = "mwait",
	[KIPT_POWER_PWRE] = "pwre",
	[KIPT_POWER_EXSTOP] = "exstop",
	[KIPT_POWER_PWRX] = "pwrx",
};

static const char *const gaps[] = RECORD_GAP_NAMES;

static const char *const gap_texts[] = {
	[KIPT_GAP_OVERFLOW] = "the CPU lost packets (overflow)",
	[KIPT_GAP_DECODE] = "cannot be decoded",
	[KIPT_GAP_NO_CODE] = "no code bytes",
	[KIPT_GAP_CODE_CHANGED] = "code was patched while it was traced",
	[KIPT_GAP_RING] = "older trace was overwritten",
	[KIPT_GAP_TRUNCATED] = "the trace ends inside a packet",
	[KIPT_GAP_STOPPED] = "the buffer was full, tracing stopped",
	[KIPT_GAP_HW_ERROR] = "the CPU reported an error of its trace output",
	[KIPT_GAP_OFFLINE] = "the CPU went offline, tracing stopped",
	[KIPT_GAP_SUSPEND] = "the machine was suspended, tracing stopped",
	[KIPT_GAP_REBOOT] = "the machine was shut down, tracing stopped",
	[KIPT_GAP_OUTSIDE] = "someone else ended tracing",
	[KIPT_GAP_STUCK] = "the CPU did not answer the stop",
	[KIPT_GAP_SWITCHES] = "task switches that were not logged",
	[KIPT_GAP_SPACES] = "address spaces that were not noted",
	[KIPT_GAP_CODE_DROPPED] = "code of ended processes that was not kept",
	[KIPT_GAP_PATCHES] = "patches of kernel text that were not kept",
	[KIPT_GAP_PROCESSES] = "processes that were not followed",
	[KIPT_GAP_MISSING] = "trace that is not in the dump",
};

struct kinds {
	const char *const *names;
	size_t count;
};

static const struct kinds kinds[KIPT_RECORD_TYPE_MAX + 1] = {
	[KIPT_RECORD_BRANCH] = { branches, ARRAY_SIZE(branches) },
	[KIPT_RECORD_EDGE] = { branches, ARRAY_SIZE(branches) },
	[KIPT_RECORD_ENABLE] = { enables, ARRAY_SIZE(enables) },
	[KIPT_RECORD_DISABLE] = { disables, ARRAY_SIZE(disables) },
	[KIPT_RECORD_MODE] = { modes, ARRAY_SIZE(modes) },
	[KIPT_RECORD_TSX] = { tsx, ARRAY_SIZE(tsx) },
	[KIPT_RECORD_POWER] = { powers, ARRAY_SIZE(powers) },
	[KIPT_RECORD_GAP] = { gaps, ARRAY_SIZE(gaps) },
	[KIPT_RECORD_TIME] = { times, ARRAY_SIZE(times) },
	[KIPT_RECORD_SYNC] = { syncs, ARRAY_SIZE(syncs) },
};

static const char *pick(const char *const *names, size_t count, u32 number)
{
	return number < count && names[number] ? names[number] : "unknown";
}

const char *words_type(u32 type)
{
	if (type == RECORD_SAMPLE)
		return "sample";
	return pick(types, ARRAY_SIZE(types), type);
}

const char *words_kind(u32 type, u32 kind)
{
	if (type > KIPT_RECORD_TYPE_MAX || !kinds[type].names ||
	    (type == KIPT_RECORD_TIME && !kind))
		return NULL;
	return pick(kinds[type].names, kinds[type].count, kind);
}

const char *words_gap(u32 kind)
{
	return pick(gap_texts, ARRAY_SIZE(gap_texts), kind);
}

static const char *code_gap_reason(const struct kipt_record *r)
{
	if (r->kind != KIPT_GAP_DECODE && r->aux == KIPT_BAD_RET)
		return "a return whose call is in a gap before it";
	return kipt_status_name((enum kipt_status)r->aux);
}

static void gap_sentence(const struct kipt_record *r, const char *where,
			 char *text, size_t size)
{
	unsigned long long value = r->value;
	bool known = !(r->flags & KIPT_RF_NO_IP);

	switch (r->kind) {
	case KIPT_GAP_DECODE:
	case KIPT_GAP_NO_CODE:
		snprintf(text, size, "gap: %s: %s, at offset %llu%s%s",
			 words_gap(r->kind), code_gap_reason(r), value,
			 known ? ", after " : "", known ? where : "");
		break;
	case KIPT_GAP_CODE_CHANGED:
		if (r->aux == KIPT_BAD_RET)
			where = code_gap_reason(r);
		snprintf(text, size, "gap: %s%s%s, at offset %llu",
			 words_gap(r->kind), known ? ": " : "",
			 known ? where : "", value);
		break;
	case KIPT_GAP_RING:
		snprintf(text, size, r->flags & KIPT_RF_NO_VALUE || !value ?
			 "gap: %s" : "gap: %s: %llu bytes",
			 words_gap(r->kind), value);
		break;
	case KIPT_GAP_HW_ERROR:
		snprintf(text, size, "gap: %s: IA32_RTIT_STATUS 0x%llx",
			 words_gap(r->kind), value);
		break;
	case KIPT_GAP_OUTSIDE:
		snprintf(text, size, "gap: %s: IA32_RTIT_CTL 0x%llx",
			 words_gap(r->kind), value);
		break;
	case KIPT_GAP_SWITCHES:
	case KIPT_GAP_SPACES:
	case KIPT_GAP_CODE_DROPPED:
	case KIPT_GAP_PATCHES:
	case KIPT_GAP_PROCESSES:
	case KIPT_GAP_MISSING:
		snprintf(text, size, "gap: %s: %llu%s", words_gap(r->kind),
			 value, r->kind == KIPT_GAP_CODE_DROPPED ||
				r->kind == KIPT_GAP_MISSING ? " bytes" : "");
		break;
	default:
		snprintf(text, size, "gap: %s, at offset %llu",
			 words_gap(r->kind), value);
	}
}

/* States are named as Linux does: the nibble of the MWAIT hint plus one. */
static const char *c_state(u32 nibble, char *text, size_t size)
{
	snprintf(text, size, "C%u", (nibble + 1) & 15);
	return text;
}

static const char *wake_reason(u64 reason)
{
	if (reason & 1)
		return "interrupt";
	if (reason & 4)
		return "store to the monitored address";
	return reason & 8 ? "hardware" : "no reason given";
}

static void power_sentence(const struct kipt_record *r, const char *at,
			   const char *where, char *text, size_t size)
{
	char last[8], deepest[8];

	switch (r->kind) {
	case KIPT_POWER_MWAIT:
		snprintf(text, size,
			 "power: MWAIT hints 0x%x extensions 0x%llx%s%s",
			 r->aux, (unsigned long long)r->value, at, where);
		break;
	case KIPT_POWER_PWRE:
		snprintf(text, size, "power: enters %s.%u%s",
			 c_state(r->aux >> 4 & 15, last, sizeof(last)),
			 r->aux & 15,
			 r->flags & KIPT_RF_HW ? ", by hardware" : "");
		break;
	case KIPT_POWER_EXSTOP:
		snprintf(text, size, "power: stops%s%s", at, where);
		break;
	default:
		snprintf(text, size, "power: woke from %s, deepest %s: %s",
			 c_state(r->aux >> 4 & 15, last, sizeof(last)),
			 c_state(r->aux & 15, deepest, sizeof(deepest)),
			 wake_reason(r->value));
	}
}

static void event_sentence(const struct kipt_record *r, const char *at,
			   const char *where, char *text, size_t size)
{
	if (r->type == KIPT_RECORD_EVENT_DATA)
		snprintf(text, size, "event data: type %u, 0x%llx", r->kind,
			 (unsigned long long)r->value);
	else
		snprintf(text, size, "event: type %u vector %u%s%s", r->kind,
			 r->aux, at, where);
}

static void trigger_sentence(const struct kipt_record *r, const char *at,
			     const char *where, char *text, size_t size)
{
	char count[48] = "";

	if (!(r->flags & KIPT_RF_NO_VALUE))
		snprintf(count, sizeof(count), ", %llu instructions on",
			 (unsigned long long)r->value);
	snprintf(text, size, "triggers 0x%x%s%s%s%s", r->aux,
		 r->flags & KIPT_RF_MULT ? " and others" : "", at, where, count);
}

static void other_sentence(const struct kipt_record *r, const char *at,
			   const char *where, char *text, size_t size)
{
	unsigned long long value = r->value;
	const char *kind = words_kind(r->type, r->kind);

	switch (r->type) {
	case KIPT_RECORD_ENABLE:
		if (r->kind == KIPT_ENABLE_CHOSEN) {
			snprintf(text, size, r->flags & KIPT_RF_NO_IP ?
				 "what others did is left out" :
				 "what was before is left out: execution is%s%s",
				 at, where);
			break;
		}
		snprintf(text, size, "tracing begins%s%s%s", at, where,
			 r->kind == KIPT_ENABLE_OVERFLOW ?
			 " (after an overflow)" :
			 r->kind == KIPT_ENABLE_RESUME ? " (after a gap)" : "");
		break;
	case KIPT_RECORD_DISABLE:
		if (r->kind == KIPT_DISABLE_OTHERS) {
			snprintf(text, size, "others, left out");
			break;
		}
		snprintf(text, size, "tracing ends%s%s", at, where);
		break;
	case KIPT_RECORD_CONTEXT:
		snprintf(text, size, "address space 0x%llx%s", value,
			 r->flags & KIPT_RF_NR ? " (VMX non-root)" : "");
		break;
	case KIPT_RECORD_PTWRITE:
		snprintf(text, size, "ptwrite 0x%llx (%u bytes)%s%s", value,
			 r->aux, at, where);
		break;
	case KIPT_RECORD_SYNC:
		snprintf(text, size, "PSB at offset %llu", value);
		break;
	case KIPT_RECORD_TIME:
		snprintf(text, size, "time %llu", value);
		break;
	case KIPT_RECORD_CBR:
		snprintf(text, size, "core:bus ratio %u", r->aux);
		break;
	case KIPT_RECORD_MODE:
		snprintf(text, size, "%s-bit code%s", kind,
			 r->flags & KIPT_RF_IF ? ", interrupts on" : "");
		break;
	case KIPT_RECORD_CODE:
		snprintf(text, size, "code version %u%s%s", r->aux, at, where);
		break;
	case KIPT_RECORD_SPACE:
		snprintf(text, size, "edges of address space 0x%llx%s", value,
			 r->flags & KIPT_RF_NO_VALUE ? " (unknown)" : "");
		break;
	case KIPT_RECORD_TSX:
		snprintf(text, size, "transaction: %s%s%s", kind, at, where);
		break;
	case KIPT_RECORD_TRIG:
		trigger_sentence(r, at, where, text, size);
		break;
	default:
		snprintf(text, size, "%s 0x%llx", words_type(r->type), value);
	}
}

const char *words_sentence(const struct kipt_record *record, const char *where,
			   char *text, size_t size)
{
	const char *at = " at ";

	if (record->flags & KIPT_RF_NO_IP) {
		at = "";
		where = "";
	}
	switch (record->type) {
	case KIPT_RECORD_GAP:
		gap_sentence(record, where, text, size);
		break;
	case KIPT_RECORD_POWER:
		power_sentence(record, at, where, text, size);
		break;
	case KIPT_RECORD_EVENT:
	case KIPT_RECORD_EVENT_DATA:
		event_sentence(record, at, where, text, size);
		break;
	case KIPT_RECORD_TASK:
		snprintf(text, size, "task %u (process %llu)", record->aux,
			 (unsigned long long)record->value);
		break;
	default:
		other_sentence(record, at, where, text, size);
	}
	return text;
}
