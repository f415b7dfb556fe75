/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting what was compared, and the verdict. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_TALLY_H
#define KIPT_SELFTESTS_RANDOM_TALLY_H

#include "controls.h"

/**
 * struct tally - what happened so far
 * @programs: made
 * @packets: of their traces
 * @bytes: of their traces
 * @insns: in the truth
 * @ours_bad: programs our decoder got wrong
 * @peer: there is a libipt
 * @peer_programs: programs whose truth it was compared with
 * @peer_insns: instructions of these
 * @peer_bad: programs it saw differently
 * @used: per WALK_* bit: programs that did it
 * @used_bad: per WALK_* bit: of these, those our decoder got wrong
 * @asked: per WALK_* bit that libipt reads in its own way: programs with that
 *	alone that it was shown
 * @differs: per WALK_* bit: of these, those that it saw differently
 * @controls: per enum control: wrong traces made
 * @missed: per enum control: wrong traces not found
 */
struct tally {
	u64 programs;
	u64 packets;
	u64 bytes;
	u64 insns;
	u64 ours_bad;
	bool peer;
	u64 peer_programs;
	u64 peer_insns;
	u64 peer_bad;
	u64 used[WALK_BITS];
	u64 used_bad[WALK_BITS];
	u64 asked[WALK_BITS];
	u64 differs[WALK_BITS];
	u64 controls[CONTROLS];
	u64 missed[CONTROLS];
};

/**
 * tally_walk() - count a program
 * @tally: the counts
 * @walk: its walk
 * @good: our decoder is right
 */
void tally_walk(struct tally *tally, const struct walk *walk, bool good);

/**
 * tally_show() - say how far we are
 * @tally: the counts
 * @seconds: time it took
 */
void tally_show(const struct tally *tally, double seconds);

/**
 * tally_judge() - print the results
 * @tally: the counts
 *
 * Return: the exit status.
 */
int tally_judge(const struct tally *tally);

#endif /* KIPT_SELFTESTS_RANDOM_TALLY_H */
