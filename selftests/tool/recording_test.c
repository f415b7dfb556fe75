// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings for perf while they are made (tools/kipt/record/perf_place.h,
 * perf_sideband.h, perf_recording.h), with a kernel that is made up: what it would do
 * with other limits and more CPUs. User space; prints KTAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/kipt/offline/save_dir.h"
#include "../../tools/kipt/record/perf_recording.h"
#include "../decode/ktap.h"

static struct ktap ktap;
static bool has_mode(const char *path, mode_t mode)
{
	struct stat st;

	return !lstat(path, &st) && (st.st_mode & 07777) == mode;
}

/* Whether /proc/kcore may be read or not; some machines have no modules. */
static void kernel_is_private(void)
{
	mkdir("kcore_dir", 0700);
	save_kcore("kcore_dir");
	ktap_result(&ktap, has_mode("kcore_dir/modules", 0600) &&
		    (access("kcore_dir/kallsyms", F_OK) ||
		     has_mode("kcore_dir/kallsyms", 0600)),
		    "recording_kernel_is_private");
}

int main(void)
{
	char folder[] = "/tmp/kipt-recording.XXXXXX", command[64];

	if (!mkdtemp(folder) || chdir(folder))
		return 2;
	umask(022);
	ktap_start();
	kernel_is_private();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command))
		return 2;
	return ktap_end(&ktap);
}
