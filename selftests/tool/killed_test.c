// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is shown of a program that was killed: its own records
 * (tools/kipt/records/process_records.h) and the build ids of its files
 * (tools/kipt/symbols/build_id.h), on what is made here; and what is opened for it
 * (tools/kipt/cli/file_map.h). Prints KTAP.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/kipt/symbols/build_id.h"
#include "../../tools/kipt/cli/file_map.h"
#include "../../tools/kipt/records/process_records.h"
#include "../../tools/kipt/cli/messages.h"
#include "../decode/ktap.h"

#define OWN		0x1000
#define OTHER		0x5000
#define KERNEL		0xffffffff81000000ULL

static struct ktap ktap;

void say_error(const char *format, ...)
{
	(void)format;
}

void say_errno(int err, const char *format, ...)
{
	(void)err;
	(void)format;
}

struct given {
	struct kipt_record list[64];
	u32 count;
};

static bool is_own(void *ctx, u64 cr3)
{
	(void)ctx;
	return cr3 == OWN;
}

static bool give(void *ctx, const struct kipt_record *records, u32 count)
{
	struct given *given = ctx;

	memcpy(given->list + given->count, records, count * sizeof(*records));
	given->count += count;
	return true;
}

static struct kipt_record branch(u8 kind, u64 from, u64 to)
{
	return (struct kipt_record){ .type = KIPT_RECORD_BRANCH, .kind = kind,
				     .aux = 1, .ip = from, .value = to };
}

static struct kipt_record context(u64 cr3)
{
	return (struct kipt_record){ .type = KIPT_RECORD_CONTEXT,
				     .ip = KERNEL, .value = cr3 };
}

static struct given take(const struct kipt_record *records, u32 count)
{
	struct given given = { .count = 0 };
	struct own_records own = {
		.is_own = is_own, .give = give, .ctx = &given,
		.tid = 12, .pid = 11,
	};

	own_records_take(&own, records, count);
	return given;
}

static void only_its_own(void)
{
	const struct kipt_record records[] = {
		branch(KIPT_BRANCH_CALL, 0x400000, 0x400100),
		context(OTHER),
		branch(KIPT_BRANCH_CALL, 0x400000, 0x400200),
		branch(KIPT_BRANCH_SYSCALL, 0x400200, KERNEL),
		context(OWN),
		branch(KIPT_BRANCH_CALL, KERNEL, KERNEL + 16),
		branch(KIPT_BRANCH_SYSRET, KERNEL + 16, 0x400300),
		branch(KIPT_BRANCH_COND, 0x400300, 0x400310),
	};
	struct given given = take(records, sizeof(records) / sizeof(*records));

	ktap_result(&ktap, given.count == 3 &&
		    given.list[0].type == KIPT_RECORD_CONTEXT &&
		    given.list[1].type == KIPT_RECORD_ENABLE &&
		    given.list[1].ip == 0x400300 &&
		    given.list[2].kind == KIPT_BRANCH_COND,
		    "own_records_are_of_its_space_and_its_code");
}

static void kernel_is_a_pause(void)
{
	const struct kipt_record records[] = {
		context(OWN),
		branch(KIPT_BRANCH_SYSCALL, 0x400200, KERNEL),
		branch(KIPT_BRANCH_EVENT, 0x400210, KERNEL),
	};
	struct given given = take(records, sizeof(records) / sizeof(*records));

	ktap_result(&ktap, given.count == 3 &&
		    given.list[1].type == KIPT_RECORD_DISABLE &&
		    given.list[1].kind == KIPT_DISABLE_BRANCH &&
		    given.list[1].flags & KIPT_RF_NO_VALUE &&
		    given.list[2].type == KIPT_RECORD_DISABLE &&
		    given.list[2].kind == KIPT_DISABLE_ASYNC &&
		    given.list[2].ip == 0x400210,
		    "own_records_end_where_the_kernel_begins");
}

/* Decoding begins anew in user code; the record of whose it is comes after. */
static void begin_in_user_code(void)
{
	const struct kipt_record sync = {
		.type = KIPT_RECORD_SYNC,
		.kind = KIPT_SYNC_START,
		.ip = 0x400000,
	};
	const struct kipt_record mine[] = { sync, context(OWN) };
	const struct kipt_record others[] = { sync, context(OTHER),
					      context(OWN) };
	struct given given = take(mine, 2);

	ktap_result(&ktap, given.count == 2 &&
		    given.list[0].type == KIPT_RECORD_SYNC,
		    "own_records_begin_in_its_code");
	given = take(others, 3);
	ktap_result(&ktap, given.count == 1, "own_records_begin_in_others_code");
}

static void task_is_given(void)
{
	const struct kipt_record cpu = { .type = KIPT_RECORD_CPU };
	struct given given = take(&cpu, 1);

	ktap_result(&ktap, given.count == 2 &&
		    given.list[1].type == KIPT_RECORD_TASK &&
		    given.list[1].aux == 12 && given.list[1].value == 11,
		    "own_records_name_the_task");
}

struct file {
	Elf64_Ehdr head;
	Elf64_Phdr part;
	Elf64_Nhdr other;
	char other_name[4];
	char other_text[8];
	Elf64_Nhdr note;
	char name[4];
	u8 id[20];
};

static struct file file_make(u8 last)
{
	struct file file = {
		.head = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
			.e_phoff = offsetof(struct file, part),
			.e_phnum = 1,
		},
		.part = {
			.p_type = PT_NOTE,
			.p_offset = offsetof(struct file, other),
			.p_filesz = sizeof(file) - offsetof(struct file, other),
		},
		.other = { 4, 7, 1 },
		.other_name = "GNU",
		.note = { 4, 20, NT_GNU_BUILD_ID },
		.name = "GNU",
	};

	file.id[19] = last;
	return file;
}

static void build_ids(void)
{
	const struct file file = file_make(1), same = file_make(1),
			  other = file_make(2);
	struct file odd = file;
	struct build_id a, b, c;
	u64 size, found = 0;

	ktap_result(&ktap,
		    build_id_find(&a, (const u8 *)&file, sizeof(file)) &&
		    build_id_find(&b, (const u8 *)&same, sizeof(file)) &&
		    build_id_find(&c, (const u8 *)&other, sizeof(file)) &&
		    a.size == 20 && build_id_same(&a, &b) &&
		    !build_id_same(&a, &c), "build_id_after_another_note");
	for (size = 0; size < offsetof(struct file, id) + 20; size++)
		found += build_id_find(&a, (const u8 *)&file, size);
	ktap_result(&ktap, !found, "build_id_of_a_file_cut_short");
	odd.part.p_offset = ~0ULL - 8;
	found = build_id_find(&a, (const u8 *)&odd, sizeof(odd));
	odd = file;
	odd.head.e_phoff = ~0ULL - 8;
	found += build_id_find(&a, (const u8 *)&odd, sizeof(odd));
	odd = file;
	odd.note.n_descsz = 0xfffffff0;
	found += build_id_find(&a, (const u8 *)&odd, sizeof(odd));
	odd = file;
	odd.other.n_namesz = 0xffffffff;
	found += build_id_find(&a, (const u8 *)&odd, sizeof(odd));
	ktap_result(&ktap, !found, "build_id_of_a_file_that_lies");
}

/* The file that had the code may be anything now, what a device is, too. */
static void no_file_is_opened_to_look(void)
{
	char dir[] = "/tmp/killed_test.XXXXXX", fifo[64], event[256];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	if (!mkdtemp(dir))
		return;
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	mkfifo(fifo, 0600);
	inotify_add_watch(watch, fifo, IN_OPEN);
	fd = file_open_regular(fifo);
	ktap_result(&ktap, fd < 0 && errno == EINVAL &&
		    read(watch, event, sizeof(event)) < 0,
		    "what_is_no_file_is_not_opened");
	unlink(fifo);
	rmdir(dir);
	close(watch);
	fd = file_open_regular("/proc/self/exe");
	ktap_result(&ktap, fd >= 0 && read(fd, event, 4) == 4 &&
		    !memcmp(event, ELFMAG, SELFMAG), "a_file_is_opened");
	close(fd);
}

int main(void)
{
	ktap_start();
	no_file_is_opened_to_look();
	only_its_own();
	kernel_is_a_pause();
	begin_in_user_code();
	task_is_given();
	build_ids();
	return ktap_end(&ktap);
}
