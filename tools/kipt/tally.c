// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts over records, see tally.h.
 */
#include <json-c/json.h>
#include <string.h>

#include "jsonl.h"
#include "tally.h"
#include "words.h"

void tally_init(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	tally->hash = TALLY_HASH_START;
}

void tally_record(struct tally *tally, const struct kipt_record *record)
{
	tally->records++;
	tally->types[record->type <= KIPT_RECORD_TYPE_MAX ? record->type : 0]++;
	switch (record->type) {
	case KIPT_RECORD_INSN:
		tally->hash = (tally->hash ^ record->ip) * TALLY_HASH_PRIME;
		break;
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_DISABLE:
	case KIPT_RECORD_SYNC:
		tally->executed += record->aux;
		break;
	case KIPT_RECORD_GAP:
		tally->gaps[record->kind <= KIPT_GAP_KIND_MAX ?
			    record->kind : 0]++;
		if (record->kind == KIPT_GAP_RECEIVER)
			tally->lost += record->value;
	}
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

void tally_show(const struct tally *tally, FILE *out)
{
	double mib = (double)tally->trace_bytes / 1048576;

	fprintf(out, "%llu branches",
		(unsigned long long)tally->types[KIPT_RECORD_BRANCH]);
	if (tally->types[KIPT_RECORD_INSN])
		fprintf(out, ", %llu instructions",
			(unsigned long long)tally->types[KIPT_RECORD_INSN]);
	else if (tally->executed)
		fprintf(out, ", %llu instructions",
			(unsigned long long)tally->executed);
	gaps_show(tally, out);
	if (tally->trace_bytes)
		fprintf(out, "; %.2f MiB of trace", mib);
	if (tally->trace_bytes && tally->seconds > 0)
		fprintf(out, " decoded in %.2f s, %.1f MiB/s", tally->seconds,
			mib / tally->seconds);
	fputc('\n', out);
	if (tally->lost)
		fprintf(out, "%llu records were lost\n",
			(unsigned long long)tally->lost);
}

void tally_show_json(const struct tally *tally, FILE *out)
{
	struct json_object *line = json_object_new_object();
	struct json_object *gaps = json_object_new_object();
	char seconds[32];
	u32 kind;

	jsonl_text(line, "type", "summary");
	jsonl_number(line, "records", tally->records);
	jsonl_number(line, "branches", tally->types[KIPT_RECORD_BRANCH]);
	jsonl_number(line, "insns", tally->types[KIPT_RECORD_INSN]);
	jsonl_number(line, "executed", tally->executed);
	jsonl_number(line, "lost", tally->lost);
	if (tally->types[KIPT_RECORD_INSN])
		jsonl_hex(line, "hash", tally->hash);
	for (kind = 1; kind <= KIPT_GAP_KIND_MAX; kind++) {
		if (tally->gaps[kind])
			jsonl_number(gaps, words_kind(KIPT_RECORD_GAP, kind),
				     tally->gaps[kind]);
	}
	json_object_object_add(line, "gaps", gaps);
	jsonl_number(line, "trace_bytes", tally->trace_bytes);
	snprintf(seconds, sizeof(seconds), "%.6f", tally->seconds);
	json_object_object_add(line, "seconds",
			       json_object_new_double_s(tally->seconds,
							seconds));
	jsonl_print(line, out);
}
