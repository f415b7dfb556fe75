/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces a command: makes the session, runs the command, keeps what decoding
 * elsewhere needs, fetches and shows.
 */
#ifndef KIPT_RECORD_RUN_H
#define KIPT_RECORD_RUN_H

#include "../kernel/session_options.h"
#include "../offline/save_dir.h"
#include "../view/record_output.h"
#include "command_images.h"
#include "fetch.h"
#include "perf_recording.h"
#include "traced_command.h"

/**
 * struct recording - a command and how it is traced
 * @setup: how to trace
 * @view: how to show
 * @fetch: how to decode
 * @save: folder for what decoding elsewhere needs, or NULL
 * @raw: folder for the raw trace and meta.json only, or NULL
 * @perf: file for perf, which gets the trace, and nothing is decoded or shown; or NULL
 * @command: the command, NULL at the end; NULL itself with --pid: until
 *	Ctrl-C, or the end of the process
 * @only: trace only the command's process
 * @keep: leave the session to who comes
 * @snapshot: with --pid and without command: each SIGUSR2 ends a trace, which is shown or
 *	kept under a name with its number, and another one begins
 * @on_crash: show only the end of a process that a signal killed, if one did
 * @lines: of that end
 * @genl: connection
 * @info: capabilities
 * @session: the session
 * @output: where records go
 * @child: the command
 * @cpus: the CPUs it may run on, if none were asked for
 * @pinned: some were asked for
 * @save_failed: something could not be kept
 * @users: code of processes, to be written when tracing is over
 * @where: where filters look
 * @missing: the filter whose file was not found last
 * @refused: a filter was, and a message said so
 * @target: the process --pid names, from target_open()
 * @signal: with @snapshot: from target_signal(); else -1
 * @number: with @snapshot: of this trace, from 1
 * @again: SIGUSR2 came
 * @whole: all of the trace came to @output
 * @death: of the first process that a signal killed; its pid is 0 if none was
 * @deaths: how many there were
 * @recording: with @perf: what goes to the file; without, what processes map
 * @mapped: without @perf, @recording was begun
 * @images: without @perf, and where perf is not allowed: what the command had mapped
 *
 * All but the first eleven are zero before recording_run().
 */
struct recording {
	struct setup setup;
	struct view_options view;
	struct fetch_options fetch;
	const char *save;
	const char *raw;
	const char *perf;
	char **command;
	bool only;
	bool keep;
	bool snapshot;
	bool on_crash;
	u32 lines;
	struct genl *genl;
	struct kipt_info info;
	struct kipt_session session;
	struct output output;
	struct child child;
	char cpus[KIPT_CPUS_TEXT];
	bool pinned;
	bool save_failed;
	struct saved_user *users;
	struct filter_where where;
	const struct filter *missing;
	bool refused;
	int target;
	int signal;
	u32 number;
	bool again;
	bool whole;
	struct child_death death;
	u32 deaths;
	struct perf_recording recording;
	bool mapped;
	struct command_images images;
};

/**
 * recording_run() - trace the command and show what came
 * @recording: what and how
 *
 * Return: the command's exit status, or KIPT_EXIT_FAILED after a sentence.
 */
int recording_run(struct recording *recording);

#endif /* KIPT_RECORD_RUN_H */
