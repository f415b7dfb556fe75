// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device of a mount, from /proc, see mount_device.h.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "mount_device.h"

/* The number of the mount; negative: unknown. */
static int mount_of(int fd)
{
	char path[64], *line = NULL;
	int mount = -1;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0 &&
	       sscanf(line, "mnt_id: %d", &mount) != 1)
		;
	free(line);
	if (file)
		fclose(file);
	return mount;
}

bool mount_device(int fd, dev_t *device)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	int wanted = mount_of(fd), mount;
	unsigned int major, minor;
	char *line = NULL;
	bool found = false;
	size_t room = 0;

	while (file && wanted >= 0 && !found && getline(&line, &room, file) > 0)
		found = sscanf(line, "%d %*d %u:%u", &mount, &major, &minor) == 3 &&
			mount == wanted;
	if (found)
		*device = makedev(major, minor);
	free(line);
	if (file)
		fclose(file);
	return found;
}
