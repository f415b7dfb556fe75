// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison of truth and records. The records fall into segments, the
 * runs between two gaps. The first segment starts where the truth starts;
 * each later one is looked for in the truth from where the one before ended,
 * and the earliest place that holds all of it is taken, which can hide no
 * match that another choice would have found. Runs in user space on the host.
 */
#include "match.h"

#include <string.h>

#include "../../tools/kipt/records/record_names.h"

static const char *const gap_names[MATCH_GAP_KINDS] = RECORD_GAP_NAMES;

const char *match_gap_name(unsigned int kind)
{
	return kind < MATCH_GAP_KINDS && gap_names[kind] ? gap_names[kind] :
							   "unknown";
}

/* struct match - one comparison; what has been lost since the last match */
struct match {
	const struct match_options *options;
	struct match_result *result;
	struct flow_cursor truth;
	struct flow_cursor records;
	bool lost;
	bool has_resume;
	uint64_t resume_ip;
	unsigned int last_gap;
	bool overflow_gap;
	bool ring_gap;
	bool changed_gap;
};

static bool disable_matches(const struct flow_item *t, const struct flow_item *r)
{
	if ((!(r->flags & FLOW_NO_FROM) && t->from != r->from) ||
	    t->aux != r->aux)
		return false;
	return (r->flags & FLOW_NO_TO) || t->to == r->to;
}

static bool idle_matches(const struct flow_item *t, const struct flow_item *r)
{
	return ((r->flags & FLOW_NO_FROM) || t->from == r->from) &&
	       ((r->flags & FLOW_NO_AUX) || t->aux == r->aux);
}

/* Both say in which address space it was. */
static bool knows_space(const struct flow_item *t, const struct flow_item *r)
{
	return !((t->flags | r->flags) & FLOW_NO_SPACE);
}

static bool item_matches(const struct flow_item *t, const struct flow_item *r)
{
	if (t->kind != r->kind)
		return false;
	if (flow_is_branch(t->kind))
		return t->from == r->from && t->to == r->to &&
		       !(r->flags & (FLOW_NO_FROM | FLOW_NO_TO)) &&
		       (!knows_space(t, r) || t->space == r->space);
	switch (t->kind) {
	case FLOW_ENABLE:
		return t->to == r->to;
	case FLOW_DISABLE:
		return disable_matches(t, r);
	case FLOW_PTWRITE:
		return ((r->flags & FLOW_NO_FROM) || t->from == r->from) &&
		       t->to == r->to && t->aux == r->aux;
	case FLOW_IDLE:
		return idle_matches(t, r);
	case FLOW_WAKE:
		return t->aux == r->aux;
	default:
		return false;
	}
}

static bool ends_segment(unsigned int kind)
{
	return kind == FLOW_GAP || kind == FLOW_RESUME || kind == FLOW_END;
}

/* struct segment - a try to match the records up to the next gap */
struct segment {
	struct flow_cursor truth;
	struct flow_cursor records;
	struct flow_item truth_item;
	struct flow_item record_item;
	uint64_t compared[FLOW_KIND_COUNT];
	uint64_t spaces;
	uint64_t items;
	bool has_sync;
	uint64_t sync_ip;
	/* A record since the last gap had an address. */
	bool known;
	/* It ends in the gap where it began. */
	bool lost;
};

/*
 * An address that a PSB gives lies in the straight line from the target of
 * the transfer before it, if there is one, to the next transfer.
 */
static bool is_between(uint64_t ip, const struct flow_item *before,
		       const struct flow_item *next)
{
	if (next->kind != FLOW_ENABLE && next->kind != FLOW_WAKE &&
	    next->kind != FLOW_OVERFLOW && ip > next->from)
		return false;
	return !(flow_is_branch(before->kind) ||
		 before->kind == FLOW_ENABLE) || before->to <= ip;
}

static bool sync_fits(struct segment *s, const struct flow_item *before)
{
	if (!s->has_sync)
		return true;
	s->has_sync = false;
	return is_between(s->sync_ip, before, &s->truth_item);
}

/*
 * Up to the next PSB, a decoder that is lost reports where tracing was disabled,
 * but not where it was enabled again: its next record may come much later.
 */
static bool stays_lost(const struct match_options *options,
		       const struct segment *s)
{
	return options->all_gaps && !s->known &&
	       s->record_item.kind == FLOW_DISABLE;
}

/* Return: true if all of it matched; both cursors are after it then. */
static bool segment_match(const struct match_options *options,
			  struct segment *s)
{
	for (;;) {
		struct flow_item previous = s->truth_item;
		struct flow_cursor before = s->records;

		s->record_item = flow_record_next(&s->records);
		if (ends_segment(s->record_item.kind)) {
			s->records = before;
			return true;
		}
		if (s->record_item.kind == FLOW_SYNC) {
			s->has_sync = true;
			s->sync_ip = s->record_item.to;
			continue;
		}
		/* Only in a gap does a disable come without its address. */
		if (s->known && s->record_item.kind == FLOW_DISABLE &&
		    s->record_item.flags & FLOW_NO_FROM)
			return false;
		s->known |= !(s->record_item.flags & FLOW_NO_FROM) ||
			    s->record_item.kind == FLOW_ENABLE;
		s->truth_item = flow_truth_next(&s->truth);
		if (!item_matches(&s->truth_item, &s->record_item) ||
		    !sync_fits(s, &previous))
			return false;
		s->compared[s->truth_item.kind]++;
		s->spaces += flow_is_branch(s->truth_item.kind) &&
			     knows_space(&s->truth_item, &s->record_item);
		s->items++;
		s->lost = stays_lost(options, s);
		if (s->lost)
			return true;
	}
}

static void difference(struct match_result *result, const char *why,
		       const struct flow_item *truth,
		       const struct flow_item *record)
{
	if (!result->equal)
		return;
	result->equal = false;
	result->why = why;
	result->truth = *truth;
	result->record = *record;
}

static void segment_accept(struct match *m, const struct segment *s)
{
	unsigned int kind;

	for (kind = 0; kind < FLOW_KIND_COUNT; kind++) {
		m->result->compared[kind] += s->compared[kind];
		if (flow_is_branch(kind))
			m->result->branches += s->compared[kind];
	}
	m->result->spaces += s->spaces;
	m->truth = s->truth;
	m->records = s->records;
	m->lost = s->lost;
	m->has_resume = false;
	m->overflow_gap = false;
	m->ring_gap &= s->lost;
	m->changed_gap &= s->lost;
}

static void segment_init(struct segment *s, const struct flow_cursor *truth,
			 const struct flow_cursor *records)
{
	memset(s, 0, sizeof(*s));
	s->truth = *truth;
	s->records = *records;
}

static void note_skip(struct match_result *result, size_t begin, size_t end)
{
	if (begin == end)
		return;
	if (result->skip_count < MATCH_SKIPS_MAX) {
		result->skips[result->skip_count].begin = begin;
		result->skips[result->skip_count].end = end;
	}
	result->skip_count++;
}

bool match_skipped(const struct match_result *result, size_t index)
{
	size_t i;

	if (result->skip_count > MATCH_SKIPS_MAX)
		return true;
	for (i = 0; i < result->skip_count; i++)
		if (index >= result->skips[i].begin &&
		    index < result->skips[i].end)
			return true;
	return false;
}

/* Items skipped while looking for the place of a segment in the truth. */
struct skipped {
	uint64_t branches;
	bool overflow;
};

static void account_skip(struct match *m, const struct skipped *skipped,
			 size_t begin, size_t end)
{
	struct flow_item none = { .kind = FLOW_END, .index = begin };

	m->result->missed += skipped->branches;
	if (!m->overflow_gap && !m->ring_gap)
		m->result->hidden += skipped->branches;
	note_skip(m->result, begin, end);
	if (m->overflow_gap && !skipped->overflow && !m->changed_gap)
		difference(m->result, "there is an overflow gap where the CPU lost nothing",
			   &none, &none);
	if (skipped->overflow && !m->overflow_gap)
		difference(m->result, "the CPU lost packets and no overflow gap says so",
			   &none, &none);
}

/*
 * struct probe - looks ahead in the truth: the item where the best try so far
 * ended. In a loop most places fail there too, at the end of a long match.
 * @at: after that item
 * @taken: items before @at, from where the search began
 * @item: the last of them
 */
struct probe {
	struct flow_cursor at;
	uint64_t taken;
	struct flow_item item;
};

/*
 * Whether the item of number @wanted, which is higher each time, can be what
 * @best failed for.
 */
static bool probe_fits(struct probe *probe, uint64_t wanted,
		       const struct segment *best)
{
	while (probe->taken <= wanted) {
		probe->item = flow_truth_next(&probe->at);
		probe->taken++;
		if (probe->item.kind == FLOW_END)
			return false;
	}
	return item_matches(&probe->item, &best->record_item);
}

/* One place of the truth; @best is the longest match so far. */
static bool try_place(struct match *m, const struct flow_cursor *place,
		      uint64_t number, struct probe *probe,
		      struct segment *best)
{
	struct segment s;

	if (best->items &&
	    !probe_fits(probe, number + best->items, best))
		return false;
	segment_init(&s, place, &m->records);
	s.known = m->has_resume;
	if (segment_match(m->options, &s)) {
		*best = s;
		return true;
	}
	if (s.items > best->items || !best->items)
		*best = s;
	return false;
}

/*
 * A segment that is wrong in its middle: what fits is taken, so that the
 * search for the rest does not begin here again.
 */
static void accept_part(struct match *m, const struct segment *best,
			const struct skipped *skipped, size_t place)
{
	if (!m->options->all_gaps || best->items < MATCH_PART_LEAST)
		return;
	account_skip(m, skipped, m->truth.next, place);
	segment_accept(m, best);
}

/* Take the earliest place in the truth that holds the whole segment. */
static bool find_segment(struct match *m)
{
	struct flow_cursor here = m->truth;
	struct flow_item before = { .kind = FLOW_END };
	struct skipped skipped = { 0 }, skipped_best = { 0 };
	struct segment best = { .items = 0 };
	struct probe probe = { .at = m->truth };
	size_t best_place = here.next;
	uint64_t number, items;

	segment_init(&best, &m->truth, &m->records);
	for (number = 0;; number++) {
		struct flow_cursor start = here;
		struct flow_item next = flow_truth_next(&here);

		if (next.kind == FLOW_END)
			break;
		items = best.items;
		if ((!m->has_resume ||
		     is_between(m->resume_ip, &before, &next)) &&
		    try_place(m, &start, number, &probe, &best)) {
			account_skip(m, &skipped, m->truth.next, start.next);
			segment_accept(m, &best);
			return true;
		}
		if (best.items > items) {
			best_place = start.next;
			skipped_best = skipped;
		}
		skipped.branches += flow_is_branch(next.kind);
		skipped.overflow |= next.kind == FLOW_OVERFLOW;
		before = next;
	}
	if (best.truth_item.kind == FLOW_END)
		best.truth_item = flow_truth_next(&best.truth);
	if (best.record_item.kind == FLOW_END)
		best.record_item = flow_record_next(&best.records);
	difference(m->result, best.items ?
		   "what follows a gap is nowhere in the truth; this is where the longest match ends" :
		   "what follows a gap is nowhere in the truth",
		   &best.truth_item, &best.record_item);
	accept_part(m, &best, &skipped_best, best_place);
	return false;
}

static bool next_segment(struct match *m)
{
	struct segment s;

	if (m->lost)
		return find_segment(m);
	segment_init(&s, &m->truth, &m->records);
	s.known = true;
	if (segment_match(m->options, &s)) {
		segment_accept(m, &s);
		return true;
	}
	segment_accept(m, &s);
	difference(m->result, s.record_item.kind == FLOW_BAD ?
		   "a record is malformed" : "they differ",
		   &s.truth_item, &s.record_item);
	return false;
}

static bool gap_allowed(const struct match *m, unsigned int kind)
{
	if (m->options->all_gaps && kind)
		return true;
	switch (kind) {
	case KIPT_GAP_CODE_CHANGED:
	case KIPT_GAP_OVERFLOW:
		return true;
	case KIPT_GAP_RING:
		return m->options->late_start && !m->result->branches;
	case KIPT_GAP_STOPPED:
	case KIPT_GAP_STUCK:
	case KIPT_GAP_OFFLINE:
	case KIPT_GAP_SUSPEND:
	case KIPT_GAP_OUTSIDE:
	case KIPT_GAP_TRUNCATED:
		return m->options->early_end;
	case KIPT_GAP_NO_CODE:
		return m->options->no_code;
	default:
		return false;
	}
}

static void take_gap(struct match *m, const struct flow_item *gap)
{
	struct flow_cursor ahead = m->truth;
	struct flow_item truth = flow_truth_next(&ahead);
	unsigned int kind = gap->aux < MATCH_GAP_KINDS ? gap->aux : 0;

	m->result->gaps[kind]++;
	m->last_gap = kind;
	m->lost = true;
	m->has_resume = false;
	m->overflow_gap |= kind == KIPT_GAP_OVERFLOW;
	m->ring_gap |= kind == KIPT_GAP_RING;
	m->changed_gap |= kind == KIPT_GAP_CODE_CHANGED;
	if (!gap_allowed(m, kind))
		difference(m->result, "a gap of a kind that is not allowed here",
			   &truth, gap);
}

static void take_resume(struct match *m, const struct flow_item *resume)
{
	struct flow_cursor ahead = m->truth;
	struct flow_item truth = flow_truth_next(&ahead);

	if (!m->lost && !m->options->late_start)
		difference(m->result, "the decoder found its way again though no gap says it lost it",
			   &truth, resume);
	m->lost = true;
	m->has_resume = !(resume->flags & FLOW_NO_TO);
	m->resume_ip = resume->to;
}

/* What the CPU did after the last record. */
static void take_tail(struct match *m)
{
	size_t begin = m->truth.next;
	struct flow_item first = { .kind = FLOW_END };
	struct flow_item item, none = { .kind = FLOW_END };
	bool ended = (m->options->all_gaps && m->lost) ||
		     (m->options->early_end &&
		     (m->last_gap == KIPT_GAP_STOPPED ||
		      m->last_gap == KIPT_GAP_STUCK ||
		      m->last_gap == KIPT_GAP_OFFLINE ||
		      m->last_gap == KIPT_GAP_TRUNCATED));

	none.index = m->records.file->count;
	for (item = flow_truth_next(&m->truth); item.kind != FLOW_END;
	     item = flow_truth_next(&m->truth)) {
		if (first.kind == FLOW_END)
			first = item;
		m->result->tail += flow_is_branch(item.kind);
	}
	note_skip(m->result, begin, m->truth.next);
	if (first.kind != FLOW_END && !ended)
		difference(m->result, "the records end before the truth does",
			   &first, &none);
}

static void judge_missed(struct match_result *result,
			 const struct match_options *options)
{
	struct flow_item none = { .kind = FLOW_END };

	if (options->no_code)
		return;
	if (result->hidden &&
	    result->hidden * MATCH_MISSED_RATIO >= result->branches)
		difference(result, "gaps hide more than 1 transfer in 100000",
			   &none, &none);
}

/*
 * After a difference: go on at the next PSB, gap or resumption, as after a gap.
 * Return: false if there is none.
 */
static bool skip_wrong(struct match *m)
{
	for (;;) {
		struct flow_cursor before = m->records;
		struct flow_item item = flow_record_next(&m->records);

		if (item.kind == FLOW_END)
			return false;
		if (item.kind != FLOW_GAP && item.kind != FLOW_RESUME &&
		    item.kind != FLOW_SYNC)
			continue;
		m->records = before;
		m->lost = true;
		m->has_resume = false;
		return true;
	}
}

void match_run(struct match_result *result, struct flow_cursor truth,
	       struct flow_cursor records, const struct match_options *options)
{
	struct match m = {
		.options = options,
		.result = result,
		.truth = truth,
		.records = records,
		.lost = options->late_start,
	};
	struct flow_cursor ahead;
	struct flow_item item;

	memset(result, 0, sizeof(*result));
	result->equal = true;
	for (;;) {
		ahead = m.records;
		item = flow_record_next(&ahead);
		if (item.kind == FLOW_END) {
			take_tail(&m);
			break;
		}
		if (item.kind == FLOW_GAP) {
			m.records = ahead;
			take_gap(&m, &item);
			continue;
		}
		if (item.kind == FLOW_RESUME ||
		    (item.kind == FLOW_SYNC && m.lost)) {
			m.records = ahead;
			take_resume(&m, &item);
			continue;
		}
		if (!next_segment(&m) &&
		    !(options->all_gaps && skip_wrong(&m)))
			break;
	}
	if (!options->all_gaps)
		judge_missed(result, options);
}
