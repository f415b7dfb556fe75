// SPDX-License-Identifier: GPL-2.0-only
/*
 * What runs when a recording begins, see perf_running.h. Processes that end
 * while they are looked at are left out.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../cli/messages.h"
#include "../symbols/mapped_ids.h"
#include "perf_bytes.h"
#include "perf_kernel.h"
#include "perf_running.h"

#define KERNEL_TEXT	PERF_KERNEL_NAME "_text"
#define KERNEL_PID	0xffffffffU
#define PMU_TYPE	"/sys/bus/event_source/devices/intel_pt/type"
#define NOTES		"/sys/kernel/notes"
#define NOTES_BYTES	65536
/* Room for a build id in an event. */
#define BUILD_ID_BYTES	20

/* Where events go, and the files that were seen. */
struct running {
	struct perf_writer *writer;
	struct mapped_ids ids;
	void (*between)(void *ctx);
	void *ctx;
};

/* Nobody made these events: it is how things were. */
static const struct perf_stamp no_stamp;

u32 perf_running_pmu(void)
{
	u32 type = PERF_PMU_UNKNOWN;
	FILE *file = fopen(PMU_TYPE, "re");

	if (!file)
		return type;
	if (fscanf(file, "%u", &type) != 1)
		type = PERF_PMU_UNKNOWN;
	fclose(file);
	return type;
}

bool perf_kernel_id(struct build_id *id)
{
	FILE *file = fopen(NOTES, "re");
	static u8 bytes[NOTES_BYTES];
	size_t size;

	if (!file)
		return false;
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return build_id_note(id, bytes, size);
}

static bool clock_write(struct perf_writer *writer,
			const struct perf_clock *clock)
{
	struct perf_body body = { 0 };

	if (!clock->mult)
		return true;
	perf_put64(&body, clock->shift);
	perf_put64(&body, clock->mult);
	perf_put64(&body, clock->zero);
	/* Only a clock of fewer than 64 bits has a start and a mask. */
	perf_put64(&body, 0);
	perf_put64(&body, 0);
	/* There is a zero, and it is no such clock. */
	perf_put64(&body, 1);
	return perf_writer_event(writer, PERF_EVENT_TIME_CONV, &body);
}

bool perf_running_info(struct perf_writer *writer,
		       const struct perf_pt_info *info)
{
	const u64 words[PERF_INFO_COUNT] = {
		[PERF_INFO_PMU] = info->pmu,
		[PERF_INFO_SHIFT] = info->clock.shift,
		[PERF_INFO_MULT] = info->clock.mult,
		[PERF_INFO_ZERO] = info->clock.zero,
		[PERF_INFO_HAS_ZERO] = info->clock.mult != 0,
		[PERF_INFO_TSC_BIT] = PERF_PT_TSC,
		[PERF_INFO_NORETCOMP_BIT] = PERF_PT_NORETCOMP,
		[PERF_INFO_SWITCHES] = info->switches,
		[PERF_INFO_PER_CPU] = 1,
		[PERF_INFO_MTC_BIT] = PERF_PT_MTC,
		[PERF_INFO_MTC_FREQ_BITS] = PERF_PT_MTC_FREQ,
		[PERF_INFO_TSC_NUM] = info->tsc_num,
		[PERF_INFO_TSC_DEN] = info->tsc_den,
		[PERF_INFO_CYC_BIT] = PERF_PT_CYC,
		[PERF_INFO_MAX_NONTURBO] = info->max_nonturbo,
	};
	struct perf_body body = { 0 };
	u32 i;

	perf_put32(&body, PERF_AUXTRACE_INTEL_PT);
	perf_put32(&body, 0);
	for (i = 0; i < PERF_INFO_COUNT; i++)
		perf_put64(&body, words[i]);
	return clock_write(writer, &info->clock) &&
	       perf_writer_event(writer, PERF_EVENT_AUXTRACE_INFO, &body);
}

static bool kernel_part_write(struct perf_writer *writer, u64 start, u64 size,
			      u64 offset, const char *name)
{
	struct perf_body body = { 0 };

	perf_put32(&body, KERNEL_PID);
	perf_put32(&body, 0);
	perf_put64(&body, start);
	perf_put64(&body, size);
	perf_put64(&body, offset);
	perf_put_text(&body, name);
	return perf_writer_stamped(writer, PERF_EVENT_MMAP, PERF_MISC_KERNEL,
				   &body, &no_stamp, 0);
}

/* Where its text begins and ends; zero if kallsyms does not say. */
static void kernel_find(u64 *begin, u64 *end)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	char line[512], name[64];

	*begin = *end = 0;
	while (file && (!*begin || !*end) && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %63s", &address, name) != 2)
			continue;
		if (!strcmp(name, "_text"))
			*begin = address;
		else if (!strcmp(name, "_etext"))
			*end = address;
	}
	if (file)
		fclose(file);
}

static bool modules_write(struct perf_writer *writer)
{
	FILE *file = fopen("/proc/modules", "re");
	unsigned long long size, address;
	char line[4096], name[64], text[80];
	bool ok = true;

	while (file && ok && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &size,
			   &address) != 3 || !address)
			continue;
		snprintf(text, sizeof(text), "[%s]", name);
		ok = kernel_part_write(writer, address, size, 0, text);
	}
	if (file)
		fclose(file);
	return ok;
}

bool perf_running_kernel(struct perf_writer *writer)
{
	u64 begin, end;

	kernel_find(&begin, &end);
	if (!begin || end <= begin) {
		say_note("%s does not say where the kernel is, which hides its addresses: run kipt as root or with CAP_SYSLOG, or sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
			 writer->path);
		return true;
	}
	return kernel_part_write(writer, begin, end - begin, begin,
				 KERNEL_TEXT) &&
	       modules_write(writer);
}

static bool thread_write(struct running *running, u32 pid, u32 tid)
{
	struct perf_body body = { 0 };
	char path[64], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = 0;
	fclose(file);
	perf_put32(&body, pid);
	perf_put32(&body, tid);
	perf_put_text(&body, name);
	return perf_writer_stamped(running->writer, PERF_EVENT_COMM, 0, &body,
				   &no_stamp, 0);
}

/* Calls for each entry of a folder that is a number; false ends it. */
static bool numbers_visit(const char *path, struct running *running, u32 pid,
			  bool (*visit)(struct running *running, u32 pid,
					u32 number))
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool ok = true;

	while (folder && ok && (entry = readdir(folder))) {
		if (isdigit((unsigned char)entry->d_name[0]))
			ok = visit(running, pid,
				   strtoul(entry->d_name, NULL, 10));
	}
	if (folder)
		closedir(folder);
	return ok;
}

/* What identifies a file: its build id, or else its inode; the bits that say so. */
static u16 file_put(struct perf_body *body, const struct mapped_file *file,
		    const struct build_id *id)
{
	u8 bytes[BUILD_ID_BYTES] = { 0 };

	if (!id || id->size > sizeof(bytes)) {
		perf_put32(body, file->major);
		perf_put32(body, file->minor);
		perf_put64(body, file->inode);
		perf_put64(body, 0);
		return PERF_MISC_USER;
	}
	memcpy(bytes, id->bytes, id->size);
	perf_put32(body, id->size);
	perf_put64(body, get64(bytes));
	perf_put64(body, get64(bytes + 8));
	perf_put32(body, get32(bytes + 16));
	return PERF_MISC_USER | PERF_MISC_MMAP_ID;
}

static bool mapping_write(void *ctx, struct mapped_file *file)
{
	struct running *running = ctx;
	struct perf_body body = { 0 };
	u16 misc;

	if (!*file->path)
		file->path = "//anon";
	perf_put32(&body, file->pid);
	perf_put32(&body, file->pid);
	perf_put64(&body, file->start);
	perf_put64(&body, file->end - file->start);
	perf_put64(&body, file->offset);
	misc = file_put(&body, file, mapped_ids_get(&running->ids, file));
	perf_put32(&body, PROT_EXEC | (file->rights[0] == 'r' ? PROT_READ : 0) |
			  (file->rights[1] == 'w' ? PROT_WRITE : 0));
	perf_put32(&body, file->rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE);
	perf_put_text(&body, file->path);
	return perf_writer_stamped(running->writer, PERF_EVENT_MMAP2, misc,
				   &body, &no_stamp, 0);
}

static bool process_write(struct running *running, u32 none, u32 pid)
{
	char path[64];

	(void)none;
	running->between(running->ctx);
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	return numbers_visit(path, running, pid, thread_write) &&
	       mapped_files_each(pid, mapping_write, running);
}

bool perf_running_processes(struct perf_writer *writer,
			    void (*between)(void *ctx), void *ctx)
{
	struct running running = {
		.writer = writer, .between = between, .ctx = ctx,
	};
	bool ok = numbers_visit("/proc", &running, 0, process_write);

	mapped_ids_free(&running.ids);
	return ok;
}
