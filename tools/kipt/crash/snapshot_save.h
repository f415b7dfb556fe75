/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What 'kipt crash collect' and 'kipt core' share: the folder that root saves snapshots in,
 * and the child that shows one. A snapshot that cannot be read costs that child only.
 */
#ifndef KIPT_SNAPSHOT_SAVE_H
#define KIPT_SNAPSHOT_SAVE_H

#include <stdbool.h>

#include "../cli/kipt.h"

/**
 * snapshot_folder_open() - make a folder, and open it
 * @dir: its name; may exist if this user has it and nobody else may write to it
 * @mode: the permissions that a sentence recommends, such as 0700; umask() has them so for
 *	a folder that is made
 *
 * Return: a descriptor, the caller's; -1 after a sentence.
 */
int snapshot_folder_open(const char *dir, unsigned int mode);

/* Options that a caller may have 'kipt crash show' run with. */
#define SNAPSHOT_OPTIONS_MAX	8

/**
 * snapshot_show() - run 'kipt crash show'
 * @id: number of the snapshot
 * @report: gets its standard output
 * @messages: gets its messages, too
 * @options: of it, the last one NULL; SNAPSHOT_OPTIONS_MAX at most
 * @seconds: after which it is killed; 0: never
 *
 * Return: true, or false if it failed, after a sentence of its or of ours.
 */
bool snapshot_show(u32 id, int report, bool messages, const char *const *options,
		   unsigned int seconds);

#endif /* KIPT_SNAPSHOT_SAVE_H */
