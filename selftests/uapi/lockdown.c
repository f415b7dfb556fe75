// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel that is locked down for confidentiality after the module was
 * loaded: nobody can read a trace any more, not even one made before.
 * That cannot be undone until the next boot, so it is done only when
 * KIPT_LOCKDOWN=1 says so, beside KIPT_TEST_DISRUPTIVE=1. Skips elsewhere.
 */
#include <linux/kipt_raw.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "kipt_test.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"

static int lock_down(void)
{
	mount("none", "/sys/kernel/security", "securityfs", 0, NULL);
	return write_file(LOCKDOWN, "confidentiality");
}

static int open_device(int id)
{
	struct kipt_raw_attach attach = { .session = (uint32_t)id };
	int fd = open("/dev/kipt", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, KIPT_RAW_ATTACH, &attach))
		return -errno;
	return fd;
}

TEST_F(kipt, nothing_is_readable_in_lockdown)
{
	struct kipt_raw_position position = { .bytes = sizeof(position) };
	static struct kipt_nl dump;
	size_t len;
	int id, fd;

	SKIP_IF(kipt_absent(KIPT_PART_DECODE));
	DISRUPTS("it locks the kernel down");
	SKIP_IF(is_set("KIPT_LOCKDOWN") ? NULL :
		"there is no way back before the next boot: set KIPT_LOCKDOWN=1");
	pin_to(0);
	id = kipt_session_new(&self->nl, &self->want);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kipt_session_start(&self->nl, id));
	work(500);
	ASSERT_EQ(0, kipt_session_stop(&self->nl, id));
	fd = open_device(id);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kipt_nl_open(&dump));
	ASSERT_EQ(0, kipt_fetch_begin(&dump, id, KIPT_OUTPUT_INSNS));
	ASSERT_EQ(1, kipt_nl_next(&dump, 5000));
	if (lock_down())
		SKIP(return, "this kernel has no lockdown");
	/* What one call made before is still on its way. */
	while (kipt_nl_next(&dump, 5000) == 1)
		;
	EXPECT_TRUE(says(&dump, "lockdown")) {
		TH_LOG("sentence: '%s'", dump.why);
	}
	EXPECT_EQ(-EPERM, kipt_session_start(&self->nl, id));
	EXPECT_TRUE(says(&self->nl, "lockdown"));
	EXPECT_EQ(-EPERM, kipt_session_get(&self->nl, id));
	EXPECT_EQ(-EPERM, kipt_fetch(&self->nl, id, KIPT_OUTPUT_BRANCHES, NULL,
				     NULL));
	EXPECT_EQ(-EPERM, kipt_session_new(&dump, &self->want));
	EXPECT_EQ(-1, ioctl(fd, KIPT_RAW_POSITION, &position));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, SIZE_USUAL, PROT_READ, MAP_SHARED, fd,
				   0));
	EXPECT_EQ(-EPERM, open_device(id));
	ASSERT_EQ(0, kipt_info(&self->nl));
	EXPECT_EQ(NULL, kipt_nl_attr(&self->nl, KIPT_A_INFO_BUSY, &len));
	close(fd);
	kipt_nl_close(&dump);
}

#include "kipt_main.h"
