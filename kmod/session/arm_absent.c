// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions of a module that was built with CONFIG_KIPT_CRASH=n: none is armed, so that
 * none lends or yields anything. In place of arm.c, arm_load.c and armed.c.
 */
#include "../lib/refuse.h"
#include "arm.h"
#include "armed.h"
#include "session.h"

void kipt_arm_keep_running(struct work_struct *work) { }
void kipt_arm_resume_all(void) { }

int kipt_arm_lend(const void *who, u32 seconds)
{
	return -EOPNOTSUPP;
}

void kipt_arm_return(const void *who) { }

/* The first thing that each session does. */
int kipt_arm_yield(struct kipt_session *session, struct kipt_refusal *refusal)
{
	if (!kipt_session_is_armed(session))
		return 0;
	return kipt_refuse(refusal, NULL, -EOPNOTSUPP,
			   "this module was built with CONFIG_KIPT_CRASH=n: it captures no crash, and cannot be armed");
}

void kipt_arm_exit(void) { }
void kipt_arm_load(void) { }

int kipt_armed_start(struct kipt_session *session, struct kipt_refusal *refusal)
{
	return 0;
}

void kipt_armed_log(const struct kipt_session *session) { }

int kipt_armed_check(const struct kipt_session *session,
		     struct kipt_refusal *refusal)
{
	return 0;
}
