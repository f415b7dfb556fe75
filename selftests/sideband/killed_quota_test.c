// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which room a program gets that a signal killed: a user no more than its part,
 * nobody another's, the newest is replaced, a process once; and whose user ids of
 * namespaces are. User space.
 */
#include <linux/cred.h>
#include <errno.h>

#include "../../kmod/shared/killed_quota.h"
#include "../decode/ktap.h"

#define ROOM	8U
#define MOST	3U
#define BORN	1000ULL

static struct ktap ktap;
struct user_namespace init_user_ns;

static struct kipt_killed_place places[ROOM];

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "killed_quota_%s", name);
}

static void clear(void)
{
	u32 i;

	for (i = 0; i < ROOM; i++)
		places[i] = (struct kipt_killed_place){ .owner = 1, .pid = 1 };
}

static struct kipt_killed_place wish_of(u32 owner, u32 pid)
{
	return (struct kipt_killed_place){
		.owner = owner, .pid = pid, .born = BORN,
	};
}

static int choose(u32 owner, u32 pid, u32 most)
{
	struct kipt_killed_place wish = wish_of(owner, pid);

	return kipt_killed_choose(places, ROOM, most, &wish);
}

/* Return: the place that it got, as which snapshot @id. */
static int take(u32 owner, u32 pid, u32 id)
{
	int place = choose(owner, pid, MOST);

	if (place < 0)
		return place;
	places[place] = wish_of(owner, pid);
	places[place].state = KIPT_SLOT_FULL;
	places[place].id = id;
	return place;
}

static u32 count_of(u32 owner)
{
	u32 i, count = 0;

	for (i = 0; i < ROOM; i++)
		count += places[i].state != KIPT_SLOT_FREE &&
			 places[i].owner == owner;
	return count;
}

static void a_user_has_its_part(void)
{
	int first, last = 0;
	u32 i;

	clear();
	first = take(7, 100, 1);
	for (i = 1; i < MOST; i++)
		last = take(7, 100 + i, 1 + i);
	check("as_many_as_allowed", count_of(7) == MOST);
	check("then_the_newest_is_replaced",
	      take(7, 200, 50) == last && take(7, 201, 51) == last &&
	      count_of(7) == MOST && places[first].pid == 100);
	check("others_have_theirs", take(8, 300, 60) >= 0 &&
	      count_of(8) == 1 && count_of(7) == MOST);
}

static void nobody_has_anothers(void)
{
	int own;
	u32 i;

	clear();
	for (i = 0; i < ROOM; i++)
		take(10 + i, 100 + i, 1 + i);
	check("all_is_taken", choose(99, 500, MOST) == -ENOSPC);
	own = choose(12, 500, MOST);
	check("who_has_one_may_replace_it",
	      own >= 0 && places[own].owner == 12);
	places[own].state = KIPT_SLOT_READING;
	check("but_not_what_is_read", choose(12, 500, MOST) == -EBUSY);
}

static void numbers_begin_anew(void)
{
	int last;

	clear();
	take(7, 100, ~0U - 1);
	take(7, 101, ~0U);
	last = take(7, 102, 1);
	check("newest_after_the_highest_number", take(7, 103, 2) == last);
}

static void older_ones_stay_while_the_newest_is_read(void)
{
	int last;

	clear();
	take(7, 100, 1);
	take(7, 101, 2);
	last = take(7, 102, 3);
	places[last].state = KIPT_SLOT_READING;
	check("older_ones_are_not_replaced", choose(7, 103, MOST) == -EBUSY);
}

static void a_process_dies_once(void)
{
	struct kipt_killed_place wish = wish_of(7, 100);

	clear();
	take(7, 100, 1);
	check("another_thread", choose(7, 100, MOST) == -EEXIST);
	wish.born++;
	check("another_process_of_that_number",
	      kipt_killed_choose(places, ROOM, MOST, &wish) >= 0);
	check("another_process", choose(7, 101, MOST) >= 0);
}

static void nothing_is_allowed(void)
{
	clear();
	check("none_of_a_user", choose(7, 100, 0) == -ENOSPC);
	check("none_of_all",
	      kipt_killed_choose(places, 0, MOST, &places[0]) == -ENOSPC);
}

static void what_was_there_does_not_count(void)
{
	clear();
	take(7, 100, 1);
	places[0].state = KIPT_SLOT_FREE;
	places[ROOM - 1].state = KIPT_SLOT_FREE;
	check("what_is_free_is_nobodys", choose(7, 100, 1) >= 0);
}

static u32 owner_in(struct user_namespace *ns, u32 uid)
{
	const struct cred cred = { .uid = { uid }, .user_ns = ns };

	return kipt_killed_owner(&cred);
}

static void users_of_namespaces(void)
{
	struct user_namespace users = { &init_user_ns, { 1000 } };
	struct user_namespace roots = { &init_user_ns, { 0 } };
	struct user_namespace inner = { &users, { 100000 } };
	struct user_namespace inmost = { &inner, { 100001 } };

	check("owner_without_a_namespace",
	      owner_in(&init_user_ns, 5) == 5 && owner_in(&init_user_ns, 0) == 0);
	check("owner_of_a_namespace", owner_in(&users, 100000) == 1000 &&
	      owner_in(&users, 100007) == 1000);
	check("owner_root_of_a_namespace", owner_in(&roots, 100000) == 0 &&
	      owner_in(&roots, 100007) == 0);
	check("owner_of_the_outermost", owner_in(&inner, 100005) == 1000 &&
	      owner_in(&inmost, 100005) == 1000);
}

int main(void)
{
	ktap_start();
	a_user_has_its_part();
	nobody_has_anothers();
	numbers_begin_anew();
	older_ones_stay_while_the_newest_is_read();
	a_process_dies_once();
	nothing_is_allowed();
	what_was_there_does_not_count();
	users_of_namespaces();
	return ktap_end(&ktap);
}
