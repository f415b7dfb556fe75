// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums over branches, see digest.h.
 */
#include "digest.h"

/* FNV-1a's prime, over words instead of bytes. */
#define PRIME	1099511628211ULL

/* All bits of from, to, kind and space decide about each bit of the result. The
 * kernel is the same in each address space.
 */
static u64 mix(u64 space, u64 from, u64 to, u64 kind)
{
	u64 word = from * 0x9e3779b97f4a7c15ULL ^ (to << 5 | kind);

	if (!((from & to) >> 63))
		word += (space + 1) * 0xc2b2ae3d27d4eb4fULL;
	word = (word ^ word >> 32) * 0xd6e8feb86659fd93ULL;
	return word ^ word >> 29;
}

static void add(struct bench_digest *digest, u64 space,
		const struct kipt_record *record)
{
	digest->branches++;
	digest->insns += record->aux;
	digest->edges += mix(space, record->ip, record->value, record->kind);
	digest->order = (digest->order ^ record->ip) * PRIME;
	digest->order = (digest->order ^ record->value ^ record->kind) * PRIME;
}

static void add_time(struct bench_digest *digest,
		     const struct kipt_record *record)
{
	digest->time_records++;
	digest->times = (digest->times ^ record->value) * PRIME;
	digest->times = (digest->times ^ record->aux ^ digest->branches << 32) *
			PRIME;
}

static bool is_call(u32 kind)
{
	return kind != KIPT_BRANCH_COND && kind != KIPT_BRANCH_JUMP &&
	       kind != KIPT_BRANCH_JUMP_IND;
}

bool bench_digest_records(void *ctx, const struct kipt_record *records, u32 n)
{
	struct bench_digests *digests = ctx;
	u32 i;

	for (i = 0; i < n; i++, records++) {
		switch (records->type) {
		case KIPT_RECORD_BRANCH:
			add(&digests->all, digests->space, records);
			if (is_call(records->kind))
				add(&digests->calls, digests->space, records);
			break;
		case KIPT_RECORD_EDGE:
			digests->all.branches += records->aux;
			digests->all.edges += records->aux *
				mix(digests->space, records->ip, records->value,
				    records->kind);
			break;
		case KIPT_RECORD_CONTEXT:
		case KIPT_RECORD_SPACE:
			digests->space = records->value;
			break;
		case KIPT_RECORD_DISABLE:
			digests->all.insns += records->aux;
			break;
		case KIPT_RECORD_SYNC:
			digests->all.insns += records->aux;
			if (records->kind == KIPT_SYNC_START)
				digests->space = 0;
			break;
		case KIPT_RECORD_TIME:
		case KIPT_RECORD_CBR:
			add_time(&digests->all, records);
			add_time(&digests->calls, records);
			break;
		case KIPT_RECORD_GAP:
			digests->all.gaps[records->kind % BENCH_DIGEST_GAPS]++;
			digests->calls.gaps[records->kind %
					    BENCH_DIGEST_GAPS]++;
			break;
		}
	}
	return true;
}

u64 bench_digest_space(void *ctx, u64 cr3, bool nr)
{
	(void)ctx;
	(void)nr;
	return cr3;
}

bool bench_digest_equal(const struct bench_digest *a,
			const struct bench_digest *b)
{
	return a->branches == b->branches && a->edges == b->edges &&
	       !memcmp(a->gaps, b->gaps, sizeof(a->gaps));
}
