// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the files of a recording, see perf_code.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "../cli/file_map.h"
#include "../cli/file_read.h"
#include "../cli/file_times.h"
#include "../cli/large_memory.h"
#include "../cli/messages.h"
#include "../cli/mount_device.h"
#include "../cli/printable.h"
#include "../symbols/build_id_cache.h"
#include "../symbols/debug_server.h"
#include "../symbols/mapped_ids.h"
#include "perf_code.h"

#define VDSO_SIZE	8192
#define MISSING_SHOWN	10
#define LOADED_MOST	(2ULL << 30)
/* Of paths and what is known of each file. */
#define HELD_MOST	(256U << 20)
#define CHANGED		"it was changed while it was read"
#define ID_HINT		"; perf record --buildid-mmap records it"
#define DELETED		" (deleted)"
#define TWIN_CHANGED	"it was changed since the recording began, and the build id that perf recorded in the end may be of the later file" ID_HINT

static const char in_memory[] = "the program wrote it into memory, as JIT compilers do, and recordings of perf have none of that";

/* Files are read one at a time; guards @loaded, bytes of all. */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static u64 loaded;

static int code_compare(const void *left, const void *right)
{
	const struct perf_code *a = left, *b = right;
	int order = strcmp(a->path, b->path);

	if (order)
		return order;
	if (a->has_id != b->has_id)
		return a->has_id - b->has_id;
	if (a->has_id)
		return memcmp(&a->id, &b->id, sizeof(a->id));
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return a->generation < b->generation ? -1 :
					       a->generation > b->generation;
}

static void code_free(struct perf_code *code)
{
	free(code->path);
	free(code->shown);
	free(code);
}

/* False after a sentence: the recording was made to take all memory. */
static bool hold(struct perf_codes *codes, const struct perf_code *like)
{
	size_t length = strlen(like->path);

	codes->held += sizeof(*like) + 2 * length;
	if (length <= PATH_MAX && codes->held <= HELD_MOST)
		return true;
	if (length > PATH_MAX)
		say_error("the recording names a mapped file by %zu bytes, more than a path can have",
			  length);
	else
		say_error("the recording has more mapped files than kipt keeps (%u MiB): record fewer processes, or for a shorter time",
			  HELD_MOST >> 20);
	return false;
}

static struct perf_code *no_code(struct perf_code *code)
{
	if (code)
		code_free(code);
	say_errno(ENOMEM, "cannot hold the files of the recording");
	return NULL;
}

struct perf_code *perf_codes_get(struct perf_codes *codes,
				 const struct perf_code *like)
{
	struct perf_code *code, **found;

	found = tfind(like, &codes->tree, code_compare);
	if (found)
		return *found;
	if (!hold(codes, like))
		return NULL;
	code = malloc(sizeof(*code));
	if (!code)
		return no_code(NULL);
	*code = *like;
	code->path = strdup(like->path);
	code->shown = strdup(like->path);
	if (!code->path || !code->shown ||
	    !tsearch(code, &codes->tree, code_compare))
		return no_code(code);
	plain_text(code->shown);
	code->next = codes->first;
	return codes->first = code;
}

/* Files of one path, while the list is gone through. */
struct marking {
	struct perf_code *first, *second;
};

/* perf writes generation 0 for processes that ran before it; 0 sorts first. */
static bool inode_same(const struct perf_code *before, const struct perf_code *code)
{
	return before->has_inode && code->has_inode && !before->generation &&
	       before->device == code->device && before->inode == code->inode;
}

static void code_mark(const void *node, VISIT visit, void *ctx)
{
	struct perf_code *code = *(struct perf_code *const *)node;
	struct marking *marking = ctx;
	struct perf_code *first = marking->first;

	if (visit != postorder && visit != leaf)
		return;
	if (!first || code->has_id || first->has_id ||
	    strcmp(first->path, code->path)) {
		*marking = (struct marking){ .first = code };
		return;
	}
	if (!marking->second) {
		marking->second = code;
		if (inode_same(first, code)) {
			first->is_twin = true;
			return;
		}
	}
	first->replaced = marking->second->replaced = code->replaced = true;
}

void perf_codes_mark(struct perf_codes *codes)
{
	struct marking marking = { 0 };

	twalk_r(codes->tree, code_mark, &marking);
}

static bool id_right(const struct perf_code *code, int fd)
{
	struct build_id id;

	return build_id_read(&id, fd) && build_id_recorded(&code->id, &id);
}

/* Not every file system has it; then the inode's last change says enough. */
static bool generation_right(const struct perf_code *code, int fd)
{
	long generation;

	return !code->generation || ioctl(fd, FS_IOC_GETVERSION, &generation) ||
	       (u32)generation == code->generation;
}

/* As stat() says it, or as the kernel says it of mappings. */
static bool device_right(const struct perf_code *code, int fd)
{
	dev_t device;

	return code->found.st_dev == code->device ||
	       (mount_device(fd, &device) && device == code->device);
}

/* Why a file is not known to be the one that was recorded without a build id;
 * NULL: it is.
 */
static const char *inode_wrong(const struct perf_code *code, int fd,
			       const struct timespec *begun)
{
	const struct stat *st = &code->found;

	if (!code->has_inode || st->st_ino != code->inode ||
	    !device_right(code, fd) || !generation_right(code, fd))
		return "no build id of it was recorded, and it may be another file" ID_HINT;
	if (!begun)
		return "no build id of it was recorded, and nobody knows whether it is older than the recording, which is a copy" ID_HINT;
	if (!file_is_older(st, begun))
		return "no build id of it was recorded, and it was changed since the recording began" ID_HINT;
	return NULL;
}

/* Why a file of a copy, whose inodes are others, is not the one; NULL: nothing
 * says that it is not.
 */
static const char *copy_wrong(const struct perf_code *code)
{
	if (code->replaced)
		return "may be another file: several had this path, and no build id of them was recorded" ID_HINT;
	if (!S_ISREG(code->found.st_mode) ||
	    (u64)code->found.st_size <= code->low)
		return "is shorter than what was mapped of it";
	return NULL;
}

/* How a file is known to be the one. */
struct proof {
	const struct timespec *begun;
	bool copy;
};

/* Why an open file is not the one; NULL: it is. */
static const char *file_wrong(struct perf_code *code, int fd,
			      const struct proof *proof)
{
	if (code->has_id && id_right(code, fd))
		return code->is_twin && !proof->copy && proof->begun &&
		       !file_is_older(&code->found, proof->begun) ? TWIN_CHANGED : NULL;
	if (code->has_id)
		return proof->copy ? "has another build id" :
				     "the file of this name has another build id";
	return proof->copy ? copy_wrong(code) :
			     inode_wrong(code, fd, proof->begun);
}

/* Takes the file if it is the one. */
static bool try(struct perf_code *code, const char *path,
		const struct proof *proof)
{
	int fd = file_open_regular(path);
	const char *why;

	if (fd >= 0 && !fstat(fd, &code->found)) {
		why = file_wrong(code, fd, proof);
		/* In the cache its folder has its name, and the link has not. */
		if (!why)
			__atomic_store_n(&code->local, realpath(path, NULL),
					 __ATOMIC_RELEASE);
		if (!why || !code->why)
			code->why = why;
	}
	if (fd >= 0)
		close(fd);
	return code->local;
}

static bool copy_try(struct perf_code *code, const char *symfs)
{
	const struct proof proof = { .copy = true };
	char *path = file_path_under(symfs, code->path);
	bool found = path && try(code, path, &proof);

	if (found || !code->why || asprintf(&code->tried, "%s%s", symfs,
					    code->shown) < 0)
		code->tried = NULL;
	free(path);
	return found;
}

static bool vdso_try(struct perf_code *code)
{
	struct build_id id;

	if (strcmp(code->path, "[vdso]") || !code->has_id || !mapped_ids_vdso(&id) ||
	    !build_id_same(&id, &code->id))
		return false;
	code->local = strdup("");
	if (!code->local)
		return false;
	code->low = 0;
	code->bytes = (const void *)getauxval(AT_SYSINFO_EHDR);
	code->size = VDSO_SIZE;
	code->state = PERF_CODE_THERE;
	return true;
}

static bool cache_try_as(struct perf_code *code, const struct build_id *id)
{
	/* perf calls the vDSO so, and all others "elf". */
	const char *name = code->path[0] == '[' ? "vdso" : "elf";
	const struct proof by_id = { 0 };
	char path[4096];

	if (build_id_cache_path(id, name, NULL, path, sizeof(path)) &&
	    try(code, path, &by_id))
		return true;
	/* Where it was copied without its links. */
	return build_id_cache_path(id, name, code->path, path, sizeof(path)) &&
	       try(code, path, &by_id);
}

static bool cache_try(struct perf_code *code)
{
	struct build_id form;
	u32 i;

	for (i = 0; i < BUILD_ID_FORMS && code->has_id; i++) {
		if (build_id_cache_form(&code->id, i, &form) &&
		    cache_try_as(code, &form))
			return true;
	}
	return false;
}

/* What there is to say of a file that was nowhere. */
static const char *why_not(const struct perf_code *code, const char *symfs)
{
	if (code->path[0] != '/')
		return code->has_id ? "it is not in the folder of build ids" :
				      "no build id of it was recorded";
	if (symfs)
		return "it is not in the folder of --symfs";
	return code->has_id ? "it is not on this machine, or no file of a disk" :
			      "no build id of it was recorded" ID_HINT;
}

static bool begins(const char *text, const char *const *with)
{
	while (*with && strncmp(text, *with, strlen(*with)))
		with++;
	return *with;
}

/* Names of the kernel for memory that no file has; the second ones are of files that
 * never were in a folder.
 */
static bool is_memory(const struct perf_code *code)
{
	static const char *const names[] = { "//anon", "[heap]", "[stack", "[anon",
					     "anon_inode:", NULL };
	static const char *const unlinked[] = { "/memfd:", "/dev/zero", "/SYSV",
						"/anon_hugepage", NULL };
	size_t length = strlen(code->path), end = strlen(DELETED);

	if (code->has_id)
		return false;
	return begins(code->path, names) ||
	       (length >= end && !strcmp(code->path + length - end, DELETED) &&
		begins(code->path, unlinked));
}

static void code_find(struct perf_code *code, const struct timespec *begun,
		      const char *symfs)
{
	const struct proof proof = { .begun = begun };

	if (is_memory(code)) {
		code->why = in_memory;
		return;
	}
	if (code->path[0] == '/' && (symfs ? copy_try(code, symfs) :
					     try(code, code->path, &proof)))
		return;
	if (vdso_try(code) || cache_try(code)) {
		free(code->tried);
		code->tried = NULL;
	} else if (!code->why) {
		code->why = why_not(code, symfs);
	}
}

void perf_codes_find(struct perf_codes *codes, const struct timespec *begun,
		     const char *symfs)
{
	struct perf_code *code;

	for (code = codes->first; code; code = code->next)
		code_find(code, begun, symfs);
}

/* The file is as it was found. */
static bool unchanged(const struct perf_code *code, int fd)
{
	const struct stat *old = &code->found;
	struct stat now;

	return !fstat(fd, &now) && now.st_dev == old->st_dev &&
	       now.st_ino == old->st_ino && now.st_size == old->st_size &&
	       !time_is_before(&old->st_ctim, &now.st_ctim);
}

int perf_code_open(const struct perf_code *code)
{
	int fd = code->local && *code->local ? file_open_regular(code->local) : -1;

	if (fd < 0 || unchanged(code, fd))
		return fd;
	close(fd);
	return -1;
}

/* Returns why not, or NULL. */
static const char *bytes_load(struct perf_code *code, int fd)
{
	u64 end = code->found.st_size, size;
	u8 *bytes;

	if (end > code->high)
		end = code->high;
	if (code->low >= end)
		return "it is shorter than what was mapped of it";
	size = end - code->low;
	if (size > LOADED_MOST - loaded)
		return "more code than 2 GiB is not kept in memory";
	bytes = large_alloc(size);
	if (!bytes)
		return "there is no memory for it";
	/* In this order: what changed it changed its time before. */
	if (file_read_at(fd, code->low, bytes, size) < size ||
	    !unchanged(code, fd)) {
		free(bytes);
		return CHANGED;
	}
	loaded += size;
	code->bytes = bytes;
	code->size = size;
	return NULL;
}

/* Only for what the trace needs: a server takes its time. */
static void server_try(struct perf_code *code)
{
	const struct proof by_id = { 0 };
	char *path = NULL;

	if (code->has_id && code->path[0] == '/')
		path = debug_server_code(&code->id);
	code->served = path;
	if (path)
		try(code, path, &by_id);
	free(path);
}

static void code_load(struct perf_code *code)
{
	const char *why;
	int fd;

	pthread_mutex_lock(&load_lock);
	if (code->state == PERF_CODE_UNREAD) {
		if (!code->local)
			server_try(code);
		fd = code->local ? file_open_regular(code->local) : -1;
		why = fd < 0 ? CHANGED : bytes_load(code, fd);
		if (fd >= 0)
			close(fd);
		if (code->local && why)
			code->why = why;
		__atomic_store_n(&code->state, why ? PERF_CODE_MISSING :
						     PERF_CODE_THERE,
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&load_lock);
}

u32 perf_code_read(struct perf_code *code, u64 offset, u8 *bytes, u32 size)
{
	u32 state = __atomic_load_n(&code->state, __ATOMIC_ACQUIRE);

	if (state == PERF_CODE_UNREAD) {
		code_load(code);
		state = __atomic_load_n(&code->state, __ATOMIC_ACQUIRE);
	}
	if (state != PERF_CODE_THERE || offset < code->low ||
	    offset - code->low >= code->size)
		return 0;
	offset -= code->low;
	if (size > code->size - offset)
		size = code->size - offset;
	memcpy(bytes, code->bytes + offset, size);
	return size;
}

const char *perf_codes_name(const struct perf_codes *codes, const char *local)
{
	const struct perf_code *code;
	const char *found, *name = NULL;

	/* The first that was mapped is last in the list. */
	for (code = codes->first; code; code = code->next) {
		found = __atomic_load_n(&code->local, __ATOMIC_ACQUIRE);
		if (found && !strcmp(found, local))
			name = code->shown;
	}
	return name;
}

bool perf_codes_missing(const struct perf_codes *codes)
{
	const struct perf_code *code;
	u32 shown = 0, more = 0;
	bool files = false;

	for (code = codes->first; code; code = code->next) {
		if (code->state != PERF_CODE_MISSING)
			continue;
		files |= code->why != in_memory;
		if (shown++ >= MISSING_SHOWN)
			more++;
		else if (code->tried)
			say_note("no code of %s: %s %s", code->shown,
				 code->tried, code->why);
		else
			say_note("no code of %s: %s", code->shown, code->why);
	}
	if (more)
		say_note("no code of %u further files", more);
	if (files)
		say_note("'perf archive FILE' on the machine of the recording packs what is missing; unpacked in ~/.debug, or where PERF_BUILDID_DIR says, it is found");
	return shown;
}

static void node_free(void *node)
{
	(void)node;
}

void perf_codes_free(struct perf_codes *codes)
{
	struct perf_code *code;

	tdestroy(codes->tree, node_free);
	codes->tree = NULL;
	while ((code = codes->first)) {
		codes->first = code->next;
		if (code->local && *code->local)
			free((void *)code->bytes);
		free(code->local);
		free(code->tried);
		code_free(code);
	}
}
