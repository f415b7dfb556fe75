/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The netlink family "kipt": its policies and operations. What commands do is in the
 * *_message.c files.
 */
#ifndef KIPT_FAMILY_H
#define KIPT_FAMILY_H

/**
 * kipt_family_init() - register the family
 *
 * Return: 0 or an errno.
 */
int kipt_family_init(void);

/**
 * kipt_family_uninit() - no requests come any more, none is under way
 */
void kipt_family_uninit(void);

#endif /* KIPT_FAMILY_H */
