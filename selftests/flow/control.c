// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes one truth entry at a time, at the first, a middle and the last
 * entry it applies to, and expects the comparison to stop there. Runs in user
 * space on the host.
 */
#include "control.h"

#include <stdio.h>

typedef void (*control_change)(struct truth_entry *entry);

/**
 * struct control - one way to be wrong
 * @name: what is changed
 * @kind: items it applies to: an enum flow_kind, or FLOW_END for any branch
 * @change: does it
 */
struct control {
	const char *name;
	unsigned int kind;
	control_change change;
};

static void change_to(struct truth_entry *entry)
{
	entry->to ^= 0x10;
}

static void change_from(struct truth_entry *entry)
{
	entry->from ^= 1;
}

static void change_kind(struct truth_entry *entry)
{
	entry->kind = entry->kind == TRUTH_RET ? TRUTH_CALL : TRUTH_RET;
}

/* A TRUTH_SUM entry is one the comparison passes over. */
static void change_drop(struct truth_entry *entry)
{
	entry->kind = TRUTH_SUM;
}

static void change_aux(struct truth_entry *entry)
{
	entry->aux ^= 1U << 4;
}

static const struct control controls[] = {
	{ "target of a branch", FLOW_END, change_to },
	{ "source of a branch", FLOW_END, change_from },
	{ "kind of a branch", FLOW_END, change_kind },
	{ "a branch dropped", FLOW_END, change_drop },
	{ "source of an event", FLOW_EVENT, change_from },
	{ "address of an enable", FLOW_ENABLE, change_to },
	{ "an enable dropped", FLOW_ENABLE, change_drop },
	{ "a disable dropped", FLOW_DISABLE, change_drop },
	{ "value of a PTWRITE", FLOW_PTWRITE, change_to },
	{ "address of a PTWRITE", FLOW_PTWRITE, change_from },
	{ "a PTWRITE dropped", FLOW_PTWRITE, change_drop },
	{ "hints of a sleep", FLOW_IDLE, change_aux },
	{ "a sleep dropped", FLOW_IDLE, change_drop },
	{ "reason of a wake-up", FLOW_WAKE, change_aux },
};

static bool applies(const struct control *control, unsigned int kind)
{
	return control->kind == FLOW_END ? flow_is_branch(kind) :
					   control->kind == kind;
}

/* Which items are changed: the first, the one in the middle, the last. */
struct targets {
	size_t index[3];
	unsigned int count;
};

static uint64_t count_targets(const struct control *control,
			      struct flow_cursor truth,
			      const struct match_result *base)
{
	struct flow_item item;
	uint64_t n = 0;

	for (item = flow_truth_next(&truth); item.kind != FLOW_END;
	     item = flow_truth_next(&truth))
		n += applies(control, item.kind) &&
		     !match_skipped(base, item.index);
	return n;
}

static bool same_item(const struct flow_item *a, const struct flow_item *b)
{
	return a->kind == b->kind && a->from == b->from && a->to == b->to;
}

/*
 * Where a ring begins in the truth is found by what it has: without its first
 * item it would begin at the second, and without one of a loop that begins it
 * one turn earlier.
 */
static uint64_t first_target(const struct control *control,
			     struct flow_cursor truth,
			     const struct match_options *options,
			     const struct match_result *base)
{
	struct flow_item item, first = { .kind = FLOW_END };
	uint64_t n = 0;

	if (!options->late_start || control->change != change_drop)
		return 0;
	for (item = flow_truth_next(&truth); item.kind != FLOW_END;
	     item = flow_truth_next(&truth)) {
		if (match_skipped(base, item.index))
			continue;
		if (first.kind == FLOW_END)
			first = item;
		if (!same_item(&first, &item))
			break;
		n += applies(control, item.kind);
	}
	return n;
}

static struct targets find_targets(const struct control *control,
				   struct flow_cursor truth,
				   const struct match_options *options,
				   const struct match_result *base)
{
	uint64_t wanted = count_targets(control, truth, base), n = 0;
	uint64_t first = first_target(control, truth, options, base);
	struct targets targets = { .count = 0 };
	struct flow_item item;

	for (item = flow_truth_next(&truth); item.kind != FLOW_END;
	     item = flow_truth_next(&truth)) {
		if (!applies(control, item.kind) ||
		    match_skipped(base, item.index))
			continue;
		if (n >= first && (n == first || n == wanted / 2 ||
				   n == wanted - 1))
			targets.index[targets.count++] = item.index;
		n++;
	}
	return targets;
}

static bool change_found(const struct control *control, size_t index,
			 struct flow_cursor truth, struct flow_cursor records,
			 const struct match_options *options)
{
	static struct match_result result;
	struct truth_entry *entries = truth.file->entries;
	struct truth_entry saved = entries[index];

	control->change(&entries[index]);
	match_run(&result, truth, records, options);
	entries[index] = saved;
	return !result.equal;
}

unsigned int control_run(struct flow_cursor truth, struct flow_cursor records,
			 const struct match_options *options,
			 const struct match_result *base, unsigned int *made)
{
	unsigned int missed = 0, i, k;

	*made = 0;

	for (i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		const struct control *control = &controls[i];
		struct targets targets;

		targets = find_targets(control, truth, options, base);
		*made += targets.count;
		if (!targets.count)
			printf("control: %s: the truth has none\n",
			       control->name);
		for (k = 0; k < targets.count; k++) {
			bool found = change_found(control, targets.index[k],
						  truth, records, options);

			printf("control: %s at truth entry %zu: %s\n",
			       control->name, targets.index[k],
			       found ? "found" : "NOT FOUND");
			missed += !found;
		}
	}
	return missed;
}
