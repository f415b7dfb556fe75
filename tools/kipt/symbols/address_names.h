/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses in words: which function of which file or of the kernel, and
 * what a task is called. Loads symbol files when they are first needed.
 */
#ifndef KIPT_ADDRESS_NAMES_H
#define KIPT_ADDRESS_NAMES_H

#include "build_id.h"
#include "process_maps.h"

struct debug_places;
struct inlined;
struct names;

/* As the process of an address: a guest runs there, of whose code nothing is known. */
#define NAMES_GUEST	(~0U)

/**
 * names_pid() - the process whose code an address is known by
 * @pid: process the address is of
 * @address: the address
 *
 * Return: @pid; 0 for the kernel's, which all processes share, but for those of a guest.
 */
static inline u32 names_pid(u32 pid, u64 address)
{
	return address >> 63 && pid != NAMES_GUEST ? 0 : pid;
}

/**
 * struct place - an address in words
 * @symbol: function, or NULL
 * @offset: from its start; without @symbol from the start of the file
 * @start: address the function starts at; without @symbol the address itself
 * @object: short name of the file or module, "kernel", or NULL
 * @first, @end: all addresses from @first on, up to @end, have this @symbol, or none, and this
 *	@object; both 0 where nobody looked
 */
struct place {
	const char *symbol;
	u64 offset;
	u64 start;
	const char *object;
	u64 first, end;
};

/**
 * names_create() - nothing is loaded yet
 * @kallsyms: a copy of /proc/kallsyms; NULL: this kernel's; "": none
 * @maps: mappings; must live as long
 * @live: processes that are not in @maps may be asked for in /proc
 *
 * Return: the caller's until names_destroy(); NULL without memory.
 */
struct names *names_create(const char *kallsyms, struct maps *maps, bool live);

/**
 * names_destroy() - free it
 * @names: may be NULL
 */
void names_destroy(struct names *names);

/**
 * names_kallsyms() - symbols of the kernel from another file than names_create() has
 * @names: names; nothing was looked up yet
 * @kallsyms: as for names_create(), but a file that kipt found
 */
void names_kallsyms(struct names *names, const char *kallsyms);

struct symbols;

/**
 * names_kernel() - symbols of the kernel from elsewhere than a file
 * @names: names; nothing was looked up yet
 * @symbols: owned by @names from now on; NULL: there are none
 */
void names_kernel(struct names *names, struct symbols *symbols);

/**
 * names_kernel_source() - lines of source code of the kernel
 * @names: names
 * @source: makes @text "fork.c:31" for an address that is called @place; false if it
 *	does not know it. NULL: no line is known
 * @ctx: its first argument
 */
void names_kernel_source(struct names *names,
			 bool (*source)(void *ctx, u64 address, const struct place *place,
					char *text, size_t size),
			 void *ctx);

struct elf_symbols;

/**
 * struct names_reader - reads files that this process does not want to read
 * @symbols: the symbols of a file, the caller's; NULL: none
 * @source: the line that the code at an offset in a file was made of, as
 *	source_text() has it
 * @ctx: first argument of both
 */
struct names_reader {
	struct elf_symbols *(*symbols)(void *ctx, u32 file);
	bool (*source)(void *ctx, u32 file, u64 offset, char *text,
		       size_t size);
	void *ctx;
};

/**
 * names_read_by() - symbols of a file come from somebody else
 * @names: names; nothing was looked up in the file yet
 * @path: its name
 * @reader: reads it; must live as long
 * @file: what it calls the file
 *
 * Return: true, or false without memory.
 */
bool names_read_by(struct names *names, const char *path,
		   const struct names_reader *reader, u32 file);

/**
 * struct names_mapper - knows mappings that change while records are shown
 * @find: what is at an address of a process; @found->path is NULL if it was
 *	several things, of which none is to be named. False: nothing
 * @comm: what a process is called, or NULL
 * @kernel: makes the symbols of the kernel when they are first needed; @names'
 *	from then on, NULL: there are none. Without it the file that
 *	names_create() got is read
 * @code: code of the kernel that came or went meanwhile, filled with what is called so
 *	now; @place->symbol stays NULL if nobody knows which it was. False: it did
 *	not, nor did any from @first on, up to @end, and is named by @kernel. May be NULL
 * @called: the path that a file has where it was mapped, which it is called by; or
 *	NULL: as it is
 * @event: the name of an event that was sampled, or NULL. May be NULL
 * @learn: adds all of a process to maps that are kept; false without memory
 * @ctx: first argument of all
 */
struct names_mapper {
	bool (*find)(void *ctx, u32 pid, u64 address, struct mapping *found);
	const char *(*comm)(void *ctx, u32 pid);
	struct symbols *(*kernel)(void *ctx);
	bool (*code)(void *ctx, u64 address, struct place *place, u64 *first, u64 *end);
	const char *(*called)(void *ctx, const char *path);
	const char *(*event)(void *ctx, u64 number);
	bool (*learn)(void *ctx, u32 pid, struct maps *maps);
	void *ctx;
};

/**
 * names_map_by() - ask somebody else for the mappings of processes
 * @names: names
 * @mapper: must live as long; NULL: only what is of no process is known
 */
void names_map_by(struct names *names, const struct names_mapper *mapper);

/**
 * names_event() - the name of an event that was sampled
 * @names: names
 * @number: as its records have it
 *
 * Return: the name; words that say that nobody knows it.
 */
const char *names_event(const struct names *names, u64 number);

/**
 * names_symfs() - files are those of another machine
 * @names: names; nothing was looked up yet
 * @symfs: folder with a copy of its files, which mappings lead to; debug files
 *	are looked for there only. NULL: files are those of this machine
 */
void names_symfs(struct names *names, const char *symfs);

/**
 * names_demangle() - show names of C++ and Rust as their source has them
 * @names: names; nothing was looked up yet
 *
 * Without it names are those of the symbols.
 */
void names_demangle(struct names *names);

/**
 * names_guests() - name what runs in guests as all else: the user said what code is there
 * @names: names
 */
void names_guests(struct names *names);

/**
 * names_guests_named() - whether names_guests() was called
 * @names: names
 */
bool names_guests_named(const struct names *names);

/**
 * names_version() - a process may have other code from here on
 * @names: names
 * @version: as long as it is the same, so is what names_find() says
 */
void names_version(struct names *names, u32 version);

/**
 * names_version_of() - which code processes have
 * @names: names
 *
 * Return: what names_version() said last, 0 before.
 */
u32 names_version_of(const struct names *names);

/**
 * names_learned_of() - how much is known of processes
 * @names: names
 *
 * Return: a number that is another one as soon as more is known.
 */
u32 names_learned_of(const struct names *names);

/**
 * names_changes() - how often what names_find() says may have changed
 * @names: names
 *
 * Return: a number that only grows.
 */
u64 names_changes(const struct names *names);

/**
 * names_code_version() - the kernel may have other code from here on
 * @names: names
 * @version: as long as it is the same, so is what names_find() says of the kernel
 */
void names_code_version(struct names *names, u32 version);

/**
 * names_code_version_of() - which code the kernel has
 * @names: names
 *
 * Return: what names_code_version() said last, 0 before.
 */
u32 names_code_version_of(const struct names *names);

/**
 * names_learn() - ask for a process now, while it may still live
 * @names: names
 * @pid: the process
 */
void names_learn(struct names *names, u32 pid);

/**
 * names_find() - an address in words
 * @names: names
 * @pid: process the address is of; 0: not known; NAMES_GUEST: it has no name, and its
 *	@object is "guest"
 * @address: the address
 * @place: always filled
 */
void names_find(struct names *names, u32 pid, u64 address,
		struct place *place);

/**
 * names_text() - an address as text
 * @names: names
 * @pid: as for names_find()
 * @address: the address
 * @text: buffer
 * @size: its bytes
 *
 * Makes "symbol+0x1f [object]" or "0x1234 [object]". Return: @text.
 */
const char *names_text(struct names *names, u32 pid, u64 address, char *text,
		       size_t size);

/**
 * names_source() - the line of source code of an address
 * @names: names
 * @pid: as for names_find()
 * @address: the address of an instruction
 * @text: buffer; receives "parse.c:31"
 * @size: its bytes
 *
 * Return: true if there is debug information that knows it.
 */
bool names_source(struct names *names, u32 pid, u64 address, char *text,
		  size_t size);

struct object;

/**
 * struct source_place - an instruction, as its line of source code is found by
 * @object: the file it is in, of the names; NULL: the kernel
 * @offset: in the file; of the kernel the address
 */
struct source_place {
	struct object *object;
	u64 offset;
};

/**
 * names_source_place() - where an instruction is in its file
 * @names: names
 * @pid: as for names_find()
 * @address: its address
 * @place: filled on success; stays true whatever becomes of the process
 *
 * Return: true, or false: nothing is mapped there.
 */
bool names_source_place(struct names *names, u32 pid, u64 address,
			struct source_place *place);

/**
 * names_source_at() - names_source() of a place
 * @names: names
 * @place: from names_source_place()
 * @text: buffer
 * @size: its bytes
 *
 * Return: true if there is debug information that knows it.
 */
bool names_source_at(struct names *names, const struct source_place *place, char *text,
		     size_t size);

/**
 * names_inlined() - the inlined functions that the code at an address is of
 * @names: names
 * @pid: as for names_find()
 * @address: the address of an instruction
 * @ask: debug files may come from servers, as those of names_source() do
 *
 * Of the kernel none are known, nor of files that somebody else reads.
 *
 * Return: the innermost, valid as long as @names; NULL: none.
 */
const struct inlined *names_inlined(struct names *names, u32 pid, u64 address, bool ask);

/**
 * names_inlined_name() - the name of an inlined function
 * @names: names
 * @inlined: from names_inlined(), or what is outside of that
 *
 * Return: the name, as symbols are shown; valid as long as @names.
 */
const char *names_inlined_name(struct names *names, const struct inlined *inlined);

/**
 * names_build_id() - the build id of a file that something was found in
 * @names: names
 * @object: what names_find() calls it
 * @id: filled
 *
 * Return: true; false if it has none or cannot be read, or if files of different build ids are
 * called so, and then @id says nothing.
 */
bool names_build_id(const struct names *names, const char *object,
		    struct build_id *id);

/**
 * struct file_place - an address in a file
 * @path: where the file can be read; NULL: it is of the kernel
 * @called: the path it had where it was mapped, or "kernel" or a module's name; valid
 *	until the next call of a function of names
 * @offset: of the address in the file; of the kernel the address
 * @end: address up to which the file is mapped
 */
struct file_place {
	const char *path;
	const char *called;
	u64 offset;
	u64 end;
};

/**
 * names_file() - the file that an address is in
 * @names: names
 * @pid: as for names_find()
 * @address: the address
 * @found: filled on success
 *
 * Return: true, or false if there is no file, or if @pid is not known and processes have
 * different ones there.
 */
bool names_file(struct names *names, u32 pid, u64 address,
		struct file_place *found);

/**
 * names_kernel_range() - where the kernel or a module is
 * @names: names
 * @object: as names_file() calls it
 * @begin: filled: begin of the page of its first symbol of code
 * @end: filled: end of the page of its last one
 *
 * Return: true, or false if it has no symbols.
 */
bool names_kernel_range(struct names *names, const char *object, u64 *begin,
			u64 *end);

/**
 * names_places() - where debug files are looked for
 * @names: names
 *
 * Return: they, of @names.
 */
const struct debug_places *names_places(const struct names *names);

/**
 * names_comm() - the name of a task
 * @names: names
 * @tid: thread
 * @pid: its process
 *
 * Return: the name, valid until the next call; "" if it is not known.
 */
const char *names_comm(struct names *names, u32 tid, u32 pid);

#endif /* KIPT_ADDRESS_NAMES_H */
