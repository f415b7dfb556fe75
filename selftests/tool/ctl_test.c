// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fields of IA32_RTIT_CTL by name (tools/kipt/kernel/ctl_fields.h): what each text sets and
 * clears, what is refused, and that what is shown is read as the same bits. User
 * space; prints KTAP.
 */
#include <stdio.h>
#include <string.h>

#include "../../kmod/hw/rtit_regs.h"
#include "../../tools/kipt/kernel/ctl_fields.h"
#include "../decode/ktap.h"

#define START	(RTIT_CTL_OS | RTIT_CTL_USER | RTIT_CTL_BRANCHEN | RTIT_CTL_TSCEN)
#define PSBFREQ(n)	((u64)(n) << RTIT_CTL_PSBFREQ_SHIFT)
#define REFUSED	(~0ULL)

static struct ktap ktap;

static const struct {
	const char *name;
	const char *text;
	u64 start;
	u64 want;
} cases[] = {
	{ "names_replace_the_default", "OS,BranchEn", START,
	  RTIT_CTL_OS | RTIT_CTL_BRANCHEN },
	{ "case_does_not_matter", "os,branchen", 0,
	  RTIT_CTL_OS | RTIT_CTL_BRANCHEN },
	{ "a_plus_sets", "+CYCEn", START, START | RTIT_CTL_CYCEN },
	{ "a_plus_of_what_is_set_changes_nothing", "+OS", START, START },
	{ "a_minus_clears", "-OS", START, START & ~RTIT_CTL_OS },
	{ "a_minus_of_what_is_clear_changes_nothing", "-CYCEn", START, START },
	{ "several_changes", "-User,+PTWEn,-TSCEn", START,
	  (START | RTIT_CTL_PTWEN) & ~(RTIT_CTL_USER | RTIT_CTL_TSCEN) },
	{ "the_last_one_holds", "-OS,+OS", START, START },
	{ "a_number_is_set", "PSBFreq=5", 0, PSBFREQ(5) },
	{ "a_number_replaces_a_number", "+PSBFreq=2", START | PSBFREQ(5),
	  START | PSBFREQ(2) },
	{ "a_minus_makes_a_number_0", "-PSBFreq", START | PSBFREQ(5), START },
	{ "the_largest_number", "PSBFreq=15", 0, PSBFREQ(15) },
	{ "too_large_a_number", "PSBFreq=16", 0, REFUSED },
	{ "no_number", "PSBFreq", 0, REFUSED },
	{ "an_empty_number", "PSBFreq=", 0, REFUSED },
	{ "a_minus_with_a_number", "-PSBFreq=5", START, REFUSED },
	{ "a_number_for_one_bit", "OS=1", 0, REFUSED },
	{ "perf_names_are_those_of_fields", "branch,noretcomp,ptw,fup_on_ptw", 0,
	  RTIT_CTL_BRANCHEN | RTIT_CTL_DISRETC | RTIT_CTL_PTWEN |
	  RTIT_CTL_FUPONPTW },
	{ "perf_names_of_times", "tsc,mtc,mtc_period=3,cyc,cyc_thresh=2", 0,
	  RTIT_CTL_TSCEN | RTIT_CTL_MTCEN | 3ULL << RTIT_CTL_MTCFREQ_SHIFT |
	  RTIT_CTL_CYCEN | 2ULL << RTIT_CTL_CYCTHRESH_SHIFT },
	{ "perf_names_of_the_rest", "psb_period=5,pwr_evt,event,notnt", 0,
	  PSBFREQ(5) | RTIT_CTL_PWREVTEN | RTIT_CTL_EVENTEN | RTIT_CTL_DISTNT },
	{ "perf_names_change_the_default", "+cyc,-tsc,+noretcomp", START,
	  (START | RTIT_CTL_CYCEN | RTIT_CTL_DISRETC) & ~RTIT_CTL_TSCEN },
	{ "perf_names_beside_the_manual's", "OS,cyc,PSBFreq=1", 0,
	  RTIT_CTL_OS | RTIT_CTL_CYCEN | PSBFREQ(1) },
	{ "a_number_of_perf_is_needed", "mtc_period", 0, REFUSED },
	{ "a_number_of_perf_has_a_bound", "mtc_period=16", 0, REFUSED },
	{ "an_unknown_name", "OSS", 0, REFUSED },
	{ "the_begin_of_a_name", "O", 0, REFUSED },
	{ "an_empty_name", "OS,,User", 0, REFUSED },
	{ "nothing", "", 0, REFUSED },
	{ "a_change_after_a_name", "OS,+User", 0, REFUSED },
	{ "a_name_after_a_change", "-OS,User", START, REFUSED },
};

static void parse(void)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u64 ctl = REFUSED;
		bool done = ctl_parse(cases[i].text, cases[i].start, &ctl);

		ktap_result(&ktap, ctl == cases[i].want &&
			    done == (ctl != REFUSED), "ctl_%s", cases[i].name);
		if (ctl != cases[i].want)
			printf("# '%s' of 0x%llx is 0x%llx\n", cases[i].text,
			       (unsigned long long)cases[i].start,
			       (unsigned long long)ctl);
	}
}

/* Each bit, alone and with all others. */
static void format(void)
{
	u64 all = 0, again;
	bool good = true;
	char text[256];
	int bit;

	for (bit = 0; bit < 64; bit++) {
		ctl_format(1ULL << bit, text, sizeof(text));
		if (strncmp(text, "0x", 2)) {
			good &= ctl_parse(text, 0, &again) &&
				again == 1ULL << bit;
			all |= 1ULL << bit;
		}
	}
	ctl_format(all, text, sizeof(text));
	good &= ctl_parse(text, 0, &again) && again == all;
	ktap_result(&ktap, good && (all & START) == START,
		    "ctl_what_is_shown_is_read_as_the_same");
	ctl_format(RTIT_CTL_OS | 1ULL << 63, text, sizeof(text));
	ktap_result(&ktap, !strcmp(text, "OS,0x8000000000000000"),
		    "ctl_unknown_bits_are_shown_as_a_number");
	ctl_format(START, text, 8);
	ktap_result(&ktap, strlen(text) < 8, "ctl_little_room_is_kept_to");
}

int main(void)
{
	ktap_start();
	parse();
	format();
	return ktap_end(&ktap);
}
