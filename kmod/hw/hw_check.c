// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judges a configuration against what CPUs can do, see hw_caps.c, and says
 * why they cannot. Leaves programming to hw_msr.c. Runs anywhere, and keeps
 * nothing.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <asm/cpufeature.h>

#include "hw.h"
#include "../lib/refuse.h"

/*
 * One row a field of IA32_RTIT_CTL that depends on a capability. @shift is
 * that of a field whose encodings are enumerated.
 */
struct ctl_field {
	const char *name;
	u64 mask;
	u32 cap;
	u8 shift;
};

/* Intel SDM Vol. 3C, "IA32_RTIT_CTL MSR" and "Enumeration of Intel PT". */
static const struct ctl_field ctl_fields[] = {
	{ "CYCEn", RTIT_CTL_CYCEN, RTIT_CAP_PSB_CYC },
	{ "PwrEvtEn", RTIT_CTL_PWREVTEN, RTIT_CAP_PWR_EVT },
	{ "FUPonPTW", RTIT_CTL_FUPONPTW, RTIT_CAP_PTWRITE },
	{ "CR3Filter", RTIT_CTL_CR3FILTER, RTIT_CAP_CR3_FILTER },
	{ "MTCEn", RTIT_CTL_MTCEN, RTIT_CAP_MTC },
	{ "PTWEn", RTIT_CTL_PTWEN, RTIT_CAP_PTWRITE },
	{ "EventEn", RTIT_CTL_EVENTEN, RTIT_CAP_EVENT_TRACE },
	{ "DisTNT", RTIT_CTL_DISTNT, RTIT_CAP_TNT_DISABLE },
	{ "MTCFreq", RTIT_CTL_MTCFREQ, RTIT_CAP_MTC, RTIT_CTL_MTCFREQ_SHIFT },
	{ "CycThresh", RTIT_CTL_CYCTHRESH, RTIT_CAP_PSB_CYC,
	  RTIT_CTL_CYCTHRESH_SHIFT },
	{ "PSBFreq", RTIT_CTL_PSBFREQ, RTIT_CAP_PSB_CYC,
	  RTIT_CTL_PSBFREQ_SHIFT },
};

static const struct rtit_feature features[] = RTIT_FEATURES;

#define CTL_ALWAYS	(RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_TSCEN | \
			 RTIT_CTL_DISRETC | RTIT_CTL_BRANCHEN)
#define CTL_OWN		(RTIT_CTL_TRACEEN | RTIT_CTL_TOPA | RTIT_CTL_FABRICEN)

u64 kipt_caps_ctl_allowed(const struct kipt_caps *caps)
{
	u64 allowed = CTL_ALWAYS;
	size_t i;

	if (!caps->pt)
		return 0;
	for (i = 0; i < ARRAY_SIZE(ctl_fields); i++)
		if (caps->leaf0_ebx & ctl_fields[i].cap)
			allowed |= ctl_fields[i].mask;
	/* What the module sets, for ranges and processes that are named. */
	return allowed & ~RTIT_CTL_CR3FILTER;
}

static unsigned long legal_encodings(const struct kipt_caps *caps, u64 mask)
{
	if (mask == RTIT_CTL_MTCFREQ)
		return caps->values.mtc;
	if (mask == RTIT_CTL_CYCTHRESH)
		return caps->values.cyc;
	return caps->values.psb;
}

/*
 * Of any value, 0 too: a field outside its bitmap makes the write fault,
 * whether or not its enable bit is set.
 */
static int check_encoding(const struct kipt_caps *caps,
			  const struct ctl_field *field, u64 ctl,
			  struct kipt_refusal *refusal)
{
	unsigned long legal = legal_encodings(caps, field->mask);
	u32 value = (ctl & field->mask) >> field->shift;

	if (legal & BIT(value))
		return 0;
	if (!legal)
		return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
				   "%s %u is not supported; these CPUs have no encoding in common",
				   field->name, value);
	if (!caps->values.listed)
		return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
				   "%s %u is not supported; CPUID.14H.1 of this CPU lists no encodings, and only 0 is certain",
				   field->name, value);
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
			   "%s %u is not supported; allowed encodings: %*pbl",
			   field->name, value, 16, &legal);
}

static const struct rtit_feature *find_feature(u32 cap, bool ecx)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(features) - 1; i++)
		if (features[i].ecx == ecx && features[i].mask == cap)
			break;
	return &features[i];
}

void kipt_caps_lack(u32 cap, bool ecx, char *text, size_t size)
{
	const struct rtit_feature *feature = find_feature(cap, ecx);

	snprintf(text, size, "this CPU has no %s, %s (CPUID.14H.0:%s[%u] is 0)",
		 feature->words, feature->since, ecx ? "ECX" : "EBX",
		 ilog2(cap));
}

static int refuse_field(const char *name, u32 cap, struct kipt_refusal *refusal)
{
	char lack[KIPT_REFUSE_BYTES];

	kipt_caps_lack(cap, false, lack, sizeof(lack));
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP, "%s: %s", name, lack);
}

static int check_field(const struct kipt_caps *caps,
		       const struct ctl_field *field, u64 ctl,
		       struct kipt_refusal *refusal)
{
	if (!(caps->leaf0_ebx & field->cap))
		return ctl & field->mask ?
		       refuse_field(field->name, field->cap, refusal) : 0;
	return field->shift ? check_encoding(caps, field, ctl, refusal) : 0;
}

static const char *contradiction(u64 ctl)
{
	if (ctl & CTL_OWN)
		return "TraceEn, ToPA and FabricEn are set by the module, not by users";
	if (!(ctl & (RTIT_CTL_OS | RTIT_CTL_USER)))
		return "OS and User are both 0: set one or both, or nothing is traced";
	if (ctl & RTIT_CTL_FUPONPTW && !(ctl & RTIT_CTL_PTWEN))
		return "FUPonPTW needs PTWEn";
	if (ctl & RTIT_CTL_DISTNT && !(ctl & RTIT_CTL_BRANCHEN))
		return "DisTNT needs BranchEn";
	return NULL;
}

static const char *not_offered(const struct kipt_caps *caps, u64 ctl)
{
	if (ctl & RTIT_CTL_INJECTPSBPMI)
		return "InjectPsbPmiOnEnable is not offered by this version of kipt";
	if (!(ctl & RTIT_CTL_BRANCHEN) &&
	    rtit_needs_branchen(caps->leaf0_ebx, caps->family, caps->model))
		return "BranchEn is 0: this CPU cannot trace without it, which came with Skylake and Goldmont (CPUID.14H.0:EBX[3] is 0, or erratum BDM106)";
	return NULL;
}

static u64 known_bits(void)
{
	u64 known = CTL_ALWAYS | RTIT_CTL_ADDR_CFGS;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ctl_fields); i++)
		known |= ctl_fields[i].mask;
	return known;
}

static int check_ctl(const struct kipt_caps *caps, u64 ctl,
		     struct kipt_refusal *refusal)
{
	const char *text;
	size_t i;
	int err;

	text = contradiction(ctl);
	if (text)
		return kipt_refuse(refusal, NULL, -EINVAL, "%s", text);
	text = not_offered(caps, ctl);
	if (text)
		return kipt_refuse(refusal, NULL, -EOPNOTSUPP, "%s", text);
	if (ctl & ~known_bits())
		return kipt_refuse(refusal, NULL, -EINVAL,
				   "ctl has reserved bits: %#llx", ctl & ~known_bits());
	for (i = 0; i < ARRAY_SIZE(ctl_fields); i++) {
		err = check_field(caps, &ctl_fields[i], ctl, refusal);
		if (err)
			return err;
	}
	return 0;
}

/* A write of another address to IA32_RTIT_ADDRn faults. */
static bool is_canonical(u64 addr)
{
	u32 unused = boot_cpu_has(X86_FEATURE_LA57) ? 64 - 57 : 64 - 48;

	return (u64)((s64)(addr << unused) >> unused) == addr;
}

static int refuse_count(const struct kipt_caps *caps, u32 count,
			struct kipt_refusal *refusal)
{
	if (caps->values.listed)
		return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
				   "%u address ranges are too many; this CPU has %u (CPUID.14H.1:EAX[2:0])",
				   count, caps->values.ranges);
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
			   "%u address ranges are too many; CPUID.14H.1 of this CPU makes no sense, and none is certain",
			   count);
}

static int check_ranges(const struct kipt_caps *caps,
			const struct kipt_hw_config *config,
			struct kipt_refusal *refusal)
{
	const struct kipt_hw_range *range = config->ranges;
	u32 most = caps->values.ranges, i;

	if (config->nr_ranges && !(caps->leaf0_ebx & RTIT_CAP_IP_FILTER))
		return refuse_field("ADDRn_CFG", RTIT_CAP_IP_FILTER, refusal);
	if (config->nr_ranges > most)
		return refuse_count(caps, config->nr_ranges, refusal);
	for (i = 0; i < config->nr_ranges; i++, range++)
		if (!is_canonical(range->first) || !is_canonical(range->last))
			return kipt_refuse(refusal, NULL, -EINVAL,
					   "range %u, %#llx to %#llx, is not canonical",
					   i, range->first, range->last);
	return 0;
}

int kipt_caps_check_config(const struct kipt_caps *caps,
			   const struct kipt_hw_config *config,
			   struct kipt_refusal *refusal)
{
	return check_ctl(caps, config->ctl, refusal) ?: check_ranges(caps, config, refusal);
}
