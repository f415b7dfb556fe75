// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: recordings of perf, from the container to records with names. Input
 * is a perf.data. Of the files that it says were mapped only /prog is there, with CODE.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kipt/libkipt.h"
#include "../kipt/offline/parallel_decode.h"
#include "input_file.h"

#define BASE	0x400000
#define PAGE	4096

/* As selftests/tool/decode_tests.sh has it at 0x401000: jnz +3; nops; jmp *rax; then what
 * leads back, calls and returns.
 */
static const uint8_t CODE[] = {
	0x75, 0x03, 0x90, 0x90, 0x90, 0xff, 0xe0, 0xcc,
	0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
	0x90, 0x90, 0xe8, 0x09, 0x00, 0x00, 0x00, 0x0f,
	0x05, 0xff, 0xd0, 0x74, 0xfe, 0xeb, 0xe1, 0xc3,
	0x75, 0xfd, 0xe8, 0xd9, 0xff, 0xff, 0xff, 0xc3,
};

/* So many addresses are named; all take long and find no more. */
#define NAMED	64

/* AddressSanitizer marks all memory of the decoder, touched or not: with 64 MiB that
 * takes nearly all time.
 */
#define MEMORY	(256U << 10)

struct jobs *__real_jobs_create(const struct kipt_flow_config *config,
				const struct kipt_code *code, u32 count);
struct jobs *__wrap_jobs_create(const struct kipt_flow_config *config,
				const struct kipt_code *code, u32 count);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Beside the program: it may be killed before it can remove one. */
static char folder[PATH_MAX + 8];

static void prog_write(void)
{
	static uint8_t file[2 * PAGE];
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_entry = BASE + PAGE, .e_phoff = sizeof(head), .e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
	};
	Elf64_Phdr load = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = PAGE,
		.p_vaddr = BASE + PAGE, .p_filesz = PAGE, .p_memsz = PAGE, .p_align = PAGE,
	};
	char path[sizeof(folder) + 8];
	int fd;

	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), &load, sizeof(load));
	memcpy(file + PAGE, CODE, sizeof(CODE));
	snprintf(path, sizeof(path), "%s/prog", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, file, sizeof(file)) != sizeof(file) || close(fd))
		abort();
}

/* No file of this computer is read, and no server is asked. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char program[PATH_MAX];

	(void)argc;
	if (!realpath((*argv)[0], program))
		abort();
	snprintf(folder, sizeof(folder), "%s.files", program);
	if (mkdir(folder, 0700) && errno != EEXIST)
		abort();
	prog_write();
	setenv("PERF_BUILDID_DIR", folder, 1);
	setenv("HOME", folder, 1);
	unsetenv("DEBUGINFOD_URLS");
	return 0;
}

struct jobs *__wrap_jobs_create(const struct kipt_flow_config *config,
				const struct kipt_code *code, u32 count)
{
	struct kipt_flow_config small = *config;

	small.memory = MEMORY;
	return __real_jobs_create(&small, code, count);
}

static bool take(void *ctx, struct libkipt *trace, const struct libkipt_record *record)
{
	struct libkipt_place place;
	uint32_t *named = ctx;

	if (record->type < LIBKIPT_BRANCH || record->type > LIBKIPT_OTHER || !record->kind)
		abort();
	if (!record->has_from || (*named)++ >= NAMED)
		return true;
	libkipt_name(trace, record->pid, record->from, &place);
	if (!place.object || (place.symbol && !*place.symbol))
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct libkipt *trace;
	uint32_t named = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", input_file(data, size));
	trace = libkipt_create();
	if (!trace)
		abort();
	libkipt_symfs(trace, folder);
	/* What failed has a sentence that says why. */
	if (!libkipt_decode(trace, path, take, &named) && !*libkipt_error(trace))
		abort();
	if (!libkipt_notes(trace))
		abort();
	libkipt_destroy(trace);
	return 0;
}
