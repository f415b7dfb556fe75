// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a snapshot has of a program that was killed
 * (tools/kipt/crash/fatal_program.h), where the program and its user mean no good:
 * pages that lead nowhere, names that are links, devices or lines of their own,
 * files that become shorter while they are read, or that make of the library what
 * they like. Run by root it is another user's program, too. And what is shown of it for too
 * long. Prints KTAP.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libelf.h>

#include "../../tools/kipt/crash/fatal_program.h"
#include "../../tools/kipt/crash/snapshot_collect.h"
#include "../../tools/kipt/cli/file_map.h"
#include "../../tools/kipt/symbols/symbols.h"
#include "../decode/ktap.h"

#define ID		0x1234
#define PAGE		KIPT_CRASH_PAGE_BYTES
#define PAGES		8
#define START		0x400000
#define CODE_AT		0x100

static struct ktap ktap;

/* Of no user, and of one that is no root. */
#define NOBODY		65534

static char folder[32];

/* Whose program it is, and who reads its files. */
static u32 user;
static struct crash_files *files;

/* What libelf does in the process that reads. */
static enum { READS, DIES, HANGS } library;

Elf *elf_begin(int fd, Elf_Cmd command, Elf *elf)
{
	Elf *(*next)(int fd, Elf_Cmd command, Elf *elf) =
		dlsym(RTLD_NEXT, "elf_begin");

	if (library == DIES)
		raise(SIGSEGV);
	while (library == HANGS)
		;
	return next(fd, command, elf);
}

/* Page 0 is unused, page 1 of kind SIGNAL, then come others, the last a file's. */
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

static void program_free(struct crash_program *program)
{
	crash_program_destroy(program);
	crash_files_destroy(files);
	files = NULL;
}

static struct crash_program *program_read(void)
{
	const struct crash_source source = { .read = snapshot_read };

	files = crash_files_create(1);
	return crash_program_read(&source, PAGE, ID, files);
}

static struct kipt_crash_map map_make(const char *name)
{
	struct kipt_crash_map map = {
		.start = START, .end = START + PAGE, .offset = PAGE,
		.build_id_bytes = sizeof(file.id),
	};

	memcpy(map.build_id, file.id, sizeof(file.id));
	snprintf((char *)map.path, sizeof(map.path), "%s/%s", folder, name);
	return map;
}

/* With one mapping. */
static struct crash_program *program_of_map(const struct kipt_crash_map *map)
{
	struct kipt_crash_signal *signal = (void *)snapshot[1];
	struct kipt_crash_maps *maps = (void *)snapshot[2];

	memset(snapshot, 0, sizeof(snapshot));
	signal->pid = 11;
	signal->uid = user;
	page_make(1, KIPT_CRASH_SIGNAL, 2);
	maps->nr_here = 1;
	maps->maps[0] = *map;
	page_make(2, KIPT_CRASH_MAPS, 0);
	return program_read();
}

/* With one mapping, of the second page of a file in our folder. */
static struct crash_program *program_make(const char *name)
{
	const struct kipt_crash_map map = map_make(name);

	return program_of_map(&map);
}

static bool has_code(const struct crash_program *program)
{
	u8 bytes[4] = "";

	return crash_program_code(program, START + CODE_AT, bytes, 4) == 4 &&
	       !memcmp(bytes, "code", 4);
}

static void pages_of_nothing(void)
{
	struct crash_program *program;
	u32 i;

	memset(snapshot, 0, sizeof(snapshot));
	page_make(1, KIPT_CRASH_SIGNAL, 2);
	for (i = 2; i < 7; i++)
		page_make(i, KIPT_CRASH_MAPS, i < 6 ? i + 1 : 0);
	program = program_read();
	ktap_result(&ktap, program, "program_of_empty_pages");
	program_free(program);
	page_make(6, KIPT_CRASH_MAPS, 2);
	program = program_read();
	ktap_result(&ktap, program, "program_whose_pages_go_round");
	program_free(program);
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
	program_free(program);
	program = program_make("prog");
	ktap_result(&ktap, !has_code(program), "program_file_is_a_fifo");
	program_free(program);
}

static bool map_has_code(const struct kipt_crash_map *map)
{
	struct crash_program *program = program_of_map(map);
	bool has = has_code(program);

	program_free(program);
	return has;
}

static void files_that_do_not_match(void)
{
	struct kipt_crash_map map = map_make("known");

	file_write("known");
	map.build_id[0]++;
	ktap_result(&ktap, !map_has_code(&map), "program_file_of_another_id");
	map = map_make("known");
	map.build_id_bytes--;
	ktap_result(&ktap, !map_has_code(&map), "program_file_of_a_shorter_id");
	map.build_id_bytes = 0;
	ktap_result(&ktap, !map_has_code(&map), "program_file_without_an_id");
	map.build_id_bytes = 0xff;
	ktap_result(&ktap, !map_has_code(&map), "program_id_that_is_too_long");
	map = map_make("known");
	map.changed = 1;
	ktap_result(&ktap, !map_has_code(&map), "program_code_changed_in_memory");
	snprintf((char *)map.path, sizeof(map.path), "%s/known (deleted)",
		 folder);
	map.changed = 0;
	ktap_result(&ktap, !map_has_code(&map), "program_file_is_gone");
}

/* The kernel's is no file, and the same for all that run on it. */
static void code_of_the_vdso(void)
{
	const u8 *vdso = (const u8 *)getauxval(AT_SYSINFO_EHDR);
	struct kipt_crash_map map = {
		.start = 1ULL << 40, .end = (1ULL << 40) + PAGE,
		.path = "[vdso]",
	};
	struct crash_program *program;
	u8 bytes[4] = "";

	if (!vdso)
		return;
	program = program_of_map(&map);
	ktap_result(&ktap,
		    crash_program_code(program, map.start, bytes, 4) == 4 &&
		    !memcmp(bytes, vdso, 4), "program_code_of_the_vdso");
	program_free(program);
	/* As large as a program likes. */
	map.end = map.start + 1024 * PAGE;
	program = program_of_map(&map);
	ktap_result(&ktap,
		    crash_program_code(program, map.start + 512 * PAGE, bytes,
				       4) == 0 &&
		    crash_program_code(program, map.start, snapshot[3],
				       4 * PAGE) <= 4 * PAGE,
		    "program_code_after_the_vdso");
	program_free(program);
	map.start = START;
	map.end = START + PAGE;
	program = program_of_map(&map);
	ktap_result(&ktap, !crash_program_code(program, START, bytes, 4),
		    "program_code_of_a_32_bit_vdso");
	program_free(program);
}

static void name_that_is_a_link(void)
{
	struct crash_program *program;

	if (symlink("away", "link") || symlink(".", "folder"))
		exit(2);
	program = program_make("link");
	ktap_result(&ktap, !has_code(program), "program_file_is_a_link");
	program_free(program);
	program = program_make("folder/away");
	ktap_result(&ktap, !has_code(program), "program_folder_is_a_link");
	program_free(program);
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
	program_free(program);
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
	program_free(program);
}

/* What is shown of the code there. */
static bool has_name(struct crash_program *program, const char *wanted)
{
	struct maps maps = { 0 };
	struct names *names = names_create("", &maps, false);
	struct place place;
	bool ok;

	crash_program_map(program, &maps, names);
	names_find(names, 11, START + CODE_AT, &place);
	ok = wanted ? place.symbol && !strcmp(place.symbol, wanted) :
		      !place.symbol && place.object;
	names_destroy(names);
	maps_free(&maps);
	return ok;
}

/* The failure is reported once, and the rest is shown. */
static void library_fails(void)
{
	struct crash_program *program;

	if (unlink("prog"))
		exit(2);
	file_write("prog");
	library = DIES;
	program = program_make("prog");
	ktap_result(&ktap, has_code(program) && has_name(program, NULL) &&
		    !has_code(program), "program_file_kills_the_library");
	program_free(program);
	library = HANGS;
	program = program_make("prog");
	ktap_result(&ktap, has_code(program) && has_name(program, NULL) &&
		    !has_code(program), "program_file_hangs_the_library");
	program_free(program);
	library = READS;
}

/* A copy of this program: symbols and lines are those of its functions. */
static void names_and_lines(void)
{
	u64 here = (u64)&names_and_lines, page = here - here % PAGE;
	struct kipt_crash_map map = map_make("self");
	struct crash_program *program;
	const struct mapping *mapping;
	struct maps maps = { 0 };
	struct names *names;
	struct build_id id;
	struct place place;
	char text[64] = "";
	int self;

	maps_read_task(&maps, getpid(), getpid());
	mapping = maps_find(maps_process(&maps, getpid()), here);
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (!mapping || !build_id_read(&id, self) || id.size != sizeof(map.build_id) ||
	    system("cp /proc/$PPID/exe self"))
		exit(2);
	close(self);
	map.start = page;
	map.end = page + PAGE;
	map.offset = page - mapping->start + mapping->offset;
	memcpy(map.build_id, id.bytes, id.size);
	program = program_of_map(&map);
	maps_free(&maps);
	names = names_create("", &maps, false);
	crash_program_map(program, &maps, names);
	names_find(names, 11, here, &place);
	names_source(names, 11, here, text, sizeof(text));
	ktap_result(&ktap, place.symbol && !place.offset &&
		    !strcmp(place.symbol, "names_and_lines") &&
		    !strncmp(text, "program_test.c:", 15),
		    "program_names_and_lines");
	names_destroy(names);
	maps_free(&maps);
	program_free(program);
}

/* Who opens files is the user. */
static void file_of_root(void)
{
	struct crash_program *program;

	file_write("secret");
	if (chmod("secret", 0600))
		exit(2);
	program = program_make("secret");
	ktap_result(&ktap, has_code(program) == (user == getuid()),
		    "program_file_that_its_user_may_not_read");
	program_free(program);
}

/* Nobody is user -1, which would be to stay who one is. */
static void user_is_none(void)
{
	struct crash_program *program;
	u32 before = user;

	user = ~0U;
	program = program_make("prog");
	ktap_result(&ktap, program && !has_code(program),
		    "program_of_no_user");
	program_free(program);
	user = before;
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
	ktap_result(&ktap, fd < 0 && errno == ELOOP, "file_is_reached_by_a_link");
}

static void files_of_others(void)
{
	pages_of_nothing();
	file_that_changes();
	files_that_do_not_match();
	code_of_the_vdso();
	name_that_is_a_link();
	name_with_control_characters();
	names_of_what_was_opened();
	library_fails();
	names_and_lines();
	file_of_root();
	user_is_none();
	if (system("rm -rf *"))
		exit(2);
}

/* What takes too long says so in the file. This program is 'kipt crash show', too. */
static void too_long(void)
{
	const char *const options[] = { "--last", "9", NULL };
	char text[256] = "";
	FILE *report = tmpfile();
	bool shown;

	if (!report)
		exit(2);
	shown = snapshot_show(7, fileno(report), true, options, 1);
	rewind(report);
	ktap_result(&ktap, !shown && fgets(text, sizeof(text), report) &&
		    strstr(text, "'kipt crash show 7' was ended by signal ") == text &&
		    strstr(text, "1 seconds of CPU time or 10 in all\n"),
		    "program_shown_for_too_long");
	fclose(report);
}

int main(int argc, char **argv)
{
	char command[64];

	if (argc > 2 && !strcmp(argv[1], "crash") && !strcmp(argv[2], "show"))
		for (;;)
			;

	snprintf(folder, sizeof(folder), "/tmp/kipt-program.XXXXXX");
	if (!mkdtemp(folder) || chdir(folder))
		return 2;
	ktap_start();
	user = getuid();
	files_of_others();
	if (!user && !chmod(folder, 0755)) {
		user = NOBODY;
		files_of_others();
	}
	one_long_name();
	no_device_is_opened();
	too_long();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command))
		return 2;
	return ktap_end(&ktap);
}
