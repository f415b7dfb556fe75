/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the Intel PT registers and of the ToPA table entry. Constants
 * only: the module programs them, the test CPU models them, and nothing else
 * is shared between the two. Usable in kernel and user space, and in C or
 * assembly-free headers alike.
 *
 * The kernel's <asm/msr-index.h> has ten of the names, with other spellings of
 * the same values; where it was included before, those are taken.
 */
#ifndef KIPT_RTIT_REGS_H
#define KIPT_RTIT_REGS_H

/* Intel SDM Vol. 3C, "Intel Processor Trace": MSR addresses. */
#define RTIT_OUTPUT_BASE		0x560
#define RTIT_OUTPUT_MASK_PTRS		0x561
#define RTIT_CTL			0x570
#define RTIT_STATUS			0x571
#define RTIT_CR3_MATCH			0x572
#define RTIT_ADDR0_A			0x580
#define RTIT_ADDR0_B			0x581
#define RTIT_ADDR_RANGES_MAX		4
#define RTIT_ADDR_A(n)			(RTIT_ADDR0_A + 2 * (n))
#define RTIT_ADDR_B(n)			(RTIT_ADDR0_B + 2 * (n))

/* Companions of PT outside its own MSR range. */
#define RTIT_PLATFORM_INFO		0x0ce
#define RTIT_PERF_GLOBAL_STATUS		0x38e
#define RTIT_PERF_GLOBAL_STATUS_RESET	0x390
#define RTIT_PERF_GLOBAL_STATUS_SET	0x391
#define RTIT_GLOBAL_TOPA_PMI		(1ULL << 55)
#define RTIT_VMX_MISC			0x485
#define RTIT_VMX_MISC_PT		(1ULL << 14)

/* "IA32_RTIT_CTL MSR". */
#ifndef RTIT_CTL_TRACEEN
#define RTIT_CTL_TRACEEN		(1ULL << 0)
#define RTIT_CTL_OS			(1ULL << 2)
#define RTIT_CTL_TOPA			(1ULL << 8)
#define RTIT_CTL_DISRETC		(1ULL << 11)
#endif
#define RTIT_CTL_CYCEN			(1ULL << 1)
#define RTIT_CTL_USER			(1ULL << 3)
#define RTIT_CTL_PWREVTEN		(1ULL << 4)
#define RTIT_CTL_FUPONPTW		(1ULL << 5)
#define RTIT_CTL_FABRICEN		(1ULL << 6)
#define RTIT_CTL_CR3FILTER		(1ULL << 7)
#define RTIT_CTL_MTCEN			(1ULL << 9)
#define RTIT_CTL_TSCEN			(1ULL << 10)
#define RTIT_CTL_PTWEN			(1ULL << 12)
#define RTIT_CTL_BRANCHEN		(1ULL << 13)
#define RTIT_CTL_MTCFREQ_SHIFT		14
#define RTIT_CTL_MTCFREQ		(0xfULL << RTIT_CTL_MTCFREQ_SHIFT)
#define RTIT_CTL_CYCTHRESH_SHIFT	19
#define RTIT_CTL_CYCTHRESH		(0xfULL << RTIT_CTL_CYCTHRESH_SHIFT)
#define RTIT_CTL_PSBFREQ_SHIFT		24
#define RTIT_CTL_PSBFREQ		(0xfULL << RTIT_CTL_PSBFREQ_SHIFT)
#define RTIT_CTL_EVENTEN		(1ULL << 31)
#define RTIT_CTL_ADDR_CFG_SHIFT(n)	(32 + 4 * (n))
#define RTIT_CTL_ADDR_CFG(n)		(0xfULL << RTIT_CTL_ADDR_CFG_SHIFT(n))
/* Those of all RTIT_ADDR_RANGES_MAX ranges. */
#define RTIT_CTL_ADDR_CFGS		\
	(((1ULL << 4 * RTIT_ADDR_RANGES_MAX) - 1) << RTIT_CTL_ADDR_CFG_SHIFT(0))
#define RTIT_CTL_DISTNT			(1ULL << 55)
#define RTIT_CTL_INJECTPSBPMI		(1ULL << 56)

/* Values of an ADDRn_CFG field. */
#define RTIT_ADDR_CFG_UNUSED		0
#define RTIT_ADDR_CFG_FILTER		1
#define RTIT_ADDR_CFG_TRACESTOP		2

/* "IA32_RTIT_STATUS MSR". */
#ifndef RTIT_STATUS_FILTEREN
#define RTIT_STATUS_FILTEREN		(1ULL << 0)
#define RTIT_STATUS_CONTEXTEN		(1ULL << 1)
#define RTIT_STATUS_TRIGGEREN		(1ULL << 2)
#define RTIT_STATUS_ERROR		(1ULL << 4)
#define RTIT_STATUS_STOPPED		(1ULL << 5)
#define RTIT_STATUS_BYTECNT		(0x1ffffULL << 32)
#endif
#define RTIT_STATUS_PENDPSB		(1ULL << 6)
#define RTIT_STATUS_PENDTOPAPMI		(1ULL << 7)
#define RTIT_STATUS_BYTECNT_SHIFT	32

/* "IA32_RTIT_OUTPUT_MASK_PTRS MSR", with ToPA. */
#define RTIT_MASK_PTRS_LOW		0x7fULL
#define RTIT_MASK_PTRS_INDEX_SHIFT	7
#define RTIT_MASK_PTRS_INDEX		(0x1ffffffULL << RTIT_MASK_PTRS_INDEX_SHIFT)
#define RTIT_MASK_PTRS_OFFSET_SHIFT	32

/* "ToPA Table Entry Format". */
#define TOPA_END			(1ULL << 0)
#define TOPA_INT			(1ULL << 2)
#define TOPA_STOP			(1ULL << 4)
#define TOPA_SIZE_SHIFT			6
#define TOPA_SIZE			(0xfULL << TOPA_SIZE_SHIFT)
#define TOPA_BASE_SHIFT			12
/* Regions are 4 KiB << TOPA_SIZE. */
#define TOPA_REGION_SHIFT		12

/* CPUID: presence and capability leaves ("Enumeration of Intel PT"). */
#define RTIT_CPUID_PRESENT_LEAF		0x7
#define RTIT_CPUID_PRESENT_EBX		(1U << 25)
#define RTIT_CPUID_LEAF			0x14
/* Beside it: the clocks, and the type of the core. */
#define RTIT_CPUID_TSC_LEAF		0x15
#define RTIT_CPUID_CORE_LEAF		0x1a

/* CPUID.(EAX=14H,ECX=0):EBX */
#define RTIT_CAP_CR3_FILTER		(1U << 0)
#define RTIT_CAP_PSB_CYC		(1U << 1)
#define RTIT_CAP_IP_FILTER		(1U << 2)
#define RTIT_CAP_MTC			(1U << 3)
#define RTIT_CAP_PTWRITE		(1U << 4)
#define RTIT_CAP_PWR_EVT		(1U << 5)
#define RTIT_CAP_PSB_PMI_PRESERVE	(1U << 6)
#define RTIT_CAP_EVENT_TRACE		(1U << 7)
#define RTIT_CAP_TNT_DISABLE		(1U << 8)
#define RTIT_CAP_TRIGGER		(1U << 9)
/* CPUID.(EAX=14H,ECX=0):ECX */
#define RTIT_CAP_TOPA			(1U << 0)
#define RTIT_CAP_TOPA_MULTI		(1U << 1)
#define RTIT_CAP_SINGLE_RANGE		(1U << 2)
#define RTIT_CAP_FABRIC			(1U << 3)
#define RTIT_CAP_LIP			(1U << 31)
/* CPUID.(EAX=14H,ECX=1):EAX and EBX */
#define RTIT_CAP1_RANGES		0x7U
#define RTIT_CAP1_MTC_SHIFT		16
#define RTIT_CAP1_CYC_MASK		0xffffU
#define RTIT_CAP1_PSB_SHIFT		16

#endif /* KIPT_RTIT_REGS_H */
