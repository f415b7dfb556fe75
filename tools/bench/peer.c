// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driving libipt, see peer.h. After an error it goes on at the next PSB, as
 * ptxed does. What is made here ends with the process.
 */
#include <stdio.h>
#include <string.h>

#include <intel-pt.h>

#include "../../kmod/decode/code/insn.h"
#include "peer.h"
#include "sink.h"
#include "stopwatch.h"

/* More than all code of a trace: nothing is unmapped once it is mapped. */
#define CACHE_LIMIT	(4ULL << 30)

/* One section for each run of pages without a hole. */
static bool sections_add(struct pt_image *image,
			 struct pt_image_section_cache *cache,
			 const struct bench_trace *trace)
{
	const struct image *code = &trace->recording.image;
	u32 first, end;
	int id;

	for (first = 0; first < code->pages; first = end) {
		end = first + 1;
		while (end < code->pages &&
		       code->addr[end] == code->addr[end - 1] + IMAGE_PAGE)
			end++;
		id = pt_iscache_add_file(cache, trace->sections,
					 (u64)first * IMAGE_PAGE,
					 (u64)(end - first) * IMAGE_PAGE,
					 code->addr[first]);
		if (id < 0 || pt_image_add_cached(image, cache, id, NULL) < 0)
			return false;
	}
	return true;
}

static struct pt_image *image_make(const struct bench_trace *trace)
{
	struct pt_image_section_cache *cache = pt_iscache_alloc(NULL);
	struct pt_image *image = pt_image_alloc(NULL);

	if (cache && image && !pt_iscache_set_limit(cache, CACHE_LIMIT) &&
	    sections_add(image, cache, trace))
		return image;
	fprintf(stderr, "bench: libipt does not take the code of %s\n",
		trace->name);
	return NULL;
}

/* The workarounds that the real traces need; the others do no harm. The clock
 * is that of the CPU.
 */
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
	config->cpuid_0x15_eax = trace->config.tsc_den;
	config->cpuid_0x15_ebx = trace->config.tsc_num;
	config->mtc_freq = trace->config.mtc_freq;
	config->nom_freq = trace->config.max_nonturbo_ratio;
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
		    struct bench_figure *figure)
{
	struct pt_block block = { 0 };

	for (;;) {
		status = events_take(decoder, status);
		if (status < 0)
			break;
		status = pt_blk_next(decoder, &block, sizeof(block));
		figure->insns += block.ninsn;
		if (status < 0)
			break;
	}
	if (status != -pte_eos)
		figure->errors++;
}

static struct pt_block_decoder *decoder_make(const struct bench_way *way,
					     const struct bench_trace *trace,
					     struct pt_image *image)
{
	struct pt_block_decoder *decoder;
	struct pt_config config;

	configure(&config, trace, bench_way_size(way, trace));
	config.flags.variant.block.end_on_call = way->sink;
	config.flags.variant.block.end_on_jump = way->sink;
	decoder = pt_blk_alloc_decoder(&config);
	if (decoder && pt_blk_set_image(decoder, image) >= 0)
		return decoder;
	fprintf(stderr, "bench: libipt makes no decoder\n");
	return NULL;
}

static bool pass(const struct bench_way *way, const struct bench_trace *trace,
		 struct pt_image *image, struct bench_figure *figure)
{
	struct pt_block_decoder *decoder = decoder_make(way, trace, image);
	int status;

	if (!decoder)
		return false;
	figure->insns = 0;
	figure->errors = 0;
	while ((status = pt_blk_sync_forward(decoder)) >= 0)
		stretch(decoder, status, figure);
	return true;
}

bool bench_peer_decode(const struct bench_way *way,
		       const struct bench_trace *trace,
		       struct bench_figure *figure)
{
	double start = stopwatch_thread();
	struct pt_image *image = image_make(trace);

	if (!image)
		return false;
	if (way->again) {
		if (!pass(way, trace, image, figure))
			return false;
		start = stopwatch_thread();
	}
	if (!pass(way, trace, image, figure))
		return false;
	figure->time = stopwatch_thread() - start;
	return true;
}

/* How long conditional branches are, by their address: libipt's blocks do not say. */
#define LENGTHS		(1U << 16)

/**
 * struct branches - the branches between libipt's blocks
 * @trace: what is decoded
 * @sink: takes them
 * @known: something was executed before, and tracing was not off since
 * @end: address of the last instruction that was executed
 * @class: its class
 * @ips: addresses of conditional branches
 * @lengths: their bytes
 */
struct branches {
	const struct bench_trace *trace;
	struct bench_sink sink;
	bool known;
	u64 end;
	enum pt_insn_class class;
	u64 ips[LENGTHS];
	u8 lengths[LENGTHS];
};

static u8 length_at(struct branches *branches, u64 ip, enum pt_exec_mode mode)
{
	u32 place = (u32)(ip ^ ip >> 16) & (LENGTHS - 1);
	u8 bytes[KIPT_INSN_MAX_LEN] = { 0 };
	void *image = (void *)&branches->trace->recording.image;
	struct kipt_insn insn = { 0 };
	u32 got, kind = mode == ptem_64bit ? KIPT_EXEC_64 :
		   mode == ptem_32bit ? KIPT_EXEC_32 : KIPT_EXEC_16;

	if (branches->ips[place] != ip) {
		got = image_read(image, 0, ip, bytes, sizeof(bytes));
		image_read(image, 0, ip + got, bytes + got,
			   (u32)sizeof(bytes) - got);
		kipt_insn_decode(&insn, kind, ip, bytes, sizeof(bytes));
		branches->ips[place] = ip;
		branches->lengths[place] = insn.len;
	}
	return branches->lengths[place];
}

/* Execution is at @ip now: was it a branch that led there? */
static void reach(struct branches *branches, u64 ip, enum pt_exec_mode mode)
{
	if (!branches->known || branches->class == ptic_other ||
	    branches->class == ptic_ptwrite)
		return;
	if (branches->class == ptic_cond_jump &&
	    ip - branches->end <= KIPT_INSN_MAX_LEN &&
	    ip == branches->end + length_at(branches, branches->end, mode))
		return;
	bench_sink_take(&branches->sink, branches->end, ip);
}

static int events_follow(struct pt_block_decoder *decoder, int status,
			 struct branches *branches)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_blk_event(decoder, &event, sizeof(event));
		if (status < 0)
			break;
		/* What a PSB repeats. */
		if (event.status_update)
			continue;
		switch (event.type) {
		case ptev_async_branch:
			reach(branches, event.variant.async_branch.from,
			      ptem_64bit);
			bench_sink_take(&branches->sink,
					event.variant.async_branch.from,
					event.variant.async_branch.to);
			branches->known = false;
			break;
		case ptev_async_disabled:
			reach(branches, event.variant.async_disabled.at,
			      ptem_64bit);
			branches->known = false;
			break;
		case ptev_enabled:
		case ptev_disabled:
		case ptev_overflow:
			branches->known = false;
			break;
		default:
			break;
		}
	}
	return status;
}

static void stretch_follow(struct pt_block_decoder *decoder, int status,
			   struct branches *branches, struct bench_figure *figure)
{
	struct pt_block block = { 0 };

	branches->known = false;
	for (;;) {
		status = events_follow(decoder, status, branches);
		if (status < 0)
			break;
		status = pt_blk_next(decoder, &block, sizeof(block));
		figure->insns += block.ninsn;
		if (block.ninsn) {
			reach(branches, block.ip, block.mode);
			branches->known = true;
			branches->end = block.end_ip;
			branches->class = block.iclass;
		}
		if (status < 0)
			break;
	}
	if (status != -pte_eos)
		figure->errors++;
}

bool bench_peer_sink(const struct bench_way *way,
		     const struct bench_trace *trace,
		     struct bench_figure *figure)
{
	static struct branches branches;
	double start = stopwatch_thread();
	struct pt_image *image = image_make(trace);
	struct pt_block_decoder *decoder;
	int status;

	branches.trace = trace;
	branches.sink.left = trace->all.branches;
	decoder = image ? decoder_make(way, trace, image) : NULL;
	if (!decoder)
		return false;
	while ((status = pt_blk_sync_forward(decoder)) >= 0)
		stretch_follow(decoder, status, &branches, figure);
	figure->time = stopwatch_thread() - start;
	figure->hash = branches.sink.hash;
	return true;
}

bool bench_peer_packets(const struct bench_way *way,
			const struct bench_trace *trace,
			struct bench_figure *figure)
{
	double start = stopwatch_thread();
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;

	configure(&config, trace, bench_way_size(way, trace));
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder || pt_pkt_sync_forward(decoder) < 0) {
		fprintf(stderr, "bench: libipt finds no PSB in %s\n",
			trace->name);
		return false;
	}
	while (pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0)
		figure->packets++;
	figure->time = stopwatch_thread() - start;
	return true;
}

const char *bench_peer_name(void)
{
	static char name[64];
	struct pt_version version = pt_library_version();

	snprintf(name, sizeof(name), "libipt %u.%u.%u", version.major,
		 version.minor, version.patch);
	return name;
}
