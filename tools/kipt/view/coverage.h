/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code of which file executed, and how often: stretches of instructions that
 * follow each other in memory.
 */
#ifndef KIPT_COVERAGE_H
#define KIPT_COVERAGE_H

#include "../cli/text_list.h"
#include "../symbols/address_names.h"
#include "../symbols/file_layout.h"

/* As many as a drcov file can number. */
#define COVERAGE_FILES	65536U
/* Bytes of a stretch, which a drcov file counts in 16 bits. */
#define COVERAGE_BYTES	65535U

/**
 * struct coverage_file - a file, the kernel or a module of it
 * @called: its path where it was mapped, or the name of the kernel's module
 * @kernel: it is one of the kernel's
 * @address: one address it had first, and
 * @offset: of that in the file, as &struct coverage_range has it
 * @layout: with coverage_settle(): how it was linked
 */
struct coverage_file {
	char *called;
	bool kernel;
	u64 address;
	u64 offset;
	struct file_layout layout;
};

/**
 * struct coverage_range - a stretch
 * @begin: offset in the file, after coverage_settle() the address it was linked to have;
 *	of the kernel the address
 * @count: how often it executed; 0: no stretch
 * @size: its bytes
 * @file: number of its file
 */
struct coverage_range {
	u64 begin;
	u64 count;
	u32 size;
	u32 file;
};

/**
 * struct coverage - what executed
 * @paths: where files can be read; of the kernel's, their names
 * @files: as many
 * @ranges: an open hash table, at most half full; after coverage_settle() a list by
 *	file, begin and size
 * @room: of the table
 * @count: stretches in it
 * @homeless: executions of stretches that are in no file
 * @dropped: executions of stretches for which there was no room
 * @recent: where addresses were found to be, as coverage.c has them
 */
struct coverage {
	struct text_list paths;
	struct coverage_file *files;
	struct coverage_range *ranges;
	size_t room, count;
	u64 homeless, dropped;
	struct coverage_recent *recent;
};

/**
 * coverage_create() - nothing executed yet
 *
 * Return: the caller's until coverage_destroy(); NULL without memory.
 */
struct coverage *coverage_create(void);

/**
 * coverage_destroy() - free it
 * @coverage: may be NULL
 */
void coverage_destroy(struct coverage *coverage);

/**
 * coverage_add() - a stretch executed
 * @coverage: where to
 * @names: know which file it is of
 * @pid: whose it is; 0: not known
 * @begin: its first address
 * @end: its end
 */
void coverage_add(struct coverage *coverage, struct names *names, u32 pid, u64 begin,
		  u64 end);

/**
 * coverage_settle() - no more will come
 * @coverage: its list is in order afterwards
 * @names: know where the kernel is
 */
void coverage_settle(struct coverage *coverage, struct names *names);

struct fresh_file;

/**
 * drcov_write() - write it as drcov does
 * @coverage: was settled
 * @file: where to; nothing was written yet
 *
 * Return: true, or false after a sentence if there is nothing to write.
 */
bool drcov_write(const struct coverage *coverage, struct fresh_file *file);

/**
 * lcov_write() - write it as lcov has it, by lines of source code
 * @coverage: was settled
 * @places: where debug files are
 * @file: where to; nothing was written yet
 *
 * Return: true, or false after a sentence if there is nothing to write.
 */
bool lcov_write(const struct coverage *coverage, const struct debug_places *places,
		struct fresh_file *file);

#endif /* KIPT_COVERAGE_H */
