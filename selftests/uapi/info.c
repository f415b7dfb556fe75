// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares what get-info says with CPUID and sysfs. Runs on a machine with PT and
 * the module loaded; skips elsewhere.
 */
#include <cpuid.h>
#include <linux/kipt_record.h>
#include <sched.h>
#include <stdio.h>

#include "kipt_test.h"
#include "machine_state.h"

/* Bits the module sets itself, so that no session may: TraceEn, FabricEn,
 * ToPA.
 */
#define CTL_MODULES	((1ULL << 0) | (1ULL << 6) | (1ULL << 8))

static uint64_t cap(const struct kipt_nl *nl, uint16_t type)
{
	return kipt_nl_inner(nl, KIPT_A_INFO_CAP, type, 0);
}

static uint64_t limit(const struct kipt_nl *nl, uint16_t type)
{
	return kipt_nl_inner(nl, KIPT_A_INFO_LIMITS, type, 0);
}

static bool read_line(const char *path, char *buf, int size)
{
	FILE *f = fopen(path, "r");
	bool ok = f && fgets(buf, size, f);

	if (f)
		fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = 0;
	return ok;
}

TEST_F(kipt, versions_and_limits_are_reported)
{
	ASSERT_EQ(0, kipt_info(&self->nl));
	ASSERT_NE(NULL, kipt_nl_string(&self->nl, KIPT_A_INFO_VERSION));
	EXPECT_LT(0, strlen(kipt_nl_string(&self->nl, KIPT_A_INFO_VERSION)));
	EXPECT_EQ(3, kipt_nl_u32(&self->nl, KIPT_A_INFO_ABI, 0));
	EXPECT_EQ(KIPT_RECORD_VERSION, kipt_nl_u32(&self->nl, KIPT_A_INFO_RECORD_VERSION, 0));
	EXPECT_EQ(1ULL << 16, limit(&self->nl, KIPT_A_LIMITS_SIZE_MIN));
	EXPECT_EQ(1ULL << 30, limit(&self->nl, KIPT_A_LIMITS_SIZE_MAX));
}

/* What is bounded can be seen, and is what the module was loaded with. */
TEST_F(kipt, limits_are_the_parameters_of_the_module)
{
	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_LT(0, limit(&self->nl, KIPT_A_LIMITS_MEMORY));
	if (machine_parameter("memory_limit"))
		EXPECT_EQ(machine_parameter("memory_limit") << 20,
			  limit(&self->nl, KIPT_A_LIMITS_MEMORY));
	EXPECT_EQ(machine_parameter("spaces"),
		  limit(&self->nl, KIPT_A_LIMITS_SPACES));
	EXPECT_EQ(machine_parameter("switches"),
		  limit(&self->nl, KIPT_A_LIMITS_SWITCHES));
	EXPECT_EQ(machine_parameter("patches"),
		  limit(&self->nl, KIPT_A_LIMITS_PATCHES));
	EXPECT_EQ(machine_parameter("fetch_memory") << 10,
		  limit(&self->nl, KIPT_A_LIMITS_ARENA));
	EXPECT_EQ(machine_parameter("processes"),
		  limit(&self->nl, KIPT_A_LIMITS_PROCESSES));
}

TEST_F(kipt, memory_in_use_is_reported)
{
	int id;

	ASSERT_TRUE(memory_is_free(&self->nl));
	self->want.size = 4 * SIZE_USUAL;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	EXPECT_LE(4 * SIZE_USUAL, kipt_memory(&self->nl));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	EXPECT_TRUE(memory_is_free(&self->nl));
}

/* Of the kind of CPU that get-info names first: cores may differ. */
TEST_F(kipt, capabilities_equal_cpuid)
{
	unsigned int eax, ebx, ecx, edx;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(first), &first));
	ASSERT_EQ(0, kipt_info(&self->nl));
	__cpuid_count(0x14, 0, eax, ebx, ecx, edx);
	EXPECT_EQ(eax, cap(&self->nl, KIPT_A_CAP_LEAF0_EAX));
	EXPECT_EQ(ebx, cap(&self->nl, KIPT_A_CAP_LEAF0_EBX));
	EXPECT_EQ(ecx, cap(&self->nl, KIPT_A_CAP_LEAF0_ECX));
	if (eax < 1)
		return;
	__cpuid_count(0x14, 1, eax, ebx, ecx, edx);
	EXPECT_EQ(eax, cap(&self->nl, KIPT_A_CAP_LEAF1_EAX));
	EXPECT_EQ(ebx, cap(&self->nl, KIPT_A_CAP_LEAF1_EBX));
}

/* Intel SDM Vol. 3C, "Intel Processor Trace Enumeration". */
TEST_F(kipt, allowed_fields_follow_capabilities)
{
	static const struct {
		unsigned int ebx_bit;
		uint64_t fields;
	} rules[] = {
		{ 1, 1ULL << 1 },		/* CYCEn */
		{ 1, 0xfULL << 24 },		/* PSBFreq */
		{ 3, 1ULL << 9 },		/* MTCEn */
		{ 4, CTL_PTWEN | CTL_FUPONPTW },
		{ 5, CTL_PWREVTEN },
		{ 7, 1ULL << 31 },		/* EventEn */
		{ 8, 1ULL << 55 },		/* DisTNT */
	};
	uint64_t allowed, ebx;
	size_t i;

	ASSERT_EQ(0, kipt_info(&self->nl));
	allowed = cap(&self->nl, KIPT_A_CAP_CTL_ALLOWED);
	ebx = cap(&self->nl, KIPT_A_CAP_LEAF0_EBX);
	EXPECT_EQ(CTL_BASIC | CTL_TSCEN | CTL_DISRETC,
		  allowed & (CTL_BASIC | CTL_TSCEN | CTL_DISRETC));
	EXPECT_EQ(0, allowed & CTL_MODULES);
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		bool has = ebx & (1ULL << rules[i].ebx_bit);

		EXPECT_EQ(has ? rules[i].fields : 0,
			  allowed & rules[i].fields) {
			TH_LOG("CPUID.14H:EBX[%u], fields %llx",
			       rules[i].ebx_bit,
			       (unsigned long long)rules[i].fields);
		}
	}
}

TEST_F(kipt, cpus_equal_sysfs)
{
	char online[256];

	ASSERT_TRUE(read_line("/sys/devices/system/cpu/online", online,
			      sizeof(online)));
	ASSERT_EQ(0, kipt_info(&self->nl));
	ASSERT_NE(NULL, kipt_nl_string(&self->nl, KIPT_A_INFO_CPUS));
	EXPECT_STREQ(online, kipt_nl_string(&self->nl, KIPT_A_INFO_CPUS));
}

TEST_F(kipt, busy_names_held_cpus)
{
	int id;

	/* A session whose socket was closed before lets go of its CPUs soon. */
	ASSERT_TRUE(memory_is_free(&self->nl));
	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_STREQ("", kipt_nl_string(&self->nl, KIPT_A_INFO_BUSY));
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_STREQ("0", kipt_nl_string(&self->nl, KIPT_A_INFO_BUSY));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_STREQ("", kipt_nl_string(&self->nl, KIPT_A_INFO_BUSY));
}

/* Return: 0 if get-info says all that everyone may know, and nothing else. */
static int info_as_nobody(void *arg)
{
	static struct kipt_nl nl;
	size_t len;

	(void)arg;
	if (setresuid(65534, 65534, 65534) || kipt_nl_open(&nl))
		return 250;
	if (kipt_info(&nl))
		return 1;
	if (!kipt_nl_string(&nl, KIPT_A_INFO_CPUS) ||
	    !kipt_nl_attr(&nl, KIPT_A_INFO_CAP, &len) ||
	    !kipt_nl_attr(&nl, KIPT_A_INFO_LIMITS, &len))
		return 2;
	if (kipt_nl_attr(&nl, KIPT_A_INFO_BUSY, &len) ||
	    kipt_nl_attr(&nl, KIPT_A_INFO_MEMORY, &len) ||
	    kipt_nl_attr(&nl, KIPT_A_INFO_LATCH, &len))
		return 3;
	return 0;
}

TEST_F(kipt, info_shows_everyone_nothing_of_what_is_traced)
{
	ASSERT_LT(0, kipt_session_new(&self->nl, &self->want));
	EXPECT_EQ(0, in_child(info_as_nobody, NULL));
}

TEST_F(kipt, capabilities_name_their_cpus)
{
	const char *cpus;
	size_t len;

	ASSERT_EQ(0, kipt_info(&self->nl));
	cpus = kipt_nl_nested(&self->nl, KIPT_A_INFO_CAP, KIPT_A_CAP_CPUS,
			      &len);
	ASSERT_NE(NULL, cpus);
	EXPECT_EQ('0', cpus[0]);
}

#include "kipt_main.h"
