// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a task before a place (tools/kipt/records/task_tail.h) and the last lines of
 * a text (tools/kipt/view/last_lines.h), on what is made here. Prints KTAP.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/kipt/records/task_tail.h"
#include "../../tools/kipt/view/last_lines.h"
#include "../decode/ktap.h"

static struct ktap ktap;

/* More than the ring of an ending holds. */
#define MANY	(1U << 19)

struct given {
	struct kipt_record *list;
	u32 count;
};

static struct kipt_record branch(u8 kind, u64 from, u64 to)
{
	return (struct kipt_record){ .type = KIPT_RECORD_BRANCH, .kind = kind,
				     .aux = 1, .ip = from, .value = to };
}

static struct kipt_record task(u32 tid)
{
	return (struct kipt_record){ .type = KIPT_RECORD_TASK,
				     .flags = KIPT_RF_NO_IP, .aux = tid,
				     .value = tid };
}

static bool give(void *ctx, const struct kipt_record *records, u32 count)
{
	struct given *given = ctx;

	memcpy(given->list + given->count, records, count * sizeof(*records));
	given->count += count;
	return true;
}

/* Return: whether it ends with the record of that number, and @after. */
static bool ends_at(u32 tid, u64 ip, const struct kipt_record *records,
		    u32 count, u32 last, bool found, u64 after)
{
	struct ending *ending = ending_create(tid, ip);
	struct given given = {
		.list = calloc(count + 8, sizeof(*records)),
	};
	u64 end = ~0ULL;
	bool ok;

	ending_take(ending, records, count);
	ok = ending_give(ending, give, &given, &end) == found &&
	     end == after && given.count &&
	     !memcmp(&given.list[given.count - 1], &records[last],
		     sizeof(*records));
	free(given.list);
	ending_destroy(ending);
	return ok;
}

static void place_test(void)
{
	struct kipt_record r[8] = {
		task(7),
		branch(KIPT_BRANCH_CALL, 0x1000, 0x2000),
		branch(KIPT_BRANCH_EVENT, 0x2004, 0xffffffff81000000),
		branch(KIPT_BRANCH_IRET, 0xffffffff81000010, 0x2004),
		branch(KIPT_BRANCH_EVENT, 0x2004, 0xffffffff81000000),
		branch(KIPT_BRANCH_CALL, 0xffffffff81000000, 0xffffffff81002000),
		task(8),
		branch(KIPT_BRANCH_EVENT, 0x2004, 0xffffffff81000000),
	};
	struct kipt_record left = {
		.type = KIPT_RECORD_DISABLE, .kind = KIPT_DISABLE_ASYNC,
		.ip = 0x2004,
	};

	ktap_result(&ktap, ends_at(7, 0x2004, r, 8, 4, true, 2),
		    "ending_is_the_last_fault_there_of_the_task");
	ktap_result(&ktap, ends_at(8, 0x2004, r, 8, 7, true, 0),
		    "ending_of_another_task");
	ktap_result(&ktap, ends_at(7, 0x3000, r, 8, 7, false, 0),
		    "ending_not_found_is_reported_and_all_given");
	r[4] = left;
	ktap_result(&ktap, ends_at(7, 0x2004, r, 8, 4, true, 2),
		    "ending_where_tracing_was_left");
	r[4] = branch(KIPT_BRANCH_SYSCALL, 0x2002, 0xffffffff81000000);
	ktap_result(&ktap, ends_at(7, 0x2004, r, 8, 4, true, 2),
		    "ending_at_a_system_call");
	r[4].kind = KIPT_BRANCH_CALL;
	r[2].kind = KIPT_BRANCH_CALL;
	ktap_result(&ktap, ends_at(7, 0x2004, r, 8, 7, false, 0),
		    "ending_is_no_call");
}

/* Calls, each from another address. */
static struct kipt_record *many_make(void)
{
	struct kipt_record *records = calloc(MANY, sizeof(*records));
	u32 i;

	for (i = 0; i < MANY; i++)
		records[i] = branch(KIPT_BRANCH_CALL, 0x1000 + i, 0x2000);
	return records;
}

/* What fell out of the ring and holds nevertheless comes first. */
static void state_test(void)
{
	struct kipt_record *records = many_make();
	struct ending *ending = ending_create(7, 0x2004);
	struct given given = { .list = calloc(MANY, sizeof(*records)) };
	u64 after;

	records[0] = (struct kipt_record){ .type = KIPT_RECORD_CPU, .aux = 3 };
	records[1] = task(9);
	records[2] = task(7);
	records[MANY - 2] = branch(KIPT_BRANCH_EVENT, 0x2004, 1ULL << 63);
	ending_take(ending, records, MANY);
	ktap_result(&ktap, ending_give(ending, give, &given, &after) &&
		    after == 1 && given.count < MANY / 2 + 3 &&
		    given.list[0].type == KIPT_RECORD_CPU &&
		    given.list[0].aux == 3 &&
		    given.list[1].type == KIPT_RECORD_TASK &&
		    given.list[1].aux == 7 &&
		    given.list[given.count - 1].ip == 0x2004,
		    "ending_of_a_long_trace");
	ending_destroy(ending);
	free(given.list);
	free(records);
}

/* However much comes after the place, as of another CPU, what led there is given. */
static void far_test(u32 place, const char *name)
{
	struct kipt_record *records = many_make();
	struct ending *ending = ending_create(7, 0x2004);
	struct given given = { .list = calloc(MANY + 8, sizeof(*records)) };
	u64 after = 0;
	bool found;

	records[0] = (struct kipt_record){ .type = KIPT_RECORD_CPU, .aux = 3 };
	records[1] = task(7);
	records[place] = branch(KIPT_BRANCH_EVENT, 0x2004, 1ULL << 63);
	records[place + 1] = task(8);
	ending_take(ending, records, MANY);
	found = ending_give(ending, give, &given, &after);
	ktap_result(&ktap, found && after == MANY - place - 2 &&
		    given.list[0].aux == 3 && given.list[1].aux == 7 &&
		    given.list[given.count - 1].ip == 0x2004 &&
		    given.list[given.count - 2].ip == 0x1000 + place - 1,
		    "ending_far_before_the_last_record %s", name);
	ending_destroy(ending);
	free(given.list);
	free(records);
}

static bool lines_are(u32 count, const char *text, u64 left, const char *want)
{
	struct last_lines *lines = last_lines_create(count);
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);
	bool ok;

	fputs(text, last_lines_file(lines));
	ok = last_lines_show(lines, out) == left;
	fclose(out);
	ok = ok && !strcmp(got, want);
	free(got);
	last_lines_destroy(lines);
	return ok;
}

static void lines_test(void)
{
	ktap_result(&ktap, lines_are(2, "a\nbb\nccc\n", 1, "bb\nccc\n"),
		    "last_lines_are_kept");
	ktap_result(&ktap, lines_are(5, "a\nbb\n", 0, "a\nbb\n"),
		    "last_lines_fewer_than_asked_for");
	ktap_result(&ktap, lines_are(1, "a\nbb", 1, "bb"),
		    "last_lines_without_an_end");
	ktap_result(&ktap, lines_are(3, "", 0, ""), "last_lines_of_nothing");
}

int main(void)
{
	ktap_start();
	place_test();
	state_test();
	far_test(5, "at the begin");
	far_test(MANY / 8, "less than kept");
	far_test(MANY / 4 + 7, "more than kept");
	far_test(MANY / 2, "in the middle");
	far_test(MANY - MANY / 4 - 2, "just kept");
	far_test(MANY - MANY / 4 + 100, "in the ring");
	lines_test();
	return ktap_end(&ktap);
}
