// SPDX-License-Identifier: GPL-2.0-only
/*
 * What get-info says, held against CPUID and sysfs. Runs on a machine with
 * PT and the module loaded; skips elsewhere.
 */
#include <cpuid.h>
#include <stdio.h>

#include "kipt_test.h"

#define CANNOT_RUN() kipt_missing()

/* Bits the module sets itself, so that no session may: TraceEn, FabricEn,
 * ToPA.
 */
#define CTL_MODULES	((1ULL << 0) | (1ULL << 6) | (1ULL << 8))

static int get_info(struct kipt_nl *nl)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_GET_INFO);
	return kipt_nl_call(nl, &msg);
}

static uint64_t cap(const struct kipt_nl *nl, uint16_t type)
{
	uint64_t wide = 0;
	uint32_t narrow;
	size_t len;
	const void *data = kipt_nl_nested(nl, KIPT_A_SESSION_CAPS, type, &len);

	if (data && len == sizeof(wide)) {
		memcpy(&wide, data, sizeof(wide));
	} else if (data && len == sizeof(narrow)) {
		memcpy(&narrow, data, sizeof(narrow));
		wide = narrow;
	}
	return wide;
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

TEST_F(kipt, versions_and_limits_are_told)
{
	ASSERT_EQ(0, get_info(&self->nl));
	ASSERT_NE(NULL, kipt_nl_string(&self->nl, KIPT_A_SESSION_VERSION));
	EXPECT_LT(0, strlen(kipt_nl_string(&self->nl, KIPT_A_SESSION_VERSION)));
	EXPECT_LE(1, kipt_nl_u32(&self->nl, KIPT_A_SESSION_ABI, 0));
	EXPECT_EQ(1, kipt_nl_u32(&self->nl, KIPT_A_SESSION_RECORD_VERSION, 0));
	EXPECT_EQ(1ULL << 16, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SIZE_MIN, 0));
	EXPECT_EQ(1ULL << 30, kipt_nl_u64(&self->nl, KIPT_A_SESSION_SIZE_MAX, 0));
	EXPECT_LE(1, kipt_nl_u32(&self->nl, KIPT_A_SESSION_MAX_MMS, 0));
}

TEST_F(kipt, capabilities_equal_cpuid)
{
	unsigned int eax, ebx, ecx, edx;

	ASSERT_EQ(0, get_info(&self->nl));
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

	ASSERT_EQ(0, get_info(&self->nl));
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

TEST_F(kipt, online_equals_sysfs)
{
	char online[256];

	ASSERT_TRUE(read_line("/sys/devices/system/cpu/online", online,
			      sizeof(online)));
	ASSERT_EQ(0, get_info(&self->nl));
	ASSERT_NE(NULL, kipt_nl_string(&self->nl, KIPT_A_SESSION_ONLINE));
	EXPECT_STREQ(online, kipt_nl_string(&self->nl, KIPT_A_SESSION_ONLINE));
}

TEST_F(kipt, busy_names_held_cpus)
{
	int id;

	ASSERT_EQ(0, get_info(&self->nl));
	EXPECT_STREQ("", kipt_nl_string(&self->nl, KIPT_A_SESSION_BUSY));
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, get_info(&self->nl));
	EXPECT_STREQ("0", kipt_nl_string(&self->nl, KIPT_A_SESSION_BUSY));
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	ASSERT_EQ(0, get_info(&self->nl));
	EXPECT_STREQ("", kipt_nl_string(&self->nl, KIPT_A_SESSION_BUSY));
}

static int get_info_as_nobody(void *arg)
{
	static struct kipt_nl nl;

	(void)arg;
	if (setresuid(65534, 65534, 65534) || kipt_nl_open(&nl))
		return 250;
	return -get_info(&nl);
}

TEST_F(kipt, info_is_open_to_everyone)
{
	EXPECT_EQ(0, in_child(get_info_as_nobody, NULL));
}

#include "kipt_main.h"
