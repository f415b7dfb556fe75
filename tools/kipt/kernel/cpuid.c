// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUID from user space, see cpuid.h ("Enumeration of Intel PT").
 */
#include <cpuid.h>
#include <string.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "capabilities.h"
#include "cpuid.h"

bool hardware_has_pt(void)
{
	u32 eax, ebx, ecx, edx;

	if (!__get_cpuid_count(RTIT_CPUID_PRESENT_LEAF, 0, &eax, &ebx, &ecx,
			       &edx))
		return false;
	return ebx & RTIT_CPUID_PRESENT_EBX;
}

void hardware_caps(struct kipt_caps *caps)
{
	u32 edx;

	memset(caps, 0, sizeof(*caps));
	if (!hardware_has_pt())
		return;
	__get_cpuid_count(RTIT_CPUID_LEAF, 0, &caps->leaf0_eax,
			  &caps->leaf0_ebx, &caps->leaf0_ecx, &edx);
	if (caps->leaf0_eax)
		__get_cpuid_count(RTIT_CPUID_LEAF, 1, &caps->leaf1_eax,
				  &caps->leaf1_ebx, &(u32){ 0 }, &edx);
	caps_settle(caps);
	__get_cpuid(RTIT_CPUID_TSC_LEAF, &caps->tsc_den, &caps->tsc_num,
		    &caps->crystal_hz, &edx);
}
