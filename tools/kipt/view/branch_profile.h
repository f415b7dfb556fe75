/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Taken branches of files and the code that ran between them, for tools that lay out
 * code by how often it ran.
 */
#ifndef KIPT_BRANCH_PROFILE_H
#define KIPT_BRANCH_PROFILE_H

#include "../symbols/build_id.h"
#include "code_files.h"
#include "code_ranges.h"

/**
 * enum branch_sort - what a &struct code_range counts
 * @BRANCH_RANGE: code ran from @begin, where a branch led, up to the next taken branch,
 *	which is @size bytes further
 * @BRANCH_RETURN_RANGE: the same, and that branch was a return
 * @BRANCH_WITHIN: a branch at @begin to @size bytes further, a s32
 * @BRANCH_INTO: a branch to @begin from outside the file
 * @BRANCH_OUT: a branch at @begin out of the file
 */
enum branch_sort {
	BRANCH_RANGE = 0,
	BRANCH_RETURN_RANGE,
	BRANCH_WITHIN,
	BRANCH_INTO,
	BRANCH_OUT,
};

/**
 * struct branch_object - a file, or several that are the same
 * @has_id: its build id is known, and no other file that has it is laid out differently
 * @id: then that
 * @of: number of the first file with this build id
 */
struct branch_object {
	bool has_id;
	struct build_id id;
	u32 of;
};

/**
 * struct branch_profile - counts
 * @files: of what there is
 * @ranges: by enum branch_sort; offsets in the file
 * @objects: after branch_profile_settle(): of each file
 * @homeless: branches and ranges that are in no file, or in what it does not load
 * @nameless: those of files of which &branch_object.has_id is false
 */
struct branch_profile {
	struct code_files files;
	struct code_ranges ranges;
	struct branch_object *objects;
	u64 homeless, nameless;
};

/**
 * branch_profile_create() - nothing ran yet
 *
 * Return: the caller's until branch_profile_destroy(); NULL without memory.
 */
struct branch_profile *branch_profile_create(void);

/**
 * branch_profile_destroy() - free it
 * @profile: may be NULL
 */
void branch_profile_destroy(struct branch_profile *profile);

/**
 * branch_profile_branch() - a branch was taken
 * @profile: where to; code of the kernel is outside
 * @names: know which files the ends are of
 * @pid: whose they are; 0: not known
 * @from: address of the branch
 * @to: where it led
 */
void branch_profile_branch(struct branch_profile *profile, struct names *names, u32 pid,
			   u64 from, u64 to);

/**
 * branch_profile_range() - code ran with no taken branch within
 * @profile: where to; code of the kernel is left out
 * @names: know which file it is of
 * @pid: whose it is; 0: not known
 * @begin: where the branch before led
 * @end: address of the branch that ended it; what is not in one mapping with @begin is
 *	left out
 * @returned: the branch before was a return
 */
void branch_profile_range(struct branch_profile *profile, struct names *names, u32 pid,
			  u64 begin, u64 end, bool returned);

/**
 * branch_profile_settle() - no more will come
 * @profile: its ranges are a list in order afterwards, with the counts of all files of a
 *	build id at the first of them, and without those of files that have none
 * @names: know where the kernel is
 *
 * Return: true, or false without memory.
 */
bool branch_profile_settle(struct branch_profile *profile, struct names *names);

/**
 * branch_profile_open() - is there a folder for files that are made later
 * @option: of which
 * @out: as branch_profile_write() has it
 *
 * Return: true, or false after a sentence.
 */
bool branch_profile_open(const char *option, const char *out);

/**
 * struct profile_form - a form of file
 * @option: of which
 * @begins: what a file of this form may begin with; another file that is there is not
 *	replaced
 * @write: writes the @count ranges of one file, which was linked as @layout has it
 */
struct profile_form {
	const char *option;
	const char *begins;
	void (*write)(const struct code_range *ranges, size_t count,
		      const struct file_layout *layout, FILE *file);
};

/* As perf2bolt -pa, and as create_llvm_prof --profiler=text reads it. */
extern const struct profile_form bolt_form, autofdo_form;

/**
 * branch_profile_write() - write a file for each build id
 * @profile: was settled
 * @out: what its path begins with; a folder: where it is
 * @form: of the files
 *
 * A note says of each file which code it is of.
 *
 * Return: true, or false after a sentence.
 */
bool branch_profile_write(const struct branch_profile *profile, const char *out,
			  const struct profile_form *form);

#endif /* KIPT_BRANCH_PROFILE_H */
