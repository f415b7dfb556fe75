// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMCOREINFO, see vmcoreinfo.h.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vmcoreinfo.h"

/* Linux has a page for it. */
#define INFO_MAX	(64 << 10)
#define NOTES_MAX	(1 << 20)

static const char note_name[] = "VMCOREINFO";

struct note {
	Elf64_Nhdr head;
	/* Padded to a multiple of 4. */
	char name[12];
};

_Static_assert(sizeof(struct note) == VMCOREINFO_HEAD, "a note begins so");

bool vmcoreinfo_here(const u8 *bytes)
{
	struct note note;

	memcpy(&note, bytes, sizeof(note));
	return note.head.n_namesz == sizeof(note_name) &&
	       !memcmp(note.name, note_name, sizeof(note_name)) &&
	       note.head.n_descsz && note.head.n_descsz <= INFO_MAX;
}

char *vmcoreinfo_read(const struct crash_source *source, u64 address)
{
	struct note note;
	char *text;
	u32 size;

	if (!address || !crash_get(source, address, &note, sizeof(note)) ||
	    !vmcoreinfo_here((const u8 *)&note))
		return NULL;
	text = malloc(note.head.n_descsz + 1);
	if (!text)
		return NULL;
	size = source->read(source->ctx, address + sizeof(note), text,
			    note.head.n_descsz);
	text[size] = 0;
	return text;
}

/* Notes in memory; an address is an offset. */
struct notes {
	u8 *bytes;
	u64 size;
};

static u32 notes_get(void *ctx, u64 at, void *bytes, u32 size)
{
	const struct notes *notes = ctx;

	if (at > notes->size)
		return 0;
	if (size > notes->size - at)
		size = notes->size - at;
	memcpy(bytes, notes->bytes + at, size);
	return size;
}

/* The notes of an ELF file that is no larger than its kernel. */
static bool notes_read(struct notes *notes, int fd)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;
	u32 i;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.e_phentsize != sizeof(part))
		return false;
	for (i = 0; i < head.e_phnum; i++) {
		if (pread(fd, &part, sizeof(part), head.e_phoff + i * sizeof(part)) !=
		    sizeof(part))
			return false;
		if (part.p_type == PT_NOTE)
			break;
	}
	if (i == head.e_phnum || part.p_filesz > NOTES_MAX)
		return false;
	notes->size = part.p_filesz;
	notes->bytes = malloc(notes->size + 1);
	return notes->bytes && pread(fd, notes->bytes, notes->size, part.p_offset) ==
			       (ssize_t)notes->size;
}

char *vmcoreinfo_running(void)
{
	struct notes notes = { 0 };
	const struct crash_source source = { .read = notes_get, .ctx = &notes };
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	char *info = NULL;
	u64 at;

	/* The first byte is no note's: address 0 is none. */
	if (fd >= 0 && notes_read(&notes, fd)) {
		for (at = 4; at < notes.size && !info; at += 4)
			info = vmcoreinfo_read(&source, at);
	}
	if (fd >= 0)
		close(fd);
	free(notes.bytes);
	return info;
}

bool vmcoreinfo_text(const char *info, const char *key, char *text,
		     size_t size)
{
	size_t length = strlen(key), n;

	for (; info && *info; info = strchr(info, '\n')) {
		info += *info == '\n';
		if (strncmp(info, key, length) || info[length] != '=')
			continue;
		info += length + 1;
		n = strcspn(info, "\n");
		if (n >= size)
			return false;
		memcpy(text, info, n);
		text[n] = 0;
		return true;
	}
	return false;
}

static bool number(const char *info, const char *kind, const char *name,
		   int base, u64 *value)
{
	char key[128], text[32], *end;

	snprintf(key, sizeof(key), "%s(%s)", kind, name);
	if (!vmcoreinfo_text(info, key, text, sizeof(text)))
		return false;
	*value = text[0] == '-' ? (u64)strtoll(text, &end, base) :
				  strtoull(text, &end, base);
	return end != text && !*end;
}

bool vmcoreinfo_symbol(const char *info, const char *name, u64 *value)
{
	return number(info, "SYMBOL", name, 16, value);
}

bool vmcoreinfo_number(const char *info, const char *kind, const char *name,
		       u64 *value)
{
	return number(info, kind, name, 10, value);
}
