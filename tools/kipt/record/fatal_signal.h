/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Says how a process was killed by a signal: which one, and where.
 */
#ifndef KIPT_FATAL_SIGNAL_H
#define KIPT_FATAL_SIGNAL_H

#include "../view/record_output.h"
#include "traced_command.h"

/**
 * death_tell() - one line, or one object with --json
 * @death: what happened
 * @output: where the end of its trace was shown; has the process's mappings
 *
 * With -o the line is a note: standard output may be the file.
 */
void death_tell(const struct child_death *death, struct output *output);

#endif /* KIPT_FATAL_SIGNAL_H */
