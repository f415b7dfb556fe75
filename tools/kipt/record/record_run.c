// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording from its begin to its end, see record_run.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../cli/progress.h"
#include "../kernel/affinity.h"
#include "../kernel/raw_device.h"
#include "code_images.h"
#include "fatal_signal.h"
#include "fetch.h"
#include "record_run.h"
#include "traced_process.h"

static void command_exiting(void *ctx, pid_t tid, pid_t pid)
{
	struct recording *r = ctx;

	if (r->save && !save_user_read(&r->users, &r->output.maps, tid, pid))
		r->save_failed = true;
}

static void command_begins(void *ctx, pid_t tid, pid_t pid, u64 since)
{
	struct recording *r = ctx;

	if (r->images.tables.device >= 0)
		command_images_begin(&r->images, tid, pid, since);
}

static void command_ends(void *ctx, pid_t pid, u64 since)
{
	struct recording *r = ctx;

	if (r->images.tables.device >= 0)
		command_images_end(&r->images, pid, since);
}

/* The task is held, and no core dump is written yet: the trace ends here. */
static void command_dying(void *ctx, const struct child_death *death)
{
	struct recording *r = ctx;

	if (r->deaths++)
		return;
	r->death = *death;
	genl_session_stop(r->genl, r->session.id);
}

/* What the trace needs beside the records; the session is stopped. This process may have run
 * on the CPUs too. With meta.json the next run clears the folder, whatever of the rest fails.
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
	ok = save_meta(r->save, &r->info, &session, r->command) &&
	     maps_read_pid(&r->output.maps, own) &&
	     save_user_read(&r->users, &r->output.maps, own, own) &&
	     save_user_write(r->users, r->save,
			     r->setup.pid ? (pid_t)r->setup.pid :
			     r->child.pid) &&
	     raw_save(&session, -1, r->save) && save_kernel(r->save) &&
	     maps_save(&r->output.maps, path);
	session_free(&session);
	return ok && !r->save_failed;
}

/* A program is about to run: is everything that filters name in it? True
 * too if it never will be.
 */
static bool command_loaded(void *ctx, pid_t tid)
{
	struct recording *r = ctx;
	enum filter_result result;
	struct maps maps = { 0 };
	char root[32];

	if (!maps_read_task(&maps, tid, tid))
		return false;
	snprintf(root, sizeof(root), "/proc/%d/root", tid);
	r->where.root = root;
	r->where.process = maps_process(&maps, tid);
	result = setup_ranges(&r->setup, &r->where, &r->session,
			      &r->missing);
	r->where.process = NULL;
	maps_free(&maps);
	r->refused = result == FILTER_REFUSED;
	return result != FILTER_NOT_MAPPED;
}

/* Run the command as far as filters need it to; false after a sentence. */
static bool command_load(struct recording *r)
{
	int held = child_load(&r->child, r->command[0]);

	if (!held)
		filter_bad(r->missing, "no program that '%s' ran had that file when it began, and it has ended; what is opened later (dlopen) is found in a process that runs, with --pid",
			   r->command[0]);
	if (held > 0 && r->refused)
		child_abandon(&r->child);
	return held > 0 && !r->refused;
}

static bool command_create(struct recording *r)
{
	r->child.maps = &r->output.maps;
	r->child.exiting = command_exiting;
	if (r->on_crash)
		r->child.dying = command_dying;
	r->child.ctx = r;
	return child_create(&r->child, r->command,
			    r->pinned ? r->setup.cpus : NULL);
}

static bool command_begin(struct recording *r)
{
	enum filter_result result;

	r->where.root = "";
	result = setup_ranges(&r->setup, &r->where, &r->session, &r->missing);
	if (result == FILTER_REFUSED)
		return false;
	if (result == FILTER_NOT_MAPPED)
		r->child.loaded = command_loaded;
	return command_create(r) && (!r->child.loaded || command_load(r));
}

static bool cpus_choose(struct recording *r)
{
	r->pinned = r->setup.cpus;
	if (r->pinned)
		return true;
	if (!cpus_own(r->info.online, r->cpus, sizeof(r->cpus)))
		return false;
	r->setup.cpus = r->cpus;
	return true;
}

/* Before the command is there, so that all it maps is seen. */
static bool perf_begin(struct recording *r)
{
	u64 ctl;

	if (!r->perf) {
		r->mapped = perf_recording_maps(&r->recording, NULL,
						&r->info.caps);
		/* A sentence said why. */
		if (!r->mapped && r->command)
			say_note("of programs that end only those of the command are known, with what they begin with: code that they load later (dlopen) is missing");
		r->child.begins = r->mapped ? NULL : command_begins;
		r->child.ends = r->mapped ? NULL : command_ends;
		return true;
	}
	return setup_ctl(&r->setup, &r->info, &ctl) &&
	       perf_recording_begin(&r->recording, r->perf, &r->info.caps,
				    ctl & RTIT_CTL_OS);
}

static bool perf_kernel(void *ctx)
{
	struct recording *r = ctx;

	return perf_recording_kernel(&r->recording);
}

static void images_open(struct recording *r)
{
	struct kipt_session session;

	if (genl_session_get(r->genl, r->session.id, &session))
		return;
	command_images_open(&r->images, &session);
	session_free(&session);
}

static bool session_begin(struct recording *r)
{
	u32 flags = r->keep ? KIPT_SESSION_FLAGS_DETACHED : 0;

	if (r->perf) {
		r->setup.made = perf_kernel;
		r->setup.ctx = r;
	}
	if (setup_session(r->genl, &r->setup, flags, &r->info, &r->session) !=
	    KIPT_EXIT_DONE)
		return false;
	/* If it cannot, a sentence said so, and code of what ends is missing. */
	if (r->child.begins)
		images_open(r);
	return true;
}

/* Whoever stopped it, or whichever CPU failed to: what was captured is there. Ctrl-C may
 * have ended the run; from here on it ends what is made of it. False if not even the session
 * is.
 */
static bool session_end(struct recording *r)
{
	int err;

	if (!r->again)
		progress_catch();
	/* While there is nothing yet that could end this process. */
	if (r->keep)
		say_note("session %u is kept: kipt fetch %u, kipt delete %u",
			 r->session.id, r->session.id, r->session.id);
	/* It ended with the process that a signal killed. */
	if (r->deaths)
		return true;
	err = genl_session_stop(r->genl, r->session.id);
	if (err && err != -ENOENT)
		say_note("the trace of session %u up to there is kept and shown nevertheless",
			 r->session.id);
	return err != -ENOENT;
}

/* Trace the command; its exit status, or -1 after a sentence. */
static int command_run(struct recording *r)
{
	int status;

	if (!cpus_choose(r))
		return -1;
	/* The less of this process and its threads is in the trace the better. */
	if (r->pinned)
		cpus_leave(r->setup.cpus);
	if (!perf_begin(r) || !command_begin(r))
		return -1;
	if (r->only)
		r->setup.pid = r->child.pid;
	if (!session_begin(r)) {
		child_abandon(&r->child);
		return -1;
	}
	status = child_run(&r->child, r->command[0]);
	return session_end(r) ? status : -1;
}

/* What names and code need of the process, as long as it is there. */
static bool target_read(struct recording *r)
{
	u32 pid = r->setup.pid;

	return maps_read_pid(&r->output.maps, pid) &&
	       (!r->save ||
		save_user_read(&r->users, &r->output.maps, pid, pid));
}

/* Whoever sends SIGUSR2 waits for this note: before it nothing is traced. */
static void snapshot_say(const struct recording *r)
{
	if (r->number == 1)
		say_note("a snapshot at each SIGUSR2 to process %d; the last one at Ctrl-C, or when process %u ends",
			 getpid(), r->setup.pid);
	else if (r->number)
		say_note("tracing again");
}

/* Whether Ctrl-C is caught before tracing begins, as a perf.data or another snapshot is in the
 * making then. Else it ends kipt until tracing has begun.
 */
static bool catches_early(const struct recording *r)
{
	return r->perf || r->snapshot;
}

/* For as long as the command runs, or until Ctrl-C. */
static int target_trace(struct recording *r)
{
	int status = 0;

	if (r->command && !command_create(r))
		return -1;
	if (!session_begin(r)) {
		if (r->command)
			child_abandon(&r->child);
		return -1;
	}
	snapshot_say(r);
	if (r->command) {
		status = child_run(&r->child, r->command[0]);
	} else {
		if (!catches_early(r))
			progress_catch();
		r->again = target_wait(r->target, r->signal);
	}
	if (target_lives(r->target) && !target_read(r))
		r->save_failed = true;
	return session_end(r) ? status : -1;
}

/* Trace a process that runs; 0, the command's status, or -1 after a
 * sentence.
 */
static int target_run(struct recording *r)
{
	int status = -1;

	if (!r->setup.cpus)
		r->setup.cpus = r->info.online;
	if (setup_ranges_now(&r->setup, &r->session) && perf_begin(r) &&
	    target_read(r))
		status = target_trace(r);
	return status;
}

static bool raw_kept(struct recording *r)
{
	struct kipt_session session;
	bool ok;

	if (!r->raw)
		return true;
	if (genl_session_get(r->genl, r->session.id, &session))
		return false;
	ok = save_meta(r->raw, &r->info, &session, r->command) &&
	     raw_save(&session, -1, r->raw);
	session_free(&session);
	return ok;
}

static bool perf_kept(struct recording *r)
{
	struct kipt_session session;
	bool ok;

	if (!r->perf)
		return true;
	if (genl_session_get(r->genl, r->session.id, &session))
		return false;
	ok = perf_recording_end(&r->recording, &session);
	session_free(&session);
	return ok;
}

/* Where the kernel finds the code of all programs, of those that ended too. */
static void images_give(struct recording *r)
{
	struct kipt_session session;
	char path[32];
	int fd;

	if (r->images.tables.device >= 0)
		command_images_give(&r->images, r->session.id);
	if (!r->mapped)
		return;
	r->mapped = false;
	fd = perf_recording_maps_end(&r->recording);
	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!genl_session_get(r->genl, r->session.id, &session)) {
		code_images_give(path, &session);
		session_free(&session);
	}
	close(fd);
}

/* Decode in the kernel and show; all of it, or the end of who was killed. */
static bool shown(struct recording *r)
{
	struct fetch_request what = {
		.id = r->session.id, .cpu = -1, .options = &r->fetch,
	};
	bool ok;

	r->output.view.tsc_khz = r->info.caps.tsc_khz;
	if (!r->on_crash)
		return fetch_run(&what, &r->output);
	/* A file may be looked at in any way later. */
	if (!r->view.output)
		what.cpu = r->death.cpu;
	ok = output_end(&r->output, r->death.tid, r->death.ip, r->lines) &&
	     fetch_run(&what, &r->output);
	if (ok)
		output_end_show(&r->output);
	death_tell(&r->death, &r->output);
	if (r->deaths > 1)
		say_note("%u more tasks were killed by a signal afterwards; the first one is shown",
			 r->deaths - 1);
	return ok;
}

static int recorded(struct recording *r)
{
	int status = r->setup.pid ? target_run(r) : command_run(r);
	bool ok = status >= 0;

	if (ok && status)
		say_note("'%s' ended with status %d", r->command[0], status);
	if (ok && r->on_crash && !r->deaths)
		say_note("no process of '%s' was killed by SIGSEGV, SIGABRT, SIGILL, SIGBUS or SIGFPE: there is nothing to show",
			 r->command[0]);
	/* What of it fails keeps nothing from the rest. */
	if (ok && (!r->on_crash || r->deaths)) {
		ok = (!r->save || save_clear(r->save)) && saved(r);
		ok = raw_kept(r) && ok;
		ok = perf_kept(r) && ok;
		images_give(r);
		r->whole = r->perf || shown(r);
		ok = r->whole && ok;
	}
	if (r->session.id && !r->keep)
		genl_session_delete(r->genl, r->session.id);
	return ok ? status : -1;
}

/* What is made for perf shows nothing, and has no records. */
static int run_and_show(struct recording *r)
{
	int status;

	if (r->perf) {
		status = recorded(r);
		maps_free(&r->output.maps);
		perf_recording_drop(&r->recording);
		return status;
	}
	if (!output_open(&r->output, &r->view, true))
		return -1;
	r->whole = false;
	status = recorded(r);
	if (r->mapped)
		perf_recording_drop(&r->recording);
	return output_close(&r->output, r->whole || status >= 0) ? status : -1;
}

/* "trace.3.data" of "trace.data". */
static bool name_number(char *name, size_t size, const char *path, u32 number)
{
	const char *file = strrchr(path, '/'), *dot = strrchr(path, '.');
	int stem;

	file = file ? file + 1 : path;
	stem = dot && dot > file ? (int)(dot - path) : (int)strlen(path);
	if ((size_t)snprintf(name, size, "%.*s.%u%s", stem, path, number, path + stem) < size)
		return true;
	say_error("-o %s: the name is too long", path);
	return false;
}

/* One trace after the other, each as if it were the only one. */
static int snapshots_run(struct recording *r)
{
	const char *kept = r->perf ? r->perf : r->view.output;
	char name[4096];
	int status;

	do {
		command_images_free(&r->images);
		r->again = false;
		r->number++;
		if (kept && !name_number(name, sizeof(name), kept, r->number))
			return -1;
		if (r->perf)
			r->perf = name;
		else if (kept)
			r->view.output = name;
		r->session = (struct kipt_session){ 0 };
		r->recording = (struct perf_recording){ 0 };
		status = run_and_show(r);
		if (kept && status >= 0)
			say_note("snapshot %u is in %s", r->number, name);
	} while (r->again && status >= 0 && !progress_interrupted() && target_lives(r->target));
	return status;
}

/* -1 after a sentence. */
static int snapshots_or_one_run(struct recording *r)
{
	int status;

	if (!r->snapshot)
		return run_and_show(r);
	r->signal = target_signal();
	if (r->signal < 0)
		return -1;
	status = snapshots_run(r);
	close(r->signal);
	return status;
}

/* All traces are of the process that --pid names now; -1 after a sentence. */
static int target_or_command_run(struct recording *r)
{
	int status;

	if (catches_early(r))
		progress_catch();
	if (!r->setup.pid)
		return run_and_show(r);
	r->target = target_open(r->setup.pid);
	if (r->target < 0)
		return -1;
	status = snapshots_or_one_run(r);
	close(r->target);
	return status;
}

int recording_run(struct recording *r)
{
	int status = -1;

	r->images.tables.device = -1;
	r->signal = -1;
	r->genl = genl_open(false);
	if (!r->genl)
		return KIPT_EXIT_FAILED;
	if (!genl_info(r->genl, &r->info) && fetch_can(&r->fetch) &&
	    (!r->save || folder_make(r->save)) &&
	    (!r->raw || folder_make(r->raw)))
		status = target_or_command_run(r);
	command_images_free(&r->images);
	filter_where_free(&r->where);
	save_user_free(&r->users);
	genl_close(r->genl);
	return status < 0 ? KIPT_EXIT_FAILED : status;
}
