// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core of commit 1617e1e, see core.h: bench.mk takes it from git, and gives its functions
 * the names that they have here. Structures that changed since are declared as that
 * commit has them. User space.
 */
#include "core.h"

struct earlier_config {
	u32 output;
	u32 step_limit;
	u64 memory;
	u64 slice;
	u32 tsc_num;
	u32 tsc_den;
	u64 tsc_near;
	u8 mtc_freq;
	u8 max_nonturbo_ratio;
	bool no_tnt;
	u8 filter_count;
	struct {
		u64 begin;
		u64 last;
		bool stop;
	} filter[4];
};

struct earlier_code {
	u32 (*read)(void *ctx, u64 space, u64 ip, u8 *buf, u32 len);
	u64 (*space)(void *ctx, u64 cr3, bool nr);
	bool (*changed)(void *ctx, u64 space, u64 ip, u32 len);
	u32 (*version)(void *ctx, u64 space, u64 ip, u32 len);
	bool (*based)(void *ctx, u64 space);
	void *ctx;
};

/* Weak, since there are none if git does not have the commit. */
#define WEAK	__attribute__((weak))

WEAK size_t earlier_flow_size(const struct earlier_config *config);
WEAK struct kipt_flow *earlier_flow_init(void *arena, size_t size,
					 const struct earlier_config *config,
					 const struct earlier_code *code,
					 const struct kipt_sink *sink);
WEAK enum kipt_status earlier_flow_run(struct kipt_flow *flow, const u8 *data,
				       u64 size, u64 from, u64 to);
WEAK enum kipt_status earlier_flow_counts(struct kipt_flow *flow);

static struct earlier_config config_of(const struct kipt_flow_config *config)
{
	struct earlier_config earlier = {
		.output = config->output,
		.memory = config->memory,
		.tsc_num = config->tsc_num,
		.tsc_den = config->tsc_den,
		.mtc_freq = config->mtc_freq,
		.max_nonturbo_ratio = config->max_nonturbo_ratio,
		.no_tnt = config->no_tnt,
		.filter_count = config->filter_count,
	};

	memcpy(earlier.filter, config->filter, sizeof(earlier.filter));
	return earlier;
}

static size_t size(const struct kipt_flow_config *config)
{
	struct earlier_config earlier = config_of(config);

	return earlier_flow_size(&earlier);
}

static struct kipt_flow *init(void *arena, size_t room,
			      const struct kipt_flow_config *config,
			      const struct kipt_code *code,
			      const struct kipt_sink *sink)
{
	struct earlier_config earlier = config_of(config);
	struct earlier_code reader = {
		.read = code->read, .space = code->space, .ctx = code->ctx,
	};

	return earlier_flow_init(arena, room, &earlier, &reader, sink);
}

const struct bench_core bench_core_earlier = {
	.name = "1617e1e",
	.size = size,
	.init = init,
	.run = earlier_flow_run,
	.counts = earlier_flow_counts,
};

bool bench_core_is_here(const struct bench_core *core)
{
	return core != &bench_core_earlier || earlier_flow_size;
}
