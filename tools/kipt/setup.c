// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options that say how to trace, see setup.h. What the CPUs allow is checked
 * by the module, which names the allowed values.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "caps.h"
#include "ctl.h"
#include "say.h"
#include "setup.h"

static int cpus_option(struct setup *setup, const char *value)
{
	if (strlen(value) >= KIPT_CPUS_TEXT || !args_cpus(value, NULL, NULL)) {
		say_error("--cpus %s: not a CPU list such as 2,3 or 0-3,6",
			  value);
		return -1;
	}
	setup->cpus = value;
	return 1;
}

static int size_option(struct setup *setup, const char *value)
{
	if (args_size(value, &setup->size))
		return 1;
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
	}
	return 0;
}

int setup_session(struct genl *genl, const struct setup *setup, u32 flags,
		  const struct kipt_info *info, struct kipt_session *session)
{
	struct kipt_caps caps;

	memset(session, 0, sizeof(*session));
	snprintf(session->cpus, sizeof(session->cpus), "%s", setup->cpus);
	session->mode = setup->mode;
	session->size = setup->size;
	session->flags = flags;
	caps_of_cpus(info, setup->cpus, &caps);
	session->ctl = ctl_default(&caps);
	if (setup->ctl && !ctl_parse(setup->ctl, session->ctl, &session->ctl))
		return KIPT_EXIT_USAGE;
	if (genl_session_new(genl, session))
		return KIPT_EXIT_FAILED;
	if (!genl_session_start(genl, session->id))
		return KIPT_EXIT_DONE;
	genl_session_delete(genl, session->id);
	return KIPT_EXIT_FAILED;
}
