// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a snapshot has of a program that was killed
 * (tools/kipt/crash_program.h), where the program and its user mean no good:
 * pages that lead nowhere, names that are links, devices or lines of their own,
 * files that become shorter while they are read. Prints KTAP.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/kipt/crash_program.h"
#include "../../tools/kipt/file_map.h"
#include "../../tools/kipt/symbols.h"
#include "../decode/ktap.h"

#define ID		0x1234
#define PAGE		KIPT_CRASH_PAGE_BYTES
#define PAGES		8
#define START		0x400000
#define CODE_AT		0x100

static struct ktap ktap;

static char folder[32];

/* Page 0 is nothing, 1 of kind SIGNAL, behind it others, the last a file's. */
static u8 snapshot[PAGES][PAGE];

static u32 snapshot_read(void *ctx, u64 address, void *bytes, u32 size)
{
	(void)ctx;
	if (address > sizeof(snapshot) || size > sizeof(snapshot) - address)
		return 0;
	memcpy(bytes, &snapshot[0][address], size);
	return size;
}

static u32 sum(const u8 *bytes, u32 size)
{
	u32 sum = ~0U, bit;

	for (; size; size--) {
		sum ^= *bytes++;
		for (bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
	}
	return ~sum;
}

static void page_make(u32 number, u16 kind, u32 more)
{
	struct kipt_crash_page *page = (void *)snapshot[number];

	memcpy(page->magic, KIPT_CRASH_MAGIC, sizeof(page->magic));
	page->version = KIPT_CRASH_VERSION;
	page->kind = kind;
	page->size = PAGE;
	page->crc = 0;
	page->id = ID;
	page->more = (u64)more * PAGE;
	page->crc = sum(snapshot[number], PAGE);
}

struct file {
	Elf64_Ehdr head;
	Elf64_Phdr part;
	Elf64_Nhdr note;
	char name[4];
	u8 id[20];
};

static const struct file file = {
	.head = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
		.e_phoff = offsetof(struct file, part),
		.e_phnum = 1,
	},
	.part = {
		.p_type = PT_NOTE,
		.p_offset = offsetof(struct file, note),
		.p_filesz = sizeof(file) - offsetof(struct file, note),
	},
	.note = { 4, 20, NT_GNU_BUILD_ID },
	.name = "GNU",
	.id = { 1, 2, 3 },
};

static void file_write(const char *path)
{
	static const char code[] = "code";
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (pwrite(fd, &file, sizeof(file), 0) != sizeof(file) ||
	    pwrite(fd, code, sizeof(code), PAGE + CODE_AT) != sizeof(code) ||
	    close(fd))
		exit(2);
}

/* With one mapping, of the second page of a file in our folder. */
static struct crash_program *program_make(const char *name)
{
	const struct crash_source source = { .read = snapshot_read };
	struct kipt_crash_signal *signal = (void *)snapshot[1];
	struct kipt_crash_maps *maps = (void *)snapshot[2];

	memset(snapshot, 0, sizeof(snapshot));
	signal->pid = 11;
	page_make(1, KIPT_CRASH_SIGNAL, 2);
	maps->nr_here = 1;
	maps->maps[0] = (struct kipt_crash_map){
		.start = START, .end = START + PAGE, .offset = PAGE,
		.head = (PAGES - 1) * PAGE,
	};
	snprintf((char *)maps->maps[0].path, KIPT_CRASH_PATH_BYTES, "%s/%s",
		 folder, name);
	page_make(2, KIPT_CRASH_MAPS, 0);
	memcpy(snapshot[PAGES - 1], &file, sizeof(file));
	return crash_program_read(&source, PAGE, ID);
}

static bool has_code(const struct crash_program *program)
{
	u8 bytes[4] = "";

	return crash_program_code(program, START + CODE_AT, bytes, 4) == 4 &&
	       !memcmp(bytes, "code", 4);
}

static void pages_of_nothing(void)
{
	const struct crash_source source = { .read = snapshot_read };
	struct crash_program *program;
	u32 i;

	memset(snapshot, 0, sizeof(snapshot));
	page_make(1, KIPT_CRASH_SIGNAL, 2);
	for (i = 2; i < 7; i++)
		page_make(i, i < 5 ? KIPT_CRASH_MAPS : KIPT_CRASH_CODE,
			  i < 6 ? i + 1 : 0);
	program = crash_program_read(&source, PAGE, ID);
	ktap_result(&ktap, program, "program_of_empty_pages");
	crash_program_destroy(program);
	page_make(6, KIPT_CRASH_CODE, 2);
	program = crash_program_read(&source, PAGE, ID);
	ktap_result(&ktap, program, "program_whose_pages_go_round");
	crash_program_destroy(program);
}

static void file_that_changes(void)
{
	struct crash_program *program;

	file_write("prog");
	program = program_make("prog");
	ktap_result(&ktap, has_code(program), "program_code_of_its_file");
	if (truncate("prog", sizeof(file)))
		exit(2);
	ktap_result(&ktap, !has_code(program), "program_file_cut_short");
	file_write("prog");
	if (rename("prog", "away") || mkfifo("prog", 0600))
		exit(2);
	ktap_result(&ktap, has_code(program), "program_file_moved_away");
	crash_program_destroy(program);
	program = program_make("prog");
	ktap_result(&ktap, !has_code(program), "program_file_is_a_fifo");
	crash_program_destroy(program);
}

static void name_that_is_a_link(void)
{
	struct crash_program *program;

	if (symlink("away", "link") || symlink(".", "folder"))
		exit(2);
	program = program_make("link");
	ktap_result(&ktap, !has_code(program), "program_file_is_a_link");
	crash_program_destroy(program);
	program = program_make("folder/away");
	ktap_result(&ktap, !has_code(program), "program_folder_is_a_link");
	crash_program_destroy(program);
}

static void name_with_control_characters(void)
{
	struct crash_program *program;
	struct maps maps = { 0 };
	struct names *names = names_create("", &maps, false);
	const struct mapping *mapping;

	file_write("a\nmap 0 1 0 \033[2J");
	program = program_make("a\nmap 0 1 0 \033[2J");
	crash_program_map(program, &maps, names);
	mapping = maps_find(maps_process(&maps, 11), START);
	ktap_result(&ktap, !has_code(program) && mapping &&
		    !strcmp(mapping->path, "a?map 0 1 0 ?[2J"),
		    "program_name_with_control_characters");
	names_destroy(names);
	maps_free(&maps);
	crash_program_destroy(program);
}

/* Names are of what was opened, whatever is called so now. */
static void names_of_what_was_opened(void)
{
	struct crash_program *program = program_make("away");
	struct maps maps = { 0 };
	struct names *names = names_create("", &maps, false);
	struct place place;

	if (unlink("away") || mkfifo("away", 0600))
		exit(2);
	crash_program_map(program, &maps, names);
	names_find(names, 11, START + CODE_AT, &place);
	ktap_result(&ktap, !place.symbol && place.object &&
		    !strcmp(place.object, "away") &&
		    place.offset == PAGE + CODE_AT,
		    "program_names_of_what_was_opened");
	names_destroy(names);
	maps_free(&maps);
	crash_program_destroy(program);
}

/* A small file can have millions of symbols that share a long name. */
static void one_long_name(void)
{
	struct symbols *symbols = symbols_create();
	const u32 size = 1 << 20, most = 1024;
	char *name = malloc(size);
	u32 i = 0;

	memset(name, 'a', size - 1);
	name[size - 1] = 0;
	while (i < most && symbols_add(symbols, i, 1, 0, name, "", ""))
		i++;
	ktap_result(&ktap, i && i < most, "symbols_of_one_long_name");
	symbols_destroy(symbols);
	free(name);
}

static void no_device_is_opened(void)
{
	int fd = file_open_regular("/dev/null");

	ktap_result(&ktap, fd < 0 && errno == EINVAL, "file_is_a_device");
	fd = file_open_no_links("/proc/self/exe");
	ktap_result(&ktap, fd < 0 && errno == ELOOP, "file_is_behind_a_link");
}

int main(void)
{
	char command[64];

	snprintf(folder, sizeof(folder), "/tmp/kipt-program.XXXXXX");
	if (!mkdtemp(folder) || chdir(folder))
		return 2;
	ktap_start();
	pages_of_nothing();
	file_that_changes();
	name_that_is_a_link();
	name_with_control_characters();
	names_of_what_was_opened();
	one_long_name();
	no_device_is_opened();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command))
		return 2;
	return ktap_end(&ktap);
}
