// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries live in one array and go round: free, live, ended, released, and
 * from there to the next address space. A live or ended entry has a reference
 * to its mm_struct; a released one only says who had a name, and when. Probes
 * add with a raw lock, as they run in the scheduler; references are dropped
 * in process context only.
 */
#include <linux/hash.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>

#include "../lib/compat.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "space_table.h"

/* Ended ones whose page tables are kept from being used again, at most. */
#define ENDED_MAX	256U
/* So many new ones are worth looking for those that ended. */
#define ENDED_SLACK	64U
#define LOOKS_AT_ONCE	64U
/*
 * What one holds without an LDT, which is up to 64 KiB more: its mm_struct with
 * what is per CPU, and the top of its page table.
 */
#define ENDED_BYTES	(sizeof(struct mm_struct) + 3 * PAGE_SIZE)
#define HELD		(~0ULL)
#define FOREVER		(~0ULL)

/* Bits of an id: the upper ones count, the lower ones are the slot. */
struct space {
	struct hlist_node node;
	struct list_head order;
	/* NULL: released. */
	struct mm_struct *mm;
	/* Since @who.since it runs user code: an exec prepares it before. */
	struct kipt_space who;
	u64 id;
	u64 born;
	/* That it had ended was seen then; the name is its own for longer. */
	u64 died;
	u64 released;
	bool ended;
};

/*
 * @lock guards all, but for a first look by kipt_spaces_learn(): entries stay
 * where they are, so it may miss one that moves or is taken away, and then
 * looks with the lock.
 */
struct kipt_spaces {
	raw_spinlock_t lock;
	u32 nr;
	u32 slot_bits;
	/* On the list "ended"; on "room". */
	u32 nr_ended;
	u32 nr_room;
	/* Address spaces that were noted since it was last tidied. */
	u32 nr_new;
	u64 serial;
	u64 lost;
	/* The run is over: what ends now ends after it. */
	bool over;
	/*
	 * Entries were forgotten that had their names until then: an entry
	 * that was born later proves nothing for a time before.
	 */
	u64 forgotten_until;
	/* Free ones, and then those released. */
	struct list_head room;
	struct list_head live;
	struct list_head ended;
	struct hlist_head *buckets;
	struct space entries[];
};

u64 kipt_spaces_name(const struct mm_struct *mm)
{
	return __pa(mm->pgd);
}

static size_t table_size(u32 nr)
{
	struct kipt_spaces *spaces;

	return struct_size(spaces, entries, nr) +
	       nr * sizeof(struct hlist_head);
}

static u32 ended_max(const struct kipt_spaces *spaces)
{
	return min(ENDED_MAX, spaces->nr / 4);
}

/* Charged from the start: a probe could not refuse. */
static u64 held_bytes(const struct kipt_spaces *spaces)
{
	return (ended_max(spaces) + ENDED_SLACK) * ENDED_BYTES;
}

static void init_lists(struct kipt_spaces *spaces)
{
	u32 i;

	INIT_LIST_HEAD(&spaces->room);
	INIT_LIST_HEAD(&spaces->live);
	INIT_LIST_HEAD(&spaces->ended);
	for (i = 0; i < spaces->nr; i++)
		list_add_tail(&spaces->entries[i].order, &spaces->room);
	spaces->nr_room = spaces->nr;
}

struct kipt_spaces *kipt_spaces_create(void)
{
	u32 nr = kipt_limits()->spaces;
	struct kipt_spaces *spaces = kipt_memory_alloc(table_size(nr));

	if (!spaces)
		return NULL;
	raw_spin_lock_init(&spaces->lock);
	spaces->nr = nr;
	if (kipt_memory_charge(held_bytes(spaces))) {
		kipt_memory_free(spaces, table_size(nr));
		return NULL;
	}
	spaces->slot_bits = ilog2(nr);
	spaces->buckets = (struct hlist_head *)(spaces->entries + nr);
	init_lists(spaces);
	return spaces;
}

void kipt_spaces_destroy(struct kipt_spaces *spaces)
{
	if (!spaces)
		return;
	kipt_spaces_clear(spaces);
	kipt_memory_uncharge(held_bytes(spaces));
	kipt_memory_free(spaces, table_size(spaces->nr));
}

static struct hlist_head *bucket(struct kipt_spaces *spaces, u64 name)
{
	return &spaces->buckets[hash_64(name, spaces->slot_bits)];
}

/* Without the lock it may miss one, and does not find a wrong one. */
static struct space *find_mm(struct kipt_spaces *spaces,
			     const struct mm_struct *mm)
{
	struct space *space;

	hlist_for_each_entry_rcu(space, bucket(spaces, kipt_spaces_name(mm)),
				 node, true)
		if (READ_ONCE(space->mm) == mm)
			return space;
	return NULL;
}

static struct space *find_id(struct kipt_spaces *spaces, u64 id)
{
	struct space *space;

	lockdep_assert_held(&spaces->lock);
	space = &spaces->entries[id & (spaces->nr - 1)];
	return id && space->id == id ? space : NULL;
}

/* The entry belongs to nobody from here on. */
static void forget(struct kipt_spaces *spaces, struct space *space, u64 until)
{
	spaces->forgotten_until = max(spaces->forgotten_until, until);
	spaces->lost++;
	hlist_del_rcu(&space->node);
	WRITE_ONCE(space->id, 0);
}

static struct space *take_entry(struct kipt_spaces *spaces)
{
	struct space *space = list_first_entry_or_null(&spaces->room, struct space, order);

	if (space && space->id)
		forget(spaces, space, space->released);
	return space;
}

static u64 add(struct kipt_spaces *spaces, struct mm_struct *mm, u32 tgid)
{
	struct space *space = take_entry(spaces);

	if (!space) {
		/* It runs on, nameless: names prove nothing any more. */
		spaces->forgotten_until = FOREVER;
		spaces->lost++;
		return 0;
	}
	mmgrab(mm);
	WRITE_ONCE(space->id, ++spaces->serial << spaces->slot_bits |
			      (space - spaces->entries));
	space->born = rdtsc();
	space->died = HELD;
	space->released = HELD;
	space->who = (struct kipt_space){
		.name = kipt_spaces_name(mm),
		.since = space->born,
		.vdso = mm->context.vdso_image,
		.tgid = tgid,
	};
	space->ended = false;
	WRITE_ONCE(spaces->nr_new, spaces->nr_new + 1);
	/* Pairs with glance(). */
	smp_store_release(&space->mm, mm);
	WRITE_ONCE(spaces->nr_room, spaces->nr_room - 1);
	list_move_tail(&space->order, &spaces->live);
	hlist_add_head_rcu(&space->node, bucket(spaces, space->who.name));
	return space->id;
}

/* Without the lock. Return: 0 if it is not known, or just evicted. */
static u64 glance(struct kipt_spaces *spaces, const struct mm_struct *mm)
{
	struct space *space = find_mm(spaces, mm);
	u64 id;

	if (!space)
		return 0;
	/* Pairs with add(): the id is not older than the entry's owner. */
	smp_rmb();
	id = READ_ONCE(space->id);
	/* Pairs with evict(): nor newer. */
	smp_rmb();
	return READ_ONCE(space->mm) == mm ? id : 0;
}

u64 kipt_spaces_learn(struct kipt_spaces *spaces, struct mm_struct *mm,
		      u32 tgid)
{
	struct space *space;
	unsigned long flags;
	u64 id = glance(spaces, mm);

	if (id)
		return id;
	raw_spin_lock_irqsave(&spaces->lock, flags);
	space = find_mm(spaces, mm);
	id = space ? space->id : add(spaces, mm, tgid);
	raw_spin_unlock_irqrestore(&spaces->lock, flags);
	return id;
}

static void set_ended(struct kipt_spaces *spaces, struct space *space)
{
	if (space->ended)
		return;
	space->ended = true;
	/* A machine that has slept since has a younger TSC. */
	space->died = spaces->over ? HELD : rdtsc();
	list_move_tail(&space->order, &spaces->ended);
	WRITE_ONCE(spaces->nr_ended, spaces->nr_ended + 1);
}

/*
 * The one whose user code may have run under the name; NULL if there is none, or
 * several.
 */
static struct space *only_owner(struct kipt_spaces *spaces, u64 name,
				u64 begin, u64 end)
{
	struct space *space, *found = NULL;

	hlist_for_each_entry(space, bucket(spaces, name), node) {
		if (space->who.name != name || space->died < begin ||
		    space->born > end)
			continue;
		if (found)
			return NULL;
		found = space;
	}
	return found;
}

u64 kipt_spaces_at(struct kipt_spaces *spaces, u64 name, u64 begin, u64 end)
{
	struct space *space;
	unsigned long flags;
	u64 id = 0;

	raw_spin_lock_irqsave(&spaces->lock, flags);
	space = only_owner(spaces, name, begin, end);
	/* From its birth on the name is its own. */
	if (space && (space->born <= begin || spaces->forgotten_until <= begin))
		id = space->id;
	raw_spin_unlock_irqrestore(&spaces->lock, flags);
	return id;
}

struct mm_struct *kipt_spaces_mm(struct kipt_spaces *spaces, u64 id)
{
	struct mm_struct *mm = NULL;
	struct space *space;
	unsigned long flags;

	raw_spin_lock_irqsave(&spaces->lock, flags);
	space = find_id(spaces, id);
	if (space && space->mm) {
		mm = space->mm;
		mmgrab(mm);
	}
	raw_spin_unlock_irqrestore(&spaces->lock, flags);
	return mm;
}

static bool has_ldt(const struct mm_struct *mm)
{
#ifdef CONFIG_MODIFY_LDT_SYSCALL
	return READ_ONCE(mm->context.ldt);
#else
	return false;
#endif
}

bool kipt_spaces_who(struct kipt_spaces *spaces, u64 id, struct kipt_space *who)
{
	struct space *space;
	unsigned long flags;

	*who = (struct kipt_space){ 0 };
	raw_spin_lock_irqsave(&spaces->lock, flags);
	space = find_id(spaces, id);
	if (space)
		*who = space->who;
	if (space && space->mm)
		who->based = has_ldt(space->mm);
	raw_spin_unlock_irqrestore(&spaces->lock, flags);
	return space;
}

void kipt_spaces_exec(struct kipt_spaces *spaces, struct mm_struct *mm)
{
	struct space *space;
	unsigned long flags;

	raw_spin_lock_irqsave(&spaces->lock, flags);
	space = find_mm(spaces, mm);
	if (space && !spaces->over) {
		space->who.since = rdtsc();
		space->who.vdso = mm->context.vdso_image;
	}
	raw_spin_unlock_irqrestore(&spaces->lock, flags);
}

static u32 room_min(const struct kipt_spaces *spaces)
{
	return spaces->nr / 8;
}

bool kipt_spaces_untidy(const struct kipt_spaces *spaces)
{
	return READ_ONCE(spaces->nr_new) > ENDED_SLACK ||
	       READ_ONCE(spaces->nr_room) < room_min(spaces) / 2;
}

static struct mm_struct *release(struct kipt_spaces *spaces,
				 struct space *space)
{
	struct mm_struct *mm = space->mm;

	space->who.based = has_ldt(mm);
	WRITE_ONCE(space->mm, NULL);
	space->released = rdtsc();
	WRITE_ONCE(spaces->nr_ended, spaces->nr_ended - 1);
	WRITE_ONCE(spaces->nr_room, spaces->nr_room + 1);
	list_move_tail(&space->order, &spaces->room);
	return mm;
}

/* It lives on, and is noted anew when it runs again. */
static struct mm_struct *evict(struct kipt_spaces *spaces, struct space *space)
{
	struct mm_struct *mm = space->mm;

	WRITE_ONCE(space->mm, NULL);
	/* Pairs with glance(). */
	smp_wmb();
	forget(spaces, space, FOREVER);
	WRITE_ONCE(spaces->nr_room, spaces->nr_room + 1);
	list_move(&space->order, &spaces->room);
	return mm;
}

/*
 * After the run nobody is given a name that is free again, and none is added that would
 * need room. Return: with a reference that is the caller's now.
 */
static struct mm_struct *let_go(struct kipt_spaces *spaces)
{
	bool room = spaces->over || spaces->nr_room >= room_min(spaces);
	u32 keep = room && !spaces->over ? ended_max(spaces) : 0;
	struct space *space;

	lockdep_assert_held(&spaces->lock);
	space = list_first_entry_or_null(&spaces->ended, struct space, order);
	if (space && spaces->nr_ended > keep)
		return release(spaces, space);
	if (room)
		return NULL;
	space = list_first_entry_or_null(&spaces->live, struct space, order);
	if (!space)
		return NULL;
	if (atomic_read(&space->mm->mm_users))
		return evict(spaces, space);
	set_ended(spaces, space);
	return release(spaces, space);
}

/* Some at a time: the lock is taken in the scheduler too. */
static void find_ended(struct kipt_spaces *spaces)
{
	struct space *space;
	unsigned long flags;
	u32 i, end;

	for (i = 0; i < spaces->nr; i = end) {
		end = min(i + LOOKS_AT_ONCE, spaces->nr);
		raw_spin_lock_irqsave(&spaces->lock, flags);
		for (; i < end; i++) {
			space = &spaces->entries[i];
			if (space->mm && !space->ended &&
			    !atomic_read(&space->mm->mm_users))
				set_ended(spaces, space);
		}
		raw_spin_unlock_irqrestore(&spaces->lock, flags);
		cond_resched();
	}
	WRITE_ONCE(spaces->nr_new, 0);
}

bool kipt_spaces_tidy(struct kipt_spaces *spaces)
{
	struct mm_struct *mm;
	unsigned long flags;
	bool more;

	might_sleep();
	find_ended(spaces);
	do {
		raw_spin_lock_irqsave(&spaces->lock, flags);
		mm = let_go(spaces);
		more = !spaces->over || !list_empty(&spaces->live);
		raw_spin_unlock_irqrestore(&spaces->lock, flags);
		if (mm)
			mmdrop(mm);
		cond_resched();
	} while (mm);
	return more;
}

/* Return: what it had, with a reference that is the caller's now; or NULL. */
static struct mm_struct *clear_one(struct kipt_spaces *spaces, struct space *space)
{
	struct mm_struct *mm = NULL;

	lockdep_assert_held(&spaces->lock);
	if (!space->id)
		return NULL;
	if (space->mm) {
		set_ended(spaces, space);
		mm = release(spaces, space);
	}
	forget(spaces, space, 0);
	list_move(&space->order, &spaces->room);
	return mm;
}

void kipt_spaces_over(struct kipt_spaces *spaces)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&spaces->lock, flags);
	spaces->over = true;
	raw_spin_unlock_irqrestore(&spaces->lock, flags);
}

/* There may be thousands: each is a critical section of its own. */
void kipt_spaces_clear(struct kipt_spaces *spaces)
{
	struct mm_struct *mm;
	unsigned long flags;
	u32 i;

	might_sleep();
	for (i = 0; i < spaces->nr; i++) {
		/* Most entries are free, and nobody adds any meanwhile: no lock for these. */
		if (!READ_ONCE(spaces->entries[i].id))
			continue;
		raw_spin_lock_irqsave(&spaces->lock, flags);
		mm = clear_one(spaces, &spaces->entries[i]);
		raw_spin_unlock_irqrestore(&spaces->lock, flags);
		if (mm)
			mmdrop(mm);
		cond_resched();
	}
	raw_spin_lock_irqsave(&spaces->lock, flags);
	spaces->lost = 0;
	spaces->forgotten_until = 0;
	spaces->over = false;
	raw_spin_unlock_irqrestore(&spaces->lock, flags);
}

u64 kipt_spaces_lost(const struct kipt_spaces *spaces)
{
	return READ_ONCE(spaces->lost);
}
