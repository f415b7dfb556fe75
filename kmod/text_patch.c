// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs patches by a kprobe on __text_poke(), which every change of running
 * text goes through, with text_mutex held. The probe runs with preemption
 * off and is the only writer; readers run anywhere and see complete entries.
 * If the kernel has no such function nothing is logged, and contradictions
 * that patches cause show as decode errors.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kprobes.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "text_patch.h"

/* A power of two; one static key makes three entries a place it is used. */
#define LOG_ENTRIES	32768U
/* Longer ones write to memory that holds no code yet. */
#define PATCH_MAX	16

struct patch {
	u64 tsc;
	u64 addr;
	u32 len;
	u8 before[PATCH_MAX];
};

static struct patch *log_entries;
static u64 logged;

static DEFINE_MUTEX(users_lock);
static u32 users;

static struct patch *entry(u64 number)
{
	return &log_entries[number % LOG_ENTRIES];
}

/* __text_poke(func, addr, src, len) */
static int kipt_text_patch_log(struct kprobe *probe, struct pt_regs *regs)
{
	struct patch *patch = entry(logged);

	patch->tsc = rdtsc();
	patch->addr = regs->si;
	patch->len = regs->cx;
	if (patch->len <= PATCH_MAX &&
	    copy_from_kernel_nofault(patch->before, (void *)regs->si,
				     patch->len))
		patch->len = 0;
	/* Pairs with kipt_text_patch_count(). */
	smp_store_release(&logged, logged + 1);
	return 0;
}

static struct kprobe probe;

void kipt_text_patch_get(void)
{
	mutex_lock(&users_lock);
	if (users++)
		goto out;
	if (!log_entries)
		log_entries = kvcalloc(LOG_ENTRIES, sizeof(*log_entries),
				       GFP_KERNEL);
	probe = (struct kprobe) {
		.symbol_name = "__text_poke",
		.pre_handler = kipt_text_patch_log,
	};
	if (!log_entries || register_kprobe(&probe)) {
		pr_warn_once("patches of kernel text cannot be followed\n");
		probe.pre_handler = NULL;
	}
out:
	mutex_unlock(&users_lock);
}

void kipt_text_patch_put(void)
{
	mutex_lock(&users_lock);
	if (--users)
		goto out;
	if (probe.pre_handler)
		unregister_kprobe(&probe);
	kvfree(log_entries);
	log_entries = NULL;
out:
	mutex_unlock(&users_lock);
}

u64 kipt_text_patch_count(void)
{
	/* Pairs with kipt_text_patch_log(). */
	return smp_load_acquire(&logged);
}

static u64 oldest_logged(void)
{
	u64 count = kipt_text_patch_count();

	return count > LOG_ENTRIES ? count - LOG_ENTRIES : 0;
}

u64 kipt_text_patch_at(u64 first, u64 end, u64 tsc)
{
	u64 middle;

	/* Patches are logged in the order of their times. */
	first = min(max(first, oldest_logged()), end);
	while (first < end) {
		middle = first + (end - first) / 2;
		if (entry(middle)->tsc <= tsc)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

bool kipt_text_patch_lost(u64 first, u64 tsc)
{
	u64 oldest = oldest_logged();

	return first < oldest && tsc <= entry(oldest)->tsc;
}

static bool overlaps(const struct patch *patch, u64 ip, u32 len)
{
	return patch->addr < ip + len && ip < patch->addr + patch->len;
}

static void undo_one(const struct patch *patch, u64 ip, u8 *buf, u32 len)
{
	u64 begin = max(patch->addr, ip);
	u64 end = min(patch->addr + patch->len, ip + len);

	if (patch->len <= PATCH_MAX && overlaps(patch, ip, len))
		memcpy(buf + (begin - ip), patch->before +
		       (begin - patch->addr), end - begin);
}

void kipt_text_patch_undo(u64 first, u64 ip, u8 *buf, u32 len)
{
	u64 number = kipt_text_patch_count();

	first = max(first, oldest_logged());
	while (number > first)
		undo_one(entry(--number), ip, buf, len);
}

bool kipt_text_patch_touches(u64 first, u64 end, u64 ip, u32 len)
{
	if (first < end && first < oldest_logged())
		return true;
	for (; first < end; first++)
		if (overlaps(entry(first), ip, len))
			return true;
	return false;
}

bool kipt_text_patch_range(u64 number, u64 *begin, u64 *end)
{
	if (number < oldest_logged())
		return false;
	*begin = entry(number)->addr;
	*end = entry(number)->addr + entry(number)->len;
	return true;
}
