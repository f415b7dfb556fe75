// SPDX-License-Identifier: GPL-2.0-only
/*
 * Near names, see did_you_mean.h: by the number of characters to change, and names
 * that have what was written in them.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "did_you_mean.h"

#define FAR		~0U
/* After all that are few changes away. */
#define SCORE_PART	16
#define SCORE_MAX	255

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Characters to insert, drop or replace; capitals do not matter. */
static unsigned int distance(const char *a, size_t a_len, const char *b,
			     size_t b_len)
{
	unsigned int row[NEAR_NAME + 1], corner, above;
	size_t i, k;

	for (k = 0; k <= b_len; k++)
		row[k] = k;
	for (i = 1; i <= a_len; i++) {
		corner = row[0];
		row[0] = i;
		for (k = 1; k <= b_len; k++) {
			above = row[k];
			row[k] = least(least(row[k], row[k - 1]) + 1,
				       corner + !same(a[i - 1], b[k - 1]));
			corner = above;
		}
	}
	return row[b_len];
}

static bool has_part(const char *name, const char *part, size_t len)
{
	for (; strlen(name) >= len; name++) {
		if (!strncasecmp(name, part, len))
			return true;
	}
	return false;
}

static unsigned int score(const struct near *near, const char *name,
			  size_t len)
{
	size_t gap = len > near->len ? len - near->len : near->len - len;
	unsigned int allowed = 1 + near->len / 4, changes;

	if (gap <= allowed) {
		changes = distance(near->want, near->len, name, len);
		if (changes <= allowed)
			return changes;
	}
	if (near->len >= 4 && has_part(name, near->want, near->len))
		return least(SCORE_PART + gap, SCORE_MAX);
	return FAR;
}

void near_init(struct near *near, const char *want, size_t len)
{
	memset(near, 0, sizeof(*near));
	near->want = want;
	near->len = len < NEAR_NAME ? len : NEAR_NAME - 1;
}

static bool known(const struct near *near, const char *name)
{
	unsigned int i;

	for (i = 0; i < near->count; i++) {
		if (!strcmp(near->names[i], name))
			return true;
	}
	return false;
}

void near_add(struct near *near, const char *name)
{
	size_t len = strlen(name);
	unsigned int far, i;

	if (len >= NEAR_NAME)
		return;
	far = score(near, name, len);
	if (far == FAR ||
	    (near->count == NEAR_MAX && far >= near->scores[NEAR_MAX - 1]) ||
	    known(near, name))
		return;
	if (near->count < NEAR_MAX)
		near->count++;
	for (i = near->count - 1; i && near->scores[i - 1] > far; i--) {
		near->scores[i] = near->scores[i - 1];
		strcpy(near->names[i], near->names[i - 1]);
	}
	near->scores[i] = far;
	strcpy(near->names[i], name);
}

const char *near_text(const struct near *near, char *text, size_t size)
{
	size_t at = 0;
	unsigned int i;

	text[0] = 0;
	for (i = 0; i < near->count && at < size; i++)
		at += snprintf(text + at, size - at, "%s%s",
			       i ? ", " : "; near it: ", near->names[i]);
	return text;
}
