// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading traces, see trace.h. What a trace holds is counted by walking every
 * block of it, without the nodes whose speed is measured later.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../kipt/offline/save_meta.h"
#include "places.h"
#include "sink.h"
#include "trace.h"

u64 bench_trace_hash(u64 hash, const struct kipt_packet *packet)
{
	hash = (hash ^ packet->value) * 1099511628211ULL;
	return (hash ^ (packet->type | (u64)packet->len << 8 |
			(u64)packet->size << 16 | (u64)packet->flags << 24 |
			(u64)packet->aux << 32)) *
	       1099511628211ULL;
}

static void packets_read(struct bench_trace *trace)
{
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, trace->recording.trace,
			 trace->recording.size);
	while (kipt_packet_next(&cursor, &packet) == KIPT_OK) {
		trace->packets++;
		trace->packet_hash = bench_trace_hash(trace->packet_hash,
						      &packet);
	}
}

/* What the walk's records come to. */
struct walker {
	struct bench_digests digests;
	struct bench_places places;
	struct bench_sink sink;
};

static bool walker_take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct walker *walker = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		bench_digest_records(&walker->digests, &records[i], 1);
		if (records[i].type != KIPT_RECORD_BRANCH)
			continue;
		bench_places_add(&walker->places, walker->digests.space,
				 records[i].value);
		bench_sink_take(&walker->sink, records[i].ip,
				records[i].value);
	}
	return true;
}

static bool walk(const struct bench_trace *trace, u64 size, u32 output,
		 struct walker *walker)
{
	struct kipt_flow_config config = trace->config;
	struct kipt_code code = bench_trace_code(trace);
	struct kipt_sink sink = { .emit = walker_take, .ctx = walker };
	struct kipt_flow *flow = NULL;
	void *arena;
	size_t room;

	bench_places_uninit(&walker->places);
	memset(walker, 0, sizeof(*walker));
	walker->sink.left = ~0ULL;
	config.output = output | KIPT_FLOW_NO_MEMO;
	room = (kipt_flow_size(&config) + 63) & ~(size_t)63;
	arena = aligned_alloc(64, room);
	if (arena)
		flow = kipt_flow_init(arena, room, &config, &code, &sink);
	if (flow)
		kipt_flow_run(flow, trace->recording.trace, size, 0, size);
	else
		fprintf(stderr, "bench: no memory to decode %s\n", trace->name);
	free(arena);
	return flow;
}

/* All that the ways to decode are compared with. */
static bool walks(struct bench_trace *trace)
{
	struct walker walker = { 0 };
	bool good;

	good = walk(trace, bench_trace_beginning(trace), KIPT_FLOW_BRANCHES,
		    &walker);
	trace->beginning = walker.digests.all;
	good = good && walk(trace, trace->recording.size,
			    KIPT_FLOW_CALLS | KIPT_FLOW_TIME, &walker);
	trace->calls = walker.digests.calls;
	good = good && walk(trace, trace->recording.size, KIPT_FLOW_BRANCHES,
			    &walker);
	trace->all = walker.digests.all;
	trace->blocks = walker.places.count;
	trace->hash = walker.sink.hash;
	bench_places_uninit(&walker.places);
	return good;
}

static bool config_load(struct bench_trace *trace, const char *dir)
{
	char path[4608];
	u32 tsc_khz;

	snprintf(path, sizeof(path), "%s/%s.json", dir, trace->name);
	return access(path, F_OK) ||
	       meta_read(path, false, &trace->config, &tsc_khz);
}

/* Two pages of code at one address cannot both be right. */
static bool image_unique(const struct bench_trace *trace)
{
	const struct image *image = &trace->recording.image;
	u32 i;

	for (i = 1; i < image->pages; i++) {
		if (image->addr[i] == image->addr[i - 1] &&
		    memcmp(image->bytes + (size_t)i * IMAGE_PAGE,
			   image->bytes + (size_t)(i - 1) * IMAGE_PAGE,
			   IMAGE_PAGE)) {
			fprintf(stderr, "bench: %s has two different pages of code at %#llx\n",
				trace->name,
				(unsigned long long)image->addr[i]);
			return false;
		}
	}
	return true;
}

static bool sections_write(struct bench_trace *trace, const char *work)
{
	const struct image *image = &trace->recording.image;
	FILE *out;
	bool ok;

	snprintf(trace->sections, sizeof(trace->sections), "%s/%s.sections",
		 work, trace->name);
	out = fopen(trace->sections, "we");
	ok = out && fwrite(image->bytes, IMAGE_PAGE, image->pages, out) ==
		    image->pages;
	if (out && fclose(out))
		ok = false;
	if (!ok)
		fprintf(stderr, "bench: cannot write %s: %s\n", trace->sections,
			strerror(errno));
	return ok;
}

bool bench_trace_load(struct bench_trace *trace, const char *path,
		      const char *work)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];

	memset(trace, 0, sizeof(*trace));
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	snprintf(trace->name, sizeof(trace->name), "%s",
		 slash ? slash + 1 : path);
	if (!recording_load(&trace->recording, dir, trace->name)) {
		fprintf(stderr, "bench: cannot read the recording %s\n", path);
		return false;
	}
	trace->intact = trace->recording.trace;
	if (config_load(trace, dir) && image_unique(trace) &&
	    sections_write(trace, work) && walks(trace)) {
		packets_read(trace);
		return true;
	}
	bench_trace_free(trace);
	return false;
}

void bench_trace_free(struct bench_trace *trace)
{
	if (trace->intact != trace->recording.trace)
		free(trace->intact);
	recording_free(&trace->recording);
	remove(trace->sections);
}

bool bench_trace_usable(const struct bench_trace *trace)
{
	u64 gaps = 0;
	u32 kind;

	for (kind = 0; kind < BENCH_DIGEST_GAPS; kind++) {
		if (kind != KIPT_GAP_OVERFLOW && kind != KIPT_GAP_TRUNCATED)
			gaps += trace->all.gaps[kind];
	}
	if (gaps)
		fprintf(stderr, "bench: %s cannot be used, it has %llu GAP records (code missing or changed, or wrong packets); record it again\n",
			trace->name, (unsigned long long)gaps);
	return !gaps;
}

u64 bench_trace_beginning(const struct bench_trace *trace)
{
	return trace->recording.size < BENCH_TRACE_BEGINNING ?
	       trace->recording.size : BENCH_TRACE_BEGINNING;
}

struct kipt_code bench_trace_code(const struct bench_trace *trace)
{
	struct kipt_code code = {
		.read = image_read,
		.space = bench_digest_space,
		.ctx = (void *)&trace->recording.image,
	};

	return code;
}

bool bench_trace_flip(struct bench_trace *trace, u64 offset)
{
	u64 size = trace->recording.size;
	u8 *copy = offset < size ? malloc(size) : NULL;

	if (!copy) {
		fprintf(stderr, "bench: %s has %llu bytes, there is none to flip at %llu\n",
			trace->name, (unsigned long long)size,
			(unsigned long long)offset);
		return false;
	}
	memcpy(copy, trace->intact, size);
	copy[offset] ^= 1U << 3;
	trace->recording.trace = copy;
	return true;
}
