/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives a session the files that the code of processes was mapped from, for the
 * kernel to decode with: also of programs that have ended.
 */
#ifndef KIPT_CODE_IMAGES_H
#define KIPT_CODE_IMAGES_H

#include "../kernel/session_words.h"

/**
 * code_images_give() - give a session what a recording says was mapped
 * @path: a recording of perf, or of perf_recording_maps()
 * @session: as reported by the kernel, stopped
 *
 * A recording that has no times, or of which perf lost events, says nothing for
 * certain: then a note says that code is missing.
 *
 * Return: true, or false after a sentence: it cannot be read, this is a PID namespace
 * with numbers of its own, or the kernel refuses it. What the session had before, it
 * has still.
 */
bool code_images_give(const char *path, const struct kipt_session *session);

#endif /* KIPT_CODE_IMAGES_H */
