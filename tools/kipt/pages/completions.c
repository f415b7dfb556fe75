// SPDX-License-Identifier: GPL-2.0-only
/*
 * Completions of shells, see completions.h. What can follow an option, and what the
 * operands of a verb are, is in the names they have in the help.
 */
#include <ctype.h>
#include <string.h>

#include "../cli/kipt.h"
#include "completions.h"

#define LICENCE	"# SPDX-License-Identifier: GPL-2.0-only\n"

/* What can follow. */
enum kind { KIND_NONE, KIND_WORDS, KIND_FILE, KIND_FOLDER, KIND_COMMAND };

static enum kind kind_of(const char *value)
{
	if (strstr(value, "COMMAND"))
		return KIND_COMMAND;
	if (strstr(value, "FILE") || strstr(value, "OUT"))
		return KIND_FILE;
	if (strstr(value, "DIR"))
		return KIND_FOLDER;
	return islower((unsigned char)value[0]) ? KIND_WORDS : KIND_NONE;
}

/* The words of it that are typed as they are, such as those of "ring|once". */
static void put_words(const char *value, FILE *out)
{
	const char *space = "";
	size_t len, low;

	for (; *value; value += len + (value[len] != 0)) {
		len = strcspn(value, " |[]");
		low = strspn(value, "abcdefghijklmnopqrstuvwxyz");
		if (!len || low != len)
			continue;
		fprintf(out, "%s%.*s", space, (int)len, value);
		space = " ";
	}
}

/* Text for between single quotes, its lines joined; @special have a backslash. */
static void put_quoted(const char *text, size_t len, const char *special,
		       FILE *out)
{
	for (; len; len--, text++) {
		if (strchr(special, *text))
			fputc('\\', out);
		if (*text == '\'')
			fputs("'\\'", out);
		fputc(*text == '\n' ? ' ' : *text, out);
	}
}

static void put_summary(const struct kipt_verb *verb, const char *special,
			FILE *out)
{
	fputc('\'', out);
	put_quoted(verb->summary, strlen(verb->summary), special, out);
	fputs("'\n", out);
}

/* As much of a help as one line has room for. */
static size_t brief(const char *help)
{
	size_t len = 0;

	do {
		len += strcspn(help + len, ".;:") + 1;
	} while (help[len - 1] && help[len] && !isspace((unsigned char)help[len]));
	return len - 1;
}

static const char *const bash_kinds[] = { "none", "words", "file", "folder", "command" };

static void bash_verb(const struct kipt_verb *verb, FILE *out)
{
	const struct kipt_option *option;

	fprintf(out, "\t%s)\n\t\toptions='-h --help", verb->name);
	for (option = verb->options; option->name; option++) {
		if (option->help && option->letter)
			fprintf(out, " -%c", option->letter);
		if (option->help)
			fprintf(out, " --%s", option->name);
	}
	fprintf(out, "'\n\t\toperand=%s words='", bash_kinds[kind_of(verb->operands)]);
	put_words(verb->operands, out);
	fputs("'\n\t\tcase $last in\n", out);
	for (option = verb->options; option->name; option++) {
		if (!option->help || !option->value || option->value[0] == '[')
			continue;
		fputs("\t\t", out);
		if (option->letter)
			fprintf(out, "-%c | ", option->letter);
		fprintf(out, "--%s) kind=%s words='", option->name,
			bash_kinds[kind_of(option->value)]);
		put_words(option->value, out);
		fputs("' ;;\n", out);
	}
	fputs("\t\tesac ;;\n", out);
}

void complete_bash(FILE *out)
{
	const struct kipt_verb *const *verb;

	fputs("# shellcheck shell=bash\n" LICENCE
	      "_kipt()\n{\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal options='-h --help --version' words='' operand=words kind=operand i\n"
	      "\t# --option=value is three words.\n"
	      "\tif [ \"$word\" = = ]; then\n"
	      "\t\tword=''\n"
	      "\telif [ \"$last\" = = ]; then\n"
	      "\t\tlast=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tfi\n"
	      "\tif ((COMP_CWORD == 1)); then\n\t\twords='help", out);
	for (verb = kipt_verbs; *verb; verb++)
		fprintf(out, " %s", (*verb)->name);
	fputs("'\n\telse case ${COMP_WORDS[1]} in\n", out);
	for (verb = kipt_verbs; *verb; verb++)
		bash_verb(*verb, out);
	fputs("\tesac fi\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t[ \"${COMP_WORDS[i]}\" = -- ] || continue\n"
	      "\t\toptions='' kind=operand\n"
	      "\t\t[ $operand = command ] && ((i < COMP_CWORD - 1)) && operand='file'\n"
	      "\t\tbreak\n"
	      "\tdone\n"
	      "\tif [ $kind = operand ]; then\n"
	      "\t\tkind=$operand\n"
	      "\t\t[[ $word == -* ]] && [ \"$options\" ] && kind=words words=$options\n"
	      "\tfi\n"
	      "\tcase $kind in\n"
	      "\tfile) i='-f' ;;\n"
	      "\tfolder) i='-d' ;;\n"
	      "\tcommand) i='-c' ;;\n"
	      "\t*) i='' ;;\n"
	      "\tesac\n"
	      "\t[[ $kind == f* ]] && compopt -o filenames 2>/dev/null\n"
	      "\t# shellcheck disable=SC2086\n"
	      "\tmapfile -t COMPREPLY < <(compgen $i -W \"$words\" -- \"$word\")\n"
	      "}\n"
	      "complete -F _kipt kipt\n", out);
}

static void zsh_value(const char *value, FILE *out)
{
	/* May it be left out? */
	fprintf(out, value[0] == '[' ? "'::value:" : "':%s:", value);
	switch (kind_of(value)) {
	case KIND_WORDS:
		fputc('(', out);
		put_words(value, out);
		fputc(')', out);
		break;
	case KIND_FILE:
		fputs("_files", out);
		break;
	case KIND_FOLDER:
		fputs("_files -/", out);
		break;
	default:
		break;
	}
	fputc('\'', out);
}

static void zsh_option(const struct kipt_option *option, FILE *out)
{
	fputs(" \\\n\t\t\t'*'", out);
	if (option->letter)
		fprintf(out, "{-%c%s,--%s%s}", option->letter,
			option->value ? "+" : "", option->name,
			option->value ? "=" : "");
	else
		fprintf(out, "--%s%s", option->name, option->value ? "=" : "");
	fputs("'[", out);
	put_quoted(option->help, brief(option->help), "[]:\\", out);
	fputs("]'", out);
	if (option->value)
		zsh_value(option->value, out);
}

static void zsh_verb(const struct kipt_verb *verb, FILE *out)
{
	const struct kipt_option *option;
	enum kind kind = kind_of(verb->operands);

	fprintf(out, "\t%s)\n\t\t_arguments -s -S '(- *)'{-h,--help}'[help]'",
		verb->name);
	for (option = verb->options; option->name; option++) {
		if (option->help)
			zsh_option(option, out);
	}
	if (kind == KIND_COMMAND)
		fputs(" \\\n\t\t\t'(-):command:_command_names -e' '*::argument:_normal'",
		      out);
	if (kind == KIND_FILE) {
		fputs(" \\\n\t\t\t'*:operand:{_files; compadd -- ", out);
		put_words(verb->operands, out);
		fputs("}'", out);
	}
	fputs(" ;;\n", out);
}

void complete_zsh(FILE *out)
{
	const struct kipt_verb *const *verb;

	fputs("#compdef kipt\n" LICENCE
	      "_kipt()\n{\n"
	      "\tlocal -a verbs=(\n", out);
	for (verb = kipt_verbs; *verb; verb++) {
		fprintf(out, "\t\t%s:", (*verb)->name);
		put_summary(*verb, ":\\", out);
	}
	fputs("\t)\n"
	      "\tif ((CURRENT == 2)); then\n"
	      "\t\t_describe verb verbs\n"
	      "\t\t_arguments '--help[help]' '--version[version]'\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tshift words\n"
	      "\t((CURRENT--))\n"
	      "\tcase $words[1] in\n", out);
	for (verb = kipt_verbs; *verb; verb++)
		zsh_verb(*verb, out);
	fputs("\tesac\n}\n_kipt \"$@\"\n", out);
}

/* What follows an option or, of a verb, options. */
static void fish_kind(const char *value, FILE *out)
{
	static const char *const calls[] = {
		[KIND_FOLDER] = "(__fish_complete_directories)",
		[KIND_COMMAND] = "(__fish_complete_command)",
	};
	enum kind kind = kind_of(value);

	if (kind == KIND_FILE)
		fputs(" -F", out);
	fputs(" -a '", out);
	if (kind == KIND_FOLDER || kind == KIND_COMMAND)
		fputs(calls[kind], out);
	else
		put_words(value, out);
	fputc('\'', out);
}

static void fish_option(const struct kipt_verb *verb,
			const struct kipt_option *option, FILE *out)
{
	fprintf(out, "complete -c kipt -n '__kipt_verb %s' -l %s", verb->name,
		option->name);
	if (option->letter)
		fprintf(out, " -s %c", option->letter);
	if (option->value && option->value[0] != '[') {
		fputs(kind_of(option->value) == KIND_FILE ? " -r" : " -x", out);
		fish_kind(option->value, out);
	}
	fputs(" -d '", out);
	put_quoted(option->help, brief(option->help), "\\", out);
	fputs("'\n", out);
}

static void fish_verb(const struct kipt_verb *verb, FILE *out)
{
	const struct kipt_option *option;

	fprintf(out, "complete -c kipt -n __kipt_first -a %s -d ", verb->name);
	put_summary(verb, "\\", out);
	if (kind_of(verb->operands) != KIND_NONE) {
		fprintf(out, "complete -c kipt -n '__kipt_verb %s'", verb->name);
		fish_kind(verb->operands, out);
		fputc('\n', out);
	}
	for (option = verb->options; option->name; option++) {
		if (option->help)
			fish_option(verb, option, out);
	}
}

void complete_fish(FILE *out)
{
	const struct kipt_verb *const *verb;

	fputs(LICENCE
	      "function __kipt_first\n"
	      "\ttest (count (commandline -opc)) -eq 1\n"
	      "end\n"
	      "function __kipt_verb\n"
	      "\tset -l words (commandline -opc)\n"
	      "\ttest (count $words) -gt 1; and test $words[2] = $argv[1]\n"
	      "end\n"
	      "complete -c kipt -f\n"
	      "complete -c kipt -s h -l help -d help\n"
	      "complete -c kipt -n __kipt_first -l version -d version\n", out);
	for (verb = kipt_verbs; *verb; verb++)
		fish_verb(*verb, out);
}
