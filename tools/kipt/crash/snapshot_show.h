/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of what the module kept of oopses and warnings.
 */
#ifndef KIPT_SNAPSHOT_SHOW_H
#define KIPT_SNAPSHOT_SHOW_H

#include <stdbool.h>

#include "../kernel/session_words.h"
#include "../symbols/address_names.h"

/**
 * snapshot_print() - print a line on a snapshot
 * @snapshot: the snapshot
 * @names: names of addresses
 * @json: as JSON
 */
void snapshot_print(const struct kipt_snapshot *snapshot, struct names *names,
		    bool json);

/**
 * snapshots_list() - print a line for each snapshot
 * @kallsyms: a copy of /proc/kallsyms; NULL: this kernel's; "": none
 * @json: as JSON Lines
 *
 * Return: true, or false after a sentence.
 */
bool snapshots_list(const char *kallsyms, bool json);

#endif /* KIPT_SNAPSHOT_SHOW_H */
