/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stretch of time as it is typed: FROM,TO.
 */
#ifndef KIPT_TIME_RANGE_H
#define KIPT_TIME_RANGE_H

#include <stdbool.h>

#include "../../../kmod/decode/port.h"

/**
 * struct time_point - one end
 * @given: otherwise there is none, and the rest is 0
 * @number: as it was typed
 * @us: microseconds in one of its units; 0: it has no unit
 */
struct time_point {
	bool given;
	double number;
	double us;
};

/**
 * struct time_range - a stretch, both ends included; all 0: the whole trace
 * @text: what was typed
 * @from: where it begins
 * @to: where it ends, not before @from
 */
struct time_range {
	const char *text;
	struct time_point from, to;
};

/**
 * time_range_like() - whether a word is meant as a stretch
 * @word: any
 *
 * Return: true if it has a comma, and no character of a path, or is a number.
 */
bool time_range_like(const char *word);

/**
 * time_range_parse() - read a stretch
 * @range: filled; keeps @text
 * @text: FROM,TO, either of which may be left out; ns, us, ms or s may follow each
 *
 * Return: true, or false after a sentence.
 */
bool time_range_parse(struct time_range *range, const char *text);

/**
 * time_range_any() - whether there is a stretch
 * @range: any
 */
bool time_range_any(const struct time_range *range);

/**
 * time_range_ticks() - the same in ticks of the TSC
 * @range: any
 * @tsc_khz: frequency of the TSC; 0: not known
 * @from: set to the first tick; the least number there is without @range's
 * @to: set to the last one; the largest number there is without @range's
 *
 * A number without a unit is of microseconds, of ticks where the frequency is not
 * known. Microseconds have three digits when they are shown: all ticks that are shown
 * as such a number are that number.
 *
 * Return: true, or false after a sentence.
 */
bool time_range_ticks(const struct time_range *range, u32 tsc_khz, s64 *from,
		      s64 *to);

#endif /* KIPT_TIME_RANGE_H */
