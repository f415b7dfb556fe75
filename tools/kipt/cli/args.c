// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line, see args.h. What the options mean is the verbs' matter.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "messages.h"

/* Larger CPU numbers are nobody's; it bounds the walk over a range. */
#define CPU_MAX		65535

int args_exit(int code)
{
	return code == ARGS_HELP ? KIPT_EXIT_DONE : KIPT_EXIT_USAGE;
}

static void point_to_help(const char *verb)
{
	fprintf(stderr, "kipt: try 'kipt %s --help'\n", verb);
}

int args_bad(const struct args *args, const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	say_error("%s", text);
	point_to_help(args->verb->name);
	return KIPT_EXIT_USAGE;
}

bool args_operands(const struct args *args, int min, int max)
{
	if (args->operands >= min && args->operands <= max)
		return true;
	if (args->operands < min)
		args_bad(args, "%s needs %s", args->verb->name,
			 args->verb->operands);
	else
		args_bad(args, "%s: one argument too many: '%s'",
			 args->verb->name, args->argv[max]);
	return false;
}

bool args_session(const struct args *args, u32 *session)
{
	u64 id;

	if (!args_operands(args, 1, 1))
		return false;
	if (!args_number(args->argv[0], ~0U, &id) || !id) {
		args_bad(args, "'%s' is no session id: those are numbers from 1 on",
			 args->argv[0]);
		return false;
	}
	*session = id;
	return true;
}

static void help_option(const struct kipt_option *option, FILE *out)
{
	char head[64];
	const char *text = option->help, *end;

	snprintf(head, sizeof(head), "%c%c%s --%s%s%s",
		 option->letter ? '-' : ' ',
		 option->letter ? option->letter : ' ',
		 option->letter ? "," : " ", option->name,
		 option->value ? " " : "", option->value ? option->value : "");
	if (strlen(head) > 24)
		fprintf(out, "  %s\n  %-24s ", head, "");
	else
		fprintf(out, "  %-24s ", head);
	while ((end = strchr(text, '\n'))) {
		fprintf(out, "%.*s\n  %-24s ", (int)(end - text), text, "");
		text = end + 1;
	}
	fprintf(out, "%s\n", text);
}

void args_help(const struct kipt_verb *verb, FILE *out)
{
	static const struct kipt_option help = {
		.name = "help", .letter = 'h', .help = "this text",
	};
	const struct kipt_option *option;

	fprintf(out, "Usage: kipt %s [OPTION]...%s%s\n\n%s\n\nOptions:\n",
		verb->name, verb->operands[0] ? " " : "", verb->operands,
		verb->about);
	for (option = verb->options; option->name; option++)
		if (option->help)
			help_option(option, out);
	help_option(&help, out);
	if (verb->examples)
		fprintf(out, "\nExamples:\n%s\n", verb->examples);
	fputs("\nExit status: 0 done, 1 refused or failed, 2 wrong usage.\n",
	      out);
}

static const struct kipt_option *option_find(const struct kipt_verb *verb,
					     const char *name, size_t len)
{
	const struct kipt_option *option;

	for (option = verb->options; option->name; option++) {
		if (strlen(option->name) == len &&
		    !strncmp(option->name, name, len))
			return option;
	}
	return NULL;
}

static const struct kipt_option *option_letter(const struct kipt_verb *verb,
					       char letter)
{
	const struct kipt_option *option;

	for (option = verb->options; option->name; option++) {
		if (option->letter == letter)
			return option;
	}
	return NULL;
}

/* Shift what lies between so that the operands stand together in front. */
static void operand_keep(struct args *args)
{
	char *operand = args->argv[args->next];
	int i;

	for (i = args->next; i > args->operands; i--)
		args->argv[i] = args->argv[i - 1];
	args->argv[args->operands++] = operand;
	args->next++;
}

static void operands_rest(struct args *args)
{
	while (args->next < args->argc)
		operand_keep(args);
}

static int option_take(struct args *args, const struct kipt_option *option,
		       const char *attached)
{
	args->value = attached;
	if (!option->value && attached) {
		args_bad(args, "--%s takes no value", option->name);
		return ARGS_BAD;
	}
	if (!attached && option->value && *option->value == '[' &&
	    (args->next >= args->argc || !args->is_value ||
	     !args->is_value(args->argv[args->next])))
		return option->id;
	if (option->value && !attached) {
		if (args->next >= args->argc) {
			args_bad(args, "--%s needs a value: %s", option->name,
				 option->value);
			return ARGS_BAD;
		}
		args->value = args->argv[args->next++];
	}
	return option->id;
}

static int option_long(struct args *args, const char *text)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);
	const struct kipt_option *option = option_find(args->verb, text, len);

	if (!option) {
		args_bad(args, "%s has no option '--%.*s'", args->verb->name,
			 (int)len, text);
		return ARGS_BAD;
	}
	return option_take(args, option, equals ? equals + 1 : NULL);
}

static int option_short(struct args *args, const char *text)
{
	const struct kipt_option *option = option_letter(args->verb, text[0]);

	if (!option || (!option->value && text[1])) {
		args_bad(args, "%s has no option '-%s'", args->verb->name,
			 text);
		return ARGS_BAD;
	}
	return option_take(args, option, text[1] ? text + 1 : NULL);
}

int args_option(struct args *args)
{
	while (args->next < args->argc) {
		const char *word = args->argv[args->next];

		if (word[0] != '-' || !word[1]) {
			if (args->first_operand_ends)
				break;
			operand_keep(args);
			continue;
		}
		args->next++;
		if (!strcmp(word, "--"))
			break;
		if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			args_help(args->verb, stdout);
			return ARGS_HELP;
		}
		return word[1] == '-' ? option_long(args, word + 2) :
					option_short(args, word + 1);
	}
	operands_rest(args);
	return ARGS_END;
}

bool args_number(const char *text, u64 max, u64 *number)
{
	bool hex = text[0] == '0' && (text[1] | 0x20) == 'x';
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	value = strtoull(text, &end, hex ? 16 : 10);
	if (errno || *end || value > max)
		return false;
	*number = value;
	return true;
}

bool args_size(const char *text, u64 *size)
{
	static const char units[] = "KMG";
	size_t len = strlen(text);
	const char *unit = len ? strchr(units, toupper(text[len - 1])) : NULL;
	unsigned int shift = unit && *unit ? 10 * (unit - units + 1) : 0;
	char digits[32];
	u64 value;

	if (shift)
		len--;
	if (len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	digits[len] = 0;
	if (!args_number(digits, ~0ULL >> shift, &value))
		return false;
	*size = value << shift;
	return true;
}

static bool cpu_number(const char **text, u32 *cpu)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	value = strtoul(*text, &end, 10);
	if (value > CPU_MAX)
		return false;
	*text = end;
	*cpu = value;
	return true;
}

bool args_cpus(const char *text, void (*found)(void *ctx, u32 cpu), void *ctx)
{
	u32 first, last;

	do {
		if (!cpu_number(&text, &first))
			return false;
		last = first;
		if (*text == '-' && (text++, !cpu_number(&text, &last)))
			return false;
		if (last < first)
			return false;
		for (; found && first <= last; first++)
			found(ctx, first);
	} while (*text++ == ',');
	return !text[-1];
}
