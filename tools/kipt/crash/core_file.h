/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a program out of the core dump that the kernel wrote of it: code that no file
 * has, as what was compiled at run time. A core dump may be cut or made up.
 */
#ifndef KIPT_CORE_FILE_H
#define KIPT_CORE_FILE_H

#include <stdbool.h>

#include "../cli/kipt.h"

struct core_file;

/**
 * core_file_open() - read the head of a core dump
 * @path: an ELF file of a 64-bit program
 *
 * Return: the caller's until core_file_close(); NULL after a sentence.
 */
struct core_file *core_file_open(const char *path);

/**
 * core_file_close() - close it
 * @core: may be NULL
 */
void core_file_close(struct core_file *core);

/**
 * core_file_is_of() - whether it is of the program that a signal killed
 * @core: the core dump
 * @signal: number of the signal
 * @ip: where its thread was, which is the first in a core dump
 * @sp: its stack pointer; NULL: it is not known
 *
 * Return: true if so.
 */
bool core_file_is_of(const struct core_file *core, u32 signal, u64 ip, const u64 *sp);

/**
 * core_file_read() - copy memory
 * @core: may be NULL, which has none
 * @address: in the program
 * @bytes: filled
 * @size: how many are wanted
 *
 * Return: how many were copied; less than @size where the core dump has no more.
 */
u32 core_file_read(const struct core_file *core, u64 address, u8 *bytes, u32 size);

#endif /* KIPT_CORE_FILE_H */
