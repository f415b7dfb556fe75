/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves snapshots from the module to a folder on disk, as a service does after
 * each event. 'kipt core' shares the folder that root saves snapshots in, and the child
 * that shows one: a snapshot that cannot be read costs that child only.
 */
#ifndef KIPT_SNAPSHOT_COLLECT_H
#define KIPT_SNAPSHOT_COLLECT_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"
#include "../cli/kipt.h"

#define COLLECT_KEEP	16
#define COLLECT_KEEP_MAX	10000
#define COLLECT_MOST	(1ULL << 30)

/**
 * struct crash_collect - what to collect, and how much of it to keep
 * @dir: the folder; made if it is missing. Nobody but its owner may write to it
 * @keep: folders of snapshots in it, at least 1; the oldest are removed
 * @most: bytes in it
 * @programs: also snapshots of programs that a signal killed
 */
struct crash_collect {
	const char *dir;
	u32 keep;
	u64 most;
	bool programs;
};

/**
 * crash_collect() - save each snapshot that the module has, and delete it there
 * @collect: what, and where to
 *
 * Each becomes a folder as of 'kipt crash show --save', with a file "report", what
 * 'kipt crash show' prints. It is on the disk before the module frees its memory;
 * one that cannot be saved stays in the module. A second call waits for the first,
 * or for Ctrl-C. A folder is called snapshot-TIME-BOOT-NUMBER, the time in UTC,
 * then the first 8 characters of the boot's ID. Only folders with such names and a
 * report are counted and removed; whatever else is in @dir remains.
 *
 * Return: true, or false after a sentence for each that could not be saved.
 */
bool crash_collect(const struct crash_collect *collect);

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
 * @seconds: of CPU time after which it is killed, or ten times as many of waiting; 0: never
 *
 * Return: true, or false if it failed, after a sentence of its or of ours; that it was killed is
 * said in @report, with @messages.
 */
bool snapshot_show(u32 id, int report, bool messages, const char *const *options,
		   unsigned int seconds);

#endif /* KIPT_SNAPSHOT_COLLECT_H */
