// SPDX-License-Identifier: GPL-2.0-only
/*
 * Images for a session, see images.h.
 */
#include "images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int images_add(struct images *images, const char *path, uint64_t begin,
	       uint64_t end, uint64_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (images->fds == IMAGES_FILES || images->ranges == IMAGES_RANGES) {
		close(fd);
		return -E2BIG;
	}
	images->range[images->ranges++] = (struct kipt_raw_range){
		.begin = begin, .end = end, .offset = offset,
		.file = images->fds,
	};
	images->fd[images->fds++] = fd;
	return 0;
}

int images_own(struct images *images)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long begin, end, offset;
	char line[512], path[256], may;
	int err = 0;

	if (!maps)
		return -errno;
	while (!err && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*2c%c%*c %llx %*s %*s %255s", &begin,
			   &end, &may, &offset, path) == 5 &&
		    may == 'x' && path[0] == '/')
			err = images_add(images, path, begin, end, offset);
	}
	fclose(maps);
	return err;
}

/* Return: 0 or a negative errno. */
static int give(const struct images *images, int device, uint32_t cpu,
		struct kipt_raw_images *wish, int session)
{
	struct kipt_raw_attach attach = { .session = (uint32_t)session, .cpu = cpu };
	unsigned int i;

	if (ioctl(device, KIPT_RAW_ATTACH, &attach))
		return -errno;
	for (i = 0; i < images->fds; i++)
		if (ioctl(device, KIPT_RAW_FILE, &images->fd[i]) != (int)i)
			return -errno;
	return ioctl(device, KIPT_RAW_IMAGES, wish) ? -errno : 0;
}

int images_give(const struct images *images, int session, uint32_t cpu,
		const struct kipt_raw_space *spaces, unsigned int count)
{
	struct kipt_raw_images wish = {
		.spaces = (uintptr_t)spaces,
		.ranges = (uintptr_t)images->range,
		.nr_spaces = count,
		.nr_ranges = images->ranges,
	};
	int device = open("/dev/kipt", O_RDONLY | O_CLOEXEC), err;

	if (device < 0)
		return -errno;
	err = give(images, device, cpu, &wish, session);
	close(device);
	return err;
}

int images_give_process(const struct images *images, int session, uint32_t cpu,
			uint32_t tgid)
{
	struct kipt_raw_space space = { .tgid = tgid, .count = images->ranges };

	return images_give(images, session, cpu, &space, 1);
}

void images_free(struct images *images)
{
	while (images->fds)
		close(images->fd[--images->fds]);
	memset(images, 0, sizeof(*images));
}
