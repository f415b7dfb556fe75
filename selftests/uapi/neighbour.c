// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf and kipt share Intel PT: never at the same time, whatever the caller
 * can see of sysfs, and neither finds the other's registers. Runs on a
 * machine with PT, perf's intel_pt PMU and the module loaded; skips elsewhere.
 */
#include <sys/mount.h>

#include "kipt_test.h"
#include "machine_state.h"
#include "perf_pt.h"

#define MSR_OUTPUT_BASE	0x560
#define MSR_STATUS	0x571
#define STATUS_ERROR	(1ULL << 4)
#define MSR_PERF_STATUS	0x38e
#define MSR_PERF_RESET	0x390
#define STATUS_TOPA_PMI	(1ULL << 55)
#define ROUNDS		100
/* Of these, once perf had the same table again. */
#define ROUNDS_SHORT	20

static const char *why_not(void)
{
	return perf_pt_type() ? NULL : "perf has no intel_pt PMU";
}

FIXTURE(neighbour)
{
	struct kipt_nl nl;
	struct kipt_want want;
	struct perf_pt perf;
	uint32_t type;
	pid_t busy;
};

/* Something to trace on CPU 0, that leaves its turn to whoever wants it. */
static pid_t keep_busy(int cpu)
{
	pid_t child = fork();

	if (child)
		return child;
	pin_to(cpu);
	if (nice(19) < 0)
		_exit(1);
	for (;;)
		work(100);
}

FIXTURE_SETUP(neighbour)
{
	NEED(kipt_missing());
	NEED(machine_no_msr(0));
	SKIP_IF(why_not());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->type = perf_pt_type();
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	self->busy = keep_busy(0);
	ASSERT_LT(0, self->busy);
}

FIXTURE_TEARDOWN(neighbour)
{
	knob_back();
	kill(self->busy, SIGKILL);
	waitpid(self->busy, NULL, 0);
	kipt_nl_close(&self->nl);
}

static uint64_t msr(uint32_t number)
{
	uint64_t value = 0;

	machine_msr_read(0, number, &value);
	return value;
}

/* What one turn of perf saw. */
struct turn {
	uint64_t base;
	uint64_t status;
	uint64_t bytes;
	bool psb;
};

/*
 * Takes @pages of the pages that CPU 1 freed last, so that the one below them
 * is the next to be used. @pipes holds them.
 */
static void take_pages(int *pipes, unsigned int pages)
{
	static const char page[4096];

	if (pipe(pipes))
		return;
	while (pages--)
		if (write(pipes[1], page, sizeof(page)) < 0)
			return;
}

static void give_pages(const int *pipes)
{
	close(pipes[0]);
	close(pipes[1]);
}

/*
 * A turn of perf on CPU 0. Its pages come from CPU 1's lists and go back
 * there, so that the next turn may get the same ones.
 */
static int perf_turn(struct perf_pt *perf, uint32_t type, struct turn *turn)
{
	static const unsigned char psb[] = { 0x02, 0x82, 0x02, 0x82 };
	int err;

	pin_to(1);
	err = perf_pt_open(perf, type, 0);
	if (err)
		return err;
	err = perf_pt_enable(perf);
	turn->base = msr(MSR_OUTPUT_BASE);
	wait_ms(5);
	turn->status = msr(MSR_STATUS);
	if (!err)
		err = perf_pt_disable(perf);
	turn->bytes = perf_pt_head(perf);
	turn->psb = !memcmp(perf->aux, psb, sizeof(psb));
	perf_pt_close(perf);
	return err;
}

static int kipt_turn(struct kipt_nl *nl, const struct kipt_want *want,
		     uint64_t *base)
{
	int id, err;

	pin_to(0);
	id = kipt_session_new(nl, want);
	if (id < 0)
		return id;
	err = kipt_session_start(nl, id);
	*base = msr(MSR_OUTPUT_BASE);
	if (!err)
		err = kipt_session_stop(nl, id);
	if (!err)
		err = kipt_session_del(nl, id);
	return err;
}

TEST_F_TIMEOUT(neighbour, perf_kipt_perf_each_sees_its_own, 600)
{
	unsigned int enough = unless_short(ROUNDS, ROUNDS_SHORT), i;
	unsigned int same_page = 0, wrong = 0;
	struct turn first, second;
	uint64_t ours;
	int pipes[2];

	for (i = 0; i < ROUNDS && (i < enough || !same_page); i++) {
		ASSERT_EQ(0, perf_turn(&self->perf, self->type, &first));
		ASSERT_EQ(0, kipt_turn(&self->nl, &self->want, &ours))
			TH_LOG("%s", self->nl.why);
		pin_to(1);
		take_pages(pipes, i % 16);
		ASSERT_EQ(0, perf_turn(&self->perf, self->type, &second));
		give_pages(pipes);
		same_page += second.base == first.base;
		if (second.base == ours || second.status & STATUS_ERROR ||
		    !second.psb || second.bytes < 64)
			wrong++;
	}
	printf("# perf had the same table again in %u of %u rounds\n",
	       same_page, i);
	EXPECT_EQ(0, wrong);
	EXPECT_LT(0, same_page);
}

TEST_F(neighbour, perf_keeps_kipt_off_and_kipt_perf)
{
	struct perf_pt other;
	int id;

	ASSERT_EQ(0, perf_pt_open(&self->perf, self->type, 0));
	EXPECT_EQ(-EBUSY, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "perf"));
	perf_pt_close(&self->perf);
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	EXPECT_EQ(-EBUSY, perf_pt_open(&other, self->type, 0));
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	EXPECT_EQ(-EBUSY, perf_pt_open(&other, self->type, 0));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	ASSERT_EQ(0, perf_pt_open(&other, self->type, 0));
	perf_pt_close(&other);
}

/* What a session held is perf's as soon as its deletion is answered. */
TEST_F_TIMEOUT(neighbour, perf_gets_the_cpu_at_once, 120)
{
	unsigned int i, refused = 0;
	uint64_t base;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(0, kipt_turn(&self->nl, &self->want, &base))
			TH_LOG("%s", self->nl.why);
		refused += perf_pt_open(&self->perf, self->type, 0) != 0;
		perf_pt_close(&self->perf);
	}
	EXPECT_EQ(0, refused);
}

/* Leave for a mount namespace that has no sysfs. */
static bool hide_sysfs(void)
{
	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !umount2("/sys", MNT_DETACH) && !perf_pt_type();
}

#define NOT_HIDDEN	250

static int new_without_sysfs(void *arg)
{
	static struct kipt_nl nl;
	const struct kipt_want *want = arg;
	int id;

	if (!hide_sysfs() || kipt_nl_open(&nl))
		return NOT_HIDDEN;
	id = kipt_session_new(&nl, want);
	return id < 0 ? -id : 0;
}

TEST_F(neighbour, perf_keeps_kipt_off_without_sysfs_too)
{
	int err = -EBUSY, tries;

	EXPECT_EQ(0, in_child(new_without_sysfs, &self->want));
	/* What the child's session held is given back by a work item. */
	for (tries = 0; err == -EBUSY && tries < 500; tries++) {
		wait_ms(10);
		err = perf_pt_open(&self->perf, self->type, 0);
	}
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, perf_pt_enable(&self->perf));
	EXPECT_EQ(EBUSY, in_child(new_without_sysfs, &self->want));
	ASSERT_EQ(0, perf_pt_disable(&self->perf));
	EXPECT_EQ(EBUSY, in_child(new_without_sysfs, &self->want));
	perf_pt_close(&self->perf);
}

struct reverse {
	const struct kipt_want *want;
	uint32_t type;
};

static int perf_beside_session_without_sysfs(void *arg)
{
	static struct kipt_nl nl;
	const struct reverse *reverse = arg;
	struct perf_pt perf;
	int id;

	if (!hide_sysfs() || kipt_nl_open(&nl))
		return NOT_HIDDEN;
	id = kipt_session_new(&nl, reverse->want);
	if (id < 0 || kipt_session_start(&nl, id))
		return NOT_HIDDEN;
	return -perf_pt_open(&perf, reverse->type, 0);
}

TEST_F(neighbour, kipt_keeps_perf_off_without_sysfs_too)
{
	struct reverse reverse = { &self->want, self->type };

	EXPECT_EQ(EBUSY, in_child(perf_beside_session_without_sysfs, &reverse));
}

/* Is there a ToPA PMI that nobody has taken, within some seconds? */
static bool pmi_pends(int cpu, int tries)
{
	uint64_t status = 0;

	while (tries-- && !(status & STATUS_TOPA_PMI)) {
		wait_ms(10);
		machine_msr_read(cpu, MSR_PERF_STATUS, &status);
	}
	return status & STATUS_TOPA_PMI;
}

/*
 * A PMI of perf that an NMI of something else leaves for perf. Where perf has
 * a PMU of its own, perf takes the PMI at once, and this cannot be tested.
 */
static bool perf_keeps_its_pmi(struct perf_pt *perf, uint32_t type, int cpu,
			       const char **why)
{
	pid_t busy;
	bool kept;

	*why = NULL;
	if (perf_pt_open(perf, type, cpu))
		return false;
	busy = keep_busy(cpu);
	perf_pt_enable(perf);
	kept = pmi_pends(cpu, 300);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	/* The CPU that asks for backtraces sends NMIs to the others. */
	pin_to(!cpu);
	if (!kept || write_file("/proc/sysrq-trigger", "l"))
		*why = "there is no PMI that stays, or no NMI to be had";
	wait_ms(200);
	kept = pmi_pends(cpu, 1);
	perf_pt_disable(perf);
	machine_msr_write(cpu, MSR_PERF_RESET, STATUS_TOPA_PMI);
	perf_pt_close(perf);
	return kept;
}

TEST_F_TIMEOUT(neighbour, a_cpu_that_comes_back_is_perfs, 60)
{
	const char *why;
	bool kept;
	int id;

	DISRUPTS("it takes CPU 1 offline and asks SysRq for backtraces");
	TAKES_CPU1();
	self->want.cpus = "1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	ASSERT_EQ(0, knob_back());
	kept = perf_keeps_its_pmi(&self->perf, self->type, 1, &why);
	if (why)
		SKIP(return, "%s", why);
	EXPECT_TRUE(kept);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
}

#include "kipt_main.h"
