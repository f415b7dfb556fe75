// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of Intel PT: left as they were found, however tracing ends, and
 * writes of others are noticed. Runs where KIPT_TEST_DISRUPTIVE=1, on a machine
 * with PT, /dev/cpu/N/msr and the module loaded; skips elsewhere. Where a CPU
 * traces without the module's knowledge, it writes to a page of the test's own.
 */
#include <limits.h>

#include "kipt_test.h"
#include "machine_state.h"
#include "own_output.h"

#define MSR_OUTPUT_BASE	0x560
#define MSR_MASK_PTRS	0x561
#define MSR_STATUS	0x571
#define MSR_CR3_MATCH	0x572
#define MSR_ADDR0_A	0x580
#define MSR_GLOBAL_STATUS	0x38e
#define MSR_GLOBAL_STATUS_SET	0x391
#define GLOBAL_TOPA_PMI	(1ULL << 55)
/* The test CPU has it without x2APIC, too. */
#define MSR_LVTPC	0x834
#define LVTPC_NMI	0x400
#define LVTPC_NONE	0x10000
/* Its low bits read as 1; the first entry of the table, the start of its page. */
#define MASK_PTRS_START	0x7f
#define CTL_TRACEEN	(1ULL << 0)
#define CTL_TOPA	(1ULL << 8)

/* OUTPUT_BASE is given the address of the test's own table. */
static struct {
	uint32_t msr;
	uint64_t value;
} marks[] = {
	{ MSR_OUTPUT_BASE, 0 },
	{ MSR_MASK_PTRS, 0x0000012300000fff },
	{ MSR_CR3_MATCH, 0x0000000076543000 },
	{ MSR_ADDR0_A, 0xffffffff81000000 },
	{ MSR_ADDR0_A + 1, 0xffffffff81000fff },
	{ MSR_ADDR0_A + 2, 0x0000000000400000 },
	{ MSR_ADDR0_A + 3, 0x0000000000400fff },
	{ MSR_IA32_RTIT_CTL, CTL_USER | CTL_TOPA | CTL_BRANCHEN },
};

#define MARKS	(sizeof(marks) / sizeof(marks[0]))

static const char *no_write(void)
{
	uint64_t value;

	if (!machine_msr_read(0, MSR_IA32_RTIT_CTL, &value) ||
	    !machine_msr_write(0, MSR_IA32_RTIT_CTL, value))
		return "/dev/cpu/0/msr cannot be written";
	return NULL;
}

FIXTURE(registers)
{
	struct kipt_nl nl;
	struct kipt_want want;
	uint64_t found[MARKS];
	uint64_t found1[MARKS];
	bool there[MARKS];
	uint64_t lvtpc;
	bool has_lvtpc;
	struct own_output own;
	pid_t keeper;
};

/* What was found, in each register of both CPUs; none traces any more. */
static void put_back(void *arg)
{
	__typeof__(FIXTURE_DATA(registers)) *self = arg;
	uint64_t ctl;
	int i;

	for (i = 0; i < 2; i++)
		if (machine_msr_read(i, MSR_IA32_RTIT_CTL, &ctl) && ctl & CTL_TRACEEN)
			machine_msr_write(i, MSR_IA32_RTIT_CTL, 0);
	for (i = 0; i < (int)MARKS; i++) {
		machine_msr_write(0, marks[i].msr, self->found[i]);
		machine_msr_write(1, marks[i].msr, self->found1[i]);
	}
	if (self->has_lvtpc)
		machine_msr_write(0, MSR_LVTPC, self->lvtpc);
}

/* Values of another user of PT, in each register the CPU has. */
FIXTURE_SETUP(registers)
{
	unsigned int i;

	NEED(kipt_missing());
	DISRUPTS("it writes to registers of PT");
	NEED(no_write());
	ASSERT_EQ(NULL, own_output_make(&self->own));
	marks[0].value = self->own.table_address;
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->want = (struct kipt_want){
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	for (i = 0; i < MARKS; i++) {
		machine_msr_read(0, marks[i].msr, &self->found[i]);
		machine_msr_read(1, marks[i].msr, &self->found1[i]);
	}
	SKIP_IF((self->found[MARKS - 1] | self->found1[MARKS - 1]) & CTL_TRACEEN ?
		"PT is in use" : NULL);
	self->has_lvtpc = machine_msr_read(0, MSR_LVTPC, &self->lvtpc);
	/* What a killed test leaves to the keeper needs its memory, too. */
	self->keeper = undo_begin(put_back, self, self->own.fd);
	ASSERT_LT(0, self->keeper);
	for (i = 0; i < MARKS; i++)
		self->there[i] = machine_msr_write(0, marks[i].msr,
						   marks[i].value);
	ASSERT_TRUE(self->there[0]);
}

/* The entry a session has set up is as it was soon after its stop. */
static bool comes_back(uint64_t lvtpc)
{
	uint64_t value = 0;
	int tries;

	for (tries = 0; tries < 500 * slowness(); tries++) {
		machine_msr_read(0, MSR_LVTPC, &value);
		if (value == lvtpc)
			return true;
		wait_ms(10);
	}
	printf("# LVTPC is %#llx, was %#llx\n", (unsigned long long)value,
	       (unsigned long long)lvtpc);
	return false;
}

FIXTURE_TEARDOWN(registers)
{
	kipt_nl_close(&self->nl);
	if (self->has_lvtpc)
		EXPECT_TRUE(comes_back(self->lvtpc));
	undo_now(&self->keeper);
	close(self->own.fd);
}

/* Another user of PT, who traces @cpu into the test's own page. */
static bool another_traces(const struct own_output *own, int cpu)
{
	return machine_msr_write(cpu, MSR_OUTPUT_BASE, own->table_address) &&
	       machine_msr_write(cpu, MSR_MASK_PTRS, MASK_PTRS_START) &&
	       machine_msr_write(cpu, MSR_IA32_RTIT_CTL, CTL_TRACEEN | CTL_TOPA |
				 CTL_BRANCHEN);
}

static unsigned int wrong_registers(const bool *there)
{
	unsigned int i, wrong = 0;
	uint64_t value;

	for (i = 0; i < MARKS; i++) {
		if (!there[i])
			continue;
		if (machine_msr_read(0, marks[i].msr, &value) &&
		    value == marks[i].value)
			continue;
		printf("# MSR %#x is %#llx, was %#llx\n", marks[i].msr,
		       (unsigned long long)value,
		       (unsigned long long)marks[i].value);
		wrong++;
	}
	return wrong;
}

static int run_once(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id = kipt_session_new(nl, want), err;

	if (id < 0)
		return id;
	err = kipt_session_start(nl, id);
	pin_to(0);
	work(20);
	if (!err)
		err = kipt_session_stop(nl, id);
	return err;
}

TEST_F(registers, stop_leaves_them_as_found)
{
	EXPECT_EQ(0, run_once(&self->nl, &self->want));
	EXPECT_EQ(0, wrong_registers(self->there));
}

TEST_F(registers, full_buffer_leaves_them_as_found)
{
	int id;

	SKIP_IF(kipt_one_block());
	self->want.mode = KIPT_MODE_ONCE;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	pin_to(0);
	work(3000);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(SIZE_MIN, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_EQ(0, wrong_registers(self->there));
}

/* Rounds of a session whose buffer is full at about the time of the stop. */
static int fill_and_stop(struct kipt_nl *nl, struct kipt_want *want,
			 unsigned int rounds)
{
	int id, err = 0;
	unsigned int i;

	want->mode = KIPT_MODE_ONCE;
	id = kipt_session_new(nl, want);
	if (id < 0)
		return id;
	pin_to(0);
	for (i = 0; i < rounds && !err; i++) {
		err = kipt_session_start(nl, id);
		work(100 * i);
		if (!err)
			err = kipt_session_stop(nl, id);
	}
	return err ? err : kipt_session_del(nl, id);
}

TEST_F(registers, pmis_are_again_nobodys)
{
	SKIP_IF(kipt_one_block());
	if (!self->has_lvtpc || !machine_msr_write(0, MSR_LVTPC, LVTPC_NONE))
		SKIP(return, "the APIC cannot be written as an MSR");
	EXPECT_EQ(0, fill_and_stop(&self->nl, &self->want, 30));
	EXPECT_TRUE(comes_back(LVTPC_NONE));
	machine_msr_write(0, MSR_LVTPC, self->lvtpc);
}

TEST_F(registers, pmis_are_again_perfs)
{
	SKIP_IF(kipt_one_block());
	if (!self->has_lvtpc || !machine_msr_write(0, MSR_LVTPC, LVTPC_NMI))
		SKIP(return, "the APIC cannot be written as an MSR");
	EXPECT_EQ(0, fill_and_stop(&self->nl, &self->want, 30));
	EXPECT_TRUE(comes_back(LVTPC_NMI));
	machine_msr_write(0, MSR_LVTPC, self->lvtpc);
}

/*
 * While the module makes a session, its CPUs have no buffers yet; a PMI that
 * someone else left may be pending.
 */
TEST_F(registers, a_pmi_meets_a_session_that_is_being_made)
{
	uint64_t status = GLOBAL_TOPA_PMI;
	struct kipt_msg msg;
	int tries;

	self->want.cpus = "0-1";
	self->want.size = size_up_to(64 * SIZE_USUAL);
	kipt_want_put(&msg, &self->want);
	ASSERT_EQ(0, kipt_nl_dump_begin(&self->nl, &msg));
	do {
		ASSERT_EQ(1, kipt_nl_next(&self->nl, 5000));
	} while (!kipt_nl_u64(&self->nl, KIPT_A_SESSION_MEMORY, 0));
	if (!machine_msr_write(1, MSR_GLOBAL_STATUS_SET, GLOBAL_TOPA_PMI))
		SKIP(return, "IA32_PERF_GLOBAL_STATUS_SET cannot be written");
	/* sysrq l: CPU 0 sends CPU 1 an NMI to get its backtrace. */
	pin_to(0);
	ASSERT_EQ(0, write_file("/proc/sysrq-trigger", "l"));
	for (tries = 0; tries < 500 * slowness() && status & GLOBAL_TOPA_PMI; tries++) {
		wait_ms(10);
		ASSERT_TRUE(machine_msr_read(1, MSR_GLOBAL_STATUS, &status));
	}
	EXPECT_EQ(0, status & GLOBAL_TOPA_PMI);
}

TEST_F(registers, delete_leaves_them_as_found)
{
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_EQ(0, wrong_registers(self->there));
}

static int start_and_die(void *arg)
{
	static struct kipt_nl nl;

	if (kipt_nl_open(&nl) ||
	    kipt_session_start(&nl, kipt_session_new(&nl, arg)))
		return 1;
	return 0;
}

TEST_F(registers, killed_owner_leaves_them_as_found)
{
	unsigned int wrong = 1;
	int tries;

	ASSERT_EQ(0, in_child(start_and_die, &self->want));
	/* A work item ends the session. */
	for (tries = 0; tries < 500 * slowness() && wrong; tries++) {
		wait_ms(20);
		wrong = wrong_registers(self->there);
	}
	EXPECT_EQ(0, wrong);
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

TEST_F(registers, refused_start_leaves_them_as_found)
{
	int id;

	self->want.cpus = "0-1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	/* The second CPU is in use when the first has started. */
	ASSERT_TRUE(another_traces(&self->own, 1));
	EXPECT_EQ(-EBUSY, kipt_session_start(&self->nl, id));
	ASSERT_TRUE(machine_msr_write(1, MSR_IA32_RTIT_CTL, 0));
	EXPECT_EQ(0, wrong_registers(self->there));
}

TEST_F(registers, refused_start_keeps_the_last_capture)
{
	uint64_t bytes;
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	pin_to(0);
	work(20);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	bytes = kipt_cpu_bytes(&self->nl, id, 0);
	EXPECT_LT(200, bytes);
	ASSERT_TRUE(another_traces(&self->own, 0));
	EXPECT_EQ(-EBUSY, kipt_session_start(&self->nl, id));
	ASSERT_TRUE(machine_msr_write(0, MSR_IA32_RTIT_CTL, 0));
	EXPECT_EQ(KIPT_STATE_STOPPED, kipt_session_state(&self->nl, id));
	EXPECT_EQ(bytes, kipt_cpu_bytes(&self->nl, id, 0));
}

TEST_F(registers, filters_of_others_are_not_inherited)
{
	uint64_t bytes;
	int id;

	/* The ranges marked above would filter all out, were they in use. */
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	pin_to(0);
	work(20);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	bytes = kipt_cpu_bytes(&self->nl, id, 0);
	EXPECT_LT(200, bytes);
}

/* What the kernel says ended the trace of CPU 0. */
static uint64_t cause(struct kipt_nl *nl, int id)
{
	return kipt_cpu_u64(nl, id, 0, KIPT_A_CPU_CAUSE);
}

TEST_F(registers, clear_of_trace_en_from_outside_is_noticed)
{
	static struct kipt_nl listener;
	uint64_t ctl;
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_nl_open(&listener));
	ASSERT_EQ(0, kipt_nl_join(&listener));
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	pin_to(0);
	work(20);
	ASSERT_TRUE(machine_msr_read(0, MSR_IA32_RTIT_CTL, &ctl));
	ASSERT_TRUE(ctl & CTL_TRACEEN);
	ASSERT_TRUE(machine_msr_write(0, MSR_IA32_RTIT_CTL, ctl & ~CTL_TRACEEN));
	work(20);
	EXPECT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(KIPT_STOP_CAUSE_OUTSIDE, cause(&self->nl, id));
	EXPECT_EQ(KIPT_STOP_CAUSE_OUTSIDE, kipt_cpu_event(&listener, 0));
	kipt_nl_close(&listener);
	EXPECT_LT(200, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_EQ(0, wrong_registers(self->there));
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(20);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(KIPT_STOP_CAUSE_USER, cause(&self->nl, id));
}

TEST_F(registers, new_pointers_from_outside_are_noticed)
{
	uint64_t ctl;
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	ASSERT_TRUE(machine_msr_read(0, MSR_IA32_RTIT_CTL, &ctl));
	ASSERT_TRUE(machine_msr_write(0, MSR_IA32_RTIT_CTL, ctl & ~CTL_TRACEEN));
	ASSERT_TRUE(machine_msr_write(0, MSR_OUTPUT_BASE,
				      self->own.table_address));
	EXPECT_EQ(-EIO, kipt_session_stop(&self->nl, id));
	EXPECT_EQ(KIPT_STOP_CAUSE_OUTSIDE, cause(&self->nl, id));
	EXPECT_EQ(0, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_EQ(0, wrong_registers(self->there));
}

/* A process that never runs on CPU 0: while that follows it, it is paused. */
static pid_t rest(void)
{
	pid_t child;

	pin_to(1);
	child = fork();
	if (child)
		return child;
	for (;;)
		pause();
}

/* Return: what the stop of a paused CPU says after a write of @msr. */
static int write_in_pause(struct kipt_nl *nl, struct kipt_want *want, int *id,
			  uint32_t msr, uint64_t value)
{
	pid_t child = rest();
	int err;

	want->pid = (uint32_t)child;
	*id = kipt_session_new(nl, want);
	err = *id < 0 ? *id : kipt_session_start(nl, *id);
	if (!err && !machine_msr_write(0, msr, value))
		err = 1;
	if (!err)
		err = kipt_session_stop(nl, *id);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return err;
}

TEST_F(registers, new_pointers_in_a_pause_are_noticed)
{
	int id;

	EXPECT_EQ(-EIO, write_in_pause(&self->nl, &self->want, &id,
				       MSR_OUTPUT_BASE,
				       self->own.table_address));
	EXPECT_EQ(KIPT_STOP_CAUSE_OUTSIDE, cause(&self->nl, id));
	EXPECT_EQ(0, kipt_cpu_bytes(&self->nl, id, 0));
	EXPECT_EQ(0, wrong_registers(self->there));
}

TEST_F(registers, trace_en_in_a_pause_is_noticed)
{
	int id;

	EXPECT_EQ(0, write_in_pause(&self->nl, &self->want, &id, MSR_IA32_RTIT_CTL,
				    CTL_TRACEEN | CTL_TOPA | CTL_BRANCHEN));
	EXPECT_EQ(KIPT_STOP_CAUSE_OUTSIDE, cause(&self->nl, id));
	EXPECT_EQ(0, wrong_registers(self->there));
}

static long us_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin->tv_sec) * 1000000 +
	       (now.tv_nsec - begin->tv_nsec) / 1000;
}

/* The shortest of several starts and stops of two CPUs, in microseconds, or -1. */
static long shortest_cycle(struct kipt_nl *nl, int id)
{
	long shortest = LONG_MAX, us;
	struct timespec begin;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		if (kipt_session_start(nl, id) || kipt_session_stop(nl, id))
			return -1;
		us = us_since(&begin);
		if (us < shortest)
			shortest = us;
	}
	return shortest;
}

/* The shortest of each: a machine that has other work makes both longer. */
TEST_F_TIMEOUT(registers, start_and_stop_do_not_depend_on_the_size, 300)
{
	long small, large;
	int id;

	self->want.cpus = "0-1";
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	small = shortest_cycle(&self->nl, id);
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	self->want.size = size_up_to(128ULL << 20);
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	large = shortest_cycle(&self->nl, id);
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
	printf("# a start and stop of 2 CPUs: %ld us with 64 KiB, %ld us with %llu KiB\n",
	       small, large, (unsigned long long)self->want.size >> 10);
	ASSERT_LE(0, small);
	ASSERT_LE(0, large);
	/* Were pages touched, they would be 2,048 times as many. */
	EXPECT_LT(large, small * 4);
}

#include "kipt_main.h"
