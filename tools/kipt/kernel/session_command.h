/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs that do one thing to one session and say nothing.
 */
#ifndef KIPT_SESSION_COMMAND_H
#define KIPT_SESSION_COMMAND_H

#include "../cli/kipt.h"
#include "genl.h"

/**
 * session_verb_run() - the run() of such a verb
 * @verb: without options, with the operand ID
 * @argc: arguments after the verb
 * @argv: they
 * @act: does it; returns 0, or an errno after a sentence
 *
 * Return: enum kipt_exit.
 */
int session_verb_run(const struct kipt_verb *verb, int argc, char **argv,
		     int (*act)(struct genl *genl, u32 id));

#endif /* KIPT_SESSION_COMMAND_H */
