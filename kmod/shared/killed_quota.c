// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses room for programs that were killed, see killed_quota.h.
 */
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "killed_quota.h"

u32 kipt_killed_owner(const struct cred *cred)
{
	const struct user_namespace *ns = cred->user_ns;

	if (ns == &init_user_ns)
		return __kuid_val(cred->uid);
	/* Namespaces nest 32 deep at most. */
	while (ns->parent && ns->parent != &init_user_ns)
		ns = ns->parent;
	return __kuid_val(ns->owner);
}

int kipt_killed_choose(const struct kipt_killed_place *places, u32 count,
		       u32 most, const struct kipt_killed_place *wish)
{
	const struct kipt_killed_place *newest = NULL, *place;
	int unused = -ENOSPC;
	u32 own = 0, i;

	for (i = 0; i < count; i++) {
		place = &places[i];
		if (place->state == KIPT_SLOT_FREE) {
			unused = i;
			continue;
		}
		if (place->owner != wish->owner)
			continue;
		if (place->pid == wish->pid && place->born == wish->born)
			return -EEXIST;
		own++;
		if (!newest || (s32)(place->id - newest->id) > 0)
			newest = place;
	}
	if (own < most && unused >= 0)
		return unused;
	if (!newest)
		return -ENOSPC;
	if (newest->state != KIPT_SLOT_FULL)
		return -EBUSY;
	return newest - places;
}
