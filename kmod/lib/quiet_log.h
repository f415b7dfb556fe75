/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines for the log where the machine may be dying.
 */
#ifndef KIPT_QUIET_LOG_H
#define KIPT_QUIET_LOG_H

#include <linux/compiler.h>

/**
 * kipt_quiet_log() - a line for the log that touches no console
 * @format: as for printk(), with level and end of line
 *
 * Context: any, also NMI.
 */
void __printf(1, 2) kipt_quiet_log(const char *format, ...);

#endif /* KIPT_QUIET_LOG_H */
