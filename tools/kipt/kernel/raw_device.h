/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The raw trace bytes of a session from /dev/kipt.
 */
#ifndef KIPT_RAW_DEVICE_H
#define KIPT_RAW_DEVICE_H

#include "session_words.h"

#define RAW_DEVICE	"/dev/kipt"

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
