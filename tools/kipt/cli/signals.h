/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signals by which a user ends a command.
 */
#ifndef KIPT_SIGNALS_H
#define KIPT_SIGNALS_H

#include <signal.h>

/**
 * signals_to_end() - what the signals that end a process do from now on
 * @action: for SIGINT, SIGTERM and SIGHUP; the latter stays ignored where it
 *	is, as under nohup the terminal may go
 */
void signals_to_end(const struct sigaction *action);

#endif /* KIPT_SIGNALS_H */
