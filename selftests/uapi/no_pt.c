// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module on a machine without PT: it loads, says so, and refuses every
 * session. Runs with the module loaded on a machine without PT; skips
 * elsewhere.
 */
#include "kipt_test.h"

FIXTURE(no_pt)
{
	struct kipt_nl nl;
};

FIXTURE_SETUP(no_pt)
{
	SKIP_IF(kipt_cpu_has_pt() ? "this CPU has Intel PT" : NULL);
	NEED(kipt_module_missing());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
}

FIXTURE_TEARDOWN(no_pt)
{
	kipt_nl_close(&self->nl);
}

TEST_F(no_pt, info_shows_no_capability)
{
	size_t len;

	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_STREQ("", kipt_nl_string(&self->nl, KIPT_A_INFO_CPUS));
	EXPECT_EQ(NULL, kipt_nl_attr(&self->nl, KIPT_A_INFO_CAP, &len));
}

TEST_F(no_pt, session_is_refused)
{
	struct kipt_want want = {
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};

	EXPECT_EQ(-ENODEV, kipt_session_new(&self->nl, &want));
	EXPECT_TRUE(says(&self->nl, "Processor Trace") ||
		    says(&self->nl, "PT")) {
		TH_LOG("sentence: '%s'", self->nl.why);
	}
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

#include "kipt_main.h"
