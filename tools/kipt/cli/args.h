/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: options by table, operands, and the texts of numbers,
 * sizes and CPU lists. Prints usage errors; acts on nothing.
 */
#ifndef KIPT_ARGS_H
#define KIPT_ARGS_H

#include <stdbool.h>
#include <stdio.h>

#include "kipt.h"
#include "messages.h"

/* What args_option() returns besides the ids of the table. */
enum {
	ARGS_END = 0,
	ARGS_BAD = -1,
	ARGS_HELP = -2,
};

/**
 * struct args - a command line while it is read
 * @verb: whose options they are
 * @argc, @argv: arguments after the verb, whose name is before them; after
 *	ARGS_END @argv is where the operands begin
 * @begun: an option was asked for
 * @value: value of the option returned last, or NULL
 * @operands: how many there are, after ARGS_END
 * @first_operand_ends: all from the first operand on belongs to a command
 * @is_value: whether the word after an option is its value, where that may be left
 *	out; NULL: it never is
 */
struct args {
	const struct kipt_verb *verb;
	int argc;
	char **argv;
	bool begun;
	const char *value;
	int operands;
	bool first_operand_ends;
	bool (*is_value)(const char *word);
};

/**
 * args_option() - the next option
 * @args: @verb, @argc, @argv set, the rest zero before the first call
 *
 * As getopt_long(): options and operands may be mixed, a name may be cut short as
 * long as one option alone begins so, and what is after "--" is operands. Where the
 * environment has POSIXLY_CORRECT, options come first. One command line is read at a
 * time.
 *
 * Return:
 * the option's id, its value in args->value.
 * ARGS_END: none is left.
 * ARGS_HELP: help was asked for and printed; exit 0.
 * ARGS_BAD: a sentence was printed; exit 2.
 */
int args_option(struct args *args);

/**
 * args_exit() - the exit status that ends a verb after args_option()
 * @code: ARGS_HELP or ARGS_BAD
 *
 * Return: enum kipt_exit.
 */
int args_exit(int code);

/**
 * args_bad() - report a usage error
 * @args: whose
 * @format: a sentence
 *
 * Return: KIPT_EXIT_USAGE.
 */
int __printf(2, 3) args_bad(const struct args *args, const char *format, ...);

/**
 * args_operands() - check the number of operands
 * @args: args_option() returned ARGS_END
 * @min: at least
 * @max: at most
 *
 * Return: true, or false after a sentence.
 */
bool args_operands(const struct args *args, int min, int max);

/**
 * args_session() - the operand of a verb that has one session
 * @args: args_option() returned ARGS_END
 * @session: filled on success
 *
 * Return: true, or false after a sentence.
 */
bool args_session(const struct args *args, u32 *session);

/**
 * args_help() - print the help of a verb
 * @verb: which
 * @out: where to
 */
void args_help(const struct kipt_verb *verb, FILE *out);

/**
 * args_number() - the text of an unsigned number, decimal or 0x
 * @text: the text
 * @max: largest value allowed
 * @number: filled on success
 *
 * Return: true if it is one.
 */
bool args_number(const char *text, u64 max, u64 *number);

/**
 * args_within() - the number that an option has as its value
 * @name: of the option, without "--"
 * @value: the text
 * @least: smallest value allowed
 * @most: largest value allowed
 * @number: filled on success
 *
 * Return: true, or false after a sentence that says what is allowed.
 */
bool args_within(const char *name, const char *value, u64 least, u64 most, u64 *number);

/**
 * args_size() - the text of a size: a number with K, M or G
 * @text: the text
 * @size: filled on success, in bytes
 *
 * Return: true if it is one.
 */
bool args_size(const char *text, u64 *size);

/**
 * args_cpus() - is the text a CPU list such as "0-3,6"
 * @text: the text
 * @found: called for each CPU in it, or NULL
 * @ctx: its first argument
 *
 * Return: true if it is one.
 */
bool args_cpus(const char *text, void (*found)(void *ctx, u32 cpu), void *ctx);

#endif /* KIPT_ARGS_H */
