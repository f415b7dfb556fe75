// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings of processes, see process_maps.h. What the files hold is for address_names.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "mapped_ids.h"
#include "process_maps.h"

/* Before version 2 mappings had no build id. */
#define FIRST_LINE	"kipt-maps 2\n"
#define FIRST_LINE_OLD	"kipt-maps 1\n"
#define FIRST_WORD	"kipt-maps "
/* Each is compared with all others of its process. */
#define MAPPINGS_MOST	(1 << 14)

void maps_free(struct maps *maps)
{
	struct process *process;
	size_t i;

	while ((process = maps->first)) {
		maps->first = process->next;
		for (i = 0; i < process->count; i++)
			free(process->list[i].path);
		free(process->list);
		free(process);
	}
	lookup_free(&maps->by_pid);
}

struct process *maps_process(const struct maps *maps, u32 pid)
{
	const size_t *found = lookup_get(&maps->by_pid, pid);

	return found ? (struct process *)*found : NULL;
}

static struct process *process_get(struct maps *maps, u32 pid)
{
	struct process *process = maps_process(maps, pid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process || !lookup_add(&maps->by_pid, pid, (size_t)process)) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	process->next = maps->first;
	maps->first = process;
	return process;
}

bool maps_name(struct maps *maps, u32 pid, const char *comm)
{
	struct process *process = process_get(maps, pid);

	if (process)
		snprintf(process->comm, sizeof(process->comm), "%s", comm);
	return process;
}

/* Of a process that ended while it was read no id is known. */
static bool ids_agree(const struct mapping *a, const struct mapping *b)
{
	return !a->id.size || !b->id.size || build_id_same(&a->id, &b->id);
}

static bool mapping_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end &&
	       a->offset == b->offset && !strcmp(a->path, b->path) && ids_agree(a, b);
}

bool mapping_same_code(const struct mapping *a, const struct mapping *b)
{
	return a->start - a->offset == b->start - b->offset && !strcmp(a->path, b->path) &&
	       ids_agree(a, b);
}

/* Whether one lies at addresses of the other, and is of different code. */
static bool mapping_replaces(const struct mapping *a, const struct mapping *b)
{
	return a->start < b->end && b->start < a->end && !mapping_same_code(a, b);
}

static bool is_among_others(const struct process *process, const struct mapping *mapping)
{
	size_t i;

	for (i = 0; i < process->count; i++) {
		if (mapping_replaces(mapping, &process->list[i]))
			return true;
	}
	return false;
}

static struct mapping *latest_find(const struct process *process, u64 address)
{
	size_t i;

	for (i = process->count; i > 0; i--) {
		struct mapping *mapping = &process->list[i - 1];

		if (address >= mapping->start && address < mapping->end)
			return mapping;
	}
	return NULL;
}

static bool is_full(struct process *process)
{
	if (process->count == MAPPINGS_MOST && !process->full) {
		process->full = true;
		say_note("process %u (%s) had more than %u mappings: functions in the others have no names",
			 process->pid, process->comm, MAPPINGS_MOST);
	}
	return process->full;
}

/* What comes in the place of these is not kept: nothing there has a name any more. */
static void forget_under(struct process *process, const struct mapping *mapping)
{
	size_t i;

	for (i = 0; i < process->count; i++) {
		if (mapping_replaces(mapping, &process->list[i]))
			process->list[i].end = process->list[i].start;
	}
}

bool maps_add(struct maps *maps, u32 pid, const struct mapping *mapping)
{
	struct process *process = process_get(maps, pid);
	struct mapping *known, *list;

	if (!process)
		return false;
	if (is_full(process)) {
		forget_under(process, mapping);
		return true;
	}
	known = latest_find(process, mapping->start);
	if (known && mapping_same(known, mapping)) {
		if (mapping->id.size)
			known->id = mapping->id;
		return true;
	}
	list = realloc(process->list, (process->count + 1) * sizeof(*list));
	if (!list)
		return false;
	process->list = list;
	process->several = process->several || is_among_others(process, mapping);
	list[process->count] = *mapping;
	list[process->count].path = strdup(mapping->path);
	if (!list[process->count].path)
		return false;
	process->count++;
	maps->learned++;
	return true;
}

const struct mapping *maps_find(const struct process *process, u64 address)
{
	const struct mapping *latest = latest_find(process, address), *other;
	size_t i;

	for (i = 0; latest && process->several && i < process->count; i++) {
		other = &process->list[i];
		if (address >= other->start && address < other->end &&
		    !mapping_same_code(latest, other))
			return NULL;
	}
	return latest;
}

static void comm_read(struct process *process, u32 tid)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(process->comm, sizeof(process->comm), file))
		process->comm[strcspn(process->comm, "\n")] = 0;
	plain_text(process->comm);
	fclose(file);
}

/* Of a process, one of whose tasks was read. */
struct reading {
	struct maps *maps;
	u32 pid;
};

static bool proc_mapping_take(void *ctx, struct mapped_file *file)
{
	const struct reading *reading = ctx;
	struct mapping mapping = {
		.start = file->start,
		.end = file->end,
		.offset = file->offset,
		.path = *file->path ? (char *)file->path : "[anonymous]",
	};

	if (strcmp(file->path, "[vdso]"))
		mapped_file_id(&mapping.id, file);
	else if (!mapped_ids_vdso(&mapping.id))
		mapping.id.size = 0;
	return maps_add(reading->maps, reading->pid, &mapping);
}

bool maps_read_pid(struct maps *maps, u32 pid)
{
	return maps_read_task(maps, pid, pid);
}

bool maps_read_task(struct maps *maps, u32 tid, u32 pid)
{
	struct reading reading = { .maps = maps, .pid = pid };
	FILE *file = mapped_files_open(tid);
	struct process *process;

	if (!file)
		return false;
	process = process_get(maps, pid);
	if (!process) {
		fclose(file);
		return false;
	}
	comm_read(process, tid);
	mapped_files_read(file, tid, proc_mapping_take, &reading);
	return true;
}

void maps_move(struct maps *to, struct maps *from)
{
	struct process **last = &to->first, *process;

	while (*last)
		last = &(*last)->next;
	*last = from->first;
	from->first = NULL;
	lookup_free(&from->by_pid);
	for (process = *last; process; process = process->next) {
		if (!maps_process(to, process->pid))
			lookup_add(&to->by_pid, process->pid, (size_t)process);
	}
}

/* A line of its own each, whatever the file is called. */
static void mapping_save(const struct mapping *mapping, FILE *file)
{
	const char *at;
	u32 i;

	fprintf(file, "map %llx %llx %llx %s", (unsigned long long)mapping->start,
		(unsigned long long)mapping->end,
		(unsigned long long)mapping->offset, mapping->id.size ? "" : "-");
	for (i = 0; i < mapping->id.size; i++)
		fprintf(file, "%02x", mapping->id.bytes[i]);
	fputc(' ', file);
	for (at = mapping->path; *at; at++)
		fputc(*at == '\n' ? '?' : *at, file);
	fputc('\n', file);
}

bool maps_spares(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size || access(path, R_OK) ||
	    file_begins(path, FIRST_WORD))
		return true;
	say_error("%s is there and is no file of mappings, which would replace it: move it, or give -o another name",
		  path);
	return false;
}

bool maps_save(const struct maps *maps, const char *path)
{
	const struct process *process;
	FILE *file;
	size_t i;

	if (!maps_spares(path))
		return false;
	file = fopen(path, "we");
	if (!file) {
		say_errno(errno, "cannot write mappings to %s", path);
		return false;
	}
	fputs(FIRST_LINE, file);
	for (process = maps->first; process; process = process->next) {
		fprintf(file, "process %u %s\n", process->pid, process->comm);
		for (i = 0; i < process->count; i++)
			mapping_save(&process->list[i], file);
	}
	if (!fclose(file))
		return true;
	say_errno(errno, "cannot write mappings to %s", path);
	unlink(path);
	return false;
}

void maps_drop(const char *path)
{
	if (file_begins(path, FIRST_WORD))
		unlink(path);
}

/* "-" or digits, and a blank; NULL if it is neither. */
static const char *saved_id_take(struct build_id *id, const char *at)
{
	int length;

	id->size = 0;
	if (!strncmp(at, "- ", 2))
		return at + 2;
	for (; id->size < BUILD_ID_MAX; id->size++, at += length) {
		length = 0;
		if (sscanf(at, "%2hhx%n", &id->bytes[id->size], &length) != 1 || length != 2)
			break;
	}
	return id->size && *at == ' ' ? at + 1 : NULL;
}

/* One line of maps_save(); @pid is of the last "process" line. */
static bool saved_line_take(struct maps *maps, bool ids, u32 *pid, char *line)
{
	unsigned long long start, end, offset;
	struct mapping mapping = { .saved = true };
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "process %u %n", pid, &at) == 1 && at) {
		struct process *process = process_get(maps, *pid);

		if (process) {
			snprintf(process->comm, sizeof(process->comm), "%s",
				 line + at);
			plain_text(process->comm);
		}
		return process;
	}
	if (sscanf(line, "map %llx %llx %llx %n", &start, &end, &offset,
		   &at) != 3 || !at)
		return false;
	mapping.start = start;
	mapping.end = end;
	mapping.offset = offset;
	mapping.path = ids ? (char *)saved_id_take(&mapping.id, line + at) : line + at;
	return mapping.path && maps_add(maps, *pid, &mapping);
}

/* Return: the number of the first line that is bad, or 0. */
static unsigned int saved_read(struct maps *maps, FILE *file)
{
	char line[FILE_LINE_MOST];
	unsigned int number;
	u32 pid = 0;
	bool ids;

	if (!file_line(line, file))
		return 1;
	ids = !strcmp(line, FIRST_LINE);
	if (!ids && strcmp(line, FIRST_LINE_OLD))
		return 1;
	for (number = 2; file_line(line, file); number++) {
		if (!saved_line_take(maps, ids, &pid, line))
			return number;
	}
	return feof(file) ? 0 : number;
}

bool maps_load(struct maps *maps, const char *path, bool found)
{
	FILE *file = file_stream(path, found, "mappings");
	unsigned int bad;

	if (!file)
		return false;
	bad = saved_read(maps, file);
	fclose(file);
	if (bad)
		say_error("%s: line %u is not of a maps file", path, bad);
	return !bad;
}
