// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the manual pages and the completions of the tool from the table of verbs, when the
 * tool is built. Usage: make_pages TEXTS OUT: the texts written by hand, and the folder
 * with man/ and completions/ for what is made.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/kipt.h"
#include "../cli/messages.h"
#include "completions.h"
#include "man_page.h"
#include "page_text.h"

static FILE *out_open(const char *dir, const char *name)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	if (!out)
		say_errno(errno, "cannot write %s", path);
	return out;
}

static bool out_close(FILE *out)
{
	bool good = !ferror(out);

	if (!fclose(out) && good)
		return true;
	say_errno(errno, "cannot write a page");
	return false;
}

/* A page; that of the index has no verb. */
static bool page(const char *texts, const struct kipt_verb *verb,
		 const char *options, const char *dir)
{
	char *text = text_read(texts, verb ? verb->name : "kipt");
	char name[128];
	bool good = false;
	FILE *out;

	if (!text)
		return false;
	snprintf(name, sizeof(name), "man/kipt%s%s.1", verb ? "-" : "",
		 verb ? verb->name : "");
	out = out_open(dir, name);
	if (out && verb)
		man_verb(verb, text, options, out);
	else if (out)
		man_index(text, out);
	if (out)
		good = out_close(out);
	free(text);
	return good;
}

static bool completion(const char *dir, const char *name, void (*put)(FILE *out))
{
	FILE *out = out_open(dir, name);

	if (!out)
		return false;
	put(out);
	return out_close(out);
}

static bool pages(const char *texts, const char *options, const char *dir)
{
	const struct kipt_verb *const *verb;

	if (!option_texts_used(options) ||
	    !completion(dir, "completions/kipt", complete_bash) ||
	    !completion(dir, "completions/_kipt", complete_zsh) ||
	    !completion(dir, "completions/kipt.fish", complete_fish))
		return false;
	for (verb = kipt_verbs; *verb; verb++) {
		if (!page(texts, *verb, options, dir))
			return false;
	}
	return page(texts, NULL, NULL, dir);
}

int main(int argc, char **argv)
{
	char *options;
	bool good;

	if (argc != 3) {
		fputs("Usage: make_pages TEXTS OUT\n", stderr);
		return KIPT_EXIT_USAGE;
	}
	options = text_read(argv[1], "options");
	good = options && pages(argv[1], options, argv[2]);
	free(options);
	return good ? KIPT_EXIT_DONE : KIPT_EXIT_FAILED;
}
