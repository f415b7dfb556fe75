// SPDX-License-Identifier: GPL-2.0-only
/*
 * list_records WHAT FILE: prints one kind of record of a records file as
 * plain text, read without the tool's code: "ptwrite" as "VALUE WIDTH",
 * "power" as "sleep IP HINTS STATE" and "wake REASON", "gaps" as their kinds,
 * "branches" as "FROM TO", "count" as numbers per type. Runs where records were fetched.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/kipt_record.h>

#define RECORDS_MAGIC	0x534345525450494bULL	/* "KIPTRECS" */
/* Records that are read at a time. */
#define BLOCK		4096U

static void list_ptwrite(const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_PTWRITE && !(r->flags & KIPT_RF_NO_IP))
		printf("%016" PRIx64 " %u\n", (uint64_t)r->value, r->aux);
	else if (r->type == KIPT_RECORD_PTWRITE)
		printf("%016" PRIx64 " %u without an address\n",
		       (uint64_t)r->value, r->aux);
}

static void list_power(const struct kipt_record *r)
{
	static uint32_t hints, state;

	if (r->type != KIPT_RECORD_POWER)
		return;
	switch (r->kind) {
	case KIPT_POWER_MWAIT:
		hints = r->aux;
		break;
	case KIPT_POWER_PWRE:
		state = r->aux;
		break;
	case KIPT_POWER_EXSTOP:
		printf("sleep %016" PRIx64 " %x %x\n", (uint64_t)r->ip, hints,
		       state);
		hints = 0;
		break;
	case KIPT_POWER_PWRX:
		printf("wake %" PRIx64 "\n", (uint64_t)r->value);
		break;
	}
}

static void list_gaps(const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_GAP)
		printf("gap %u status %u ip %016" PRIx64 " value %" PRIx64 "\n",
		       r->kind, r->aux, (uint64_t)r->ip, (uint64_t)r->value);
}

static void list_branches(const struct kipt_record *r)
{
	if (r->type == KIPT_RECORD_BRANCH)
		printf("%016" PRIx64 " %016" PRIx64 "\n", (uint64_t)r->ip,
		       (uint64_t)r->value);
}

static unsigned long counts[KIPT_RECORD_TYPE_MAX + 1];

static void count(const struct kipt_record *r)
{
	if (r->type <= KIPT_RECORD_TYPE_MAX)
		counts[r->type]++;
}

static void print_counts(void)
{
	printf("branches %lu enables %lu disables %lu gaps %lu ptwrites %lu power %lu\n",
	       counts[KIPT_RECORD_BRANCH], counts[KIPT_RECORD_ENABLE],
	       counts[KIPT_RECORD_DISABLE], counts[KIPT_RECORD_GAP],
	       counts[KIPT_RECORD_PTWRITE], counts[KIPT_RECORD_POWER]);
}

static const struct {
	const char *name;
	void (*each)(const struct kipt_record *r);
} lists[] = {
	{ "ptwrite", list_ptwrite },
	{ "power", list_power },
	{ "gaps", list_gaps },
	{ "branches", list_branches },
	{ "count", count },
};

int main(int argc, char **argv)
{
	unsigned int n = sizeof(lists) / sizeof(lists[0]), i;
	static struct kipt_record r[BLOCK];
	size_t got, j;
	FILE *f;

	for (i = 0; argc == 3 && i < n; i++)
		if (!strcmp(argv[1], lists[i].name))
			break;
	if (argc != 3 || i == n) {
		fprintf(stderr,
			"usage: list_records ptwrite|power|gaps|branches|count FILE\n");
		return 2;
	}
	f = fopen(argv[2], "r");
	if (!f || fread(r, sizeof(*r), 1, f) != 1 || r->type ||
	    r->ip != RECORDS_MAGIC) {
		fprintf(stderr, "list_records: %s is no records file\n",
			argv[2]);
		return 2;
	}
	while ((got = fread(r, sizeof(*r), BLOCK, f)))
		for (j = 0; j < got; j++)
			lists[i].each(&r[j]);
	fclose(f);
	if (lists[i].each == count)
		print_counts();
	return 0;
}
