// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts of the manual pages, see page_text.h. In options.text the line MARK, which may
 * name verbs, names an option with its value; its text follows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/messages.h"
#include "page_text.h"

#define COMMENT	".\\\""
#define MARK	COMMENT " @ "

char *text_read(const char *dir, const char *name)
{
	char path[4096], *text = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.text", dir, name);
	file = fopen(path, "r");
	if (!file && errno == ENOENT)
		return strdup("");
	if (!file || getdelim(&text, &size, '\0', file) < 0) {
		say_errno(errno, "cannot read %s", path);
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

void text_put(const char *begin, const char *end, FILE *out)
{
	while (begin < end) {
		const char *next = strchrnul(begin, '\n');

		next += *next == '\n';
		if (strncmp(begin, COMMENT, strlen(COMMENT)))
			fwrite(begin, 1, next - begin, out);
		begin = next;
	}
}

const char *text_line(const char *text, const char *begin)
{
	while (*text && strncmp(text, begin, strlen(begin))) {
		text = strchrnul(text, '\n');
		text += *text == '\n';
	}
	return text;
}

/* Whether one of the words up to @end is @name. */
static bool has_word(const char *words, const char *end, const char *name)
{
	size_t len = strlen(name);

	for (; words < end; words += strcspn(words, " ") + 1) {
		if (strcspn(words, " ") == len && !strncmp(words, name, len))
			return true;
	}
	return false;
}

/* Whether the text below @mark is that of an option; *@own: it names the verb. */
static bool mark_is(const char *mark, const struct kipt_verb *verb,
		    const struct kipt_option *option, bool *own)
{
	const char *verbs = mark + strlen(MARK), *name = strstr(verbs, "--");
	char key[128];

	if (!name)
		return false;
	snprintf(key, sizeof(key), "--%s%s%s\n", option->name,
		 option->value ? " " : "", option->value ? option->value : "");
	*own = name > verbs;
	return !strncmp(name, key, strlen(key)) &&
	       (!*own || has_word(verbs, name, verb->name));
}

const char *option_text(const char *texts, const struct kipt_verb *verb,
			const struct kipt_option *option, const char **end)
{
	const char *mark = text_line(texts, MARK), *found = NULL;
	bool own = false;

	for (; *mark && !own; mark = text_line(mark + 1, MARK)) {
		if (mark_is(mark, verb, option, &own))
			found = mark;
		else
			own = false;
	}
	if (found)
		*end = text_line(found + 1, MARK);
	return found;
}

static bool mark_used(const char *mark)
{
	const struct kipt_verb *const *verb;
	const struct kipt_option *option;
	bool own;

	for (verb = kipt_verbs; *verb; verb++) {
		for (option = (*verb)->options; option->name; option++) {
			if (option->help && mark_is(mark, *verb, option, &own))
				return true;
		}
	}
	return false;
}

bool option_texts_used(const char *texts)
{
	const char *mark = text_line(texts, MARK);

	for (; *mark; mark = text_line(mark + 1, MARK)) {
		if (mark_used(mark))
			continue;
		say_error("options.text: no verb has the option '%.*s'",
			  (int)strcspn(mark + strlen(MARK), "\n"),
			  mark + strlen(MARK));
		return false;
	}
	return true;
}
