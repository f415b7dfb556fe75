// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cores of today, see core.h. bench.mk gives the names of the second one to it when
 * it links it. User space.
 */
#include "core.h"

size_t kernel_flow_size(const struct kipt_flow_config *config);
struct kipt_flow *kernel_flow_init(void *arena, size_t size,
				   const struct kipt_flow_config *config,
				   const struct kipt_code *code,
				   const struct kipt_sink *sink);
enum kipt_status kernel_flow_run(struct kipt_flow *flow, const u8 *data,
				 u64 size, u64 from, u64 to);
enum kipt_status kernel_flow_counts(struct kipt_flow *flow);
enum kipt_status kernel_packet_next(struct kipt_cursor *cursor,
				    struct kipt_packet *packet);

const struct bench_core bench_core_plain = {
	.name = "plain flags",
	.size = kipt_flow_size,
	.init = kipt_flow_init,
	.run = kipt_flow_run,
	.counts = kipt_flow_counts,
	.packet = kipt_packet_next,
};

const struct bench_core bench_core_kernel = {
	.name = "the kernel's flags",
	.size = kernel_flow_size,
	.init = kernel_flow_init,
	.run = kernel_flow_run,
	.counts = kernel_flow_counts,
	.packet = kernel_packet_next,
};
