// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kipt: the raw bytes of a session's CPU, for reading only. Runs on a
 * machine with PT and the module loaded; skips elsewhere.
 */
#include <linux/kipt_raw.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "kipt_test.h"

/* No ring of it is written round by a short run, on slow kernels neither. */
#define RAW_BYTES	(1ULL << 20)

/* A stopped session on CPU 0 that captured something, and the device. */
FIXTURE(rawdev)
{
	struct kipt_nl nl;
	struct kipt_raw_attach attach;
	int id;
	int fd;
};

FIXTURE_SETUP(rawdev)
{
	struct kipt_want want = {
		.cpus = "0",
		.mode = KIPT_MODE_RING,
		.size = RAW_BYTES,
		.ctl = CTL_BASIC,
	};

	NEED(kipt_missing());
	ASSERT_EQ(0, kipt_nl_open(&self->nl));
	self->id = kipt_session_new(&self->nl, &want);
	ASSERT_LT(0, self->id);
	pin_to(0);
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	work(10);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	self->fd = open("/dev/kipt", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->fd);
	self->attach.session = (uint32_t)self->id;
}

FIXTURE_TEARDOWN(rawdev)
{
	close(self->fd);
	kipt_nl_close(&self->nl);
}

static int attach(int fd, uint32_t session, uint32_t cpu)
{
	struct kipt_raw_attach what = { .session = session, .cpu = cpu };

	return ioctl(fd, KIPT_RAW_ATTACH, &what) ? -errno : 0;
}

static int position(int fd, struct kipt_raw_position *where)
{
	memset(where, 0, sizeof(*where));
	where->bytes = sizeof(*where);
	return ioctl(fd, KIPT_RAW_POSITION, where) ? -errno : 0;
}

TEST_F(rawdev, bytes_begin_with_psb)
{
	static const unsigned char psb[16] = {
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	};
	void *map;

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	map = mmap(NULL, RAW_BYTES, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, memcmp(map, psb, sizeof(psb)));
	munmap(map, RAW_BYTES);
}

TEST_F(rawdev, position_equals_session_get)
{
	struct kipt_raw_position where;

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	ASSERT_EQ(0, position(self->fd, &where));
	EXPECT_EQ(RAW_BYTES, where.size);
	EXPECT_EQ(KIPT_STATE_STOPPED, where.state);
	EXPECT_EQ(0, where.tail);
	EXPECT_EQ(0, where.lost);
	EXPECT_EQ(KIPT_STOP_CAUSE_USER, where.cause);
	EXPECT_EQ(kipt_cpu_bytes(&self->nl, self->id, 0), where.head);
}

/* A caller built with a larger struct gets zeros, one with less a refusal. */
TEST_F(rawdev, position_can_grow)
{
	struct {
		struct kipt_raw_position known;
		unsigned char later[64];
	} where;
	unsigned char zero[64] = { 0 };

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	memset(&where, 0xff, sizeof(where));
	where.known.bytes = sizeof(where);
	ASSERT_EQ(0, ioctl(self->fd, KIPT_RAW_POSITION, &where));
	EXPECT_EQ(sizeof(where.known), where.known.bytes);
	EXPECT_EQ(RAW_BYTES, where.known.size);
	EXPECT_EQ(0, memcmp(zero, where.later, sizeof(zero)));
	where.known.bytes = KIPT_RAW_POSITION_BYTES - 1;
	EXPECT_EQ(-1, ioctl(self->fd, KIPT_RAW_POSITION, &where));
	EXPECT_EQ(EINVAL, errno);
}

/* What keeps memory keeps it charged. */
TEST_F(rawdev, attached_file_keeps_its_buffer_charged)
{
	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	wait_ms(500);
	EXPECT_LE(RAW_BYTES, kipt_memory(&self->nl));
	close(self->fd);
	self->fd = -1;
	EXPECT_TRUE(memory_is_free(&self->nl));
}

TEST_F(rawdev, generation_counts_starts)
{
	struct kipt_raw_position before, after;

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	ASSERT_EQ(0, position(self->fd, &before));
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, position(self->fd, &after));
	EXPECT_EQ(before.generation + 1, after.generation);
}

TEST_F(rawdev, unknown_session_is_refused)
{
	EXPECT_EQ(-ENOENT, attach(self->fd, 1000000, 0));
	EXPECT_EQ(0, attach(self->fd, self->attach.session, 0));
}

TEST_F(rawdev, cpu_of_no_session_is_refused)
{
	EXPECT_EQ(-ENXIO, attach(self->fd, self->attach.session, 1));
	EXPECT_EQ(-ENXIO, attach(self->fd, self->attach.session, 4095));
	EXPECT_EQ(0, attach(self->fd, self->attach.session, 0));
}

TEST_F(rawdev, second_attach_is_refused)
{
	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	EXPECT_EQ(-EBUSY, attach(self->fd, self->attach.session, 0));
}

TEST_F(rawdev, unattached_file_shows_nothing)
{
	struct kipt_raw_position where;

	EXPECT_EQ(-EINVAL, position(self->fd, &where));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, RAW_BYTES, PROT_READ, MAP_SHARED,
				   self->fd, 0));
}

TEST_F(rawdev, bad_pointer_is_refused)
{
	EXPECT_EQ(-1, ioctl(self->fd, KIPT_RAW_ATTACH, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, _IO('k', 0x7f), NULL));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(rawdev, write_mapping_is_refused)
{
	void *map;

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, RAW_BYTES, PROT_READ | PROT_WRITE,
				   MAP_SHARED, self->fd, 0));
	map = mmap(NULL, RAW_BYTES, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(-1, mprotect(map, RAW_BYTES, PROT_READ | PROT_WRITE));
	munmap(map, RAW_BYTES);
}

TEST_F(rawdev, mapping_beyond_the_buffer_is_refused)
{
	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * RAW_BYTES, PROT_READ, MAP_SHARED,
				   self->fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, RAW_BYTES, PROT_READ, MAP_SHARED,
				   self->fd, RAW_BYTES));
}

TEST_F(rawdev, mapping_outlives_its_session)
{
	unsigned char before[4096];
	struct kipt_raw_position where;
	unsigned char *map;

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	map = mmap(NULL, RAW_BYTES, PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, position(self->fd, &where));
	EXPECT_LT(where.tail, where.head);
	memcpy(before, map, sizeof(before));
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	EXPECT_EQ(-ESTALE, position(self->fd, &where));
	EXPECT_EQ(0, memcmp(before, map, sizeof(before)));
	munmap(map, RAW_BYTES);
}

TEST_F(rawdev, poll_tells_that_tracing_stopped)
{
	struct pollfd poll_fd = { .fd = self->fd, .events = POLLIN };

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	EXPECT_EQ(1, poll(&poll_fd, 1, 5000));
	EXPECT_NE(0, poll_fd.revents & POLLIN);
}

#include "kipt_main.h"
