/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What generations of CPUs added to Intel PT, in words, how much of CPUID
 * leaf 14H.1 can be believed, and what is set by default. Constants and pure
 * functions, the same for module and tool. Usable in kernel and user
 * space.
 *
 * The generations are those of 163 published CPUID dumps of Intel CPUs with
 * PT (the InstLatx64 collection, 2026); what the bits mean is in Intel SDM
 * Vol. 3C, "Enumeration of Intel PT".
 */
#ifndef KIPT_RTIT_FEATURES_H
#define KIPT_RTIT_FEATURES_H

#include "rtit_regs.h"

/**
 * struct rtit_feature - a bit of CPUID leaf 14H.0
 * @mask: the bit
 * @ecx: it is in ECX, else in EBX
 * @name: for programs
 * @words: for people
 * @since: which CPUs have it, to be read after @words and a comma
 */
struct rtit_feature {
	unsigned int mask;
	unsigned char ecx;
	const char *name;
	const char *words;
	const char *since;
};

#define RTIT_FEATURES {							\
	{ RTIT_CAP_CR3_FILTER, 0, "cr3_filter", "filter by CR3",	\
	  "which came with Broadwell" },				\
	{ RTIT_CAP_PSB_CYC, 0, "psb_cyc",				\
	  "PSB frequency and cycle-accurate mode",			\
	  "which came with Skylake and Goldmont" },			\
	{ RTIT_CAP_IP_FILTER, 0, "ip_filter",				\
	  "filter and TraceStop by address",				\
	  "which came with Skylake and Goldmont" },			\
	{ RTIT_CAP_MTC, 0, "mtc", "MTC timing packets",			\
	  "which came with Skylake and Goldmont" },			\
	{ RTIT_CAP_PTWRITE, 0, "ptwrite", "PTWRITE",			\
	  "which came with Goldmont Plus and Alder Lake" },		\
	{ RTIT_CAP_PWR_EVT, 0, "power_events", "power events",		\
	  "which only Atoms have, from Goldmont Plus on" },		\
	{ RTIT_CAP_PSB_PMI_PRESERVE, 0, "psb_pmi_preserve",		\
	  "PSB and PMI preserved across contexts",			\
	  "which came with Tiger Lake and Elkhart Lake" },		\
	{ RTIT_CAP_EVENT_TRACE, 0, "event_trace", "event trace",	\
	  "which came with Alder Lake-N" },				\
	{ RTIT_CAP_TNT_DISABLE, 0, "tnt_disable", "TNT disable",	\
	  "which came with Alder Lake-N and Lunar Lake" },		\
	{ RTIT_CAP_TOPA, 1, "topa", "ToPA output",			\
	  "which came with Broadwell" },				\
	{ RTIT_CAP_TOPA_MULTI, 1, "topa_multi",				\
	  "ToPA tables of many entries",				\
	  "which came with Skylake and Goldmont" },			\
	{ RTIT_CAP_SINGLE_RANGE, 1, "single_range",			\
	  "single-range output",					\
	  "which came with Skylake and Goldmont; some Comet Lakes lack it" }, \
	{ RTIT_CAP_FABRIC, 1, "fabric", "output to the trace fabric",	\
	  "which no CPU is known to have" },				\
	{ RTIT_CAP_LIP, 1, "lip",					\
	  "linear addresses in the trace, whatever the segment",	\
	  "which Atoms have, from Goldmont on" },			\
}

/**
 * rtit_needs_branchen() - can this CPU trace only with BranchEn?
 * @ebx: CPUID.(EAX=14H,ECX=0):EBX
 * @family: of the CPU
 * @model: of the CPU
 *
 * Intel SDM Vol. 3C, "Enumeration of Intel PT", ties that to MTC; Broadwell
 * faults whatever it enumerates (BDM106).
 *
 * Return: not 0 if TraceEn without BranchEn faults.
 */
static inline int rtit_needs_branchen(unsigned int ebx, unsigned int family,
				      unsigned int model)
{
	return !(ebx & RTIT_CAP_MTC) ||
	       (family == 6 && (model == 0x3d || model == 0x47 ||
				model == 0x4f || model == 0x56));
}

/**
 * struct rtit_values - what CPUID leaf 14H.1 allows
 * @listed: the leaf says it; if not, encoding 0 of each field is all that is
 *	certain
 * @ranges: address ranges
 * @mtc: bitmap of the encodings of MTCFreq
 * @cyc: bitmap of the encodings of CycThresh
 * @psb: bitmap of the encodings of PSBFreq
 */
struct rtit_values {
	unsigned int listed;
	unsigned int ranges;
	unsigned int mtc;
	unsigned int cyc;
	unsigned int psb;
};

/**
 * rtit_values_read() - what a CPU allows, as far as leaf 14H.1 makes sense
 * @leaf0: CPUID.(EAX=14H,ECX=0), EAX and EBX
 * @leaf1: CPUID.(EAX=14H,ECX=1), EAX and EBX
 *
 * Some CPUs and virtual machines have a leaf 14H.1 of zeros; early Alder
 * Lakes repeat leaf 14H.0 there. A field without any encoding in its bitmap
 * is taken to have encoding 0: what the CPU does if nothing is asked for.
 *
 * Return: no bitmap is 0.
 */
static inline struct rtit_values
rtit_values_read(const unsigned int leaf0[2], const unsigned int leaf1[2])
{
	unsigned int repeats = leaf1[0] == leaf0[0] && leaf1[1] == leaf0[1];
	unsigned int eax = repeats ? 0 : leaf1[0];
	unsigned int ebx = repeats ? 0 : leaf1[1];
	struct rtit_values values = {
		.listed = eax || ebx,
		.ranges = leaf0[1] & RTIT_CAP_IP_FILTER ?
			  eax & RTIT_CAP1_RANGES : 0,
		.mtc = eax >> RTIT_CAP1_MTC_SHIFT,
		.cyc = ebx & RTIT_CAP1_CYC_MASK,
		.psb = ebx >> RTIT_CAP1_PSB_SHIFT,
	};

	if (values.ranges > RTIT_ADDR_RANGES_MAX)
		values.ranges = RTIT_ADDR_RANGES_MAX;
	if (!values.mtc)
		values.mtc = 1;
	if (!values.cyc)
		values.cyc = 1;
	if (!values.psb)
		values.psb = 1;
	return values;
}

/**
 * rtit_values_share() - keep what another CPU allows too
 * @all: what CPUs have in common; a bitmap becomes 0 where that is nothing
 * @one: what one more CPU allows
 */
static inline void rtit_values_share(struct rtit_values *all,
				     const struct rtit_values *one)
{
	all->listed &= one->listed;
	if (one->ranges < all->ranges)
		all->ranges = one->ranges;
	all->mtc &= one->mtc;
	all->cyc &= one->cyc;
	all->psb &= one->psb;
}

/**
 * rtit_value_near() - an encoding that is allowed
 * @allowed: bitmap of them
 * @wanted: the best one
 *
 * Return: the nearest from @wanted on, else below: fewer packets, not more.
 */
static inline unsigned long long rtit_value_near(unsigned int allowed,
						 unsigned int wanted)
{
	unsigned int above = allowed >> wanted << wanted;

	if (above)
		return __builtin_ctz(above);
	return allowed ? 31 - __builtin_clz(allowed) : 0;
}

/**
 * rtit_ctl_default() - what is set when nobody says anything
 * @ebx: CPUID.(EAX=14H,ECX=0):EBX
 * @values: what leaf 14H.1 allows
 *
 * Of a field with encodings, one that the CPUs are known to allow is taken;
 * there is no MTCEn where nothing but MTCFreq 0 is, a packet with each tick of
 * the crystal.
 *
 * Return: OS, User, BranchEn, TSCEn, and as far as the CPUs have them MTCEn
 * with MTCFreq 3, PSBFreq 2.
 */
static inline unsigned long long
rtit_ctl_default(unsigned int ebx, const struct rtit_values *values)
{
	unsigned long long ctl = RTIT_CTL_OS | RTIT_CTL_USER |
				 RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN;
	unsigned long long mtc = rtit_value_near(values->mtc, 3);

	if (ebx & RTIT_CAP_MTC)
		ctl |= mtc << RTIT_CTL_MTCFREQ_SHIFT |
		       (mtc ? RTIT_CTL_MTCEN : 0);
	if (ebx & RTIT_CAP_PSB_CYC)
		ctl |= rtit_value_near(values->psb, 2) <<
		       RTIT_CTL_PSBFREQ_SHIFT |
		       rtit_value_near(values->cyc, 0) <<
		       RTIT_CTL_CYCTHRESH_SHIFT;
	return ctl;
}

#endif /* KIPT_RTIT_FEATURES_H */
