/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decoder core as a table, since it is in the benchmark three times: compiled as
 * the tool is, compiled as the kernel is, and as commit 1617e1e has it (bench.mk). User space.
 */
#ifndef BENCH_CORE_H
#define BENCH_CORE_H

#include "../../kmod/decode/flow.h"
#include "../../kmod/decode/packet/packet.h"

/**
 * struct bench_core - one of them
 * @name: for people
 * @size: kipt_flow_size()
 * @init: kipt_flow_init()
 * @run: kipt_flow_run()
 * @counts: kipt_flow_counts()
 * @packet: kipt_packet_next(); NULL for the earlier core
 */
struct bench_core {
	const char *name;
	size_t (*size)(const struct kipt_flow_config *config);
	struct kipt_flow *(*init)(void *arena, size_t size,
				  const struct kipt_flow_config *config,
				  const struct kipt_code *code,
				  const struct kipt_sink *sink);
	enum kipt_status (*run)(struct kipt_flow *flow, const u8 *data,
				u64 size, u64 from, u64 to);
	enum kipt_status (*counts)(struct kipt_flow *flow);
	enum kipt_status (*packet)(struct kipt_cursor *cursor,
				   struct kipt_packet *packet);
};

/* With the flags of the tool, and with those of the kernel. */
extern const struct bench_core bench_core_plain;
extern const struct bench_core bench_core_kernel;

/* The core of commit 1617e1e with the flags of the tool, in core_earlier.c. */
extern const struct bench_core bench_core_earlier;

/**
 * bench_core_is_here() - was a core linked?
 * @core: which
 *
 * Return: false for that of commit 1617e1e where git did not have the commit.
 */
bool bench_core_is_here(const struct bench_core *core);

#endif /* BENCH_CORE_H */
