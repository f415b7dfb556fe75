/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many programs that a signal killed are kept: so many of each user, so
 * many in all, the first ones. What is full stays so until one is deleted, so
 * a program that crashes again and again neither takes another's place nor
 * costs more than a look.
 *
 * A user is a real user id of the initial user namespace. Who has a user
 * namespace has thousands of those: they count as the one who made the
 * namespace, unless that was root.
 */
#ifndef KIPT_KILLED_QUOTA_H
#define KIPT_KILLED_QUOTA_H

#include <linux/types.h>

/**
 * kipt_killed_quota_take() - ask for room for the task that runs
 *
 * The log is told once of each user who gets no more, and again after one of
 * that user was deleted. Context: preemption off; no NMI.
 *
 * Return: number of a place, in use until kipt_killed_quota_give(); 0 if there
 * is none, or another thread of the process has one.
 */
u32 kipt_killed_quota_take(void);

/**
 * kipt_killed_quota_give() - make room
 * @place: was taken; or 0
 *
 * Context: any but NMI.
 */
void kipt_killed_quota_give(u32 place);

#endif /* KIPT_KILLED_QUOTA_H */
