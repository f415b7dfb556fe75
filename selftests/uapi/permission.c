// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may trace: CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace,
 * and the initial network namespace. Runs on a machine with PT and the module
 * loaded; skips elsewhere.
 */
#include <linux/capability.h>
#include <linux/kipt_raw.h>

#include "kipt_test.h"

#define CANNOT_RUN() kipt_missing()

#define NOT_SET_UP	250

/* Keep only one capability; @cap < 0: none. */
static bool keep_only(int cap)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	if (cap >= 0) {
		data[cap / 32].effective = 1U << (cap % 32);
		data[cap / 32].permitted = 1U << (cap % 32);
	}
	return syscall(SYS_capset, &header, data) == 0;
}

/* A session that is started, stopped and deleted; the first errno. */
static int use_session(void)
{
	static struct kipt_nl nl;
	struct kipt_want want = {
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
	};
	int id, ret = kipt_nl_open(&nl);

	if (ret)
		return -ret;
	id = kipt_session_new(&nl, &want);
	if (id < 0)
		return -id;
	ret = kipt_session_start(&nl, id);
	if (!ret)
		ret = kipt_session_stop(&nl, id);
	if (!ret)
		ret = kipt_session_del(&nl, id);
	return -ret;
}

static int use_with_capability(void *arg)
{
	return keep_only(*(int *)arg) ? use_session() : NOT_SET_UP;
}

static int use_as_nobody(void *arg)
{
	(void)arg;
	return setresuid(65534, 65534, 65534) ? NOT_SET_UP : use_session();
}

/* Root of a user namespace of its own has every capability, but there. */
static int use_in_user_namespace(void *arg)
{
	(void)arg;
	return unshare(CLONE_NEWUSER) ? NOT_SET_UP : use_session();
}

static int use_in_net_namespace(void *arg)
{
	(void)arg;
	return unshare(CLONE_NEWNET) ? NOT_SET_UP : use_session();
}

/* A request that is wrong too: permission is looked at first, unless netlink
 * itself refuses.
 */
static int malformed_without_capability(void *arg)
{
	static struct kipt_nl nl;
	struct kipt_want want = { .cpus = "4095", .size = SIZE_MIN };

	(void)arg;
	if (!keep_only(-1) || kipt_nl_open(&nl))
		return NOT_SET_UP;
	return -kipt_session_new(&nl, &want);
}

static int other_commands_without_capability(void *arg)
{
	static struct kipt_nl nl;
	int id = *(int *)arg;

	if (!keep_only(-1) || kipt_nl_open(&nl))
		return NOT_SET_UP;
	if (kipt_session_start(&nl, id) != -EPERM)
		return 1;
	if (kipt_session_stop(&nl, id) != -EPERM)
		return 2;
	if (kipt_session_del(&nl, id) != -EPERM)
		return 3;
	if (kipt_session_get(&nl, id) != -EPERM)
		return 4;
	if (kipt_fetch(&nl, id, KIPT_OUTPUT_BRANCHES, NULL, NULL) != -EPERM)
		return 5;
	if (kipt_session_cpu(&nl, id, 0) != -EPERM)
		return 6;
	if (kipt_nl_join(&nl) != -EPERM)
		return 7;
	if (kipt_session_count(&nl) != -EPERM)
		return 8;
	return 0;
}

static int open_device_with_capability(void *arg)
{
	if (!keep_only(*(int *)arg))
		return NOT_SET_UP;
	return open("/dev/kipt", O_RDONLY) < 0 ? errno : 0;
}

TEST_F(kipt, perfmon_is_enough)
{
	int cap = CAP_PERFMON;

	EXPECT_EQ(0, in_child(use_with_capability, &cap));
}

TEST_F(kipt, sys_admin_is_enough)
{
	int cap = CAP_SYS_ADMIN;

	EXPECT_EQ(0, in_child(use_with_capability, &cap));
}

TEST_F(kipt, no_capability_is_refused)
{
	int cap = -1;

	EXPECT_EQ(EPERM, in_child(use_with_capability, &cap));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

TEST_F(kipt, net_admin_is_not_enough)
{
	int cap = CAP_NET_ADMIN;

	EXPECT_EQ(EPERM, in_child(use_with_capability, &cap));
}

TEST_F(kipt, nobody_is_refused)
{
	EXPECT_EQ(EPERM, in_child(use_as_nobody, NULL));
}

TEST_F(kipt, root_of_a_user_namespace_is_refused)
{
	int ret = in_child(use_in_user_namespace, NULL);

	if (ret == NOT_SET_UP)
		SKIP(return, "no user namespaces");
	EXPECT_EQ(EPERM, ret);
}

TEST_F(kipt, other_network_namespace_has_no_family)
{
	int ret = in_child(use_in_net_namespace, NULL);

	if (ret == NOT_SET_UP)
		SKIP(return, "no network namespaces");
	EXPECT_EQ(ENOENT, ret);
}

TEST_F(kipt, permission_is_looked_at_first)
{
	EXPECT_EQ(EPERM, in_child(malformed_without_capability, NULL));
}

TEST_F(kipt, every_command_needs_a_capability)
{
	int id = kipt_session_new(&self->nl, &self->want);

	ASSERT_LT(0, id);
	EXPECT_EQ(0, in_child(other_commands_without_capability, &id));
	EXPECT_EQ(KIPT_STATE_NEW, kipt_session_state(&self->nl, id));
}

TEST_F(kipt, device_needs_a_capability)
{
	int none = -1, perfmon = CAP_PERFMON;

	EXPECT_EQ(EPERM, in_child(open_device_with_capability, &none));
	EXPECT_EQ(0, in_child(open_device_with_capability, &perfmon));
}

#include "kipt_main.h"
