/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many files this process may have open: perf needs one for each CPU.
 */
#ifndef KIPT_OPEN_FILES_H
#define KIPT_OPEN_FILES_H

/**
 * open_files_raise() - as many as can be had: the soft limit becomes the hard one
 */
void open_files_raise(void);

/**
 * open_files_restore() - as many as before, for a command that is about to run
 */
void open_files_restore(void);

#endif /* KIPT_OPEN_FILES_H */
