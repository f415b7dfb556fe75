// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of events, see perf_sample.h.
 */
#include <string.h>

#include "perf_bytes.h"
#include "perf_sample.h"

/* Members of samples, as bits of the sample_type. */
#define SAMPLE_ADDR		(1ULL << 3)
#define SAMPLE_READ		(1ULL << 4)
#define SAMPLE_CALLCHAIN	(1ULL << 5)
#define SAMPLE_PERIOD		(1ULL << 8)
#define SAMPLE_RAW		(1ULL << 10)
#define SAMPLE_BRANCH_STACK	(1ULL << 11)
#define SAMPLE_REGS_USER	(1ULL << 12)
#define SAMPLE_STACK_USER	(1ULL << 13)
#define SAMPLE_WEIGHT		(1ULL << 14)
#define SAMPLE_DATA_SRC		(1ULL << 15)
#define SAMPLE_TRANSACTION	(1ULL << 17)
#define SAMPLE_REGS_INTR	(1ULL << 18)
#define SAMPLE_PHYS_ADDR	(1ULL << 19)
#define SAMPLE_CGROUP		(1ULL << 21)
#define SAMPLE_DATA_PAGE_SIZE	(1ULL << 22)
#define SAMPLE_CODE_PAGE_SIZE	(1ULL << 23)
#define SAMPLE_WEIGHT_STRUCT	(1ULL << 24)
#define SAMPLE_NEWER		(~((1ULL << 25) - 1))

/* Members of what SAMPLE_READ adds. */
#define READ_ENABLED		(1 << 0)
#define READ_RUNNING		(1 << 1)
#define READ_ID			(1 << 2)
#define READ_GROUP		(1 << 3)
#define READ_LOST		(1 << 4)

/* Of branch_sample_type: what else a branch stack has. */
#define BRANCH_HW_INDEX		(1ULL << 17)
#define BRANCH_COUNTERS		(1ULL << 19)
#define BRANCH_BYTES		24

/* The rest of a sample. */
struct rest {
	const u8 *bytes;
	u64 size;
	bool bad;
};

static const u8 *take(struct rest *rest, u64 size)
{
	const u8 *bytes = rest->bytes;

	if (rest->bad || size > rest->size) {
		rest->bad = true;
		return NULL;
	}
	rest->bytes += size;
	rest->size -= size;
	return bytes;
}

static u64 number_take(struct rest *rest)
{
	const u8 *bytes = take(rest, 8);

	return bytes ? get64(bytes) : 0;
}

/* So many members of so many bytes; the number is the file's. */
static void array_take(struct rest *rest, u64 count, u64 each)
{
	if (count > rest->size / each)
		rest->bad = true;
	else
		take(rest, count * each);
}

/* Members of eight bytes that nobody asks for. */
static void skip(struct rest *rest, u64 has, u64 members)
{
	take(rest, 8ULL * __builtin_popcountll(has & members));
}

static void read_skip(struct rest *rest, u64 format)
{
	u64 times = 8ULL * __builtin_popcountll(format & (READ_ENABLED | READ_RUNNING));
	u64 value = 8 + 8ULL * __builtin_popcountll(format & (READ_ID | READ_LOST));
	u64 count = format & READ_GROUP ? number_take(rest) : 1;

	take(rest, times);
	array_take(rest, count, value);
}

static void raw_skip(struct rest *rest)
{
	const u8 *bytes = take(rest, 4);

	if (bytes)
		take(rest, ((4ULL + get32(bytes) + 7) & ~7ULL) - 4);
}

static void branches_skip(struct rest *rest, u64 type)
{
	u64 count = number_take(rest);

	take(rest, type & BRANCH_HW_INDEX ? 8 : 0);
	array_take(rest, count, BRANCH_BYTES);
	if (type & BRANCH_COUNTERS)
		array_take(rest, count, 8);
}

static void registers_skip(struct rest *rest, u64 which)
{
	/* Without an ABI there are none. */
	if (number_take(rest))
		take(rest, 8ULL * __builtin_popcountll(which));
}

static void stack_skip(struct rest *rest)
{
	u64 size = number_take(rest);

	if (!size)
		return;
	take(rest, size);
	take(rest, 8);
}

static void head_take(struct rest *rest, u64 has, struct perf_sample *sample)
{
	const u8 *bytes;

	if (has & PERF_SAMPLE_BIT_IDENTIFIER)
		sample->id = number_take(rest);
	if (has & PERF_SAMPLE_BIT_IP)
		sample->ip = number_take(rest);
	bytes = has & PERF_SAMPLE_BIT_TID ? take(rest, 8) : NULL;
	if (bytes)
		sample->tid = get32(bytes + 4);
	if (has & PERF_SAMPLE_BIT_TIME)
		sample->time = number_take(rest);
	skip(rest, has, SAMPLE_ADDR);
	if (has & PERF_SAMPLE_BIT_ID)
		sample->id = number_take(rest);
	skip(rest, has, PERF_SAMPLE_BIT_STREAM);
	bytes = has & PERF_SAMPLE_BIT_CPU ? take(rest, 8) : NULL;
	if (bytes)
		sample->cpu = get32(bytes);
	skip(rest, has, SAMPLE_PERIOD);
}

bool perf_sample_read(const struct perf_attr *attr,
		      const struct perf_event *event,
		      struct perf_sample *sample)
{
	struct rest rest = { event->bytes, event->size, false };
	u64 has = attr->sample_type;

	*sample = (struct perf_sample){ .has = has };
	head_take(&rest, has, sample);
	if (has & SAMPLE_READ)
		read_skip(&rest, attr->read_format);
	if (has & SAMPLE_CALLCHAIN)
		array_take(&rest, number_take(&rest), 8);
	if (has & SAMPLE_RAW)
		raw_skip(&rest);
	if (has & SAMPLE_BRANCH_STACK)
		branches_skip(&rest, attr->branch_type);
	if (has & SAMPLE_REGS_USER)
		registers_skip(&rest, attr->regs_user);
	if (has & SAMPLE_STACK_USER)
		stack_skip(&rest);
	/* The kernel writes one weight, whatever it is called. */
	skip(&rest, has & SAMPLE_WEIGHT_STRUCT ? has & ~SAMPLE_WEIGHT : has,
	     SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT | SAMPLE_DATA_SRC |
	     SAMPLE_TRANSACTION);
	if (has & SAMPLE_REGS_INTR)
		registers_skip(&rest, attr->regs_intr);
	skip(&rest, has, SAMPLE_PHYS_ADDR | SAMPLE_CGROUP |
			 SAMPLE_DATA_PAGE_SIZE | SAMPLE_CODE_PAGE_SIZE);
	if (has & PERF_SAMPLE_BIT_AUX) {
		sample->size = number_take(&rest);
		sample->trace = take(&rest, sample->size);
	}
	return !rest.bad && !(has & SAMPLE_NEWER);
}
