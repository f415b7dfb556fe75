// SPDX-License-Identifier: GPL-2.0-only
/*
 * Speaks as much of the FUSE protocol as it takes to map a file of one page.
 * Knows no test.
 */
#include "fuse_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NODE	2
#define FILE_BYTES	4096U
#define REQUEST_BYTES	(128U << 10)

static unsigned char content[FILE_BYTES];

static void answer(int fd, const struct fuse_in_header *in, int err,
		   const void *data, size_t len)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof(out) + len),
		.error = err,
		.unique = in->unique,
	};
	struct iovec parts[] = {
		{ &out, sizeof(out) }, { (void *)(uintptr_t)data, len },
	};

	if (writev(fd, parts, 2) < 0 && errno != ENOENT)
		_exit(1);
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.size = node == FILE_NODE ? FILE_BYTES : 0,
		.blksize = FILE_BYTES,
	};
}

static void answer_lookup(int fd, const struct fuse_in_header *in)
{
	struct fuse_entry_out entry = {
		.nodeid = FILE_NODE,
		.attr_valid = 3600,
		.entry_valid = 3600,
		.attr = attributes(FILE_NODE),
	};

	answer(fd, in, 0, &entry, sizeof(entry));
}

static void answer_read(int fd, const struct fuse_in_header *in)
{
	const struct fuse_read_in *read_in = (const void *)(in + 1);
	size_t from = read_in->offset < FILE_BYTES ?
		      (size_t)read_in->offset : FILE_BYTES;
	size_t len = FILE_BYTES - from;

	answer(fd, in, 0, content + from,
	       len < read_in->size ? len : read_in->size);
}

static void serve(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31,
		.max_readahead = FILE_BYTES, .max_write = FILE_BYTES,
	};
	struct fuse_attr_out attr = {
		.attr_valid = 3600, .attr = attributes(in->nodeid),
	};
	struct fuse_open_out open_out = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(fd, in, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer_lookup(fd, in);
		break;
	case FUSE_GETATTR:
		answer(fd, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fd, in, 0, &open_out, sizeof(open_out));
		break;
	case FUSE_READ:
		answer_read(fd, in);
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_ACCESS:
		answer(fd, in, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(fd, in, -EOPNOTSUPP, NULL, 0);
	}
}

static void run_server(int fd, const volatile bool *muted)
{
	unsigned char *request = malloc(REQUEST_BYTES);

	while (request && read(fd, request, REQUEST_BYTES) > 0)
		if (!*muted)
			serve(fd, (const void *)request);
	_exit(0);
}

static int mount_it(struct fuse_file *file)
{
	char options[96];

	snprintf(file->path, sizeof(file->path), "/tmp/kipt-fuse-XXXXXX");
	if (!mkdtemp(file->path))
		return -errno;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40755,user_id=0,group_id=0", file->fd);
	if (!mount("kipt", file->path, "fuse", MS_NOSUID, options))
		return 0;
	rmdir(file->path);
	return -errno;
}

int fuse_file_begin(struct fuse_file *file, const void *code, size_t len)
{
	int ret;

	if (len > sizeof(content))
		return -EINVAL;
	memcpy(content, code, len);
	if (access("/dev/fuse", F_OK) && system("modprobe fuse 2>/dev/null"))
		return -ENODEV;
	file->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (file->fd < 0)
		return -ENODEV;
	file->muted = mmap(NULL, sizeof(*file->muted), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ret = mount_it(file);
	if (ret) {
		close(file->fd);
		return ret;
	}
	file->server = fork();
	if (!file->server)
		run_server(file->fd, file->muted);
	return file->server < 0 ? -errno : 0;
}

void fuse_file_end(struct fuse_file *file)
{
	kill(file->server, SIGKILL);
	waitpid(file->server, NULL, 0);
	/* The last descriptor: who waits for an answer gets an error. */
	close(file->fd);
	umount2(file->path, MNT_DETACH);
	rmdir(file->path);
}
