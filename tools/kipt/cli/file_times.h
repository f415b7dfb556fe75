/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Comparisons of the times that stat() gives.
 */
#ifndef KIPT_FILE_TIMES_H
#define KIPT_FILE_TIMES_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

static inline bool time_is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec :
					a->tv_nsec < b->tv_nsec;
}

/**
 * file_is_older() - whether a file is as it was at a time
 * @st: what fstat() says of it
 * @begun: the time
 *
 * Return: true if it was neither written to since, nor moved or linked to its place.
 */
static inline bool file_is_older(const struct stat *st, const struct timespec *begun)
{
	return time_is_before(&st->st_ctim, begun) &&
	       time_is_before(&st->st_mtim, begun);
}

#endif /* KIPT_FILE_TIMES_H */
