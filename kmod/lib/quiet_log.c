// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines that wait for a console, see quiet_log.h.
 */
#include <linux/printk.h>
#include <linux/stdarg.h>

#include "quiet_log.h"

/*
 * The level of a record keeps the log from looking for a console: the machine
 * may have died in one, and the first line of an oops is on its way there.
 */
void kipt_quiet_log(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintk_emit(0, LOGLEVEL_SCHED, NULL, format, args);
	va_end(args);
}
