// SPDX-License-Identifier: GPL-2.0-only
/*
 * One KTAP result for our decoder, one for libipt, one for each feature and
 * one for each negative control. User space.
 */
#include "tally.h"

#include "../decode/ktap.h"
#include "features.h"

/* So many programs have done everything; with less, some may be missing. */
#define ENOUGH	3000

void tally_walk(struct tally *tally, const struct walk *walk, bool good)
{
	u32 i;

	tally->programs++;
	tally->packets += walk->encode.packets;
	tally->bytes += walk->encode.size;
	tally->ours_bad += !good;
	for (i = 0; i < walk->truth.proven; i++)
		tally->insns += walk->truth.records[i].type ==
				KIPT_RECORD_INSN;
	for (i = 0; i < WALK_BITS; i++) {
		if (!(walk->used >> i & 1))
			continue;
		tally->used[i]++;
		tally->used_bad[i] += !good;
	}
}

void tally_show(const struct tally *tally, double seconds)
{
	printf("# %llu programs, %llu wrong, %llu packets, %llu bytes, %llu instructions in %.1f s (%.0f programs/s)\n",
	       (unsigned long long)tally->programs,
	       (unsigned long long)(tally->ours_bad + tally->peer_bad),
	       (unsigned long long)tally->packets,
	       (unsigned long long)tally->bytes,
	       (unsigned long long)tally->insns, seconds,
	       (double)tally->programs / (seconds > 0 ? seconds : 1));
}

static void judge_peer(const struct tally *tally, struct ktap *ktap)
{
	if (tally->peer)
		ktap_result(ktap, !tally->peer_bad && tally->peer_insns,
			    "random: libipt sees the same instructions in %llu programs (%llu instructions)",
			    (unsigned long long)tally->peer_programs,
			    (unsigned long long)tally->peer_insns);
	else
		ktap_skip(ktap, "random: libipt",
			  "libipt-dev is not installed");
}

static void judge_feature(const struct tally *tally, struct ktap *ktap, u32 bit)
{
	const struct feature *feature = &features[bit];
	bool good = !tally->used_bad[bit] &&
		    (tally->used[bit] || tally->programs < ENOUGH);

	if (feature->libipt)
		ktap_result(ktap, good,
			    "random: %s: %llu programs as the manual says, libipt differs in %llu of %llu: it %s",
			    feature->name,
			    (unsigned long long)tally->used[bit],
			    (unsigned long long)tally->differs[bit],
			    (unsigned long long)tally->asked[bit],
			    feature->libipt);
	else
		ktap_result(ktap, good, "random: %s: %llu programs",
			    feature->name,
			    (unsigned long long)tally->used[bit]);
}

int tally_judge(const struct tally *tally)
{
	struct ktap ktap = { 0 };
	u32 i;

	ktap_result(&ktap, !tally->ours_bad,
		    "random: all modes equal the truth in %llu programs (%llu instructions)",
		    (unsigned long long)tally->programs,
		    (unsigned long long)tally->insns);
	judge_peer(tally, &ktap);
	for (i = 0; i < WALK_BITS; i++)
		judge_feature(tally, &ktap, i);
	for (i = 0; i < CONTROLS; i++) {
		if (tally->controls[i])
			ktap_result(&ktap, !tally->missed[i],
				    "random: %llu of %llu %s are found",
				    (unsigned long long)(tally->controls[i] -
							 tally->missed[i]),
				    (unsigned long long)tally->controls[i],
				    control_names[i]);
	}
	return ktap_end(&ktap);
}
