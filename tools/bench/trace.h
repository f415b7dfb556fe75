/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace to measure with, and what it holds. Owns the recording and the file
 * of its code pages that libipt maps. User space.
 */
#ifndef BENCH_TRACE_H
#define BENCH_TRACE_H

#include "../../kmod/decode/packet/packet.h"
#include "../../selftests/decode/image.h"
#include "digest.h"

/* The beginning of a trace that is measured by itself; shorter traces are shown
 * and not judged.
 */
#define BENCH_TRACE_BEGINNING	(1ULL << 20)

/**
 * struct bench_trace - one trace
 * @name: of the recording
 * @recording: trace and code
 * @intact: its bytes, also if those of @recording were damaged
 * @config: of the CPU that was traced: clock, filters; @output and @memory are
 *	not set
 * @sections: path of a file with the code pages, by address
 * @all: sum over its branches, as the core says that walks every block
 * @calls: over those that KIPT_FLOW_CALLS asks for, and the times between
 * @beginning: over the branches of the beginning
 * @blocks: different addresses, in their address spaces, to which it branches
 * @hash: over all branches, as struct bench_sink has it
 * @packets: how many there are up to the first bytes that are none
 * @packet_hash: over them
 */
struct bench_trace {
	char name[256];
	struct recording recording;
	u8 *intact;
	struct kipt_flow_config config;
	char sections[4096];
	struct bench_digest all;
	struct bench_digest calls;
	struct bench_digest beginning;
	u64 blocks;
	u64 hash;
	u64 packets;
	u64 packet_hash;
};

/**
 * bench_trace_load() - read a recording and look at what it holds
 * @trace: filled
 * @path: DIR/NAME of NAME.pt, NAME.addr and NAME.dump, and of NAME.json, from
 *	which the CPU's clock and filters are taken if it is there
 * @work: folder for the file of code pages
 *
 * Return: false after a sentence on stderr.
 */
bool bench_trace_load(struct bench_trace *trace, const char *path,
		      const char *work);

/**
 * bench_trace_free() - the end of bench_trace_load()
 * @trace: loaded
 */
void bench_trace_free(struct bench_trace *trace);

/**
 * bench_trace_usable() - is everything there that the trace names?
 * @trace: loaded
 *
 * Bytes that the CPU or the end of the buffer cut off are no fault. Return:
 * false after a sentence on stderr that counts the gaps.
 */
bool bench_trace_usable(const struct bench_trace *trace);

/**
 * bench_trace_beginning() - bytes of the beginning
 * @trace: loaded
 *
 * Return: a megabyte, or all if there is less.
 */
u64 bench_trace_beginning(const struct bench_trace *trace);

/**
 * bench_trace_code() - where our decoder reads the code
 * @trace: loaded; used as long as that decodes
 *
 * Return: callbacks; each CR3 is an address space.
 */
struct kipt_code bench_trace_code(const struct bench_trace *trace);

/**
 * bench_trace_flip() - damage a trace, to see that it is noticed
 * @trace: loaded, so that what it holds is known from before
 * @offset: of the byte one bit of which is flipped
 *
 * Return: false after a sentence on stderr.
 */
bool bench_trace_flip(struct bench_trace *trace, u64 offset);

/**
 * bench_trace_hash() - go on with a hash over packets
 * @hash: over those before, 0 first
 * @packet: the next one
 *
 * Return: the hash.
 */
u64 bench_trace_hash(u64 hash, const struct kipt_packet *packet);

#endif /* BENCH_TRACE_H */
