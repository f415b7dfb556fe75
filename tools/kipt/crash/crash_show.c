// SPDX-License-Identifier: GPL-2.0-only
/*
 * Crashes and snapshots in words and as JSON, see crash_show.h. Texts from the dump are
 * printed as far as they can be printed.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../cli/kipt.h"
#include "../kernel/genl.h"
#include "../symbols/kernel_symbols.h"
#include "crash_show.h"
#include "vmcoreinfo.h"

#define NO_TRAP		(~0U)
#define NS_PER_S	1000000000ULL

/* In a word, and in words for people. */
struct said {
	const char *word, *text;
};

static const struct said hooks[] = {
	[KIPT_CRASH_HOOK_OOPS] = { "oops", "an oops" },
	[KIPT_CRASH_HOOK_PANIC] = { "panic", "a panic" },
	[KIPT_CRASH_HOOK_KEXEC] = { "kexec", "a start of the crash kernel" },
	[KIPT_CRASH_HOOK_DIE] = { "die", "an exception (die notifier)" },
	[KIPT_CRASH_HOOK_NOTIFIER] = { "notifier",
		"a panic (seen by its notifier only, when all CPUs had stopped)" },
	[KIPT_CRASH_HOOK_WARN] = { "warning", "a warning" },
	[KIPT_CRASH_HOOK_SIGNAL] = { "signal",
		"a signal that killed a program" },
	[KIPT_CRASH_HOOK_LOCKUP] = { "lockup",
		"a lockup or a stall, before it was reported" },
	[KIPT_CRASH_HOOK_HUNG] = { "hung",
		"a task that hangs, before it was reported" },
	[KIPT_CRASH_HOOK_REPORT] = { "report",
		"an error, before it was reported" },
};

static const struct said ends[] = {
	[CRASH_END_STOPPED] = { "stopped", "stopped for the crash" },
	[CRASH_END_BEFORE] = { "stopped-before",
		"had stopped before the crash" },
	[CRASH_END_ZEROS] = { "no-answer",
		"did not answer; its trace up to the last byte written" },
	[CRASH_END_TIMES] = { "no-answer",
		"did not answer; its trace up to the last PSB that is surely new" },
	[CRASH_END_NONE] = { "lost",
		"did not answer, and where new trace follows old is not known" },
};

static struct said hook_said(u32 hook)
{
	return hook < ARRAY_SIZE(hooks) && hooks[hook].word ?
	       hooks[hook] : (struct said){ "unknown", "unknown" };
}

/* A name of a task may have any bytes. */
static const char *plain(const u8 *bytes, size_t size, char *text)
{
	size_t i;

	for (i = 0; i < size && bytes[i]; i++)
		text[i] = bytes[i] >= ' ' && bytes[i] < 0x7f ? (char)bytes[i] :
							       '?';
	text[i] = 0;
	return text;
}

/* Seconds since 1970, 0 if they are not known: only kexec notes them. */
static time_t crash_time(const struct crash_machine *machine)
{
	char text[32];

	if (machine->source.snapshot ||
	    !vmcoreinfo_text(machine->info, "CRASHTIME", text, sizeof(text)))
		return 0;
	return strtoll(text, NULL, 10);
}

/* False if there is no such year. */
static bool time_text(time_t seconds, char *text, size_t size)
{
	struct tm tm;

	return gmtime_r(&seconds, &tm) &&
	       strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

static void time_show(const struct crash_machine *machine)
{
	const struct kipt_crash_header *header = &machine->set.header;
	time_t seconds = crash_time(machine);
	char text[64];

	if (seconds && time_text(seconds, text, sizeof(text)))
		printf(" on %s", text);
	if (machine->set.event_good && header->tsc_khz)
		printf(", %.3f s after its TSC began",
		       (double)header->event.tsc / header->tsc_khz / 1000);
}

static void event_show(const struct crash_machine *machine,
		       struct view *view)
{
	const struct kipt_crash_event *event = &machine->set.header.event;
	char text[512];

	printf("  by %s, first on CPU %u; ",
	       hook_said(event->hook).text, event->cpu);
	if (event->hook == KIPT_CRASH_HOOK_SIGNAL) {
		puts("no CPU was stopped");
		return;
	}
	if (event->asked)
		printf("%u of %u other CPUs stopped in time\n",
		       event->answered, event->asked);
	else
		puts("no other CPU was to be stopped");
	if (!event->ip && !event->faulted)
		return;
	if (event->ip)
		printf("  %s %s", event->faulted ? "faulted at" : "called at",
		       view_place(view, 0, event->ip, text, sizeof(text)));
	else
		fputs("  faulted in a call of address 0", stdout);
	if (event->trap != NO_TRAP)
		printf(", exception %u", event->trap);
	putchar('\n');
}

static void summary_words(const struct crash_machine *machine, struct view *view)
{
	const struct crash_set *set = &machine->set;
	char text[128];

	if (set->has_header)
		printf("Linux %s %s",
		       plain(set->header.release, sizeof(set->header.release),
			     text),
		       machine->source.snapshot ? "goes on after this" :
						  "died");
	else
		fputs("A machine died", stdout);
	time_show(machine);
	putchar('\n');
	if (set->event_good)
		event_show(machine, view);
	else
		puts("  what it died of is not in the dump");
}

static void stop_show(const struct crash_machine *machine,
		      const struct kipt_crash_stop *stop, struct view *view)
{
	const struct kipt_crash_header *header = &machine->set.header;
	char text[512];

	printf("    %s (%u", plain(stop->comm, sizeof(stop->comm), text),
	       stop->tgid);
	if (stop->pid != stop->tgid)
		printf(", thread %u", stop->pid);
	printf(") at %s",
	       view_place(view, 0, stop->ip, text, sizeof(text)));
	if (machine->set.event_good && header->tsc_khz && stop->tsc)
		printf(", %+.3f us",
		       (double)(s64)(stop->tsc - header->event.tsc) * 1000 /
			       header->tsc_khz);
	putchar('\n');
}

static void cpu_words(const struct crash_machine *machine,
		      const struct crash_trace *trace, struct view *view)
{
	const struct kipt_crash_cpu *page = &trace->cpu->page;

	printf("  CPU %u: %llu of %llu KiB of trace, %s\n", page->page.number,
	       (unsigned long long)trace->size >> 10,
	       (unsigned long long)page->size >> 10,
	       ends[trace->end].text);
	if (trace->unsure)
		printf("    %llu bytes more may be newer or older: they are left out\n",
		       (unsigned long long)trace->unsure);
	if (trace->cpu->known < page->size)
		printf("    of %llu KiB the dump does not say where they are\n",
		       (unsigned long long)(page->size - trace->cpu->known) >>
			       10);
	if (trace->end == CRASH_END_STOPPED)
		stop_show(machine, &page->stop, view);
}

static void at_json(struct json_object *line, u64 ip, struct view *view)
{
	char text[512];

	jsonl_text(line, "at", names_text(view->names, 0, ip, text, sizeof(text)));
	if (view->options->source &&
	    names_source(view->names, 0, ip, text, sizeof(text)))
		jsonl_text(line, "at_source", text);
}

static void event_json(struct json_object *line,
		       const struct crash_machine *machine,
		       struct view *view)
{
	const struct kipt_crash_event *event = &machine->set.header.event;

	jsonl_text(line, "hook", hook_said(event->hook).word);
	jsonl_number(line, "cpu", event->cpu);
	jsonl_number(line, "asked", event->asked);
	jsonl_number(line, "answered", event->answered);
	jsonl_number(line, "tsc", event->tsc);
	if (!event->ip && !event->faulted)
		return;
	jsonl_flag(line, "faulted", event->faulted != 0);
	jsonl_hex(line, "ip", event->ip);
	if (event->ip)
		at_json(line, event->ip, view);
	if (event->trap != NO_TRAP)
		jsonl_number(line, "trap", event->trap);
}

static void summary_json(const struct crash_machine *machine, struct view *view)
{
	const struct crash_set *set = &machine->set;
	struct json_object *line = json_object_new_object();
	char text[128];

	jsonl_text(line, "type", "crash");
	if (set->has_header) {
		jsonl_hex(line, "header", set->header_address);
		jsonl_text(line, "kernel",
			   plain(set->header.release,
				 sizeof(set->header.release), text));
		jsonl_text(line, "module",
			   plain(set->header.kipt,
				 sizeof(set->header.kipt), text));
		jsonl_number(line, "tsc_khz", set->header.tsc_khz);
		jsonl_number(line, "cpus", set->header.nr_cpus);
	}
	if (crash_time(machine))
		jsonl_number(line, "time", (u64)crash_time(machine) * NS_PER_S);
	if (set->event_good)
		event_json(line, machine, view);
	jsonl_print(line, stdout);
}

static void stop_json(struct json_object *line,
		      const struct kipt_crash_stop *stop, struct view *view)
{
	char text[512];

	jsonl_text(line, "comm", plain(stop->comm, sizeof(stop->comm), text));
	jsonl_number(line, "tid", stop->pid);
	jsonl_number(line, "pid", stop->tgid);
	jsonl_number(line, "tsc", stop->tsc);
	jsonl_hex(line, "ip", stop->ip);
	at_json(line, stop->ip, view);
	jsonl_hex(line, "cr3", stop->cr3);
}

static void cpu_json(const struct crash_trace *trace, struct view *view)
{
	const struct kipt_crash_cpu *page = &trace->cpu->page;
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "crash-cpu");
	jsonl_number(line, "cpu", page->page.number);
	jsonl_text(line, "state", ends[trace->end].word);
	jsonl_number(line, "bytes", trace->size);
	jsonl_number(line, "size", page->size);
	jsonl_number(line, "unsure", trace->unsure);
	jsonl_number(line, "unknown", page->size - trace->cpu->known);
	if (trace->end == CRASH_END_STOPPED)
		stop_json(line, &page->stop, view);
	jsonl_print(line, stdout);
}

void crash_show(const struct crash_machine *machine, struct view *view)
{
	if (view->options->json)
		summary_json(machine, view);
	else
		summary_words(machine, view);
}

void crash_show_cpu(const struct crash_machine *machine,
		    const struct crash_trace *trace, struct view *view)
{
	if (view->options->json)
		cpu_json(trace, view);
	else
		cpu_words(machine, trace, view);
}

struct list {
	struct maps maps;
	struct names *names;
	bool json;
	u32 count;
};

/* What killed a program; the names of signals are those of this machine. */
static const char *signal_name(const struct kipt_snapshot *s, char *text,
			       size_t size)
{
	const char *name = s->signal < 65 ? sigabbrev_np(s->signal) : NULL;

	if (name)
		snprintf(text, size, "SIG%s", name);
	else
		snprintf(text, size, "signal %u", s->signal);
	return text;
}

static void killed_json(struct json_object *line,
			const struct kipt_snapshot *s)
{
	char text[32];

	jsonl_text(line, "signal", signal_name(s, text, sizeof(text)));
	jsonl_number(line, "pid", s->process);
	jsonl_number(line, "uid", s->uid);
	if (!s->file[0])
		return;
	jsonl_text(line, "file", s->file);
	jsonl_hex(line, "file_offset", s->file_offset);
}

/* Whose symbols these are is not looked up for a list. */
static const char *place_of(const struct kipt_snapshot *s, char *text,
			    size_t size)
{
	const char *slash = strrchr(s->file, '/');

	if (s->file[0])
		snprintf(text, size, "0x%llx [%s]",
			 (unsigned long long)s->file_offset,
			 slash ? slash + 1 : s->file);
	else
		snprintf(text, size, "0x%llx", (unsigned long long)s->ip);
	return text;
}

static void killed_print(const struct kipt_snapshot *s)
{
	char text[32];

	printf("  killed by %s, user %u, %llu KiB",
	       signal_name(s, text, sizeof(text)), s->uid,
	       (unsigned long long)s->size >> 10);
}

static void json_print(const struct kipt_snapshot *s, const char *at)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "snapshot");
	jsonl_number(line, "id", s->id);
	jsonl_number(line, "time", s->time);
	jsonl_text(line, "hook", hook_said(s->hook).word);
	jsonl_number(line, "cpu", s->cpu);
	if (s->ip) {
		jsonl_hex(line, "ip", s->ip);
		jsonl_text(line, "at", at);
	}
	if (s->has_trap)
		jsonl_number(line, "trap", s->trap);
	if (s->comm[0]) {
		jsonl_number(line, "tid", s->pid);
		jsonl_text(line, "comm", s->comm);
	}
	if (s->signal)
		killed_json(line, s);
	jsonl_number(line, "cpus", s->cpus);
	jsonl_number(line, "missed", s->missed);
	jsonl_number(line, "bytes", s->size);
	jsonl_print(line, stdout);
}

static void line_print(const struct kipt_snapshot *s, const char *at)
{
	char when[32];

	printf("%-4u %s  %-7s CPU %-3u %s", s->id,
	       time_text(s->time / NS_PER_S, when, sizeof(when)) ? when : "?",
	       hook_said(s->hook).word, s->cpu,
	       s->ip || s->signal ? at : "?");
	if (s->comm[0])
		printf("  %s (%u)", s->comm, s->pid);
	if (s->signal)
		killed_print(s);
	else
		printf("  %u CPUs, %llu KiB", s->cpus,
		       (unsigned long long)s->size >> 10);
	if (s->missed)
		printf("; %u before it are not kept", s->missed);
	putchar('\n');
}

void snapshot_print(const struct kipt_snapshot *snapshot, struct names *names,
		    bool json)
{
	char at[256];

	if (snapshot->signal)
		place_of(snapshot, at, sizeof(at));
	else
		names_text(names, 0, snapshot->ip, at, sizeof(at));
	if (json)
		json_print(snapshot, at);
	else
		line_print(snapshot, at);
}

static void snapshot_found(void *ctx, const struct kipt_snapshot *snapshot)
{
	struct list *list = ctx;

	list->count++;
	snapshot_print(snapshot, list->names, list->json);
}

bool snapshots_list(const char *kallsyms, bool json)
{
	struct list list = { .json = json };
	struct genl *genl;
	bool ok = false;

	if (!kernel_symbols_check(kallsyms))
		return false;
	genl = genl_open(false);
	list.names = names_create(kallsyms, &list.maps, false);
	if (genl && list.names)
		ok = !genl_snapshot_each(genl, snapshot_found, &list);
	if (ok && !list.count && !json)
		puts("no snapshots in the module: kipt-collect moves them to /var/lib/kipt/snapshot-TIME-BOOT-NUMBER (file report), 'kipt crash delete' deletes them, and a machine that met nothing has none");
	names_destroy(list.names);
	genl_close(genl);
	return ok;
}
