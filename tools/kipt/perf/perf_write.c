// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes what perf record would, see perf_write.h. The head of the file comes
 * last: until then the file has zeros there, and is no recording.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../cli/list_room.h"
#include "../cli/messages.h"
#include "perf_features.h"
#include "perf_write.h"

#define HEAD_BYTES	104
#define EVENT_HEAD	8
#define FEATURE_WORDS	4
/* Where the file has attributes, each with the place of its numbers. */
#define ATTR_BYTES	PERF_ATTR_SIZE_VER5
#define SECTION_BYTES	16
#define TOO_LONG	"//toolong"

void perf_put32(struct perf_body *body, u32 number)
{
	if (body->size + sizeof(number) > sizeof(body->bytes))
		return;
	memcpy(body->bytes + body->size, &number, sizeof(number));
	body->size += sizeof(number);
}

void perf_put64(struct perf_body *body, u64 number)
{
	if (body->size + sizeof(number) > sizeof(body->bytes))
		return;
	memcpy(body->bytes + body->size, &number, sizeof(number));
	body->size += sizeof(number);
}

void perf_put_text(struct perf_body *body, const char *text)
{
	size_t room = sizeof(body->bytes) - PERF_STAMP_BYTES - body->size;

	/* As the kernel does. */
	if (strlen(text) / 8 * 8 + 8 > room)
		text = TOO_LONG;
	memcpy(body->bytes + body->size, text, strlen(text));
	body->size += strlen(text);
	do {
		body->bytes[body->size++] = 0;
	} while (body->size % 8);
}

static bool failed(struct perf_writer *writer, int err)
{
	if (!writer->failed)
		say_errno(err, "cannot write to %s", writer->path);
	writer->failed = true;
	return false;
}

bool perf_writer_bytes(struct perf_writer *writer, const void *bytes, u64 size)
{
	if (writer->failed)
		return false;
	if (fwrite(bytes, 1, size, writer->out) != size)
		return failed(writer, errno);
	writer->at += size;
	return true;
}

bool perf_writer_seek(struct perf_writer *writer, u64 at)
{
	if (writer->failed)
		return false;
	if (fseek(writer->out, at, SEEK_SET))
		return failed(writer, errno);
	writer->at = at;
	return true;
}

/* For nobody but who makes it: it says where the kernel and all processes are. */
static FILE *file_new(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out && fd >= 0)
		close(fd);
	return out;
}

static FILE *memory_new(void)
{
	int fd = memfd_create("kipt", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out && fd >= 0)
		close(fd);
	return out;
}

bool perf_writer_open(struct perf_writer *writer, const char *path,
		      const char *file)
{
	static const u8 head[HEAD_BYTES];

	*writer = (struct perf_writer){ .path = path };
	writer->out = file ? file_new(file) : memory_new();
	if (!writer->out) {
		say_errno(errno, "cannot make %s", file ? file : path);
		return false;
	}
	if (perf_writer_bytes(writer, head, sizeof(head)))
		return true;
	perf_writer_drop(writer);
	return false;
}

static bool head_write(struct perf_writer *writer, u32 type, u16 misc, u32 size)
{
	struct perf_event_header header = {
		.type = type,
		.misc = misc,
		.size = EVENT_HEAD + size,
	};

	return perf_writer_bytes(writer, &header, sizeof(header));
}

bool perf_writer_event(struct perf_writer *writer, u32 type,
		       const struct perf_body *body)
{
	return head_write(writer, type, 0, body->size) &&
	       perf_writer_bytes(writer, body->bytes, body->size);
}

bool perf_writer_stamped(struct perf_writer *writer, u32 type, u16 misc,
			 struct perf_body *body, const struct perf_stamp *stamp,
			 u64 id)
{
	perf_put32(body, stamp->pid);
	perf_put32(body, stamp->tid);
	perf_put64(body, stamp->time);
	perf_put32(body, stamp->cpu);
	perf_put32(body, 0);
	perf_put64(body, id);
	return head_write(writer, type, misc, body->size) &&
	       perf_writer_bytes(writer, body->bytes, body->size);
}

bool perf_writer_trace(struct perf_writer *writer, u32 cpu, u32 index,
		       u64 offset, u64 size)
{
	u64 *traces = list_room(writer->traces, writer->trace_count,
				sizeof(*traces));
	struct perf_body body = { 0 };

	if (!traces)
		return failed(writer, ENOMEM);
	writer->traces = traces;
	traces[writer->trace_count++] = writer->at;
	perf_put64(&body, (size + 7) / 8 * 8);
	perf_put64(&body, offset);
	/* A number that only has to differ from that of other pieces. */
	perf_put64(&body, index + 1);
	perf_put32(&body, index);
	perf_put32(&body, -1);
	perf_put32(&body, cpu);
	perf_put32(&body, 0);
	return perf_writer_event(writer, PERF_EVENT_AUXTRACE, &body);
}

bool perf_writer_pad(struct perf_writer *writer)
{
	static const u8 zeros[8];

	return perf_writer_bytes(writer, zeros, -writer->at & 7);
}

/* Numbers of all events, then the events, which say where those are. */
static u64 attrs_write(struct perf_writer *writer,
		       const struct perf_write_attr *attrs, u32 count)
{
	u64 ids_at = writer->at, attrs_at;
	struct perf_event_attr attr;
	u64 section[2];
	u32 i;

	for (i = 0; i < count; i++)
		perf_writer_bytes(writer, attrs[i].ids,
				  attrs[i].id_count * sizeof(u64));
	attrs_at = writer->at;
	for (i = 0; i < count; i++) {
		attr = attrs[i].attr;
		attr.size = ATTR_BYTES;
		section[0] = ids_at;
		section[1] = attrs[i].id_count * sizeof(u64);
		ids_at += section[1];
		perf_writer_bytes(writer, &attr, ATTR_BYTES);
		perf_writer_bytes(writer, section, sizeof(section));
	}
	return attrs_at;
}

/* Where each is, and then all of them. */
static void features_write(struct perf_writer *writer,
			   const struct perf_features *features)
{
	u64 at = writer->at + features->count * SECTION_BYTES, section[2];
	u32 i;

	for (i = 0; i < features->count; i++) {
		section[0] = at;
		section[1] = features->list[i].size;
		at += section[1];
		perf_writer_bytes(writer, section, sizeof(section));
	}
	for (i = 0; i < features->count; i++)
		perf_writer_bytes(writer, features->list[i].bytes,
				  features->list[i].size);
}

static void file_head(struct perf_writer *writer, u64 end, u64 attrs_at,
		      u32 count, const struct perf_features *features)
{
	struct perf_body head = { 0 };
	u32 i;

	memcpy(head.bytes, "PERFILE2", 8);
	head.size = 8;
	perf_put64(&head, HEAD_BYTES);
	perf_put64(&head, ATTR_BYTES + SECTION_BYTES);
	perf_put64(&head, attrs_at);
	perf_put64(&head, (u64)count * (ATTR_BYTES + SECTION_BYTES));
	perf_put64(&head, HEAD_BYTES);
	perf_put64(&head, end - HEAD_BYTES);
	/* What old versions had here. */
	perf_put64(&head, 0);
	perf_put64(&head, 0);
	perf_put64(&head, features->bits);
	for (i = 1; i < FEATURE_WORDS; i++)
		perf_put64(&head, 0);
	perf_writer_seek(writer, 0);
	perf_writer_bytes(writer, head.bytes, head.size);
}

static void writer_free(struct perf_writer *writer)
{
	free(writer->traces);
	memset(writer, 0, sizeof(*writer));
}

/*
 * Features are looked for right where the events end, so attributes are
 * after them: perf takes both from wherever the head says.
 */
bool perf_writer_close(struct perf_writer *writer,
		       const struct perf_write_attr *attrs, u32 count)
{
	struct perf_features features = { 0 };
	u64 end = writer->at, attrs_at;
	bool ok;

	if (!perf_features_make(&features, writer, attrs, count))
		failed(writer, ENOMEM);
	features_write(writer, &features);
	perf_writer_pad(writer);
	attrs_at = attrs_write(writer, attrs, count);
	file_head(writer, end, attrs_at, count, &features);
	perf_features_free(&features);
	if (fclose(writer->out))
		failed(writer, errno);
	ok = !writer->failed;
	writer_free(writer);
	return ok;
}

void perf_writer_drop(struct perf_writer *writer)
{
	if (writer->out)
		fclose(writer->out);
	writer_free(writer);
}
