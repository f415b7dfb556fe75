/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that reads files of a program that was killed: what safe_files.c
 * asks, and what it is answered.
 */
#ifndef KIPT_NAMED_FILES_H
#define KIPT_NAMED_FILES_H

#include "../cli/child_process.h"
#include "../symbols/elf_symbols.h"

/* Others are not looked at: descriptors have an end. */
#define CRASH_FILES_MAX		512

/**
 * enum crash_ask - helper_message.what; @number is a file's but for the first
 * @CRASH_ASK_BECOME: be user @begin with group @end; @number: 1 if so
 * @CRASH_ASK_OPEN: @bytes is the path, with its 0; answered by its build id, of
 *	which @size is 0 if it has none
 * @CRASH_ASK_READ: @begin to @end of the file; answered by @bytes
 * @CRASH_ASK_SYMBOLS: answered by struct elf_file, and from number @begin on by
 *	some of its symbols, see symbols_put()
 * @CRASH_ASK_SOURCE: answered by the line of offset @begin, with its 0, if it is
 *	known
 */
enum crash_ask {
	CRASH_ASK_BECOME,
	CRASH_ASK_OPEN,
	CRASH_ASK_READ,
	CRASH_ASK_SYMBOLS,
	CRASH_ASK_SOURCE,
};

struct crash_reader;

/**
 * crash_reader_create() - what the process needs
 *
 * Return: for crash_reader_serve(), free() ends it; NULL without memory.
 */
struct crash_reader *crash_reader_create(void);

/**
 * crash_reader_serve() - answer one question
 * @ctx: struct crash_reader
 * @message: the question, then its answer
 */
void crash_reader_serve(void *ctx, struct helper_message *message);

#endif /* KIPT_NAMED_FILES_H */
