// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads code for the decoder. Pages of live tasks are copied once per fetch,
 * so that all that decode see the same: entries are added under a lock, found
 * without one, and freed when no decoder runs any more. Only pages that were
 * read are remembered: what is not there now may be there later. Where a page
 * cannot be remembered, for want of memory, it is read anew each time. Process
 * context, may sleep.
 */
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <asm/pgtable.h>
#include <asm/tsc.h>
#include <asm/vdso.h>

#include "code_bytes.h"
#include "../lib/memory.h"
#include "../watch/images.h"
#include "../watch/resident.h"
#include "../watch/sideband.h"
#include "../watch/space_table.h"
#include "../watch/text_patch.h"

#define BUCKETS		4096
/* 128 MiB of user code; what is beyond is read anew each time. */
#define PAGES_MAX	32768
/* Waiting in vain takes a small part of this. */
#define BUSY_JIFFIES	(HZ / 10)

/*
 * A space of the decoder is the number of an address space in the upper bits, or a
 * name that no number is known for, which is the address of a page, or
 * KIPT_SPACE_GUEST.
 */
#define SPACE_UNKNOWN	2ULL
#define SPACE_SHIFT	2

/* Set in @id of a page that is of a file: the rest is the file's number. */
#define PAGE_OF_FILE	(1ULL << 63)

/* A page of user code, @len bytes of it; @data follows it in the account. */
struct code_page {
	struct hlist_node node;
	u64 id;
	u64 addr;
	u32 len;
	u8 *data;
};

#define PAGE_CHARGE	(sizeof(struct code_page) + PAGE_SIZE)

/* @key: no program can choose addresses that share a bucket. */
struct kipt_code_bytes {
	struct kipt_sideband *sideband;
	siphash_key_t key;
	spinlock_t lock;
	u32 nr_pages;
	struct hlist_head buckets[BUCKETS];
};

struct kipt_code_bytes *
kipt_code_bytes_create(struct kipt_sideband *sideband)
{
	struct kipt_code_bytes *bytes = kipt_memory_alloc(sizeof(*bytes));

	if (!bytes)
		return NULL;
	bytes->sideband = sideband;
	get_random_bytes(&bytes->key, sizeof(bytes->key));
	spin_lock_init(&bytes->lock);
	return bytes;
}

static void free_page_entry(struct code_page *page)
{
	free_page((unsigned long)page->data);
	kfree(page);
	kipt_memory_uncharge(PAGE_CHARGE);
}

void kipt_code_bytes_destroy(struct kipt_code_bytes *bytes)
{
	struct code_page *page;
	struct hlist_node *next;
	u32 i;

	if (!bytes)
		return;
	for (i = 0; i < ARRAY_SIZE(bytes->buckets); i++)
		hlist_for_each_entry_safe(page, next, &bytes->buckets[i], node)
			free_page_entry(page);
	kipt_memory_free(bytes, sizeof(*bytes));
}

static struct hlist_head *bucket(struct kipt_code_bytes *bytes, u64 id,
				 u64 addr)
{
	return &bytes->buckets[siphash_2u64(id, addr, &bytes->key) %
			       ARRAY_SIZE(bytes->buckets)];
}

/* Entries are never taken out while readers are about, so no RCU lock. */
static struct code_page *find_page(struct kipt_code_bytes *bytes, u64 id,
				   u64 addr)
{
	struct code_page *page;

	hlist_for_each_entry_rcu(page, bucket(bytes, id, addr), node, true)
		if (page->id == id && page->addr == addr)
			return page;
	return NULL;
}

/* A limit of memory is no reason to fail, or to have a process killed. */
static struct code_page *alloc_page_entry(void)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN;
	struct code_page *page;

	if (kipt_memory_charge(PAGE_CHARGE))
		return NULL;
	page = kzalloc(sizeof(*page), gfp);
	if (page)
		page->data = (u8 *)__get_free_page(gfp);
	if (page && page->data)
		return page;
	kfree(page);
	kipt_memory_uncharge(PAGE_CHARGE);
	return NULL;
}

/* Return: @page, or the entry another reader was faster to make. */
static struct code_page *add_page(struct kipt_code_bytes *bytes,
				  struct code_page *page)
{
	struct code_page *other;

	spin_lock(&bytes->lock);
	other = find_page(bytes, page->id, page->addr);
	if (!other) {
		bytes->nr_pages++;
		hlist_add_head_rcu(&page->node,
				   bucket(bytes, page->id, page->addr));
	}
	spin_unlock(&bytes->lock);
	if (!other)
		return page;
	free_page_entry(page);
	return other;
}

/*
 * A lock of an address space may be held for as long as a server does not
 * answer. It is waited for now and then, not at each read.
 */
static struct kipt_code_wait *wait_of(struct kipt_code_reader *reader, u64 id)
{
	return &reader->busy[hash_64(id, ilog2(KIPT_CODE_WAITS))];
}

static bool may_wait(struct kipt_code_reader *reader, u64 id)
{
	const struct kipt_code_wait *busy = wait_of(reader, id);

	return busy->id != id || time_after_eq(jiffies, busy->until);
}

/* @err: of a look at a page, which waited if @patient. Return: @err. */
static int note_wait(struct kipt_code_reader *reader, u64 id, bool patient, int err)
{
	if (err == -EBUSY && patient)
		*wait_of(reader, id) = (struct kipt_code_wait){
			.id = id, .until = jiffies + BUSY_JIFFIES,
		};
	return err;
}

/* Return: @len bytes of the page, as all readers see it if there is memory. */
static const u8 *remember_page(struct kipt_code_reader *reader, u64 id,
			       u64 addr, u32 len)
{
	struct kipt_code_bytes *bytes = reader->bytes;
	struct code_page *page = NULL;

	if (READ_ONCE(bytes->nr_pages) < PAGES_MAX)
		page = alloc_page_entry();
	if (!page)
		return reader->page;
	page->id = id;
	page->addr = addr;
	page->len = len;
	memcpy(page->data, reader->page, len);
	return add_page(bytes, page)->data;
}

/* [@ip, @ip + @n) lies in one page, which the task has in memory. */
static u32 read_live(struct kipt_code_reader *reader, struct mm_struct *mm,
		     u64 id, u64 ip, u8 *buf, u32 n)
{
	bool patient = may_wait(reader, id);
	u64 addr = ip & PAGE_MASK;

	if (note_wait(reader, id, patient,
		      kipt_resident_read(mm, addr, reader->page, patient)))
		return 0;
	memcpy(buf, remember_page(reader, id, addr, PAGE_SIZE) + offset_in_page(ip),
	       n);
	return n;
}

/* [@place->offset, @place->offset + @n) lies in one page; a file may be shorter. */
static u32 read_file(struct kipt_code_reader *reader,
		     const struct kipt_images *images,
		     struct kipt_image_place place, u8 *buf, u32 n)
{
	u64 id = PAGE_OF_FILE | place.file;
	u32 at = offset_in_page(place.offset), len;
	const struct code_page *page;
	const u8 *data;

	place.offset -= at;
	page = find_page(reader->bytes, id, place.offset);
	if (page) {
		data = page->data;
		len = page->len;
	} else {
		len = kipt_images_read(images, &place, reader->page);
		if (!len)
			return 0;
		data = remember_page(reader, id, place.offset, len);
	}
	n = at < len ? min(n, len - at) : 0;
	memcpy(buf, data + at, n);
	return n;
}

static u32 read_vdso(const struct vdso_image *vdso, u64 offset, u8 *buf, u32 n)
{
	if (!vdso || offset >= vdso->size)
		return 0;
	n = min_t(u64, n, vdso->size - offset);
	memcpy(buf, vdso->data + offset, n);
	return n;
}

static struct kipt_spaces *spaces_of(const struct kipt_code_reader *reader)
{
	return kipt_sideband_spaces(reader->bytes->sideband);
}

/*
 * Return: a live address space, for mmdrop(), or NULL. One that is ending is not sure
 * to be whole.
 */
static struct mm_struct *get_mm(const struct kipt_code_reader *reader, u64 id)
{
	struct mm_struct *mm = kipt_spaces_mm(spaces_of(reader), id);

	if (!mm || atomic_read(&mm->mm_users))
		return mm;
	mmdrop(mm);
	return NULL;
}

/*
 * A process that wrote to its code (relocations in it, patches) has a copy of the page,
 * and ran that.
 * Return: as kipt_resident_private(); 0 too if the process has ended.
 */
static int is_written(struct kipt_code_reader *reader, u64 id, u64 addr, u64 offset)
{
	u32 i = hash_64(id ^ addr, ilog2(KIPT_CODE_PLAIN));
	bool patient = may_wait(reader, id);
	struct mm_struct *mm;
	int err = 0;

	if (reader->plain[i].id == id && reader->plain[i].addr == addr &&
	    reader->plain[i].offset == offset)
		return 0;
	mm = get_mm(reader, id);
	if (mm) {
		err = note_wait(reader, id, patient,
				kipt_resident_private(mm, addr, offset, patient));
		mmdrop(mm);
	}
	if (err)
		return err;
	reader->plain[i].id = id;
	reader->plain[i].addr = addr;
	reader->plain[i].offset = offset;
	return 0;
}

/*
 * Files that a reader named come first; what none of them covers may be in memory, and
 * so is what was written to.
 * Return: false if it is in memory.
 */
static bool read_image(struct kipt_code_reader *reader, u64 id, u64 ip, u8 *buf,
		       u32 n, u32 *got)
{
	const struct kipt_images *images = kipt_sideband_images(reader->bytes->sideband);
	enum kipt_image_found found;
	struct kipt_image_place place;
	struct kipt_space who;
	int written;

	*got = 0;
	if (!images || !kipt_spaces_who(spaces_of(reader), id, &who))
		return false;
	found = kipt_image_table_find(kipt_images_table(images), who.tgid, who.since,
				      reader->begin, reader->end, ip, &place);
	if (found != KIPT_IMAGE_FILE)
		return found == KIPT_IMAGE_UNSURE;
	written = is_written(reader, id, ip & PAGE_MASK, place.file == KIPT_RAW_VDSO ?
			     KIPT_RESIDENT_ANY : place.offset & PAGE_MASK);
	if (written)
		return written < 0;
	*got = place.file == KIPT_RAW_VDSO ? read_vdso(who.vdso, place.offset, buf, n) :
					     read_file(reader, images, place, buf, n);
	return true;
}

/* [@ip, @ip + @n) lies in one page. */
static u32 read_user(struct kipt_code_reader *reader, u64 id, u64 ip, u8 *buf,
		     u32 n)
{
	struct code_page *page;
	struct mm_struct *mm;
	u32 got = 0;

	if (read_image(reader, id, ip, buf, n, &got))
		return got;
	page = find_page(reader->bytes, id, ip & PAGE_MASK);
	if (page) {
		memcpy(buf, page->data + offset_in_page(ip), n);
		return n;
	}
	mm = get_mm(reader, id);
	if (mm) {
		got = read_live(reader, mm, id, ip, buf, n);
		mmdrop(mm);
	}
	return got;
}

/*
 * The image of the kernel and the area of modules, BPF programs and
 * trampolines. No device is mapped there, so reading has no side effects,
 * whatever address a trace claims.
 */
static bool is_kernel_code(u64 ip)
{
	return ip >= __START_KERNEL_map && ip < MODULES_END;
}

static u32 read_kernel(const struct kipt_code_reader *reader, u64 ip, u8 *buf,
		       u32 n)
{
	n = kipt_text_view_sure(&reader->text, ip, n);
	if (!n || copy_from_kernel_nofault(buf, (void *)ip, n) ||
	    !kipt_text_patch_undo(reader->text.at, ip, buf, n))
		return 0;
	return n;
}

static u32 read_part(struct kipt_code_reader *reader, u64 space, u64 ip,
		     u8 *buf, u32 n)
{
	if (space == KIPT_SPACE_GUEST)
		return 0;
	if (is_kernel_code(ip))
		return read_kernel(reader, ip, buf, n);
	if (ip >= TASK_SIZE_MAX || space & SPACE_UNKNOWN)
		return 0;
	space = space >> SPACE_SHIFT ?: reader->unnamed;
	return space ? read_user(reader, space, ip, buf, n) : 0;
}

static u32 kipt_code_bytes_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	u32 done = 0, n, got;

	while (done < len) {
		n = min_t(u32, len - done, PAGE_SIZE - offset_in_page(ip));
		got = read_part(ctx, space, ip, buf + done, n);
		done += got;
		ip += got;
		if (got < n)
			break;
	}
	return done;
}

static u64 find_space(const struct kipt_code_reader *reader, u64 name)
{
	u64 id = kipt_spaces_at(spaces_of(reader), name, reader->begin, reader->end);

	return id ? id << SPACE_SHIFT : name | SPACE_UNKNOWN;
}

/* With split page tables the trace names one at each entry to the kernel. */
static u64 kipt_code_bytes_space(void *ctx, u64 cr3, bool nr)
{
	struct kipt_code_reader *reader = ctx;
	u64 name = kipt_sideband_space(cr3);
	u32 i = hash_64(name, ilog2(KIPT_CODE_NAMES));

	if (nr)
		return KIPT_SPACE_GUEST;
	if (reader->names[i].name != name) {
		reader->names[i].name = name;
		reader->names[i].space = find_space(reader, name);
	}
	return reader->names[i].space;
}

static bool kipt_code_bytes_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	struct kipt_code_reader *reader = ctx;

	return is_kernel_code(ip) && space != KIPT_SPACE_GUEST &&
	       kipt_text_view_sure(&reader->text, ip, len) < len;
}

static bool kipt_code_bytes_based(void *ctx, u64 space)
{
	struct kipt_code_reader *reader = ctx;
	struct kipt_space who;

	if (!reader->offsets || space == KIPT_SPACE_GUEST || space & SPACE_UNKNOWN)
		return false;
	return kipt_spaces_who(spaces_of(reader), space >> SPACE_SHIFT ?: reader->unnamed, &who) &&
	       who.based;
}

void kipt_code_bytes_callbacks(struct kipt_code_reader *reader,
			       struct kipt_code *code)
{
	*code = (struct kipt_code) {
		.read = kipt_code_bytes_read,
		.space = kipt_code_bytes_space,
		.changed = kipt_code_bytes_changed,
		.based = kipt_code_bytes_based,
		.ctx = reader,
	};
}

void kipt_code_reader_init(struct kipt_code_reader *reader, u64 first_patch, u64 end_patch)
{
	reader->end = ~0ULL;
	kipt_text_view_init(&reader->text, kipt_text_patch_log(), first_patch, end_patch,
			    (u64)tsc_khz * KIPT_TEXT_SLACK_MS);
}

/* How many mappings had taken the place of others until @tsc; 0 without images. */
static u32 changes_until(const struct kipt_code_reader *reader, u64 tsc)
{
	const struct kipt_images *images =
		kipt_sideband_images(reader->bytes->sideband);

	return images ? kipt_image_table_changes(kipt_images_table(images), tsc) : 0;
}

/* Blocks that were made of what was mapped in another stretch are made anew. */
static void drop_changed_code(struct kipt_code_reader *reader)
{
	u32 first = changes_until(reader, reader->begin);
	u32 last = changes_until(reader, reader->end);

	if (first == reader->first_change && last == reader->last_change)
		return;
	reader->first_change = first;
	reader->last_change = last;
	kipt_flow_forget(reader->flow, KIPT_FLOW_SPACES, 0, ~0ULL);
}

bool kipt_code_reader_stays(const struct kipt_code_reader *reader, u64 begin, u64 end)
{
	return changes_until(reader, begin) == changes_until(reader, end);
}

void kipt_code_reader_at(struct kipt_code_reader *reader, u64 begin, u64 end)
{
	reader->begin = begin;
	reader->end = end;
	drop_changed_code(reader);
	memset(reader->names, 0, sizeof(reader->names));
	kipt_text_view_at(&reader->text, reader->flow, begin, end);
}

void kipt_code_reader_unnamed(struct kipt_code_reader *reader, unsigned int cpu)
{
	const struct kipt_switch_log *log = kipt_sideband_log(reader->bytes->sideband, cpu);
	u64 id = kipt_switch_log_running(log, reader->begin);

	if (id == reader->unnamed)
		return;
	reader->unnamed = id;
	kipt_flow_forget(reader->flow, 0, 0, ~0ULL);
}

bool kipt_code_bytes_who(struct kipt_code_bytes *bytes, u64 space,
			 struct kipt_space *who)
{
	*who = (struct kipt_space){ 0 };
	if (!space)
		return false;
	if (space & SPACE_UNKNOWN) {
		who->name = space & ~SPACE_UNKNOWN;
		return true;
	}
	return kipt_spaces_who(kipt_sideband_spaces(bytes->sideband), space >> SPACE_SHIFT, who);
}
