// SPDX-License-Identifier: GPL-2.0-only
/*
 * Debug files of servers, see debug_server.h. libdw loads libdebuginfod, where it
 * is installed, and has a client of it for each session; of the library itself
 * only what reports progress is needed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "debug_server.h"

#define DEBUG_SERVER_SECONDS	5
#define LIBRARY			"libdebuginfod.so.1"
#define URLS			"DEBUGINFOD_URLS"
/* libdebuginfod reports bytes, or before a server answers how often it has polled. A
 * number that rises by more than this is one of bytes.
 */
#define POLLS_MOST		16

typedef int progress_fn(debuginfod_client *client, long done, long total);
typedef void set_progress_fn(debuginfod_client *client, progress_fn *progress);

/* Guards all below, and the environment. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* libdwfl may ask servers now. */
static bool asking;
/* When the last bytes came, or a file was asked for, in progress_seconds(); and what
 * libdebuginfod reported last.
 */
static double last;
static long last_done;
/* What names the servers while libdwfl may not ask them; NULL: it may. */
static char *hidden;
/* Seconds in which no bytes came, before this file was asked for. */
static double waited;

/* No server is asked from now on. */
static void give_up(void)
{
	unsetenv(URLS);
	asking = false;
}

static bool is_on(void)
{
	const char *urls = getenv(URLS);

	return urls && *urls;
}

/* Threads of the decoder have a progress line of their own. */
static void wait_show(u64 done, u64 total)
{
	if (gettid() == getpid())
		progress_show("fetching debug files", done, total);
}

static bool too_long(double now)
{
	if (waited + now - last < DEBUG_SERVER_SECONDS)
		return false;
	say_note(URLS ": the server took %d seconds in which no file came; it is not asked again",
		 DEBUG_SERVER_SECONDS);
	give_up();
	return true;
}

/* Called once a second at least; not 0 ends it. */
static int progress(debuginfod_client *client, long done, long total)
{
	double now = progress_seconds();

	(void)client;
	if (!asking)
		return 1;
	if (progress_interrupted()) {
		give_up();
		return 1;
	}
	if (total ? done != last_done : done > last_done + POLLS_MOST)
		last = now;
	last_done = done;
	wait_show(total ? done : 0, total);
	return too_long(now);
}

/* Without this function nothing could end a request: then no server is asked. */
static bool progress_set(Dwfl *dwfl)
{
	debuginfod_client *client = dwfl_get_debuginfod_client(dwfl);
	void *library = client ? dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD) :
				 NULL;
	set_progress_fn *set = NULL;

	if (library)
		set = (set_progress_fn *)dlsym(library,
					       "debuginfod_set_progressfn");
	if (set)
		set(client, progress);
	/* It stays, libdw has it too. */
	if (library)
		dlclose(library);
	return set;
}

/* libdwfl asks whenever there is a server. Without memory none is asked any more. */
static void hide(void)
{
	hidden = strdup(getenv(URLS));
	unsetenv(URLS);
	asking = false;
}

void debug_server_begin(struct Dwfl *dwfl, bool ask)
{
	pthread_mutex_lock(&lock);
	asking = is_on();
	if (asking && !ask)
		hide();
	last = progress_seconds();
	last_done = 0;
	if (asking && !progress_set(dwfl))
		give_up();
}

void debug_server_end(bool found)
{
	double now = progress_seconds();

	if (asking && found)
		waited = 0;
	else if (asking && !too_long(now))
		waited += now - last;
	if (gettid() == getpid())
		progress_clear();
	asking = false;
	if (hidden)
		setenv(URLS, hidden, 1);
	free(hidden);
	hidden = NULL;
	pthread_mutex_unlock(&lock);
}

/* libdwfl asks for the file of a module that it knows nothing else of. */
static char *code_ask(Dwfl *dwfl, const struct build_id *id)
{
	Dwfl_Module *module;
	char *name = NULL, *path = NULL;
	Elf *elf = NULL;
	int fd = -1;

	dwfl_report_begin(dwfl);
	module = dwfl_report_module(dwfl, "", 0x1000, 0x2000);
	if (module && !dwfl_module_report_build_id(module, id->bytes, id->size,
						   0))
		fd = dwfl_build_id_find_elf(module, NULL, "", 0x1000, &name,
					    &elf);
	if (fd >= 0) {
		path = file_descriptor_path(fd);
		close(fd);
	}
	free(name);
	dwfl_report_end(dwfl, NULL, NULL);
	return path;
}

static char *no_paths = "";

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &no_paths,
};

char *debug_server_code(const struct build_id *id)
{
	struct Dwfl *dwfl = dwfl_begin(&callbacks);
	char *path = NULL;

	if (!dwfl)
		return NULL;
	debug_server_begin(dwfl, true);
	if (asking)
		path = code_ask(dwfl, id);
	debug_server_end(path);
	dwfl_end(dwfl);
	return path;
}
