/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where records end: shown, or written to a file with the mappings beside
 * it. All verbs that make or read records share it.
 */
#ifndef KIPT_RECORD_OUTPUT_H
#define KIPT_RECORD_OUTPUT_H

#include "../records/narrow.h"
#include "../records/record_file.h"
#include "../records/task_tail.h"
#include "../records/unpack.h"
#include "chosen_calls.h"
#include "last_lines.h"
#include "view.h"

/**
 * struct output - records on their way out
 * @options: how
 * @maps: mappings for names; filled by whoever knows, also later
 * @names: names
 * @view: the printer
 * @file: the file, if there is one
 * @unpack: what packed records said; NULL as long as none came
 * @calls: leaves out what is in no call of chosen functions; NULL: all is left
 * @narrow: leaves some records out, if the options say so
 * @ending: only the end before a place is shown, see output_end(); or NULL
 * @last: the lines of it
 * @stored: records come from a file, which may have more than the view shows
 * @calls_only: that file has no branches but calls and returns
 * @cpu: the CPU of the last record
 * @skipped: instructions of it, up to branches that were left out, which no record has counted
 * @skipped_of: the same of other CPUs
 * @muted: what comes is before what is shown
 * @failed: something was lost, and a message said so
 */
struct output {
	const struct view_options *options;
	struct maps maps;
	struct names *names;
	struct view view;
	struct record_file *file;
	struct unpack *unpack;
	struct chosen_calls *calls;
	struct narrow narrow;
	struct ending *ending;
	struct last_lines *last;
	bool stored;
	bool calls_only;
	u64 cpu;
	u32 skipped;
	struct lookup skipped_of;
	bool muted;
	bool failed;
};

/**
 * output_spares() - whether the output is another file than the input
 * @options: say where it goes
 * @input: the file that is to be read
 *
 * Return: true, or false after a sentence.
 */
bool output_spares(const struct view_options *options, const char *input);

/**
 * output_open() - be ready for records
 * @output: filled
 * @options: must live as long
 * @live: names of processes that live may be looked up
 *
 * Return: true, or false after a sentence, with nothing left to close.
 */
bool output_open(struct output *output, const struct view_options *options,
		 bool live);

/**
 * output_end() - show only the end of what comes
 * @output: was opened, nothing came yet
 * @tid: the task whose end it is
 * @ip: where it ended, as for ending_create()
 * @lines: so many lines at most
 *
 * A file that is written gets all records nevertheless.
 *
 * Return: true, or false after a sentence.
 */
bool output_end(struct output *output, u32 tid, u64 ip, u32 lines);

/**
 * output_end_show() - all came: show the end now
 * @output: output_end() succeeded
 *
 * The summary follows, as ever, at the close.
 */
void output_end_show(struct output *output);

/**
 * output_choose() - what is to be made for what is asked for
 * @output: was opened
 * @far: records have a way to go: they are packed wherever that is possible
 *
 * Return: KIPT_FLOW_* (equal to KIPT_OUTPUT_*).
 */
u32 output_choose(const struct output *output, bool far);

/**
 * output_spare_cond() - have only sums made of conditional branches, where none is shown
 * @output: was opened; knows then that sums come
 * @cycles: the trace may have CYC packets: instructions of each call are shown with its time
 *
 * Return: KIPT_FLOW_NO_COND, to be beside what output_choose() says, or 0.
 */
u32 output_spare_cond(struct output *output, bool cycles);

/**
 * output_take() - records
 * @output: where to
 * @records: what, in order; packed ones are unpacked, unless they go to a file
 *	and it is to be packed
 * @count: how many
 *
 * Return: true, or false if they cannot be written.
 */
bool output_take(struct output *output, const struct kipt_record *records,
		 u32 count);

/**
 * output_close() - show what is left, close the file, save the mappings
 * @output: was opened
 * @whole: all came; otherwise a file of which nothing came is left as it was
 *
 * Return: true, or false after a sentence.
 */
bool output_close(struct output *output, bool whole);

#endif /* KIPT_RECORD_OUTPUT_H */
