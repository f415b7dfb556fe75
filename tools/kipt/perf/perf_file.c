// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what perf record wrote, see perf_file.h. All is read with pread():
 * a file that shrinks meanwhile is an error, not a signal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/file_map.h"
#include "../cli/list_room.h"
#include "../cli/lookup.h"
#include "../cli/messages.h"
#include "../cli/printable.h"
#include "../cli/progress.h"
#include "perf_bytes.h"
#include "perf_file.h"
#include "perf_unzip.h"

#define EVENT_HEAD	8
#define EVENT_MOST	0xffff
#define WINDOW		(256 << 10)
#define ATTR_LEAST	64
/* Where members of it are. */
#define ATTR_BRANCH_TYPE	72
#define ATTR_REGS_USER		80
#define ATTR_REGS_INTR		96
#define ATTR_MOST	4096
#define SECTION		16
#define FEATURES	256
#define FEATURE_BUILD_ID 2
#define FEATURE_EVENT_DESC 12
/* A list of events is no longer, whatever a file says. */
#define EVENT_DESC_MOST	(16U << 20)
#define BUILD_ID_AT	12
#define BUILD_ID_NAME	36
#define BUILD_ID_BYTES	20
#define MISC_ID_SIZE	(1U << 15)
/* More than any machine makes: CPUs times events. */
#define IDS_MOST	(1 << 22)
/* The same of kinds of events, each with options of its own. */
#define ATTRS_MOST	(1 << 16)
/* Of the lists of build ids, with their names. */
#define BUILDS_HELD_MOST	(256U << 20)

/* Where things are in the head of the file. */
enum {
	HEAD_SIZE = 8,
	HEAD_ATTR_SIZE = 16,
	HEAD_ATTRS = 24,
	HEAD_DATA = 40,
	HEAD_FEATURES = 72,
	HEAD_LENGTH = 104,
	HEAD_PIPE = 16,
};

struct perf_file {
	char *path;
	bool folder;
	int fd;
	u64 size;
	bool pipe;
	/* The stream; the end is not that of the file if features follow. */
	u64 begin, end;
	struct perf_attr *attrs;
	size_t attr_count;
	struct lookup attr_of;
	/* Numbers in the lists of all events, one that several have as often. */
	u64 ids_read;
	struct perf_build_id *builds;
	size_t build_count;
	u64 builds_held;
	bool builds_sorted;
	/* Its list of BPF programs. */
	bool has_bpf;
	u64 bpf_at, bpf_size;
	/* A part of the file. */
	u8 *window;
	u64 window_at;
	u32 window_size;
	struct perf_unzip *unzip;
	/* The stream is bad, and a sentence said so. */
	bool bad;
};

static bool magic_is(const u8 *magic)
{
	return !memcmp(magic, "PERFILE2", 8) || !memcmp(magic, "2ELIFREP", 8) ||
	       !memcmp(magic, "PERFFILE", 8) || !memcmp(magic, "ELIFFREP", 8);
}

/* Of a folder, the name of the file in it. The caller frees it. */
static char *data_path(const char *path, bool *folder)
{
	struct stat st;
	char *data;

	*folder = !stat(path, &st) && S_ISDIR(st.st_mode);
	if (!*folder)
		return strdup(path);
	return asprintf(&data, "%s/data", path) < 0 ? NULL : data;
}

bool perf_file_is(const char *path)
{
	bool folder, is = false;
	char *data = data_path(path, &folder);
	u8 magic[8];
	int fd = data ? file_open_regular(data) : -1;

	if (fd >= 0) {
		is = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		     magic_is(magic);
		close(fd);
	}
	free(data);
	return is;
}

bool perf_file_read(const struct perf_file *file, u64 at, u8 *bytes, u64 size)
{
	ssize_t got;

	while (size) {
		got = pread(file->fd, bytes, size, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			say_errno(errno, "cannot read %s", file->path);
			return false;
		}
		if (!got) {
			say_error("%s became shorter while it was read",
				  file->path);
			return false;
		}
		bytes += got;
		at += got;
		size -= got;
	}
	return true;
}

/* Bytes that are in the file; NULL after a sentence. */
static const u8 *window_get(struct perf_file *file, u64 at, u32 size)
{
	u64 left;

	if (at >= file->window_at && at - file->window_at <= file->window_size &&
	    size <= file->window_size - (at - file->window_at))
		return file->window + (at - file->window_at);
	left = file->size - at;
	file->window_at = at;
	file->window_size = 0;
	if (!perf_file_read(file, at, file->window,
			    left < WINDOW ? left : WINDOW))
		return NULL;
	file->window_size = left < WINDOW ? left : WINDOW;
	return file->window;
}

static bool section_fits(const struct perf_file *file, u64 at, u64 size)
{
	return at <= file->size && size <= file->size - at;
}

/* Only the first sentence counts: what follows comes of the same. */
static bool __printf(2, 3) bad(struct perf_file *file, const char *format, ...)
{
	char text[256];
	va_list args;

	if (file->bad)
		return false;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say_error("%s: %s", file->path, text);
	file->bad = true;
	return false;
}

static bool no_memory(struct perf_file *file)
{
	say_errno(ENOMEM, "cannot read %s", file->path);
	file->bad = true;
	return false;
}

static bool id_add(struct perf_file *file, u64 id, size_t attr)
{
	if (file->attr_of.count == IDS_MOST)
		return bad(file, "it has more than %u numbers of events",
			   IDS_MOST);
	return lookup_add(&file->attr_of, id, attr) || no_memory(file);
}

/* Members that struct perf_event_attr did not always have. */
static u64 attr_member(const u8 *bytes, u64 size, u32 at)
{
	return at + 8 <= size && at + 8 <= get32(bytes + 4) ?
	       get64(bytes + at) : 0;
}

/* @bytes: struct perf_event_attr, @size, which is ATTR_LEAST or more, of it. */
static bool attr_add(struct perf_file *file, const u8 *bytes, u64 size)
{
	struct perf_attr *attrs;

	if (file->attr_count == ATTRS_MOST)
		return bad(file, "it has more kinds of events than kipt keeps (%u)", ATTRS_MOST);
	attrs = list_room(file->attrs, file->attr_count, sizeof(*attrs));
	if (!attrs)
		return no_memory(file);
	file->attrs = attrs;
	attrs[file->attr_count++] = (struct perf_attr){
		.type = get32(bytes),
		.config = get64(bytes + 8),
		.sample_type = get64(bytes + 24),
		.read_format = get64(bytes + 32),
		.flags = get64(bytes + 40),
		.branch_type = attr_member(bytes, size, ATTR_BRANCH_TYPE),
		.regs_user = attr_member(bytes, size, ATTR_REGS_USER),
		.regs_intr = attr_member(bytes, size, ATTR_REGS_INTR),
	};
	return true;
}

static bool ids_read(struct perf_file *file, u64 at, u64 size)
{
	const u8 *bytes;
	u64 i;

	if (size / 8 > IDS_MOST - file->ids_read)
		return bad(file, "its events have more numbers than kipt keeps (%u)", IDS_MOST);
	if (size % 8 || !section_fits(file, at, size))
		return bad(file, "the numbers of its events are at %llu, %llu bytes, which is not in the file",
			   (unsigned long long)at, (unsigned long long)size);
	file->ids_read += size / 8;
	for (i = 0; i < size; i += 8) {
		bytes = window_get(file, at + i, 8);
		if (!bytes || !id_add(file, get64(bytes), file->attr_count - 1))
			return false;
	}
	return true;
}

static bool attrs_read(struct perf_file *file, const u8 *head)
{
	u64 each = get64(head + HEAD_ATTR_SIZE);
	u64 at = get64(head + HEAD_ATTRS), size = get64(head + HEAD_ATTRS + 8);
	const u8 *bytes;
	u64 i, ids, ids_size;

	if (each < ATTR_LEAST + SECTION || each > ATTR_MOST || size % each ||
	    !section_fits(file, at, size))
		return bad(file, "it was cut, or its table of events makes no sense");
	for (i = 0; i < size; i += each) {
		bytes = window_get(file, at + i, each);
		if (!bytes || !attr_add(file, bytes, each - SECTION))
			return false;
		ids = get64(bytes + each - SECTION);
		ids_size = get64(bytes + each - SECTION + 8);
		if (!ids_read(file, ids, ids_size))
			return false;
	}
	return true;
}

/* @bytes: an event of the list of build ids, with its head. */
static bool build_id_add(struct perf_file *file, const u8 *bytes, u32 size)
{
	u32 length = BUILD_ID_BYTES, misc = get16(bytes + 4);
	struct perf_build_id *builds;
	size_t name;

	if (size <= BUILD_ID_NAME || perf_misc_is_guest(misc))
		return true;
	if (misc & MISC_ID_SIZE)
		length = bytes[BUILD_ID_AT + BUILD_ID_BYTES];
	if (!length || length > BUILD_ID_BYTES)
		return true;
	name = strnlen((const char *)bytes + BUILD_ID_NAME, size - BUILD_ID_NAME);
	if (name > PATH_MAX)
		return bad(file, "its list of build ids has a name of %zu bytes, more than a path can have",
			   name);
	file->builds_held += sizeof(*builds) + name;
	if (file->builds_held > BUILDS_HELD_MOST)
		return bad(file, "its lists of build ids are longer than kipt keeps (%u MiB)",
			   BUILDS_HELD_MOST >> 20);
	builds = list_room(file->builds, file->build_count, sizeof(*builds));
	if (!builds)
		return no_memory(file);
	file->builds = builds;
	builds += file->build_count;
	builds->id.size = length;
	memcpy(builds->id.bytes, bytes + BUILD_ID_AT, length);
	builds->name = strndup((const char *)bytes + BUILD_ID_NAME,
			       size - BUILD_ID_NAME);
	if (!builds->name)
		return no_memory(file);
	file->build_count++;
	return true;
}

static bool build_ids_read(struct perf_file *file, u64 at, u64 size)
{
	u64 end = at + size;
	const u8 *bytes;
	u32 each;

	while (end - at >= EVENT_HEAD) {
		bytes = window_get(file, at, EVENT_HEAD);
		if (!bytes)
			return false;
		each = get16(bytes + 6);
		if (each < EVENT_HEAD || each > end - at)
			return true;
		bytes = window_get(file, at, each);
		if (!bytes || !build_id_add(file, bytes, each))
			return false;
		at += each;
	}
	return true;
}

/* The next event of its list, which begins at @at; 0: it is not whole. */
static u64 desc_next(const u8 *bytes, u64 size, u64 at, u32 attr_size,
		     const char **name, u32 *length)
{
	u64 ids, left;

	if (size - at < attr_size + 8ULL)
		return 0;
	ids = get32(bytes + at + attr_size);
	*length = get32(bytes + at + attr_size + 4);
	at += attr_size + 8ULL;
	left = size - at;
	if (*length > left || ids > (left - *length) / 8)
		return 0;
	*name = (const char *)bytes + at;
	return at + *length + ids * 8;
}

/* Its events in the order of their attributes: number, size of each, then each. */
static bool event_desc_take(struct perf_file *file, const u8 *bytes, u64 size)
{
	u32 attr_size, length;
	struct perf_attr *attr;
	const char *name;
	u64 at = 8, next;
	size_t i;

	if (size < at)
		return true;
	attr_size = get32(bytes + 4);
	for (i = 0; i < file->attr_count && i < get32(bytes); i++, at = next) {
		attr = &file->attrs[i];
		next = desc_next(bytes, size, at, attr_size, &name, &length);
		if (!next || attr_size < ATTR_LEAST ||
		    get32(bytes + at) != attr->type ||
		    get64(bytes + at + 8) != attr->config)
			return true;
		if (!attr->name)
			attr->name = strndup(name, length);
		if (!attr->name)
			return no_memory(file);
		plain_text(attr->name);
	}
	return true;
}

static bool event_desc_read(struct perf_file *file, u64 at, u64 size)
{
	bool ok;
	u8 *bytes;

	if (!size || size > EVENT_DESC_MOST)
		return true;
	bytes = malloc(size);
	if (!bytes)
		return no_memory(file);
	ok = perf_file_read(file, at, bytes, size) &&
	     event_desc_take(file, bytes, size);
	free(bytes);
	return ok;
}

/* What is there is used all the same. */
static void features_cut(struct perf_file *file)
{
	bad(file, "it was cut after its events: its list of files and build ids is not whole");
}

/* Each has an entry after the stream. The others are not needed. */
static bool features_read(struct perf_file *file, const u8 *head)
{
	u64 at = file->end, where, size;
	const u8 *bytes;
	bool fits;
	u32 i;

	/* A perf that died wrote none, and stream_find() said so; a cut stream has none either. */
	if (file->bad || !get64(head + HEAD_DATA + 8))
		return true;
	for (i = 0; i < FEATURES; i++) {
		if (!(head[HEAD_FEATURES + i / 8] & 1U << i % 8))
			continue;
		if (!section_fits(file, at, SECTION)) {
			features_cut(file);
			return true;
		}
		bytes = window_get(file, at, SECTION);
		if (!bytes)
			return false;
		where = get64(bytes);
		size = get64(bytes + 8);
		fits = section_fits(file, where, size);
		if (!fits)
			features_cut(file);
		if (i == FEATURE_BUILD_ID && fits &&
		    !build_ids_read(file, where, size))
			return false;
		if (i == FEATURE_EVENT_DESC && fits &&
		    !event_desc_read(file, where, size))
			return false;
		if (i == PERF_FEATURE_BPF && fits) {
			file->has_bpf = true;
			file->bpf_at = where;
			file->bpf_size = size;
		}
		at += SECTION;
	}
	return true;
}

/* A recording that did not end well has no size of its stream. */
static bool stream_find(struct perf_file *file, const u8 *head)
{
	u64 size = get64(head + HEAD_DATA + 8);

	file->begin = get64(head + HEAD_DATA);
	if (file->begin > file->size)
		return bad(file, "its events are at %llu, but it has %llu bytes",
			   (unsigned long long)file->begin,
			   (unsigned long long)file->size);
	file->end = file->size;
	if (size && size <= file->size - file->begin)
		file->end = file->begin + size;
	else if (size)
		bad(file, "it was cut: %llu bytes of events are announced, %llu are there",
		    (unsigned long long)size,
		    (unsigned long long)(file->size - file->begin));
	else
		say_note("%s: perf did not end well, it does not say how many events there are",
			 file->path);
	return true;
}

static bool head_check(struct perf_file *file, const u8 *head)
{
	if (!memcmp(head, "PERFILE2", 8))
		return true;
	if (!memcmp(head, "2ELIFREP", 8) || !memcmp(head, "ELIFFREP", 8))
		return bad(file, "it was recorded on a machine of the other byte order; kipt reads those of x86 only");
	return bad(file, "it was recorded by a perf of before 2012, or is no perf.data");
}

static bool head_read(struct perf_file *file)
{
	u8 head[HEAD_LENGTH];

	if (file->size < HEAD_PIPE)
		return bad(file, "it was cut: %llu bytes are not even a head",
			   (unsigned long long)file->size);
	if (!perf_file_read(file, 0, head, HEAD_PIPE) || !head_check(file, head))
		return false;
	if (get64(head + HEAD_SIZE) == HEAD_PIPE) {
		file->pipe = true;
		file->begin = HEAD_PIPE;
		file->end = file->size;
		return true;
	}
	if (get64(head + HEAD_SIZE) != HEAD_LENGTH)
		return bad(file, "its head has %llu bytes, kipt knows those of %u",
			   (unsigned long long)get64(head + HEAD_SIZE), HEAD_LENGTH);
	if (file->size < HEAD_LENGTH)
		return bad(file, "it was cut in its head");
	return perf_file_read(file, 0, head, HEAD_LENGTH) &&
	       attrs_read(file, head) && stream_find(file, head) &&
	       features_read(file, head);
}

static bool file_open(struct perf_file *file)
{
	char *data = data_path(file->path, &file->folder);
	struct stat st;

	file->window = malloc(WINDOW);
	if (!data || !file->window) {
		free(data);
		return no_memory(file);
	}
	file->fd = file_open_tell(data);
	free(data);
	if (file->fd < 0 || fstat(file->fd, &st))
		return false;
	file->size = st.st_size;
	return head_read(file);
}

/* perf record --threads writes data.0, data.1, ... beside it. */
static bool is_of_threads(const char *path)
{
	char *data;
	bool is = asprintf(&data, "%s/data.0", path) >= 0;

	if (!is)
		return false;
	is = !access(data, F_OK);
	free(data);
	if (is)
		say_error("%s: recordings of perf record --threads cannot be read yet: record without it",
			  path);
	return is;
}

struct perf_file *perf_file_open(const char *path)
{
	struct perf_file *file;

	if (is_of_threads(path))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file) {
		say_errno(ENOMEM, "cannot read %s", path);
		return NULL;
	}
	file->fd = -1;
	file->path = strdup(path);
	if (file->path && file_open(file))
		return file;
	perf_file_close(file);
	return NULL;
}

void perf_file_close(struct perf_file *file)
{
	size_t i;

	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	for (i = 0; i < file->build_count; i++)
		free(file->builds[i].name);
	for (i = 0; i < file->attr_count; i++)
		free(file->attrs[i].name);
	perf_unzip_destroy(file->unzip);
	free(file->builds);
	free(file->attrs);
	lookup_free(&file->attr_of);
	free(file->window);
	free(file->path);
	free(file);
}

/* What the stream of a pipe says, which a file has elsewhere. */
static bool attr_event(struct perf_file *file, const struct perf_event *event)
{
	u32 size, at;

	if (event->size < ATTR_LEAST)
		return bad(file, "an attribute of %u bytes is too short",
			   event->size);
	size = get32(event->bytes + 4);
	if (size < ATTR_LEAST)
		size = ATTR_LEAST;
	if (!attr_add(file, event->bytes, event->size))
		return false;
	for (at = size; at <= event->size && event->size - at >= 8; at += 8) {
		if (!id_add(file, get64(event->bytes + at),
			    file->attr_count - 1))
			return false;
	}
	return true;
}

static bool feature_event(struct perf_file *file,
			  const struct perf_event *event)
{
	u32 at = 8, each;

	if (event->size < at)
		return true;
	if (get64(event->bytes) == FEATURE_EVENT_DESC)
		return event_desc_take(file, event->bytes + at, event->size - at);
	if (get64(event->bytes) != FEATURE_BUILD_ID)
		return true;
	while (event->size - at >= EVENT_HEAD) {
		each = get16(event->bytes + at + 6);
		if (each < EVENT_HEAD || each > event->size - at)
			break;
		if (!build_id_add(file, event->bytes + at, each))
			return false;
		at += each;
	}
	return true;
}

static bool event_learn(struct perf_file *file, const struct perf_event *event)
{
	switch (event->type) {
	case PERF_EVENT_HEADER_ATTR:
		return !file->pipe || attr_event(file, event);
	case PERF_EVENT_HEADER_FEATURE:
		return feature_event(file, event);
	case PERF_EVENT_BUILD_ID:
		return build_id_add(file, event->bytes - EVENT_HEAD,
				    event->size + EVENT_HEAD);
	}
	return true;
}

struct stream {
	struct perf_file *file;
	bool (*take)(void *ctx, const struct perf_event *event);
	void *ctx;
};

static void event_head(struct perf_event *event, const u8 *bytes)
{
	*event = (struct perf_event){
		.type = get32(bytes),
		.misc = get16(bytes + 4),
		.bytes = bytes + EVENT_HEAD,
		.size = get16(bytes + 6) - EVENT_HEAD,
	};
}

/* Events that perf_unzip() gives. Returns how many bytes were whole events,
 * or -1 after a sentence.
 */
static s64 plain_take(void *ctx, const u8 *bytes, u64 size)
{
	struct stream *stream = ctx;
	struct perf_event event;
	u64 at = 0;
	u32 each;

	while (size - at >= EVENT_HEAD) {
		each = get16(bytes + at + 6);
		if (each < EVENT_HEAD) {
			bad(stream->file, "a compressed event has %u bytes",
			    each);
			return -1;
		}
		if (each > size - at)
			break;
		event_head(&event, bytes + at);
		if (!event_learn(stream->file, &event) ||
		    !stream->take(stream->ctx, &event))
			return -1;
		at += each;
	}
	return at;
}

static bool compressed_take(struct stream *stream,
			    const struct perf_event *event)
{
	struct perf_file *file = stream->file;
	const u8 *bytes = event->bytes;
	u64 size = event->size;

	if (event->type == PERF_EVENT_COMPRESSED2) {
		if (size < 8 || get64(bytes) > size - 8)
			return bad(file, "a compressed event is longer than the event it is in");
		size = get64(bytes);
		bytes += 8;
	}
	if (!file->unzip)
		file->unzip = perf_unzip_create(file->path);
	if (file->unzip && perf_unzip(file->unzip, bytes, size, plain_take, stream))
		return true;
	file->bad = true;
	return false;
}

/* How many bytes that are no event come after it. */
static bool follow_find(struct perf_file *file, struct perf_event *event)
{
	u64 follow = 0, left = file->end - event->at;

	if (event->type == PERF_EVENT_AUXTRACE && event->size >= 8)
		follow = get64(event->bytes);
	else if (event->type == PERF_EVENT_TRACING_DATA && event->size >= 4)
		follow = ((u64)get32(event->bytes) + 7) & ~7ULL;
	event->follow = follow < left ? follow : left;
	if (follow > left)
		bad(file, "it was cut: %llu bytes are to follow at %llu, %llu are there",
		    (unsigned long long)follow, (unsigned long long)event->at,
		    (unsigned long long)left);
	return follow <= left;
}

/* Returns false after a sentence, or at the end. */
static bool event_get(struct perf_file *file, u64 at, struct perf_event *event)
{
	const u8 *bytes;
	u32 size;

	if (at >= file->end)
		return false;
	if (file->end - at < EVENT_HEAD)
		return bad(file, "it was cut within an event at %llu",
			   (unsigned long long)at);
	bytes = window_get(file, at, EVENT_HEAD);
	if (!bytes)
		return file->bad = true, false;
	size = get16(bytes + 6);
	if (size < EVENT_HEAD)
		return bad(file, "the event at %llu has %u bytes, which is no size; what came before is kept",
			   (unsigned long long)at, size);
	if (size > file->end - at)
		return bad(file, "it was cut within an event at %llu",
			   (unsigned long long)at);
	bytes = window_get(file, at, size);
	if (!bytes)
		return file->bad = true, false;
	event_head(event, bytes);
	event->at = at + size;
	return true;
}

bool perf_file_events(struct perf_file *file,
		      bool (*take)(void *ctx, const struct perf_event *event),
		      void *ctx)
{
	struct stream stream = { file, take, ctx };
	struct perf_event event;
	u64 at = file->begin;
	bool whole, more = true;

	while (more && event_get(file, at, &event)) {
		progress_show("reading", at, file->end);
		whole = follow_find(file, &event);
		if (event.type == PERF_EVENT_COMPRESSED ||
		    event.type == PERF_EVENT_COMPRESSED2)
			more = compressed_take(&stream, &event);
		else
			more = event_learn(file, &event) && take(ctx, &event);
		at = event.at + event.follow;
		more = more && whole;
	}
	progress_clear();
	if (more && perf_unzip_left(file->unzip))
		bad(file, "its compressed events end within one; what came before is kept");
	return !file->bad && more;
}

static const struct perf_attr *attr_of(const struct perf_file *file, u64 id)
{
	const size_t *found = lookup_get(&file->attr_of, id);

	return &file->attrs[found ? *found : 0];
}

static u32 stamp_size(u64 type)
{
	return 8 * __builtin_popcountll(type & (PERF_SAMPLE_BIT_TID |
						PERF_SAMPLE_BIT_TIME |
						PERF_SAMPLE_BIT_ID |
						PERF_SAMPLE_BIT_STREAM |
						PERF_SAMPLE_BIT_CPU |
						PERF_SAMPLE_BIT_IDENTIFIER));
}

/* Events that perf makes up itself are of all zero, and so of the first. */
void perf_file_stamp(const struct perf_file *file,
		     const struct perf_event *event, struct perf_stamp *stamp)
{
	const struct perf_attr *attr = file->attrs;
	const u8 *at;

	memset(stamp, 0, sizeof(*stamp));
	if (!file->attr_count || event->type >= PERF_EVENT_HEADER_ATTR ||
	    event->size < 8)
		return;
	if (attr->sample_type & PERF_SAMPLE_BIT_IDENTIFIER)
		attr = attr_of(file, get64(event->bytes + event->size - 8));
	if (!(attr->flags & PERF_ATTR_SAMPLE_ID_ALL) ||
	    stamp_size(attr->sample_type) > event->size)
		return;
	stamp->has = attr->sample_type;
	stamp->size = stamp_size(attr->sample_type);
	at = event->bytes + event->size - stamp->size;
	if (stamp->has & PERF_SAMPLE_BIT_TID) {
		stamp->pid = get32(at);
		stamp->tid = get32(at + 4);
		at += 8;
	}
	if (stamp->has & PERF_SAMPLE_BIT_TIME) {
		stamp->time = get64(at);
		at += 8;
	}
	at += stamp->has & PERF_SAMPLE_BIT_ID ? 8 : 0;
	at += stamp->has & PERF_SAMPLE_BIT_STREAM ? 8 : 0;
	if (stamp->has & PERF_SAMPLE_BIT_CPU)
		stamp->cpu = get32(at);
}

bool perf_mmap_build_id(const struct perf_event *event, struct build_id *id)
{
	const u8 *at = event->bytes + PERF_MMAP2_ID;

	if (!at[0] || at[0] > BUILD_ID_BYTES)
		return false;
	id->size = at[0];
	memcpy(id->bytes, at + 4, at[0]);
	return true;
}

const struct perf_attr *perf_file_attr_of(const struct perf_file *file,
					  const struct perf_event *event)
{
	u64 type = file->attr_count ? file->attrs[0].sample_type : 0;
	size_t i;

	if (!file->attr_count)
		return NULL;
	if (type & PERF_SAMPLE_BIT_IDENTIFIER)
		return event->size < 8 ? NULL :
					 attr_of(file, get64(event->bytes));
	for (i = 1; i < file->attr_count; i++) {
		if (file->attrs[i].sample_type != type)
			return NULL;
	}
	return file->attrs;
}

const struct perf_attr *perf_file_attr(const struct perf_file *file,
				       size_t index)
{
	return index < file->attr_count ? &file->attrs[index] : NULL;
}

bool perf_file_bpf(const struct perf_file *file, u64 *at, u64 *size)
{
	*at = file->bpf_at;
	*size = file->bpf_size;
	return file->has_bpf;
}

static int build_compare(const void *left, const void *right)
{
	const struct perf_build_id *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* By name. Of two that have one name nobody knows which file is meant: size 0. */
static void builds_sort(struct perf_file *file)
{
	struct perf_build_id *builds = file->builds, *last = builds;
	size_t i;

	if (file->builds_sorted || !file->build_count)
		return;
	qsort(builds, file->build_count, sizeof(*builds), build_compare);
	for (i = 1; i < file->build_count; i++) {
		if (strcmp(last->name, builds[i].name)) {
			*++last = builds[i];
			continue;
		}
		if (!build_id_same(&last->id, &builds[i].id))
			last->id.size = 0;
		free(builds[i].name);
	}
	file->build_count = last - builds + 1;
	file->builds_sorted = true;
}

const struct build_id *perf_file_build_id(const struct perf_file *file,
					  const char *name)
{
	const struct perf_build_id key = { .name = (char *)name }, *found;

	builds_sort((struct perf_file *)file);
	found = file->build_count ?
		bsearch(&key, file->builds, file->build_count, sizeof(key),
			build_compare) : NULL;
	return found && found->id.size ? &found->id : NULL;
}

bool perf_file_begun(const struct perf_file *file, u64 lasted,
		     struct timespec *begun)
{
	struct statx st;
	s64 written;

	if (statx(file->fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME, &st) ||
	    !(st.stx_mask & STATX_BTIME))
		return false;
	*begun = (struct timespec){ st.stx_btime.tv_sec, st.stx_btime.tv_nsec };
	written = (st.stx_mtime.tv_sec - st.stx_btime.tv_sec) * 1000000000LL +
		  st.stx_mtime.tv_nsec - st.stx_btime.tv_nsec;
	return written >= 0 && (u64)written >= lasted;
}

const char *perf_file_path(const struct perf_file *file)
{
	return file->path;
}

bool perf_file_bad(const struct perf_file *file)
{
	return file->bad;
}

u64 perf_file_size(const struct perf_file *file)
{
	return file->size;
}

bool perf_file_folder(const struct perf_file *file)
{
	return file->folder;
}
