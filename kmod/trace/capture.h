/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The capture of a death: while one is on no CPU traces, and each CPU that has paused
 * for it says so. crash.c begins and ends it; trace.c reads whether it is on.
 */
#ifndef KIPT_CAPTURE_H
#define KIPT_CAPTURE_H

#include <linux/types.h>

/**
 * kipt_capture_number() - the capture that is on
 *
 * Context: any, also NMI.
 *
 * Return: its number; 0: none.
 */
u32 kipt_capture_number(void);

/**
 * kipt_capture_begin() - from now on no CPU traces
 * @capture: its number, not 0
 *
 * Context: any, also NMI.
 *
 * Return: false if another one is on.
 */
bool kipt_capture_begin(u32 capture);

/**
 * kipt_capture_end() - CPUs may trace again
 * @capture: its number; nothing happens if another one is on
 *
 * Context: any, also NMI.
 */
void kipt_capture_end(u32 capture);

/**
 * kipt_capture_stopped() - whether a CPU has paused for the capture that is on
 * @cpu: a possible CPU; a capture is on
 *
 * What the CPU wrote down before it said so can be read then. Context: any, also NMI.
 */
bool kipt_capture_stopped(unsigned int cpu);

/**
 * kipt_capture_stop_local() - this CPU has paused, and its trace is written down
 * @capture: for which
 *
 * Context: this CPU, interrupts off or an NMI.
 */
void kipt_capture_stop_local(u32 capture);

#endif /* KIPT_CAPTURE_H */
