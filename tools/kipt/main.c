// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kipt tool: finds the verb, and has the help that needs none.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/messages.h"
#include "cli/standard_output.h"

static void usage(FILE *out)
{
	const struct kipt_verb *const *verb;

	fputs("Usage: kipt VERB [OPTION]... [ARGUMENT]...\n\n"
	      "Trace what CPUs execute, with Intel Processor Trace.\n\n"
	      "Verbs:\n", out);
	for (verb = kipt_verbs; *verb; verb++)
		fprintf(out, "  %-9s %s\n", (*verb)->name, (*verb)->summary);
	fputs("\nOptions:\n"
	      "  -h, --help     this text; 'kipt VERB --help' for a verb\n"
	      "      --version  the tool's version\n"
	      "\nExamples:\n"
	      "  kipt record -- gzip -k file    trace a command and show its calls\n"
	      "  kipt start --cpus 2,3          trace CPUs 2 and 3 until 'kipt stop'\n"
	      "  kipt open perf.data            what perf recorded, on one screen\n"
	      "  kipt decode cpu2.pt --pages kernel --pages user\n"
	      "\nExit status: 0 done, 1 refused or failed, 2 wrong usage.\n"
	      "kipt(1) has the whole story, kipt-VERB(1) that of a verb.\n", out);
}

static const struct kipt_verb *verb_find(const char *name)
{
	const struct kipt_verb *const *verb;

	for (verb = kipt_verbs; *verb; verb++) {
		if (!strcmp((*verb)->name, name))
			return *verb;
	}
	return NULL;
}

static int verb_help(const char *name)
{
	const struct kipt_verb *verb = name ? verb_find(name) : NULL;

	if (name && !verb) {
		say_error("no verb '%s'; 'kipt --help' lists them", name);
		return KIPT_EXIT_USAGE;
	}
	if (verb)
		args_help(verb, stdout);
	else
		usage(stdout);
	return KIPT_EXIT_DONE;
}

static int run(int argc, char **argv)
{
	const struct kipt_verb *verb;

	if (argc < 2) {
		usage(stderr);
		return KIPT_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return verb_help(NULL);
	if (!strcmp(argv[1], "help"))
		return verb_help(argv[2]);
	if (!strcmp(argv[1], "--version")) {
		printf("kipt %s (records version %d)\n", KIPT_VERSION,
		       KIPT_RECORD_VERSION);
		return KIPT_EXIT_DONE;
	}
	verb = verb_find(argv[1]);
	if (!verb) {
		say_error("no verb '%s'; 'kipt --help' lists them", argv[1]);
		return KIPT_EXIT_USAGE;
	}
	return verb->run(argc - 2, argv + 2);
}

/* A file that is opened gets the lowest number that is free: if standard output is closed, that
 * file would get what is written to standard output. What is opened here instead cannot be written.
 */
static void standard_files_fill(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	int exit;

	standard_files_fill();
	/* Much is written, and by itself libc writes a page at a time. */
	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	exit = run(argc, argv);
	if (!output_flush(stdout))
		return exit;
	if (stdout_error() > 0)
		say_errno(stdout_error(), "cannot write to standard output");
	else
		say_error("cannot write to standard output");
	return exit == KIPT_EXIT_USAGE ? exit : KIPT_EXIT_FAILED;
}
