/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Negative controls of the comparison: change one thing in the truth, and
 * the comparison must say so. Runs in user space on the host.
 */
#ifndef KIPT_FLOW_CONTROL_H
#define KIPT_FLOW_CONTROL_H

#include "match.h"

/**
 * control_run() - run every control that the truth has an entry for
 * @truth: where the truth starts; its entries are changed and put back
 * @records: where the records start
 * @options: as for match_run()
 * @base: what match_run() said without a change; must be equal
 * @made: how many changes were made
 *
 * Prints a line per control, also for one that the truth has no entry for.
 *
 * Return: how many changes were not found.
 */
unsigned int control_run(struct flow_cursor truth, struct flow_cursor records,
			 const struct match_options *options,
			 const struct match_result *base, unsigned int *made);

#endif /* KIPT_FLOW_CONTROL_H */
