/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device of a mount. The kernel says it of a file that is mapped; of some file systems
 * (btrfs, overlayfs) stat() says another.
 */
#ifndef KIPT_MOUNT_DEVICE_H
#define KIPT_MOUNT_DEVICE_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * mount_device() - the device of the mount that a file is in
 * @fd: the open file
 * @device: filled on success: major and minor number
 *
 * Return: true, or false if /proc does not say it.
 */
bool mount_device(int fd, dev_t *device);

#endif /* KIPT_MOUNT_DEVICE_H */
