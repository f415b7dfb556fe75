// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a FUP belongs to, for each state of a flow: one row of a table has it, and no two do.
 * User space.
 */
#include "../../kmod/decode/flow/flow_event.h"
#include "ktap.h"

#define ANY	(-1)

/**
 * struct rule - whose FUPs are
 * @name: of the case
 * @tracing: enum kipt_tracing
 * @claimed: a packet claimed the next FUP
 * @mode: a MODE.Exec is right before it, which no event took
 * @repeats: it repeats the FUP of the PSB+ before it, after an OVF
 * @held: the record of a CFE waits
 * @owner: then it is this one's
 */
struct rule {
	const char *name;
	int tracing;
	int claimed;
	int mode;
	int repeats;
	int held;
	enum kipt_fup_owner owner;
};

static const struct rule rules[] = {
	{ "claimed: before all else, in a gap and while tracing is off, too",
	  ANY, 1, ANY, ANY, ANY, KIPT_FUP_CLAIMED },
	{ "after an OVF: where execution is", KIPT_TRACING_OVERFLOW, 0, ANY, ANY, ANY,
	  KIPT_FUP_OVERFLOW },
	{ "MODE.Exec before it: IF or the mode changed", KIPT_TRACING_ON, 0, 1, ANY, ANY,
	  KIPT_FUP_MODE },
	{ "likewise in a gap", KIPT_TRACING_LOST, 0, 1, ANY, ANY, KIPT_FUP_MODE },
	{ "likewise while tracing is off", KIPT_TRACING_OFF, 0, 1, ANY, ANY, KIPT_FUP_MODE },
	{ "the FUP of an OVF before the PSB+", KIPT_TRACING_ON, 0, 0, 1, ANY, KIPT_FUP_NOBODY },
	{ "an event", KIPT_TRACING_ON, 0, 0, 0, ANY, KIPT_FUP_EVENT },
	{ "an event in a gap", KIPT_TRACING_LOST, 0, 0, 0, ANY, KIPT_FUP_EVENT },
	{ "an event while tracing is off, with a CFE", KIPT_TRACING_OFF, 0, 0, 0, 1,
	  KIPT_FUP_HELD },
	{ "nothing while tracing is off", KIPT_TRACING_OFF, 0, 0, 0, 0, KIPT_FUP_NOBODY },
};

#define RULES	(sizeof(rules) / sizeof(rules[0]))

/* One of the states, by the bits of a number. */
struct combination {
	struct kipt_flow_state state;
	struct kipt_flow_pending pending;
	bool after_mode;
	bool repeats;
};

#define COMBINATIONS	512U

static struct combination combine(unsigned int bits)
{
	return (struct combination){
		.state.tracing = bits & 3,
		.pending.claim = bits >> 2 & 3,
		.pending.mode_pending = bits >> 4 & 1,
		.pending.event = bits >> 5 & 1,
		.pending.held_count = bits >> 6 & 1,
		.after_mode = bits >> 7 & 1,
		.repeats = bits >> 8 & 1,
	};
}

static bool fits(int wanted, int value)
{
	return wanted == ANY || wanted == value;
}

static bool has(const struct rule *rule, const struct combination *one)
{
	return fits(rule->tracing, one->state.tracing) &&
	       fits(rule->claimed, one->pending.claim != KIPT_CLAIM_NONE) &&
	       fits(rule->mode, one->after_mode && one->pending.mode_pending &&
				!one->pending.event) &&
	       fits(rule->repeats, one->repeats) &&
	       fits(rule->held, one->pending.held_count != 0);
}

int main(void)
{
	unsigned int seen[RULES] = { 0 }, wrong[RULES] = { 0 }, all = 0, other = 0, bits, i, rows;
	struct ktap ktap = { 0 };

	ktap_start();
	for (bits = 0; bits < COMBINATIONS; bits++) {
		struct combination one = combine(bits);
		enum kipt_fup_owner owner = kipt_fup_owner(&one.state, &one.pending,
							   one.after_mode, one.repeats);

		if (one.repeats && one.state.tracing != KIPT_TRACING_ON)
			continue;
		all++;
		for (i = rows = 0; i < RULES; i++) {
			if (!has(&rules[i], &one))
				continue;
			rows++;
			seen[i]++;
			wrong[i] += owner != rules[i].owner;
		}
		other += rows != 1;
	}
	for (i = 0; i < RULES; i++)
		ktap_result(&ktap, seen[i] && !wrong[i], "FUP: %s (%u states)", rules[i].name,
			    seen[i]);
	ktap_result(&ktap, !other, "each of %u states has one rule", all);
	return ktap_end(&ktap);
}
