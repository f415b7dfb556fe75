// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kipt: the raw bytes of a session's CPU, for reading only. Runs on a
 * machine with PT and the module loaded; skips elsewhere.
 */
#include <linux/kipt_raw.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "images.h"
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

TEST_F(rawdev, poll_reports_that_tracing_stopped)
{
	struct pollfd poll_fd = { .fd = self->fd, .events = POLLIN };

	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	EXPECT_EQ(1, poll(&poll_fd, 1, 5000));
	EXPECT_NE(0, poll_fd.revents & POLLIN);
}

/* What is right, and each way to get it wrong. */
static const struct bad_images {
	const char *what;
	int err;
	struct kipt_raw_space space[2];
	struct kipt_raw_range range;
} bad_images[] = {
	{ "right", 0, { { 1, 0, 0, 0, 1 }, { 1, 1, 5, 0, 1 } },
	  { 0x1000, 0x2000, 0, 0, 0 } },
	{ "no file", 0, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0x2000, 0, KIPT_RAW_NO_FILE, 0 } },
	{ "vDSO", 0, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0x2000, 0, KIPT_RAW_VDSO, 0 } },
	{ "unknown file", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0x2000, 0, 1, 0 } },
	{ "empty range", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x2000, 0x2000, 0, 0, 0 } },
	{ "no page", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0x2001, 0, 0, 0 } },
	{ "kernel", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0xffffffff80000000ULL, 0, 0, 0 } },
	{ "offset", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0x2000, 0xfffffffffffff000ULL, 0, 0 } },
	{ "reserved", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0x2000, 0, 0, 1 } },
	{ "flags", EINVAL, { { 1, 2, 0, 0, 1 }, { 2, 0, 0, 0, 1 } },
	  { 0x1000, 0x2000, 0, 0, 0 } },
	{ "beyond the ranges", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, 1, 1 } },
	  { 0x1000, 0x2000, 0, 0, 0 } },
	{ "overflow", EINVAL, { { 1, 0, 0, 0, 1 }, { 2, 0, 0, ~0U, 2 } },
	  { 0x1000, 0x2000, 0, 0, 0 } },
	{ "order of processes", EINVAL, { { 2, 0, 0, 0, 1 }, { 1, 0, 0, 0, 1 } },
	  { 0x1000, 0x2000, 0, 0, 0 } },
	{ "order of times", EINVAL, { { 1, 0, 6, 0, 1 }, { 1, 0, 5, 0, 1 } },
	  { 0x1000, 0x2000, 0, 0, 0 } },
};

static int give_bad(int fd, const struct bad_images *bad, uint32_t spaces,
		    uint32_t ranges)
{
	struct kipt_raw_images wish = {
		.spaces = (uintptr_t)bad->space,
		.ranges = (uintptr_t)&bad->range,
		.nr_spaces = spaces,
		.nr_ranges = ranges,
	};

	return ioctl(fd, KIPT_RAW_IMAGES, &wish) ? errno : 0;
}

TEST_F(rawdev, images_are_checked)
{
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	unsigned int i;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	EXPECT_EQ(-1, ioctl(self->fd, KIPT_RAW_FILE, &own));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(EINVAL, give_bad(self->fd, bad_images, 2, 1));
	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	for (i = 0; i < ARRAY_SIZE(bad_images); i++) {
		EXPECT_EQ(0, ioctl(self->fd, KIPT_RAW_FILE, &own));
		EXPECT_EQ(bad_images[i].err, give_bad(self->fd, &bad_images[i], 2, 1))
			TH_LOG("%s", bad_images[i].what);
	}
	EXPECT_EQ(EINVAL, give_bad(self->fd, bad_images, 0, 1));
	EXPECT_EQ(EINVAL, give_bad(self->fd, bad_images, 1, 0));
	EXPECT_EQ(E2BIG, give_bad(self->fd, bad_images, KIPT_RAW_SPACES_MAX + 1, 1));
	EXPECT_EQ(E2BIG, give_bad(self->fd, bad_images, 1, ~0U));
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_EQ(0, ioctl(self->fd, KIPT_RAW_FILE, &own));
	EXPECT_EQ(EBUSY, give_bad(self->fd, bad_images, 2, 1));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	ASSERT_EQ(0, kipt_session_del(&self->nl, self->id));
	EXPECT_EQ(0, ioctl(self->fd, KIPT_RAW_FILE, &own));
	EXPECT_EQ(ESTALE, give_bad(self->fd, bad_images, 2, 1));
	close(own);
}

#define MANY_RANGES	100000U

/* They are charged for, and the next run has none. */
TEST_F(rawdev, images_are_charged_until_the_next_run)
{
	const uint64_t bytes = MANY_RANGES * sizeof(struct kipt_raw_range);
	struct kipt_raw_range *ranges = calloc(MANY_RANGES, sizeof(*ranges));
	struct kipt_raw_space space = { .tgid = 1 };
	struct kipt_raw_images wish = {
		.spaces = (uintptr_t)&space,
		.ranges = (uintptr_t)ranges,
		.nr_spaces = 1,
		.nr_ranges = MANY_RANGES,
	};
	uint64_t before, given;
	unsigned int i;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_NE(NULL, ranges);
	for (i = 0; i < MANY_RANGES; i++)
		ranges[i] = (struct kipt_raw_range){
			.begin = 4096ULL * (i + 1), .end = 4096ULL * (i + 2),
			.file = KIPT_RAW_NO_FILE,
		};
	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	before = kipt_memory(&self->nl);
	ASSERT_EQ(0, ioctl(self->fd, KIPT_RAW_IMAGES, &wish));
	given = kipt_memory(&self->nl);
	EXPECT_LE(before + bytes / 2, given);
	/* In place of what it had. */
	ASSERT_EQ(0, ioctl(self->fd, KIPT_RAW_IMAGES, &wish));
	EXPECT_GT(given + bytes / 2, kipt_memory(&self->nl));
	ASSERT_EQ(0, kipt_session_start(&self->nl, self->id));
	EXPECT_GT(given - bytes / 2, kipt_memory(&self->nl));
	ASSERT_EQ(0, kipt_session_stop(&self->nl, self->id));
	free(ranges);
}

/* Neither what the kernel makes when it is read, nor what is only to be written. */
TEST_F(rawdev, images_are_regular_files_for_reading)
{
	static const struct {
		const char *path;
		int flags;
		int err;
	} files[] = {
		{ "/proc/self/mem", O_RDONLY, EINVAL },
		{ "/proc/self/maps", O_RDONLY, EINVAL },
		{ "/sys/kernel/notes", O_RDONLY, EINVAL },
		{ "/dev/zero", O_RDONLY, EINVAL },
		{ "/tmp", O_RDONLY, EINVAL },
		{ "/tmp/kipt-images", O_WRONLY | O_CREAT, EBADF },
		{ "/proc/self/exe", O_PATH, EBADF },
	};
	unsigned int i;
	int fd = -1;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	ASSERT_EQ(0, attach(self->fd, self->attach.session, 0));
	EXPECT_EQ(-1, ioctl(self->fd, KIPT_RAW_FILE, &fd));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, ioctl(self->fd, KIPT_RAW_FILE, NULL));
	EXPECT_EQ(EFAULT, errno);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		fd = open(files[i].path, files[i].flags | O_CLOEXEC, 0600);
		EXPECT_EQ(-1, ioctl(self->fd, KIPT_RAW_FILE, &fd))
			TH_LOG("%s", files[i].path);
		EXPECT_EQ(files[i].err, errno)
			TH_LOG("%s", files[i].path);
		close(fd);
	}
	unlink("/tmp/kipt-images");
}

#include "kipt_main.h"
