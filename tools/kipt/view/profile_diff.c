// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two runs, function by function, see profile_diff.h. Processes differ from run to
 * run: a function is the same if its file and its name are, whoever ran it.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "profile_diff.h"

bool diff_other_build(const struct diff_object *object)
{
	return object->has_id[0] && object->has_id[1] &&
	       !build_id_same(&object->id[0], &object->id[1]);
}

/* The file of the other run that has the same build id, or else the same name;
 * the count: there is none.
 */
static u32 object_find(const struct profile_diff *diff, u32 run,
		       const char *name, const struct build_id *id)
{
	const struct diff_object *at = diff->objects;
	u32 i;

	for (i = 0; i < diff->object_count; i++) {
		if (at[i].in[run] || (id && !at[i].has_id[!run]))
			continue;
		if (id ? build_id_same(&at[i].id[!run], id) :
			 !strcmp(at[i].name, name))
			break;
	}
	return i;
}

static bool object_take(struct profile_diff *diff, u32 run, u32 index,
			const char *name, const struct build_id *id)
{
	struct diff_object *object;

	if (index == diff->object_count) {
		object = list_room(diff->objects, index, sizeof(*object));
		if (!object)
			return false;
		diff->objects = object;
		object[index] = (struct diff_object){ .name = strdup(name) };
		diff->object_count += object[index].name ? 1 : 0;
		if (!object[index].name)
			return false;
	}
	object = &diff->objects[index];
	object->in[run] = true;
	object->has_id[run] = id;
	if (id)
		object->id[run] = *id;
	if (strcmp(object->name, name)) {
		object->other = strdup(name);
		return object->other;
	}
	return true;
}

/* First those that have the same build id, whose names nobody else may get. @index
 * gets where each is.
 */
static bool objects_add(struct profile_diff *diff, u32 run, const struct view *view,
			const struct profile *profile, struct lookup *index)
{
	struct build_id id;
	bool has_id, same;
	u32 i, pass, at;
	char *name;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < profile->object_count; i++) {
			name = profile->objects[i];
			if (lookup_get(index, (u64)name))
				continue;
			has_id = names_build_id(view->names, name, &id);
			same = pass == 0;
			if (same && !has_id)
				continue;
			at = object_find(diff, run, name, same ? &id : NULL);
			if (same && at == diff->object_count)
				continue;
			if (!object_take(diff, run, at, name, has_id ? &id : NULL) ||
			    !lookup_add(index, (u64)name, at))
				return false;
		}
	}
	return true;
}

static bool is_function(const struct diff_function *function,
			const struct diff_function *like)
{
	if (function->object != like->object || function->called != like->called ||
	    function->alone != like->alone ||
	    function->start != like->start || !function->name != !like->name)
		return false;
	return !like->name || !strcmp(function->name, like->name);
}

static struct diff_function *function_get(struct profile_diff *diff,
					  const struct diff_function *like)
{
	u64 key = lookup_mix(lookup_mix(diff->seed, like->object), like->start);
	struct diff_function *function;
	size_t *first;
	u32 at;

	key = lookup_text(lookup_mix(key, like->called + 2 * like->alone), like->name);
	first = lookup_get(&diff->function_of, key);
	for (at = first ? *first : 0; at; at = diff->functions[at - 1].next) {
		if (is_function(&diff->functions[at - 1], like))
			return &diff->functions[at - 1];
	}
	function = list_room(diff->functions, diff->function_count, sizeof(*function));
	if (!function)
		return NULL;
	diff->functions = function;
	function += diff->function_count;
	*function = *like;
	function->name = like->name ? strdup(like->name) : NULL;
	function->next = first ? *first : 0;
	if (!function->name == !like->name &&
	    lookup_add(&diff->function_of, key, diff->function_count + 1)) {
		diff->function_count++;
		return function;
	}
	free(function->name);
	return NULL;
}

static bool symbol_add(struct profile_diff *diff, u32 run,
		       const struct profile_symbol *symbol, const struct lookup *index)
{
	const u64 more[DIFF_MEASURES] = {
		[DIFF_SELF] = symbol->self,
		[DIFF_TOTAL] = symbol->total,
		[DIFF_INSNS] = symbol->insns,
		[DIFF_CALLS] = symbol->calls,
	};
	size_t *object = symbol->object ? lookup_get(index, (u64)symbol->object) : NULL;
	bool other = object && diff_other_build(&diff->objects[*object]);
	const struct diff_function like = {
		.name = symbol->name,
		.object = object ? *object : DIFF_NO_OBJECT,
		.called = symbol->called,
		.start = symbol->name ? 0 : symbol->start,
		.alone = !symbol->name && symbol->called && other ? run + 1 : 0,
	};
	struct diff_function *function;
	u32 i;

	if (!more[DIFF_SELF] && !more[DIFF_TOTAL] && !more[DIFF_INSNS] && !more[DIFF_CALLS])
		return true;
	function = function_get(diff, &like);
	if (!function)
		return false;
	function->several |= symbol->name && function->in[run] &&
			     function->space == symbol->space &&
			     function->last != symbol->start;
	function->in[run] = true;
	function->space = symbol->space;
	function->last = symbol->start;
	for (i = 0; i < DIFF_MEASURES; i++) {
		profile_add(&function->sums[run][i], more[i]);
		profile_add(&diff->runs[run].sums[i], more[i == DIFF_TOTAL ? DIFF_SELF : i]);
	}
	return true;
}

bool profile_diff_add(struct profile_diff *diff, u32 run, const struct view *view,
		      const struct profile *profile)
{
	struct diff_run *at = &diff->runs[run];
	struct lookup index = { 0 };
	bool ok;
	u32 i;

	if (!diff->seed)
		diff->seed = lookup_seed();
	at->tsc_khz = view->tsc_khz;
	at->times = profile_has_times(profile);
	at->gaps = tally_gaps(&view->tally);
	for (i = 0; i < profile->cpu_count; i++) {
		profile_add(&at->ticks, profile->cpus[i].ticks);
		profile_add(&at->lost, profile->cpus[i].lost);
	}
	ok = objects_add(diff, run, view, profile, &index);
	for (i = 0; i < profile->symbol_count && ok; i++)
		ok = symbol_add(diff, run, &profile->symbols[i], &index);
	lookup_free(&index);
	return ok;
}

/* Ticks of two machines are no unit; those of nobody knows what are one. */
static u64 time_of(const struct profile_diff *diff, u32 run, u64 ticks)
{
	if (!diff->times)
		return 0;
	return diff->ns ? (u64)((double)ticks * 1e6 / diff->runs[run].tsc_khz) : ticks;
}

static void times_settle(struct profile_diff *diff)
{
	struct diff_run *at;
	u32 run, i;
	u64 *sums;

	for (run = 0; run < 2; run++) {
		at = &diff->runs[run];
		at->ticks = time_of(diff, run, at->ticks);
		at->lost = time_of(diff, run, at->lost);
		at->sums[DIFF_SELF] = time_of(diff, run, at->sums[DIFF_SELF]);
		at->sums[DIFF_TOTAL] = at->sums[DIFF_SELF];
		for (i = 0; i < diff->function_count; i++) {
			sums = diff->functions[i].sums[run];
			sums[DIFF_SELF] = time_of(diff, run, sums[DIFF_SELF]);
			sums[DIFF_TOTAL] = time_of(diff, run, sums[DIFF_TOTAL]);
		}
	}
}

static u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

bool diff_sum_unsure(const struct profile_diff *diff, u32 measure, u64 before, u64 after)
{
	const struct diff_run *a = &diff->runs[0], *b = &diff->runs[1];
	u64 lost = a->lost;

	if (before == after || (!a->gaps && !b->gaps))
		return false;
	/* How often something was executed in a gap, nobody knows. */
	if (!diff->times || !diff_is_time(measure))
		return true;
	profile_add(&lost, b->lost);
	return diff_apart(before, after) <= lost;
}

bool diff_unsure(const struct profile_diff *diff, const struct diff_function *function,
		 u32 measure)
{
	return diff_sum_unsure(diff, measure, function->sums[0][measure],
			       function->sums[1][measure]);
}

/* 0 if it is noise. */
static u64 change_of(const struct profile_diff *diff, const struct diff_function *function,
		     u32 measure)
{
	u64 before = function->sums[0][measure], after = function->sums[1][measure];
	double most = larger(before, after);
	double whole = larger(diff->runs[0].sums[measure], diff->runs[1].sums[measure]);
	u64 change = diff_apart(before, after);

	return change * 100.0 > diff->noise * most &&
	       change * 10000.0 > diff->noise * whole ? change : 0;
}

static int function_compare(const void *left, const void *right)
{
	const struct diff_function *a = left, *b = right;
	u32 i;

	for (i = 0; i < DIFF_MEASURES; i++) {
		if (a->change[i] != b->change[i])
			return a->change[i] > b->change[i] ? -1 : 1;
	}
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->alone != b->alone)
		return a->alone < b->alone ? -1 : 1;
	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

void profile_diff_settle(struct profile_diff *diff)
{
	const struct diff_run *a = &diff->runs[0], *b = &diff->runs[1];
	struct diff_function *function;
	bool changed;
	u32 i, m;

	diff->times = a->times && b->times && !a->tsc_khz == !b->tsc_khz;
	diff->ns = a->tsc_khz && b->tsc_khz;
	times_settle(diff);
	diff->changed = 0;
	for (i = 0; i < diff->function_count; i++) {
		function = &diff->functions[i];
		for (m = 0, changed = false; m < DIFF_MEASURES; m++) {
			function->change[m] = change_of(diff, function, m);
			changed |= function->change[m];
		}
		diff->changed += changed;
	}
	if (diff->function_count)
		qsort(diff->functions, diff->function_count, sizeof(*diff->functions),
		      function_compare);
	/* It says where they were. */
	lookup_free(&diff->function_of);
}

void profile_diff_free(struct profile_diff *diff)
{
	u32 i;

	for (i = 0; i < diff->object_count; i++) {
		free(diff->objects[i].name);
		free(diff->objects[i].other);
	}
	for (i = 0; i < diff->function_count; i++)
		free(diff->functions[i].name);
	free(diff->objects);
	free(diff->functions);
	lookup_free(&diff->function_of);
	*diff = (struct profile_diff){ 0 };
}
