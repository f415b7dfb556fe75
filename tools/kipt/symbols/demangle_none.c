// SPDX-License-Identifier: GPL-2.0-only
/*
 * What demangle.c is where there is no libiberty.
 */
#include "demangle.h"

bool demangle(const char *name, char *text, size_t size)
{
	(void)name;
	(void)text;
	(void)size;
	return false;
}
