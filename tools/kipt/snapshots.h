/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of what the module kept of oopses and warnings.
 */
#ifndef KIPT_SNAPSHOTS_H
#define KIPT_SNAPSHOTS_H

#include <stdbool.h>

/**
 * snapshots_list() - print a line for each snapshot
 * @json: as JSON Lines
 *
 * Return: true, or false after a sentence.
 */
bool snapshots_list(bool json);

#endif /* KIPT_SNAPSHOTS_H */
