// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts over records, see summary.h.
 */
#include <json-c/json.h>
#include <string.h>

#include "../cli/json_lines.h"
#include "record_words.h"
#include "summary.h"
#include "tool_records.h"

void tally_init(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	tally->hash = TALLY_HASH_START;
}

static void hash_add(struct tally *tally, u64 address)
{
	tally->hash = (tally->hash ^ address) * TALLY_HASH_PRIME;
}

/* A branch that is not hashed. */
static bool is_passed(const struct tally *tally, const struct kipt_record *record)
{
	return record->type == KIPT_RECORD_BRANCH &&
	       (record->kind > 31 || !(tally->hash_kinds >> record->kind & 1));
}

static void branch_hash(struct tally *tally, const struct kipt_record *record)
{
	if (is_passed(tally, record))
		return;
	hash_add(tally, record->ip);
	hash_add(tally, record->value);
	tally->hashed++;
}

void tally_record(struct tally *tally, const struct kipt_record *record)
{
	tally->records += record->type != KIPT_RECORD_EDGE &&
			  record->type != KIPT_RECORD_SPACE;
	tally->types[record->type <= KIPT_RECORD_TYPE_MAX ? record->type : 0]++;
	switch (record->type) {
	case KIPT_RECORD_INSN:
		if (tally->hash_kinds)
			break;
		hash_add(tally, record->ip);
		tally->hashed++;
		break;
	case KIPT_RECORD_BRANCH:
		branch_hash(tally, record);
		tally->executed += record->aux;
		break;
	case KIPT_RECORD_EDGE:
		tally->counted += record->aux;
		break;
	case RECORD_SUMS:
		if (!tally->sums_up)
			break;
		tally->types[KIPT_RECORD_BRANCH] += record->value;
		tally->executed += record->ip;
		break;
	case KIPT_RECORD_DISABLE:
	case KIPT_RECORD_SYNC:
		tally->executed += record->aux;
		break;
	case KIPT_RECORD_GAP:
		tally->gaps[record->kind <= KIPT_GAP_KIND_MAX ?
			    record->kind : 0]++;
	}
}

void tally_records(struct tally *tally, const struct kipt_record *records,
		   u32 count)
{
	u64 executed = 0;
	u32 i = 0, from;

	while (i < count) {
		for (from = i; i < count && is_passed(tally, &records[i]); i++)
			executed += records[i].aux;
		tally->records += i - from;
		tally->types[KIPT_RECORD_BRANCH] += i - from;
		if (i < count)
			tally_record(tally, &records[i++]);
	}
	tally->executed += executed;
}

u64 tally_branches(const struct tally *tally)
{
	return tally->types[KIPT_RECORD_BRANCH] + tally->counted;
}

u64 tally_gaps(const struct tally *tally)
{
	return tally->types[KIPT_RECORD_GAP];
}

static void gaps_show(const struct tally *tally, FILE *out)
{
	const char *before = " (";
	u32 kind;

	fprintf(out, ", %llu gaps", (unsigned long long)tally_gaps(tally));
	for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
		if (!tally->gaps[kind])
			continue;
		fprintf(out, "%s%s %llu", before,
			words_kind(KIPT_RECORD_GAP, kind),
			(unsigned long long)tally->gaps[kind]);
		before = ", ";
	}
	if (tally_gaps(tally))
		fputc(')', out);
}

/* Where branches were only counted, nobody counted instructions. */
static u64 instructions(const struct tally *tally)
{
	if (tally->types[KIPT_RECORD_INSN])
		return tally->types[KIPT_RECORD_INSN];
	return tally->counted ? 0 : tally->executed;
}

static void speed_show(const struct tally *tally, FILE *out)
{
	double mib = (double)tally->trace_bytes / 1048576;

	if (!tally->trace_bytes && !tally->trace_left)
		return;
	fprintf(out, tally->trace_left ? "; decoded %.2f of %.2f MiB of trace" :
					 "; %.2f MiB of trace", mib,
		mib + (double)tally->trace_left / 1048576);
	if (tally->seconds <= 0)
		return;
	fprintf(out, "%s in %.2f s, %.1f MiB/s, %.2f million branches/s",
		tally->trace_left ? "" : " decoded", tally->seconds, mib / tally->seconds,
		(double)tally_branches(tally) / tally->seconds / 1e6);
}

void tally_show(const struct tally *tally, FILE *out)
{
	fprintf(out, "%llu branches",
		(unsigned long long)tally_branches(tally));
	if (instructions(tally))
		fprintf(out, ", %llu instructions",
			(unsigned long long)instructions(tally));
	gaps_show(tally, out);
	if (tally->calls_cut)
		fprintf(out, ", %llu calls cut at the end of a part",
			(unsigned long long)tally->calls_cut);
	speed_show(tally, out);
	fputc('\n', out);
}

static void speed_json(const struct tally *tally, struct json_object *line)
{
	char seconds[32];

	jsonl_number(line, "trace_bytes", tally->trace_bytes);
	if (tally->trace_left)
		jsonl_number(line, "trace_left", tally->trace_left);
	snprintf(seconds, sizeof(seconds), "%.6f", tally->seconds);
	json_object_object_add(line, "seconds",
			       json_object_new_double_s(tally->seconds,
							seconds));
	if (!tally->trace_bytes || tally->seconds <= 0)
		return;
	jsonl_number(line, "bytes_per_second",
		     (u64)((double)tally->trace_bytes / tally->seconds));
	jsonl_number(line, "branches_per_second",
		     (u64)((double)tally_branches(tally) / tally->seconds));
}

void tally_show_json(const struct tally *tally, FILE *out)
{
	struct json_object *line = json_object_new_object();
	struct json_object *gaps = json_object_new_object();
	u32 kind;

	jsonl_text(line, "type", "summary");
	jsonl_number(line, "records", tally->records);
	jsonl_number(line, "branches", tally_branches(tally));
	jsonl_number(line, "insns", tally->types[KIPT_RECORD_INSN]);
	jsonl_number(line, "executed", tally->counted ? 0 : tally->executed);
	if (tally->types[KIPT_RECORD_INSN])
		jsonl_hex(line, "hash", tally->hash);
	for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
		if (tally->gaps[kind])
			jsonl_number(gaps, words_kind(KIPT_RECORD_GAP, kind),
				     tally->gaps[kind]);
	}
	json_object_object_add(line, "gaps", gaps);
	if (tally->calls_cut)
		jsonl_number(line, "calls_cut", tally->calls_cut);
	if (tally->rows_left)
		jsonl_number(line, "rows_left", tally->rows_left);
	if (tally->unfinished)
		jsonl_flag(line, "unfinished", true);
	speed_json(tally, line);
	jsonl_print(line, out);
}
