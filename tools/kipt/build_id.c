// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for a build id, see build_id.h. Works on the first page of a file too,
 * which libelf takes for a broken file.
 */
#include <elf.h>
#include <string.h>

#include "build_id.h"

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

static bool find_64(struct build_id *id, const u8 *bytes, u64 size)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;
	u32 i;

	if (!bytes_get(&head, bytes, size, 0, sizeof(head)))
		return false;
	for (i = 0; i < head.e_phnum; i++) {
		if (!bytes_get(&part, bytes, size,
			       head.e_phoff + i * sizeof(part), sizeof(part)))
			return false;
		if (part.p_type == PT_NOTE &&
		    notes_look(id, bytes, size,
			       &(struct notes){ part.p_offset,
						part.p_filesz }))
			return true;
	}
	return false;
}

static bool find_32(struct build_id *id, const u8 *bytes, u64 size)
{
	Elf32_Ehdr head;
	Elf32_Phdr part;
	u32 i;

	if (!bytes_get(&head, bytes, size, 0, sizeof(head)))
		return false;
	for (i = 0; i < head.e_phnum; i++) {
		if (!bytes_get(&part, bytes, size,
			       head.e_phoff + i * sizeof(part), sizeof(part)))
			return false;
		if (part.p_type == PT_NOTE &&
		    notes_look(id, bytes, size,
			       &(struct notes){ part.p_offset,
						part.p_filesz }))
			return true;
	}
	return false;
}

bool build_id_find(struct build_id *id, const u8 *bytes, u64 size)
{
	if (size < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG))
		return false;
	return bytes[EI_CLASS] == ELFCLASS32 ? find_32(id, bytes, size) :
					       find_64(id, bytes, size);
}

bool build_id_same(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}
