/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What CPUs of several kinds have in common, see struct kipt_info.
 */
#ifndef KIPT_CAPABILITIES_H
#define KIPT_CAPABILITIES_H

#include "session_words.h"

/* Bytes of the largest block of memory Linux has on x86. */
#define CAPS_BLOCK_MAX	(4ULL << 20)

/**
 * caps_settle() - fill in what follows from CPUID leaf 14H
 * @caps: its leaves are there
 */
void caps_settle(struct kipt_caps *caps);

/**
 * caps_of_cpus() - what all of some CPUs can do
 * @info: the kinds of CPUs there are
 * @cpus: CPU list, or NULL for all that have PT
 * @caps: the part that all kinds of @cpus share; clock and model are 0 where
 *	kinds differ
 */
void caps_of_cpus(const struct kipt_info *info, const char *cpus,
		  struct kipt_caps *caps);

#endif /* KIPT_CAPABILITIES_H */
