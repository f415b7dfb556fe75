// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording from its begin to its end, see recording.h.
 */
#include <unistd.h>

#include "cpus.h"
#include "fetch.h"
#include "raw.h"
#include "recording.h"
#include "say.h"

static void command_exiting(void *ctx, pid_t tid, pid_t pid)
{
	struct recording *r = ctx;

	if (r->save && !save_user_read(&r->users, &r->output.maps, tid, pid))
		r->save_failed = true;
}

/* What the trace needs beside the records; the session is stopped. This
 * process may have run on the CPUs too.
 */
static bool saved(struct recording *r)
{
	pid_t own = getpid();
	struct kipt_session session;
	char path[4096];
	bool ok;

	if (!r->save)
		return true;
	if (genl_session_get(r->genl, r->session.id, &session))
		return false;
	snprintf(path, sizeof(path), "%s/maps", r->save);
	ok = maps_read_pid(&r->output.maps, own) &&
	     save_user_read(&r->users, &r->output.maps, own, own) &&
	     save_user_write(r->users, r->save, r->child.pid) &&
	     raw_save(&session, -1, r->save) && save_kernel(r->save) &&
	     save_meta(r->save, &r->info, &session, r->command) &&
	     maps_save(&r->output.maps, path);
	session_free(&session);
	return ok && !r->save_failed;
}

/* Trace the command; its exit status, or -1 after a sentence. */
static int traced_run(struct recording *r)
{
	bool pinned = r->setup.cpus;
	int status;

	if (!pinned) {
		if (!cpus_own(r->info.online, r->cpus, sizeof(r->cpus)))
			return -1;
		r->setup.cpus = r->cpus;
	}
	r->child.maps = &r->output.maps;
	r->child.exiting = command_exiting;
	r->child.ctx = r;
	if (!child_create(&r->child, r->command,
			  pinned ? r->setup.cpus : NULL))
		return -1;
	/* The less of this process is in the trace the better. */
	if (pinned)
		cpus_leave(r->setup.cpus);
	if (setup_session(r->genl, &r->setup, KIPT_SESSION_FLAGS_KEEP_MM,
			  &r->info, &r->session) != KIPT_EXIT_DONE) {
		child_abandon(&r->child);
		return -1;
	}
	status = child_run(&r->child, r->command[0]);
	if (genl_session_stop(r->genl, r->session.id))
		return -1;
	return status;
}

static int recorded(struct recording *r)
{
	int status = traced_run(r);
	bool ok = status >= 0;

	if (ok && status)
		say_note("'%s' ended with status %d", r->command[0], status);
	r->output.view.tsc_khz = r->info.caps.tsc_khz;
	ok = ok && saved(r);
	ok = ok && fetch_run(r->genl, r->session.id, -1, &r->output);
	if (r->session.id)
		genl_session_delete(r->genl, r->session.id);
	return ok ? status : -1;
}

int recording_run(struct recording *r)
{
	int status = -1;

	r->genl = genl_open(false);
	if (!r->genl)
		return KIPT_EXIT_FAILED;
	if (!genl_info(r->genl, &r->info) &&
	    (!r->save || save_folder(r->save)) &&
	    output_open(&r->output, &r->view, true)) {
		status = recorded(r);
		if (!output_close(&r->output))
			status = -1;
	}
	save_user_free(&r->users);
	genl_close(r->genl);
	return status < 0 ? KIPT_EXIT_FAILED : status;
}
