// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs and traces as text, for those who look for a bug. User space.
 */
#include "keep.h"

#include <sys/stat.h>

#include "features.h"

static void show_rules(FILE *file, const struct walk *walk)
{
	const struct walk_rules *rules = &walk->rules;
	u32 i;

	fprintf(file,
		"rules: os %d user %d disretc %d cr3-filter %d ptwrite %d fup-on-ptw %d tracestop %d\n",
		rules->os, rules->user, rules->disretc, rules->cr3_filter,
		rules->ptwrite, rules->fup_on_ptw, rules->stop);
	for (i = 0; i < rules->nr_ranges; i++)
		fprintf(file, "range %llx-%llx\n",
			(unsigned long long)rules->ranges[i].begin,
			(unsigned long long)rules->ranges[i].last);
	fprintf(file, "with:");
	for (i = 0; i < WALK_BITS; i++) {
		if (walk->used >> i & 1)
			fprintf(file, " %s", features[i].name);
	}
	fprintf(file, "\n");
}

void keep_show(FILE *file, const struct walk *walk)
{
	u32 i;

	program_show(walk->program, file);
	show_rules(file, walk);
	fprintf(file, "trace, %u bytes:", walk->encode.size);
	for (i = 0; i < walk->encode.size; i++) {
		if (i % 32 == 0)
			fprintf(file, "\n  %04x ", i);
		fprintf(file, " %02x", walk->encode.bytes[i]);
	}
	fprintf(file, "\n");
}

static FILE *open_file(const char *folder, u64 seed, const char *end)
{
	char name[512];
	FILE *file;

	mkdir(folder, 0777);
	snprintf(name, sizeof(name), "%s/%llu.%s", folder,
		 (unsigned long long)seed, end);
	file = fopen(name, "w");
	if (!file)
		fprintf(stderr, "random_diff: cannot write %s: %m\n", name);
	return file;
}

bool keep_program(const char *folder, u64 seed, const struct walk *walk,
		  const struct check *check, const char *why)
{
	FILE *text = open_file(folder, seed, "txt");
	FILE *trace = text ? open_file(folder, seed, "pt") : NULL;
	bool good = trace;

	if (trace) {
		good = fwrite(walk->encode.bytes, 1, walk->encode.size,
			      trace) == walk->encode.size;
		good &= !fclose(trace);
	}
	if (text) {
		fprintf(text, "%s\n", why);
		keep_show(text, walk);
		if (check) {
			check_show(check, text, true);
			check_show_packed(check, text);
		}
		good &= !fclose(text);
	}
	return good;
}
