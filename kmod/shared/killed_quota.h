/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which room a program gets that a signal killed: so many programs of each user,
 * so many in all. Who has no more gives up the newest of its own, never another's,
 * so that the first ones and the last one are there. Decides and changes nothing.
 */
#ifndef KIPT_KILLED_QUOTA_H
#define KIPT_KILLED_QUOTA_H

#include <linux/types.h>

struct cred;

/**
 * enum kipt_slot_state - what room for an event or a program has
 * @KIPT_SLOT_FREE: nothing
 * @KIPT_SLOT_FILLING: an event that is being written down
 * @KIPT_SLOT_FULL: an event; CPUs may still be copying
 * @KIPT_SLOT_READING: the same, and nobody else changes it
 */
enum kipt_slot_state {
	KIPT_SLOT_FREE,
	KIPT_SLOT_FILLING,
	KIPT_SLOT_FULL,
	KIPT_SLOT_READING,
};

/**
 * struct kipt_killed_place - room for a program; if @state is FREE only that counts
 * @state: what it has
 * @id: number of the snapshot; a later one's is higher, modulo 2^32
 * @owner: from kipt_killed_owner()
 * @pid: the process
 * @born: when it began; with @pid no other process has the same
 */
struct kipt_killed_place {
	enum kipt_slot_state state;
	u32 id;
	u32 owner;
	u32 pid;
	u64 born;
};

/**
 * kipt_killed_owner() - as whose a program counts
 * @cred: its credentials
 *
 * Who made a user namespace has thousands of user ids there: all of them count as
 * the one who made the outermost, also if that was root.
 *
 * Context: any.
 *
 * Return: a user id of the initial user namespace.
 */
u32 kipt_killed_owner(const struct cred *cred);

/**
 * kipt_killed_choose() - find room
 * @places: all there is
 * @count: how many
 * @most: that a user may have
 * @wish: whose place is wanted; @state and @id do not matter
 *
 * Context: any.
 *
 * Return: index of a place, which may have a program to be replaced.
 * -EEXIST: another thread of the process has one.
 * -EBUSY: the one to be replaced is being written or read.
 * -ENOSPC: there is none.
 */
int kipt_killed_choose(const struct kipt_killed_place *places, u32 count,
		       u32 most, const struct kipt_killed_place *wish);

#endif /* KIPT_KILLED_QUOTA_H */
