// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeping the truth, and filling in what records count. User space.
 */
#include "truth.h"

#include "../../kmod/decode/flow.h"

void truth_init(struct truth *truth)
{
	truth->count = 0;
	truth->proven = 0;
	truth->on = false;
	truth->cr3_waits = false;
}

void truth_add(struct truth *truth, const struct kipt_record *record)
{
	if (truth->count == TRUTH_RECORDS)
		return;
	truth->records[truth->count++] = *record;
	if (record->type == KIPT_RECORD_CONTEXT && !truth->cr3_waits) {
		truth->cr3_waits = true;
		truth->cr3_mark = truth->count;
	}
}

void truth_prove(struct truth *truth, bool on, u64 at)
{
	truth->proven = truth->count;
	truth->cr3_waits = false;
	truth->on = on;
	truth->at = at;
}

void truth_prove_cr3(struct truth *truth)
{
	if (!truth->cr3_waits)
		return;
	truth->proven = truth->cr3_mark;
	truth->at = truth->records[truth->proven - 1].ip;
	truth->cr3_waits = false;
}

void truth_side(struct truth *truth, const struct kipt_record *record)
{
	struct kipt_record *at = &truth->records[truth->proven];

	if (truth->count == TRUTH_RECORDS)
		return;
	memmove(at + 1, at, (truth->count - truth->proven) * sizeof(*at));
	*at = *record;
	truth->count++;
	truth->proven++;
	truth->cr3_mark++;
}

void truth_lose(struct truth *truth)
{
	truth->count = truth->proven;
	truth->cr3_waits = false;
}

bool truth_waits(const struct truth *truth, u64 ip)
{
	u32 i;

	for (i = truth->proven; i < truth->count; i++) {
		if (truth->records[i].type == KIPT_RECORD_INSN &&
		    truth->records[i].ip == ip)
			return true;
	}
	return false;
}

static bool is_wanted(const struct kipt_record *record, u32 output)
{
	if (record->type == KIPT_RECORD_INSN)
		return output & KIPT_FLOW_INSNS;
	if (record->type != KIPT_RECORD_BRANCH)
		return true;
	if (output & KIPT_FLOW_BRANCHES)
		return true;
	if (record->kind == KIPT_BRANCH_EVENT || record->kind == KIPT_BRANCH_VMEXIT ||
	    record->kind == KIPT_BRANCH_TSX_ABORT)
		return true;
	return output & KIPT_FLOW_CALLS && record->kind != KIPT_BRANCH_COND &&
	       record->kind != KIPT_BRANCH_JUMP &&
	       record->kind != KIPT_BRANCH_JUMP_IND;
}

void truth_expect(const struct truth *truth, struct record_list *list,
		  u32 output)
{
	u32 insns = 0, i;

	list->count = 0;
	for (i = 0; i < truth->proven; i++) {
		struct kipt_record record = truth->records[i];

		insns += record.type == KIPT_RECORD_INSN;
		if (!is_wanted(&record, output))
			continue;
		switch (record.type) {
		case KIPT_RECORD_BRANCH:
		case KIPT_RECORD_DISABLE:
		case KIPT_RECORD_SYNC:
			record.aux = insns;
			insns = 0;
			break;
		case KIPT_RECORD_ENABLE:
		case KIPT_RECORD_GAP:
			insns = 0;
			break;
		default:
			break;
		}
		list->records[list->count++] = record;
	}
}
