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
#include "../filter/did_you_mean.h"
#include "ctl_fields.h"

struct ctl_field {
	const char *name;
	/* The config term of perf's intel_pt, or NULL. */
	const char *perf;
	u64 mask;
	/* Position of a number; -1: one bit. */
	int shift;
};

static const struct ctl_field fields[] = {
	{ "OS", NULL, RTIT_CTL_OS, -1 },
	{ "User", NULL, RTIT_CTL_USER, -1 },
	{ "BranchEn", "branch", RTIT_CTL_BRANCHEN, -1 },
	{ "DisRETC", "noretcomp", RTIT_CTL_DISRETC, -1 },
	{ "PTWEn", "ptw", RTIT_CTL_PTWEN, -1 },
	{ "FUPonPTW", "fup_on_ptw", RTIT_CTL_FUPONPTW, -1 },
	{ "PwrEvtEn", "pwr_evt", RTIT_CTL_PWREVTEN, -1 },
	{ "TSCEn", "tsc", RTIT_CTL_TSCEN, -1 },
	{ "MTCEn", "mtc", RTIT_CTL_MTCEN, -1 },
	{ "MTCFreq", "mtc_period", RTIT_CTL_MTCFREQ, RTIT_CTL_MTCFREQ_SHIFT },
	{ "CYCEn", "cyc", RTIT_CTL_CYCEN, -1 },
	{ "CycThresh", "cyc_thresh", RTIT_CTL_CYCTHRESH, RTIT_CTL_CYCTHRESH_SHIFT },
	{ "PSBFreq", "psb_period", RTIT_CTL_PSBFREQ, RTIT_CTL_PSBFREQ_SHIFT },
	{ "EventEn", "event", RTIT_CTL_EVENTEN, -1 },
	{ "DisTNT", "notnt", RTIT_CTL_DISTNT, -1 },
};

u64 ctl_default(const struct kipt_caps *caps)
{
	u64 ctl = rtit_ctl_default(caps->leaf0_ebx, &caps->values);

	return caps->ctl_allowed ? ctl & caps->ctl_allowed : ctl;
}

/* The manual's names, or perf's, with commas between. */
static void list_names(bool perf, char *list, size_t size)
{
	const char *comma = "";
	size_t i, at = 0;

	list[0] = 0;
	for (i = 0; i < ARRAY_SIZE(fields) && at < size; i++) {
		const char *name = perf ? fields[i].perf : fields[i].name;

		if (!name)
			continue;
		at += snprintf(list + at, size - at, "%s%s%s", comma, name,
			       fields[i].shift < 0 ? "" : "=N");
		comma = ", ";
	}
}

static void unknown_name(const char *name, size_t len)
{
	char manual[256], perf[256], text[256];
	struct near near;
	size_t i;

	near_init(&near, name, len);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		near_add(&near, fields[i].name);
		if (fields[i].perf)
			near_add(&near, fields[i].perf);
	}
	list_names(false, manual, sizeof(manual));
	list_names(true, perf, sizeof(perf));
	say_error("--ctl: no field '%.*s'%s; there are: %s; by perf's names: %s",
		  (int)len, name, near_text(&near, text, sizeof(text)), manual,
		  perf);
}

static bool is_name(const char *field, const char *name, size_t len)
{
	return field && strlen(field) == len && !strncasecmp(field, name, len);
}

static const struct ctl_field *field_find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (is_name(fields[i].name, name, len) ||
		    is_name(fields[i].perf, name, len))
			return &fields[i];
	}
	unknown_name(name, len);
	return NULL;
}

/* A number of a field: the bits of ctl that mean it. */
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
	return false;
}

static bool field_apply(const char *word, size_t len, char sign, u64 *ctl)
{
	const char *equals = memchr(word, '=', len);
	size_t name = equals ? (size_t)(equals - word) : len;
	const struct ctl_field *field = field_find(word, name);
	u64 bits, max;

	if (!field)
		return false;
	bits = field->mask;
	max = field->shift < 0 ? 0 : field->mask >> field->shift;
	if (sign != '-' && field->shift >= 0 && !equals) {
		say_error("--ctl: %.*s needs a value: %.*s=0 to %.*s=%llu",
			  (int)name, word, (int)name, word, (int)name, word,
			  (unsigned long long)max);
		return false;
	}
	if (equals && (field->shift < 0 || sign == '-')) {
		say_error("--ctl: %.*s takes no value here: a + or - before it changes the default",
			  (int)name, word);
		return false;
	}
	if (equals && !field_number(field, equals + 1, len - name - 1, &bits)) {
		say_error("--ctl: %.*s: allowed are 0 to %llu", (int)len, word,
			  (unsigned long long)max);
		return false;
	}
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
