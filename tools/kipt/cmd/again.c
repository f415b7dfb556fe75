// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that show more, see again.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../cli/printable.h"
#include "again.h"

static char kept[AGAIN_ROOM];
/* The options among them that choose CPUs, for --html. */
static char cpus[AGAIN_ROOM];
static char shown[AGAIN_ROOM];
static char command[32];

static bool is_plain(const char *word)
{
	const char *c;

	for (c = word; *c; c++) {
		if (!isascii(*c) || (!isalnum(*c) && !strchr("_-+=./,:@%", *c)))
			return false;
	}
	return c != word;
}

bool again_add(char *text, size_t size, const char *more)
{
	size_t length = strlen(text), added = strlen(more);

	if (added >= size - length)
		return false;
	memcpy(text + length, more, added + 1);
	return true;
}

bool again_word(char *text, size_t size, const char *word)
{
	char c[2] = "";

	if (is_plain(word))
		return again_add(text, size, " ") &&
		       again_add(text, size, word);
	if (!again_add(text, size, " '"))
		return false;
	for (; *word; word++) {
		c[0] = *word;
		if (!again_add(text, size, *word == '\'' ? "'\\''" : c))
			return false;
	}
	return again_add(text, size, "'");
}

void again_typed(char *text, size_t size, int argc, char **argv)
{
	char file[AGAIN_ROOM];
	const char *word;
	int i;

	text[0] = 0;
	for (i = 0; i < argc; i++) {
		word = argv[i];
		/* Right after --time the name of a file would be taken for a stretch. */
		if (!i && time_range_like(word)) {
			snprintf(file, sizeof(file), "./%s", word);
			word = file;
		}
		if (!again_word(text, size, word)) {
			text[0] = 0;
			return;
		}
	}
}

/* The option that a word is, or the begin of; NULL: none. */
static const struct kipt_option *option_of(const struct kipt_option *options,
					   const char *word)
{
	const struct kipt_option *begun = NULL;
	size_t length = strcspn(word, "=");

	/* Standard input. */
	if (!word[1])
		return NULL;
	for (; options->name; options++) {
		if (word[1] != '-') {
			if (options->letter == word[1])
				return options;
			continue;
		}
		if (strncmp(options->name, word + 2, length - 2))
			continue;
		if (strlen(options->name) + 2 == length)
			return options;
		begun = options;
	}
	return begun;
}

/* How many words an option is, of the @count that are left. */
static int words_of(const struct kipt_option *option, char **words, int count)
{
	bool attached = words[0][1] == '-' ? !!strchr(words[0], '=') :
					     !!words[0][2];

	if (!option || !option->value || attached || count < 2)
		return 1;
	return option->value[0] != '[' || time_range_like(words[1]) ? 2 : 1;
}

static bool is_replaced(const struct kipt_option *option)
{
	if (!option)
		return false;
	switch (option->id) {
	case VIEW_OPTION_SLOWEST:
	case VIEW_OPTION_TOP:
	case VIEW_OPTION_JSON:
	case VIEW_OPTION_TIME:
	case VIEW_OPTION_STATS:
	case VIEW_OPTION_HTML:
		return true;
	}
	return false;
}

/* A command that looks other than it is would be another one. */
static bool is_shown(const char *text)
{
	static char plain[AGAIN_ROOM];

	snprintf(plain, sizeof(plain), "%s", text);
	plain_text(plain);
	return !strcmp(plain, text);
}

void again_keep(const struct kipt_option *options, int argc, char **argv)
{
	const struct kipt_option *option;
	bool ended = false, full = false;
	char *to;
	int i, words;

	kept[0] = 0;
	cpus[0] = 0;
	for (i = 0; i < argc; i += words) {
		ended |= i && !strcmp(argv[i - 1], "--");
		option = ended || argv[i][0] != '-' ? NULL :
			 option_of(options, argv[i]);
		words = ended || !option ? 1 :
			words_of(option, argv + i, argc - i);
		if (is_replaced(option))
			continue;
		to = option && option->id == VIEW_OPTION_CPU ? cpus : kept;
		full |= !again_word(to, AGAIN_ROOM, argv[i]);
		if (words == 2)
			full |= !again_word(to, AGAIN_ROOM, argv[i + 1]);
	}
	if (full || !is_shown(kept) || !is_shown(cpus))
		kept[0] = 0;
}

static void page_settle(struct view_options *view, const char *path)
{
	if (path) {
		snprintf(shown, sizeof(shown), "%s", path);
		plain_text(shown);
		view->path = shown;
	}
	/* A page may be of some CPUs alone, and so is that of a stretch of it. */
	view->typed_cpus = cpus;
}

void again_settle(struct view_options *view, const struct kipt_verb *verb, const char *path)
{
	bool page = view->mode == VIEW_HTML;

	if (page)
		page_settle(view, path);
	if ((view->mode != VIEW_SLOWEST && !page) || !kept[0])
		return;
	snprintf(command, sizeof(command), "kipt %s", verb->name);
	view->again = command;
	view->typed = kept;
}
