/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session is made of: whether its CPUs can do what it asks for, their reservation
 * against perf, and what is freed with it. Knows no list of sessions; leaves to setup.c
 * in which order parts are made. Process context.
 */
#ifndef KIPT_PARTS_H
#define KIPT_PARTS_H

#include <linux/types.h>

struct kipt_caps;
struct kipt_refusal;
struct kipt_session;
struct kipt_trace;

/**
 * kipt_parts_check_output() - whether CPUs can write such a buffer
 * @caps: what they can do
 * @mode: enum kipt_mode
 * @size: bytes of a CPU
 * @refusal: where a refusal is explained
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int kipt_parts_check_output(const struct kipt_caps *caps, u32 mode, u64 size,
			    struct kipt_refusal *refusal);

/**
 * kipt_parts_explain() - say why a CPU does not trace
 * @trace: of the CPU
 * @err: what kipt_trace_check_all() or kipt_trace_start_all() said
 * @refusal: where
 *
 * Return: the errno of the refusal.
 */
int kipt_parts_explain(const struct kipt_trace *trace, int err,
		       struct kipt_refusal *refusal);

/**
 * kipt_parts_reserve() - take the CPUs from perf and see that PT is off
 * @session: locked, or @reserving; what it has already it keeps. Of an armed
 *	one CPUs that are offline are left out
 * @refusal: where a refusal is explained
 *
 * Context: may sleep, for a second if a CPU does not answer.
 *
 * Return: 0; -EBUSY; -ENXIO (a CPU is offline); -ETIMEDOUT (one takes no
 * interrupts); or another error of perf.
 */
int kipt_parts_reserve(struct kipt_session *session,
		       struct kipt_refusal *refusal);

/**
 * kipt_parts_reserve_cpu() - the same for one CPU of an armed session
 * @session: as above
 * @trace: of the CPU, which may have been unknown when the session was made
 * @refusal: where a refusal is explained
 *
 * Context: as above.
 *
 * Return: as above; or -EINVAL, -EOPNOTSUPP if the CPU cannot do what the
 * session asks for.
 */
int kipt_parts_reserve_cpu(struct kipt_session *session,
			   struct kipt_trace *trace,
			   struct kipt_refusal *refusal);

/**
 * kipt_parts_free() - free what kipt_setup_step() made
 * @session: dead; nobody uses its parts, and no handler does
 */
void kipt_parts_free(struct kipt_session *session);

#endif /* KIPT_PARTS_H */
