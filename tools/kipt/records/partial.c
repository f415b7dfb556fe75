// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that are left out of a stream, see partial.h.
 */
#include <stdlib.h>
#include <string.h>

#include "partial.h"

static struct partial_cpu *cpu_make(struct partial *partial)
{
	struct partial_cpu *cpu = calloc(1, partial->cpu_size);

	partial->failed |= !cpu;
	return cpu;
}

/* Where there is no room nothing of the CPU before is known any more. */
static struct partial_cpu *cpu_other(struct partial *partial)
{
	if (!partial->others)
		partial->others = cpu_make(partial);
	else
		memset(partial->others, 0, partial->cpu_size);
	return partial->others;
}

static struct partial_cpu *cpu_add(struct partial *partial, u64 number)
{
	struct partial_cpu *cpu;

	if (partial->cpus.count >= RECORD_CPUS_MAX)
		return cpu_other(partial);
	cpu = cpu_make(partial);
	if (!cpu)
		return NULL;
	if (!lookup_add(&partial->cpus, number, (size_t)cpu)) {
		free(cpu);
		partial->failed = true;
		return NULL;
	}
	cpu->next = partial->list;
	partial->list = cpu;
	return cpu;
}

struct partial_cpu *partial_cpu_begin(struct partial *partial, u64 number,
				      bool *known)
{
	const size_t *found = lookup_get(&partial->cpus, number);

	if (known)
		*known = found;
	partial->at = found ? (struct partial_cpu *)*found :
			      cpu_add(partial, number);
	if (partial->at)
		partial->at->begun = false;
	return partial->at;
}

static bool first_give(struct partial *partial)
{
	struct partial_cpu *at = partial->at;
	const struct kipt_record first = {
		.type = KIPT_RECORD_TIME,
		.kind = KIPT_TIME_FIRST,
		.flags = KIPT_RF_NO_IP,
		.value = at->first,
	};

	if (at->first_given || !at->first)
		return true;
	at->first_given = true;
	return partial->give(partial->ctx, &first, 1);
}

bool partial_give(struct partial *partial, const struct kipt_record *record)
{
	struct partial_cpu *at = partial->at;
	const struct kipt_record *cpu =
		record_state_last(&at->state, RECORD_STATE_CPU);
	bool begun = at->begun;

	at->timed |= record->type == KIPT_RECORD_TIME;
	at->begun = true;
	if (!begun && cpu && !partial->give(partial->ctx, cpu, 1))
		return false;
	return first_give(partial) && partial->give(partial->ctx, record, 1);
}

bool partial_pending(struct partial *partial, enum record_state_kind kind)
{
	struct partial_cpu *at = partial->at;
	bool pending = at->pending & 1U << kind;

	at->pending &= ~(1U << kind);
	return !pending || partial_give(partial, &at->state.last[kind]);
}

bool partial_where(struct partial *partial)
{
	return partial_pending(partial, RECORD_STATE_CONTEXT) &&
	       partial_pending(partial, RECORD_STATE_TASK) &&
	       partial_pending(partial, RECORD_STATE_MODE) &&
	       partial_pending(partial, RECORD_STATE_CBR);
}

bool partial_leave(struct partial *partial)
{
	static const struct kipt_record others = {
		.type = KIPT_RECORD_DISABLE,
		.kind = KIPT_DISABLE_OTHERS,
		.flags = KIPT_RF_NO_IP | KIPT_RF_NO_VALUE,
	};

	return partial_give(partial, &others);
}

bool partial_resume(struct partial *partial, u64 ip, bool known)
{
	const struct kipt_record chosen = {
		.type = KIPT_RECORD_ENABLE,
		.kind = KIPT_ENABLE_CHOSEN,
		.flags = known ? 0 : KIPT_RF_NO_IP,
		.ip = known ? ip : 0,
	};

	return partial_give(partial, &chosen);
}

void partial_end(struct partial *partial)
{
	struct partial_cpu *cpu;

	while ((cpu = partial->list)) {
		partial->list = cpu->next;
		free(cpu);
	}
	lookup_free(&partial->cpus);
	free(partial->others);
	partial->others = NULL;
	partial->at = NULL;
}
