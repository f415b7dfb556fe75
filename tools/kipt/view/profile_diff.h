/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two runs, function by function: what each did in the one and in the other, and
 * what of that is more than noise.
 */
#ifndef KIPT_PROFILE_DIFF_H
#define KIPT_PROFILE_DIFF_H

#include "profile.h"
#include "view.h"

/**
 * enum diff_measure - what is compared, what decides the order first
 * @DIFF_SELF: time in itself
 * @DIFF_TOTAL: time from calls to their returns
 * @DIFF_INSNS: instructions
 * @DIFF_CALLS: calls
 * @DIFF_MEASURES: how many there are
 */
enum diff_measure {
	DIFF_SELF = 0,
	DIFF_TOTAL,
	DIFF_INSNS,
	DIFF_CALLS,
	DIFF_MEASURES,
};

static inline bool diff_is_time(u32 measure)
{
	return measure == DIFF_SELF || measure == DIFF_TOTAL;
}

static inline u64 diff_apart(u64 before, u64 after)
{
	return after > before ? after - before : before - after;
}

/* A function of which it is not known which file it is of. */
#define DIFF_NO_OBJECT	~0U

/**
 * struct diff_object - a file or module
 * @name: in the first run that has it
 * @other: in the second, where that is another one; else NULL
 * @in: which runs have it
 * @id: its build id in each
 * @has_id: that is known
 */
struct diff_object {
	char *name;
	char *other;
	bool in[2];
	struct build_id id[2];
	bool has_id[2];
};

/**
 * struct diff_function - a function, of all processes together
 * @name: as of struct profile_symbol
 * @object: index of its file, or DIFF_NO_OBJECT
 * @called, @start: as of struct profile_symbol, where there is no @name; else 0
 * @alone: it is of run @alone - 1 and has no name, and its file is another build in the other
 *	run: no other is the same; else 0
 * @in: which runs have it
 * @several: it is several functions of one name
 * @space, @last: where it was seen last, and at which address
 * @sums: of each run
 * @change: how much more or less; 0 if that is noise
 * @next: another one with the same hash; 0: none, else its index + 1
 */
struct diff_function {
	char *name;
	u32 object;
	bool called;
	u64 start;
	u32 alone;
	bool in[2];
	bool several;
	u32 space;
	u64 last;
	u64 sums[2][DIFF_MEASURES];
	u64 change[DIFF_MEASURES];
	u32 next;
};

/**
 * struct diff_run - a run as a whole
 * @tsc_khz: what its ticks are; 0: not known
 * @times: it has times
 * @gaps: how many there are
 * @ticks: time of its CPUs, one after the other
 * @lost: how much of that is lost
 * @sums: of all functions; of DIFF_TOTAL those in themselves
 */
struct diff_run {
	u32 tsc_khz;
	bool times;
	u64 gaps;
	u64 ticks;
	u64 lost;
	u64 sums[DIFF_MEASURES];
};

/**
 * struct profile_diff - two runs; all zero at first
 * @runs: both
 * @objects: files that they have
 * @object_count: how many
 * @functions: functions that they have; after profile_diff_settle() what changed most
 *	comes first
 * @function_count: how many
 * @changed: how many of them changed
 * @noise: percentage that is noise
 * @times: times can be compared
 * @ns: they are nanoseconds, else ticks
 */
struct profile_diff {
	struct diff_run runs[2];
	struct diff_object *objects;
	u32 object_count;
	struct diff_function *functions;
	u32 function_count;
	u32 changed;
	double noise;
	bool times;
	bool ns;
	/* private: */
	struct lookup function_of;
	u64 seed;
};

/**
 * profile_diff_add() - take a run
 * @diff: where to
 * @run: 0 or 1, each once
 * @view: what showed it
 * @profile: all of it; not needed any more afterwards
 *
 * Return: true, or false without memory.
 */
bool profile_diff_add(struct profile_diff *diff, u32 run, const struct view *view,
		      const struct profile *profile);

/**
 * profile_diff_settle() - compare
 * @diff: has both runs; @noise is set
 */
void profile_diff_settle(struct profile_diff *diff);

/**
 * profile_diff_free() - free it
 * @diff: empty afterwards
 */
void profile_diff_free(struct profile_diff *diff);

/**
 * diff_other_build() - is a file not the same in both runs
 * @object: the file
 *
 * Return: true if its build ids are known and differ.
 */
bool diff_other_build(const struct diff_object *object);

/**
 * diff_sum_unsure() - may a difference of sums come from what is lost alone?
 * @diff: settled
 * @measure: enum diff_measure
 * @before, @after: the sums
 *
 * Return: whether it may. A time may if no more was lost in both runs together; a count
 * may wherever something was lost.
 */
bool diff_sum_unsure(const struct profile_diff *diff, u32 measure, u64 before, u64 after);

/**
 * diff_unsure() - may a difference come from what is lost alone?
 * @diff: settled
 * @function: function
 * @measure: enum diff_measure
 *
 * Any function may have run in a gap.
 *
 * Return: as diff_sum_unsure().
 */
bool diff_unsure(const struct profile_diff *diff, const struct diff_function *function,
		 u32 measure);

/**
 * view_diff_print() - print what differs
 * @diff: settled
 * @options: how; with @html a page for a browser
 * @paths: names of both files
 * @out: where to
 *
 * Return: true, or false without memory.
 */
bool view_diff_print(const struct profile_diff *diff, const struct view_options *options,
		     char **paths, FILE *out);

#endif /* KIPT_PROFILE_DIFF_H */
