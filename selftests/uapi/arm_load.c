// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module is removed while a session is armed, and arms itself when it is
 * loaded. Loads the module of KIPT_MODULE again and again, and leaves it as
 * guest_kselftest has it. Runs as root on a machine with PT; skips elsewhere.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "kipt_test.h"
#include "machine_state.h"

FIXTURE(load)
{
	struct kipt_nl nl;
	int complaints;
};

FIXTURE_SETUP(load)
{
	NEED(kipt_missing());
	SKIP_IF(kipt_absent(KIPT_PART_CRASH));
	DISRUPTS("it removes the module");
	NEED(machine_no_module_file());
	NEED(machine_no_msr(0));
	self->complaints = machine_complaints(false);
	ASSERT_EQ(0, machine_unload());
}

FIXTURE_TEARDOWN(load)
{
	knob_back();
	machine_unload();
	ASSERT_EQ(0, machine_load(""));
	EXPECT_EQ(self->complaints, machine_complaints(true));
}

/* Load, and look at the first session. Return: its number, 0 or an errno. */
static int load(struct kipt_nl *nl, const char *parameters)
{
	int err = machine_load(parameters);

	if (!err)
		err = kipt_nl_open(nl);
	if (err)
		return err;
	if (kipt_session_count(nl) != 1 || kipt_session_get(nl, 1))
		return 0;
	return (int)kipt_nl_u32(nl, KIPT_A_SESSION_ID, 0);
}

TEST_F_TIMEOUT(load, arms_all_by_default, 60)
{
	uint64_t ctl;

	ASSERT_EQ(1, load(&self->nl, "arm=1"));
	EXPECT_EQ(ARMED, kipt_nl_u32(&self->nl, KIPT_A_SESSION_FLAGS, 0));
	EXPECT_EQ(KIPT_STATE_RUNNING,
		  kipt_nl_u32(&self->nl, KIPT_A_SESSION_STATE, 0));
	EXPECT_EQ(4ULL << 20, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SIZE, 0));
	EXPECT_EQ(32, kipt_nl_u32(&self->nl, KIPT_A_SESSION_PRINT_BRANCHES, 0));
	EXPECT_EQ(0, kipt_nl_u32(&self->nl, KIPT_A_SESSION_UID, 1));
	ctl = kipt_nl_u64(&self->nl, KIPT_A_SESSION_CTL, 0);
	EXPECT_EQ(CTL_OS | CTL_BRANCHEN | CTL_TSCEN,
		  ctl & (CTL_BASIC | CTL_TSCEN));
	EXPECT_EQ(KIPT_STATE_RUNNING,
		  kipt_cpu_u64(&self->nl, 1, 0, KIPT_A_CPU_STATE));
	/* It is removed while it traces. */
	kipt_nl_close(&self->nl);
	EXPECT_EQ(0, machine_unload());
	EXPECT_TRUE(machine_rtit_ctl(0, &ctl) && !(ctl & 1));
}

TEST_F_TIMEOUT(load, arms_as_the_parameters_say, 60)
{
	bool offline = !knob_set(CPU1_ONLINE, "0");

	ASSERT_EQ(1, load(&self->nl, "arm=1 arm_cpus=0-1 arm_size=128K arm_all=1 arm_print=7"));
	EXPECT_STREQ("0-1", kipt_nl_string(&self->nl, KIPT_A_SESSION_CPUS));
	EXPECT_EQ(128ULL << 10,
		  kipt_nl_u64(&self->nl, KIPT_A_SESSION_SIZE, 0));
	EXPECT_EQ(7, kipt_nl_u32(&self->nl, KIPT_A_SESSION_PRINT_BRANCHES, 0));
	EXPECT_EQ(CTL_BASIC, CTL_BASIC &
		  kipt_nl_u64(&self->nl, KIPT_A_SESSION_CTL, 0));
	EXPECT_EQ(offline ? KIPT_STATE_STOPPED : KIPT_STATE_RUNNING,
		  kipt_cpu_u64(&self->nl, 1, 1, KIPT_A_CPU_STATE));
	kipt_nl_close(&self->nl);
}

/* It is removed while programs die that it would keep. */
TEST_F_TIMEOUT(load, keeps_programs_from_the_begin, 120)
{
	unsigned int loads = unless_short(10, 4), i;
	const struct rlimit none = { 0, 0 };
	pid_t child;

	setrlimit(RLIMIT_CORE, &none);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			child_is_killed();
	}
	for (i = 0; i < loads; i++) {
		ASSERT_EQ(1, load(&self->nl, "arm=1 arm_size=64K arm_user=1"));
		EXPECT_EQ(ARMED_USER,
			  kipt_nl_u32(&self->nl, KIPT_A_SESSION_FLAGS, 0));
		EXPECT_EQ(CTL_BASIC, CTL_BASIC &
			  kipt_nl_u64(&self->nl, KIPT_A_SESSION_CTL, 0));
		wait_ms(20 * i);
		kipt_nl_close(&self->nl);
		ASSERT_EQ(0, machine_unload());
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST_F_TIMEOUT(load, loads_also_if_it_cannot_arm, 60)
{
	static const char *const bad[] = {
		"arm=1 arm_cpus=x", "arm=1 arm_cpus=4000", "arm=1 arm_size=x",
		"arm=1 arm_size=96K", "arm=1 arm_size=1", "arm=0",
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		EXPECT_EQ(0, load(&self->nl, bad[i])) TH_LOG("%s", bad[i]);
		EXPECT_EQ(0, kipt_session_count(&self->nl));
		kipt_nl_close(&self->nl);
		EXPECT_EQ(0, machine_unload());
	}
}

#include "kipt_main.h"
