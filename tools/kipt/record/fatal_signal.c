// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a process was killed, in words, see fatal_signal.h.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "fatal_signal.h"

/* A signal that the kernel made because of what the program did. */
static bool is_fault(const struct child_death *death)
{
	return death->code > 0 && death->code != SI_KERNEL;
}

/* Only these say at which address. */
static bool is_of_memory(const struct child_death *death)
{
	return is_fault(death) &&
	       (death->number == SIGSEGV || death->number == SIGBUS);
}

static void json_print(const struct child_death *death,
		       const char *place, const char *source)
{
	struct json_object *line = json_object_new_object();
	char signal[16];

	snprintf(signal, sizeof(signal), "SIG%s",
		 sigabbrev_np(death->number) ?: "?");
	jsonl_text(line, "type", "killed");
	jsonl_number(line, "pid", death->pid);
	jsonl_number(line, "tid", death->tid);
	jsonl_text(line, "comm", death->comm);
	jsonl_text(line, "signal", signal);
	jsonl_hex(line, "ip", death->ip);
	jsonl_text(line, "at", place);
	jsonl_text(line, "source", source[0] ? source : NULL);
	if (is_of_memory(death))
		jsonl_hex(line, "address", death->address);
	jsonl_print(line, stdout);
}

void death_tell(const struct child_death *death, struct output *output)
{
	char place[256], source[128] = "", address[48] = "", text[768];

	names_text(output->names, death->pid, death->ip, place, sizeof(place));
	names_source(output->names, death->pid, death->ip, source,
		     sizeof(source));
	if (output->options->json && !output->file) {
		json_print(death, place, source);
		return;
	}
	if (is_of_memory(death))
		snprintf(address, sizeof(address), " (address 0x%lx)",
			 death->address);
	snprintf(text, sizeof(text),
		 "'%s', process %d, thread %d, was killed by SIG%s%s %s %s%s%s%s",
		 death->comm, death->pid, death->tid,
		 sigabbrev_np(death->number) ?: "?", address,
		 is_fault(death) || death->code == SI_KERNEL ? "at" : "when it was at",
		 place, source[0] ? " (" : "", source, source[0] ? ")" : "");
	if (output->file)
		say_note("%s", text);
	else
		printf("%s\n", text);
}
