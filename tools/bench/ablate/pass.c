// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: pass counts|packets MEGABYTES DIR/NAME
 *
 * Decodes a recorded trace once, with a decoder that has seen nothing, and prints
 * the CPU time that took in ms, and what came out: branches of the edges told, or
 * packets. The clock starts before the decoder's memory is mapped and stops when
 * counts are handed out, as in the benchmark. User space.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../../../kmod/decode/packet.h"
#include "../../../selftests/decode/image.h"
#include "../stopwatch.h"

#define HUGE_PAGE	(2UL << 20)
#define PACKETS_AT_ONCE	256

static bool take(void *ctx, const struct kipt_record *records, u32 count)
{
	u64 *branches = ctx;
	u32 i;

	for (i = 0; i < count; i++) {
		if (records[i].type == KIPT_RECORD_EDGE)
			*branches += records[i].aux;
	}
	return true;
}

static bool run_counts(struct recording *recording, u64 memory, u64 *branches)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_COUNTS, .memory = memory };
	struct kipt_code code = { .read = image_read, .ctx = &recording->image };
	struct kipt_sink sink = { .emit = take, .ctx = branches };
	size_t size = (kipt_flow_size(&config) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	void *arena = aligned_alloc(HUGE_PAGE, size);
	struct kipt_flow *flow;

	if (!arena)
		return false;
	madvise(arena, size, MADV_HUGEPAGE);
	flow = kipt_flow_init(arena, size, &config, &code, &sink);
	if (!flow)
		return false;
	kipt_flow_run(flow, recording->trace, recording->size, 0, recording->size);
	kipt_flow_counts(flow);
	return true;
}

static bool run_packets(struct recording *recording, u64 *packets)
{
	struct kipt_packet read[PACKETS_AT_ONCE];
	struct kipt_cursor cursor;
	enum kipt_status status;
	u32 count;

	kipt_cursor_init(&cursor, recording->trace, recording->size);
	do {
		status = kipt_packets_read(&cursor, read, PACKETS_AT_ONCE, &count);
		*packets += count;
	} while (status == KIPT_OK);
	return true;
}

int main(int argc, char **argv)
{
	struct recording recording;
	bool counts, done;
	char *slash;
	u64 came = 0;
	double time;

	slash = argc == 4 ? strrchr(argv[3], '/') : NULL;
	if (!slash) {
		fprintf(stderr, "Usage: pass counts|packets MEGABYTES DIR/NAME\n");
		return 2;
	}
	*slash = '\0';
	if (!recording_load(&recording, argv[3], slash + 1))
		return 1;
	counts = !strcmp(argv[1], "counts");
	time = stopwatch_thread();
	done = counts ? run_counts(&recording, strtoull(argv[2], NULL, 10) << 20, &came) :
			run_packets(&recording, &came);
	time = stopwatch_thread() - time;
	recording_free(&recording);
	if (!done) {
		fprintf(stderr, "pass: no decoder in so much memory\n");
		return 1;
	}
	printf("%.3f %llu\n", time / 1e6, (unsigned long long)came);
	return 0;
}
