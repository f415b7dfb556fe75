// SPDX-License-Identifier: GPL-2.0-only
/*
 * What CPUs have in common, see capabilities.h.
 */
#include <string.h>

#include "../cli/args.h"
#include "capabilities.h"

void caps_settle(struct kipt_caps *caps)
{
	caps->values = rtit_values_read((u32 []){ caps->leaf0_eax,
						  caps->leaf0_ebx },
					(u32 []){ caps->leaf1_eax,
						  caps->leaf1_ebx });
}

static u32 least(u32 one, u32 other)
{
	return one < other ? one : other;
}

static void keep_if_equal(u32 *all, u32 one)
{
	if (*all != one)
		*all = 0;
}

static void share(struct kipt_caps *all, const struct kipt_caps *one)
{
	all->leaf0_eax = least(all->leaf0_eax, one->leaf0_eax);
	all->leaf0_ebx &= one->leaf0_ebx;
	all->leaf0_ecx &= one->leaf0_ecx;
	all->leaf1_eax = (all->leaf1_eax & one->leaf1_eax &
			  ~RTIT_CAP1_RANGES) |
			 least(all->leaf1_eax & RTIT_CAP1_RANGES,
			       one->leaf1_eax & RTIT_CAP1_RANGES);
	all->leaf1_ebx &= one->leaf1_ebx;
	rtit_values_share(&all->values, &one->values);
	all->vmx_pt &= one->vmx_pt;
	all->ctl_allowed &= one->ctl_allowed;
	keep_if_equal(&all->tsc_den, one->tsc_den);
	keep_if_equal(&all->tsc_num, one->tsc_num);
	keep_if_equal(&all->crystal_hz, one->crystal_hz);
	keep_if_equal(&all->tsc_khz, one->tsc_khz);
	keep_if_equal(&all->max_nonturbo_ratio, one->max_nonturbo_ratio);
	keep_if_equal(&all->family, one->family);
	keep_if_equal(&all->model, one->model);
	keep_if_equal(&all->stepping, one->stepping);
	keep_if_equal(&all->core_type, one->core_type);
}

/* struct wanted - looks for a CPU in a list */
struct wanted {
	u32 cpu;
	bool found;
};

static void see_cpu(void *ctx, u32 cpu)
{
	struct wanted *wanted = ctx;

	wanted->found |= cpu == wanted->cpu;
}

/* struct overlap - whether one list has a CPU of another */
struct overlap {
	const char *other;
	bool found;
};

static void look_up(void *ctx, u32 cpu)
{
	struct overlap *overlap = ctx;
	struct wanted wanted = { .cpu = cpu };

	if (!overlap->found && args_cpus(overlap->other, see_cpu, &wanted))
		overlap->found = wanted.found;
}

static bool has_any(const struct kipt_caps *kind, const char *cpus)
{
	struct overlap overlap = { .other = kind->cpus };

	/* A kind that does not say its CPUs holds for all. */
	return !cpus || !kind->cpus[0] ||
	       (args_cpus(cpus, look_up, &overlap) && overlap.found);
}

void caps_of_cpus(const struct kipt_info *info, const char *cpus,
		  struct kipt_caps *caps)
{
	bool any = false;
	u32 i;

	memset(caps, 0, sizeof(*caps));
	for (i = 0; i < info->kind_count; i++) {
		if (!has_any(&info->kind[i], cpus))
			continue;
		if (any)
			share(caps, &info->kind[i]);
		else
			*caps = info->kind[i];
		any = true;
	}
}
