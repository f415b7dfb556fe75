// SPDX-License-Identifier: GPL-2.0-only
/*
 * KTAP lines on standard output. Owns the counters of one test program; single
 * thread.
 */
#include "ktap.h"

static unsigned int done, bad;

bool ktap_case(bool ok, const char *format, ...)
{
	va_list args;

	if (!done)
		printf("KTAP version 1\n");
	printf("%s %u ", ok ? "ok" : "not ok", ++done);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	if (!ok)
		bad++;
	return ok;
}

int ktap_finish(void)
{
	printf("1..%u\n", done);
	return bad || !done;
}
