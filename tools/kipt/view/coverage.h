/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which code of which file executed, and how often: stretches of instructions that
 * follow each other in memory.
 */
#ifndef KIPT_COVERAGE_H
#define KIPT_COVERAGE_H

#include "code_files.h"
#include "code_ranges.h"

/* Bytes of a stretch, which a drcov file counts in 16 bits. */
#define COVERAGE_BYTES	65535U

/**
 * struct coverage - what executed
 * @files: of what there is
 * @ranges: stretches; after coverage_settle() their @begin is the address they were linked
 *	to have, of the kernel the address
 * @homeless: executions of stretches that are in no file
 */
struct coverage {
	struct code_files files;
	struct code_ranges ranges;
	u64 homeless;
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
