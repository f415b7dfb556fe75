// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs of a recording, see perf_bpf.h. Each is a head, a struct bpf_prog_info
 * of the size that perf was built with, and data, where its arrays are: what are
 * pointers in the kernel's answer are offsets there.
 */
#include <errno.h>
#include <stdlib.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "perf_bpf.h"
#include "perf_bytes.h"

/* The head: size of the structure, of the data, and which arrays there are. */
#define HEAD		16
#define HEAD_INFO	0
#define HEAD_DATA	4
#define HEAD_ARRAYS	8
#define HAS_INSNS	(1ULL << 0)
#define HAS_KSYMS	(1ULL << 3)
#define HAS_LENGTHS	(1ULL << 4)
#define HAS_TAGS	(1ULL << 8)

/* Where members of struct bpf_prog_info are. */
enum {
	INFO_ID = 4,
	INFO_TAG = 8,
	INFO_CODE_SIZE = 16,
	INFO_CODE = 24,
	INFO_KSYM_COUNT = 104,
	INFO_LENGTH_COUNT = 108,
	INFO_KSYMS = 112,
	INFO_LENGTHS = 120,
	INFO_TAG_COUNT = 180,
	INFO_TAGS = 184,
	/* Without what came later. */
	INFO_LEAST = 128,
	INFO_WITH_TAGS = 192,
};

#define INFO_MOST	4096
/* The kernel has 256 functions in a program at most. */
#define FUNCTIONS_MOST	1024
#define BYTES_MOST	(256ULL << 20)
/* Functions of all programs; a file that is damaged may have more. */
#define SORTED_MOST	(1U << 20)
/* One loaded as the recording began has two events. */
#define ASKED_MOST	4

/* Pointers are into a block. @tags: NULL: there is one function, with @tag. */
struct perf_bpf_program {
	u32 id;
	u32 functions;
	const u8 *tag;
	const u8 *tags;
	const u8 *addresses;
	const u8 *lengths;
	const u8 *code;
	u32 code_size;
	bool several;
	u8 asked;
};

/* A program while it is taken apart. */
struct info {
	const u8 *bytes;
	u32 size;
	const u8 *data;
	u32 data_size;
	u64 arrays;
};

/* An array of the data; NULL if it is not there. */
static const u8 *array_get(const struct info *info, u64 has, u32 member,
			   u64 count, u32 each)
{
	u64 at = get64(info->bytes + member);

	if (!(info->arrays & has) || at > info->data_size ||
	    count * each > info->data_size - at)
		return NULL;
	return info->data + at;
}

/* Where each function is, and whether they are all of the code. */
static bool functions_find(struct perf_bpf_program *program,
			   const struct info *info)
{
	u32 count = get32(info->bytes + INFO_KSYM_COUNT), i;
	u64 size = 0;

	if (!count || count > FUNCTIONS_MOST ||
	    count != get32(info->bytes + INFO_LENGTH_COUNT))
		return false;
	program->functions = count;
	program->addresses = array_get(info, HAS_KSYMS, INFO_KSYMS, count, 8);
	program->lengths = array_get(info, HAS_LENGTHS, INFO_LENGTHS, count, 4);
	if (!program->addresses || !program->lengths)
		return false;
	for (i = 0; i < count; i++)
		size += get32(program->lengths + 4 * i);
	return size == program->code_size;
}

static bool tags_find(struct perf_bpf_program *program, const struct info *info)
{
	program->tag = info->bytes + INFO_TAG;
	if (info->size >= INFO_WITH_TAGS && info->arrays & HAS_TAGS &&
	    get32(info->bytes + INFO_TAG_COUNT) == program->functions)
		program->tags = array_get(info, HAS_TAGS, INFO_TAGS,
					  program->functions, PERF_BPF_TAG);
	return program->tags || program->functions == 1;
}

/* Returns false if no code of it can be had. */
static bool program_find(struct perf_bpf_program *program,
			 const struct info *info)
{
	*program = (struct perf_bpf_program){ 0 };
	if (info->size < INFO_LEAST)
		return false;
	program->id = get32(info->bytes + INFO_ID);
	program->code_size = get32(info->bytes + INFO_CODE_SIZE);
	program->code = array_get(info, HAS_INSNS, INFO_CODE,
				  program->code_size, 1);
	return program->code && program->code_size &&
	       functions_find(program, info) && tags_find(program, info);
}

static bool program_add(struct perf_bpf *bpf,
			const struct perf_bpf_program *program)
{
	struct perf_bpf_program *list = list_room(bpf->programs, bpf->count,
						  sizeof(*list));

	if (!list)
		return false;
	bpf->programs = list;
	list[bpf->count++] = *program;
	bpf->sorted = false;
	return true;
}

/* Returns its bytes, or 0: it is cut, or makes no sense. */
static u64 info_find(struct info *info, const u8 *bytes, u64 size)
{
	if (size < HEAD)
		return 0;
	info->size = get32(bytes + HEAD_INFO);
	info->data_size = get32(bytes + HEAD_DATA);
	info->arrays = get64(bytes + HEAD_ARRAYS);
	if (info->size > INFO_MOST || info->size > size - HEAD ||
	    info->data_size > size - HEAD - info->size)
		return 0;
	info->bytes = bytes + HEAD;
	info->data = info->bytes + info->size;
	return HEAD + (u64)info->size + info->data_size;
}

static bool programs_find(struct perf_bpf *bpf, const u8 *bytes, u64 size)
{
	u32 count = size < 4 ? 0 : get32(bytes);
	struct perf_bpf_program program;
	u64 at = 4, each;
	struct info info;

	for (; count && at < size; count--, at += each) {
		each = info_find(&info, bytes + at, size - at);
		if (!each)
			break;
		if (program_find(&program, &info) &&
		    !program_add(bpf, &program))
			return false;
	}
	return true;
}

/* The block is owned from now on, also without memory for it. */
static bool block_add(struct perf_bpf *bpf, u8 *block, u64 size)
{
	u8 **blocks = list_room(bpf->blocks, bpf->block_count, sizeof(*blocks));

	if (!blocks) {
		free(block);
		return false;
	}
	bpf->blocks = blocks;
	blocks[bpf->block_count++] = block;
	return programs_find(bpf, block, size);
}

bool perf_bpf_take(struct perf_bpf *bpf, const u8 *bytes, u64 size)
{
	u8 *block = malloc(size ? size : 1);

	if (!block)
		return false;
	memcpy(block, bytes, size);
	return block_add(bpf, block, size);
}

bool perf_bpf_load(struct perf_bpf *bpf, const struct perf_file *file)
{
	u64 at, size;
	u8 *block;

	if (!perf_file_bpf(file, &at, &size))
		return true;
	if (size > BYTES_MOST) {
		say_note("%s: it has %llu MiB of BPF programs, which kipt does not read",
			 perf_file_path(file), (unsigned long long)size >> 20);
		return true;
	}
	block = malloc(size ? size : 1);
	if (block && !perf_file_read(file, at, block, size)) {
		free(block);
		return false;
	}
	if (block && block_add(bpf, block, size))
		return true;
	say_errno(ENOMEM, "cannot hold the BPF programs of %s",
		  perf_file_path(file));
	return false;
}

static int program_compare(const void *left, const void *right)
{
	const struct perf_bpf_program *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* Of several that have one number nobody knows which is meant. */
static void programs_sort(struct perf_bpf *bpf)
{
	size_t i;

	if (bpf->sorted || !bpf->count)
		return;
	qsort(bpf->programs, bpf->count, sizeof(*bpf->programs),
	      program_compare);
	for (i = 1; i < bpf->count; i++) {
		if (bpf->programs[i].id != bpf->programs[i - 1].id)
			continue;
		bpf->programs[i].several = true;
		bpf->programs[i - 1].several = true;
	}
	bpf->sorted = true;
}

/* Of functions in order: @code has the one before, but for the first. All of them together
 * are the program's code, so none is beyond it.
 */
static void function_get(const struct perf_bpf_program *program, u32 index,
			 struct perf_bpf_code *code)
{
	const u8 *bytes = index ? code->bytes + code->size : program->code;

	*code = (struct perf_bpf_code){
		.address = get64(program->addresses + 8 * index),
		.bytes = bytes,
		.size = get32(program->lengths + 4 * index),
		.tag = program->tags ? program->tags + PERF_BPF_TAG * index : program->tag,
	};
}

bool perf_bpf_code(struct perf_bpf *bpf, u32 id, const u8 *tag, u32 index,
		   struct perf_bpf_code *code)
{
	const struct perf_bpf_program key = { .id = id };
	struct perf_bpf_program *found;

	programs_sort(bpf);
	found = bpf->count ? bsearch(&key, bpf->programs, bpf->count,
				     sizeof(key), program_compare) : NULL;
	if (!found || found->several || index >= found->functions ||
	    memcmp(found->tag, tag, PERF_BPF_TAG) || found->asked > ASKED_MOST ||
	    (!index && ++found->asked > ASKED_MOST))
		return false;
	function_get(found, index, code);
	return true;
}

static int function_compare(const void *left, const void *right)
{
	const struct perf_bpf_code *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->size < b->size ? -1 : a->size > b->size;
}

static bool functions_sort(struct perf_bpf *bpf)
{
	struct perf_bpf_code each, *next;
	size_t count = 0, i;
	u32 k;

	if (bpf->functions)
		return true;
	for (i = 0; i < bpf->count; i++)
		count += bpf->programs[i].functions;
	if (!count || count > SORTED_MOST)
		return false;
	bpf->functions = next = calloc(count, sizeof(*bpf->functions));
	if (!next)
		return false;
	for (i = 0; i < bpf->count; i++) {
		for (k = 0; k < bpf->programs[i].functions; k++) {
			function_get(&bpf->programs[i], k, &each);
			*next++ = each;
		}
	}
	qsort(bpf->functions, count, sizeof(*bpf->functions), function_compare);
	bpf->function_count = count;
	return true;
}

bool perf_bpf_find(struct perf_bpf *bpf, u64 address, u32 size, struct perf_bpf_code *code)
{
	const struct perf_bpf_code key = { .address = address, .size = size };
	const struct perf_bpf_code *found, *end;

	if (!functions_sort(bpf))
		return false;
	end = bpf->functions + bpf->function_count;
	found = bsearch(&key, bpf->functions, bpf->function_count, sizeof(key),
			function_compare);
	if (!found || (found > bpf->functions && !function_compare(found - 1, &key)) ||
	    (found + 1 < end && !function_compare(found + 1, &key)))
		return false;
	*code = *found;
	return true;
}

void perf_bpf_free(struct perf_bpf *bpf)
{
	size_t i;

	for (i = 0; i < bpf->block_count; i++)
		free(bpf->blocks[i]);
	free(bpf->blocks);
	free(bpf->programs);
	free(bpf->functions);
	*bpf = (struct perf_bpf){ 0 };
}
