// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driving libipt, see peer.h. After an error it goes on at the next PSB, as
 * ptxed does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-pt.h>

#include "peer.h"
#include "stopwatch.h"

/* More than all code of a trace: nothing is unmapped once it is mapped. */
#define CACHE_LIMIT	(4ULL << 30)

struct bench_peer {
	const struct bench_trace *trace;
	struct pt_image_section_cache *cache;
	struct pt_image *image;
};

/* One section for each run of pages without a hole. */
static bool sections_add(struct bench_peer *peer)
{
	const struct image *image = &peer->trace->recording.image;
	u32 first, end;
	int id;

	for (first = 0; first < image->pages; first = end) {
		end = first + 1;
		while (end < image->pages &&
		       image->addr[end] == image->addr[end - 1] + IMAGE_PAGE)
			end++;
		id = pt_iscache_add_file(peer->cache, peer->trace->sections,
					 (u64)first * IMAGE_PAGE,
					 (u64)(end - first) * IMAGE_PAGE,
					 image->addr[first]);
		if (id < 0 || pt_image_add_cached(peer->image, peer->cache, id,
						  NULL) < 0)
			return false;
	}
	return true;
}

struct bench_peer *bench_peer_create(const struct bench_trace *trace)
{
	struct bench_peer *peer = calloc(1, sizeof(*peer));

	if (peer) {
		peer->trace = trace;
		peer->cache = pt_iscache_alloc(NULL);
		peer->image = pt_image_alloc(NULL);
	}
	if (peer && peer->cache && peer->image &&
	    !pt_iscache_set_limit(peer->cache, CACHE_LIMIT) &&
	    sections_add(peer))
		return peer;
	fprintf(stderr, "bench: libipt does not take the code of %s\n",
		trace->name);
	bench_peer_destroy(peer);
	return NULL;
}

void bench_peer_destroy(struct bench_peer *peer)
{
	if (!peer)
		return;
	pt_image_free(peer->image);
	pt_iscache_free(peer->cache);
	free(peer);
}

/* The workarounds that the real traces need; the others do no harm. */
static void configure(struct pt_config *config,
		      const struct bench_trace *trace, u64 size)
{
	memset(config, 0, sizeof(*config));
	config->size = sizeof(*config);
	config->begin = trace->recording.trace;
	config->end = trace->recording.trace + size;
	config->cpu.vendor = pcv_intel;
	config->cpu.family = 6;
	config->cpu.model = 94;
	pt_cpu_errata(&config->errata, &config->cpu);
}

static int events_take(struct pt_block_decoder *decoder, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending)
		status = pt_blk_event(decoder, &event, sizeof(event));
	return status;
}

/* From one synchronisation to the next error. */
static void stretch(struct pt_block_decoder *decoder, int status,
		    struct bench_peer_sums *sums)
{
	struct pt_block block = { 0 };

	for (;;) {
		status = events_take(decoder, status);
		if (status < 0)
			break;
		status = pt_blk_next(decoder, &block, sizeof(block));
		sums->blocks++;
		sums->insns += block.ninsn;
		if (status < 0)
			break;
	}
	if (status != -pte_eos)
		sums->errors++;
}

double bench_peer_blocks(struct bench_peer *peer, u64 size,
			 struct bench_peer_sums *sums)
{
	struct pt_block_decoder *decoder;
	struct pt_config config;
	double start;
	int status;

	memset(sums, 0, sizeof(*sums));
	configure(&config, peer->trace, size);
	start = stopwatch_thread();
	decoder = pt_blk_alloc_decoder(&config);
	if (!decoder || pt_blk_set_image(decoder, peer->image) < 0) {
		fprintf(stderr, "bench: libipt makes no decoder\n");
		exit(2);
	}
	while ((status = pt_blk_sync_forward(decoder)) >= 0)
		stretch(decoder, status, sums);
	pt_blk_free_decoder(decoder);
	return stopwatch_thread() - start;
}

static u64 packets_read(struct bench_peer *peer)
{
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;
	u64 n = 0;

	configure(&config, peer->trace, peer->trace->recording.size);
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder || pt_pkt_sync_forward(decoder) < 0) {
		fprintf(stderr, "bench: libipt finds no PSB in %s\n",
			peer->trace->name);
		exit(2);
	}
	while (pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0)
		n++;
	pt_pkt_free_decoder(decoder);
	return n;
}

double bench_peer_packets(struct bench_peer *peer, u64 passes, u64 *count)
{
	double start = stopwatch_thread();

	while (passes--)
		*count = packets_read(peer);
	return stopwatch_thread() - start;
}
