// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMCOREINFO, see vmcoreinfo.h.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmcoreinfo.h"

/* Linux has a page for it. */
#define INFO_MAX	(64 << 10)
/* A machine has one note for each CPU, and some more. */
#define NOTES_MAX	65536U

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

char *vmcoreinfo_find(const struct crash_source *source, u64 at, u64 end)
{
	u8 head[VMCOREINFO_HEAD];
	Elf64_Nhdr note;
	u32 i;

	for (i = 0; i < NOTES_MAX && at < end && end - at >= sizeof(head); i++) {
		if (!crash_get(source, at, head, sizeof(head)))
			return NULL;
		if (vmcoreinfo_here(head))
			return vmcoreinfo_read(source, at);
		memcpy(&note, head, sizeof(note));
		at += sizeof(note) + ((u64)note.n_namesz + 3) / 4 * 4 +
		      ((u64)note.n_descsz + 3) / 4 * 4;
	}
	return NULL;
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
