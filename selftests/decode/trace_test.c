// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces that real CPUs wrote: the instructions of each must be as many, and
 * in the same order (by hash), as the table beside the recordings says, with
 * nothing lost; decoded PSB by PSB the records must be the same; and one
 * flipped bit must be noticed. User space.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../kmod/decode/packet/sync.h"
#include "arena.h"
#include "image.h"
#include "ktap.h"

struct expected {
	const char *name;
	u64 insns;
	u64 hash;
	u32 overflows;
};

static const struct expected table[] = {
	{ "arcus-hello", 147458, 0x002da2dbc9ad436f, 0 },
	{ "arcus-last", 1873231, 0x59cf9b22f3c0e385, 0 },
	{ "arcus-cve-2018-12327-poc", 1763873, 0x69ba23f824fc0455, 0 },
	{ "xdc-mruby", 6334131, 0x0b1093cb8eb83b18, 1 },
	{ "xdc-foo", 117967, 0x58e12b3b6adfa04f, 0 },
	{ "dr-hello", 8, 0xf6cd2704b6ec6e25, 0 },
};

#define FNV_START	1469598103934665603ULL
#define FNV_PRIME	1099511628211ULL

/**
 * struct sums - what a decode comes to
 * @insns: INSN records
 * @hash: of their addresses
 * @gaps: GAP records but overflows
 * @overflows: GAP records of overflows
 * @records: number of records
 * @all: hash of all records' bytes
 */
struct sums {
	u64 insns;
	u64 hash;
	u32 gaps;
	u32 overflows;
	u64 records;
	u64 all;
};

static bool add(void *ctx, const struct kipt_record *record, u32 n)
{
	struct sums *sums = ctx;
	u64 words[3];
	u32 i;

	for (i = 0; i < n; i++, record++) {
		memcpy(words, record, sizeof(words));
		sums->all = (sums->all ^ words[0]) * FNV_PRIME;
		sums->all = (sums->all ^ words[1]) * FNV_PRIME;
		sums->all = (sums->all ^ words[2]) * FNV_PRIME;
		if (record->type == KIPT_RECORD_INSN) {
			sums->insns++;
			sums->hash = (sums->hash ^ record->ip) * FNV_PRIME;
		} else if (record->type == KIPT_RECORD_GAP) {
			if (record->kind == KIPT_GAP_OVERFLOW)
				sums->overflows++;
			else
				sums->gaps++;
		}
	}
	sums->records += n;
	return true;
}

static void start(struct sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	sums->hash = FNV_START;
	sums->all = FNV_START;
}

/* Decodes as a whole, or PSB by PSB with a cold cache each time. */
static bool decode(const struct recording *recording, u32 output, bool parts,
		   struct sums *sums)
{
	struct kipt_flow_config config = { .output = output,
					   .memory = 1 << 20 };
	struct kipt_code code = { .read = image_read,
				  .ctx = (void *)&recording->image };
	struct kipt_sink sink = { .emit = add, .ctx = sums };
	size_t room;
	void *arena = arena_take(&config, &room);
	u64 size = recording->size, from = 0, to;
	struct kipt_flow *flow = NULL;

	start(sums);
	if (!arena)
		return false;
	while (from < size) {
		to = size;
		if (parts)
			to = kipt_sync_next(recording->trace, size, from + 1);
		flow = kipt_flow_init(arena, room, &config, &code, &sink);
		if (!flow)
			break;
		kipt_flow_run(flow, recording->trace, size, from, to);
		from = to;
	}
	arena_give(arena);
	return flow;
}

static bool check_table(const struct recording *recording,
			const struct expected *expected)
{
	struct sums sums;

	if (!decode(recording, KIPT_FLOW_INSNS, false, &sums))
		return false;
	printf("# %llu insns, hash %016llx, %u gaps, %u overflows\n",
	       (unsigned long long)sums.insns, (unsigned long long)sums.hash,
	       sums.gaps, sums.overflows);
	return sums.insns == expected->insns && sums.hash == expected->hash &&
	       !sums.gaps && sums.overflows == expected->overflows;
}

static bool check_parts(const struct recording *recording)
{
	u32 output = KIPT_FLOW_BRANCHES | KIPT_FLOW_TIME;
	struct sums whole, parts;

	return decode(recording, output, false, &whole) &&
	       decode(recording, output, true, &parts) &&
	       whole.records == parts.records && whole.all == parts.all;
}

/* The control: a bit in the middle, in the first byte that matters there. */
static bool check_flip(struct recording *recording)
{
	u32 output = KIPT_FLOW_BRANCHES | KIPT_FLOW_INSNS;
	struct sums whole, flipped;
	u64 at, tries = 0;

	if (!decode(recording, output, false, &whole))
		return false;
	for (at = recording->size / 2; at < recording->size && tries < 8;
	     at++, tries++) {
		recording->trace[at] ^= 0x04;
		decode(recording, output, false, &flipped);
		recording->trace[at] ^= 0x04;
		if (flipped.all != whole.all)
			return true;
	}
	return false;
}

static void run(struct ktap *ktap, const char *dir,
		const struct expected *expected)
{
	struct recording recording;

	if (!recording_load(&recording, dir, expected->name)) {
		ktap_result(ktap, false, "trace %s is readable",
			    expected->name);
		return;
	}
	ktap_result(ktap, check_table(&recording, expected), "trace %s",
		    expected->name);
	ktap_result(ktap, check_parts(&recording), "trace %s PSB by PSB",
		    expected->name);
	ktap_result(ktap, check_flip(&recording), "trace %s with a flipped bit",
		    expected->name);
	recording_free(&recording);
}

int main(int argc, char **argv)
{
	struct ktap ktap = { 0 };
	size_t i;

	if (argc != 2 || argv[1][0] == '-') {
		fprintf(stderr,
			"usage: %s DIR\nDIR holds the recordings, unpacked.\n",
			argv[0]);
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	ktap_start();
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		run(&ktap, argv[1], &table[i]);
	return ktap_end(&ktap);
}
