/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rtit_regs.h for the module. The kernel's <asm/msr-index.h> has a few of its
 * names with other spellings of the same values; the ones shared with the
 * test CPU take over, and the build shows that the values agree.
 */
#ifndef KIPT_HW_REGS_H
#define KIPT_HW_REGS_H

#include <linux/build_bug.h>
#include <asm/msr-index.h>

enum {
	KIPT_KERNEL_TRACEEN = RTIT_CTL_TRACEEN,
	KIPT_KERNEL_OS = RTIT_CTL_OS,
	KIPT_KERNEL_TOPA = RTIT_CTL_TOPA,
	KIPT_KERNEL_DISRETC = RTIT_CTL_DISRETC,
	KIPT_KERNEL_ERROR = RTIT_STATUS_ERROR,
	KIPT_KERNEL_STOPPED = RTIT_STATUS_STOPPED,
};

#undef RTIT_CTL_TRACEEN
#undef RTIT_CTL_OS
#undef RTIT_CTL_TOPA
#undef RTIT_CTL_DISRETC
#undef RTIT_STATUS_FILTEREN
#undef RTIT_STATUS_CONTEXTEN
#undef RTIT_STATUS_TRIGGEREN
#undef RTIT_STATUS_ERROR
#undef RTIT_STATUS_STOPPED
#undef RTIT_STATUS_BYTECNT

#include "rtit_regs.h"

static_assert(KIPT_KERNEL_TRACEEN == RTIT_CTL_TRACEEN);
static_assert(KIPT_KERNEL_OS == RTIT_CTL_OS);
static_assert(KIPT_KERNEL_TOPA == RTIT_CTL_TOPA);
static_assert(KIPT_KERNEL_DISRETC == RTIT_CTL_DISRETC);
static_assert(KIPT_KERNEL_ERROR == RTIT_STATUS_ERROR);
static_assert(KIPT_KERNEL_STOPPED == RTIT_STATUS_STOPPED);

#endif /* KIPT_HW_REGS_H */
