// SPDX-License-Identifier: GPL-2.0-only
/*
 * Manual pages, see man_page.h.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <string.h>

#include "man_page.h"
#include "page_text.h"

/* When the pages changed last in more than words. */
#define PAGE_DATE	"2026-11-01"
#define HERE		".\\\" @ verbs\n"

/* Roff draws some characters otherwise than they are typed. */
static void put_char(char c, FILE *out)
{
	static const struct {
		char c;
		const char *roff;
	} special[] = {
		{ '-', "\\-" }, { '\\', "\\e" }, { '\'', "\\(aq" }, { '`', "\\(ga" },
		{ '^', "\\(ha" }, { '~', "\\(ti" },
	};
	size_t i;

	for (i = 0; i < sizeof(special) / sizeof(*special); i++) {
		if (special[i].c == c) {
			fputs(special[i].roff, out);
			return;
		}
	}
	fputc(c, out);
}

/* Plain text; none of its lines is a request. */
static void put_plain(const char *text, const char *end, FILE *out)
{
	bool begins = true;

	for (; text < end; text++) {
		if (begins && *text == '.')
			fputs("\\&", out);
		begins = *text == '\n';
		put_char(*text, out);
	}
}

static void put_text(const char *text, FILE *out)
{
	put_plain(text, text + strlen(text), out);
}

/* An empty line begins a paragraph. */
static void put_paragraphs(const char *text, FILE *out)
{
	const char *end;

	for (; *text; text = end + (*end == '\n')) {
		end = strchrnul(text, '\n');
		put_plain(text, end, out);
		fputs(end > text ? "\n" : ".PP\n", out);
	}
}

static char font_of(char c)
{
	return isupper((unsigned char)c) ? 'I' : isalpha((unsigned char)c) ? 'B' : 'R';
}

/* What one replaces is in italics, what one types is bold. */
static void put_words(const char *text, FILE *out)
{
	char font = 0;

	for (; *text; text++) {
		if (font_of(*text) != font)
			fprintf(out, "\\f%c", font = font_of(*text));
		put_char(*text, out);
	}
	fputs("\\fR", out);
}

static void put_option(const struct kipt_option *option, FILE *out)
{
	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", out);
	put_text(option->name, out);
	fputs("\\fR", out);
	if (option->value) {
		fputc(' ', out);
		put_words(option->value, out);
	}
	fputc('\n', out);
}

static void put_options(const struct kipt_verb *verb, const char *texts,
			FILE *out)
{
	static const struct kipt_option help = { .name = "help", .letter = 'h' };
	const struct kipt_option *option;
	const char *text, *end;

	fputs(".SH OPTIONS\n", out);
	for (option = verb->options; option->name; option++) {
		if (!option->help)
			continue;
		put_option(option, out);
		text = option_text(texts, verb, option, &end);
		if (text) {
			text_put(text, end, out);
			continue;
		}
		put_char(toupper((unsigned char)option->help[0]), out);
		put_text(option->help + 1, out);
		fputs(".\n", out);
	}
	put_option(&help, out);
	fputs("Shows the help of the verb.\n", out);
}

/* Lines of the help, which are indented by two. */
static void put_examples(const char *text, FILE *out)
{
	const char *end;

	fputs(".SH EXAMPLES\n.nf\n", out);
	for (; *text; text = end + (*end == '\n')) {
		text += strspn(text, " ");
		end = strchrnul(text, '\n');
		put_plain(text, end, out);
		fputc('\n', out);
	}
	fputs(".fi\n", out);
}

static void put_title(const char *verb, FILE *out)
{
	fputs(".TH KIPT", out);
	if (verb)
		fputs("\\-", out);
	for (; verb && *verb; verb++)
		fputc(toupper((unsigned char)*verb), out);
	fprintf(out, " 1 \"%s\" \"kipt %s\" \"User Commands\"\n", PAGE_DATE,
		KIPT_VERSION);
}

void man_verb(const struct kipt_verb *verb, const char *text,
	      const char *options, FILE *out)
{
	const char *sections = text_line(text, ".SH ");

	put_title(verb->name, out);
	fprintf(out, ".SH NAME\nkipt\\-%s \\- ", verb->name);
	put_text(verb->summary, out);
	fprintf(out, "\n.SH SYNOPSIS\n.B kipt %s\n.RI [ OPTION ]...\\&\n",
		verb->name);
	if (verb->operands[0]) {
		put_words(verb->operands, out);
		fputc('\n', out);
	}
	fputs(".SH DESCRIPTION\n", out);
	put_paragraphs(verb->about, out);
	text_put(text, sections, out);
	put_options(verb, options, out);
	text_put(sections, sections + strlen(sections), out);
	fputs(".SH EXIT STATUS\n0 done, 1 refused or failed, 2 wrong usage", out);
	fputs(strstr(verb->operands, "COMMAND") ?
	      "; if a command ran,\nits own, or 128 + N if signal N ended it.\n" :
	      ".\n", out);
	if (verb->examples)
		put_examples(verb->examples, out);
	fputs(".SH SEE ALSO\n.BR kipt (1)\n", out);
}

void man_index(const char *text, FILE *out)
{
	const struct kipt_verb *const *verb;
	const char *here = text_line(text, HERE);

	/* It has tables. */
	fputs("'\\\" t\n", out);
	put_title(NULL, out);
	text_put(text, here, out);
	fputs(".SH VERBS\n", out);
	for (verb = kipt_verbs; *verb; verb++) {
		fprintf(out, ".TP\n.BR kipt\\-%s (1)\n", (*verb)->name);
		put_text((*verb)->summary, out);
		fputc('\n', out);
	}
	text_put(here, here + strlen(here), out);
}
