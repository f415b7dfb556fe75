// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of sockets that own sessions, by number. Owns the references to
 * the sockets; leaves the end of a session to a work item, because the
 * notifier for a close runs for every netlink socket of the machine.
 */
#include <linux/hashtable.h>
#include <linux/spinlock.h>
#include <net/sock.h>

#include "owner.h"

#define TABLE_BITS	6

static DEFINE_HASHTABLE(owners, TABLE_BITS);
/* Guards the table and the members of its entries. */
static DEFINE_SPINLOCK(owners_lock);

void kipt_owner_init(struct kipt_owner *owner,
		     void (*leave)(struct kipt_owner *owner))
{
	INIT_HLIST_NODE(&owner->node);
	owner->leave = leave;
}

void kipt_owner_set(struct kipt_owner *owner, struct sock *sk, u32 portid)
{
	sock_hold(sk);
	spin_lock(&owners_lock);
	owner->sk = sk;
	owner->portid = portid;
	hash_add(owners, &owner->node, portid);
	spin_unlock(&owners_lock);
}

void kipt_owner_clear(struct kipt_owner *owner)
{
	struct sock *sk;

	spin_lock(&owners_lock);
	sk = owner->sk;
	owner->sk = NULL;
	hash_del(&owner->node);
	spin_unlock(&owners_lock);
	if (sk)
		sock_put(sk);
}

/*
 * The entry is in the table, so the session was not destroyed yet and its
 * memory is there; the work item gets a reference of its own.
 */
static void tell_gone(struct kipt_owner *owner)
{
	lockdep_assert_held(&owners_lock);
	hash_del(&owner->node);
	WRITE_ONCE(owner->gone, true);
	owner->leave(owner);
}

void kipt_owner_closed(u32 portid)
{
	struct kipt_owner *owner;
	struct hlist_node *next;

	spin_lock(&owners_lock);
	hash_for_each_possible_safe(owners, owner, next, node, portid)
		if (owner->portid == portid && sock_flag(owner->sk, SOCK_DEAD))
			tell_gone(owner);
	spin_unlock(&owners_lock);
}
