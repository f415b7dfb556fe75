/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of its own for a library that reads what others chose: what a file
 * makes of the library is that process's end, and a sentence. It is asked by
 * messages, one at a time, and may answer anything: the length of a message is
 * checked here, what is in it by who asked.
 */
#ifndef KIPT_CHILD_PROCESS_H
#define KIPT_CHILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../../../kmod/decode/port.h"

/* As much as a socket of this kind takes in one message, whatever its limit. */
#define HELPER_BYTES	(64U << 10)

/**
 * struct helper_message - a question, or the answer to it
 * @what: the asker's own
 * @size: how many of @bytes there are
 * @number: the asker's own
 * @begin: the asker's own
 * @end: the asker's own
 * @bytes: the asker's own
 */
struct helper_message {
	u32 what;
	u32 size;
	u64 number;
	u64 begin;
	u64 end;
	u8 bytes[HELPER_BYTES];
};

/**
 * struct helper - a process that is asked
 * @pid: the process; 0: there is none, or it ended
 * @channel: to it
 * @seconds: so long it may use the CPU for one question
 * @wait_ms: so long it may still let wait, for this question and all others, what
 *	takes no tenth of a second not counted
 * @late: it let wait longer
 * @status: how it ended, as waitpid() has it; 0: it was ended, or nobody knows
 * @message: the question, then its answer
 */
struct helper {
	pid_t pid;
	int channel;
	u32 seconds;
	u32 wait_ms;
	bool late;
	int status;
	struct helper_message message;
};

/**
 * struct helper_work - what it does, and with what
 * @serve: in the process: makes the answer out of the question in its place
 * @ctx: its first argument
 * @fd: a descriptor that it keeps besides 0, 1 and 2, which lead nowhere; -1: none
 * @memory: bytes of address space it may have
 */
struct helper_work {
	void (*serve)(void *ctx, struct helper_message *message);
	void *ctx;
	int fd;
	u64 memory;
};

/**
 * helper_start() - start it
 * @helper: @seconds and @wait_ms are set, the rest is zero
 * @work: what it does
 *
 * It has a copy of this process's memory, writes no file, gets no new rights, and
 * ends with this process.
 *
 * Return: true, or false with errno.
 */
bool helper_start(struct helper *helper, const struct helper_work *work);

/**
 * helper_become() - in the process: be another user
 * @uid: the user
 * @gid: the only group
 *
 * Afterwards it has no capability, also as root, and the user cannot trace it.
 *
 * Return: true; false: it is somebody else still.
 */
bool helper_become(uid_t uid, gid_t gid);

/**
 * helper_ask() - send the message, wait for the answer
 * @helper: was started, or all zero
 *
 * Who gives no answer in time is ended; so is one that is waited for when the
 * user presses Ctrl-C.
 *
 * Return: true if there is an answer; its @size fits.
 */
bool helper_ask(struct helper *helper);

/**
 * helper_text() - take a text out of an answer
 * @answer: nothing in its @bytes is believed
 * @text: filled, with what a terminal may show
 * @size: its bytes
 *
 * Return: true, or false if there is none.
 */
bool helper_text(const struct helper_message *answer, char *text, size_t size);

/**
 * helper_fate() - why there is no answer
 * @helper: did not answer
 * @text: gets what is said of it: "was ended by a signal (Aborted)"
 * @size: its bytes
 *
 * Return: @text.
 */
const char *helper_fate(const struct helper *helper, char *text, size_t size);

/**
 * helper_end() - end it
 * @helper: was started, or all zero; ended already is fine
 */
void helper_end(struct helper *helper);

#endif /* KIPT_CHILD_PROCESS_H */
