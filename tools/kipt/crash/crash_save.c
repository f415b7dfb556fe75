// SPDX-License-Identifier: GPL-2.0-only
/*
 * Saves what a dump has, see crash_save.h. saved_dir.c reads it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../kernel/ctl_fields.h"
#include "../symbols/code_pages.h"
#include "crash_save.h"

/* No function is longer: what comes after it belongs to none. */
#define FUNCTION_MAX	(1 << 20)

/* 256 MiB, more than kernel and modules have: symbols may be made up. */
#define CODE_PAGES_MAX	65536U

static bool file_end(FILE *file, const char *dir, const char *name, bool ok)
{
	ok = ok && !ferror(file);
	if (!fclose(file) && ok)
		return true;
	say_errno(errno, "cannot write %s/%s", dir, name);
	return false;
}

/* Where the last piece of the trace begins that is there without a hole. */
static u64 piece_begin(const struct crash_trace *trace)
{
	u64 at = 0, begin = 0;
	u8 bytes[KIPT_CRASH_PAGE_BYTES];
	u32 got;

	while (at < trace->size) {
		got = crash_trace_read(trace, at, bytes, sizeof(bytes));
		at += got;
		if (got < sizeof(bytes) && at < trace->size) {
			at += crash_trace_missing(trace, at);
			begin = at;
		}
	}
	return begin;
}

bool crash_save_trace(const char *dir, const struct crash_trace *trace)
{
	u64 at = piece_begin(trace), begin = at;
	u8 bytes[KIPT_CRASH_PAGE_BYTES];
	bool ok = true;
	char name[32];
	FILE *file;
	u32 got;

	snprintf(name, sizeof(name), "cpu%u.pt",
		 trace->cpu->page.page.number);
	file = file_make(dir, "/", name);
	if (!file)
		return false;
	while (ok && (got = crash_trace_read(trace, at, bytes,
					     sizeof(bytes)))) {
		ok = fwrite(bytes, 1, got, file) == got;
		at += got;
	}
	if (begin)
		say_note("%s/%s begins after what is missing, %llu bytes after the begin of the trace",
			 dir, name, (unsigned long long)begin);
	return file_end(file, dir, name, ok);
}

struct text_save {
	struct crash_machine *machine;
	struct pages_writer pages;
	/* Of the symbol before; pages up to @saved are written. */
	u64 start, saved;
	bool failed;
};

static void text_until(struct text_save *save, u64 end)
{
	u64 at = save->start & ~(u64)(PAGE_BYTES - 1);
	u8 bytes[PAGE_BYTES];

	if (!save->start || save->failed)
		return;
	if (end - save->start > FUNCTION_MAX)
		end = save->start + FUNCTION_MAX;
	if (at < save->saved)
		at = save->saved;
	/* The last page of all is followed by address 0. */
	for (; at && at < end && !save->failed &&
	       save->pages.count < CODE_PAGES_MAX; at += PAGE_BYTES) {
		if (crash_memory_get(save->machine->memory, at, bytes,
				     PAGE_BYTES))
			save->failed = !pages_write(&save->pages, at, bytes);
		save->saved = at + PAGE_BYTES;
	}
}

static void symbol_text(void *ctx, const struct symbol_entry *entry)
{
	struct text_save *save = ctx;

	if (!(entry->start >> 63))
		return;
	text_until(save, entry->start);
	save->start = entry->start;
}

static void symbol_line(void *ctx, const struct symbol_entry *entry)
{
	FILE *file = ctx;

	fprintf(file, "%016llx T %s", (unsigned long long)entry->start,
		entry->name);
	if (*entry->object)
		fprintf(file, "\t[%s]", entry->object);
	fputc('\n', file);
}

static bool kallsyms_save(const char *dir, struct symbols *symbols)
{
	FILE *file = file_make(dir, "/", "kallsyms");

	if (!file)
		return false;
	symbols_each(symbols, symbol_line, file);
	return file_end(file, dir, "kallsyms", true);
}

bool crash_save_kernel(const char *dir, struct crash_machine *machine,
		       struct symbols *symbols)
{
	struct text_save save = { .machine = machine };
	struct symbol_place place;
	char name[4096];

	snprintf(name, sizeof(name), "%s/kernel", dir);
	if (!pages_open(&save.pages, name))
		return false;
	if (symbols) {
		/* From now on they are sorted, one for each address. */
		symbols_find(symbols, 0, &place);
		symbols_each(symbols, symbol_text, &save);
		text_until(&save, save.start + FUNCTION_MAX);
	}
	if (save.pages.count == CODE_PAGES_MAX)
		say_note("%s has only the first %u MiB of the code", name,
			 CODE_PAGES_MAX / (1048576 / PAGE_BYTES));
	return pages_close(&save.pages, name) &&
	       (!symbols || kallsyms_save(dir, symbols));
}

static struct json_object *meta_make(const struct crash_machine *machine,
				     const struct crash_cpu *cpu)
{
	const struct crash_set *set = &machine->set;
	struct json_object *line = json_object_new_object();
	const struct kipt_crash_cpu *page = &cpu->page;
	char ctl[256];

	ctl_format(page->ctl, ctl, sizeof(ctl));
	jsonl_text(line, "type", "meta");
	jsonl_number(line, "record_version", KIPT_RECORD_VERSION);
	if (set->has_header) {
		jsonl_text(line, "module", (const char *)set->header.kipt);
		jsonl_text(line, "kernel", (const char *)set->header.release);
		jsonl_number(line, "tsc_khz", set->header.tsc_khz);
	}
	jsonl_text(line, "ctl", ctl);
	jsonl_hex(line, "ctl_bits", page->ctl);
	jsonl_number(line, "tsc_num", page->tsc_num);
	jsonl_number(line, "tsc_den", page->tsc_den);
	jsonl_number(line, "crystal_hz", page->crystal_hz);
	jsonl_hex(line, "tsc", page->started);
	jsonl_number(line, "max_nonturbo_ratio", page->max_nonturbo_ratio);
	jsonl_number(line, "mtc_freq", (page->ctl & RTIT_CTL_MTCFREQ) >>
				       RTIT_CTL_MTCFREQ_SHIFT);
	jsonl_hex(line, "leaf0_ebx", page->leaf0_ebx);
	jsonl_hex(line, "leaf0_ecx", page->leaf0_ecx);
	jsonl_hex(line, "leaf1_eax", page->leaf1_eax);
	jsonl_hex(line, "leaf1_ebx", page->leaf1_ebx);
	return line;
}

bool crash_save_meta(const char *dir, const struct crash_machine *machine,
		     const struct crash_cpu *cpu)
{
	FILE *file = file_make(dir, "/", "meta.json");

	if (!file)
		return false;
	jsonl_print(meta_make(machine, cpu), file);
	return file_end(file, dir, "meta.json", true);
}
