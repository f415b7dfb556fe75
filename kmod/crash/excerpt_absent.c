// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a dying machine says of its trace, for a module that was built with
 * CONFIG_KIPT_DECODE=n: where it is, and no calls. With CONFIG_KIPT_CRASH=n nothing is
 * printed. In place of excerpt.c, excerpt_cpus.c and excerpt_decode.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>

#include "excerpt.h"

int kipt_excerpt_prepare(void)
{
	return 0;
}

void kipt_excerpt_release(void) { }

void kipt_excerpt_print_all(const struct kipt_crash_event *event)
{
	/* It takes the line before it, of the crash header, to the consoles. */
	pr_alert("this module was built with CONFIG_KIPT_DECODE=n: 'kipt crash' shows what the CPUs did, from a dump\n");
}
