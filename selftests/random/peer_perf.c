// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison with perf: every taken branch, where packets come on and go
 * off, and where they were lost. Before an overflow and at the end of a trace perf
 * shows branches that no packet proves, and we do not. User space.
 */
#include "peer_perf.h"

#include <stdlib.h>
#include <string.h>

static void add_step(struct peer_perf *peer, u64 from, u64 to)
{
	peer->steps[peer->count].from = from;
	peer->steps[peer->count].to = to;
	peer->count++;
}

void peer_perf_expect(struct peer_perf *peer, const struct walk *walk)
{
	const struct truth *truth = &walk->truth;
	u32 i;

	memset(peer, 0, sizeof(*peer));
	peer->steps = calloc(truth->proven + 1, sizeof(*peer->steps));
	if (!peer->steps)
		exit(2);
	peer->insists = truth->on;
	for (i = 0; i < truth->proven; i++) {
		const struct kipt_record *record = &truth->records[i];

		switch (record->type) {
		case KIPT_RECORD_BRANCH:
		case KIPT_RECORD_DISABLE:
			add_step(peer, record->ip, record->value);
			break;
		case KIPT_RECORD_ENABLE:
			add_step(peer, 0, record->ip);
			break;
		case KIPT_RECORD_GAP:
			if (record->kind == KIPT_GAP_OVERFLOW)
				add_step(peer, PEER_STEP_LOST, PEER_STEP_LOST);
			break;
		default:
			break;
		}
	}
}

void peer_perf_free(struct peer_perf *peer)
{
	free(peer->steps);
}

static void take_step(struct peer_perf *peer, const struct peer_step *step)
{
	const struct peer_step *want = &peer->steps[peer->seen];

	if (peer->error)
		return;
	if (peer->seen == peer->count) {
		if (!peer->insists)
			peer->error = "perf goes on where packets are off";
		return;
	}
	if (want->from == step->from && want->to == step->to) {
		peer->seen++;
		return;
	}
	if (want->from == PEER_STEP_LOST)
		return;
	peer->error = "perf sees another branch";
	peer->other = *step;
}

/* TID EVENT: FLAGS FROM => TO */
static bool read_branch(char *line, u32 *tid, struct peer_step *step)
{
	char *arrow = strstr(line, " => "), *from, *end;

	if (!arrow)
		return false;
	*arrow = '\0';
	from = strrchr(line, ' ');
	*tid = (u32)strtoul(line, &end, 10);
	if (!from || end == line)
		return false;
	step->from = strtoull(from, NULL, 16);
	step->to = strtoull(arrow + 4, NULL, 16);
	return true;
}

/* instruction trace error type 1 ... tid TID ip IP code N: TEXT */
static bool read_error(const char *line, u32 *tid, struct peer_step *step,
		       bool *lost)
{
	const char *at = strstr(line, " tid ");

	if (!strstr(line, "instruction trace error") || !at)
		return false;
	*tid = (u32)strtoul(at + 5, NULL, 10);
	*lost = strstr(line, "verflow");
	step->from = PEER_STEP_LOST;
	step->to = PEER_STEP_LOST;
	return true;
}

static struct peer_perf *find(struct peer_perf *peers, u32 count, u32 first,
			      u32 tid)
{
	return tid - first < count ? &peers[tid - first] : NULL;
}

bool peer_perf_read(FILE *script, struct peer_perf *peers, u32 count,
		    u32 first)
{
	struct peer_perf *peer;
	struct peer_step step;
	char line[512];
	bool lost;
	u32 tid;

	while (fgets(line, sizeof(line), script)) {
		lost = true;
		if (!read_error(line, &tid, &step, &lost) &&
		    !read_branch(line, &tid, &step))
			continue;
		peer = find(peers, count, first, tid);
		if (!peer)
			return false;
		if (!lost && !peer->error)
			peer->error = "perf finds an error";
		else
			take_step(peer, &step);
	}
	for (tid = 0; tid < count; tid++) {
		if (!peers[tid].error && peers[tid].seen < peers[tid].count)
			peers[tid].error = "perf ends early";
	}
	return true;
}
