// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may trace: CAP_PERFMON or CAP_SYS_ADMIN in the initial user namespace,
 * and the initial network namespace. Runs on a machine with PT and the module
 * loaded; skips elsewhere.
 */
#include <linux/capability.h>
#include <linux/kipt_raw.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "kipt_test.h"

#define NOT_SET_UP	250
/* Two users that are not root. */
#define SOMEBODY	1000
#define SOMEBODY_ELSE	1001

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

/* Become a user who may trace and has no other right. */
static bool become(unsigned int uid)
{
	return !prctl(PR_SET_KEEPCAPS, 1) && !setresuid(uid, uid, uid) &&
	       keep_only(CAP_PERFMON);
}

static int attach_device(int id)
{
	struct kipt_raw_attach attach = { .session = (uint32_t)id, .cpu = 0 };
	int fd = open("/dev/kipt", O_RDONLY), ret;

	if (fd < 0)
		return -errno;
	ret = ioctl(fd, KIPT_RAW_ATTACH, &attach) ? -errno : 0;
	close(fd);
	return ret;
}

/**
 * struct act - what somebody is to try with a session
 * @id: the session, which is stopped and holds a trace
 * @uid: who tries; 0: root without any capability but CAP_PERFMON
 * @control: what start, stop and delete are to answer
 * @read: what fetch and the device are to answer
 */
struct act {
	int id;
	unsigned int uid;
	int control;
	int read;
};

static int try_to_read(struct kipt_nl *nl, const struct act *act)
{
	int ret = kipt_fetch(nl, act->id, KIPT_OUTPUT_BRANCHES, NULL, NULL);

	if (act->read ? ret != act->read : ret < 1)
		return 1;
	if (act->read && !nl->why[0])
		return 2;
	return attach_device(act->id) == act->read ? 0 : 3;
}

static int try_to_act(void *arg)
{
	static struct kipt_nl nl;
	const struct act *act = arg;
	int ret;

	if (!become(act->uid) || kipt_nl_open(&nl))
		return NOT_SET_UP;
	/* Everyone who may trace sees that the session exists. */
	if (kipt_session_state(&nl, act->id) != KIPT_STATE_STOPPED)
		return 10;
	ret = try_to_read(&nl, act);
	if (ret)
		return ret;
	if (kipt_session_start(&nl, act->id) != act->control)
		return 4;
	if (act->control && !nl.why[0])
		return 5;
	if (kipt_session_stop(&nl, act->id) != act->control)
		return 6;
	return kipt_session_del(&nl, act->id) == act->control ? 0 : 7;
}

static int make_trace(struct kipt_nl *nl, const struct kipt_want *want)
{
	int id = kipt_session_new(nl, want);

	if (id < 0)
		return id;
	pin_to(0);
	if (kipt_session_start(nl, id))
		return -1;
	work(50);
	return kipt_session_stop(nl, id) ? -1 : id;
}

static int make_detached(void *arg)
{
	static struct kipt_nl nl;
	struct kipt_want want = {
		.cpus = "0",
		.size = SIZE_MIN,
		.ctl = CTL_BASIC,
		.flags = KIPT_SESSION_FLAGS_DETACHED,
	};
	int id;

	if (!become(*(unsigned int *)arg) || kipt_nl_open(&nl))
		return NOT_SET_UP;
	id = make_trace(&nl, &want);
	return id > 0 ? 0 : 1;
}

static void keep_id(struct kipt_nl *nl, void *ctx)
{
	*(int *)ctx = (int)kipt_nl_u32(nl, KIPT_A_SESSION_ID, 0);
}

static int only_session(struct kipt_nl *nl)
{
	struct kipt_msg msg;
	int id = 0;

	kipt_msg_begin(&msg, KIPT_CMD_SESSION_GET);
	kipt_nl_dump(nl, &msg, keep_id, &id);
	return id;
}

TEST_F(kipt, session_of_another_socket_can_be_read_by_its_user_only)
{
	struct act same = { .control = -EPERM, .read = 0 };
	struct act other = { .uid = SOMEBODY, .control = -EPERM,
			     .read = -EPERM };

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	self->want.size = SIZE_MIN;
	same.id = make_trace(&self->nl, &self->want);
	ASSERT_LT(0, same.id);
	other.id = same.id;
	EXPECT_EQ(0, in_child(try_to_act, &same));
	EXPECT_EQ(0, in_child(try_to_act, &other));
	EXPECT_EQ(KIPT_STATE_STOPPED, kipt_session_state(&self->nl, same.id));
}

TEST_F(kipt, detached_session_is_its_makers)
{
	unsigned int maker = SOMEBODY;
	struct act other = { .uid = SOMEBODY_ELSE, .control = -EPERM,
			     .read = -EPERM };
	struct act same = { .uid = SOMEBODY, .control = 0, .read = 0 };

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_EQ(0, in_child(make_detached, &maker));
	other.id = same.id = only_session(&self->nl);
	ASSERT_LT(0, same.id);
	EXPECT_EQ(0, in_child(try_to_act, &other));
	EXPECT_EQ(0, in_child(try_to_act, &same));
	EXPECT_EQ(0, kipt_session_count(&self->nl));
}

TEST_F(kipt, sys_admin_may_act_on_any_session)
{
	static struct kipt_nl admin;
	int id;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	self->want.size = SIZE_MIN;
	id = make_trace(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_nl_open(&admin));
	EXPECT_LT(0, kipt_fetch(&admin, id, KIPT_OUTPUT_BRANCHES, NULL, NULL));
	EXPECT_EQ(0, attach_device(id));
	EXPECT_EQ(0, kipt_session_start(&admin, id));
	EXPECT_EQ(0, kipt_session_stop(&admin, id));
	EXPECT_EQ(0, kipt_session_del(&admin, id));
	EXPECT_EQ(-ENOENT, kipt_session_state(&self->nl, id));
	kipt_nl_close(&admin);
}

/* The owner's own socket, but not the owner's rights. */
static int use_inherited_socket(void *arg)
{
	struct kipt_nl *nl = arg;
	int id = only_session(nl);

	if (!id || !keep_only(-1))
		return NOT_SET_UP;
	if (kipt_session_start(nl, id) != -EPERM)
		return 1;
	if (kipt_session_stop(nl, id) != -EPERM)
		return 2;
	if (kipt_fetch(nl, id, KIPT_OUTPUT_BRANCHES, NULL, NULL) != -EPERM)
		return 3;
	return kipt_session_del(nl, id) == -EPERM ? 0 : 4;
}

TEST_F(kipt, passed_socket_gives_no_right_away)
{
	int id;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	self->want.size = SIZE_MIN;
	id = make_trace(&self->nl, &self->want);
	ASSERT_LT(0, id);
	EXPECT_EQ(0, in_child(use_inherited_socket, &self->nl));
	EXPECT_EQ(KIPT_STATE_STOPPED, kipt_session_state(&self->nl, id));
}

/* A dump that was begun with rights is read without. */
static int read_inherited_dump(void *arg)
{
	struct kipt_nl *nl = arg;
	int ret;

	if (!keep_only(-1))
		return NOT_SET_UP;
	while ((ret = kipt_nl_next(nl, 5000)) == 1)
		if (kipt_nl_attr(nl, KIPT_A_FETCH_RECORDS, &(size_t){ 0 }))
			return 1;
	return ret == -EPERM && nl->why[0] ? 0 : 2;
}

TEST_F(kipt, dump_that_is_passed_on_ends)
{
	int id;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	self->want.mode = mode_that_keeps();
	pin_to(0);
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(2000);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	/* The request's own message, and what its sending brought. */
	ASSERT_EQ(0, kipt_fetch_begin(&self->nl, id, KIPT_OUTPUT_INSNS));
	ASSERT_EQ(1, kipt_nl_next(&self->nl, 5000));
	EXPECT_EQ(0, in_child(read_inherited_dump, &self->nl));
}

/* Opens a socket as @uid; 0: as root without rights. @to: where to send it. */
struct sender {
	int to;
	unsigned int uid;
};

/* A socket that a task with other rights gets (SCM_RIGHTS). */
static int open_and_send(void *arg)
{
	const struct sender *sender = arg;
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
	static struct kipt_nl nl;

	if (!(sender->uid ? become(sender->uid) : keep_only(-1)) ||
	    kipt_nl_open(&nl))
		return NOT_SET_UP;
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &nl.fd, sizeof(int));
	return sendmsg(sender->to, &msg, 0) == 1 ? 0 : 1;
}

static int receive_socket(int from)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int fd = -1;

	if (recvmsg(from, &msg, 0) == 1 && CMSG_FIRSTHDR(&msg))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

TEST_F(kipt, socket_opened_without_rights_has_none_anywhere)
{
	static struct kipt_nl received;
	struct sender sender = { .uid = 0 };
	int pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	sender.to = pair[0];
	ASSERT_EQ(0, in_child(open_and_send, &sender));
	received = self->nl;
	received.fd = receive_socket(pair[1]);
	ASSERT_LE(0, received.fd);
	EXPECT_EQ(-EPERM, kipt_session_new(&received, &self->want));
	EXPECT_EQ(-EPERM, kipt_session_count(&received));
	/* For netlink itself such messages prove that the sender means it. */
	received.named = true;
	EXPECT_EQ(-EPERM, kipt_session_new(&received, &self->want));
	EXPECT_EQ(-EPERM, kipt_session_count(&received));
	close(received.fd);
	EXPECT_LT(0, kipt_session_new(&self->nl, &self->want));
}

struct borrowed {
	struct kipt_nl nl;
	int id;
};

/* A session's maker, with somebody else's socket. */
static int use_borrowed(void *arg)
{
	struct borrowed *borrowed = arg;

	if (!become(SOMEBODY))
		return NOT_SET_UP;
	if (kipt_fetch(&borrowed->nl, borrowed->id, KIPT_OUTPUT_BRANCHES,
		       NULL, NULL) != -EPERM)
		return 1;
	if (kipt_session_start(&borrowed->nl, borrowed->id) != -EPERM)
		return 2;
	return kipt_session_del(&borrowed->nl, borrowed->id) == -EPERM ? 0 : 3;
}

TEST_F(kipt, maker_with_a_socket_of_somebody_else_is_not_the_maker)
{
	unsigned int maker = SOMEBODY;
	struct sender sender = { .uid = SOMEBODY_ELSE };
	static struct borrowed borrowed;
	int pair[2];

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_EQ(0, in_child(make_detached, &maker));
	borrowed.id = only_session(&self->nl);
	ASSERT_LT(0, borrowed.id);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	sender.to = pair[0];
	EXPECT_EQ(0, in_child(open_and_send, &sender));
	borrowed.nl = self->nl;
	borrowed.nl.fd = receive_socket(pair[1]);
	ASSERT_LE(0, borrowed.nl.fd);
	EXPECT_EQ(0, in_child(use_borrowed, &borrowed));
	EXPECT_EQ(0, kipt_session_del(&self->nl, borrowed.id));
}

/* The number of a socket that is gone is only a number. */
TEST_F(kipt, port_number_that_is_used_again_owns_nothing)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(address);
	static struct kipt_nl owner;
	int id;

	ASSERT_EQ(0, kipt_nl_open(&owner));
	ASSERT_EQ(0, getsockname(owner.fd, (struct sockaddr *)&address, &len));
	id = kipt_session_new(&owner, &self->want);
	ASSERT_LT(0, id);
	close(owner.fd);
	owner.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	ASSERT_EQ(0, bind(owner.fd, (struct sockaddr *)&address,
			  sizeof(address)));
	EXPECT_EQ(-ENOENT, kipt_session_start(&owner, id));
	EXPECT_LT(id, kipt_session_new(&owner, &self->want));
	kipt_nl_close(&owner);
}

/* The new socket's session is not taken for the old one's. */
TEST_F(kipt, close_of_the_former_owner_of_a_number_harms_nobody)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(address);
	static struct kipt_nl first, second;
	int id, tries;

	for (tries = 0; tries < 20; tries++) {
		ASSERT_EQ(0, kipt_nl_open(&first));
		len = sizeof(address);
		ASSERT_EQ(0, getsockname(first.fd,
					 (struct sockaddr *)&address, &len));
		ASSERT_LT(0, kipt_session_new(&first, &self->want));
		second = first;
		close(first.fd);
		second.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
				   NETLINK_GENERIC);
		ASSERT_EQ(0, bind(second.fd, (struct sockaddr *)&address,
				  sizeof(address)));
		id = kipt_session_new(&second, &self->want);
		ASSERT_LT(0, id) {
			TH_LOG("refused: %s", second.why);
		}
		wait_ms(20);
		EXPECT_EQ(KIPT_STATE_NEW, kipt_session_state(&second, id));
		kipt_nl_close(&second);
	}
}

static int join_with_capability(void *arg)
{
	static struct kipt_nl nl;

	if (!keep_only(*(int *)arg) || kipt_nl_open(&nl))
		return NOT_SET_UP;
	return -kipt_nl_join(&nl);
}

TEST_F(kipt, events_need_sys_admin)
{
	int perfmon = CAP_PERFMON, admin = CAP_SYS_ADMIN;

	EXPECT_EQ(EPERM, in_child(join_with_capability, &perfmon));
	EXPECT_EQ(0, in_child(join_with_capability, &admin));
}

/* Files below an empty root: no sysfs, no devices. */
static int use_in_chroot(void *arg)
{
	(void)arg;
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mkdir("/tmp/empty", 0755) ||
	    mount("none", "/tmp/empty", "tmpfs", 0, NULL) ||
	    chroot("/tmp/empty") || chdir("/"))
		return NOT_SET_UP;
	return use_session();
}

static int nobody_in_chroot(void *arg)
{
	(void)arg;
	if (chroot("/tmp") || chdir("/") || !keep_only(-1))
		return NOT_SET_UP;
	return use_session();
}

TEST_F(kipt, chroot_and_mount_namespace_change_nothing)
{
	EXPECT_EQ(0, in_child(use_in_chroot, NULL));
	EXPECT_EQ(EPERM, in_child(nobody_in_chroot, NULL));
	rmdir("/tmp/empty");
}

static int open_device_as_user(void *arg)
{
	int fd;

	if (!become(*(unsigned int *)arg))
		return NOT_SET_UP;
	fd = open("/dev/kipt", O_RDONLY);
	return fd < 0 ? errno : 0;
}

TEST_F(kipt, device_needs_no_root)
{
	unsigned int uid = SOMEBODY;

	EXPECT_EQ(0, in_child(open_device_as_user, &uid));
}

struct device {
	int fd;
	int id;
};

/* A file that was attached by who may, used by who may not. */
static int use_inherited_device(void *arg)
{
	struct device *device = arg;
	struct kipt_raw_position position = { .bytes = sizeof(position) };
	void *map;

	if (!keep_only(-1))
		return NOT_SET_UP;
	if (!ioctl(device->fd, KIPT_RAW_POSITION, &position) || errno != EPERM)
		return 1;
	map = mmap(NULL, SIZE_MIN, PROT_READ, MAP_SHARED, device->fd, 0);
	return map == MAP_FAILED && errno == EPERM ? 0 : 2;
}

TEST_F(kipt, passed_file_gives_no_right_away)
{
	struct kipt_raw_attach attach = { .cpu = 0 };
	struct device device;

	self->want.size = SIZE_MIN;
	device.id = make_trace(&self->nl, &self->want);
	ASSERT_LT(0, device.id);
	attach.session = (uint32_t)device.id;
	device.fd = open("/dev/kipt", O_RDONLY);
	ASSERT_LE(0, device.fd);
	ASSERT_EQ(0, ioctl(device.fd, KIPT_RAW_ATTACH, &attach));
	EXPECT_EQ(0, in_child(use_inherited_device, &device));
	close(device.fd);
}

TEST_F(kipt, perfmon_is_enough)
{
	int cap = CAP_PERFMON;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	EXPECT_EQ(0, in_child(use_with_capability, &cap));
}

TEST_F(kipt, sys_admin_is_enough)
{
	int cap = CAP_SYS_ADMIN;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
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

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
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
