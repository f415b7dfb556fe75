/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A copy of the kernel's text, taken when a session starts, so that text
 * patched while it was traced can be told from a decoder gone wrong.
 * Optional: without it nothing is ever said to have changed.
 */
#ifndef KIPT_KERNEL_TEXT_H
#define KIPT_KERNEL_TEXT_H

#include <linux/types.h>

struct kipt_kernel_text;

/**
 * kipt_kernel_text_init() - find out where the kernel's text is
 *
 * Context: may sleep; patches kernel text.
 */
void kipt_kernel_text_init(void);

/**
 * kipt_kernel_text_get() - the text as it is now
 *
 * Sessions share a copy as long as the text does not change. Context: may
 * sleep.
 *
 * Return: a reference, or NULL if there is no memory or the kernel
 * does not say where its text is.
 */
struct kipt_kernel_text *kipt_kernel_text_get(void);

/**
 * kipt_kernel_text_put() - drop a reference
 * @text: may be NULL
 */
void kipt_kernel_text_put(struct kipt_kernel_text *text);

/**
 * kipt_kernel_text_changed() - whether text differs from the copy by now
 * @text: the copy, or NULL
 * @ip: first address, any
 * @len: bytes
 *
 * Return: true only if all of it is in the copy and differs.
 */
bool kipt_kernel_text_changed(const struct kipt_kernel_text *text, u64 ip,
			      u32 len);

#endif /* KIPT_KERNEL_TEXT_H */
