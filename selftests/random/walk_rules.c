// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a random CPU is configured, and how eventful its life is. User space.
 */
#include "walk.h"

static void make_ranges(struct walk_rules *rules, struct rng *rng,
			const struct program *program)
{
	u32 i;

	rules->nr_ranges = (u8)(1 + rng_below(rng, WALK_RANGES));
	rules->stop = rules->may & WALK_TRACESTOP && rng_chance(rng, 300);
	for (i = 0; i < rules->nr_ranges; i++) {
		const struct region *region =
			&program->regions[rng_below(rng, program->nr_regions)];

		rules->ranges[i].begin = region->base +
					 rng_below(rng, region->size / 2);
		rules->ranges[i].last = region->base + region->size - 1 -
					rng_below(rng, region->size / 3);
		if (rules->stop && i == rules->nr_ranges - 1U)
			rules->ranges[i].last = rules->ranges[i].begin + 8;
	}
}

void walk_rules_make(struct walk_rules *rules, struct rng *rng,
		     const struct program *program, u32 may)
{
	memset(rules, 0, sizeof(*rules));
	rules->may = may;
	rules->os = rng_chance(rng, 750);
	rules->user = !rules->os || rng_chance(rng, 850);
	/* Without PIP nobody can distinguish address spaces. */
	if (program->spaces > 1)
		rules->os = true;
	rules->disretc = rng_chance(rng, 250);
	rules->ptwrite = may & WALK_PTWRITE && rng_chance(rng, 700);
	rules->fup_on_ptw = !(may & WALK_PTW_BARE) || rng_chance(rng, 500);
	rules->tsc = rng_chance(rng, 600);
	rules->mtc = rng_chance(rng, 500);
	rules->mtc_freq = (u8)(3 * rng_below(rng, 3));
	rules->interrupts = may & WALK_IF && rng_chance(rng, 200);
	rules->vmcs = may & WALK_VMCS && rng_chance(rng, 200);
	rules->cr3_filter = rules->os && may & WALK_CR3_FILTER &&
			    rng_chance(rng, 150);
	if (rng_chance(rng, 250))
		make_ranges(rules, rng, program);
	rules->steps = 50 + rng_below(rng, 1000);
	rules->psb = rng_below(rng, 12);
	rules->event = rng_below(rng, 25);
	rules->overflow = may & WALK_OVERFLOW && rng_chance(rng, 300) ?
			  rng_below(rng, 8) : 0;
	rules->side = rng_below(rng, 120);
	rules->stray = rng_chance(rng, 500) ? 0 : rng_below(rng, 200);
}
