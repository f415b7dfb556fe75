// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills the pages that a dump is read by. What is static changes in process
 * context, under the lock of dump_page.c; what is written at a crash is written in
 * any context, on the CPU it is about, without a lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <asm/tsc.h>

#include "../trace/buffer.h"
#include "../lib/compat.h"
#include "../trace/config.h"
#include "crash_pages.h"
#include "../trace/dump_page.h"
#include "../hw/hw_regs.h"
#include "../lib/memory.h"
#include "../watch/sideband.h"
#include "../watch/text_patch.h"
#include "../trace/trace.h"
#include "../lib/version.h"

static_assert(sizeof(struct kipt_crash_header) <= KIPT_CRASH_PAGE_BYTES);
static_assert(KIPT_CRASH_PAGE_BYTES == PAGE_SIZE);
/* Both are taken away in one instruction. */
static_assert(offsetof(struct kipt_crash_header, event) % sizeof(u64) == 0);
static_assert(offsetofend(struct kipt_crash_event, hook) == sizeof(u64));

#define REGIONS_MORE ((KIPT_CRASH_PAGE_BYTES -			\
		       sizeof(struct kipt_crash_regions)) /	\
		      sizeof(struct kipt_crash_region))

struct kipt_crash_header *kipt_crash_header;
/* In the module's own memory, see there. */
static struct kipt_crash_anchor anchor;

static struct kipt_crash_page *next_page(const struct kipt_crash_page *page)
{
	u64 next = READ_ONCE(page->next);

	return next ? phys_to_virt(next) : NULL;
}

static void fill_page(struct kipt_crash_page *page, u32 kind, u32 number,
		      u32 size)
{
	memcpy(page->magic, KIPT_CRASH_MAGIC, sizeof(page->magic));
	page->version = KIPT_CRASH_VERSION;
	page->kind = kind;
	page->size = size;
	page->number = number;
	page->id = kipt_crash_header->page.id;
}

static void fill_layout(struct kipt_crash_layout *layout)
{
	layout->module = (unsigned long)THIS_MODULE;
	layout->module_list = offsetof(struct module, list);
	layout->module_name = offsetof(struct module, name);
	layout->module_text = KIPT_COMPAT_MODULE_TEXT;
	layout->module_text_size = KIPT_COMPAT_MODULE_TEXT_SIZE;
#ifdef CONFIG_KALLSYMS
	layout->module_kallsyms = offsetof(struct module, kallsyms);
	layout->kallsyms_symtab = offsetof(struct mod_kallsyms, symtab);
	layout->kallsyms_count = offsetof(struct mod_kallsyms, num_symtab);
	layout->kallsyms_strtab = offsetof(struct mod_kallsyms, strtab);
#endif
	layout->task_comm = offsetof(struct task_struct, comm);
	layout->task_pid = offsetof(struct task_struct, pid);
	layout->task_tgid = offsetof(struct task_struct, tgid);
	layout->vmcoreinfo = kipt_compat_vmcoreinfo();
	layout->direct_map = (unsigned long)__va(0);
}

int kipt_crash_pages_init(void)
{
	kipt_crash_header = (void *)get_zeroed_page(GFP_KERNEL);
	if (!kipt_crash_header)
		return -ENOMEM;
	kipt_crash_header->page.id = get_random_u64();
	fill_page(&kipt_crash_header->page, KIPT_CRASH_HEADER, 0,
		  offsetof(struct kipt_crash_header, event));
	anchor.id = kipt_crash_header->page.id;
	anchor.address = virt_to_phys(kipt_crash_header);
	kipt_crash_header->anchor = (unsigned long)&anchor;
	kipt_crash_header->tsc_khz = tsc_khz;
	strscpy(kipt_crash_header->release, init_utsname()->release,
		sizeof(kipt_crash_header->release));
	strscpy(kipt_crash_header->kipt, KIPT_VERSION, sizeof(kipt_crash_header->kipt));
	fill_layout(&kipt_crash_header->layout);
	kipt_dump_seal(&kipt_crash_header->page);
	return 0;
}

void kipt_crash_pages_uninit(void)
{
	memset(kipt_crash_header->page.magic, 0, sizeof(kipt_crash_header->page.magic));
	free_page((unsigned long)kipt_crash_header);
}

static void *alloc_page_charged(void)
{
	void *page;

	if (kipt_memory_charge(PAGE_SIZE))
		return NULL;
	page = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!page)
		kipt_memory_uncharge(PAGE_SIZE);
	return page;
}

static void fill_regions(struct kipt_crash_region *to,
			 const struct kipt_region *from, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		to[i].address = page_to_phys(from[i].page);
		to[i].size = (u64)PAGE_SIZE << from[i].order;
	}
}

static void fill_cpu(struct kipt_crash_cpu *page,
		     const struct kipt_trace *trace)
{
	const struct kipt_buffer *buffer = trace->buffer;

	page->nr_regions = buffer->nr_regions;
	page->nr_here = min_t(u32, buffer->nr_regions, KIPT_CRASH_REGIONS_HERE);
	fill_page(&page->page, KIPT_CRASH_CPU, trace->cpu,
		  struct_size(page, regions, page->nr_here));
	kipt_dump_fill_caps(page, trace->cpu);
	page->session = trace->group->id;
	page->ctl = trace->config.ctl | RTIT_CTL_TOPA | RTIT_CTL_TRACEEN;
	page->size = buffer->size;
	fill_regions(page->regions, buffer->regions, page->nr_here);
	kipt_dump_seal_part(&page->stop, sizeof(page->stop));
}

/*
 * The pages that *@link leads to, for what did not fit into the first one. @link
 * is moved to where the last of them may lead on.
 */
static int add_regions(const struct kipt_buffer *buffer, u32 done, u64 **link)
{
	struct kipt_crash_regions *page;
	u32 number;

	for (number = 0; done < buffer->nr_regions; number++) {
		page = alloc_page_charged();
		if (!page)
			return -ENOMEM;
		page->nr_here = min_t(u32, buffer->nr_regions - done,
				      REGIONS_MORE);
		fill_page(&page->page, KIPT_CRASH_REGIONS, number,
			  struct_size(page, regions, page->nr_here));
		fill_regions(page->regions, buffer->regions + done,
			     page->nr_here);
		done += page->nr_here;
		**link = virt_to_phys(page);
		*link = &page->page.more;
	}
	return 0;
}

static_assert(KIPT_CRASH_FILTERS == KIPT_FILTERS_MAX);

static void fill_filters(struct kipt_crash_logs *logs,
			 const struct kipt_hw_config *hw)
{
	u32 i;

	logs->nr_filters = hw->nr_ranges;
	for (i = 0; i < hw->nr_ranges; i++) {
		logs->filters[i].begin = hw->ranges[i].first;
		logs->filters[i].last = hw->ranges[i].last;
		logs->filters[i].stop = hw->ranges[i].kind == KIPT_FILTER_KIND_STOP;
	}
}

static void fill_logs(struct kipt_crash_logs *logs,
		      const struct kipt_trace *trace)
{
	const struct kipt_group *group = trace->group;
	const struct kipt_switch_log *log = kipt_sideband_log(group->sideband,
							      trace->cpu);

	fill_page(&logs->page, KIPT_CRASH_LOGS, trace->cpu, sizeof(*logs));
	logs->space_mask = kipt_sideband_space(~0ULL);
	logs->switches = (struct kipt_crash_ring) {
		.entries = (unsigned long)log->entries,
		.written = (unsigned long)&log->written,
		.nr = log->mask + 1,
		.size = sizeof(log->entries[0]),
	};
	kipt_text_patch_describe(logs);
	logs->patches_first = (unsigned long)&group->first_patch;
	logs->init_task = (unsigned long)&init_task;
	logs->task_tasks = offsetof(struct task_struct, tasks);
	fill_filters(logs, &group->config.hw);
}

static int add_logs(struct kipt_trace *trace, u64 *link)
{
	struct kipt_crash_logs *logs = alloc_page_charged();

	if (!logs)
		return -ENOMEM;
	fill_logs(logs, trace);
	trace->crash_logs = logs;
	*link = virt_to_phys(logs);
	return 0;
}

int kipt_crash_pages_create(struct kipt_trace *trace)
{
	struct kipt_crash_cpu *cpu = alloc_page_charged();
	struct kipt_crash_page *page;
	u64 *link;
	int err;

	might_sleep();
	trace->crash = cpu;
	if (!cpu)
		return -ENOMEM;
	fill_cpu(cpu, trace);
	link = &cpu->page.more;
	err = add_regions(trace->buffer, cpu->nr_here, &link);
	if (!err)
		err = add_logs(trace, link);
	if (err)
		return err;
	kipt_dump_seal(&cpu->page);
	for (page = &cpu->page; page->more; ) {
		page = phys_to_virt(page->more);
		kipt_dump_seal(page);
		cond_resched();
	}
	return 0;
}

void kipt_crash_pages_destroy(struct kipt_trace *trace)
{
	struct kipt_crash_page *page = &trace->crash->page;
	u64 more;

	if (!trace->crash)
		return;
	do {
		more = page->more;
		/* A dump has free pages, too. */
		memset(page->magic, 0, sizeof(page->magic));
		free_page((unsigned long)page);
		kipt_memory_uncharge(PAGE_SIZE);
		page = phys_to_virt(more);
	} while (more);
	trace->crash = NULL;
	trace->crash_logs = NULL;
}

void kipt_crash_pages_link(struct kipt_trace *trace)
{
	struct kipt_crash_page *page = &trace->crash->page;

	kipt_dump_change_begin();
	page->next = kipt_crash_header->page.next;
	kipt_dump_seal(page);
	WRITE_ONCE(kipt_crash_header->page.next, virt_to_phys(page));
	WRITE_ONCE(kipt_crash_header->nr_cpus, kipt_crash_header->nr_cpus + 1);
	kipt_dump_seal(&kipt_crash_header->page);
	kipt_dump_change_end();
}

static struct kipt_crash_page *page_before(const struct kipt_crash_page *page)
{
	struct kipt_crash_page *before = &kipt_crash_header->page;

	while (before && next_page(before) != page)
		before = next_page(before);
	return before;
}

/* What the page leads to stays: somebody may be at it. */
void kipt_crash_pages_unlink(struct kipt_trace *trace)
{
	struct kipt_crash_page *before;

	if (!trace->crash)
		return;
	kipt_dump_change_begin();
	before = page_before(&trace->crash->page);
	if (before) {
		WRITE_ONCE(before->next, trace->crash->page.next);
		WRITE_ONCE(kipt_crash_header->nr_cpus, kipt_crash_header->nr_cpus - 1);
		kipt_dump_seal(before);
		kipt_dump_seal(&kipt_crash_header->page);
	}
	kipt_dump_change_end();
}

void kipt_crash_pages_set_event(const struct kipt_crash_event *event)
{
	struct kipt_crash_event *to = &kipt_crash_header->event;

	/* A CPU that dies at the same moment may read or write it, see crash.c. */
	data_race(*to = *event);
	kipt_dump_seal_part(to, sizeof(*to));
}

void kipt_crash_pages_forget_event(const struct kipt_crash_event *event)
{
	u64 head;

	memcpy(&head, event, sizeof(head));
	cmpxchg64((u64 *)&kipt_crash_header->event, head, 0);
}

/* The header, and the pages that follow it, @left in all at most. */
static void seal_all(u32 left)
{
	struct kipt_crash_page *page = &kipt_crash_header->page;

	for (; page && left; left--, page = next_page(page))
		kipt_dump_seal(page);
}

void kipt_crash_pages_mend(void)
{
	if (kipt_dump_is_changing())
		seal_all(nr_cpu_ids + 1);
}

void kipt_crash_pages_reseal(void)
{
	kipt_dump_change_begin();
	seal_all(~0U);
	kipt_dump_change_end();
}

void kipt_crash_pages_header(struct kipt_crash_header *copy)
{
	kipt_dump_change_begin();
	*copy = *kipt_crash_header;
	kipt_dump_change_end();
	copy->slots = 0;
	copy->nr_slots = 0;
	copy->slot_bytes = 0;
}

void kipt_crash_pages_mark(struct kipt_crash_page *page)
{
	memcpy(page->magic, KIPT_CRASH_SNAPSHOT_MAGIC, sizeof(page->magic));
}

void kipt_crash_pages_hide(struct kipt_crash_page *page)
{
	memcpy(page->magic, KIPT_CRASH_MAGIC, sizeof(page->magic));
	if (page->kind == KIPT_CRASH_CPU)
		kipt_dump_seal_part(&container_of(page, struct kipt_crash_cpu, page)->stop,
				    sizeof(struct kipt_crash_stop));
	kipt_dump_seal(page);
	kipt_crash_pages_mark(page);
}
