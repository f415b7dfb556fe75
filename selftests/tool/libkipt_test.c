// SPDX-License-Identifier: GPL-2.0-only
/*
 * libkipt as a program uses it that prints by itself. Usage: libkipt_test PERF RAW
 * PAGES: recordings of a program with two branches, and its pages. Prints KTAP.
 */
#include <libkipt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../decode/ktap.h"

static struct ktap ktap;
static const char *perf, *raw, *pages;

struct seen {
	unsigned int branches, others, instructions;
	uint32_t pid, cpu;
	char words[64];
	/* Want no more after so many; decode this one within the first. */
	unsigned int most;
	const char *within;
	/* Decode it within the first by the same handle, which is refused. */
	const char *again;
};

static bool decode(const char *path, struct seen *seen, char *error);

static bool take(void *ctx, struct libkipt *trace,
		 const struct libkipt_record *record)
{
	struct seen *seen = ctx, inner = { 0 };

	if (seen->again) {
		seen->others += libkipt_decode(trace, seen->again, take, &inner) ? 1000 : 0;
		seen->again = NULL;
	}
	if (seen->within) {
		decode(seen->within, &inner, NULL);
		seen->within = NULL;
	}
	if (record->type != LIBKIPT_BRANCH) {
		seen->others++;
		return true;
	}
	seen->branches++;
	seen->instructions += record->instructions;
	seen->pid = record->pid;
	seen->cpu = record->cpu;
	snprintf(seen->words + strlen(seen->words),
		 sizeof(seen->words) - strlen(seen->words), "%s %llx %llx;",
		 record->kind, (unsigned long long)record->from,
		 (unsigned long long)record->to);
	return seen->branches != seen->most;
}

static bool decode(const char *path, struct seen *seen, char *error)
{
	struct libkipt *trace = libkipt_create();
	bool ok = trace && libkipt_pages(trace, pages) &&
		  libkipt_decode(trace, path, take, seen);

	if (trace && error)
		snprintf(error, 256, "%s", libkipt_error(trace));
	libkipt_destroy(trace);
	return ok;
}

static void check(const char *name, bool ok)
{
	ktap_result(&ktap, ok, "%s", name);
}

#define WORDS	"cond 401000 401005;jump-ind 401005 401010;"

static void records(void)
{
	struct seen of_raw = { 0 }, of_perf = { 0 }, few = { .most = 1 };
	struct seen nested = { .within = raw }, again = { .again = raw };
	struct seen reached = { 0 }, named = { 0 };

	check("libkipt_raw", decode(raw, &of_raw, NULL) &&
	      !strcmp(of_raw.words, WORDS) && of_raw.instructions == 2);
	check("libkipt_perf", decode(perf, &of_perf, NULL) &&
	      !strcmp(of_perf.words, WORDS) && of_perf.pid == 100);
	check("libkipt_no_more", decode(raw, &few, NULL) && few.branches == 1);
	check("libkipt_nested", decode(perf, &nested, NULL) &&
	      !strcmp(nested.words, WORDS));
	check("libkipt_again", decode(perf, &again, NULL) &&
	      !strcmp(again.words, WORDS) && again.others < 1000);
	check("libkipt_cpu_of_a_name", decode("cpu3.pt", &named, NULL) && named.cpu == 3 &&
	      !of_raw.cpu);
	/* Some of its five instructions a PSB counts. */
	check("libkipt_psb_within", decode("reached.pt", &reached, NULL) &&
	      reached.branches == 1 && reached.instructions == 5);
}

static void errors(void)
{
	struct libkipt *trace = libkipt_create();
	struct seen seen = { 0 };
	char error[256] = "";

	check("libkipt_no_file", !decode("none", &seen, error) &&
	      strstr(error, "none") && strstr(error, "ENOENT"));
	check("libkipt_no_trace", !decode("/dev/null", &seen, error) && *error);
	check("libkipt_no_image", !libkipt_image(trace, "none@0x1000") &&
	      strstr(libkipt_error(trace), "ENOENT"));
	check("libkipt_after_an_error", libkipt_decode(trace, perf, take, &seen) &&
	      !*libkipt_error(trace));
	check("libkipt_once", !libkipt_decode(trace, perf, take, &seen) &&
	      strstr(libkipt_error(trace), "a handle of its own"));
	libkipt_destroy(trace);
	libkipt_destroy(NULL);
}

static void notes(void)
{
	struct libkipt *trace = libkipt_create();
	struct seen seen = { 0 };

	libkipt_symfs(trace, "/nonexistent");
	check("libkipt_notes", libkipt_decode(trace, perf, take, &seen) &&
	      strstr(libkipt_notes(trace), "no code of"));
	libkipt_destroy(trace);
}

static void *decode_often(void *good)
{
	int i;

	for (i = 0; i < 50; i++) {
		struct seen seen = { 0 }, none = { 0 };
		char error[256] = "";

		if (!decode(i & 1 ? perf : raw, &seen, error) || *error ||
		    strcmp(seen.words, WORDS) ||
		    decode("none", &none, error) || !strstr(error, "ENOENT"))
			*(bool *)good = false;
	}
	return NULL;
}

static void threads(void)
{
	bool good[4] = { true, true, true, true };
	pthread_t thread[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, decode_often, &good[i]);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	check("libkipt_threads", good[0] && good[1] && good[2] && good[3]);
}

static struct sigaction interrupt;

/* In the background a shell has it ignored. */
static void signals(void)
{
	struct sigaction action;

	sigaction(SIGINT, NULL, &action);
	check("libkipt_leaves_signals",
	      action.sa_handler == interrupt.sa_handler &&
	      action.sa_flags == interrupt.sa_flags);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	perf = argv[1];
	raw = argv[2];
	pages = argv[3];
	ktap_start();
	sigaction(SIGINT, NULL, &interrupt);
	records();
	errors();
	notes();
	threads();
	signals();
	return ktap_end(&ktap);
}
