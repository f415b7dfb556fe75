// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the answer to get-info. CPUs with the same capabilities are written
 * together. Owns nothing. Process context.
 */
#include <linux/cpumask.h>
#include <asm/tsc.h>

#include "../hw/hw.h"
#include "../session/latch.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "reply.h"
#include "../lib/version.h"
#include "../../uapi/linux/kipt_record.h"

/* The numbers and headers of all but lists of CPUs. */
#define FIXED_BYTES	1024
#define CAP_BYTES	256

/**
 * struct cpu_kinds - the CPUs, sorted by what they can do
 * @pt: online CPUs that have PT; then of these the ones not written yet
 * @same: the ones that are written together
 * @busy: CPUs that sessions hold
 */
struct cpu_kinds {
	cpumask_var_t pt;
	cpumask_var_t same;
	cpumask_var_t busy;
};

static void free_kinds(struct cpu_kinds *kinds)
{
	free_cpumask_var(kinds->busy);
	free_cpumask_var(kinds->same);
	free_cpumask_var(kinds->pt);
}

static int alloc_kinds(struct cpu_kinds *kinds)
{
	unsigned int cpu;

	memset(kinds, 0, sizeof(*kinds));
	if (!zalloc_cpumask_var(&kinds->pt, GFP_KERNEL) ||
	    !zalloc_cpumask_var(&kinds->same, GFP_KERNEL) ||
	    !zalloc_cpumask_var(&kinds->busy, GFP_KERNEL)) {
		free_kinds(kinds);
		return -ENOMEM;
	}
	for_each_online_cpu(cpu)
		if (kipt_caps_cpu_has_pt(cpu))
			cpumask_set_cpu(cpu, kinds->pt);
	kipt_session_busy(kinds->busy);
	return 0;
}

static int put_leaves(struct sk_buff *skb, const struct kipt_caps *caps)
{
	return nla_put_u32(skb, KIPT_A_CAP_LEAF0_EAX, caps->leaf0_eax) ?:
	       nla_put_u32(skb, KIPT_A_CAP_LEAF0_EBX, caps->leaf0_ebx) ?:
	       nla_put_u32(skb, KIPT_A_CAP_LEAF0_ECX, caps->leaf0_ecx) ?:
	       nla_put_u32(skb, KIPT_A_CAP_LEAF1_EAX, caps->leaf1_eax) ?:
	       nla_put_u32(skb, KIPT_A_CAP_LEAF1_EBX, caps->leaf1_ebx) ?:
	       nla_put_u32(skb, KIPT_A_CAP_TSC_DEN, caps->tsc_den) ?:
	       nla_put_u32(skb, KIPT_A_CAP_TSC_NUM, caps->tsc_num) ?:
	       nla_put_u32(skb, KIPT_A_CAP_CRYSTAL_HZ, caps->crystal_hz) ?:
	       nla_put_u32(skb, KIPT_A_CAP_MAX_NONTURBO_RATIO, caps->max_nonturbo_ratio) ?:
	       nla_put_u32(skb, KIPT_A_CAP_VMX_PT, caps->vmx_pt) ?:
	       kipt_reply_put_u64(skb, KIPT_A_CAP_CTL_ALLOWED, kipt_caps_ctl_allowed(caps));
}

static int put_kind(struct sk_buff *skb, const struct cpu_kinds *kinds,
		    const struct kipt_caps *caps)
{
	struct nlattr *nest = nla_nest_start(skb, KIPT_A_INFO_CAP);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = kipt_reply_put_cpus(skb, KIPT_A_CAP_CPUS, kinds->same) ?:
	      put_leaves(skb, caps) ?:
	      nla_put_u32(skb, KIPT_A_CAP_TSC_KHZ, tsc_khz) ?:
	      nla_put_u32(skb, KIPT_A_CAP_CPU_FAMILY, caps->family) ?:
	      nla_put_u32(skb, KIPT_A_CAP_CPU_MODEL, caps->model) ?:
	      nla_put_u32(skb, KIPT_A_CAP_CPU_STEPPING, caps->stepping) ?:
	      nla_put_u32(skb, KIPT_A_CAP_CORE_TYPE, caps->core_type);
	if (err)
		return err;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_limits(struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, KIPT_A_INFO_LIMITS);
	const struct kipt_limits *limits = kipt_limits();

	if (!nest || kipt_reply_put_u64(skb, KIPT_A_LIMITS_SIZE_MIN, KIPT_SIZE_MIN) ||
	    kipt_reply_put_u64(skb, KIPT_A_LIMITS_SIZE_MAX, KIPT_SIZE_MAX) ||
	    kipt_reply_put_u64(skb, KIPT_A_LIMITS_MEMORY, limits->memory) ||
	    nla_put_u32(skb, KIPT_A_LIMITS_SPACES, limits->spaces) ||
	    nla_put_u32(skb, KIPT_A_LIMITS_SWITCHES, limits->switches) ||
	    nla_put_u32(skb, KIPT_A_LIMITS_PATCHES, limits->patches) ||
	    kipt_reply_put_u64(skb, KIPT_A_LIMITS_ARENA, limits->arena) ||
	    nla_put_u32(skb, KIPT_A_LIMITS_PROCESSES, limits->processes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_versions(struct sk_buff *skb)
{
	return nla_put_string(skb, KIPT_A_INFO_VERSION, KIPT_VERSION) ?:
	       nla_put_u32(skb, KIPT_A_INFO_ABI, KIPT_ABI) ?:
	       nla_put_u32(skb, KIPT_A_INFO_RECORD_VERSION, KIPT_RECORD_VERSION);
}

/* What is about others: which CPUs are traced, and how much. */
static int put_use(struct sk_buff *skb, const struct cpu_kinds *kinds)
{
	int err = kipt_reply_put_cpus(skb, KIPT_A_INFO_BUSY, kinds->busy);
	u32 latch = kipt_latch_cause();

	if (err)
		return err;
	if (kipt_reply_put_u64(skb, KIPT_A_INFO_MEMORY, kipt_memory_used()) ||
	    (latch && nla_put_u32(skb, KIPT_A_INFO_LATCH, latch)))
		return -EMSGSIZE;
	return 0;
}

/* As Kbuild has it. */
static int put_absent(struct sk_buff *skb)
{
	u32 absent = 0;

#ifdef KIPT_WITHOUT_DECODE
	absent |= KIPT_PART_DECODE;
#endif
#ifdef KIPT_WITHOUT_CRASH
	absent |= KIPT_PART_CRASH;
#endif
	return absent ? nla_put_u32(skb, KIPT_A_INFO_ABSENT, absent) : 0;
}

static int put_info(struct sk_buff *skb, struct cpu_kinds *kinds, bool use)
{
	struct kipt_caps caps;
	int err = put_versions(skb) ?:
		  put_absent(skb) ?:
		  kipt_reply_put_cpus(skb, KIPT_A_INFO_CPUS, kinds->pt);

	while (!err && kipt_caps_take_kind(kinds->pt, kinds->same, &caps))
		err = put_kind(skb, kinds, &caps);
	if (!err)
		err = put_limits(skb);
	if (!err && use)
		err = put_use(skb, kinds);
	return err;
}

/* Lists are at their longest when every other CPU is in them. */
static size_t info_size(void)
{
	return FIXED_BYTES + nr_cpu_ids * (CAP_BYTES + 3 * sizeof("1234,"));
}

int kipt_info_get(struct sk_buff *request, struct genl_info *info,
		  struct kipt_refusal *refusal)
{
	bool use = kipt_permission_sees(request);
	struct cpu_kinds kinds;
	struct sk_buff *skb;
	void *header;
	int err;

	err = alloc_kinds(&kinds);
	if (err)
		return err;
	skb = kipt_reply_begin(info, min_t(size_t, info_size(), SZ_32K),
			       &header);
	err = skb ? put_info(skb, &kinds, use) : -ENOMEM;
	free_kinds(&kinds);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}
