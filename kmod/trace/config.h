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

/**
 * struct kipt_filter - an address range
 * @kind: enum kipt_filter_kind
 * @first: its first address
 * @last: its last address
 */
struct kipt_filter {
	u32 kind;
	u64 first;
	u64 last;
};

/**
 * struct kipt_config - what is asked of the CPUs, and what they are
 * @mode: enum kipt_mode
 * @size: bytes per CPU
 * @ctl: fields of IA32_RTIT_CTL
 * @flags: enum kipt_session_flags
 * @nr_filters: entries of @filters
 * @filters: address ranges
 * @print_branches: of the first CPU at a crash, lines of an armed session's
 *	excerpt, 0: nothing is printed
 * @print_cpus: the same of each other CPU
 * @print_user: of the first CPU, branches of user code
 * @caps: what the CPUs can do; found by setup.c, as is what follows
 * @hw: what the CPUs are to be programmed with
 */
struct kipt_config {
	u32 mode;
	u64 size;
	u64 ctl;
	u32 flags;
	u32 nr_filters;
	struct kipt_filter filters[KIPT_FILTERS_MAX];
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
