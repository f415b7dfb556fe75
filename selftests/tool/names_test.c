// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was kept of addresses of processes that become known later: view_line_scope() and
 * profile_symbol() must see that. User space, no rights; prints KTAP.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/kipt/view/profile.h"
#include "../../tools/kipt/view/view.h"
#include "../decode/ktap.h"

static struct ktap ktap;

/* Of the process @pid, or of nobody knows which, before and after it is known. */
static void learned_test(const char *name, u32 pid)
{
	struct kipt_record record = { .type = KIPT_RECORD_BRANCH, .ip = (u64)learned_test };
	struct maps maps = { 0 };
	struct names *names = names_create("", &maps, false);
	struct profile *profile = names ? profile_create(names) : NULL;
	struct view view = { .names = names, .state.pid = pid };
	struct line_scope before, after;
	u32 bare, known;

	if (!profile)
		abort();
	bare = profile_symbol(profile, pid, 0, record.ip);
	before = view_line_scope(&view, &record);
	maps_read_pid(&maps, getpid());
	known = profile_symbol(profile, pid, 0, record.ip);
	after = view_line_scope(&view, &record);
	ktap_result(&ktap, !profile->symbols[bare].object && profile->symbols[known].object &&
			   memcmp(&before, &after, sizeof(before)), "%s", name);
	record.ip = record.value = ~0ULL << 63;
	before = view_line_scope(&view, &record);
	maps_read_pid(&maps, getpid());
	after = view_line_scope(&view, &record);
	ktap_result(&ktap, !memcmp(&before, &after, sizeof(before)), "%s_kernel", name);
	profile_destroy(profile);
	names_destroy(names);
	maps_free(&maps);
}

int main(void)
{
	ktap_start();
	learned_test("names_learned", getpid());
	learned_test("names_learned_of_no_process", 0);
	return ktap_end(&ktap);
}
