/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dumps that libkdumpfile reads: makedumpfile's compressed format, diskdump and
 * others. The library is not made for damaged files: dump_file.c has this in
 * a process of its own, and asks it.
 */
#ifndef KIPT_DUMP_LIBRARY_H
#define KIPT_DUMP_LIBRARY_H

#include "../cli/child_process.h"

/* Pages of one question. */
#define DUMP_BATCH	16U

/**
 * enum dump_ask - helper_message.what; pages have numbers, by physical addresses
 * @DUMP_ASK_OPEN: the first question. @number of the answer: 1, and @end is the
 *	page after the last, 0 if unknown, @bytes VMCOREINFO with its 0, if there
 *	is any; or 0, and @bytes says why
 * @DUMP_ASK_READ: pages @begin to @end, up to DUMP_BATCH. @number of the answer: a
 *	bit for each that is there, in its place in @bytes; @begin: the page from
 *	which on nothing can be read, ~0 if there is none; @end: how many were
 *	damaged so far
 * @DUMP_ASK_NEXT: the first pages in a row that are in the file, from @begin on.
 *	@number of the answer: 1, and they are @begin to @end; or 0
 */
enum dump_ask {
	DUMP_ASK_OPEN,
	DUMP_ASK_READ,
	DUMP_ASK_NEXT,
};

/**
 * dump_library_serve() - answer one question
 * @fd: of the dump, an int
 * @message: the question, then its answer
 */
void dump_library_serve(void *fd, struct helper_message *message);

#endif /* KIPT_DUMP_LIBRARY_H */
