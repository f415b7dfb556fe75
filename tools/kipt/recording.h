/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces a command: makes the session, runs the command, keeps what decoding
 * elsewhere needs, fetches and shows.
 */
#ifndef KIPT_RECORDING_H
#define KIPT_RECORDING_H

#include "child.h"
#include "output.h"
#include "save.h"
#include "setup.h"

/**
 * struct recording - a command and how it is traced
 * @setup: how to trace
 * @view: how to show
 * @save: folder for what decoding elsewhere needs, or NULL
 * @command: the command, NULL at the end
 * @genl: connection
 * @info: capabilities
 * @session: the session
 * @output: where records go
 * @child: the command
 * @cpus: the CPUs it may run on, if none were asked for
 * @save_failed: something could not be kept
 * @users: code of processes, to be written when tracing is over
 *
 * All but the first four are zero before recording_run().
 */
struct recording {
	struct setup setup;
	struct view_options view;
	const char *save;
	char **command;
	struct genl *genl;
	struct kipt_info info;
	struct kipt_session session;
	struct output output;
	struct child child;
	char cpus[KIPT_CPUS_TEXT];
	bool save_failed;
	struct saved_user *users;
};

/**
 * recording_run() - trace the command and show what came
 * @recording: what and how
 *
 * Return: the command's exit status, or KIPT_EXIT_FAILED after a sentence.
 */
int recording_run(struct recording *recording);

#endif /* KIPT_RECORDING_H */
