// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which reader a dump has, see dump_file.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "dump_child.h"
#include "dump_elf_holes.h"
#include "dump_file.h"

/**
 * struct dump - a dump
 * @fd: the file
 * @elf: what is read if @child is NULL
 * @child: reads other formats
 */
struct dump {
	int fd;
	struct dump_elf elf;
	struct dump_child *child;
};

/* makedumpfile's output where it could not seek. */
static bool is_flattened(int fd)
{
	static const char signature[16] = "makedumpfile";
	char bytes[sizeof(signature)];

	return pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
	       !memcmp(bytes, signature, sizeof(bytes));
}

static bool reader_open(struct dump *dump, const char *path)
{
	if (dump_elf_is(dump->fd))
		return dump_elf_open(&dump->elf, dump->fd, path);
	if (is_flattened(dump->fd)) {
		say_error("%s is a flattened dump: 'makedumpfile -R NEW <%s' makes one that can be read",
			  path, path);
		return false;
	}
	dump->child = dump_child_open(dump->fd, path);
	return dump->child;
}

struct dump *dump_open(const char *path)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	if (!dump) {
		say_errno(ENOMEM, "cannot read %s", path);
		return NULL;
	}
	dump->fd = file_open_tell(path);
	if (dump->fd >= 0 && reader_open(dump, path))
		return dump;
	dump_close(dump);
	return NULL;
}

void dump_close(struct dump *dump)
{
	if (!dump)
		return;
	dump_child_close(dump->child);
	dump_elf_close(&dump->elf);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump);
}

static u32 source_read(void *ctx, u64 address, void *bytes, u32 size)
{
	struct dump *dump = ctx;

	return dump->child ? dump_child_read(dump->child, address, bytes, size) :
			     dump_elf_read(&dump->elf, address, bytes, size);
}

struct crash_source dump_source(struct dump *dump)
{
	return (struct crash_source){ .read = source_read, .ctx = dump };
}

bool dump_next(struct dump *dump, u64 *address)
{
	return dump->child ? dump_child_next(dump->child, address) :
			     dump_elf_next(&dump->elf, address);
}

u64 dump_end(const struct dump *dump)
{
	const struct dump_part *last = dump->elf.parts + dump->elf.count - 1;

	return dump->child ? dump_child_end(dump->child) :
			     last->address + last->size;
}

char *dump_vmcoreinfo(struct dump *dump)
{
	const char *info = dump->child ? dump_child_info(dump->child) :
					 dump->elf.info;

	return info ? strdup(info) : NULL;
}
