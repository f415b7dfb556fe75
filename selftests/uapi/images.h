/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives a session the files that code of processes was mapped from, see kipt_raw.h.
 */
#ifndef IMAGES_H
#define IMAGES_H

#include <linux/kipt_raw.h>
#include <stdint.h>

#define IMAGES_FILES	16
#define IMAGES_RANGES	32

/**
 * struct images - files and ranges, of which all spaces are made
 * @fd: open files
 * @fds: how many
 * @range: ranges, by address; their files are indexes of @fd
 * @ranges: how many
 */
struct images {
	int fd[IMAGES_FILES];
	unsigned int fds;
	struct kipt_raw_range range[IMAGES_RANGES];
	unsigned int ranges;
};

/* A file that is mapped at an address. Return: 0 or a negative errno. */
int images_add(struct images *images, const char *path, uint64_t begin,
	       uint64_t end, uint64_t offset);

/* All files that this process may execute; those it forks have them too. */
int images_own(struct images *images);

/* Give @count spaces to a session that has the CPU. Return: 0 or a negative errno. */
int images_give(const struct images *images, int session, uint32_t cpu,
		const struct kipt_raw_space *spaces, unsigned int count);

/* The same for one process, at any time. */
int images_give_process(const struct images *images, int session, uint32_t cpu,
			uint32_t tgid);

/* Close the files. */
void images_free(struct images *images);

#endif /* IMAGES_H */
