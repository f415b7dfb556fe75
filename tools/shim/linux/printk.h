/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's log: a test says where it goes. */
#ifndef KIPT_SHIM_PRINTK_H
#define KIPT_SHIM_PRINTK_H

/* Types of 64 bits have other names here: formats are checked in the kernel. */
void printk_warned(const char *format, ...);

#define pr_warn(format, ...)	printk_warned(pr_fmt(format), ##__VA_ARGS__)

#endif /* KIPT_SHIM_PRINTK_H */
