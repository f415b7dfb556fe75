/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /dev/kipt: raw trace bytes by mmap, as uapi/linux/kipt_raw.h describes.
 */
#ifndef KIPT_RAWDEV_H
#define KIPT_RAWDEV_H

/**
 * kipt_rawdev_init() - make the device, which cannot be opened yet
 *
 * Return: 0 or an errno.
 */
int kipt_rawdev_init(void);

/**
 * kipt_rawdev_allow() - let it be opened; loading the module can fail no more
 */
void kipt_rawdev_allow(void);

/**
 * kipt_rawdev_uninit() - remove it; no file of it is open
 */
void kipt_rawdev_uninit(void);

#endif /* KIPT_RAWDEV_H */
