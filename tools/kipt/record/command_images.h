/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives a session the files that the programs of a command had mapped, where perf may
 * not be asked for more: /proc shows it while ptrace holds them.
 */
#ifndef KIPT_COMMAND_IMAGES_H
#define KIPT_COMMAND_IMAGES_H

#include <time.h>

#include "image_tables.h"

struct command_file;

/**
 * struct command_images - what is known
 * @tables: the tables
 * @files: files that the session has
 * @count: how many
 * @begun: a file that was changed since then may not be what was mapped
 */
struct command_images {
	struct image_tables tables;
	struct command_file *files;
	size_t count;
	struct timespec begun;
};

/**
 * command_images_open() - begin, before the command does
 * @images: filled; command_images_free() frees it
 * @session: as reported by the kernel, set up
 *
 * Return: true, or false after a sentence.
 */
bool command_images_open(struct command_images *images,
			 const struct kipt_session *session);

/**
 * command_images_begin() - note what a program has mapped before it executes anything
 * @images: was opened
 * @tid: a task with these mappings, held
 * @pid: its process, or one that it forked
 * @since: TSC, after the program before it was, and before it executed anything
 *
 * Called again with the same @pid and @since when the program's libraries are there:
 * that holds then. What cannot be read is missing, without a word.
 */
void command_images_begin(struct command_images *images, pid_t tid, pid_t pid,
			  u64 since);

/**
 * command_images_end() - note that a program ends
 * @images: was opened
 * @pid: its process, held before it exits
 * @since: as it was noted with when it began
 *
 * Where something else is mapped now than when it began, nobody knows what ran when:
 * it is memory of no file then.
 */
void command_images_end(struct command_images *images, pid_t pid, u64 since);

/**
 * command_images_give() - have the session use it
 * @images: was opened
 * @id: the session, which is stopped
 *
 * Return: true, or false after a sentence.
 */
bool command_images_give(struct command_images *images, u32 id);

/**
 * command_images_free() - free it
 * @images: was opened, or @tables.device is -1 and the rest zero
 */
void command_images_free(struct command_images *images);

#endif /* KIPT_COMMAND_IMAGES_H */
