// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing leaks and nothing is lost when things are done a thousand times or
 * at the wrong moment: start and stop, load and unload, a module removed or a
 * CPU taken offline while it traces. Runs on a machine with PT and the module
 * loaded, in the virtual one by preference; skips elsewhere. $KIPT_MODULE
 * names the module's file, to load it again.
 */
#include <linux/kipt_record.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kipt_test.h"
#include "machine_state.h"

#define CYCLES		1000
#define LOADS		100
#define LOADS_SHORT	10
/* Fewer, and what caches take hides a page each time. */
#define SESSIONS	400
/* What the kernel's own caches may keep of a run. */
#define SLACK_KIB	4096
#define PAGE_KIB	4
/* Looks at the memory, at even distances in what is done again and again. */
#define LOOKS		10

/* What has to be as it was. */
struct before {
	long free_kib;
	int complaints;
	long errors;
	long spurious;
};

static void note(struct before *before)
{
	before->complaints = machine_complaints(false);
	before->errors = machine_interrupts("ERR");
	before->spurious = machine_interrupts("SPU");
	before->free_kib = machine_free_kib();
}

static bool is_as_before(const struct before *before)
{
	long lost = before->free_kib - machine_free_kib();
	long nmis = machine_interrupts("NMI");
	bool ok = true;

	printf("# memory: %ld KiB less free than before\n", lost);
	ok &= lost < SLACK_KIB;
	ok &= machine_complaints(true) == before->complaints;
	ok &= machine_interrupts("ERR") == before->errors;
	ok &= machine_interrupts("SPU") == before->spurious;
	/* No PMI comes from a CPU that does not trace. */
	wait_ms(300);
	ok &= machine_interrupts("NMI") == nmis;
	return ok;
}

/* KiB that were free at each look. */
struct looks {
	long free_kib[LOOKS + 1];
	unsigned int count;
};

/* What RCU and work items still have to free is waited for. */
static void look(struct looks *looks)
{
	long best = 0, now;
	int i;

	for (i = 0; i < 3; i++) {
		wait_ms(50);
		now = machine_free_kib();
		best = now > best ? now : best;
	}
	looks->free_kib[looks->count++] = best;
}

static int by_value(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/*
 * Does each time lose a page? By the median of the slopes between all pairs of
 * looks: what some cache takes at once, or gives back, moves few of them, a page
 * each time moves all. Half a page is nearer to none.
 */
static bool loses_pages(const struct looks *looks, unsigned int times)
{
	long slopes[(LOOKS + 1) * LOOKS / 2];
	unsigned int i, k, n = 0;

	for (i = 0; i < looks->count; i++)
		for (k = i + 1; k < looks->count; k++)
			slopes[n++] = (looks->free_kib[i] - looks->free_kib[k]) *
				      1024 * LOOKS / (long)((k - i) * times);
	qsort(slopes, n, sizeof(slopes[0]), by_value);
	printf("# memory: %ld bytes lost each time; KiB free:", slopes[n / 2]);
	for (i = 0; i < looks->count; i++)
		printf(" %ld", looks->free_kib[i]);
	printf("\n");
	return slopes[n / 2] >= PAGE_KIB * 1024 / 2;
}

/* Touches a page a cycle: is that noticed? */
static bool lost_pages_are_noticed(void)
{
	size_t page = PAGE_KIB * 1024, at = 0, end;
	struct looks looks = { 0 };
	bool noticed;
	char *pages;

	pages = mmap(NULL, CYCLES * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		return false;
	/* Else one touch would take two MiB. */
	madvise(pages, CYCLES * page, MADV_NOHUGEPAGE);
	look(&looks);
	while (looks.count <= LOOKS) {
		for (end = at + CYCLES / LOOKS; at < end; at++)
			pages[at * page] = 1;
		look(&looks);
	}
	noticed = loses_pages(&looks, CYCLES);
	munmap(pages, CYCLES * page);
	return noticed;
}

/*
 * The tests below would not notice anything if this did not. What the kernel frees
 * meanwhile for reasons of its own may hide it, but not again and again.
 */
TEST(page_lost_each_time_is_noticed)
{
	unsigned int tries = 5;
	bool noticed;

	do {
		noticed = lost_pages_are_noticed();
	} while (!noticed && --tries);
	EXPECT_TRUE(noticed);
}

static bool pt_is_off(int cpu)
{
	uint64_t ctl;

	return machine_rtit_ctl(cpu, &ctl) && !(ctl & 1);
}

static bool cycle(struct kipt_nl *nl, int id, unsigned int times)
{
	unsigned int i;

	for (i = 0; i < times; i++)
		if (kipt_session_start(nl, id) || kipt_session_stop(nl, id)) {
			printf("# cycle %u: %s\n", i, nl->why);
			return false;
		}
	return true;
}

TEST_F_TIMEOUT(kipt, thousand_starts_leak_nothing, 300)
{
	struct looks looks = { 0 };
	struct before before;
	uint64_t memory;
	int id;

	NEED(machine_no_msr(0));
	self->want.cpus = "0-1";
	self->want.size = SIZE_MIN;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_TRUE(cycle(&self->nl, id, 20));
	memory = kipt_memory(&self->nl);
	note(&before);
	look(&looks);
	while (looks.count <= LOOKS) {
		ASSERT_TRUE(cycle(&self->nl, id, CYCLES / LOOKS));
		look(&looks);
	}
	/* What the module accounts, to the byte, and what it does not. */
	EXPECT_EQ(memory, kipt_memory(&self->nl));
	EXPECT_FALSE(loses_pages(&looks, CYCLES));
	EXPECT_TRUE(is_as_before(&before));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_TRUE(pt_is_off(0) && pt_is_off(1));
}

static bool new_and_delete(struct kipt_nl *nl, const struct kipt_want *want,
			   unsigned int times)
{
	unsigned int i;

	for (i = 0; i < times; i++) {
		int id = kipt_session_new(nl, want);

		if (id < 0 || kipt_session_start(nl, id) ||
		    kipt_session_del(nl, id)) {
			printf("# session %u: %s\n", i, nl->why);
			return false;
		}
	}
	return true;
}

TEST_F_TIMEOUT(kipt, hundreds_of_sessions_leak_nothing, 300)
{
	struct looks looks = { 0 };
	struct before before;

	self->want.cpus = "0-1";
	self->want.size = SIZE_MIN;
	ASSERT_TRUE(new_and_delete(&self->nl, &self->want,
				   SESSIONS / LOOKS));
	ASSERT_TRUE(memory_is_free(&self->nl));
	note(&before);
	look(&looks);
	while (looks.count <= LOOKS) {
		ASSERT_TRUE(new_and_delete(&self->nl, &self->want,
					   SESSIONS / LOOKS));
		EXPECT_TRUE(memory_is_free(&self->nl));
		look(&looks);
	}
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	EXPECT_FALSE(loses_pages(&looks, SESSIONS));
	EXPECT_TRUE(is_as_before(&before));
}

TEST_F_TIMEOUT(kipt, hundred_loads_leak_nothing, 300)
{
	unsigned int loads = unless_short(LOADS, LOADS_SHORT), i;
	struct before before;

	DISRUPTS("it removes the module");
	NEED(machine_no_module_file());
	kipt_nl_close(&self->nl);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, machine_unload());
		ASSERT_EQ(0, machine_load(""));
	}
	note(&before);
	for (i = 0; i < loads; i++) {
		ASSERT_EQ(0, machine_unload());
		ASSERT_EQ(0, machine_load(""));
	}
	EXPECT_TRUE(is_as_before(&before));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

TEST_F_TIMEOUT(kipt, module_removed_while_tracing_stops_it, 120)
{
	int complaints = machine_complaints(false), id;

	DISRUPTS("it removes the module");
	NEED(machine_no_module_file());
	NEED(machine_no_msr(0));
	self->want.cpus = "0-1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(100);
	ASSERT_EQ(0, machine_unload());
	EXPECT_TRUE(pt_is_off(0));
	EXPECT_TRUE(pt_is_off(1));
	work(100);
	EXPECT_EQ(complaints, machine_complaints(true));
	kipt_nl_close(&self->nl);
	ASSERT_EQ(0, machine_load(""));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

TEST_F_TIMEOUT(kipt, module_stays_while_it_is_fetched_from, 120)
{
	int complaints = machine_complaints(false), id, ret, tries;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	DISRUPTS("it removes the module");
	NEED(machine_no_module_file());
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	pin_to(0);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(300);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	ASSERT_EQ(0, kipt_fetch_begin(&self->nl, id, KIPT_OUTPUT_INSNS));
	ASSERT_EQ(1, kipt_nl_next(&self->nl, 5000));
	/* A fetch is its reader's, and keeps the module. */
	EXPECT_EQ(-EAGAIN, machine_unload());
	kipt_nl_close(&self->nl);
	ret = machine_unload();
	for (tries = 0; ret == -EAGAIN && tries < 500 * slowness(); tries++) {
		wait_ms(20);
		ret = machine_unload();
	}
	ASSERT_EQ(0, ret);
	EXPECT_EQ(complaints, machine_complaints(true));
	ASSERT_EQ(0, machine_load(""));
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
}

/* Branches, and the kind of the last gap. */
struct seen {
	uint64_t branches;
	unsigned int gap;
};

static void see_records(struct kipt_nl *nl, void *ctx)
{
	const struct kipt_record *r;
	struct seen *seen = ctx;
	size_t len, i;

	r = kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS, &len);
	for (i = 0; r && i < len / sizeof(*r); i++) {
		seen->branches += r[i].type == KIPT_RECORD_BRANCH;
		if (r[i].type == KIPT_RECORD_GAP)
			seen->gap = r[i].kind;
	}
}

TEST_F_TIMEOUT(kipt, offline_cpu_keeps_what_was_captured, 120)
{
	int complaints = machine_complaints(false), id;
	struct seen seen = { 0 };
	uint64_t bytes;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	TAKES_CPU1();
	self->want.cpus = "1";
	self->want.mode = mode_that_keeps();
	self->want.size = 4 * SIZE_USUAL;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	pin_to(1);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(200);
	pin_to(0);
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	EXPECT_EQ(KIPT_STOP_CAUSE_OFFLINE,
		  kipt_cpu_u64(&self->nl, id, 1, KIPT_A_CPU_CAUSE));
	bytes = kipt_cpu_bytes(&self->nl, id, 1);
	EXPECT_LT(200, bytes);
	EXPECT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_LT(0, kipt_fetch(&self->nl, id, KIPT_OUTPUT_BRANCHES,
				see_records, &seen));
	EXPECT_LT(200, seen.branches);
	EXPECT_EQ(KIPT_GAP_OFFLINE, seen.gap);
	ASSERT_EQ(0, knob_back());
	EXPECT_EQ(bytes, kipt_cpu_bytes(&self->nl, id, 1));
	EXPECT_EQ(0, kipt_session_start(&self->nl, id));
	EXPECT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(complaints, machine_complaints(true));
}

TEST_F_TIMEOUT(kipt, owners_killed_while_tracing_leak_nothing, 120)
{
	struct before before;
	unsigned int i;
	int status;

	NEED(machine_no_msr(0));
	note(&before);
	for (i = 0; i < 20; i++) {
		pid_t child = fork();

		ASSERT_LE(0, child);
		if (!child) {
			struct kipt_nl *nl = &self->nl;

			kipt_nl_close(nl);
			if (!kipt_nl_open(nl))
				kipt_session_start(nl, kipt_session_new(nl, &self->want));
			raise(SIGKILL);
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, kipt_session_count(&self->nl));
	}
	EXPECT_TRUE(memory_is_free(&self->nl));
	EXPECT_TRUE(is_as_before(&before));
	EXPECT_TRUE(pt_is_off(0));
}

#include "kipt_main.h"
