// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making traces and truths wrong in one place. User space.
 */
#include "controls.h"

const char *const control_names[CONTROLS] = {
	"flipped bits", "dropped packets", "wrong branches in the truth",
};

static u8 changed[ENCODE_BYTES];

static bool wrong_packet(struct check *check, const struct walk *walk,
			 struct rng *rng, enum control control, bool *seen)
{
	const struct encode *encode = &walk->encode;
	const struct encode_mark *mark;
	u32 size = encode->size;

	if (!encode->nr_marks)
		return false;
	mark = &encode->marks[rng_below(rng, encode->nr_marks)];
	memcpy(changed, encode->bytes, size);
	if (control == CONTROL_BIT) {
		changed[mark->flip] ^= 2;
	} else {
		memmove(changed + mark->start, changed + mark->end,
			size - mark->end);
		size -= mark->end - mark->start;
	}
	*seen = check_differs(check, walk, changed, size);
	return true;
}

static struct kipt_record *pick_branch(struct truth *truth, struct rng *rng)
{
	u32 first, i;

	if (!truth->proven)
		return NULL;
	first = rng_below(rng, truth->proven);
	for (i = 0; i < truth->proven; i++) {
		struct kipt_record *record =
			&truth->records[(first + i) % truth->proven];

		if (record->type == KIPT_RECORD_BRANCH)
			return record;
	}
	return NULL;
}

static bool wrong_truth(struct check *check, struct walk *walk,
			struct rng *rng, bool *seen)
{
	struct kipt_record *record = pick_branch(&walk->truth, rng);
	u64 bit = 1ULL << rng_below(rng, 48);

	if (!record)
		return false;
	record->value ^= bit;
	*seen = check_differs(check, walk, walk->encode.bytes,
			      walk->encode.size);
	record->value ^= bit;
	return true;
}

bool control_run(struct check *check, struct walk *walk, struct rng *rng,
		 enum control control, bool *seen)
{
	if (control == CONTROL_TRUTH)
		return wrong_truth(check, walk, rng, seen);
	return wrong_packet(check, walk, rng, control, seen);
}
