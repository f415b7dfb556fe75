/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A copy of /proc/kcore that has the text of kernel and modules only, as perf record
 * --kcore makes it.
 */
#ifndef KIPT_KCORE_COPY_H
#define KIPT_KCORE_COPY_H

#include <stdbool.h>

/**
 * kcore_copy() - write it, an ELF core file
 * @kallsyms: as for kcore_text()
 * @path: of the file, which is made, or emptied
 *
 * Return: true, or false after a sentence, or without one after Ctrl-C, see
 * progress_interrupted(); what was written of the file is left.
 */
bool kcore_copy(const char *kallsyms, const char *path);

#endif /* KIPT_KCORE_COPY_H */
