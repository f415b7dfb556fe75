// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether tracing may start, see latch.h.
 */
#include <linux/compiler.h>
#include <linux/errno.h>

#include "latch.h"
#include "../lib/refuse.h"

/* Written by the notifiers of power.c, which do not run at the same time. */
static const char *going_to;
static enum kipt_stop_cause latched;

void kipt_latch_set(const char *what, enum kipt_stop_cause cause)
{
	/* Whoever sees no cause may start: on the way up that is last. */
	if (!what)
		WRITE_ONCE(going_to, NULL);
	WRITE_ONCE(latched, cause);
	WRITE_ONCE(going_to, what);
}

int kipt_latch_check(struct kipt_refusal *refusal)
{
	const char *what = READ_ONCE(going_to);

	if (!what)
		return 0;
	return kipt_refuse(refusal, NULL, -EBUSY,
			   "the machine %s; start again when it is up", what);
}

enum kipt_stop_cause kipt_latch_cause(void)
{
	return READ_ONCE(latched);
}
