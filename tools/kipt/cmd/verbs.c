// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs, in the order in which help, manual page and completions list them.
 */
#include "../cli/kipt.h"

const struct kipt_verb *const kipt_verbs[] = {
	&verb_info,
	&verb_doctor,
	&verb_start,
	&verb_stop,
	&verb_status,
	&verb_fetch,
	&verb_delete,
	&verb_arm,
	&verb_disarm,
	&verb_record,
	&verb_open,
	&verb_diff,
	&verb_merge,
	&verb_show,
	&verb_decode,
	&verb_packets,
	&verb_crash,
	&verb_core,
	NULL
};
