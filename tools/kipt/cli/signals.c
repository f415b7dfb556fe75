// SPDX-License-Identifier: GPL-2.0-only
/*
 * See signals.h.
 */
#include <stddef.h>

#include "signals.h"

void signals_to_end(const struct sigaction *action)
{
	struct sigaction before;

	sigaction(SIGINT, action, NULL);
	sigaction(SIGTERM, action, NULL);
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, action, NULL);
}
