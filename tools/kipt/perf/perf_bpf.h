/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Machine code of BPF programs, as a recording of perf has it: struct bpf_prog_info of
 * the kernel, and the arrays it points to. Nothing in it is believed.
 */
#ifndef KIPT_PERF_BPF_H
#define KIPT_PERF_BPF_H

#include "perf_file.h"

#define PERF_BPF_TAG	8

/**
 * struct perf_bpf_code - a function of a program
 * @address: where it was
 * @bytes: its code, of the programs
 * @size: how many
 * @tag: its tag, which its name has, of the programs
 */
struct perf_bpf_code {
	u64 address;
	const u8 *bytes;
	u32 size;
	const u8 *tag;
};

struct perf_bpf_program;

/**
 * struct perf_bpf - all programs of a recording; empty if all zero
 * @blocks: bytes that came from the recording, owned
 * @block_count: how many
 * @programs: owned
 * @count: how many
 * @sorted: @programs are in order
 * @functions: of all programs, by address and size, owned; NULL until they are wanted
 * @function_count: how many
 */
struct perf_bpf {
	u8 **blocks;
	size_t block_count;
	struct perf_bpf_program *programs;
	size_t count;
	bool sorted;
	struct perf_bpf_code *functions;
	size_t function_count;
};

/**
 * perf_bpf_take() - learn programs
 * @bpf: where to
 * @bytes: as the recording lists them, from their number on; copied
 * @size: how many bytes
 *
 * What makes no sense is left out, and all that comes after it.
 *
 * Return: true, or false without memory.
 */
bool perf_bpf_take(struct perf_bpf *bpf, const u8 *bytes, u64 size);

/**
 * perf_bpf_load() - learn the programs that a file lists
 * @bpf: where to
 * @file: the recording
 *
 * Return: true, or false after a sentence: no memory, or it cannot be read.
 */
bool perf_bpf_load(struct perf_bpf *bpf, const struct perf_file *file);

/**
 * perf_bpf_code() - a function of a program
 * @bpf: all programs were taken
 * @id: the kernel's number of the program
 * @tag: PERF_BPF_TAG bytes, as the event of its load has them
 * @index: which function: 0 at first, then one after the other
 * @code: filled on success; valid until perf_bpf_free(). With an @index above 0 it is
 *	the function before
 *
 * Return: false if there are not so many, or the program is not known, or there are
 * several of its number, or it was asked for more than four times.
 */
bool perf_bpf_code(struct perf_bpf *bpf, u32 id, const u8 *tag, u32 index,
		   struct perf_bpf_code *code);

/**
 * perf_bpf_find() - a function by where it was
 * @bpf: all programs were taken
 * @address: its first address
 * @size: its bytes
 * @code: filled on success; valid until perf_bpf_free()
 *
 * Return: false if there is none, or there are several, or no memory, or a million in all.
 */
bool perf_bpf_find(struct perf_bpf *bpf, u64 address, u32 size, struct perf_bpf_code *code);

/**
 * perf_bpf_free() - free it
 * @bpf: may be empty
 */
void perf_bpf_free(struct perf_bpf *bpf);

#endif /* KIPT_PERF_BPF_H */
