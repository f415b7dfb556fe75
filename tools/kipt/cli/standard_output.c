// SPDX-License-Identifier: GPL-2.0-only
/*
 * What standard output lost, see standard_output.h.
 */
#include <errno.h>
#include <stdio.h>

#include "standard_output.h"

int stdout_error(void)
{
	static int error;

	if (!error && ferror(stdout))
		error = errno ? errno : -1;
	return error;
}

int output_flush(FILE *out)
{
	errno = 0;
	fflush(out);
	return out == stdout ? stdout_error() : ferror(out);
}
