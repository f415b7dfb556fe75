/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rtit_regs.h for the module, where <asm/msr-index.h> has a few of its names
 * already: the build shows that they mean the same.
 */
#ifndef KIPT_HW_REGS_H
#define KIPT_HW_REGS_H

#include <linux/build_bug.h>
#include <asm/msr-index.h>

#include "rtit_regs.h"

static_assert(RTIT_CTL_TRACEEN == 1ULL << 0);
static_assert(RTIT_CTL_OS == 1ULL << 2);
static_assert(RTIT_CTL_TOPA == 1ULL << 8);
static_assert(RTIT_CTL_DISRETC == 1ULL << 11);
static_assert(RTIT_STATUS_FILTEREN == 1ULL << 0);
static_assert(RTIT_STATUS_CONTEXTEN == 1ULL << 1);
static_assert(RTIT_STATUS_TRIGGEREN == 1ULL << 2);
static_assert(RTIT_STATUS_ERROR == 1ULL << 4);
static_assert(RTIT_STATUS_STOPPED == 1ULL << 5);
static_assert(RTIT_STATUS_BYTECNT == 0x1ffffULL << 32);

#endif /* KIPT_HW_REGS_H */
