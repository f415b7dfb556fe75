// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of the test CPU: one table of key, help and setter. Owns their
 * syntax; what they do is the model's business. Runs once, before vCPUs.
 */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef bool option_setter(struct testcpu_options *o, const char *value,
			   char *why, size_t size);

struct option {
	const char *key;
	const char *values;
	option_setter *set;
};

static bool set_switch(bool *out, const char *value)
{
	static const char * const yes[] = { "on", "1", "yes", "true", "" };
	static const char * const no[] = { "off", "0", "no", "false" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (strcmp(value, yes[i]) == 0) {
			*out = true;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		if (strcmp(value, no[i]) == 0) {
			*out = false;
			return true;
		}
	}
	return false;
}

static bool set_number(uint32_t *out, const char *value, uint32_t min,
		       uint32_t max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(value, &end, 0);
	if (errno || end == value || *end || v < min || v > max)
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool set_caps(struct testcpu_options *o, const char *value, char *why,
		     size_t size)
{
	return testcpu_caps_parse(&o->caps, value, why, size);
}

/* LIST in caps.LIST, and the model: "2=goldmont" or "2-3=goldmont". */
static bool set_kind(struct testcpu_options *o, const char *value, char *why,
		     size_t size)
{
	struct testcpu_kind *kind = &o->kinds[o->num_kinds];
	unsigned int first, last;
	int len = 0;

	if (sscanf(value, "%3u-%3u=%n", &first, &last, &len) != 2 || !len) {
		if (sscanf(value, "%3u=%n", &first, &len) != 1 || !len)
			return false;
		last = first;
	}
	if (first > last || o->num_kinds == TESTCPU_KINDS_MAX)
		return false;
	if (!testcpu_caps_parse(&kind->caps, value + len, why, size))
		return false;
	kind->first = first;
	kind->last = last;
	o->num_kinds++;
	return true;
}

static bool set_tsc_start(struct testcpu_options *o, const char *value,
			  char *why, size_t size)
{
	char *end;

	(void)why;
	(void)size;
	errno = 0;
	o->tsc_start = strtoull(value, &end, 0);
	o->tsc_started = !errno && end != value && !*end && value[0] != '-';
	return o->tsc_started;
}

#define SWITCH_SETTER(name, member)					\
static bool set_##name(struct testcpu_options *o, const char *value,	\
		       char *why, size_t size)				\
{									\
	(void)why;							\
	(void)size;							\
	return set_switch(&o->member, value);				\
}

#define NUMBER_SETTER(name, member, min, max)				\
static bool set_##name(struct testcpu_options *o, const char *value,	\
		       char *why, size_t size)				\
{									\
	(void)why;							\
	(void)size;							\
	return set_number(&o->member, value, min, max);			\
}

SWITCH_SETTER(long_tnt, pt.long_tnt)
SWITCH_SETTER(deferred_tip, pt.deferred_tip)
SWITCH_SETTER(skl014, pt.skl014)
SWITCH_SETTER(cyc_wrap, pt.cyc_wrap)
SWITCH_SETTER(truth_clock, truth_clock)
SWITCH_SETTER(insn_count, insn_count)
SWITCH_SETTER(mwait, mwait)
SWITCH_SETTER(check_ip, check_ip)
NUMBER_SETTER(psb, pt.psb_period, 64, 1u << 30)
NUMBER_SETTER(error_after, pt.error_after, 1, UINT32_MAX)
NUMBER_SETTER(overflow_every, pt.overflow_every, 1, UINT32_MAX)
NUMBER_SETTER(overflow_length, pt.overflow_length, 1, 1u << 20)
NUMBER_SETTER(mtc_stride, pt.mtc_stride, 1, 1u << 20)
NUMBER_SETTER(pmi_skid, pt.pmi_skid, 0, 4096)
NUMBER_SETTER(stop_offset, pt.stop_offset, 0, 1)

static bool set_truth_dir(struct testcpu_options *o, const char *value,
			  char *why, size_t size)
{
	(void)why;
	(void)size;
	if (value[0] != '/' || strlen(value) >= sizeof(o->truth_dir))
		return false;
	strcpy(o->truth_dir, value);
	if (o->truth_mode == TRUTH_LOG_OFF)
		o->truth_mode = TRUTH_FULL;
	return true;
}

static bool set_truth_mode(struct testcpu_options *o, const char *value,
			   char *why, size_t size)
{
	(void)why;
	(void)size;
	if (strcmp(value, "full") == 0)
		o->truth_mode = TRUTH_FULL;
	else if (strcmp(value, "hash") == 0)
		o->truth_mode = TRUTH_HASH;
	else if (strcmp(value, "off") == 0)
		o->truth_mode = TRUTH_LOG_OFF;
	else
		return false;
	return true;
}

static bool set_truth(struct testcpu_options *o, const char *value, char *why,
		      size_t size)
{
	if (value[0] == '/')
		return set_truth_dir(o, value, why, size);
	return set_truth_mode(o, value, why, size);
}

static bool set_help(struct testcpu_options *o, const char *value, char *why,
		     size_t size)
{
	(void)why;
	(void)size;
	return set_switch(&o->help, value);
}

static const struct option options[] = {
	{ "caps", "one of the CPU models below, or CPUID 14H words EBX:ECX[:EAX1:EBX1] in hex",
	  set_caps },
	{ "caps.LIST", "caps.2=MODEL, caps.2-3=MODEL: another CPU model for these vCPUs",
	  set_kind },
	{ "tsc-start", "TSC when the machine starts, such as 0x0100000000000000 for 2^56",
	  set_tsc_start },
	{ "psb", "bytes between PSBs, 64 to 2^30, instead of PSBFreq",
	  set_psb },
	{ "long-tnt", "on or off: TNT packets of up to 47 results",
	  set_long_tnt },
	{ "deferred-tip", "on or off: TIPs wait for the TNT to fill",
	  set_deferred_tip },
	{ "skl014", "on or off: direct branches out of a filter do not say where to",
	  set_skl014 },
	{ "cyc-wrap", "on or off: the cycle counter wraps at 4096",
	  set_cyc_wrap },
	{ "error-after", "bytes of output after which IA32_RTIT_STATUS.Error is set, 1 to 2^32-1",
	  set_error_after },
	{ "overflow-every", "packets between injected overflows, 1 to 2^32-1",
	  set_overflow_every },
	{ "overflow-length", "packets lost in each, 1 to 2^20",
	  set_overflow_length },
	{ "mtc-stride", "branches between looks at the clock, 1 to 2^20",
	  set_mtc_stride },
	{ "pmi-skid", "bytes before the end at which single-entry ToPA interrupts, 0 to 4096",
	  set_pmi_skid },
	{ "topa-stop-offset", "0 or 1: what OutputOffset lacks of the region size after STOP",
	  set_stop_offset },
	{ "truth", "full, hash, off, or the absolute path of a folder",
	  set_truth },
	{ "truth-dir", "absolute path of the folder of the truth files",
	  set_truth_dir },
	{ "truth-clock", "on or off: each transfer in the truth files has its time",
	  set_truth_clock },
	{ "insn-count", "on or off: CPUID leaf 4B495054H returns how many instructions began (slow)",
	  set_insn_count },
	{ "mwait", "on or off: enumerate C-states, so that the guest idles with MWAIT",
	  set_mwait },
	{ "check-ip", "on or off: check each block's address (slow)",
	  set_check_ip },
	{ "help", "print this and start nothing", set_help },
};

#define NUM_OPTIONS (sizeof(options) / sizeof(options[0]))

void testcpu_options_init(struct testcpu_options *o)
{
	char why[1];

	memset(o, 0, sizeof(*o));
	testcpu_caps_parse(&o->caps, "newest", why, sizeof(why));
	o->pt.overflow_length = 40;
	o->pt.pmi_skid = 512;
	o->pt.mtc_stride = 16;
	o->truth_mode = TRUTH_LOG_OFF;
	testcpu_options_settle(o);
}

/* A CPU whose CPUID lacks its crystal's ratio has one of 25 MHz. */
void testcpu_options_settle(struct testcpu_options *o)
{
	o->pt.crystal_den = o->caps.tsc_den ? o->caps.tsc_den : 2;
	o->pt.crystal_num = o->caps.tsc_num ? o->caps.tsc_num : 160;
	/* To a bus of 100 MHz. */
	o->pt.cbr = (uint8_t)((o->caps.tsc_hz + 50000000) / 100000000);
	for (unsigned int i = 0; i < o->num_kinds; i++) {
		o->kinds[i].caps.tsc_den = o->caps.tsc_den;
		o->kinds[i].caps.tsc_num = o->caps.tsc_num;
		o->kinds[i].caps.leaf_crystal = o->caps.leaf_crystal;
		o->kinds[i].caps.tsc_hz = o->caps.tsc_hz;
	}
}

const struct testcpu_caps *
testcpu_options_caps(const struct testcpu_options *o, unsigned int index)
{
	for (unsigned int i = o->num_kinds; i; i--)
		if (index >= o->kinds[i - 1].first &&
		    index <= o->kinds[i - 1].last)
			return &o->kinds[i - 1].caps;
	return &o->caps;
}

bool testcpu_options_hybrid(const struct testcpu_options *o)
{
	for (unsigned int i = 0; i < o->num_kinds; i++)
		if (o->kinds[i].caps.core_type != o->caps.core_type)
			return true;
	return false;
}

static void refuse_key(const char *key, char *why, size_t size)
{
	int at = snprintf(why, size, "unknown option %s; allowed:", key);

	for (size_t i = 0; i < NUM_OPTIONS; i++) {
		if (at < 0 || (size_t)at >= size)
			return;
		at += snprintf(why + at, size - (size_t)at, "%s %s",
			       i ? "," : "", options[i].key);
	}
}

static bool same_key(const char *key, const char *arg, size_t len)
{
	if (strlen(key) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (key[i] != (arg[i] == '_' ? '-' : arg[i]))
			return false;
	return true;
}

bool testcpu_options_parse(struct testcpu_options *o, const char *arg,
			   char *why, size_t size)
{
	size_t len = strcspn(arg, "=");
	const char *value = arg[len] ? arg + len + 1 : "";
	char key[64];

	/* The vCPUs are in the key, and the setter wants them too. */
	if (strncmp(arg, "caps.", 5) == 0) {
		value = arg + 5;
		arg = "caps.LIST";
		len = strlen(arg);
	}
	for (size_t i = 0; i < NUM_OPTIONS; i++) {
		if (!same_key(options[i].key, arg, len))
			continue;
		why[0] = 0;
		if (options[i].set(o, value, why, size))
			return true;
		if (!why[0])
			snprintf(why, size, "%s=%s is refused; allowed: %s",
				 options[i].key, value, options[i].values);
		return false;
	}
	snprintf(key, sizeof(key), "%.*s", (int)(len < 60 ? len : 60), arg);
	refuse_key(key, why, size);
	return false;
}

const char *testcpu_options_help(void)
{
	static char text[8192];
	size_t at = 0;

	for (size_t i = 0; i < NUM_OPTIONS; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "  %s: %s\n", options[i].key,
				       options[i].values);
	snprintf(text + at, sizeof(text) - at, "  CPU models:\n%s",
		 testcpu_caps_help());
	return text;
}
