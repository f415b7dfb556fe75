// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads code for the decoder. User pages are copied once per fetch: entries
 * are added under a lock, found without one, and freed when no decoder runs
 * any more. Process context, may sleep.
 */
#include <linux/hash.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <asm/pgtable.h>

#include "code_bytes.h"
#include "compat.h"
#include "sideband.h"
#include "text_patch.h"

#define BUCKET_BITS	12
/* 128 MiB of user code; what is beyond is read anew each time. */
#define PAGES_MAX	32768
/* Spaces of virtual machines: low bit set, page tables have it clear. */
#define SPACE_GUEST	1ULL

/* A page of user code; @data is NULL if there is none at the address. */
struct code_page {
	struct hlist_node node;
	u64 space;
	u64 addr;
	u8 *data;
};

struct kipt_code_bytes {
	struct kipt_sideband *sideband;
	spinlock_t lock;
	u32 nr_pages;
	struct hlist_head buckets[1 << BUCKET_BITS];
};

struct kipt_code_bytes *
kipt_code_bytes_create(struct kipt_sideband *sideband)
{
	struct kipt_code_bytes *bytes = kvzalloc(sizeof(*bytes), GFP_KERNEL);

	if (!bytes)
		return NULL;
	bytes->sideband = sideband;
	spin_lock_init(&bytes->lock);
	return bytes;
}

static void free_page_entry(struct code_page *page)
{
	free_page((unsigned long)page->data);
	kfree(page);
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
	kvfree(bytes);
}

static struct hlist_head *bucket(struct kipt_code_bytes *bytes, u64 space,
				 u64 addr)
{
	return &bytes->buckets[hash_64(space ^ addr >> PAGE_SHIFT,
				       BUCKET_BITS)];
}

/* Entries are never taken out while readers are about, so no RCU lock. */
static struct code_page *find_page(struct kipt_code_bytes *bytes, u64 space,
				   u64 addr)
{
	struct code_page *page;

	hlist_for_each_entry_rcu(page, bucket(bytes, space, addr), node, true)
		if (page->space == space && page->addr == addr)
			return page;
	return NULL;
}

static bool copy_task_page(struct mm_struct *mm, u64 addr, u8 *to)
{
	struct page *page;
	void *from;
	long got;

	mmap_read_lock(mm);
	got = kipt_compat_get_page(mm, addr, &page);
	mmap_read_unlock(mm);
	if (got != 1)
		return false;
	from = kmap_local_page(page);
	memcpy(to, from, PAGE_SIZE);
	kunmap_local(from);
	put_page(page);
	return true;
}

static u8 *read_task_page(struct kipt_code_bytes *bytes, u64 space, u64 addr)
{
	struct mm_struct *mm = kipt_sideband_mm(bytes->sideband, space);
	u8 *data;

	if (!mm)
		return NULL;
	data = (u8 *)__get_free_page(GFP_KERNEL);
	if (data && !copy_task_page(mm, addr, data)) {
		free_page((unsigned long)data);
		data = NULL;
	}
	mmput(mm);
	return data;
}

/* Return: @page, or the entry another worker was faster to make. */
static struct code_page *add_page(struct kipt_code_bytes *bytes,
				  struct code_page *page)
{
	struct code_page *other;

	spin_lock(&bytes->lock);
	other = find_page(bytes, page->space, page->addr);
	if (!other) {
		bytes->nr_pages++;
		hlist_add_head_rcu(&page->node,
				   bucket(bytes, page->space, page->addr));
	}
	spin_unlock(&bytes->lock);
	if (!other)
		return page;
	free_page_entry(page);
	return other;
}

static struct code_page *make_page(struct kipt_code_bytes *bytes, u64 space,
				   u64 addr)
{
	struct code_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

	if (!page)
		return NULL;
	page->space = space;
	page->addr = addr;
	page->data = read_task_page(bytes, space, addr);
	return page;
}

static u32 copy_part(const struct code_page *page, u64 ip, u8 *buf, u32 n)
{
	if (!page || !page->data)
		return 0;
	memcpy(buf, page->data + offset_in_page(ip), n);
	return n;
}

/* [@ip, @ip + @n) lies in one page. */
static u32 read_user(struct kipt_code_bytes *bytes, u64 space, u64 ip,
		     u8 *buf, u32 n)
{
	u64 addr = ip & PAGE_MASK;
	struct code_page *page = find_page(bytes, space, addr);

	if (page)
		return copy_part(page, ip, buf, n);
	page = make_page(bytes, space, addr);
	if (!page)
		return 0;
	if (READ_ONCE(bytes->nr_pages) >= PAGES_MAX) {
		n = copy_part(page, ip, buf, n);
		free_page_entry(page);
		return n;
	}
	return copy_part(add_page(bytes, page), ip, buf, n);
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
	if (copy_from_kernel_nofault(buf, (void *)ip, n))
		return 0;
	kipt_text_patch_undo(reader->text_at, ip, buf, n);
	return n;
}

static u32 read_part(struct kipt_code_reader *reader, u64 space, u64 ip,
		     u8 *buf, u32 n)
{
	if (space & SPACE_GUEST)
		return 0;
	if (is_kernel_code(ip))
		return read_kernel(reader, ip, buf, n);
	if (ip >= TASK_SIZE_MAX)
		return 0;
	return read_user(reader->bytes, space ?: reader->unnamed, ip, buf, n);
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

static u64 kipt_code_bytes_space(void *ctx, u64 cr3, bool nr)
{
	u64 space = kipt_sideband_space(cr3);

	return nr ? space | SPACE_GUEST : space;
}

static bool kipt_code_bytes_changed(void *ctx, u64 space, u64 ip, u32 len)
{
	struct kipt_code_reader *reader = ctx;

	return is_kernel_code(ip) &&
	       kipt_text_patch_touches(reader->text_first,
				       reader->text_unsure, ip, len);
}

/*
 * Only a local descriptor table holds code segments that do not begin at 0.
 * What a process wrote into it stays as long as its struct mm_struct.
 */
static bool has_ldt(const struct mm_struct *mm)
{
#ifdef CONFIG_MODIFY_LDT_SYSCALL
	return READ_ONCE(mm->context.ldt);
#else
	return false;
#endif
}

static bool kipt_code_bytes_based(void *ctx, u64 space)
{
	struct kipt_code_reader *reader = ctx;
	struct mm_struct *mm;
	bool based;

	if (!reader->offsets || space & SPACE_GUEST)
		return false;
	mm = kipt_sideband_mm(reader->bytes->sideband,
			      space ?: reader->unnamed);
	if (!mm)
		return false;
	based = has_ldt(mm);
	mmput(mm);
	return based;
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
