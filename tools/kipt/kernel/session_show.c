// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions in words, see session_show.h.
 */
#include <json-c/json.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/json_lines.h"
#include "ctl_fields.h"
#include "session_show.h"

static void cpu_show(const struct kipt_cpu *cpu)
{
	printf("  CPU %u %s: %llu of %llu KiB of trace%s, %u blocks of %u to %u KiB, %llu PMIs",
	       cpu->id, session_state_name(cpu->state),
	       (unsigned long long)(cpu->head - cpu->tail) >> 10,
	       (unsigned long long)cpu->size >> 10,
	       cpu->tail ? " (older was overwritten)" : "", cpu->blocks,
	       cpu->block_min >> 10, cpu->block_max >> 10,
	       (unsigned long long)cpu->pmis);
	if (cpu->cause && cpu->cause != KIPT_STOP_CAUSE_USER)
		printf(", %s", session_cause_name(cpu->cause));
	putchar('\n');
}

static void loss_show(const char *what, u64 count)
{
	if (count)
		printf("  %llu %s\n", (unsigned long long)count, what);
}

/* What is missing in the trace, or will be. */
static void losses_show(const struct kipt_session *session)
{
	loss_show("task switches were not logged", session->switches_lost);
	loss_show("address spaces were not noted", session->spaces_lost);
	loss_show("processes were not followed, as there were too many",
		  session->processes_lost);
}

/* What of the CPUs' execution is traced, if not all. */
static void choice_show(const struct kipt_session *session)
{
	char range[40];
	u32 i;

	for (i = 0; i < session->filter_count; i++)
		printf("  %s %s\n", range_option(session->filter[i].kind),
		       range_text(&session->filter[i], range, sizeof(range)));
	if (session->pid)
		printf("  only process %u%s, %u alive\n", session->pid,
		       session->flags & KIPT_SESSION_FLAGS_FOLLOW_FORK ?
		       " and those it makes" : "", session->processes);
	if (session->cr3)
		printf("  only user code with CR3 0x%llx\n",
		       (unsigned long long)session->cr3);
}

/* Nothing is printed where there are no lines of the CPU that dies. */
static void prints_show(const struct kipt_session *session)
{
	if (!(session->flags & KIPT_SESSION_FLAGS_ARMED))
		return;
	printf("  at a crash: %u lines are printed", session->print_branches);
	if (session->print_branches && session->print_cpus)
		printf(", %u of each other CPU", session->print_cpus);
	if (session->print_branches && session->print_user)
		printf(", %u branches of user code", session->print_user);
	printf("\n");
}

void session_show(const struct kipt_session *session)
{
	char ctl[256];
	u32 i;

	ctl_format(session->ctl, ctl, sizeof(ctl));
	printf("session %u %s: CPUs %s, %s, %llu KiB each, %s%s\n",
	       session->id, session_state_name(session->state), session->cpus,
	       session_mode_name(session->mode),
	       (unsigned long long)session->size >> 10, ctl,
	       session->flags & KIPT_SESSION_FLAGS_ARMED ? ", armed" :
	       session->flags & KIPT_SESSION_FLAGS_DETACHED ?
	       ", detached" : "");
	if (session->cause && session->cause != KIPT_STOP_CAUSE_USER)
		printf("  stopped: %s\n", session_cause_name(session->cause));
	printf("  started %llu times, made by user %u, %llu KiB of memory\n",
	       (unsigned long long)session->generation, session->uid,
	       (unsigned long long)session->memory >> 10);
	prints_show(session);
	if (session->flags & KIPT_SESSION_FLAGS_YIELD)
		puts("  other sessions may have its CPUs");
	if (session->flags & KIPT_SESSION_FLAGS_USER)
		puts("  programs that a signal kills are kept: kipt crash list");
	if (session->hooks_lost[0])
		printf("  a crash may be seen late or not at all: %s\n",
		       session->hooks_lost);
	choice_show(session);
	losses_show(session);
	for (i = 0; i < session->cpu_count; i++)
		cpu_show(&session->cpu[i]);
}

static struct json_object *cpu_json(const struct kipt_cpu *cpu)
{
	struct json_object *object = json_object_new_object();

	jsonl_number(object, "id", cpu->id);
	jsonl_text(object, "state", session_state_name(cpu->state));
	jsonl_number(object, "size", cpu->size);
	jsonl_number(object, "head", cpu->head);
	jsonl_number(object, "tail", cpu->tail);
	jsonl_hex(object, "status", cpu->status);
	jsonl_number(object, "blocks", cpu->blocks);
	jsonl_number(object, "block_min", cpu->block_min);
	jsonl_number(object, "block_max", cpu->block_max);
	jsonl_number(object, "pmis", cpu->pmis);
	if (cpu->cause)
		jsonl_text(object, "cause", session_cause_name(cpu->cause));
	return object;
}

void session_show_json(const struct kipt_session *session)
{
	struct json_object *line = json_object_new_object();
	struct json_object *list = json_object_new_array();
	char ctl[256];
	u32 i;

	ctl_format(session->ctl, ctl, sizeof(ctl));
	jsonl_text(line, "type", "session");
	jsonl_number(line, "id", session->id);
	jsonl_text(line, "state", session_state_name(session->state));
	jsonl_text(line, "cpus", session->cpus);
	jsonl_text(line, "mode", session_mode_name(session->mode));
	jsonl_number(line, "size", session->size);
	jsonl_text(line, "ctl", ctl);
	jsonl_flag(line, "detached",
		   session->flags & KIPT_SESSION_FLAGS_DETACHED);
	if (session->flags & KIPT_SESSION_FLAGS_ARMED) {
		jsonl_flag(line, "armed", true);
		jsonl_flag(line, "user",
			   session->flags & KIPT_SESSION_FLAGS_USER);
		jsonl_flag(line, "yield",
			   session->flags & KIPT_SESSION_FLAGS_YIELD);
		jsonl_number(line, "print_branches", session->print_branches);
		jsonl_number(line, "print_cpus", session->print_cpus);
		jsonl_number(line, "print_user", session->print_user);
		jsonl_number(line, "snapshots", session->snapshots);
		jsonl_number(line, "snapshots_size", session->snapshots_size);
		if (session->hooks_lost[0])
			jsonl_text(line, "hooks_lost", session->hooks_lost);
	}
	if (session->cause)
		jsonl_text(line, "cause", session_cause_name(session->cause));
	jsonl_number(line, "generation", session->generation);
	jsonl_number(line, "uid", session->uid);
	jsonl_number(line, "memory", session->memory);
	jsonl_number(line, "spaces_lost", session->spaces_lost);
	jsonl_number(line, "switches_lost", session->switches_lost);
	ranges_json(line, session->filter, session->filter_count);
	if (session->pid) {
		jsonl_number(line, "pid", session->pid);
		jsonl_flag(line, "follow_fork", session->flags &
			   KIPT_SESSION_FLAGS_FOLLOW_FORK);
		jsonl_number(line, "processes", session->processes);
		jsonl_number(line, "processes_lost", session->processes_lost);
	}
	if (session->cr3)
		jsonl_hex(line, "cr3", session->cr3);
	for (i = 0; i < session->cpu_count; i++)
		json_object_array_add(list, cpu_json(&session->cpu[i]));
	json_object_object_add(line, "cpu", list);
	jsonl_print(line, stdout);
}
