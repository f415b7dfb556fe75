/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The raw trace bytes of a session from /dev/kipt.
 */
#ifndef KIPT_RAW_DEVICE_H
#define KIPT_RAW_DEVICE_H

#include "session_words.h"

#define RAW_DEVICE	"/dev/kipt"

/**
 * struct raw_taker - who takes raw trace; each returns false after a sentence
 * @begin: the trace of a CPU follows, @size bytes of it, the first at @offset in all
 *	that was traced there
 * @take: gets them, oldest byte first, some at a time
 * @end: those were all; not called after one of the others returned false
 * @ctx: first argument of all three
 */
struct raw_taker {
	bool (*begin)(void *ctx, u32 cpu, u64 offset, u64 size);
	bool (*take)(void *ctx, const u8 *bytes, u64 size);
	bool (*end)(void *ctx, u32 cpu);
	void *ctx;
};

/**
 * raw_open() - open the device for a session
 * @session: as reported by the kernel, set up
 *
 * Return: a descriptor that is attached to its first CPU, or -1 after a sentence.
 */
int raw_open(const struct kipt_session *session);

/**
 * raw_take() - give the trace of each CPU to somebody
 * @session: as reported by the kernel, stopped
 * @cpu: only this CPU, or -1
 * @taker: who
 *
 * Return: true, or false after a sentence; the traces of other CPUs than the one that
 * failed were given.
 */
bool raw_take(const struct kipt_session *session, int cpu,
	      const struct raw_taker *taker);

/**
 * raw_save() - write the trace of each CPU to DIR/cpuN.pt, oldest byte first
 * @session: as reported by the kernel, stopped
 * @cpu: only this CPU, or -1
 * @dir: is made if it does not exist
 *
 * Return: true, or false after a sentence.
 */
bool raw_save(const struct kipt_session *session, int cpu, const char *dir);

#endif /* KIPT_RAW_DEVICE_H */
