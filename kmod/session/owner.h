/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which netlink socket owns which session. A socket is known by the struct
 * sock itself, to which the session holds a reference, since its number can
 * be another's as soon as it is closed. Process context.
 */
#ifndef KIPT_OWNER_H
#define KIPT_OWNER_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct sock;

/**
 * struct kipt_owner - the owner of one session, a part of the session
 * @node: in the table; owners_lock
 * @sk: the socket, referenced; NULL: nobody
 * @portid: its number
 * @gone: the socket was closed; read without the lock
 * @leave: see kipt_owner_init()
 * @work: takes the session down then; it has a reference to the session
 */
struct kipt_owner {
	struct hlist_node node;
	struct sock *sk;
	u32 portid;
	bool gone;
	void (*leave)(struct kipt_owner *owner);
	struct work_struct work;
};

/**
 * kipt_owner_init() - nobody owns a session
 * @owner: of the session
 * @leave: called when the socket was closed, with owners_lock held; the owner is in no
 *	table then, and its session was not destroyed yet
 */
void kipt_owner_init(struct kipt_owner *owner,
		     void (*leave)(struct kipt_owner *owner));

/**
 * kipt_owner_set() - a socket owns a session from now on
 * @owner: of the session; nobody's
 * @sk: an open socket; the caller keeps it open meanwhile
 * @portid: its number
 */
void kipt_owner_set(struct kipt_owner *owner, struct sock *sk, u32 portid);

/**
 * kipt_owner_clear() - nobody owns it any more, its end is no event
 * @owner: of the session
 *
 * The reference to the socket is dropped. @work may be queued already.
 */
void kipt_owner_clear(struct kipt_owner *owner);

/**
 * kipt_owner_closed() - a socket was closed
 * @portid: its number, which another socket may have by now
 *
 * Takes one spinlock and waits for nothing. Context: the netlink notifier.
 */
void kipt_owner_closed(u32 portid);

#endif /* KIPT_OWNER_H */
