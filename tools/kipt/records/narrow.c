// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of chosen CPUs and tasks, see narrow.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../cli/args.h"
#include "../cli/messages.h"
#include "narrow.h"

/* The highest number of a task, PID_MAX_LIMIT. */
#define TASK_MAX	4194304

bool narrow_any(const struct narrow_options *options)
{
	return options->cpus.count || options->pids.count ||
	       options->tids.count || options->comm;
}

struct adding {
	struct lookup *chosen;
	bool failed;
};

static void cpu_add(void *ctx, u32 cpu)
{
	struct adding *adding = ctx;

	if (!lookup_add(adding->chosen, cpu, 0))
		adding->failed = true;
}

bool narrow_cpus(struct narrow_options *options, const char *list)
{
	struct adding adding = { .chosen = &options->cpus };

	if (!args_cpus(list, NULL, NULL)) {
		say_error("--cpu %s: no CPU list; allowed are numbers and ranges, as 0-3,6",
			  list);
		return false;
	}
	args_cpus(list, cpu_add, &adding);
	if (adding.failed)
		say_errno(ENOMEM, "--cpu %s", list);
	return !adding.failed;
}

static bool tasks_add(struct lookup *chosen, const char *option,
		      const char *list)
{
	char text[16];
	u64 number;
	size_t length;

	for (;; list += length + 1) {
		length = strcspn(list, ",");
		snprintf(text, sizeof(text), "%.*s",
			 (int)(length < sizeof(text) ? length : sizeof(text)),
			 list);
		if (!args_number(text, TASK_MAX, &number)) {
			say_error("--%s %s: allowed are numbers of 0 to %u with commas between them",
				  option, list, TASK_MAX);
			return false;
		}
		if (!lookup_add(chosen, number, 0)) {
			say_errno(ENOMEM, "--%s %s", option, list);
			return false;
		}
		if (!list[length])
			return true;
	}
}

bool narrow_pids(struct narrow_options *options, const char *list)
{
	return tasks_add(&options->pids, "pid", list);
}

bool narrow_tids(struct narrow_options *options, const char *list)
{
	return tasks_add(&options->tids, "tid", list);
}

void narrow_free(struct narrow_options *options)
{
	lookup_free(&options->cpus);
	lookup_free(&options->pids);
	lookup_free(&options->tids);
	options->comm = NULL;
}

static bool has(const struct lookup *chosen, u64 number)
{
	return !chosen->count || lookup_get(chosen, number);
}

static bool cpu_is_chosen(const struct narrow *n)
{
	const struct lookup *cpus = &n->options->cpus;
	const struct kipt_record *cpu = record_state_cpu(&n->state);

	return !cpus->count || (cpu && lookup_get(cpus, cpu->aux));
}

static bool task_is_chosen(const struct narrow *n)
{
	const struct narrow_options *options = n->options;
	const struct kipt_record *task = record_state_task(&n->state);
	bool process_known = task && !(task->flags & KIPT_RF_NO_VALUE);

	if (!options->pids.count && !options->tids.count && !options->comm)
		return true;
	if (!task || !has(&options->tids, task->aux))
		return false;
	if (options->pids.count &&
	    (!process_known || !lookup_get(&options->pids, task->value)))
		return false;
	return !options->comm ||
	       !strcmp(options->comm,
		       n->comm(n->ctx, task->aux,
			       process_known ? (u32)task->value : 0));
}

static bool edges_are_chosen(struct narrow *n, const struct kipt_record *space)
{
	const struct narrow_options *options = n->options;

	if (!options->cpus.count && !options->tids.count && !options->comm)
		return lookup_get(&options->pids, space->aux);
	n->counted = true;
	return false;
}

/* Says where the stream is, once, before what is left. */
static bool put(struct narrow *n, const struct kipt_record *record)
{
	bool good = n->given ||
		    record_state_give(&n->state, true, n->give, n->ctx);

	n->given = true;
	return good && n->give(n->ctx, record, 1);
}

static bool take(struct narrow *n, const struct kipt_record *record)
{
	switch (record->type) {
	case KIPT_RECORD_CPU:
		memset(&n->state, 0, sizeof(n->state));
		record_state_see(&n->state, record);
		n->given = false;
		n->left = task_is_chosen(n);
		return true;
	case KIPT_RECORD_TASK:
		record_state_see(&n->state, record);
		n->left = task_is_chosen(n);
		n->given = false;
		return true;
	case KIPT_RECORD_SPACE:
		n->edges = edges_are_chosen(n, record);
		return !n->edges || n->give(n->ctx, record, 1);
	case KIPT_RECORD_EDGE:
		return !n->edges || n->give(n->ctx, record, 1);
	case KIPT_RECORD_GAP:
		return !cpu_is_chosen(n) || put(n, record);
	}
	record_state_see(&n->state, record);
	if (record_state_has(record) && !n->given)
		return true;
	return !n->left || !cpu_is_chosen(n) || put(n, record);
}

bool narrow_take(struct narrow *narrow, const struct kipt_record *records,
		 u32 count)
{
	bool good = true;
	u32 i;

	if (!narrow->begun)
		narrow->left = task_is_chosen(narrow);
	narrow->begun = true;
	for (i = 0; i < count && good; i++)
		good = take(narrow, &records[i]);
	return good;
}
