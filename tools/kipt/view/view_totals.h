/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two views of a profile share.
 */
#ifndef KIPT_VIEW_TOTALS_H
#define KIPT_VIEW_TOTALS_H

#include "profile_feed.h"

struct json_object;

/**
 * totals_text() - the name of a function
 * @symbol: function
 * @text: buffer
 * @size: its bytes
 *
 * Makes "symbol [object]", without a symbol "0x1234 [object]" of what was called
 * there, or "[object]" of the rest. Return: @text.
 */
const char *totals_text(const struct profile_symbol *symbol, char *text,
			size_t size);

/**
 * totals_json() - print a function as a line of JSON
 * @view: the view
 * @profile: profile
 * @symbol: function
 */
void totals_json(struct view *view, const struct profile *profile,
		 const struct profile_symbol *symbol);

/**
 * screen_print() - print one screen
 * @view: the view
 * @profile: nothing is added any more
 * @list: functions in the order of profile_sort()
 * @count: how many
 */
void screen_print(struct view *view, const struct profile *profile,
		  const struct profile_symbol **list, size_t count);

/**
 * screen_json() - the same in lines of JSON
 * @view: the view
 * @profile: nothing is added any more
 * @list: functions in the order of profile_sort()
 * @count: how many
 */
void screen_json(struct view *view, const struct profile *profile,
		 const struct profile_symbol **list, size_t count);

#endif /* KIPT_VIEW_TOTALS_H */
