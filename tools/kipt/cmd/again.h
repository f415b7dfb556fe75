/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was typed, as a shell would take it, for commands that show more.
 */
#ifndef KIPT_AGAIN_H
#define KIPT_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "../cli/kipt.h"
#include "../view/view.h"

#define AGAIN_ROOM	4096

/**
 * again_add() - add a text
 * @text: what there is
 * @size: its room
 * @more: to add
 *
 * Return: false if there is no room for all of it.
 */
bool again_add(char *text, size_t size, const char *more);

/**
 * again_word() - add a word, with a space before it
 * @text: what there is
 * @size: its room
 * @word: to add; quoted where a shell sees more in it than a word
 *
 * Return: false if there is no room for all of it.
 */
bool again_word(char *text, size_t size, const char *word);

/**
 * again_typed() - all that was typed
 * @text: filled; empty if it is too long
 * @size: its room
 * @argc, @argv: what was typed after the verb
 */
void again_typed(char *text, size_t size, int argc, char **argv);

/**
 * again_keep() - keep what was typed, for commands that --slowest and --html show
 * @options: of the verb
 * @argc, @argv: what was typed after the verb, before it is parsed
 *
 * Without --slowest, --top, --json, --time, --stats and --html; that of --slowest without
 * --cpu, too. Is called once.
 */
void again_keep(const struct kipt_option *options, int argc, char **argv);

/**
 * again_settle() - set the command of --slowest and --html
 * @view: gets it, if it shows one of these; again_keep() was called
 * @verb: the verb
 * @path: the file, which --html names; NULL: there is none
 */
void again_settle(struct view_options *view, const struct kipt_verb *verb, const char *path);

#endif /* KIPT_AGAIN_H */
