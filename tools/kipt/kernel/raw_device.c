// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kipt, see raw_device.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../uapi/linux/kipt_raw.h"
#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "raw_device.h"

#define COPY_BYTES	(256 << 10)

static bool position_get(int fd, u32 id, u32 cpu,
			 struct kipt_raw_position *position)
{
	struct kipt_raw_attach attach = { .session = id, .cpu = cpu };

	memset(position, 0, sizeof(*position));
	position->bytes = sizeof(*position);
	if (!ioctl(fd, KIPT_RAW_ATTACH, &attach) &&
	    !ioctl(fd, KIPT_RAW_POSITION, position))
		return true;
	say_errno(errno, "cannot reach the trace of session %u, CPU %u", id,
		  cpu);
	return false;
}

/*
 * Some file systems pin the pages they are given to write, and those of a
 * device cannot be pinned: the bytes go through memory of our own.
 */
static bool part_give(const struct raw_taker *taker, const u8 *bytes, u64 count)
{
	static u8 copy[COPY_BYTES];
	u64 done, n;

	for (done = 0; done < count; done += n) {
		n = count - done < COPY_BYTES ? count - done : COPY_BYTES;
		memcpy(copy, bytes + done, n);
		if (!taker->take(taker->ctx, copy, n))
			return false;
	}
	return true;
}

static bool bytes_give(const struct raw_taker *taker, u32 cpu, const u8 *bytes,
		       const struct kipt_raw_position *position)
{
	u64 begin = position->tail % position->size;
	u64 count = position->head - position->tail;
	u64 to_end = position->size - begin;
	u64 first = count < to_end ? count : to_end;

	return taker->begin(taker->ctx, cpu, position->tail, count) &&
	       part_give(taker, bytes + begin, first) &&
	       part_give(taker, bytes, count - first) &&
	       taker->end(taker->ctx, cpu);
}

static bool cpu_give(u32 id, u32 cpu, const struct raw_taker *taker)
{
	int fd = open(RAW_DEVICE, O_RDONLY | O_CLOEXEC);
	struct kipt_raw_position position;
	bool ok = false;
	void *bytes;

	if (fd < 0) {
		say_errno(errno, "cannot open " RAW_DEVICE);
		return false;
	}
	if (!position_get(fd, id, cpu, &position))
		goto out_close;
	if (!position.size || position.tail > position.head ||
	    position.head - position.tail > position.size) {
		say_error("session %u, CPU %u: the kernel gives a position outside the buffer",
			  id, cpu);
		goto out_close;
	}
	bytes = mmap(NULL, position.size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) {
		say_errno(errno, "cannot map the trace of session %u, CPU %u",
			  id, cpu);
		goto out_close;
	}
	ok = bytes_give(taker, cpu, bytes, &position);
	munmap(bytes, position.size);
out_close:
	close(fd);
	return ok;
}

bool raw_take(const struct kipt_session *session, int cpu,
	      const struct raw_taker *taker)
{
	bool found = false, ok = true;
	u32 i;

	for (i = 0; i < session->cpu_count; i++) {
		u32 id = session->cpu[i].id;

		if (cpu >= 0 && id != (u32)cpu)
			continue;
		found = true;
		/* One that fails keeps no other from being taken. */
		ok = cpu_give(session->id, id, taker) && ok;
	}
	if (!found)
		say_error("session %u has no CPU %d, it has %s", session->id,
			  cpu, session->cpus);
	return found && ok;
}

/* The file of a CPU, while it is written. */
struct raw_file {
	const char *dir;
	char path[4096];
	FILE *out;
};

static bool file_failed(struct raw_file *file)
{
	say_errno(errno, "cannot write to %s", file->path);
	if (file->out)
		fclose(file->out);
	file->out = NULL;
	return false;
}

static bool file_begin(void *ctx, u32 cpu, u64 offset, u64 size)
{
	struct raw_file *file = ctx;

	(void)offset;
	(void)size;
	snprintf(file->path, sizeof(file->path), "%s/cpu%u.pt", file->dir, cpu);
	file->out = fopen(file->path, "we");
	if (file->out)
		return true;
	say_errno(errno, "cannot make %s", file->path);
	return false;
}

static bool file_take(void *ctx, const u8 *bytes, u64 size)
{
	struct raw_file *file = ctx;

	return fwrite(bytes, 1, size, file->out) == size || file_failed(file);
}

static bool file_end(void *ctx, u32 cpu)
{
	struct raw_file *file = ctx;
	FILE *out = file->out;

	(void)cpu;
	file->out = NULL;
	return !fclose(out) || file_failed(file);
}

bool raw_save(const struct kipt_session *session, int cpu, const char *dir)
{
	struct raw_file file = { .dir = dir };
	const struct raw_taker taker = { file_begin, file_take, file_end,
					 &file };

	return folder_make(dir) && raw_take(session, cpu, &taker);
}

int raw_open(const struct kipt_session *session)
{
	struct kipt_raw_attach attach = { .session = session->id };
	int fd = open(RAW_DEVICE, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		say_errno(errno, "cannot open " RAW_DEVICE);
		return -1;
	}
	attach.cpu = session->cpu_count ? session->cpu[0].id : 0;
	if (!ioctl(fd, KIPT_RAW_ATTACH, &attach))
		return fd;
	say_errno(errno, "cannot reach session %u", session->id);
	close(fd);
	return -1;
}
