// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks page tables by hand, as get_user_pages_fast() does for the running
 * task: with interrupts off no page table is freed, because that waits for
 * RCU or for an interrupt on each CPU; each entry is read once; and a page is
 * believed when it is still there after its reference was taken.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/page-flags.h>
#include <linux/page_ref.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "resident.h"

/*
 * Who changes mappings is through in microseconds, unless it lost its CPU
 * meanwhile, or waits for something: then so much patience and no more.
 */
#define LOCK_TRIES	64
#define LOCK_SLEEPS	10
#define SLEEP_US	200

/* @pfn is of an entry that says it is a page of memory. */
static struct page *try_get(unsigned long pfn)
{
	struct page *page;
	struct folio *folio;

	if (!pfn_valid(pfn))
		return NULL;
	page = pfn_to_page(pfn);
	if (is_zone_device_page(page) || PageHWPoison(page))
		return NULL;
	folio = page_folio(page);
	if (!folio_try_get(folio))
		return NULL;
	/* It may have been freed, and another page's part since. */
	if (page_folio(page) == folio)
		return page;
	folio_put(folio);
	return NULL;
}

/* Return: bytes from @addr on that are not mapped, in one page table. */
static unsigned long empty_span(const pte_t *entry, unsigned long addr)
{
	unsigned long end = (addr & PMD_MASK) + PMD_SIZE, at = addr;

	do {
		at += PAGE_SIZE;
	} while (at < end && pte_none(READ_ONCE(*++entry)));
	return at - addr;
}

static struct page *get_small(pmd_t pmd, unsigned long addr,
			      unsigned long *span)
{
	pte_t *entry = pte_offset_kernel(&pmd, addr);
	pte_t pte = READ_ONCE(*entry), again;
	struct page *page;

	if (pte_none(pte)) {
		*span = empty_span(entry, addr);
		return NULL;
	}
	if (!pte_present(pte))
		return ERR_PTR(-EAGAIN);
	if (pte_special(pte))
		return NULL;
	page = try_get(pte_pfn(pte));
	again = READ_ONCE(*entry);
	if (!page || (pte_present(again) && pte_pfn(again) == pte_pfn(pte)))
		return page;
	put_page(page);
	return NULL;
}

static struct page *get_large(pmd_t *entry, pmd_t pmd, unsigned long addr)
{
	unsigned long pfn = pmd_pfn(pmd) + ((addr & ~PMD_MASK) >> PAGE_SHIFT);
	struct page *page = try_get(pfn);
	pmd_t again = READ_ONCE(*entry);

	if (!page || (pmd_present(again) && pmd_leaf(again) &&
		      pmd_pfn(again) == pmd_pfn(pmd)))
		return page;
	put_page(page);
	return NULL;
}

static struct page *get_at_pmd(pmd_t *entry, unsigned long addr,
			       unsigned long *span)
{
	pmd_t pmd = READ_ONCE(*entry);

	*span = PMD_SIZE - (addr & ~PMD_MASK);
	if (!pmd_present(pmd))
		return pmd_none(pmd) ? NULL : ERR_PTR(-EAGAIN);
	*span = PAGE_SIZE - offset_in_page(addr);
	if (pmd_leaf(pmd))
		return get_large(entry, pmd, addr);
	return get_small(pmd, addr, span);
}

/* Return: as kipt_resident_get(); -EAGAIN: the page is swapped out, or being migrated. */
static struct page *get_at(struct mm_struct *mm, unsigned long addr,
			   unsigned long *span)
{
	pgd_t pgd, *pgds = pgd_offset(mm, addr);
	p4d_t p4d, *p4ds;
	pud_t pud, *puds;

	*span = PUD_SIZE - (addr & ~PUD_MASK);
	pgd = READ_ONCE(*pgds);
	if (pgd_none(pgd))
		return NULL;
	/* With four levels this one is the same table again. */
	p4ds = pgtable_l5_enabled() ? p4d_offset(&pgd, addr) : (p4d_t *)pgds;
	p4d = READ_ONCE(*p4ds);
	if (!p4d_present(p4d))
		return NULL;
	puds = pud_offset(&p4d, addr);
	pud = READ_ONCE(*puds);
	/* No program is in pages of 1 GiB. */
	if (!pud_present(pud) || pud_leaf(pud))
		return NULL;
	return get_at_pmd(pmd_offset(&pud, addr), addr, span);
}

static struct page *get(struct mm_struct *mm, unsigned long addr, unsigned long *span)
{
	unsigned long flags;
	struct page *page;

	mmap_assert_locked(mm);
	local_irq_save(flags);
	page = get_at(mm, addr, span);
	local_irq_restore(flags);
	return page;
}

struct page *kipt_resident_get(struct mm_struct *mm, unsigned long addr,
			       unsigned long *span)
{
	struct page *page = get(mm, addr, span);

	return IS_ERR(page) ? NULL : page;
}

bool kipt_resident_copy(struct page *page, void *to)
{
	return !copy_from_kernel_nofault(to, page_address(page), PAGE_SIZE);
}

bool kipt_resident_try_lock(struct mm_struct *mm)
{
	u32 i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (mmap_read_trylock(mm))
			return true;
		cpu_relax();
	}
	return false;
}

/* For its own lock a reader waits as it does in each page fault. */
static bool lock_mm(struct mm_struct *mm, bool patient)
{
	u32 i;

	if (mm == current->mm)
		return !mmap_read_lock_killable(mm);
	if (!patient)
		return kipt_resident_try_lock(mm);
	for (i = 0; i < LOCK_SLEEPS; i++) {
		if (kipt_resident_try_lock(mm))
			return true;
		usleep_range(SLEEP_US, 2 * SLEEP_US);
	}
	return false;
}

/* Is this offset of a file mapped at @addr? KIPT_RESIDENT_ANY: is anything? */
static bool is_mapped(const struct vm_area_struct *vma, unsigned long addr, u64 offset)
{
	if (!vma || vma->vm_start > addr || vma->vm_flags & (VM_IO | VM_PFNMAP))
		return false;
	return offset == KIPT_RESIDENT_ANY ||
	       (vma->vm_file && ((u64)vma->vm_pgoff << PAGE_SHIFT) +
				(addr - vma->vm_start) == offset);
}

/* Return: 0 with a referenced page, or NULL if none is there; -EBUSY; -EAGAIN, see get_at(). */
static int get_locked(struct mm_struct *mm, unsigned long addr, u64 offset, bool patient,
		      struct page **page)
{
	unsigned long span;
	int err;

	*page = NULL;
	if (!lock_mm(mm, patient))
		return -EBUSY;
	if (is_mapped(find_vma(mm, addr), addr, offset))
		*page = get(mm, addr, &span);
	mmap_read_unlock(mm);
	err = PTR_ERR_OR_ZERO(*page);
	if (err)
		*page = NULL;
	return err;
}

int kipt_resident_read(struct mm_struct *mm, unsigned long addr, void *to,
		       bool patient)
{
	struct page *page;
	int err = get_locked(mm, addr, KIPT_RESIDENT_ANY, patient, &page);

	if (!page)
		return err == -EBUSY ? err : -EFAULT;
	if (!kipt_resident_copy(page, to))
		err = -EFAULT;
	put_page(page);
	return err;
}

int kipt_resident_private(struct mm_struct *mm, unsigned long addr, u64 offset,
			  bool patient)
{
	struct page *page;
	int err = get_locked(mm, addr, offset, patient, &page);

	if (!page)
		return err;
	err = PageAnon(page);
	put_page(page);
	return err;
}
