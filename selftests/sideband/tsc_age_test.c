// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events are close to each other, and which one follows another: at the ends of
 * what is allowed, between CPUs, and where the machine slept between them. User space.
 */
#include "../../kmod/shared/tsc_age.h"
#include "../decode/ktap.h"

#define SECOND	3000000000ULL
#define HOUR	(3600 * SECOND)
#define MOST	(10 * SECOND)

static struct ktap ktap;

static void check(const char *name, bool good)
{
	ktap_result(&ktap, good, "tsc_age_%s", name);
}

static bool is_near(u64 a, u64 b)
{
	return kipt_tsc_is_near(a, b, SECOND);
}

static bool follows(u64 later, u64 earlier)
{
	return kipt_tsc_follows(later, earlier, MOST, SECOND);
}

static void test_near(void)
{
	check("near_is_at_once", is_near(HOUR, HOUR) && is_near(0, 0));
	check("near_ends_after_the_ticks",
	      is_near(HOUR + SECOND - 1, HOUR) && !is_near(HOUR + SECOND, HOUR));
	check("near_ends_before_them",
	      is_near(HOUR - SECOND + 1, HOUR) && !is_near(HOUR - SECOND, HOUR));
	check("near_is_nothing_from_before_a_sleep",
	      !is_near(2 * SECOND, 5 * HOUR) && !is_near(0, ~0ULL - SECOND));
	check("near_is_nothing_hours_later", !is_near(5 * HOUR, 2 * SECOND));
}

static void test_follows(void)
{
	check("follows_at_once", follows(HOUR, HOUR) && follows(0, 0));
	check("follows_until_the_most",
	      follows(HOUR + MOST, HOUR) && !follows(HOUR + MOST + 1, HOUR));
	check("follows_as_another_cpu_says",
	      follows(HOUR - SECOND, HOUR) && !follows(HOUR - SECOND - 1, HOUR));
	check("follows_a_machine_that_has_just_begun", follows(1, 2) && follows(MOST, 0));
	check("follows_nothing_from_before_a_sleep",
	      !follows(2 * SECOND, 5 * HOUR) && !follows(HOUR, 5 * HOUR));
}

int main(void)
{
	ktap_start();
	test_near();
	test_follows();
	return ktap_end(&ktap);
}
