// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit of open files, see open_files.h.
 */
#include <stdbool.h>
#include <sys/resource.h>

#include "open_files.h"

static struct rlimit before;
static bool raised;

void open_files_raise(void)
{
	struct rlimit most;

	if (raised || getrlimit(RLIMIT_NOFILE, &before))
		return;
	most = before;
	most.rlim_cur = most.rlim_max;
	raised = !setrlimit(RLIMIT_NOFILE, &most);
}

void open_files_restore(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
}
