/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that is needed to decode a trace elsewhere, in one folder:
 * cpuN.pt, kernel.addr and .dump, user.addr and .dump, kallsyms, maps,
 * meta.json.
 */
#ifndef KIPT_SAVE_DIR_H
#define KIPT_SAVE_DIR_H

#include <sys/types.h>

#include "../kernel/session_words.h"
#include "../symbols/process_maps.h"

/**
 * save_clear() - remove what an earlier run saved, before another one is saved there
 * @dir: the folder; without a meta.json of kipt nothing is removed
 *
 * Return: true, or false after a sentence.
 */
bool save_clear(const char *dir);

/**
 * struct saved_user - executable memory of a process, held in memory so that
 *	little is executed while tracing is on
 * @pid: the process
 * @addresses: of its pages
 * @pages: PAGE_BYTES for each
 * @count: how many
 * @room: how many there is memory for
 * @next: another process
 */
struct saved_user {
	pid_t pid;
	u64 *addresses;
	u8 *pages;
	size_t count, room;
	struct saved_user *next;
};

/**
 * save_user_read() - copy the executable memory of a process
 * @list: where it is added; what was copied of the process before is dropped
 * @maps: where its mappings are
 * @tid: a task of it that is held, or that is this one
 * @pid: the process
 *
 * Return: true, or false after a sentence.
 */
bool save_user_read(struct saved_user **list, const struct maps *maps,
		    pid_t tid, pid_t pid);

/**
 * save_user_write() - write what was copied
 * @list: what
 * @dir: the folder
 * @main: the process that is written as user.addr; others as user-PID.addr
 *
 * Return: true, or false after a sentence.
 */
bool save_user_write(const struct saved_user *list, const char *dir,
		     pid_t main);

/**
 * save_user_free() - free what was copied
 * @list: what
 */
void save_user_free(struct saved_user **list);

/**
 * save_kernel() - write the text of kernel and modules, and kallsyms
 * @dir: the folder
 *
 * Return: true, or false after a sentence.
 */
bool save_kernel(const char *dir);

/**
 * save_kcore() - write what perf record --kcore keeps of the kernel: kcore with its text
 *	and that of modules, kallsyms and modules
 * @dir: the folder
 *
 * Return: true, or false after a sentence.
 */
bool save_kcore(const char *dir);

/**
 * save_meta() - write meta.json
 * @dir: the folder
 * @info: capabilities of the CPUs
 * @session: the session
 * @argv: the command, or NULL
 *
 * Return: true, or false after a sentence.
 */
bool save_meta(const char *dir, const struct kipt_info *info,
	       const struct kipt_session *session, char *const *argv);

#endif /* KIPT_SAVE_DIR_H */
