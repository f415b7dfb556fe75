// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions called most: cc count_calls.c $(pkg-config --cflags --libs kipt)
 */
#include <libkipt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct function { char name[256]; unsigned long calls; } *list;

static struct function *find(size_t *count, const char *name)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	list = realloc(list, ++*count * sizeof(*list));
	if (!list)
		exit(1);
	list[i].calls = 0;
	return memcpy(&list[i], name, strlen(name) + 1);
}

static bool take(void *ctx, struct libkipt *trace,
		 const struct libkipt_record *record)
{
	struct libkipt_place to;
	char name[256];

	if (record->type != LIBKIPT_CALL)
		return true;
	libkipt_name(trace, record->pid, record->to, &to);
	if (to.symbol)
		snprintf(name, sizeof(name), "%s [%s]", to.symbol, to.object);
	else
		snprintf(name, sizeof(name), "0x%lx [%s]", to.offset, to.object);
	return ++find(ctx, name)->calls;
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return (a->calls < b->calls) - (a->calls > b->calls);
}

int main(int argc, char **argv)
{
	struct libkipt *trace = libkipt_create();
	size_t count = 0;

	if (!trace || argc != 2 || !libkipt_decode(trace, argv[1], take, &count))
		return puts(trace ? libkipt_error(trace) : ""), 1;
	qsort(list, count, sizeof(*list), compare);
	for (size_t i = 0; i < count && i < 10; i++)
		printf("%8lu  %s\n", list[i].calls, list[i].name);
	libkipt_destroy(trace);
}
