// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for a build id, see build_id.h. Works on the first page of a file too,
 * which libelf takes for a broken file.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/file_read.h"
#include "build_id.h"

/* Fewer bytes say too little of a file. */
#define LEAST_BYTES	8
/* Nearly all files have it there. */
#define BEGIN_BYTES	4096
#define NOTES_MOST	(1 << 20)

/* Where a note segment is. */
struct notes {
	u64 offset;
	u64 size;
};

static bool bytes_get(void *to, const u8 *bytes, u64 size, u64 at, u64 count)
{
	if (at > size || count > size - at)
		return false;
	memcpy(to, bytes + at, count);
	return true;
}

static u64 aligned(u64 size)
{
	return (size + 3) & ~3ULL;
}

static bool notes_look(struct build_id *id, const u8 *bytes, u64 size,
		       const struct notes *notes)
{
	u64 at = notes->offset, end = notes->offset + notes->size;
	Elf64_Nhdr note;
	char name[4];

	if (end < at)
		return false;
	while (at < end && bytes_get(&note, bytes, size, at, sizeof(note))) {
		at += sizeof(note);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    bytes_get(name, bytes, size, at, 4) &&
		    !memcmp(name, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= BUILD_ID_MAX &&
		    bytes_get(id->bytes, bytes, size, at + 4,
			      note.n_descsz)) {
			id->size = note.n_descsz;
			return true;
		}
		at += aligned(note.n_namesz) + aligned(note.n_descsz);
	}
	return false;
}

bool build_id_note(struct build_id *id, const u8 *bytes, u64 size)
{
	const struct notes notes = { .size = size };

	return notes_look(id, bytes, size, &notes);
}

/* What both kinds of file say of their parts. */
struct parts {
	u64 at;
	u32 count;
	bool is_32bit;
};

static bool parts_find(struct parts *parts, const u8 *bytes, u64 size)
{
	Elf32_Ehdr head_32;
	Elf64_Ehdr head;

	parts->is_32bit = bytes[EI_CLASS] == ELFCLASS32;
	if (parts->is_32bit && bytes_get(&head_32, bytes, size, 0,
					 sizeof(head_32))) {
		parts->at = head_32.e_phoff;
		parts->count = head_32.e_phnum;
		return true;
	}
	if (parts->is_32bit || !bytes_get(&head, bytes, size, 0, sizeof(head)))
		return false;
	parts->at = head.e_phoff;
	parts->count = head.e_phnum;
	return true;
}

/* Of no size if it is no part with notes. */
static bool part_get(struct notes *notes, const struct parts *parts, u32 i,
		     const u8 *bytes, u64 size)
{
	Elf32_Phdr part_32;
	Elf64_Phdr part;

	*notes = (struct notes){ 0 };
	if (parts->is_32bit) {
		if (!bytes_get(&part_32, bytes, size,
			       parts->at + i * sizeof(part_32),
			       sizeof(part_32)))
			return false;
		if (part_32.p_type == PT_NOTE)
			*notes = (struct notes){ part_32.p_offset,
						 part_32.p_filesz };
		return true;
	}
	if (!bytes_get(&part, bytes, size, parts->at + i * sizeof(part),
		       sizeof(part)))
		return false;
	if (part.p_type == PT_NOTE)
		*notes = (struct notes){ part.p_offset, part.p_filesz };
	return true;
}

static bool elf_head(struct parts *parts, const u8 *bytes, u64 size)
{
	return size >= EI_NIDENT && !memcmp(bytes, ELFMAG, SELFMAG) &&
	       parts_find(parts, bytes, size);
}

bool build_id_find(struct build_id *id, const u8 *bytes, u64 size)
{
	struct parts parts;
	struct notes notes;
	u32 i;

	if (!elf_head(&parts, bytes, size))
		return false;
	for (i = 0; i < parts.count &&
		    part_get(&notes, &parts, i, bytes, size); i++) {
		if (notes_look(id, bytes, size, &notes))
			return true;
	}
	return false;
}

/* The caller's; @size becomes how many bytes there are. NULL without memory. */
static u8 *piece_read(int fd, u64 at, u64 *size)
{
	u8 *bytes = malloc(*size ? *size : 1);

	*size = bytes ? file_read_at(fd, at, bytes, *size) : 0;
	return bytes;
}

/* @left: bytes that may be read of all notes of the file, fewer afterwards */
static bool notes_read(struct build_id *id, int fd, const struct notes *notes, u64 *left)
{
	u64 size = notes->size < *left ? notes->size : *left;
	u8 *bytes = size ? piece_read(fd, notes->offset, &size) : NULL;
	bool found = bytes && build_id_note(id, bytes, size);

	*left -= size;
	free(bytes);
	return found;
}

static bool parts_read(struct build_id *id, int fd, const struct parts *parts)
{
	/* In the bytes that are read, the headers begin at 0. */
	const struct parts here = { .count = parts->count, .is_32bit = parts->is_32bit };
	u64 size = parts->count *
		   (parts->is_32bit ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr));
	u8 *bytes = piece_read(fd, parts->at, &size);
	u64 left = NOTES_MOST;
	bool found = false;
	struct notes notes;
	u32 i;

	for (i = 0; bytes && !found && left && i < here.count &&
		    part_get(&notes, &here, i, bytes, size); i++)
		found = notes.size && notes_read(id, fd, &notes, &left);
	free(bytes);
	return found;
}

/* Files that perf inject makes of code of a JIT have it in a section only. */
static bool sections_read(struct build_id *id, int fd, const u8 *bytes, u64 size)
{
	u64 left = NOTES_MOST, table_size;
	bool found = false;
	Elf64_Shdr *table;
	Elf64_Ehdr head;
	u32 i, count;

	if (bytes[EI_CLASS] != ELFCLASS64 || !bytes_get(&head, bytes, size, 0, sizeof(head)) ||
	    head.e_shentsize != sizeof(*table))
		return false;
	table_size = head.e_shnum * sizeof(*table);
	table = (Elf64_Shdr *)piece_read(fd, head.e_shoff, &table_size);
	count = table_size / sizeof(*table);
	for (i = 0; table && !found && left && i < count; i++) {
		const struct notes notes = { table[i].sh_offset, table[i].sh_size };

		found = table[i].sh_type == SHT_NOTE && notes.size &&
			notes_read(id, fd, &notes, &left);
	}
	free(table);
	return found;
}

bool build_id_read(struct build_id *id, int fd)
{
	u64 size = BEGIN_BYTES;
	u8 *bytes = piece_read(fd, 0, &size);
	struct parts parts;
	bool found, far;

	found = bytes && build_id_find(id, bytes, size);
	far = bytes && !found && elf_head(&parts, bytes, size);
	if (far)
		found = parts_read(id, fd, &parts) || sections_read(id, fd, bytes, size);
	free(bytes);
	return found;
}

bool build_id_same(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

bool build_id_recorded(const struct build_id *recorded, const struct build_id *id)
{
	static const u8 zeros[BUILD_ID_PERF];
	u32 size = id->size;

	if (recorded->size != BUILD_ID_PERF || size < LEAST_BYTES)
		return build_id_same(recorded, id);
	if (size >= BUILD_ID_PERF)
		return !memcmp(recorded->bytes, id->bytes, BUILD_ID_PERF);
	return !memcmp(recorded->bytes, id->bytes, size) &&
	       !memcmp(recorded->bytes + size, zeros, BUILD_ID_PERF - size);
}
