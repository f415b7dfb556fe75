// SPDX-License-Identifier: GPL-2.0-only
/*
 * The probe takes the pages once, in batches that all sessions which know the
 * address space share: each has a ring of those it has to copy, under a raw
 * lock, and a work item that empties the ring into its store. Both may run
 * while a fetch reads the store: that has a lock of its own.
 */
#include <linux/irq_work.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "code_keep.h"
#include "../shared/code_store.h"
#include "../lib/limits.h"
#include "../lib/memory.h"
#include "resident.h"
#include "space_table.h"

/* Pages of a batch, which takes a page itself. */
#define BATCH_PAGES	255U
/* A power of two: 128 MiB of code wait to be copied at most. */
#define BATCHES		128U
/* Batches the work item copies before it sees to what else there is. */
#define BATCHES_A_RUN	2U
/* For all that wait it runs so often, after a run that had just copied. */
#define ROUNDS_MAX	(BATCHES / BATCHES_A_RUN + 1)
/* Of one exit, for all sessions: this takes some 2 ms. */
#define VMAS_MAX	4096U
#define LOOKS_MAX	32768U

static_assert(KIPT_CODE_PAGE == PAGE_SIZE);

/*
 * Pages of an ended address space, referenced. @users: of the batch; without any
 * it is free, and on a list by @next.
 */
struct batch {
	struct batch *next;
	refcount_t users;
	u32 count;
	struct {
		u64 addr;
		struct page *page;
	} pages[BATCH_PAGES];
};

static_assert(sizeof(struct batch) == PAGE_SIZE);

struct waiting {
	u64 id;
	struct batch *batch;
};

struct kipt_code_keep {
	struct list_head node;
	struct kipt_spaces *spaces;
	struct irq_work wake;
	struct work_struct work;
	/* Guards the ring, and the count of what there was no room for. */
	raw_spinlock_t ring_lock;
	u32 head;
	u32 tail;
	u64 overrun;
	/* Of BATCHES entries: it has each batch once at most, so it never overflows. */
	struct waiting *ring;
	/* Guards the store. */
	spinlock_t lock;
	struct kipt_code_store *store;
	u64 store_bytes;
	/* Only the work item uses these. */
	siphash_key_t key;
	u8 *copy;
	/* Whose memory the store is. */
	struct mem_cgroup *memcg;
};

/* What one exit has found so far, and did not hand out yet. */
struct collect {
	struct mm_struct *mm;
	struct batch *batch;
	u32 looks;
	/* Pages of mappings that were seen, as mm->exec_vm counts them. */
	u64 seen;
	u64 dropped;
};

static struct workqueue_struct *queue;

/* Read under RCU; whoever calls kipt_code_keep_attach() serialises changes. */
static LIST_HEAD(keepers);
static struct batch *batches;
/* Guards the list of free ones. */
static DEFINE_RAW_SPINLOCK(batches_lock);
static struct batch *free_batches;

static void free_batch(struct batch *batch)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&batches_lock, flags);
	batch->next = free_batches;
	free_batches = batch;
	raw_spin_unlock_irqrestore(&batches_lock, flags);
}

static void make_batches(void)
{
	u32 i;

	batches = kipt_memory_alloc(BATCHES * sizeof(*batches));
	for (i = 0; batches && i < BATCHES; i++)
		free_batch(&batches[i]);
}

int kipt_code_keep_init(const struct kipt_code_keep *keep)
{
	if (!queue)
		queue = alloc_workqueue("kipt_keep", WQ_UNBOUND, 0);
	if (keep->store && !batches)
		make_batches();
	return queue && (batches || !keep->store) ? 0 : -ENOMEM;
}

void kipt_code_keep_uninit(void)
{
	if (queue)
		destroy_workqueue(queue);
	queue = NULL;
	kipt_memory_free(batches, BATCHES * sizeof(*batches));
	batches = NULL;
	free_batches = NULL;
}

void kipt_code_keep_attach(struct kipt_code_keep *keep)
{
	list_add_tail_rcu(&keep->node, &keepers);
}

void kipt_code_keep_detach(struct kipt_code_keep *keep)
{
	list_del_rcu(&keep->node);
}

static struct batch *take_batch(void)
{
	struct batch *batch;
	unsigned long flags;

	raw_spin_lock_irqsave(&batches_lock, flags);
	batch = free_batches;
	if (batch)
		free_batches = batch->next;
	raw_spin_unlock_irqrestore(&batches_lock, flags);
	if (batch) {
		refcount_set(&batch->users, 1);
		batch->count = 0;
	}
	return batch;
}

static void put_batch(struct batch *batch)
{
	u32 i;

	if (!refcount_dec_and_test(&batch->users))
		return;
	for (i = 0; i < batch->count; i++)
		put_page(batch->pages[i].page);
	free_batch(batch);
}

static void push(struct kipt_code_keep *keep, u64 id,
		 const struct collect *collect)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&keep->ring_lock, flags);
	keep->overrun += collect->dropped;
	if (collect->batch) {
		refcount_inc(&collect->batch->users);
		keep->ring[keep->head % BATCHES] = (struct waiting){
			.id = id,
			.batch = collect->batch,
		};
		WRITE_ONCE(keep->head, keep->head + 1);
	}
	raw_spin_unlock_irqrestore(&keep->ring_lock, flags);
	kipt_code_keep_wake(keep);
}

static void hand_out(struct collect *collect)
{
	struct kipt_code_keep *keep;
	u64 id;

	list_for_each_entry_rcu(keep, &keepers, node, true) {
		id = keep->store ? kipt_spaces_ended(keep->spaces,
						     collect->mm) : 0;
		if (id)
			push(keep, id, collect);
	}
	if (collect->batch)
		put_batch(collect->batch);
	collect->batch = NULL;
	collect->dropped = 0;
}

static void add_page(struct collect *collect, u64 addr, struct page *page)
{
	struct batch *batch = collect->batch ?: take_batch();

	if (!batch) {
		collect->dropped++;
		put_page(page);
		return;
	}
	batch->pages[batch->count].addr = addr;
	batch->pages[batch->count].page = page;
	batch->count++;
	collect->batch = batch;
	if (batch->count == BATCH_PAGES)
		hand_out(collect);
}

/* How much of what is not looked at was in memory is not known. */
static void collect_vma(struct collect *collect, struct vm_area_struct *vma)
{
	unsigned long addr = vma->vm_start, span;
	struct page *page;

	for (; addr < vma->vm_end; addr += span) {
		if (collect->looks == LOOKS_MAX) {
			collect->dropped += (vma->vm_end - addr) / PAGE_SIZE;
			return;
		}
		collect->looks++;
		page = kipt_resident_get(collect->mm, addr, &span);
		if (page)
			add_page(collect, addr, page);
	}
}

/* What may be written too is left out there. */
static void count_seen(struct collect *collect, struct vm_area_struct *vma)
{
	if ((vma->vm_flags & (VM_EXEC | VM_WRITE)) == VM_EXEC)
		collect->seen += vma_pages(vma);
}

static void drop_unseen(struct collect *collect)
{
	u64 pages = READ_ONCE(collect->mm->exec_vm);

	if (pages > collect->seen)
		collect->dropped += pages - collect->seen;
}

static void collect_pages(struct collect *collect)
{
	VMA_ITERATOR(vmi, collect->mm, 0);
	struct vm_area_struct *vma;
	u32 nr_vmas = 0;

	/* Someone else who looks at its last moments, such as the OOM reaper. */
	if (!mmap_read_trylock(collect->mm)) {
		drop_unseen(collect);
		return;
	}
	for_each_vma(vmi, vma) {
		if (nr_vmas++ == VMAS_MAX) {
			drop_unseen(collect);
			break;
		}
		count_seen(collect, vma);
		if ((vma->vm_flags & VM_EXEC) &&
		    !(vma->vm_flags & (VM_IO | VM_PFNMAP)))
			collect_vma(collect, vma);
	}
	mmap_read_unlock(collect->mm);
}

static void count_dropped(struct kipt_code_keep *keep, u64 pages)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&keep->ring_lock, flags);
	keep->overrun += pages;
	raw_spin_unlock_irqrestore(&keep->ring_lock, flags);
}

void kipt_code_keep_exit(struct mm_struct *mm)
{
	struct collect collect = { .mm = mm };
	struct kipt_code_keep *keep;
	bool wanted = false;

	/* A handler runs with preemption off, which is a read side. */
	list_for_each_entry_rcu(keep, &keepers, node, true) {
		if (!kipt_spaces_ended(keep->spaces, mm))
			continue;
		wanted |= keep->store != NULL;
		if (kipt_spaces_untidy(keep->spaces))
			kipt_code_keep_wake(keep);
	}
	if (!wanted)
		return;
	collect_pages(&collect);
	hand_out(&collect);
}

static bool next_waiting(struct kipt_code_keep *keep, struct waiting *waiting)
{
	bool any;

	raw_spin_lock_irq(&keep->ring_lock);
	any = keep->tail != keep->head;
	if (any) {
		*waiting = keep->ring[keep->tail % BATCHES];
		WRITE_ONCE(keep->tail, keep->tail + 1);
	}
	raw_spin_unlock_irq(&keep->ring_lock);
	return any;
}

/*
 * Whoever waits for the work item waits for this too: so it does not reclaim,
 * and no limit of the cgroup throttles it. Pages come one by one, as vmalloc()
 * may sleep on all kernels and larger blocks may not be there. Without more
 * memory the oldest code makes room.
 */
static void grow_store(struct kipt_code_keep *keep)
{
	struct mem_cgroup *old;
	unsigned long memory;

	if (kipt_memory_charge(PAGE_SIZE))
		return;
	old = set_active_memcg(keep->memcg);
	memory = __get_free_page(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(old);
	if (!memory) {
		kipt_memory_uncharge(PAGE_SIZE);
		return;
	}
	spin_lock(&keep->lock);
	kipt_code_store_grow(keep->store, (void *)memory);
	spin_unlock(&keep->lock);
}

static void keep_page(struct kipt_code_keep *keep, u64 id, u64 addr,
		      struct page *page)
{
	u64 hash;

	if (!kipt_resident_copy(page, keep->copy)) {
		count_dropped(keep, 1);
		return;
	}
	hash = siphash(keep->copy, PAGE_SIZE, &keep->key);
	if (kipt_code_store_wants(keep->store))
		grow_store(keep);
	spin_lock(&keep->lock);
	kipt_code_store_put(keep->store, id, addr, hash, keep->copy);
	spin_unlock(&keep->lock);
}

static void keep_batch(struct kipt_code_keep *keep,
		       const struct waiting *waiting)
{
	struct batch *batch = waiting->batch;
	u32 i;

	for (i = 0; i < batch->count; i++) {
		keep_page(keep, waiting->id, batch->pages[i].addr,
			  batch->pages[i].page);
		cond_resched();
	}
	put_batch(batch);
}

/* Others wait for a run of it, and address spaces to be let go of. */
static void keep_work(struct work_struct *work)
{
	struct kipt_code_keep *keep =
		container_of(work, struct kipt_code_keep, work);
	struct waiting waiting;
	u32 i;

	for (i = 0; i < BATCHES_A_RUN && keep->store; i++) {
		if (!next_waiting(keep, &waiting))
			break;
		keep_batch(keep, &waiting);
	}
	kipt_spaces_tidy(keep->spaces);
	if (i == BATCHES_A_RUN)
		queue_work(queue, &keep->work);
}

static void keep_wake(struct irq_work *wake)
{
	struct kipt_code_keep *keep =
		container_of(wake, struct kipt_code_keep, wake);

	queue_work(queue, &keep->work);
}

void kipt_code_keep_wake(struct kipt_code_keep *keep)
{
	irq_work_queue(&keep->wake);
}

void kipt_code_keep_settle(struct kipt_code_keep *keep)
{
	bool done = false;
	u32 head, round;

	irq_work_sync(&keep->wake);
	head = READ_ONCE(keep->head);
	for (round = 0; round < ROUNDS_MAX && !done; round++) {
		/* What was taken from the ring may be a copy under way. */
		done = (s32)(head - READ_ONCE(keep->tail)) <= 0;
		flush_work(&keep->work);
	}
}

static int alloc_store(struct kipt_code_keep *keep)
{
	u64 bytes = kipt_limits()->keep_code;
	void *memory;

	keep->store_bytes = kipt_code_store_size(bytes);
	memory = kipt_memory_alloc(keep->store_bytes);
	if (!memory)
		return -ENOMEM;
	get_random_bytes(&keep->key, sizeof(keep->key));
	keep->store = kipt_code_store_init(memory, bytes, get_random_u64());
	keep->ring = kipt_memory_alloc(BATCHES * sizeof(*keep->ring));
	keep->copy = kipt_memory_alloc(PAGE_SIZE);
	keep->memcg = get_mem_cgroup_from_mm(current->mm);
	return keep->ring && keep->copy ? 0 : -ENOMEM;
}

struct kipt_code_keep *kipt_code_keep_create(struct kipt_spaces *spaces,
					     bool code)
{
	struct kipt_code_keep *keep = kipt_memory_alloc(sizeof(*keep));

	if (!keep)
		return NULL;
	keep->spaces = spaces;
	raw_spin_lock_init(&keep->ring_lock);
	spin_lock_init(&keep->lock);
	init_irq_work(&keep->wake, keep_wake);
	INIT_WORK(&keep->work, keep_work);
	if (!code || !alloc_store(keep))
		return keep;
	kipt_code_keep_destroy(keep);
	return NULL;
}

static void drop_waiting(struct kipt_code_keep *keep)
{
	struct waiting waiting;

	while (keep->ring && next_waiting(keep, &waiting))
		put_batch(waiting.batch);
}

static void free_store(struct kipt_code_keep *keep)
{
	void *page;

	while ((page = kipt_code_store_shrink(keep->store))) {
		free_page((unsigned long)page);
		kipt_memory_uncharge(PAGE_SIZE);
	}
	kipt_memory_free(keep->store, keep->store_bytes);
	kipt_memory_free(keep->ring, BATCHES * sizeof(*keep->ring));
	kipt_memory_free(keep->copy, PAGE_SIZE);
	mem_cgroup_put(keep->memcg);
}

void kipt_code_keep_destroy(struct kipt_code_keep *keep)
{
	if (!keep)
		return;
	irq_work_sync(&keep->wake);
	/* Also if it queues itself. */
	cancel_work_sync(&keep->work);
	drop_waiting(keep);
	if (keep->store)
		free_store(keep);
	kipt_memory_free(keep, sizeof(*keep));
}

void kipt_code_keep_clear(struct kipt_code_keep *keep)
{
	if (!keep->store)
		return;
	drop_waiting(keep);
	kipt_code_keep_settle(keep);
	spin_lock(&keep->lock);
	kipt_code_store_clear(keep->store);
	spin_unlock(&keep->lock);
	raw_spin_lock_irq(&keep->ring_lock);
	keep->overrun = 0;
	raw_spin_unlock_irq(&keep->ring_lock);
}

bool kipt_code_keep_read(struct kipt_code_keep *keep, u64 id, u64 ip, u8 *buf,
			 u32 len)
{
	bool got;

	if (!keep->store)
		return false;
	spin_lock(&keep->lock);
	got = kipt_code_store_get(keep->store, id, ip, buf, len);
	spin_unlock(&keep->lock);
	return got;
}

void kipt_code_keep_figures(struct kipt_code_keep *keep, u64 *kept,
			    u64 *dropped)
{
	*kept = 0;
	*dropped = 0;
	if (!keep->store)
		return;
	spin_lock(&keep->lock);
	*kept = kipt_code_store_bytes(keep->store);
	*dropped = kipt_code_store_dropped(keep->store);
	spin_unlock(&keep->lock);
	raw_spin_lock_irq(&keep->ring_lock);
	*dropped += keep->overrun * PAGE_SIZE;
	raw_spin_unlock_irq(&keep->ring_lock);
}
