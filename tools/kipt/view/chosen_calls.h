/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of the calls of chosen functions and of what they call, by the rules of
 * call_track.h.
 */
#ifndef KIPT_CHOSEN_CALLS_H
#define KIPT_CHOSEN_CALLS_H

#include "view.h"

struct chosen_calls;

/**
 * chosen_calls_create() - nothing came
 * @options: their @syms choose functions; must live as long
 * @names: must live as long
 * @give: gets what is passed on, in order; false ends the stream
 * @ctx: its first argument
 *
 * Return: the caller's until chosen_calls_destroy(); NULL without memory.
 */
struct chosen_calls *
chosen_calls_create(const struct view_options *options, struct names *names,
		    bool (*give)(void *ctx, const struct kipt_record *records,
				 u32 count),
		    void *ctx);

/**
 * chosen_calls_take() - some more records
 * @calls: the stream
 * @records: unpacked ones, in order
 * @count: how many
 *
 * Passed on is all from the branch that enters a chosen function until the one that
 * leaves it, while its task runs on that CPU. Before it comes where the stream is: CPU,
 * address space, task, mode, time, and an ENABLE record of kind KIPT_ENABLE_CHOSEN,
 * with the address of the branch unless the task only goes on; after it a DISABLE
 * record of kind KIPT_DISABLE_OTHERS. All gaps are passed on: a chosen function may
 * have run in them. Whether one goes on after a gap within it is what the next address
 * says. The first TIME of a CPU is given
 * as one of kind KIPT_TIME_FIRST.
 *
 * Return: false if @give did, or without memory.
 */
bool chosen_calls_take(struct chosen_calls *calls,
		       const struct kipt_record *records, u32 count);

/**
 * chosen_calls_end() - nothing comes any more
 * @calls: the stream
 *
 * Return: true, or false after a sentence: there was no memory, branches came as
 * counts, or the trace has no function of a name.
 */
bool chosen_calls_end(struct chosen_calls *calls);

/**
 * chosen_calls_destroy() - free it
 * @calls: may be NULL
 */
void chosen_calls_destroy(struct chosen_calls *calls);

#endif /* KIPT_CHOSEN_CALLS_H */
