// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt_bench.ko: decodes a recording in the kernel while it is loaded, so that
 * a plugin of the test machine can count the instructions of it. Says on the
 * console what it decoded, and fails to load if modes do not agree. For the
 * benchmark only, never installed. Process context of who loads it; interrupts
 * are off where instructions are counted, so that no other ones are.
 */
#define pr_fmt(fmt) "kipt_bench: " fmt

#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "../../../kmod/decode/flow.h"
#include "../digest.h"
#include "marks.h"

#define PAGE_BYTES	4096

static char *recording = "";
module_param(recording, charp, 0444);
MODULE_PARM_DESC(recording, "path of the recording without .pt, .addr, .dump");

static ulong bytes = 8UL << 20;
module_param(bytes, ulong, 0444);
MODULE_PARM_DESC(bytes, "how much of the trace is decoded");

/**
 * struct file_bytes - a file's contents
 * @data: vmalloc'ed
 * @size: bytes
 */
struct file_bytes {
	void *data;
	size_t size;
};

/**
 * struct page_of - a page of code
 * @addr: its address
 * @bytes: its contents
 */
struct page_of {
	u64 addr;
	const u8 *bytes;
};

static struct file_bytes trace, addr, dump;
static struct page_of *pages;
static size_t nr_pages;

static int file_read(struct file_bytes *into, const char *suffix, size_t most)
{
	char *path = kasprintf(GFP_KERNEL, "%s%s", recording, suffix);
	struct file *file;
	loff_t pos = 0;
	ssize_t got;

	if (!path)
		return -ENOMEM;
	file = filp_open(path, O_RDONLY, 0);
	kfree(path);
	if (IS_ERR(file))
		return PTR_ERR(file);
	into->size = min_t(size_t, most, i_size_read(file_inode(file)));
	into->data = vmalloc(into->size);
	while (into->data && pos < into->size) {
		got = kernel_read(file, into->data + pos, into->size - pos,
				  &pos);
		if (got <= 0)
			break;
	}
	filp_close(file, NULL);
	if (!into->data)
		return -ENOMEM;
	return pos == into->size ? 0 : -EIO;
}

static int page_compare(const void *a, const void *b)
{
	const struct page_of *left = a, *right = b;

	if (left->addr == right->addr)
		return 0;
	return left->addr < right->addr ? -1 : 1;
}

static int pages_sort(void)
{
	const u64 *addrs = addr.data;
	size_t i;

	nr_pages = addr.size / sizeof(*addrs);
	if (nr_pages != dump.size / PAGE_BYTES)
		return -EINVAL;
	pages = vmalloc_array(nr_pages, sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < nr_pages; i++) {
		pages[i].addr = addrs[i];
		pages[i].bytes = dump.data + i * PAGE_BYTES;
	}
	sort(pages, nr_pages, sizeof(*pages), page_compare, NULL);
	return 0;
}

static u32 code_read(void *ctx, u64 space, u64 ip, u8 *buf, u32 len)
{
	size_t low = 0, high = nr_pages, middle;
	u64 page = ip & ~(u64)(PAGE_BYTES - 1);
	u32 offset = ip - page;

	while (low < high) {
		middle = (low + high) / 2;
		if (pages[middle].addr < page)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == nr_pages || pages[low].addr != page)
		return 0;
	len = min_t(u32, len, PAGE_BYTES - offset);
	memcpy(buf, pages[low].bytes + offset, len);
	return len;
}

/* Takes records as a reader does that copies them on. */
static struct kipt_record kept[4096];

static bool keep(void *ctx, const struct kipt_record *records, u32 n)
{
	memcpy(kept, records, min_t(size_t, n, ARRAY_SIZE(kept)) *
	       sizeof(*records));
	return true;
}

#define MARK(displacement)						\
	asm volatile(".byte 0x0f, 0x1f, 0x80; .long %c0"		\
		     : : "i" (displacement) : "memory")

static void run_counted(struct kipt_flow *flow, bool counts)
{
	unsigned long flags;

	local_irq_save(flags);
	MARK(BENCH_MARK_BEGIN);
	kipt_flow_run(flow, trace.data, trace.size, 0, trace.size);
	if (counts)
		kipt_flow_counts(flow);
	MARK(BENCH_MARK_END);
	local_irq_restore(flags);
}

/**
 * struct mode - what is counted
 * @name: in the benchmark's lines
 * @output: KIPT_FLOW_*
 */
static const struct mode {
	const char *name;
	u32 output;
} modes[] = {
	{ "walk", KIPT_FLOW_BRANCHES | KIPT_FLOW_NO_MEMO },
	{ "counts", KIPT_FLOW_COUNTS },
	{ "packed", KIPT_FLOW_PACKED },
	{ "calls", KIPT_FLOW_CALLS | KIPT_FLOW_TIME },
	{ "branches", KIPT_FLOW_BRANCHES },
};

/* The records of one pass through @emit: first to check them and to fill the
 * caches, then, counted, to keep them.
 */
struct target {
	struct bench_digests digests;
	bool checking;
};

static bool take(void *ctx, const struct kipt_record *records, u32 n)
{
	struct target *target = ctx;

	return target->checking ?
	       bench_digest_records(&target->digests, records, n) :
	       keep(ctx, records, n);
}

static int mode_run(const struct mode *mode, struct target *target)
{
	struct kipt_flow_config config = { .output = mode->output };
	struct kipt_code code = {
		.read = code_read,
		.space = bench_digest_space,
	};
	struct kipt_sink sink = { .emit = take, .ctx = target };
	size_t size = kipt_flow_size(&config);
	void *arena = vmalloc(size);
	bool counts = mode->output & KIPT_FLOW_COUNTS;
	struct kipt_flow *flow;

	if (!arena)
		return -ENOMEM;
	flow = kipt_flow_init(arena, size, &config, &code, &sink);
	target->checking = true;
	kipt_flow_run(flow, trace.data, trace.size, 0, trace.size);
	if (counts)
		kipt_flow_counts(flow);
	target->checking = false;
	run_counted(flow, counts);
	vfree(arena);
	return 0;
}

/* Packed records are looked at in user space only. */
static bool agrees(const struct mode *mode, const struct bench_digests *got,
		   const struct bench_digests *wanted)
{
	if (mode->output & KIPT_FLOW_PACKED)
		return true;
	if (mode->output & KIPT_FLOW_CALLS)
		return bench_digest_equal(&got->calls, &wanted->calls) &&
		       got->calls.order == wanted->calls.order;
	return bench_digest_equal(&got->all, &wanted->all) &&
	       (mode->output & KIPT_FLOW_COUNTS ||
		got->all.order == wanted->all.order);
}

static int modes_run(void)
{
	static struct bench_digests wanted;
	struct target *target = kzalloc(sizeof(*target), GFP_KERNEL);
	int i, ret = target ? 0 : -ENOMEM;

	for (i = 0; !ret && i < ARRAY_SIZE(modes); i++) {
		memset(&target->digests, 0, sizeof(target->digests));
		ret = mode_run(&modes[i], target);
		if (!i)
			wanted = target->digests;
		if (!ret && !agrees(&modes[i], &target->digests, &wanted)) {
			pr_err("%s differs from the walk without memo\n",
			       modes[i].name);
			ret = -EBADMSG;
		}
		if (!ret)
			pr_info("decoded %s %llu\n", modes[i].name,
				wanted.all.branches);
		cond_resched();
	}
	kfree(target);
	return ret;
}

static void files_free(void)
{
	vfree(pages);
	vfree(trace.data);
	vfree(addr.data);
	vfree(dump.data);
}

static int __init kipt_bench_init(void)
{
	int ret = file_read(&trace, ".pt", bytes);

	if (!ret)
		ret = file_read(&addr, ".addr", SZ_1G);
	if (!ret)
		ret = file_read(&dump, ".dump", SZ_1G);
	if (!ret)
		ret = pages_sort();
	if (ret)
		pr_err("cannot read the recording %s: %d\n", recording, ret);
	else
		ret = modes_run();
	files_free();
	return ret;
}
module_init(kipt_bench_init);

static void __exit kipt_bench_exit(void)
{
}
module_exit(kipt_bench_exit);

MODULE_DESCRIPTION("Decodes a recording for the benchmark of kipt");
MODULE_LICENSE("GPL");
