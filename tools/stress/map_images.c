// SPDX-License-Identifier: GPL-2.0-only
/*
 * Usage: map_images
 *
 * Records what programs map, as kipt record does, from the line "ready" on that it
 * prints. Then it reads the number of a session, which has stopped, and gives it what
 * was recorded. Fails if the kernel did not report it, or does not take it.
 */
#include <stdio.h>
#include <unistd.h>

#include "../kipt/kernel/genl.h"
#include "../kipt/record/code_images.h"
#include "../kipt/record/perf_recording.h"

static bool give(struct genl *genl, struct perf_recording *recording, u32 id)
{
	int fd = perf_recording_maps_end(recording);
	struct kipt_session session;
	char path[32];
	bool ok;

	if (fd < 0 || genl_session_get(genl, id, &session))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ok = code_images_give(path, &session);
	session_free(&session);
	close(fd);
	return ok;
}

int main(void)
{
	struct genl *genl = genl_open(false);
	struct perf_recording recording = { 0 };
	struct kipt_info info;
	bool ok;
	u32 id;

	ok = genl && !genl_info(genl, &info) &&
	     perf_recording_maps(&recording, NULL, &info.caps);
	if (!ok)
		return 1;
	puts("ready");
	fflush(stdout);
	if (scanf("%u", &id) == 1)
		ok = give(genl, &recording, id);
	else
		perf_recording_drop(&recording);
	genl_close(genl);
	return !ok;
}
