// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses in words, see address_names.h. Owns the symbol tables it loaded; the
 * mappings are the caller's.
 */
#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/lookup.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "address_names.h"
#include "debug_file.h"
#include "demangle.h"
#include "elf_symbols.h"
#include "kernel_symbols.h"
#include "mapped_ids.h"
#include "source_line.h"

/* The vDSO is two pages at most today; libelf checks what comes after it. */
#define VDSO_SIZE	8192
/* The shortest build id there is, of 8 bytes, as perf writes it. */
#define BUILD_ID_DIGITS	16
#define SHOWN_MOST	2048
#define OBJECT_SHOWN	255
#define OTHERS_SHOWN	10

/* Kernel symbols have no size: what is farther from the last one before it
 * lies in a hole between modules.
 */
#define KERNEL_FUNCTION_MAX	(1 << 20)
#define KERNEL_PAGE		4096ULL

/*
 * @reader: reads it, and calls it @file; NULL: it is read here. @id, @saved: of its mappings;
 * @other: the file that has its path is not the one that was mapped.
 */
struct object {
	char *path;
	char *name;
	struct build_id id;
	bool saved;
	bool other;
	const struct names_reader *reader;
	u32 file;
	bool tried;
	struct elf_symbols *elf;
	bool source_tried;
	struct source *source;
	struct object *next;
};

/* A name that is shown instead of a symbol's. */
struct shown {
	struct shown *next;
	char text[];
};

/* So many answers are kept: a group for each so many bytes of code, which are used together. */
#define GROUP_BITS	6
#define GROUPS_BITS	7
#define GROUP_BYTES_BITS	10
#define RECENT		(1U << (GROUP_BITS + GROUPS_BITS))

/* The answer for an address, after so many changes. Without an object it is none. */
struct recent {
	u64 address;
	u64 changes;
	u32 pid;
	struct place place;
};

/* The same of inlined functions. */
struct recent_inlined {
	u64 address;
	u64 changes;
	u32 pid;
	const struct inlined *inlined;
};

struct names {
	const char *kallsyms;
	bool kallsyms_found;
	bool kernel_tried;
	bool live;
	struct symbols *kernel;
	bool (*kernel_source)(void *ctx, u64 address, const struct place *place,
			      char *text, size_t size);
	void *kernel_source_ctx;
	struct maps *maps;
	struct debug_places places;
	/* The same, but for servers. */
	struct debug_places near_places;
	const struct names_mapper *mapper;
	/* What it said last. */
	struct mapping mapped;
	u32 version, code_version;
	/* How often what names_find() says may have become something else. */
	u64 changes;
	struct object *objects;
	/* Of how many the file is another one; whether one was named of which nobody knows it. */
	u32 others;
	bool unsure;
	bool demangle;
	bool guests;
	/* By the place of a symbol's name: that of what is shown instead. */
	struct lookup demangled;
	struct shown *shown;
	/* The last answers: most lookups repeat. */
	struct process *process;
	u32 process_pid, process_learned;
	bool process_known;
	struct object *object;
	char comm[32];
	struct recent recent[RECENT];
	struct recent_inlined recent_inlined[RECENT];
};

struct names *names_create(const char *kallsyms, struct maps *maps, bool live)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->kallsyms = kallsyms;
	names->maps = maps;
	names->live = live;
	names->near_places.no_server = true;
	return names;
}

static void object_free(struct object *object)
{
	elf_symbols_destroy(object->elf);
	source_destroy(object->source);
	free(object->name);
	free(object->path);
	free(object);
}

void names_destroy(struct names *names)
{
	struct object *object;
	struct shown *shown;

	if (!names)
		return;
	while ((shown = names->shown)) {
		names->shown = shown->next;
		free(shown);
	}
	lookup_free(&names->demangled);
	while ((object = names->objects)) {
		names->objects = object->next;
		object_free(object);
	}
	symbols_destroy(names->kernel);
	free(names);
}

void names_kallsyms(struct names *names, const char *kallsyms)
{
	names->kallsyms = kallsyms;
	names->kallsyms_found = true;
}

void names_kernel(struct names *names, struct symbols *symbols)
{
	names->changes++;
	symbols_destroy(names->kernel);
	names->kernel = symbols;
	names->kernel_tried = true;
}

void names_kernel_source(struct names *names,
			 bool (*source)(void *ctx, u64 address, const struct place *place,
					char *text, size_t size),
			 void *ctx)
{
	names->kernel_source = source;
	names->kernel_source_ctx = ctx;
}

static bool object_build_id(const struct object *object, struct build_id *id)
{
	bool known;
	int fd;

	if (object->reader || object->path[0] != '/')
		return !strcmp(object->path, "[vdso]") && mapped_ids_vdso(id);
	fd = file_open_regular(object->path);
	if (fd < 0)
		return false;
	known = build_id_read(id, fd) || debug_file_build_id(fd, id);
	close(fd);
	return known;
}

static void other_say(struct names *names, const struct object *object)
{
	if (object->path[0] == '[')
		say_note("no names of functions in %s: the kernel that runs now has one with another build id",
			 object->path);
	else if (names->others++ < OTHERS_SHOWN)
		say_note("no names of functions in %s: the file that kipt finds there has another build id than the one that was traced; where that one is put back, there are",
			 object->path);
	else if (names->others == OTHERS_SHOWN + 1)
		say_note("no names of functions in further files: these have another build id now, too");
}

static void unsure_say(struct names *names, const struct object *object)
{
	if (!names->unsure)
		say_note("%s: the file of mappings has no build id of it: names are those of the file that is there now; if that is another one, they are wrong",
			 object->path);
	names->unsure = true;
}

/* Whether the file is not the one that was mapped, where its build id is known. */
static bool is_other(struct names *names, const struct object *object)
{
	struct build_id id;

	if (!object->id.size ||
	    (object_build_id(object, &id) && build_id_same(&id, &object->id)))
		return false;
	if (object->path[0] == '[' || !access(object->path, F_OK))
		other_say(names, object);
	return true;
}

static void object_load(struct names *names, struct object *object)
{
	void *vdso = (void *)getauxval(AT_SYSINFO_EHDR);

	object->tried = true;
	object->other = is_other(names, object);
	if (object->other)
		return;
	if (object->reader)
		object->elf = object->reader->symbols(object->reader->ctx,
						      object->file);
	else if (!strcmp(object->path, "[vdso]"))
		object->elf = vdso ? elf_symbols_memory(vdso, VDSO_SIZE) :
				     NULL;
	else if (object->path[0] == '/')
		object->elf = debug_symbols_load(object->path,
						 &names->places);
	if (object->elf && object->saved && !object->id.size)
		unsure_say(names, object);
}

/*
 * What a file is called. One in perf's cache is FOLDER/NAME/BUILD-ID/elf, as perf
 * buildid-cache makes it; what the kernel calls [heap] is shown in brackets anyway.
 */
static char *object_name(const char *path)
{
	const char *id, *end, *name = strrchr(path, '/');
	size_t length = strlen(path);

	if (length > 2 && path[0] == '[' && path[length - 1] == ']')
		return strndup(path + 1, length - 2);
	if (!name || strcmp(name, "/elf"))
		return strdup(name ? name + 1 : path);
	for (id = name; id > path && isxdigit((unsigned char)id[-1]); id--)
		;
	if (name - id < BUILD_ID_DIGITS || id == path || id[-1] != '/')
		return strdup(name + 1);
	for (end = name = id - 1; name > path && name[-1] != '/'; name--)
		;
	return end > name ? strndup(name, end - name) : strdup("elf");
}

static struct object *object_add(struct names *names, const char *path,
				 const struct mapping *mapping)
{
	struct object *object = calloc(1, sizeof(*object));
	const struct names_mapper *mapper = names->mapper;
	const char *called = mapper && mapper->called ?
			     mapper->called(mapper->ctx, path) : NULL;

	if (!object)
		return NULL;
	object->path = strdup(path);
	object->name = object_name(called ? called : path);
	if (!object->path || !object->name) {
		object_free(object);
		return NULL;
	}
	plain_text(object->name);
	if (mapping) {
		object->id = mapping->id;
		object->saved = mapping->saved;
	}
	object->next = names->objects;
	names->objects = object;
	return object;
}

static bool object_is(const struct object *object, const struct mapping *mapping)
{
	return !strcmp(object->path, mapping->path) &&
	       build_id_same(&object->id, &mapping->id);
}

static struct object *object_get(struct names *names, const struct mapping *mapping)
{
	struct object *object = names->object;

	if (object && object_is(object, mapping))
		return object;
	for (object = names->objects; object; object = object->next) {
		if (object_is(object, mapping))
			break;
	}
	if (!object)
		object = object_add(names, mapping->path, mapping);
	if (object && !object->tried)
		object_load(names, object);
	return names->object = object;
}

bool names_read_by(struct names *names, const char *path,
		   const struct names_reader *reader, u32 file)
{
	struct object *object = object_add(names, path, NULL);

	if (object) {
		object->reader = reader;
		object->file = file;
	}
	return object;
}

static struct process *process_find(struct names *names, u32 pid)
{
	struct process *process;

	if (names->process_known && names->process_pid == pid &&
	    names->process_learned == names->maps->learned)
		return names->process;
	process = maps_process(names->maps, pid);
	if (!process && names->live && pid && maps_read_pid(names->maps, pid))
		process = maps_process(names->maps, pid);
	names->process = process;
	names->process_pid = pid;
	names->process_learned = names->maps->learned;
	names->process_known = true;
	return process;
}

void names_map_by(struct names *names, const struct names_mapper *mapper)
{
	names->changes++;
	names->mapper = mapper;
}

const char *names_event(const struct names *names, u64 number)
{
	const struct names_mapper *mapper = names->mapper;
	const char *name = mapper && mapper->event ? mapper->event(mapper->ctx, number) :
						     NULL;

	return name ? name : "an event";
}

void names_symfs(struct names *names, const char *symfs)
{
	names->places.symfs = symfs;
	names->near_places.symfs = symfs;
}

void names_demangle(struct names *names)
{
	names->changes++;
	names->demangle = true;
}

void names_guests(struct names *names)
{
	names->guests = true;
}

bool names_guests_named(const struct names *names)
{
	return names->guests;
}

void names_version(struct names *names, u32 version)
{
	names->changes += names->version != version;
	names->version = version;
}

u32 names_version_of(const struct names *names)
{
	return names->version;
}

u32 names_learned_of(const struct names *names)
{
	return names->maps->learned;
}

void names_code_version(struct names *names, u32 version)
{
	names->changes += names->code_version != version;
	names->code_version = version;
}

u32 names_code_version_of(const struct names *names)
{
	return names->code_version;
}

void names_learn(struct names *names, u32 pid)
{
	if (!names->mapper)
		process_find(names, pid);
	else if (pid && !maps_process(names->maps, pid))
		names->mapper->learn(names->mapper->ctx, pid, names->maps);
}

static void kernel_load(struct names *names)
{
	const struct names_mapper *mapper = names->mapper;

	names->kernel_tried = true;
	if (mapper && mapper->kernel)
		names->kernel = mapper->kernel(mapper->ctx);
	else if (!names->kallsyms || *names->kallsyms)
		names->kernel = kernel_symbols_load(names->kallsyms,
						    names->kallsyms_found);
}

static void kernel_find(struct names *names, u64 address, struct place *place)
{
	const struct names_mapper *mapper = names->mapper;
	struct symbol_place found;
	u64 first = 0, end = ~0ULL;

	place->object = "kernel";
	if (mapper && mapper->code &&
	    mapper->code(mapper->ctx, address, place, &first, &end))
		return;
	if (!names->kernel_tried)
		kernel_load(names);
	if (!names->kernel || !symbols_find(names->kernel, address, &found) ||
	    address - found.start > KERNEL_FUNCTION_MAX)
		return;
	place->symbol = found.name;
	place->start = found.start;
	place->first = found.first > first ? found.first : first;
	place->end = found.end < end ? found.end : end;
	if (place->end - found.start > KERNEL_FUNCTION_MAX)
		place->end = found.start + KERNEL_FUNCTION_MAX;
	place->offset = address - found.start;
	if (*found.object)
		place->object = found.object;
}

static const struct mapping *mapped_find(struct names *names, u32 pid,
					 u64 address)
{
	const struct names_mapper *mapper = names->mapper;
	const struct process *process;

	if (pid && mapper->find(mapper->ctx, pid, address, &names->mapped))
		return names->mapped.path ? &names->mapped : NULL;
	process = maps_process(names->maps, 0);
	return process ? maps_find(process, address) : NULL;
}

/* What is of no known process may be of any; where the process is not known,
 * whichever has something there.
 */
static const struct mapping *mapping_find(struct names *names, u32 pid,
					  u64 address)
{
	const struct mapping *mapping;
	struct process *process;

	if (names->mapper)
		return mapped_find(names, pid, address);
	process = process_find(names, pid);
	mapping = process ? maps_find(process, address) : NULL;
	if (pid && !mapping) {
		process = maps_process(names->maps, 0);
		mapping = process ? maps_find(process, address) : NULL;
	}
	if (pid)
		return mapping;
	for (process = names->maps->first; process && !mapping;
	     process = process->next)
		mapping = maps_find(process, address);
	return mapping;
}

/* Where the process is not known, it may be that of any which has something there. */
static bool mapping_sure(struct names *names, u32 pid, u64 address,
			 const struct mapping *mapping)
{
	const struct mapping *other;
	struct process *process;

	if (pid || names->mapper)
		return true;
	for (process = names->maps->first; process; process = process->next) {
		other = maps_find(process, address);
		if (other && !mapping_same_code(other, mapping))
			return false;
	}
	return true;
}

/* @found has offsets in the file; what the mapping has of it. */
static void place_clip(struct place *place, const struct mapping *mapping,
		       const struct symbol_place *found)
{
	u64 size = mapping->end - mapping->start, first = 0, end;

	if (found->first > mapping->offset)
		first = found->first - mapping->offset;
	end = found->end - mapping->offset;
	place->first = mapping->start + first;
	place->end = mapping->start + (end < size ? end : size);
}

static void user_find(struct names *names, u32 pid, u64 address,
		      struct place *place)
{
	const struct mapping *mapping = mapping_find(names, pid, address);
	struct object *object = mapping ? object_get(names, mapping) :
					  NULL;
	struct symbol_place found = { 0 };
	bool named;
	u64 offset;

	if (!object)
		return;
	offset = address - mapping->start + mapping->offset;
	place->object = object->name;
	place->offset = offset;
	named = object->elf && elf_symbols_find(object->elf, offset, &found);
	if (mapping->whole && found.end)
		place_clip(place, mapping, &found);
	if (!named)
		return;
	place->symbol = found.name;
	place->offset = offset - found.start;
	place->start = address - place->offset;
}

/* NULL: the name itself. */
static const char *shown_make(struct names *names, const char *name)
{
	char text[SHOWN_MOST];
	struct shown *shown;

	if (!demangle(name, text, sizeof(text)))
		return NULL;
	shown = malloc(sizeof(*shown) + strlen(text) + 1);
	if (!shown)
		return NULL;
	strcpy(shown->text, text);
	shown->next = names->shown;
	names->shown = shown;
	return shown->text;
}

/* What is shown for the name of a symbol, which stays where it is. */
static const char *name_shown(struct names *names, const char *name)
{
	const size_t *known;
	const char *shown;

	if (name[0] != '_')
		return name;
	known = lookup_get(&names->demangled, (u64)name);
	if (known)
		return (const char *)*known;
	shown = shown_make(names, name);
	if (!shown)
		shown = name;
	/* Without memory it is made anew each time. */
	lookup_add(&names->demangled, (u64)name, (size_t)shown);
	return shown;
}

u64 names_changes(const struct names *names)
{
	return names->changes + names->maps->learned;
}

static void place_find(struct names *names, u32 pid, u64 address,
		       struct place *place)
{
	place->symbol = NULL;
	place->object = NULL;
	place->offset = address;
	place->start = address;
	place->first = 0;
	place->end = 0;
	if (pid == NAMES_GUEST)
		place->object = "guest";
	else if (address >> 63)
		kernel_find(names, address, place);
	else
		user_find(names, pid, address, place);
	if (names->demangle && place->symbol)
		place->symbol = name_shown(names, place->symbol);
}

/* Functions begin at multiples of 16. */
static u32 recent_index(u64 address, u32 pid)
{
	u64 group = (address >> GROUP_BYTES_BITS ^ (u64)pid << 48) * 0x9e3779b97f4a7c15ULL >>
		    (64 - GROUPS_BITS);

	return group << GROUP_BITS | ((address ^ address >> 4) & ((1 << GROUP_BITS) - 1));
}

void names_find(struct names *names, u32 pid, u64 address,
		struct place *place)
{
	u32 of = names_pid(pid, address);
	struct recent *recent = &names->recent[recent_index(address, of)];

	if (recent->place.object && recent->address == address &&
	    recent->pid == of && recent->changes == names_changes(names)) {
		*place = recent->place;
		return;
	}
	place_find(names, pid, address, place);
	*recent = (struct recent){ address, names_changes(names), of, *place };
}

/* Of a name that is too long the end is left out, not what comes after it. */
static void symbol_text(const struct place *place, char *text, size_t size)
{
	size_t length = strlen(place->symbol);
	char tail[OBJECT_SHOWN + 32] = "";
	int end = 0;

	if (place->offset)
		end = snprintf(tail, sizeof(tail), "+0x%llx",
			       (unsigned long long)place->offset);
	snprintf(tail + end, sizeof(tail) - end, " [%.*s]",
		 plain_cut(place->object, OBJECT_SHOWN), place->object);
	if (length + strlen(tail) < size || strlen(tail) + 4 > size)
		snprintf(text, size, "%s%s", place->symbol, tail);
	else
		snprintf(text, size, "%.*s...%s",
			 plain_cut(place->symbol, size - strlen(tail) - 4),
			 place->symbol, tail);
}

const char *names_text(struct names *names, u32 pid, u64 address, char *text,
		       size_t size)
{
	struct place place;

	names_find(names, pid, address, &place);
	if (!place.object)
		snprintf(text, size, "0x%llx", (unsigned long long)address);
	else if (!place.symbol)
		snprintf(text, size, "0x%llx [%s]",
			 (unsigned long long)place.offset, place.object);
	else
		symbol_text(&place, text, size);
	return text;
}

static bool kernel_source(struct names *names, u64 address, char *text, size_t size)
{
	struct place place = { 0 };

	if (!names->kernel_source)
		return false;
	kernel_find(names, address, &place);
	return names->kernel_source(names->kernel_source_ctx, address, &place, text, size);
}

static struct source *source_of(struct object *object, const struct debug_places *places)
{
	if (!object->source_tried && !object->other && object->path[0] == '/')
		object->source = source_load(object->path, places);
	object->source_tried = true;
	return object->source;
}

static bool object_source(struct names *names, struct object *object, u64 offset,
			  char *text, size_t size)
{
	if (object->reader)
		return object->reader->source(object->reader->ctx,
					      object->file, offset, text, size);
	return source_text(source_of(object, &names->places), offset, text, size);
}

bool names_source_place(struct names *names, u32 pid, u64 address,
			struct source_place *place)
{
	const struct mapping *mapping;

	*place = (struct source_place){ NULL, address };
	if (pid == NAMES_GUEST)
		return false;
	if (address >> 63)
		return names->kernel_source;
	mapping = mapping_find(names, pid, address);
	place->object = mapping ? object_get(names, mapping) : NULL;
	if (place->object)
		place->offset = address - mapping->start + mapping->offset;
	return place->object;
}

bool names_source_at(struct names *names, const struct source_place *place, char *text,
		     size_t size)
{
	return place->object ?
		       object_source(names, place->object, place->offset, text, size) :
		       kernel_source(names, place->offset, text, size);
}

bool names_source(struct names *names, u32 pid, u64 address, char *text,
		  size_t size)
{
	struct source_place place;

	return names_source_place(names, pid, address, &place) &&
	       names_source_at(names, &place, text, size);
}

static const struct inlined *inlined_find_at(struct names *names, u32 pid, u64 address,
					     bool ask)
{
	struct source_place place;

	if (!names_source_place(names, pid, address, &place) || !place.object ||
	    place.object->reader)
		return NULL;
	return source_inlined(source_of(place.object, ask ? &names->places :
							    &names->near_places),
			      place.offset);
}

const struct inlined *names_inlined(struct names *names, u32 pid, u64 address, bool ask)
{
	struct recent_inlined *recent = &names->recent_inlined[recent_index(address, pid)];

	if (!address || address >> 63)
		return NULL;
	if (recent->address != address || recent->pid != pid ||
	    recent->changes != names_changes(names))
		*recent = (struct recent_inlined){
			address, names_changes(names), pid,
			inlined_find_at(names, pid, address, ask),
		};
	return recent->inlined;
}

const char *names_inlined_name(struct names *names, const struct inlined *inlined)
{
	const char *name = inlined_name(inlined);

	return names->demangle ? name_shown(names, name) : name;
}

/* That of the file that ran, if anything says it. */
static bool object_id(const struct object *object, struct build_id *id)
{
	*id = object->id;
	return id->size || object_build_id(object, id);
}

bool names_build_id(const struct names *names, const char *object,
		    struct build_id *id)
{
	const struct object *at;
	struct build_id other;
	bool known = false;

	for (at = names->objects; at; at = at->next) {
		if (strcmp(at->name, object))
			continue;
		if (!object_id(at, known ? &other : id) ||
		    (known && !build_id_same(id, &other)))
			return false;
		known = true;
	}
	return known;
}

/* What the kernel made while it ran is in no file. */
static bool kernel_file(struct names *names, u64 address, struct file_place *found)
{
	struct place place;

	names_find(names, 0, address, &place);
	*found = (struct file_place){
		.called = place.object,
		.offset = address,
		.end = ~0ULL,
	};
	return place.symbol && strcmp(place.object, "bpf") &&
	       strncmp(place.object, "__builtin__", strlen("__builtin__"));
}

bool names_file(struct names *names, u32 pid, u64 address,
		struct file_place *found)
{
	const struct names_mapper *mapper = names->mapper;
	const struct mapping *mapping;
	const struct object *object;
	const char *called;

	if (pid == NAMES_GUEST)
		return false;
	if (address >> 63)
		return kernel_file(names, address, found);
	mapping = mapping_find(names, pid, address);
	if (!mapping || mapping->path[0] == '[' || !strncmp(mapping->path, "//", 2) ||
	    !mapping_sure(names, pid, address, mapping))
		return false;
	object = mapping->id.size ? object_get(names, mapping) : NULL;
	if (object && object->other)
		return false;
	called = mapper && mapper->called ?
		 mapper->called(mapper->ctx, mapping->path) : NULL;
	*found = (struct file_place){
		.path = mapping->path,
		.called = called ? called : mapping->path,
		.offset = address - mapping->start + mapping->offset,
		.end = mapping->end,
	};
	return true;
}

struct kernel_range {
	const char *object;
	u64 begin, end;
};

static void range_widen(void *ctx, const struct symbol_entry *entry)
{
	struct kernel_range *range = ctx;

	if (strcmp(*entry->object ? entry->object : "kernel", range->object) ||
	    !(entry->start >> 63))
		return;
	if (entry->start < range->begin)
		range->begin = entry->start;
	if (entry->start + entry->size >= range->end)
		range->end = entry->start + entry->size + 1;
}

bool names_kernel_range(struct names *names, const char *object, u64 *begin,
			u64 *end)
{
	struct kernel_range range = { .object = object, .begin = ~0ULL };

	if (names->kernel)
		symbols_each(names->kernel, range_widen, &range);
	*begin = range.begin & ~(KERNEL_PAGE - 1);
	*end = (range.end + KERNEL_PAGE - 1) & ~(KERNEL_PAGE - 1);
	return range.end;
}

const struct debug_places *names_places(const struct names *names)
{
	return &names->places;
}

static bool comm_live(struct names *names, u32 tid)
{
	char path[64];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	ok = fgets(names->comm, sizeof(names->comm), file);
	names->comm[strcspn(names->comm, "\n")] = 0;
	plain_text(names->comm);
	fclose(file);
	return ok;
}

const char *names_comm(struct names *names, u32 tid, u32 pid)
{
	const struct names_mapper *mapper = names->mapper;
	const char *comm = mapper ? mapper->comm(mapper->ctx, pid) : NULL;
	struct process *process;

	names->comm[0] = 0;
	if (!tid)
		return "idle";
	if (comm)
		return comm;
	process = maps_process(names->maps, pid);
	if (process && process->comm[0])
		return process->comm;
	if (names->live && !comm_live(names, tid))
		names->comm[0] = 0;
	return names->comm;
}
