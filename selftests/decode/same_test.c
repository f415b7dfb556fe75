// SPDX-License-Identifier: GPL-2.0-only
/*
 * All ways to decode give the same: the comparisons of the fuzz target
 * tools/fuzz/fuzz_flow.c, on random programs and what a CPU sends that runs
 * them, also with packets put in, left out and repeated. The numbers are the
 * same in each run. A comparison that fails says where and ends the program.
 * User space.
 */
#include <stdlib.h>

#include "../../tools/fuzz/grammar.h"
#include "ktap.h"

#define HEAD		4
#define TRACE		1500
/* What the fuzz target compares, chosen by the lower bits of a byte. */
#define CHOICES		32
#define PROGRAMS	300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* The target's mutator, which is not used here, wants it. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	(void)data;
	return size < max_size ? size : max_size;
}

/* One program, and its trace in some variations. */
static void compare_program(u8 choice, struct random *random)
{
	u8 bytes[HEAD + PROGRAM_BYTES + TRACE];
	u8 *code = bytes + HEAD, *trace = code + PROGRAM_BYTES;
	u32 size, changes;

	bytes[0] = choice;
	bytes[1] = (u8)random_below(random, 256);
	bytes[2] = (u8)random_below(random, 256);
	bytes[3] = (u8)random_below(random, 256);
	grammar_program(code, random);
	size = grammar_walk(code, trace, TRACE, random);
	for (changes = 0; changes < 4; changes++) {
		LLVMFuzzerTestOneInput(bytes, HEAD + PROGRAM_BYTES + size);
		size = grammar_mutate(trace, size, TRACE, random);
	}
}

int main(void)
{
	static const char *const names[CHOICES] = {
		"with the memo, branches", "with the memo, branches again",
		"with the memo, calls", "packed branches",
		"packed branches again", "packed calls", "chunks apart",
		"chunks by one flow", "a second run", "other code, announced",
		"calls out of branches", "edge counts", "edge counts again",
		"edge counts without the memo", "instructions by chunks",
		"records are well formed", "packed branches, run twice",
		"packed branches, run after a stop", "packed calls, run twice",
		"a sink that stops, branches",
		"a sink that stops, packed calls", "a trace cut off",
		"code that is patched, packed", "a trace cut off, without the memo",
		"edge counts of chunks", "code that is patched, calls and counts",
		"other records than branches'", "calls, a second run",
		"calls, other code, announced", "chunks by one flow, branches",
		"chunks by one flow, without the memo", "pauses",
	};
	struct ktap ktap = { 0 };
	struct random random = { 0 };
	u32 choice, i;

	ktap_start();
	for (choice = 0; choice < CHOICES; choice++) {
		printf("# comparing: %s\n", names[choice]);
		fflush(stdout);
		for (i = 0; i < PROGRAMS; i++)
			compare_program((u8)(choice | i << 5), &random);
		ktap_result(&ktap, true, "same records: %s", names[choice]);
	}
	return ktap_end(&ktap);
}
