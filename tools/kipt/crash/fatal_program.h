/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that a signal killed, as its snapshot has it: which signal, and what
 * was mapped. Its code comes from its files, if they are still those: their build
 * ids are compared.
 */
#ifndef KIPT_FATAL_PROGRAM_H
#define KIPT_FATAL_PROGRAM_H

#include "../record/traced_command.h"
#include "../symbols/address_names.h"
#include "../symbols/process_maps.h"
#include "dump_elf_holes.h"
#include "crash_pages.h"
#include "safe_files.h"

struct crash_program;

/**
 * crash_program_read() - read what a snapshot has of a program
 * @source: the snapshot
 * @address: where its page of kind SIGNAL is
 * @id: the number that its pages share
 * @files: reads its files; must live as long
 *
 * Return: the caller's until crash_program_destroy(); NULL after a sentence.
 */
struct crash_program *crash_program_read(const struct crash_source *source,
					 u64 address, u64 id,
					 struct crash_files *files);

/**
 * crash_program_destroy() - free it
 * @program: may be NULL
 */
void crash_program_destroy(struct crash_program *program);

/**
 * crash_program_signal() - what is known of the signal
 * @program: the program
 *
 * Return: the page, the program's.
 */
const struct kipt_crash_signal *
crash_program_signal(const struct crash_program *program);

/**
 * crash_program_death() - the same for callers that report deaths
 * @program: the program
 * @death: filled; @cpu is -1
 */
void crash_program_death(const struct crash_program *program,
			 struct child_death *death);

/**
 * crash_program_core() - take code from its core dump first
 * @program: the program
 * @core: the core dump; must live as long
 * @path: its name, for a sentence
 *
 * Return: true, or false after a sentence: it is of something else.
 */
bool crash_program_core(struct crash_program *program, const struct core_file *core,
			const char *path);

/**
 * crash_program_has() - whether an address space is the program's
 * @program: the program
 * @cr3: as a PIP packet has it
 *
 * Return: true if so.
 */
bool crash_program_has(const struct crash_program *program, u64 cr3);

/**
 * crash_program_code() - copy code
 * @program: the program
 * @address: of user code
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were copied; less than @size where there is none.
 */
u32 crash_program_code(const struct crash_program *program, u64 address,
		       u8 *bytes, u32 size);

/**
 * crash_program_map() - add its mappings
 * @program: the program
 * @maps: where to; files that are others now have no folder there, so that
 *	nobody reads them
 * @names: gets its files; the program must live as long
 *
 * Notes say what is not known and which files are others.
 *
 * Return: true, or false after a sentence.
 */
bool crash_program_map(const struct crash_program *program, struct maps *maps,
		       struct names *names);

/**
 * crash_program_save() - write its code into a folder
 * @program: the program
 * @dir: the folder
 *
 * Return: true, or false after a sentence.
 */
bool crash_program_save(const struct crash_program *program, const char *dir);

#endif /* KIPT_FATAL_PROGRAM_H */
