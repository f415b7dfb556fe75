// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line per record: type, kind, then what the record's members hold, with
 * nothing left out, so that equal text means equal records. User space.
 */
#include <stdio.h>

#include "../../tools/kipt/records/record_names.h"
#include "record_text.h"

static const char *const types[KIPT_RECORD_TYPE_MAX + 1] = RECORD_TYPE_NAMES;

static const char *const branches[KIPT_BRANCH_KIND_MAX + 1] =
	RECORD_BRANCH_NAMES;

static const char *const gaps[KIPT_GAP_KIND_MAX + 1] = RECORD_GAP_NAMES;

static const char *const flags[] = {
	"no-ip", "no-value", "nr", "hw", "if", "in-tsx", "compressed", "mult",
};

static const char *kind_text(const struct kipt_record *record, char *number,
			     size_t size)
{
	if (record->type == KIPT_RECORD_BRANCH &&
	    record->kind <= KIPT_BRANCH_KIND_MAX && branches[record->kind])
		return branches[record->kind];
	if (record->type == KIPT_RECORD_GAP &&
	    record->kind <= KIPT_GAP_KIND_MAX && gaps[record->kind])
		return gaps[record->kind];
	snprintf(number, size, "%u", record->kind);
	return number;
}

void record_text(const struct kipt_record *record, char *text, size_t size)
{
	const char *type = record->type <= KIPT_RECORD_TYPE_MAX &&
			   types[record->type] ? types[record->type] : "?";
	char number[8];
	int at;
	u32 i;

	at = snprintf(text, size, "%s %s ip=%llx value=%llx aux=%u", type,
		      kind_text(record, number, sizeof(number)),
		      (unsigned long long)record->ip,
		      (unsigned long long)record->value, record->aux);
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (record->flags >> i & 1)
			at += snprintf(text + at, size - at, " %s", flags[i]);
	}
}
