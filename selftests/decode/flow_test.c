// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs flow tests: text files that hold code, packets and the records
 * expected (see flows/README.md). Each is decoded as a whole; fed in all ways;
 * in all outputs; and with each bit flipped, which must be noticed unless a rule
 * says why not. User space.
 */
#include <stdlib.h>

#include "flow_flips.h"
#include "flow_ways.h"
#include "ktap.h"
#include "record_text.h"

static size_t to_text(const struct record_list *list, char *text, size_t size)
{
	size_t at = 0;
	u64 i;

	text[0] = 0;
	for (i = 0; i < list->count && at + 256 < size; i++) {
		record_text(&list->record[i], text + at, 256);
		at += strlen(text + at);
		text[at++] = '\n';
		text[at] = 0;
	}
	return at;
}

static void show(const char *what, const char *text)
{
	printf("# %s:\n#   ", what);
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n' && text[1])
			printf("#   ");
	}
}

static bool check_records(const struct flow_case *test,
			  const struct record_list *whole)
{
	static char text[TEXT_MAX];

	to_text(whole, text, sizeof(text));
	if (!strcmp(text, test->expected))
		return true;
	show("expected", test->expected);
	show("got", text);
	return false;
}

static bool nothing_wrong(const char *wrong)
{
	if (wrong)
		printf("# %s\n", wrong);
	return !wrong;
}

/* @flips: each bit is flipped, too. */
static void run_case(struct ktap *ktap, const char *path, bool flips)
{
	static struct flow_case test;
	struct record_list whole = { 0 };
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	if (!flow_case_read(&test, path)) {
		ktap_result(ktap, false, "%s is readable", name);
		return;
	}
	flow_case_decode(&test, test.config.output, test.size, 0, test.size,
			 &whole);
	ktap_result(ktap, check_records(&test, &whole), "%s", name);
	ktap_result(ktap, nothing_wrong(flow_ways_fed(&test, &whole)),
		    "%s however it is fed", name);
	ktap_result(ktap, nothing_wrong(flow_ways_outputs(&test, &whole)),
		    "%s in all outputs", name);
	if (flips)
		ktap_result(ktap, nothing_wrong(flow_flips(&test, &whole)),
			    "%s with each bit flipped", name);
	record_list_free(&whole);
}

/* Prints what the decoder makes of a file: to write a new one. */
static int print_records(const char *path)
{
	static struct flow_case test;
	static char text[TEXT_MAX];
	struct record_list whole = { 0 };

	if (!flow_case_read(&test, path))
		return 1;
	flow_case_decode(&test, test.config.output, test.size, 0, test.size,
			 &whole);
	to_text(&whole, text, sizeof(text));
	record_list_free(&whole);
	fputs(text, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	bool cases = argc > 2 && !strcmp(argv[1], "--cases");
	struct ktap ktap = { 0 };
	int i;

	if (argc == 3 && !strcmp(argv[1], "--print"))
		return print_records(argv[2]);
	if (argc < 2 || (argv[1][0] == '-' && !cases)) {
		fprintf(stderr,
			"usage: %s [--cases] FILE.pt...\n       %s --print FILE.pt\n"
			"--cases: what the files say, without flipped bits\n",
			argv[0], argv[0]);
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	ktap_start();
	for (i = 1 + cases; i < argc; i++)
		run_case(&ktap, argv[i], !cases);
	return ktap_end(&ktap);
}
