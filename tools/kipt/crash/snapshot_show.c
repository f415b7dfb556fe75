// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots in words and as JSON, see snapshot_show.h.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "../cli/json_lines.h"
#include "../kernel/genl.h"
#include "crash_show.h"
#include "snapshot_show.h"

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

	printf("  killed by %s, user %u, %llu KiB\n",
	       signal_name(s, text, sizeof(text)), s->uid,
	       (unsigned long long)s->size >> 10);
}

static void json_print(const struct kipt_snapshot *s, const char *at)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "snapshot");
	jsonl_number(line, "id", s->id);
	jsonl_number(line, "time", s->time);
	jsonl_text(line, "hook", crash_hook_name(s->hook));
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
	time_t seconds = s->time / 1000000000;
	char when[32] = "?";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	printf("%-4u %s  %-7s CPU %-3u %s", s->id, when,
	       crash_hook_name(s->hook), s->cpu,
	       s->ip || s->signal ? at : "?");
	if (s->comm[0])
		printf("  %s (%u)", s->comm, s->pid);
	if (s->signal) {
		killed_print(s);
		return;
	}
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
	struct genl *genl = genl_open(false);
	struct list list = { .json = json };
	bool ok = false;

	list.names = names_create(kallsyms, &list.maps, false);
	if (genl && list.names)
		ok = !genl_snapshot_each(genl, snapshot_found, &list);
	if (ok && !list.count && !json)
		puts("no snapshots: since the module was loaded no armed CPU met an oops, a warning or a report of an error, and no program that is kept was killed");
	names_destroy(list.names);
	genl_close(genl);
	return ok;
}
