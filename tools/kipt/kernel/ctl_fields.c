// SPDX-License-Identifier: GPL-2.0-only
/*
 * IA32_RTIT_CTL by name, see ctl_fields.h.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/args.h"
#include "../cli/messages.h"
#include "ctl_fields.h"

struct ctl_field {
	const char *name;
	u64 mask;
	/* Position of a number; -1: one bit. */
	int shift;
};

static const struct ctl_field fields[] = {
	{ "OS", RTIT_CTL_OS, -1 },
	{ "User", RTIT_CTL_USER, -1 },
	{ "BranchEn", RTIT_CTL_BRANCHEN, -1 },
	{ "DisRETC", RTIT_CTL_DISRETC, -1 },
	{ "PTWEn", RTIT_CTL_PTWEN, -1 },
	{ "FUPonPTW", RTIT_CTL_FUPONPTW, -1 },
	{ "PwrEvtEn", RTIT_CTL_PWREVTEN, -1 },
	{ "TSCEn", RTIT_CTL_TSCEN, -1 },
	{ "MTCEn", RTIT_CTL_MTCEN, -1 },
	{ "MTCFreq", RTIT_CTL_MTCFREQ, RTIT_CTL_MTCFREQ_SHIFT },
	{ "CYCEn", RTIT_CTL_CYCEN, -1 },
	{ "CycThresh", RTIT_CTL_CYCTHRESH, RTIT_CTL_CYCTHRESH_SHIFT },
	{ "PSBFreq", RTIT_CTL_PSBFREQ, RTIT_CTL_PSBFREQ_SHIFT },
	{ "EventEn", RTIT_CTL_EVENTEN, -1 },
	{ "DisTNT", RTIT_CTL_DISTNT, -1 },
};

u64 ctl_default(const struct kipt_caps *caps)
{
	u64 ctl = rtit_ctl_default(caps->leaf0_ebx, &caps->values);

	return caps->ctl_allowed ? ctl & caps->ctl_allowed : ctl;
}

static void unknown_name(const char *name, size_t len)
{
	char list[256];
	size_t i, at = 0;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		at += snprintf(list + at, sizeof(list) - at, "%s%s%s",
			       i ? ", " : "", fields[i].name,
			       fields[i].shift < 0 ? "" : "=N");
	say_error("--ctl: no field '%.*s', there are: %s", (int)len, name,
		  list);
}

static const struct ctl_field *field_find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strlen(fields[i].name) == len &&
		    !strncasecmp(fields[i].name, name, len))
			return &fields[i];
	}
	unknown_name(name, len);
	return NULL;
}

/* A number of a field: the bits of ctl that stand for it. */
static bool field_number(const struct ctl_field *field, const char *text,
			 size_t len, u64 *bits)
{
	u64 max = field->mask >> field->shift, number;
	char digits[24];

	if (len < sizeof(digits)) {
		memcpy(digits, text, len);
		digits[len] = 0;
		if (args_number(digits, max, &number)) {
			*bits = number << field->shift;
			return true;
		}
	}
	say_error("--ctl: %s=%.*s: allowed are 0 to %llu", field->name,
		  (int)len, text, (unsigned long long)max);
	return false;
}

static bool field_apply(const char *word, size_t len, char sign, u64 *ctl)
{
	const char *equals = memchr(word, '=', len);
	size_t name = equals ? (size_t)(equals - word) : len;
	const struct ctl_field *field = field_find(word, name);
	u64 bits;

	if (!field)
		return false;
	bits = field->mask;
	if (sign != '-' && field->shift >= 0 && !equals) {
		say_error("--ctl: %s needs a value: %s=0 to %s=%llu",
			  field->name, field->name, field->name,
			  (unsigned long long)(field->mask >> field->shift));
		return false;
	}
	if (equals && (field->shift < 0 || sign == '-')) {
		say_error("--ctl: %s takes no value here", field->name);
		return false;
	}
	if (equals && !field_number(field, equals + 1, len - name - 1, &bits))
		return false;
	*ctl &= ~field->mask;
	if (sign != '-')
		*ctl |= bits;
	return true;
}

bool ctl_parse(const char *text, u64 start, u64 *ctl)
{
	bool change = text[0] == '+' || text[0] == '-';
	u64 result = change ? start : 0;

	for (;;) {
		size_t len = strcspn(text, ",");
		char sign = *text == '+' || *text == '-' ? *text : 0;

		if (change != !!sign) {
			say_error("--ctl: either each name has a + or - or none has: '%s'",
				  text);
			return false;
		}
		if (!field_apply(text + !!sign, len - !!sign, sign, &result))
			return false;
		if (!text[len])
			break;
		text += len + 1;
	}
	*ctl = result;
	return true;
}

void ctl_format(u64 ctl, char *text, size_t size)
{
	size_t i, at = 0;

	text[0] = 0;
	for (i = 0; i < ARRAY_SIZE(fields) && at < size; i++) {
		u64 bits = ctl & fields[i].mask;

		ctl &= ~fields[i].mask;
		if (!bits)
			continue;
		at += snprintf(text + at, size - at, "%s%s", at ? "," : "",
			       fields[i].name);
		if (fields[i].shift >= 0 && at < size)
			at += snprintf(text + at, size - at, "=%llu",
				       (unsigned long long)bits >>
				       fields[i].shift);
	}
	if (ctl && at < size)
		snprintf(text + at, size - at, "%s0x%llx", at ? "," : "",
			 (unsigned long long)ctl);
}
