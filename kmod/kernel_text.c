// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies the kernel's text and compares it later. Where the text lies is not
 * exported; a kprobe finds kallsyms_lookup_name(), which knows. Process
 * context.
 */
#include <linux/kprobes.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "kernel_text.h"

struct kipt_kernel_text {
	struct kref refs;
	u8 *copy;
};

static unsigned long text_begin, text_end;

/* The newest copy, without a reference; guarded, like its refs, by the lock. */
static DEFINE_MUTEX(newest_lock);
static struct kipt_kernel_text *newest;

typedef unsigned long (*kipt_lookup_fn)(const char *name);

/* With IBT a kprobe sits behind the ENDBR64 a call must land on. */
static unsigned long skip_endbr(unsigned long addr)
{
	u32 code;

	if (!copy_from_kernel_nofault(&code, (void *)(addr - 4), 4) &&
	    code == 0xfa1e0ff3)
		return addr - 4;
	return addr;
}

void kipt_kernel_text_init(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	kipt_lookup_fn lookup;

	if (register_kprobe(&probe))
		return;
	lookup = (kipt_lookup_fn)skip_endbr((unsigned long)probe.addr);
	unregister_kprobe(&probe);
	text_begin = lookup("_stext");
	text_end = lookup("_etext");
	if (text_begin >= text_end)
		text_begin = text_end = 0;
}

static bool same_as_now(const struct kipt_kernel_text *text)
{
	unsigned long at;

	for (at = text_begin; at < text_end; at += PAGE_SIZE) {
		size_t n = min_t(size_t, PAGE_SIZE, text_end - at);

		if (memcmp(text->copy + (at - text_begin), (void *)at, n))
			return false;
		cond_resched();
	}
	return true;
}

static struct kipt_kernel_text *copy_text(void)
{
	size_t size = text_end - text_begin;
	struct kipt_kernel_text *text = kzalloc(sizeof(*text), GFP_KERNEL);

	if (!text)
		return NULL;
	text->copy = __vmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!text->copy ||
	    copy_from_kernel_nofault(text->copy, (void *)text_begin, size)) {
		vfree(text->copy);
		kfree(text);
		return NULL;
	}
	kref_init(&text->refs);
	return text;
}

struct kipt_kernel_text *kipt_kernel_text_get(void)
{
	struct kipt_kernel_text *text;

	if (!text_end)
		return NULL;
	mutex_lock(&newest_lock);
	if (newest && same_as_now(newest)) {
		kref_get(&newest->refs);
	} else {
		text = copy_text();
		if (text)
			newest = text;
		else
			newest = NULL;
	}
	text = newest;
	mutex_unlock(&newest_lock);
	return text;
}

/* Called with the lock, see kref_put_mutex(). */
static void release_text(struct kref *refs)
{
	struct kipt_kernel_text *text =
		container_of(refs, struct kipt_kernel_text, refs);

	if (newest == text)
		newest = NULL;
	mutex_unlock(&newest_lock);
	vfree(text->copy);
	kfree(text);
}

void kipt_kernel_text_put(struct kipt_kernel_text *text)
{
	if (text)
		kref_put_mutex(&text->refs, release_text, &newest_lock);
}

bool kipt_kernel_text_changed(const struct kipt_kernel_text *text, u64 ip,
			      u32 len)
{
	if (!text || ip < text_begin || ip >= text_end ||
	    len > text_end - ip)
		return false;
	return memcmp(text->copy + (ip - text_begin), (void *)ip, len);
}
