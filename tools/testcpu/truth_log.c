// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writer of the ground truth of one vCPU. Owns the file and its buffer; what
 * is worth an entry is decided by trace_model.c. Runs on the vCPU's thread,
 * and on the exiting thread when all vCPUs have stopped.
 */
#include "truth_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_ENTRIES	65536

static bool write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

static bool write_header(struct truth_log *log, unsigned int vcpu)
{
	struct truth_header header = {
		.magic = TRUTH_MAGIC,
		.version = TRUTH_VERSION,
		.entry_size = sizeof(struct truth_entry),
		.vcpu = vcpu,
		.mode = (uint32_t)log->mode,
	};

	return write_all(log->fd, &header, sizeof(header));
}

bool truth_log_open(struct truth_log *log, const char *dir, unsigned int vcpu,
		    int mode)
{
	char path[4096];

	*log = (struct truth_log) { .fd = -1, .hash = TRUTH_HASH_START };
	if (mode == TRUTH_LOG_OFF)
		return true;
	snprintf(path, sizeof(path), "%s/truth.%u", dir, vcpu);
	log->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (log->fd < 0)
		return false;
	log->mode = mode;
	log->size = BUFFER_ENTRIES;
	log->buf = malloc(log->size * sizeof(*log->buf));
	if (log->buf && write_header(log, vcpu))
		return true;
	truth_log_close(log);
	return false;
}

void truth_log_flush(struct truth_log *log)
{
	if (log->used && !log->failed &&
	    !write_all(log->fd, log->buf, log->used * sizeof(*log->buf))) {
		log->failed = true;
		fprintf(stderr, "testcpu: truth file: %s; the rest is lost\n",
			strerror(errno));
	}
	log->used = 0;
}

void truth_log_start(struct truth_log *log, uint64_t tsc, uint64_t ctl)
{
	log->hash = TRUTH_HASH_START;
	log->count = 0;
	truth_log_add(log, TRUTH_MARK_ON, 0, tsc, ctl);
}

void truth_log_stop(struct truth_log *log, uint64_t tsc, uint64_t ctl)
{
	truth_log_add(log, TRUTH_SUM, 0, log->hash, log->count);
	truth_log_add(log, TRUTH_MARK_OFF, 0, tsc, ctl);
	if (log->mode != TRUTH_LOG_OFF)
		truth_log_flush(log);
}

void truth_log_close(struct truth_log *log)
{
	if (log->mode != TRUTH_LOG_OFF)
		truth_log_flush(log);
	if (log->fd >= 0)
		close(log->fd);
	free(log->buf);
	*log = (struct truth_log) { .fd = -1, .hash = TRUTH_HASH_START };
}
