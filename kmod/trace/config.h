/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the CPUs of a session have in common, as far as tracing them, decoding their
 * traces and a crash need it.
 */
#ifndef KIPT_CONFIG_H
#define KIPT_CONFIG_H

#include <linux/types.h>

#include "../hw/hw.h"
#include "../../uapi/linux/kipt.h"

struct kipt_sideband;

/* The ranges that are asked for are those of struct kipt_hw_config. */
static_assert(KIPT_FILTERS_MAX == RTIT_ADDR_RANGES_MAX);

/**
 * struct kipt_config - what is asked of the CPUs, and what they are
 * @mode: enum kipt_mode
 * @size: bytes per CPU
 * @ctl: fields of IA32_RTIT_CTL
 * @flags: enum kipt_session_flags
 * @by_cr3: only where CR3 is @cr3, as it was asked for
 * @cr3: see @by_cr3
 * @print_branches: of the first CPU at a crash, lines of an armed session's
 *	excerpt, 0: nothing is printed
 * @print_cpus: the same of each other CPU
 * @print_user: of the first CPU, branches of user code
 * @caps: what the CPUs can do; found by setup.c
 * @hw: what the CPUs are to be programmed with; all but its ranges by setup.c
 */
struct kipt_config {
	u32 mode;
	u64 size;
	u64 ctl;
	u32 flags;
	bool by_cr3;
	u64 cr3;
	u32 print_branches;
	u32 print_cpus;
	u32 print_user;
	struct kipt_caps caps;
	struct kipt_hw_config hw;
};

/**
 * struct kipt_group - the CPUs of a session
 * @id: of the session, from 1, never used again
 * @config: constant
 * @sideband: what is noted beside the traces, task switches and address spaces; NULL until
 *	session-new has made it
 * @started: TSC of the last start
 * @first_patch: number of the first patch of kernel text since the last start
 */
struct kipt_group {
	u32 id;
	struct kipt_config config;
	struct kipt_sideband *sideband;
	u64 started;
	u64 first_patch;
};

#endif /* KIPT_CONFIG_H */
