/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose excerpts a dying machine prints, in which order, and how much of the log
 * and of time they may take. Leaves how one is made to excerpt.c.
 */
#ifndef KIPT_EXCERPT_CPUS_H
#define KIPT_EXCERPT_CPUS_H

#include "excerpt.h"

/**
 * kipt_excerpt_print_all() - print what the CPUs did last, as their sessions want it
 * @event: where and when the machine died
 *
 * The CPU that died comes last: who keeps the end of the log only, as pstore
 * does, then has that. After it a line is printed as the kernel prints: it takes
 * to the consoles what is in the log by then. Takes four seconds at most. Context:
 * any, also NMI and #DF; the caller does not move to another CPU.
 */
void kipt_excerpt_print_all(const struct kipt_crash_event *event);

#endif /* KIPT_EXCERPT_CPUS_H */
