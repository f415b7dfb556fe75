/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refusals that explain themselves: a sentence in the extended ack of a
 * netlink request. Owns the memory of the sentences. Process context.
 */
#ifndef KIPT_REFUSE_H
#define KIPT_REFUSE_H

#include <linux/compiler.h>

struct netlink_ext_ack;
struct nlattr;

/**
 * kipt_refuse() - say why a request is refused
 * @extack: of the request; NULL if there is no one to tell
 * @attr: the attribute at fault, or NULL
 * @err: the errno, negative
 * @format: a sentence of at most 255 bytes, without a newline
 *
 * Kernels format such messages themselves from 6.2 on, but cut them at 80
 * bytes. Context: may sleep.
 *
 * Return: @err.
 */
__printf(4, 5)
int kipt_refuse(struct netlink_ext_ack *extack, const struct nlattr *attr,
		int err, const char *format, ...);

#endif /* KIPT_REFUSE_H */
