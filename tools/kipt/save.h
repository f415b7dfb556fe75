/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that is needed to decode a trace elsewhere, in one folder:
 * cpuN.pt, kernel.addr and .dump, user.addr and .dump, kallsyms, maps,
 * meta.json.
 */
#ifndef KIPT_SAVE_H
#define KIPT_SAVE_H

#include <sys/types.h>

#include "maps.h"
#include "session.h"

/**
 * save_folder() - make the folder
 * @dir: its name; may exist
 *
 * Return: true, or false after a sentence.
 */
bool save_folder(const char *dir);

/**
 * save_user() - write the executable memory of a process
 * @dir: the folder
 * @maps: where its mappings are
 * @tid: a task of it that is held
 * @pid: the process
 * @main: it is the command itself: user.addr; else user-PID.addr
 *
 * Return: true, or false after a sentence.
 */
bool save_user(const char *dir, const struct maps *maps, pid_t tid, pid_t pid,
	       bool main);

/**
 * save_kernel() - write the text of kernel and modules, and kallsyms
 * @dir: the folder
 *
 * Return: true, or false after a sentence.
 */
bool save_kernel(const char *dir);

/**
 * save_meta() - write meta.json
 * @dir: the folder
 * @info: capabilities of the CPUs
 * @session: the session
 * @argv: the command
 *
 * Return: true, or false after a sentence.
 */
bool save_meta(const char *dir, const struct kipt_info *info,
	       const struct kipt_session *session, char *const *argv);

#endif /* KIPT_SAVE_H */
