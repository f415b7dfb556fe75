// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: what a dead machine left in memory, read by the tool: the
 * pages, the order of the trace, page tables, VMCOREINFO, kallsyms, the list of
 * modules, snapshots, and programs that were killed. Input is a small memory of a few pages:
 * the first byte says which of them get the checksums they would need, as
 * flipping bits hardly ever finds those.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/shared/patch_log.h"
#include "../../kmod/shared/task_merge.h"
#include "../kipt/symbols/build_id.h"
#include "../kipt/crash/safe_files.h"
#include "../kipt/cli/kipt.h"
#include "../kipt/cli/progress.h"
#include "../kipt/crash/header_find.h"
#include "../kipt/crash/module_logs.h"
#include "../kipt/crash/dump_memory.h"
#include "../kipt/crash/fatal_program.h"
#include "../kipt/crash/snapshot_slots.h"
#include "../kipt/crash/dump_symbols.h"
#include "../kipt/crash/trace_ring.h"
#include "../kipt/symbols/code_pages.h"
#include "../kipt/crash/vmcoreinfo.h"

#define PAGE		4096
#define PAGES		12

/* Of each page so much comes from the input, the rest is 0. */
#define GIVEN		512

/* Its last entries are given: addresses of the kernel are at the end of all. */
#define TABLE		6

static struct {
	uint8_t bytes[PAGES][PAGE];
} memory;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No file is opened: its name comes from the input. */
struct crash_files {
	int count;
};

void crash_files_become(struct crash_files *files, u32 uid)
{
	(void)uid;
	files->count = 0;
}

u32 crash_files_read(struct crash_files *files, int number, u64 offset,
		     u8 *bytes, u32 size)
{
	(void)files;
	(void)number;
	(void)offset;
	(void)bytes;
	(void)size;
	abort();
}

int crash_files_find(struct crash_files *files, const char *path,
		     const struct build_id *then)
{
	if (path[0] != '/' || then->size > sizeof(then->bytes))
		abort();
	files->count++;
	return -1;
}

bool crash_files_name(struct crash_files *files, struct names *names)
{
	return files->count >= 0 && !names;
}

bool pages_open(struct pages_writer *writer, const char *name)
{
	*writer = (struct pages_writer){ 0 };
	return *name;
}

/* Saved are pages, each once, in their order. */
bool pages_write(struct pages_writer *writer, u64 address, const u8 *bytes)
{
	static u64 before;

	(void)bytes;
	if (writer->count++ && address < before)
		abort();
	before = address;
	return true;
}

bool pages_close(struct pages_writer *writer, const char *name)
{
	return writer && *name;
}

/* Page 5 is missing. */
static u32 memory_read(void *ctx, u64 address, void *bytes, u32 size)
{
	u32 done = 0, part;

	(void)ctx;
	while (done < size) {
		u64 at = address + done;

		if (at / PAGE >= PAGES || at / PAGE == 5)
			break;
		part = PAGE - at % PAGE;
		if (part > size - done)
			part = size - done;
		memcpy((u8 *)bytes + done, memory.bytes[at / PAGE] + at % PAGE,
		       part);
		done += part;
	}
	return done;
}

static const struct crash_source source = { .read = memory_read };

static uint32_t sum(const uint8_t *bytes, size_t size)
{
	uint32_t crc = ~0U;
	int bit;

	while (size--) {
		crc ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void stop_seal(struct kipt_crash_cpu *cpu)
{
	cpu->stop.crc = sum((const uint8_t *)&cpu->stop + sizeof(u32),
			    sizeof(cpu->stop) - sizeof(u32));
}

static const uint16_t kinds[] = { KIPT_CRASH_HEADER, KIPT_CRASH_CPU,
				  KIPT_CRASH_REGIONS, KIPT_CRASH_LOGS,
				  KIPT_CRASH_SIGNAL, KIPT_CRASH_MAPS };

static void page_seal(struct crash_page *page)
{
	struct kipt_crash_stop stop = page->cpu.stop;

	memcpy(page->head.magic, KIPT_CRASH_MAGIC, sizeof(page->head.magic));
	page->head.version = KIPT_CRASH_VERSION;
	page->head.kind = kinds[page->head.kind % ARRAY_SIZE(kinds)];
	page->head.id = 1;
	page->head.next = page->head.next % PAGES * PAGE;
	page->head.more = page->head.more % PAGES * PAGE;
	if (page->head.kind == KIPT_CRASH_HEADER)
		page->head.size = offsetof(struct kipt_crash_header, event);
	else if (page->head.size > PAGE)
		page->head.size = PAGE;
	page->head.crc = 0;
	if (page->head.kind == KIPT_CRASH_CPU)
		memset(&page->cpu.stop, 0, sizeof(stop));
	page->head.crc = sum(page->bytes, page->head.size);
	if (page->head.kind != KIPT_CRASH_CPU)
		return;
	page->cpu.stop = stop;
	stop_seal(&page->cpu);
}

static void memory_fill(const uint8_t *data, size_t size, uint32_t sealed)
{
	struct crash_page page = { 0 };
	uint32_t i;

	memset(&memory, 0, sizeof(memory));
	for (i = 0; i < PAGES && size; i++) {
		size_t part = size < GIVEN ? size : GIVEN;

		memcpy(memory.bytes[i] + (i == TABLE ? PAGE - GIVEN : 0), data,
		       part);
		data += part;
		size -= part;
		if (!(sealed >> i & 1))
			continue;
		memcpy(page.bytes, memory.bytes[i], PAGE);
		page_seal(&page);
		memcpy(memory.bytes[i], page.bytes, PAGE);
	}
}

static bool nobody(void *ctx, u64 space, u32 *tgid)
{
	return crash_logs_tgid(ctx, space, tgid);
}

/* Questions to the log of switches, with times and spaces from itself. */
static void switches_ask(const struct crash_logs *logs)
{
	const struct kipt_switch_log *log = &logs->switches;
	const struct kipt_task_spaces spaces = { logs->space_mask, nobody,
						 (void *)logs };
	struct kipt_record record = { 0 }, task;
	struct kipt_task_merge merge;
	u32 i;

	if (!log->entries)
		return;
	kipt_task_merge_init(&merge, log, &spaces);
	kipt_task_merge_at(&merge, log->entries[0].tsc, ~0ULL);
	for (i = 0; i < 16; i++) {
		const struct kipt_crash_switch *entry = &log->entries[i & log->mask];

		record.type = i & 1 ? KIPT_RECORD_TIME : KIPT_RECORD_CONTEXT;
		record.value = i & 1 ? entry->tsc : entry->space;
		kipt_task_merge_see(&merge, &record, &task);
	}
}

static void patches_ask(const struct crash_logs *logs)
{
	u64 first = logs->first_patch, end = logs->end_patch, begin, last, at;
	u8 bytes[16] = { 0 };

	if (!logs->patches || first == end)
		return;
	at = kipt_patch_log_at(logs->patches, first, end, 1000);
	if (at < first || at > end)
		abort();
	if (!kipt_patch_log_range(logs->patches, end - 1, &begin, &last))
		begin = 0;
	begin -= begin % PAGE;
	kipt_patch_log_undo(logs->patches, at, begin, bytes, sizeof(bytes));
	kipt_patch_log_touches(logs->patches, first, end, begin, 16);
}

/* In a dump addresses of the kernel are offsets in the memory here. */
static void logs_read(const struct crash_set *set,
		      const struct crash_source *kernel,
		      const struct crash_cpu *cpu)
{
	struct crash_logs logs;
	struct maps maps = { 0 };

	if (!crash_logs_load(&logs, kernel, cpu))
		abort();
	switches_ask(&logs);
	patches_ask(&logs);
	crash_logs_free(&logs);
	crash_tasks_load(&maps, kernel, set);
	maps_free(&maps);
}

static void trace_read(const struct crash_source *from,
		       const struct crash_cpu *cpu)
{
	struct crash_trace trace;
	u8 bytes[64];
	u64 at, step;

	if (cpu->known > cpu->page.size)
		abort();
	/* A ring of more than the memory has nothing but holes. */
	if (cpu->page.size > (1 << 20))
		return;
	if (!crash_trace_find(&trace, cpu, from))
		abort();
	if (trace.size > cpu->page.size || (trace.size && trace.first >=
							 cpu->page.size))
		abort();
	for (at = 0; at < trace.size; at += step) {
		step = crash_trace_read(&trace, at, bytes, sizeof(bytes));
		if (!step)
			step = crash_trace_missing(&trace, at);
		if (!step || step > trace.size - at)
			abort();
	}
}

static void program_read(u64 address, u64 id)
{
	struct crash_files files = { 0 };
	struct crash_program *program = crash_program_read(&source, address, id,
							   &files);
	const struct kipt_crash_signal *signal;
	struct child_death death;
	struct maps maps = { 0 };
	u8 bytes[64];

	if (!program)
		abort();
	signal = crash_program_signal(program);
	crash_program_death(program, &death);
	if (memchr(death.comm, 0, sizeof(death.comm)) == NULL)
		abort();
	crash_program_has(program, signal->cr3);
	if (crash_program_code(program, signal->ip, bytes, sizeof(bytes)) >
	    sizeof(bytes))
		abort();
	crash_program_code(program, signal->sp, bytes, sizeof(bytes));
	crash_program_map(program, &maps, NULL);
	crash_program_save(program, "");
	maps_free(&maps);
	crash_program_destroy(program);
}

static void cpus_read(const struct crash_set *set,
		      const struct crash_source *from)
{
	u32 i;

	for (i = 0; i < set->count; i++) {
		if (i && set->cpus[i - 1]->page.page.number >=
			 set->cpus[i]->page.page.number)
			abort();
		trace_read(from, set->cpus[i]);
		logs_read(set, from, set->cpus[i]);
	}
}

static void pages_read(void)
{
	struct crash_set set = { 0 };
	struct crash_page page;
	u32 i;

	for (i = 0; i < PAGES; i++) {
		if (crash_page_read(&source, i * PAGE, &page) != CRASH_GOOD)
			continue;
		if (page.head.kind == KIPT_CRASH_HEADER && !set.count)
			crash_set_read(&set, &source, &page);
		else if (page.head.kind == KIPT_CRASH_CPU &&
			 (!set.count || page.head.id == set.id))
			crash_set_add(&set, &source, &page);
		else if (page.head.kind == KIPT_CRASH_SIGNAL)
			program_read(i * PAGE, page.head.id);
	}
	cpus_read(&set, &source);
	crash_set_free(&set);
}

/* The header is on page 0; of the snapshots the first whole one is read. */
static void slots_read(struct crash_memory *virtual)
{
	struct crash_set set = { 0 };
	struct crash_source snapshot;
	struct crash_slots slots;
	struct crash_page page;
	u32 i;

	if (crash_page_read(&source, 0, &page) != CRASH_GOOD ||
	    page.head.kind != KIPT_CRASH_HEADER)
		return;
	if (!crash_set_read(&set, &source, &page) ||
	    !crash_slots_load(&slots, virtual, &set))
		abort();
	for (i = 0; i < slots.count && !slots.chosen; i++) {
		if (i && slots.list[i - 1].about.id >= slots.list[i].about.id)
			abort();
		if (!slots.list[i].about.cpus)
			continue;
		if (!crash_slots_choose(&slots, slots.list[i].about.id, &set,
					&snapshot) ||
		    set.count > slots.list[i].about.cpus)
			abort();
		cpus_read(&set, &snapshot);
	}
	crash_set_free(&set);
	crash_slots_free(&slots);
}

/* Of these kernels no file is installed. */
bool kernel_debug_symbols(struct kernel_debug *debug, struct symbols *symbols)
{
	(void)debug;
	(void)symbols;
	return false;
}

/* A dump is all pages. */
struct crash_source dump_source(struct dump *dump)
{
	(void)dump;
	return source;
}

bool dump_next(struct dump *dump, u64 *address)
{
	(void)dump;
	return *address < PAGES * PAGE;
}

u64 dump_end(const struct dump *dump)
{
	(void)dump;
	return PAGES * PAGE;
}

void progress_catch(void)
{
}

void progress_show(const char *what, u64 done, u64 all)
{
	(void)what;
	if (done > all)
		abort();
}

void progress_clear(void)
{
}

bool progress_interrupted(void)
{
	return false;
}

/* The kernel's log may name a header; else all pages are searched. */
static void header_find(struct crash_memory *virtual, const char *info)
{
	struct crash_find find = { .memory = virtual, .info = info };
	struct crash_set set;

	if (crash_find(&find, &set) && !set.has_header && !set.count)
		abort();
	crash_set_free(&set);
}

/* The note is on page 7. */
static void symbols_read(u32 levels)
{
	struct crash_memory *virtual = crash_memory_create(&source, levels);
	struct kipt_crash_layout layout;
	char *info = vmcoreinfo_read(&source, 7 * PAGE);
	u64 probe;

	if (!virtual)
		abort();
	memcpy(&layout, memory.bytes[8], sizeof(layout));
	memcpy(&probe, memory.bytes[8] + sizeof(layout), sizeof(probe));
	if (crash_memory_kernel(virtual, TABLE * PAGE, probe)) {
		symbols_destroy(crash_symbols_load(virtual, info, &layout, NULL));
		header_find(virtual, info);
		slots_read(virtual);
	}
	free(info);
	free(virtual);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	memory_fill(data + 3, size - 3, data[0] | data[1] << 8);
	if (data[2] & 1)
		symbols_read(data[2] & 2 ? 5 : 4);
	else
		pages_read();
	return 0;
}
