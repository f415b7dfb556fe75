// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line, see args.h. What the options mean is the verbs' matter.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "messages.h"

/* Larger CPU numbers are nobody's; it bounds the walk over a range. */
#define CPU_MAX		65535
/* A verb has fewer. */
#define OPTIONS_MAX	96
/* More than any letter. */
#define NAMED		256

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
	fprintf(out, "\nExit status: 0 done, %s1 refused or failed, 2 wrong usage.\n",
		strstr(verb->operands, "COMMAND") ? "or that of COMMAND; " : "");
}

/* What getopt_long() is given of a verb: one command line is read at a time. */
static struct option names[OPTIONS_MAX + 2];
static char letters[3 * (OPTIONS_MAX + 2)];

static const struct option help_name = { "help", no_argument, NULL, 'h' };

static int value_kind(const struct kipt_option *option)
{
	if (!option->value)
		return no_argument;
	return *option->value == '[' ? optional_argument : required_argument;
}

/* A name without a letter is known by its index. */
static void begin(const struct args *args)
{
	const struct kipt_option *options = args->verb->options;
	char *letter = letters;
	u32 i;

	/* A value that is missing is distinguished from an option that is. */
	letter = stpcpy(letter, args->first_operand_ends ? "+:h" : ":h");
	for (i = 0; i < OPTIONS_MAX && options[i].name; i++) {
		names[i] = (struct option){
			.name = options[i].name,
			.has_arg = value_kind(&options[i]),
			.val = NAMED + i,
		};
		if (!options[i].letter)
			continue;
		*letter++ = options[i].letter;
		letter = stpcpy(letter, &"::"[2 - names[i].has_arg]);
	}
	names[i] = help_name;
	names[i + 1] = (struct option){ };
	opterr = 0;
	/* Not 1, so that getopt_long() begins anew. */
	optind = 0;
}

static const struct kipt_option *option_of(const struct args *args, int code)
{
	const struct kipt_option *option = args->verb->options;

	if (code >= NAMED)
		return option + (code - NAMED);
	while (option->name && option->letter != code)
		option++;
	return option;
}

/* Of more than one option: of one, it would mean that. */
static bool is_begin(const char *word)
{
	const struct option *name;

	for (name = names; name->name; name++) {
		if (!strncmp(name->name, word + 2, strcspn(word + 2, "=")))
			return true;
	}
	return false;
}

static int refuse(const struct args *args, bool value_missing)
{
	const struct kipt_option *option = option_of(args, optopt);
	const char *word = args->argv[optind - 2];

	if (value_missing)
		args_bad(args, "--%s needs a value: %s", option->name,
			 option->value);
	else if (optopt >= NAMED || (optopt == 'h' && word[1] == '-'))
		args_bad(args, "%.*s takes no value", (int)strcspn(word, "="),
			 word);
	else if (optopt)
		args_bad(args, "%s has no option '-%c'", args->verb->name,
			 optopt);
	else
		args_bad(args, "%s has %s '%.*s'", args->verb->name,
			 is_begin(word) ? "several options that begin with" :
					  "no option",
			 (int)strcspn(word, "="), word);
	return ARGS_BAD;
}

static int end(struct args *args)
{
	args->operands = args->argc + 1 - optind;
	args->argv += optind - 1;
	return ARGS_END;
}

/* The word before the arguments is the verb's name, as getopt_long() wants it. */
int args_option(struct args *args)
{
	const struct kipt_option *option;
	int code;

	if (!args->begun)
		begin(args);
	args->begun = true;
	code = getopt_long(args->argc + 1, args->argv - 1, letters, names, NULL);
	if (code < 0)
		return end(args);
	if (code == '?' || code == ':')
		return refuse(args, code == ':');
	if (code == 'h') {
		args_help(args->verb, stdout);
		return ARGS_HELP;
	}
	option = option_of(args, code);
	args->value = optarg;
	if (!optarg && value_kind(option) == optional_argument &&
	    optind <= args->argc && args->is_value &&
	    args->is_value(args->argv[optind - 1]))
		args->value = args->argv[optind++ - 1];
	return option->id;
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

bool args_within(const char *name, const char *value, u64 least, u64 most, u64 *number)
{
	if (args_number(value, most, number) && *number >= least)
		return true;
	say_error("--%s %s: allowed are %llu to %llu", name, value, (unsigned long long)least,
		  (unsigned long long)most);
	return false;
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
