/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What perf's decoder must print for a walk, and reading what it prints. User
 * space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_PEER_PERF_H
#define KIPT_SELFTESTS_RANDOM_PEER_PERF_H

#include <stdio.h>

#include "walk.h"

/**
 * struct peer_step - one line of perf script
 * @from: source, 0: packets came on
 * @to: target, 0: packets went off, and the trace does not say where to
 *
 * PEER_STEP_LOST in both: packets were lost.
 */
struct peer_step {
	u64 from;
	u64 to;
};

#define PEER_STEP_LOST	(~0ULL)

/**
 * struct peer_perf - one walk and how far perf agrees
 * @steps: what perf must print
 * @count: how many
 * @seen: how many it has printed
 * @insists: the walk's packets are on at its end: perf may print more
 * @error: what is wrong, or NULL
 * @other: what perf printed instead
 */
struct peer_perf {
	struct peer_step *steps;
	u32 count;
	u32 seen;
	bool insists;
	const char *error;
	struct peer_step other;
};

/**
 * peer_perf_expect() - what perf must print for a walk
 * @peer: filled; peer_perf_free() it
 * @walk: the walk
 */
void peer_perf_expect(struct peer_perf *peer, const struct walk *walk);

/**
 * peer_perf_free() - give back what peer_perf_expect() took
 * @peer: not used any more
 */
void peer_perf_free(struct peer_perf *peer);

/**
 * peer_perf_read() - compare what perf prints
 * @script: output of perf script -F tid,event,flags,ip,addr
 * @peers: one for each process
 * @count: how many
 * @first: process of the first
 *
 * Return: false if there are lines nobody understands.
 */
bool peer_perf_read(FILE *script, struct peer_perf *peers, u32 count,
		    u32 first);

#endif /* KIPT_SELFTESTS_RANDOM_PEER_PERF_H */
