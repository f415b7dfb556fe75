// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program in a snapshot, see fatal_program.h. Pages and files are checked
 * before they are believed.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "../symbols/build_id.h"
#include "../symbols/code_pages.h"
#include "fatal_program.h"

#define PAGE		KIPT_CRASH_PAGE_BYTES
/* More than any snapshot has. */
#define MAPS_MAX	65536
/* No vDSO is larger. */
#define VDSO_MAX	(16 * PAGE)

/* A mapping; number of its file if that is the same still, or -1. */
struct mapped {
	struct kipt_crash_map map;
	char path[KIPT_CRASH_PATH_BYTES];
	int file;
	/* It has a file, which is another now, or it is not known. */
	bool other;
	bool has_id;
};

struct crash_program {
	struct crash_source source;
	u64 id;
	struct kipt_crash_signal signal;
	struct mapped *maps;
	u32 map_count;
	struct crash_files *files;
	const struct core_file *core;
	bool damaged;
};

const struct kipt_crash_signal *
crash_program_signal(const struct crash_program *program)
{
	return &program->signal;
}

void crash_program_death(const struct crash_program *program,
			 struct child_death *death)
{
	const struct kipt_crash_signal *signal = &program->signal;

	*death = (struct child_death){
		.tid = signal->tid,
		.pid = signal->pid,
		.number = signal->signal,
		.code = signal->code,
		.address = signal->address,
		.ip = signal->ip,
		.cpu = -1,
	};
	memcpy(death->comm, signal->comm, sizeof(death->comm));
	death->comm[sizeof(death->comm) - 1] = 0;
	plain_text(death->comm);
}

bool crash_program_core(struct crash_program *program, const struct core_file *core,
			const char *path)
{
	const struct kipt_crash_signal *signal = &program->signal;
	const u64 sp = signal->sp;

	if (!core_file_is_of(core, signal->signal, signal->ip, &sp)) {
		say_error("%s is the core dump of another program, or of another death: its first thread was not at 0x%llx when signal %u killed it",
			  path, (unsigned long long)signal->ip, signal->signal);
		return false;
	}
	program->core = core;
	return true;
}

bool crash_program_has(const struct crash_program *program, u64 cr3)
{
	u64 space = cr3 & ~0xfffULL;

	return space == program->signal.cr3 ||
	       space == program->signal.cr3_user;
}

static bool maps_take(struct crash_program *program,
		      const struct crash_page *page)
{
	const struct kipt_crash_maps *maps = &page->maps;
	struct mapped *list, *mapped;
	u32 i;

	for (i = 0; i < maps->nr_here; i++) {
		list = list_room(program->maps, program->map_count, sizeof(*list));
		if (!list)
			return false;
		program->maps = list;
		mapped = &list[program->map_count++];
		*mapped = (struct mapped){ .map = maps->maps[i], .file = -1 };
		memcpy(mapped->path, mapped->map.path, sizeof(mapped->path) - 1);
	}
	return true;
}

/* Returns false without memory. Each page has something, so it ends. */
static bool chain_follow(struct crash_program *program, u64 address)
{
	struct crash_page page;
	bool ok = true;

	while (ok && address) {
		if (crash_page_read(&program->source, address, &page) !=
		    CRASH_GOOD || page.head.id != program->id ||
		    program->map_count > MAPS_MAX) {
			program->damaged = true;
			return true;
		}
		if (page.head.kind == KIPT_CRASH_MAPS)
			ok = maps_take(program, &page);
		/* A page that leads back, or nowhere new. */
		if (page.head.more && page.head.more <= address) {
			program->damaged = true;
			return ok;
		}
		address = page.head.more;
	}
	return ok;
}

/* The build id of what was mapped. */
static bool id_read(const struct kipt_crash_map *map, struct build_id *id)
{
	if (!map->build_id_bytes || map->build_id_bytes > KIPT_CRASH_ID_BYTES)
		return false;
	id->size = map->build_id_bytes;
	memcpy(id->bytes, map->build_id, id->size);
	return true;
}

/* Is the file that has this name now the one that was mapped. */
static void file_find(struct crash_program *program, struct mapped *mapped)
{
	struct build_id then;

	/* It is printed, and saved where a line is a mapping. */
	plain_text(mapped->path);
	if (mapped->path[0] != '/')
		return;
	mapped->has_id = id_read(&mapped->map, &then);
	if (mapped->has_id)
		mapped->file = crash_files_find(program->files, mapped->path,
						&then);
	mapped->other = mapped->file < 0;
}

/* Our own vDSO, and how much of it is code and data. */
static const u8 *vdso_own(u64 *size)
{
	const Elf64_Ehdr *elf = (const void *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Phdr *part;
	u32 i;

	*size = 0;
	if (!elf)
		return NULL;
	part = (const void *)((const u8 *)elf + elf->e_phoff);
	for (i = 0; i < elf->e_phnum; i++) {
		if (part[i].p_type == PT_LOAD)
			*size = part[i].p_offset + part[i].p_filesz;
	}
	if (*size > VDSO_MAX)
		*size = VDSO_MAX;
	return (const u8 *)elf;
}

/*
 * The vDSO is in no file. It is that of the running kernel, as snapshots are; that
 * of 32-bit programs, which is another one, is below 4 GiB. A program may have
 * put anything there, of any size.
 */
static const u8 *vdso_find(const struct mapped *mapped, u64 *size)
{
	const u8 *vdso;

	if (strcmp(mapped->path, "[vdso]") || !(mapped->map.start >> 32) ||
	    mapped->map.end < mapped->map.start)
		return NULL;
	vdso = vdso_own(size);
	if (*size > mapped->map.end - mapped->map.start)
		*size = mapped->map.end - mapped->map.start;
	return vdso;
}

struct crash_program *crash_program_read(const struct crash_source *source,
					 u64 address, u64 id,
					 struct crash_files *files)
{
	struct crash_program *program = calloc(1, sizeof(*program));
	struct crash_page page;
	u32 i;

	if (!program) {
		say_errno(ENOMEM, "cannot read the program");
		return NULL;
	}
	program->source = *source;
	program->id = id;
	program->files = files;
	if (crash_page_read(source, address, &page) != CRASH_GOOD) {
		say_error("what was killed cannot be read: its page %s",
			  crash_verdict_text(page.verdict));
		goto err;
	}
	program->signal = page.signal;
	crash_files_become(files, page.signal.uid);
	if (!chain_follow(program, page.head.more)) {
		say_errno(ENOMEM, "cannot read the program");
		goto err;
	}
	for (i = 0; i < program->map_count; i++)
		file_find(program, &program->maps[i]);
	return program;
err:
	crash_program_destroy(program);
	return NULL;
}

void crash_program_destroy(struct crash_program *program)
{
	if (!program)
		return;
	free(program->maps);
	free(program);
}

static u32 file_read(const struct crash_program *program, u64 address,
		     u8 *bytes, u32 size)
{
	u32 i;

	for (i = 0; i < program->map_count; i++) {
		const struct mapped *mapped = &program->maps[i];
		u64 into = address - mapped->map.start, length;
		const u8 *vdso = vdso_find(mapped, &length);

		if (address < mapped->map.start ||
		    address >= mapped->map.end || mapped->map.changed ||
		    (mapped->file < 0 && !vdso))
			continue;
		if (size > mapped->map.end - address)
			size = mapped->map.end - address;
		if (vdso) {
			if (into >= length)
				return 0;
			if (size > length - into)
				size = length - into;
			memcpy(bytes, vdso + into, size);
			return size;
		}
		return crash_files_read(program->files, mapped->file,
					into + mapped->map.offset, bytes,
					size);
	}
	return 0;
}

/* Within a page: out of the core dump or a file, the first of these that has it. */
static u32 page_read(const struct crash_program *program, u64 address, u8 *bytes, u32 size)
{
	u32 got = core_file_read(program->core, address, bytes, size);

	return got ? got : file_read(program, address, bytes, size);
}

u32 crash_program_code(const struct crash_program *program, u64 address,
		       u8 *bytes, u32 size)
{
	u32 done = 0, part, got;

	while (done < size) {
		u64 at = address + done;

		part = size - done;
		if (part > PAGE - at % PAGE)
			part = PAGE - at % PAGE;
		got = page_read(program, at, bytes + done, part);
		done += got;
		if (got < part)
			break;
	}
	return done;
}

/* What is a gap for another reason than its file. */
static void gaps_tell(const struct crash_program *program)
{
	u64 changed = 0, nowhere = 0, length;
	u32 i;

	for (i = 0; i < program->map_count; i++) {
		const struct mapped *mapped = &program->maps[i];
		u64 kib = (mapped->map.end - mapped->map.start) / 1024;

		if (mapped->map.changed)
			changed += kib;
		else if (mapped->path[0] != '/' &&
			 !vdso_find(mapped, &length))
			nowhere += kib;
	}
	if (program->core && (changed || nowhere)) {
		say_note("%" PRIu64 " KiB of its code are in no file, or were written to: they are shown as its core dump has them, which is as they were at the end",
			 changed + nowhere);
		return;
	}
	if (changed)
		say_note("%" PRIu64 " KiB of its code were written to in its memory, by itself, a debugger or a uprobe: they are a gap",
			 changed);
	if (nowhere)
		say_note("%" PRIu64 " KiB of its code are in no file, as what is compiled at run time: they are a gap",
			 nowhere);
}

static void losses_tell(const struct crash_program *program)
{
	const struct kipt_crash_signal *signal = &program->signal;

	if (program->damaged)
		say_note("a part of what was kept of the program is damaged");
	if (signal->maps_lost == ~0U)
		say_note("its mappings are not known: another thread was changing them");
	else if (signal->maps_lost)
		say_note("%u of its mappings are not known", signal->maps_lost);
	gaps_tell(program);
}

/* Names without a folder are shown and not opened. */
static const char *path_of(const struct mapped *mapped)
{
	const char *path = mapped->path;
	const char *slash = strrchr(path, '/');

	return mapped->other && slash ? slash + 1 : path;
}

/* For names of tasks. */
static void comm_tell(const struct crash_program *program,
		      const struct maps *maps)
{
	struct process *process = maps_process(maps, program->signal.pid);
	struct child_death death;

	crash_program_death(program, &death);
	if (process)
		memcpy(process->comm, death.comm, sizeof(death.comm));
}

/* A file may be mapped in parts. */
static void other_tell(const struct mapped *mapped, const struct mapped *before)
{
	if (!mapped->other || (before && !strcmp(before->path, mapped->path)))
		return;
	if (mapped->has_id)
		say_note("%s is not the file that ran: its code is a gap, and its symbols are not shown",
			 mapped->path);
	else
		say_note("without a build id it is not known whether %s is the file that ran: its code is a gap, and its symbols are not shown",
			 mapped->path);
}

bool crash_program_map(const struct crash_program *program, struct maps *maps,
		       struct names *names)
{
	bool ok = crash_files_name(program->files, names);
	u32 i;

	losses_tell(program);
	for (i = program->map_count; ok && i > 0; i--) {
		const struct mapped *mapped = &program->maps[i - 1];
		const struct mapping mapping = {
			.start = mapped->map.start,
			.end = mapped->map.end,
			.offset = mapped->map.offset,
			.path = (char *)path_of(mapped),
		};

		other_tell(mapped, i < program->map_count ? mapped + 1 : NULL);
		ok = !mapping.path[0] ||
		     maps_add(maps, program->signal.pid, &mapping);
	}
	if (!ok)
		say_errno(ENOMEM, "cannot hold the mappings");
	comm_tell(program, maps);
	return ok;
}

/* Its vDSO, which is in no file. */
static bool vdso_save(const struct crash_program *program, struct pages_writer *writer)
{
	const u8 *vdso = NULL;
	u8 bytes[PAGE];
	u64 size, at;
	u32 i;

	for (i = 0; i < program->map_count && !vdso; i++)
		vdso = vdso_find(&program->maps[i], &size);
	for (at = 0; vdso && at < size; at += PAGE) {
		/* After its end there are zeros. */
		memset(bytes, 0, PAGE);
		memcpy(bytes, vdso + at, size - at < PAGE ? size - at : PAGE);
		if (!pages_write(writer, program->maps[i - 1].map.start + at, bytes))
			return false;
	}
	return true;
}

bool crash_program_save(const struct crash_program *program, const char *dir)
{
	struct pages_writer writer;
	char name[4096];
	bool ok;

	snprintf(name, sizeof(name), "%s/user", dir);
	if (!pages_open(&writer, name))
		return false;
	ok = vdso_save(program, &writer);
	return pages_close(&writer, name) && ok;
}
