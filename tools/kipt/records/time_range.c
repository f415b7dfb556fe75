// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stretch of time as it is typed, see time_range.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/kipt.h"
#include "../cli/messages.h"
#include "time_range.h"

/* Half of the last digit in which microseconds are shown. */
#define HALF_DIGIT	0.0005
/* More ticks than that are no number of 64 bits. */
#define TICKS_MAX	9e18

static const struct time_unit {
	const char *name;
	double us;
} units[] = {
	{ "", 0 }, { "ns", 0.001 }, { "us", 1 }, { "ms", 1000 }, { "s", 1000000 },
};

bool time_range_like(const char *word)
{
	char *end;

	strtod(word, &end);
	return *word && (!*end || (strchr(word, ',') && !strchr(word, '/')));
}

/* @length characters of a text. */
static bool point_parse(struct time_point *point, const char *text,
			size_t length)
{
	size_t digits = strspn(text, "0123456789"), number = digits, i;

	*point = (struct time_point){ .given = length };
	if (!length)
		return true;
	if (text[digits] == '.')
		number += 1 + strspn(text + digits + 1, "0123456789");
	if (!digits || number == digits + 1)
		return false;
	point->number = strtod(text, NULL);
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		point->us = units[i].us;
		if (strlen(units[i].name) == length - number &&
		    !strncmp(text + number, units[i].name, length - number))
			return true;
	}
	return false;
}

static double point_us(const struct time_point *point)
{
	return point->number * (point->us ? point->us : 1);
}

bool time_range_parse(struct time_range *range, const char *text)
{
	const char *comma = strchr(text, ',');

	range->text = text;
	if (!comma || !point_parse(&range->from, text, comma - text) ||
	    !point_parse(&range->to, comma + 1, strlen(comma + 1)) ||
	    !time_range_any(range)) {
		say_error("--time %s: allowed is FROM,TO, two numbers of which one may be left out, each with ns, us, ms, s or nothing after it",
			  text);
		return false;
	}
	if (!range->from.given || !range->to.given ||
	    point_us(&range->from) <= point_us(&range->to))
		return true;
	say_error("--time %s: the stretch ends before it begins", text);
	return false;
}

bool time_range_any(const struct time_range *range)
{
	return range->from.given || range->to.given;
}

/* How many ticks a point is from the first time, and half of the last digit. */
static double point_ticks(const struct time_point *point, u32 tsc_khz,
			  double *half)
{
	*half = tsc_khz ? HALF_DIGIT * tsc_khz / 1000 : 0;
	return tsc_khz ? point_us(point) * tsc_khz / 1000 : point->number;
}

/* A fraction counts as another tick if @up. */
static s64 whole(double ticks, bool up)
{
	if (ticks > TICKS_MAX)
		return INT64_MAX;
	return (s64)ticks + (up && ticks > (double)(s64)ticks);
}

bool time_range_ticks(const struct time_range *range, u32 tsc_khz, s64 *from,
		      s64 *to)
{
	double ticks, half;

	if (!tsc_khz && (range->from.us != 0 || range->to.us != 0)) {
		say_error("--time %s: how many ticks that is cannot be said, since nobody knows the frequency of the TSC; allowed are numbers of ticks without a unit",
			  range->text);
		return false;
	}
	*from = INT64_MIN;
	*to = INT64_MAX;
	if (range->from.given) {
		ticks = point_ticks(&range->from, tsc_khz, &half);
		*from = whole(ticks - half, true);
	}
	if (range->to.given) {
		ticks = point_ticks(&range->to, tsc_khz, &half);
		*to = whole(ticks + half, false);
	}
	return true;
}
