/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that an option names, and what to say where the trace has none of that
 * name.
 */
#ifndef KIPT_WANTED_H
#define KIPT_WANTED_H

#include <stdbool.h>

struct profile;
struct profile_symbol;

/**
 * wanted_has() - whether a list names a function
 * @list: names with commas between them; commas in "()" and "<>" are of a name
 * @symbol: a function; arguments in "()" need not be in the list. One without a symbol
 *	is "0x1234", as totals_text() has it
 */
bool wanted_has(const char *list, const struct profile_symbol *symbol);

/**
 * wanted_check() - whether each of the names is in the trace
 * @profile: nothing is added any more; its wanted names are checked
 * @option: that has them, without "--"
 *
 * Return: true, or false after a sentence for each that is not.
 */
bool wanted_check(const struct profile *profile, const char *option);

#endif /* KIPT_WANTED_H */
