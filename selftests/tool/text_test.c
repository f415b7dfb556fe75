// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many changes of kernel code are kept of a recording of perf: prints the number.
 * Usage: text_test perf.data
 */
#include <stdio.h>

#include "../../kmod/shared/patch_log.h"
#include "../../tools/kipt/perf/perf_text.h"

struct test {
	struct perf_file *file;
	struct perf_text *text;
	struct perf_aux aux;
};

static bool event_take(void *ctx, const struct perf_event *event)
{
	struct test *test = ctx;

	return perf_aux_take(&test->aux, test->file, event) &&
	       perf_text_take(test->text, test->file, event);
}

int main(int argc, char **argv)
{
	struct test test = {
		.file = perf_file_open(argc > 1 ? argv[1] : ""),
		.text = perf_text_create(),
	};
	const struct kipt_patch_log *log = NULL;
	bool timed;

	if (test.file && test.text && perf_file_events(test.file, event_take, &test) &&
	    perf_text_settle(test.text, test.file, &test.aux.clock))
		log = perf_text_log(test.text, &timed);
	if (log)
		printf("%llu\n", (unsigned long long)kipt_patch_log_count(log));
	perf_text_destroy(test.text);
	perf_aux_free(&test.aux);
	perf_file_close(test.file);
	return !log;
}
