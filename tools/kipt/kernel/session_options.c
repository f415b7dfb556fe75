// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that say how to trace, see session_options.h. What the CPUs allow is checked
 * by the module, which names the allowed values.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/args.h"
#include "../cli/messages.h"
#include "../cli/progress.h"
#include "capabilities.h"
#include "ctl_fields.h"
#include "session_options.h"

static int cpus_option(struct setup *setup, const char *value)
{
	if (strlen(value) > KIPT_CPUS_LEN) {
		say_error("--cpus: the list has %zu characters, allowed are %u",
			  strlen(value), KIPT_CPUS_LEN);
		return -1;
	}
	if (!args_cpus(value, NULL, NULL)) {
		say_error("--cpus %s: not a CPU list such as 2,3 or 0-3,6",
			  value);
		return -1;
	}
	setup->cpus = value;
	return 1;
}

static int size_option(struct setup *setup, const char *value)
{
	if (args_size(value, &setup->size)) {
		setup->size_given = true;
		return 1;
	}
	say_error("--size %s: not a size such as 64K, 4M or 1G", value);
	return -1;
}

static int mode_option(struct setup *setup, const char *value)
{
	setup->mode = session_mode_parse(value);
	if (setup->mode)
		return 1;
	say_error("--mode %s: allowed are ring and once", value);
	return -1;
}

static int ctl_option(struct setup *setup, const char *value)
{
	u64 ctl;

	if (!ctl_parse(value, 0, &ctl))
		return -1;
	setup->ctl = value;
	return 1;
}

static int filter_option(struct setup *setup, u32 kind, const char *value)
{
	if (setup->filter_count == KIPT_FILTERS_MAX) {
		say_error("--%s %s: no CPU has more than %u ranges, of both kinds together",
			  range_option(kind), value, KIPT_FILTERS_MAX);
		return -1;
	}
	return filter_parse(&setup->filters[setup->filter_count++], value,
			    kind) ? 1 : -1;
}

static int pid_option(struct setup *setup, const char *value)
{
	u64 pid;

	if (args_number(value, INT_MAX, &pid) && pid) {
		setup->pid = pid;
		return 1;
	}
	say_error("--pid %s: not a process id", value);
	return -1;
}

int setup_option(struct setup *setup, int id, const char *value)
{
	switch (id) {
	case SETUP_OPTION_CPUS:
		return cpus_option(setup, value);
	case SETUP_OPTION_SIZE:
		return size_option(setup, value);
	case SETUP_OPTION_MODE:
		return mode_option(setup, value);
	case SETUP_OPTION_CTL:
		return ctl_option(setup, value);
	case SETUP_OPTION_FILTER:
		return filter_option(setup, KIPT_FILTER_KIND_TRACE, value);
	case SETUP_OPTION_STOP_AT:
		return filter_option(setup, KIPT_FILTER_KIND_STOP, value);
	case SETUP_OPTION_PID:
		return pid_option(setup, value);
	case SETUP_OPTION_FORK:
		setup->follow_fork = true;
		return 1;
	}
	return 0;
}

enum filter_result setup_ranges(const struct setup *setup,
				struct filter_where *where,
				struct kipt_session *session,
				const struct filter **missing)
{
	enum filter_result result;
	u32 i;

	for (i = 0; i < setup->filter_count; i++) {
		*missing = &setup->filters[i];
		result = filter_resolve(&setup->filters[i], where,
					&session->filter[i]);
		if (result != FILTER_DONE)
			return result;
	}
	session->filter_count = setup->filter_count;
	return FILTER_DONE;
}

static void not_mapped_tell(const struct setup *setup,
			    const struct filter *filter)
{
	if (setup->pid)
		filter_bad(filter, "process %u has no code of that file mapped",
			   setup->pid);
	else if (!memchr(filter->file, '/', filter->file_len))
		filter_bad(filter, "a file without a slash is one that a process has mapped: name the process with --pid, have 'kipt record' start it, or give the path (./%.*s)",
			   (int)filter->file_len, filter->file);
	else
		filter_bad(filter, "where that file is in memory is chosen anew for each process: name the process with --pid, or have 'kipt record' start it");
}

bool setup_ranges_now(const struct setup *setup, struct kipt_session *session)
{
	struct filter_where where = { .root = "" };
	enum filter_result result;
	const struct filter *missing;
	struct maps maps = { 0 };
	char root[32];

	if (setup->pid) {
		if (!maps_read_pid(&maps, setup->pid)) {
			say_error("--pid %u: there is no such process, or its mappings may not be read",
				  setup->pid);
			return false;
		}
		snprintf(root, sizeof(root), "/proc/%u/root", setup->pid);
		where.root = root;
		where.process = maps_process(&maps, setup->pid);
	}
	result = setup_ranges(setup, &where, session, &missing);
	if (result == FILTER_NOT_MAPPED)
		not_mapped_tell(setup, missing);
	filter_where_free(&where);
	maps_free(&maps);
	return result == FILTER_DONE;
}

/* Kernel code is traced with OS, all other with User: else it never is. */
static void silence_note(const struct setup *setup,
			 const struct kipt_session *session)
{
	u32 i;

	for (i = 0; i < session->filter_count; i++) {
		const struct kipt_range *range = &session->filter[i];
		bool kernel = range->first >> 63;

		if (range->kind != KIPT_FILTER_KIND_TRACE ||
		    session->ctl & (kernel ? RTIT_CTL_OS : RTIT_CTL_USER))
			continue;
		say_note("--filter %s is %s code, which is not traced without %s in --ctl",
			 setup->filters[i].text, kernel ? "kernel" : "user",
			 kernel ? "OS" : "User");
	}
}

/* With one ToPA entry the buffer is one block, the largest the kernel has. */
static u64 size_of(const struct setup *setup, const struct kipt_caps *caps)
{
	if (!setup->size_given && !(caps->leaf0_ecx & RTIT_CAP_TOPA_MULTI) &&
	    setup->size > CAPS_BLOCK_MAX)
		return CAPS_BLOCK_MAX;
	return setup->size;
}

static void making_show(const struct kipt_session *session)
{
	progress_show("allocating", session->memory, session->memory_total);
}

bool setup_ctl(const struct setup *setup, const struct kipt_info *info,
	       u64 *ctl)
{
	struct kipt_caps caps;

	caps_of_cpus(info, setup->cpus, &caps);
	*ctl = ctl_default(&caps) & ~setup->ctl_without;
	return !setup->ctl || ctl_parse(setup->ctl, *ctl, ctl);
}

int setup_session(struct genl *genl, const struct setup *setup, u32 flags,
		  const struct kipt_info *info, struct kipt_session *session)
{
	struct kipt_caps caps;
	int err;

	if (*setup->cpus && !args_cpus(setup->cpus, NULL, NULL)) {
		say_error("the list of all CPUs with PT is longer than %u characters: name some with --cpus",
			  KIPT_CPUS_LEN);
		return KIPT_EXIT_FAILED;
	}
	snprintf(session->cpus, sizeof(session->cpus), "%s", setup->cpus);
	session->mode = setup->mode;
	session->flags = flags;
	if (setup->follow_fork)
		session->flags |= KIPT_SESSION_FLAGS_FOLLOW_FORK;
	session->pid = setup->pid;
	session->print_branches = setup->print_branches;
	session->print_cpus = setup->print_cpus;
	session->print_user = setup->print_user;
	caps_of_cpus(info, setup->cpus, &caps);
	session->size = size_of(setup, &caps);
	if (!setup_ctl(setup, info, &session->ctl))
		return KIPT_EXIT_USAGE;
	silence_note(setup, session);
	err = genl_session_new(genl, session, making_show);
	progress_clear();
	if (err)
		return KIPT_EXIT_FAILED;
	if ((!setup->made || setup->made(setup->ctx)) &&
	    !genl_session_start(genl, session->id))
		return KIPT_EXIT_DONE;
	genl_session_delete(genl, session->id);
	session->id = 0;
	return KIPT_EXIT_FAILED;
}
