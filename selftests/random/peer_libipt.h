/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libipt's instruction decoder on one walk. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_PEER_LIBIPT_H
#define KIPT_SELFTESTS_RANDOM_PEER_LIBIPT_H

#include "walk.h"

/**
 * peer_libipt_check() - does libipt see the instructions of the truth
 * @walk: the walk
 * @insns: counts the instructions that were compared
 * @show: where to print what differs; NULL: do not
 *
 * Return: NULL if so, or what is wrong.
 */
const char *peer_libipt_check(const struct walk *walk, u64 *insns, FILE *show);

#endif /* KIPT_SELFTESTS_RANDOM_PEER_LIBIPT_H */
