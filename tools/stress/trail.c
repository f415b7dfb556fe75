// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes the log of an actor: "BEGIN END ACTOR RESULT WORDS...".
 */
#include "trail.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int trail_open(struct trail *trail, const char *dir, const char *actor)
{
	char path[256];

	snprintf(trail->actor, sizeof(trail->actor), "%s", actor);
	snprintf(path, sizeof(path), "%s/log.%s", dir, actor);
	trail->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	return trail->fd < 0 ? -errno : 0;
}

void trail_line(struct trail *trail, uint64_t begin, int result,
		const char *format, ...)
{
	char line[1024];
	va_list args;
	int len;

	len = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 " %s %d ",
		       begin, trail_now(), trail->actor, result);
	va_start(args, format);
	len += vsnprintf(line + len, sizeof(line) - (size_t)len, format, args);
	va_end(args);
	if (len > (int)sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	if (write(trail->fd, line, (size_t)len) != len)
		fprintf(stderr, "stress: a line of the log is lost: %s\n",
			strerror(errno));
}
