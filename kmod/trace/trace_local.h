/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What trace.c needs of trace_local.c, for nobody else.
 */
#ifndef KIPT_TRACE_LOCAL_H
#define KIPT_TRACE_LOCAL_H

#include "trace.h"

/* Who watches traces, set at load. */
extern const struct kipt_trace_ops *kipt_trace_ops;

/**
 * kipt_trace_obey() - do what was asked of the trace of this CPU, if there is one
 * @unused: of a call to a CPU
 *
 * Context: interrupt.
 */
void kipt_trace_obey(void *unused);

/**
 * kipt_trace_end_offline() - stop the trace of this CPU, which goes offline
 * @trace: of this CPU
 *
 * Context: the hotplug thread of the CPU.
 *
 * Return: true if it was not off.
 */
bool kipt_trace_end_offline(struct kipt_trace *trace);

#endif /* KIPT_TRACE_LOCAL_H */
