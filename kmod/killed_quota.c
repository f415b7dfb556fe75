// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts programs that were killed, see killed_quota.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include "killed_quota.h"
#include "limits.h"

/* Users of whom the log has been told last. */
#define TOLD	16U

/**
 * struct place - room for a program that was killed
 * @used: it is taken
 * @uid: whose it counts as
 * @pid: the process
 * @born: when it began, of CLOCK_BOOTTIME
 */
struct place {
	bool used;
	kuid_t uid;
	u32 pid;
	u64 born;
};

/* Guards what follows. */
static DEFINE_RAW_SPINLOCK(lock);
static struct place places[KIPT_USER_SNAPSHOTS_MAX];
static kuid_t told[TOLD];
static u32 told_count;

/* The user namespace below the initial one that a task is in, or that. */
static kuid_t user_of(const struct cred *cred)
{
	const struct user_namespace *ns = cred->user_ns;

	if (ns == &init_user_ns)
		return cred->uid;
	while (ns->parent && ns->parent != &init_user_ns)
		ns = ns->parent;
	return uid_eq(ns->owner, GLOBAL_ROOT_UID) ? cred->uid : ns->owner;
}

static bool is_told(kuid_t uid)
{
	u32 i;

	for (i = 0; i < min(told_count, TOLD); i++)
		if (uid_eq(told[i], uid))
			return true;
	return false;
}

static void forget_told(kuid_t uid)
{
	u32 i;

	for (i = 0; i < min(told_count, TOLD); i++)
		if (uid_eq(told[i], uid))
			told[i] = INVALID_UID;
}

/* Of those who are killed in turns no more than a few lines are told a minute. */
static bool is_to_be_told(kuid_t uid)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 10);

	lockdep_assert_held(&lock);
	if (is_told(uid) || !__ratelimit(&limit))
		return false;
	told[told_count++ % TOLD] = uid;
	return true;
}

/**
 * struct look - who has places
 * @same_user: how many the user has
 * @same_process: the process has one
 * @free: number of one that nobody has, 0: all are taken
 */
struct look {
	u32 same_user;
	bool same_process;
	u32 free;
};

static struct look look_at(const struct place *wish)
{
	struct look look = {};
	const struct place *place;
	u32 i;

	lockdep_assert_held(&lock);
	for (i = 0; i < kipt_limits()->user_snapshots_all; i++) {
		place = &places[i];
		if (!place->used) {
			look.free = i + 1;
			continue;
		}
		look.same_user += uid_eq(place->uid, wish->uid);
		look.same_process |= place->pid == wish->pid &&
				     place->born == wish->born;
	}
	return look;
}

static u32 take(const struct place *wish, bool *tell)
{
	u32 most = kipt_limits()->user_snapshots;
	struct look look = look_at(wish);

	if (look.same_process)
		return 0;
	if (look.free && look.same_user < most) {
		places[look.free - 1] = *wish;
		return look.free;
	}
	*tell = most && is_to_be_told(wish->uid);
	return 0;
}

u32 kipt_killed_quota_take(void)
{
	const struct place wish = {
		.used = true,
		.uid = user_of(current_cred()),
		.pid = current->tgid,
		.born = current->group_leader->start_boottime,
	};
	unsigned long flags;
	bool tell = false;
	u32 place;

	raw_spin_lock_irqsave(&lock, flags);
	place = take(&wish, &tell);
	raw_spin_unlock_irqrestore(&lock, flags);
	if (tell)
		pr_notice("programs of user %u that are killed are not kept any more: there is no room, see 'kipt crash list'\n",
			  __kuid_val(wish.uid));
	return place;
}

void kipt_killed_quota_give(u32 place)
{
	unsigned long flags;

	if (!place)
		return;
	raw_spin_lock_irqsave(&lock, flags);
	places[place - 1].used = false;
	forget_told(places[place - 1].uid);
	raw_spin_unlock_irqrestore(&lock, flags);
}
