// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words for the values of a session, see session_words.h.
 */
#include <stdlib.h>
#include <string.h>

#include "session_words.h"

static const char *const state_names[] = {
	[KIPT_STATE_NEW] = "new",
	[KIPT_STATE_RUNNING] = "running",
	[KIPT_STATE_STOPPED] = "stopped",
	[KIPT_STATE_SETUP] = "being made",
};

static const char *const cause_names[] = {
	[KIPT_STOP_CAUSE_USER] = "on request",
	[KIPT_STOP_CAUSE_FULL] = "buffer full",
	[KIPT_STOP_CAUSE_OFFLINE] = "went offline",
	[KIPT_STOP_CAUSE_SUSPEND] = "suspend",
	[KIPT_STOP_CAUSE_REBOOT] = "shutdown",
	[KIPT_STOP_CAUSE_OUTSIDE] = "ended by someone else",
	[KIPT_STOP_CAUSE_ERROR] = "output error",
	[KIPT_STOP_CAUSE_STUCK] = "the CPU does not answer",
	[KIPT_STOP_CAUSE_FILTER] = "reached a stop range",
	[KIPT_STOP_CAUSE_LENT] = "lent by 'kipt arm --lend'",
	[KIPT_STOP_CAUSE_YIELDED] = "yielded to another session",
};

static const char *const mode_names[] = {
	[KIPT_MODE_RING] = "ring",
	[KIPT_MODE_ONCE] = "once",
};

void session_free(struct kipt_session *session)
{
	free(session->cpu);
	session->cpu = NULL;
	session->cpu_count = 0;
}

const char *session_state_name(u32 state)
{
	if (state < KIPT_STATE_NEW || state > KIPT_STATE_SETUP)
		return "unknown";
	return state_names[state];
}

const char *session_cause_name(u32 cause)
{
	if (cause < KIPT_STOP_CAUSE_USER || cause > KIPT_STOP_CAUSE_YIELDED)
		return "unknown";
	return cause_names[cause];
}

const char *session_mode_name(u32 mode)
{
	if (mode < KIPT_MODE_RING || mode > KIPT_MODE_ONCE)
		return "unknown";
	return mode_names[mode];
}

u32 session_mode_parse(const char *text)
{
	u32 mode;

	for (mode = KIPT_MODE_RING; mode <= KIPT_MODE_ONCE; mode++) {
		if (!strcmp(text, mode_names[mode]))
			return mode;
	}
	return 0;
}
