// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests for a session that must be refused: the errno, a sentence that
 * names the thing, and everything as it was. Runs on a machine with PT and
 * the module loaded; skips elsewhere.
 */
#include <linux/perf_event.h>
#include <stdio.h>

#include "kipt_test.h"

FIXTURE(refusal)
{
	struct kipt_nl nl;
	int sessions;
};

/**
 * struct wrong - what is wrong with a request, and what is said of it
 * @attr: the attribute; all others are good
 * @text: its text, or NULL: it is a number
 * @value: its number
 * @len: bytes of the number
 * @leave_out: it is not there at all
 * @error: errno of the refusal
 * @says: what its sentence must contain; NULL: netlink itself refuses, by the
 *	policy, and says at which attribute
 */
struct wrong {
	uint16_t attr;
	const char *text;
	uint64_t value;
	size_t len;
	bool leave_out;
	int error;
	const char *says;
};

FIXTURE_VARIANT(refusal)
{
	struct wrong wrong;
};

FIXTURE_SETUP(refusal)
{
	NEED(kipt_missing());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->sessions = kipt_session_count(&self->nl);
	ASSERT_EQ(0, self->sessions);
}

FIXTURE_TEARDOWN(refusal)
{
	kipt_nl_close(&self->nl);
}

#define REFUSE(name, ...)						\
	FIXTURE_VARIANT_ADD(refusal, name) { .wrong = { __VA_ARGS__ } }

#define CPUS(list)	.attr = KIPT_A_SESSION_CPUS, .text = list
#define NUMBER(a, l, v)	.attr = KIPT_A_SESSION_##a, .len = l, .value = v

REFUSE(unknown_cpu, CPUS("4095"), .error = ENXIO, .says = "4095");
REFUSE(unknown_cpu_beside_known, CPUS("0,4095"), .error = ENXIO, .says = "4095");
REFUSE(cpu_list_empty, CPUS(""), .error = EINVAL, .says = "cpus");
REFUSE(cpu_list_malformed, CPUS("0-"), .error = EINVAL, .says = "0-3,6");
REFUSE(cpu_list_words, CPUS("all of them"), .error = EINVAL, .says = "0-3,6");
REFUSE(cpus_left_out, CPUS(NULL), .leave_out = true, .error = EINVAL, .says = "cpus");
REFUSE(size_zero, NUMBER(SIZE, 8, 0), .error = ERANGE);
REFUSE(size_too_small, NUMBER(SIZE, 8, 32768), .error = ERANGE);
REFUSE(size_too_large, NUMBER(SIZE, 8, 1ULL << 31), .error = ERANGE);
REFUSE(size_huge, NUMBER(SIZE, 8, 1ULL << 63), .error = ERANGE);
REFUSE(size_no_power_of_two, NUMBER(SIZE, 8, 100000), .error = EINVAL, .says = "power of two");
REFUSE(size_left_out, NUMBER(SIZE, 8, 0), .leave_out = true, .error = EINVAL, .says = "size");
REFUSE(size_too_narrow, NUMBER(SIZE, 4, 65536), .error = EINVAL);
REFUSE(mode_unknown, NUMBER(MODE, 4, 3), .error = ERANGE);
REFUSE(mode_zero, NUMBER(MODE, 4, 0), .error = ERANGE);
REFUSE(ctl_reserved_bit, NUMBER(CTL, 8, CTL_BASIC | 1ULL << 63), .error = EINVAL, .says = "ctl");
REFUSE(ctl_trace_en, NUMBER(CTL, 8, CTL_BASIC | 1), .error = EINVAL, .says = "TraceEn");
REFUSE(ctl_topa, NUMBER(CTL, 8, CTL_BASIC | 1ULL << 8), .error = EINVAL, .says = "ToPA");
REFUSE(ctl_fabric_en, NUMBER(CTL, 8, CTL_BASIC | 1ULL << 6), .error = EINVAL, .says = "FabricEn");
REFUSE(flag_unknown, NUMBER(FLAGS, 4, 1U << 31), .error = EINVAL);
REFUSE(ctl_cr3_filter, NUMBER(CTL, 8, CTL_BASIC | 1ULL << 7), .error = EINVAL, .says = "CR3Filter");
REFUSE(ctl_addr0_cfg, NUMBER(CTL, 8, CTL_BASIC | 1ULL << 32), .error = EINVAL, .says = "ADDRn_CFG");
REFUSE(flag_without_pid, NUMBER(FLAGS, 4, KIPT_SESSION_FLAGS_FOLLOW_FORK), .error = EINVAL, .says = "pid");
REFUSE(pid_zero, NUMBER(PID, 4, 0), .error = ERANGE);
REFUSE(pid_huge, NUMBER(PID, 4, 1U << 31), .error = ERANGE);
REFUSE(pid_of_nobody, NUMBER(PID, 4, 0x7ffffffe), .error = ESRCH, .says = "process");
REFUSE(attribute_of_the_reply, NUMBER(STATE, 4, KIPT_STATE_NEW), .error = EINVAL);
REFUSE(attribute_unknown, .attr = 200, .len = 4, .value = 1, .error = EINVAL);

/* The attributes of a good request, but for the one the variant is about. */
static void build(struct kipt_msg *msg, const struct wrong *wrong)
{
	uint16_t attr = wrong->attr;

	kipt_msg_begin(msg, KIPT_CMD_SESSION_NEW);
	if (attr != KIPT_A_SESSION_CPUS)
		kipt_msg_string(msg, KIPT_A_SESSION_CPUS, "0");
	if (attr != KIPT_A_SESSION_MODE)
		kipt_msg_u32(msg, KIPT_A_SESSION_MODE, KIPT_MODE_RING);
	if (attr != KIPT_A_SESSION_SIZE)
		kipt_msg_u64(msg, KIPT_A_SESSION_SIZE, SIZE_USUAL);
	if (attr != KIPT_A_SESSION_CTL)
		kipt_msg_u64(msg, KIPT_A_SESSION_CTL, CTL_BASIC);
	if (wrong->leave_out)
		return;
	if (wrong->text)
		kipt_msg_string(msg, attr, wrong->text);
	else
		kipt_msg_put(msg, attr, &wrong->value, wrong->len);
}

/* A good session can be made: nothing was taken and kept. */
static bool still_works(struct kipt_nl *nl)
{
	struct kipt_want want = {
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	int id = kipt_session_new(nl, &want);

	return id > 0 && kipt_session_del(nl, id) == 0 &&
	       kipt_session_count(nl) == 0;
}

TEST_F(refusal, is_explained_and_changes_nothing)
{
	const struct wrong *wrong = &variant->wrong;
	struct kipt_msg msg;

	build(&msg, wrong);
	EXPECT_EQ(-wrong->error, kipt_nl_dump(&self->nl, &msg, NULL, NULL));
	if (!wrong->says)
		EXPECT_LT(0, self->nl.why_offset);
	if (wrong->says) {
		EXPECT_TRUE(says(&self->nl, wrong->says)) {
			TH_LOG("sentence: '%s', wanted '%s' in it",
			       self->nl.why, wrong->says);
		}
	}
	EXPECT_LT(0, strlen(self->nl.why));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	EXPECT_TRUE(still_works(&self->nl));
}

/* The control of the tests above: the same request with nothing wrong. */
TEST_F(kipt, good_request_is_granted)
{
	int id = kipt_session_new(&self->nl, &self->want);

	EXPECT_LT(0, id) {
		TH_LOG("refused: %s", self->nl.why);
	}
	EXPECT_EQ(0, kipt_session_del(&self->nl, id));
}

TEST_F(kipt, mode_left_out_is_ring)
{
	int id;

	self->want.mode = 0;
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_get(&self->nl, id));
	EXPECT_EQ(KIPT_MODE_RING,
		  kipt_nl_u32(&self->nl, KIPT_A_SESSION_MODE, 0));
}

static uint64_t allowed_ctl(struct kipt_nl *nl)
{
	if (kipt_info(nl))
		return 0;
	return kipt_nl_inner(nl, KIPT_A_INFO_CAP, KIPT_A_CAP_CTL_ALLOWED, 0);
}

TEST_F(kipt, missing_capability_is_named)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} fields[] = {
		{ 1ULL << 31, "EventEn" },
		{ 1ULL << 55, "DisTNT" },
		{ CTL_PWREVTEN, "PwrEvtEn" },
		{ CTL_PTWEN, "PTWEn" },
		{ 1ULL << 1, "CYCEn" },
		{ 1ULL << 9, "MTCEn" },
	};
	uint64_t allowed = allowed_ctl(&self->nl);
	unsigned int missing = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (allowed & fields[i].bit)
			continue;
		missing++;
		self->want.ctl = CTL_BASIC | fields[i].bit;
		EXPECT_EQ(-EOPNOTSUPP,
			  kipt_session_new(&self->nl, &self->want));
		EXPECT_TRUE(says(&self->nl, fields[i].name)) {
			TH_LOG("sentence: '%s', wanted '%s' in it",
			       self->nl.why, fields[i].name);
		}
		EXPECT_EQ(0, kipt_session_count(&self->nl));
	}
	if (!missing)
		SKIP(return, "this CPU has every optional field");
}

/* Bitmap of the encodings of a field; where there are none, 0 is one. */
static uint32_t legal_encodings(struct kipt_nl *nl, uint16_t leaf,
				unsigned int shift)
{
	uint64_t eax0 = kipt_nl_inner(nl, KIPT_A_INFO_CAP,
				      KIPT_A_CAP_LEAF0_EAX, 0);
	uint64_t ebx0 = kipt_nl_inner(nl, KIPT_A_INFO_CAP,
				      KIPT_A_CAP_LEAF0_EBX, 0);
	uint64_t eax1 = kipt_nl_inner(nl, KIPT_A_INFO_CAP,
				      KIPT_A_CAP_LEAF1_EAX, 0);
	uint64_t ebx1 = kipt_nl_inner(nl, KIPT_A_INFO_CAP,
				      KIPT_A_CAP_LEAF1_EBX, 0);
	uint64_t word = leaf == KIPT_A_CAP_LEAF1_EAX ? eax1 : ebx1;

	if (eax1 == eax0 && ebx1 == ebx0)
		word = 0;
	return (word >> shift & 0xffff) ?: 1;
}

/* A session that differs in one field from what is sure to be granted. */
static int start_with(struct kipt_nl *nl, struct kipt_want *want,
		      uint64_t others, uint64_t field)
{
	int id, err;

	want->ctl = CTL_BASIC | others | field;
	id = kipt_session_new(nl, want);
	if (id < 0)
		return id;
	err = kipt_session_start(nl, id);
	kipt_session_del(nl, id);
	return err;
}

/*
 * Every encoding a CPU names can be started with, every other is refused, 0 as
 * well: it is a value like the others to the CPU.
 */
TEST_F(kipt, encodings_are_those_the_cpu_names)
{
	static const struct {
		uint64_t enable;
		const char *name;
		uint16_t leaf;
		uint8_t from;
		uint8_t shift;
	} fields[] = {
		{ 1ULL << 9, "MTCFreq", KIPT_A_CAP_LEAF1_EAX, 16, 14 },
		{ 1ULL << 1, "CycThresh", KIPT_A_CAP_LEAF1_EBX, 0, 19 },
		{ 1ULL << 1, "PSBFreq", KIPT_A_CAP_LEAF1_EBX, 16, 24 },
	};
	uint64_t allowed = allowed_ctl(&self->nl), least[3] = { 0 }, others;
	uint32_t legal[3];
	size_t i, value;
	int err;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		legal[i] = legal_encodings(&self->nl, fields[i].leaf,
					   fields[i].from);
		if (allowed & fields[i].enable)
			least[i] = (uint64_t)__builtin_ctz(legal[i])
				   << fields[i].shift;
	}
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!(allowed & fields[i].enable))
			continue;
		others = (least[0] | least[1] | least[2]) & ~least[i];
		for (value = 0; value < 16; value++) {
			err = start_with(&self->nl, &self->want, others,
					 (uint64_t)value << fields[i].shift);
			EXPECT_EQ(legal[i] >> value & 1 ? 0 : -EOPNOTSUPP, err) {
				TH_LOG("%s %zu: '%s'", fields[i].name, value,
				       self->nl.why);
			}
			if (err)
				EXPECT_TRUE(says(&self->nl, fields[i].name));
		}
	}
	if (!(allowed & (fields[0].enable | fields[1].enable)))
		SKIP(return, "this CPU has no field with encodings");
}

TEST_F(kipt, offline_cpu_is_refused)
{
	TAKES_CPU1();
	ASSERT_EQ(0, knob_set(CPU1_ONLINE, "0"));
	self->want.cpus = "1";
	EXPECT_EQ(-ENXIO, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "offline") && says(&self->nl, "1")) {
		TH_LOG("sentence: '%s'", self->nl.why);
	}
	ASSERT_EQ(0, knob_back());
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

static int intel_pt_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/intel_pt/type", "r");
	int type = -1;

	if (f) {
		if (fscanf(f, "%d", &type) != 1)
			type = -1;
		fclose(f);
	}
	return type;
}

static int open_perf(int type, int cpu)
{
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.size = sizeof(attr),
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

TEST_F(kipt, cpu_held_by_perf_is_refused)
{
	int type = intel_pt_type(), fd, id;

	if (type < 0)
		SKIP(return, "the kernel has no intel_pt PMU");
	fd = open_perf(type, 0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EBUSY, kipt_session_new(&self->nl, &self->want));
	EXPECT_TRUE(says(&self->nl, "perf")) {
		TH_LOG("sentence: '%s'", self->nl.why);
	}
	EXPECT_EQ(0, kipt_session_count(&self->nl));
	close(fd);
	/* perf gives the CPU back some time after the close. */
	for (id = -EBUSY, fd = 0; id == -EBUSY && fd < 500 * slowness(); fd++) {
		id = kipt_session_new(&self->nl, &self->want);
		if (id < 0)
			wait_ms(20);
	}
	EXPECT_LT(0, id);
}

TEST_F(kipt, perf_is_refused_while_a_session_holds_the_cpu)
{
	int type = intel_pt_type(), fd, id;

	if (type < 0)
		SKIP(return, "the kernel has no intel_pt PMU");
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	fd = open_perf(type, 0);
	EXPECT_EQ(-1, fd);
	EXPECT_EQ(EBUSY, errno);
	ASSERT_EQ(0, kipt_session_del(&self->nl, id));
	fd = open_perf(type, 0);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F(kipt, unknown_command_is_refused)
{
	struct kipt_msg msg;

	kipt_msg_begin(&msg, 200);
	EXPECT_EQ(-EOPNOTSUPP, kipt_nl_call(&self->nl, &msg));
}

TEST_F(kipt, commands_without_id_are_refused)
{
	static const uint8_t dumps[] = {
		KIPT_CMD_SESSION_START, KIPT_CMD_SESSION_STOP,
		KIPT_CMD_SESSION_DEL, KIPT_CMD_FETCH,
	};
	struct kipt_msg msg;
	size_t i;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		kipt_msg_begin(&msg, dumps[i]);
		EXPECT_EQ(-EINVAL, kipt_nl_dump(&self->nl, &msg, NULL, NULL)) {
			TH_LOG("command %u", dumps[i]);
		}
		EXPECT_TRUE(says(&self->nl, "id"));
	}
	kipt_msg_begin(&msg, KIPT_CMD_SESSION_GET);
	EXPECT_EQ(-EINVAL, kipt_nl_call(&self->nl, &msg));
	EXPECT_TRUE(says(&self->nl, "id"));
}

/* What takes long is a dump and nothing else; what is short is none. */
TEST_F(kipt, commands_in_the_wrong_form_are_refused)
{
	static const uint8_t dumps[] = {
		KIPT_CMD_SESSION_NEW, KIPT_CMD_SESSION_START,
		KIPT_CMD_SESSION_STOP, KIPT_CMD_SESSION_DEL, KIPT_CMD_FETCH,
	};
	static const uint8_t dos[] = { KIPT_CMD_GET_INFO,
				       KIPT_CMD_SNAPSHOT_DEL };
	struct kipt_msg msg;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		kipt_msg_begin(&msg, dumps[i]);
		EXPECT_EQ(-EOPNOTSUPP, kipt_nl_call(&self->nl, &msg));
	}
	for (i = 0; i < ARRAY_SIZE(dos); i++) {
		kipt_msg_begin(&msg, dos[i]);
		EXPECT_EQ(-EOPNOTSUPP,
			  kipt_nl_dump(&self->nl, &msg, NULL, NULL));
	}
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

TEST_F(kipt, truncated_attribute_is_refused)
{
	struct nlattr attr = { .nla_len = 200, .nla_type = KIPT_A_SESSION_CPUS };
	struct kipt_msg msg;

	kipt_msg_begin(&msg, KIPT_CMD_SESSION_NEW);
	memcpy(msg.data + msg.len, &attr, sizeof(attr));
	msg.len += sizeof(attr);
	EXPECT_EQ(-EINVAL, kipt_nl_dump(&self->nl, &msg, NULL, NULL));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

#include "kipt_main.h"
