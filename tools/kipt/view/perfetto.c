// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of Perfetto's schema as bytes, see perfetto.h. A field of a message is its
 * number and the form of its value, then the value; a message within another is a value
 * with its length before it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/messages.h"
#include "../cli/output_file.h"
#include "../cli/printable.h"
#include "perfetto.h"

/* A message has two names at most. */
#define MESSAGE_BYTES	(2 * PERFETTO_NAME_MAX + 512)
/* All packets are of one sequence, whose names hold to its end. */
#define SEQUENCE	1
#define NAMES_BEGIN	1
#define NAMES_NEEDED	2

enum form {
	FORM_VARINT = 0,
	FORM_FIXED64 = 1,
	FORM_BYTES = 2,
};

/* Fields of messages, as the schema numbers them. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	ENTRY_IID = 1,
	ENTRY_NAME = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT = 3,
	EVENT_CATEGORY_IID = 3,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_VALUE = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
};

/* CounterDescriptor.Unit */
#define UNIT_COUNT	2

struct perfetto {
	struct fresh_file file;
};

struct message {
	u32 size;
	u8 bytes[MESSAGE_BYTES];
};

static void byte_put(struct message *m, u8 byte)
{
	if (m->size < sizeof(m->bytes))
		m->bytes[m->size++] = byte;
}

static void varint_put(struct message *m, u64 value)
{
	for (; value > 0x7f; value >>= 7)
		byte_put(m, value | 0x80);
	byte_put(m, value);
}

static void number_put(struct message *m, u32 field, u64 value)
{
	varint_put(m, field << 3 | FORM_VARINT);
	varint_put(m, value);
}

static void fixed_put(struct message *m, u32 field, u64 value)
{
	u32 i;

	varint_put(m, field << 3 | FORM_FIXED64);
	for (i = 0; i < 8; i++)
		byte_put(m, value >> 8 * i);
}

static void bytes_put(struct message *m, u32 field, const void *bytes, u32 size)
{
	varint_put(m, field << 3 | FORM_BYTES);
	varint_put(m, size);
	if (size > sizeof(m->bytes) - m->size)
		size = sizeof(m->bytes) - m->size;
	memcpy(m->bytes + m->size, bytes, size);
	m->size += size;
}

static void message_put(struct message *m, u32 field, const struct message *inner)
{
	bytes_put(m, field, inner->bytes, inner->size);
}

static void text_put(struct message *m, u32 field, const char *text)
{
	char plain[PERFETTO_NAME_MAX];

	if (!*text)
		return;
	snprintf(plain, sizeof(plain), "%s", text);
	plain_text(plain);
	bytes_put(m, field, plain, strlen(plain));
}

static void entry_put(struct message *m, u32 field, u64 iid, const char *name)
{
	struct message entry = { .size = 0 };

	number_put(&entry, ENTRY_IID, iid);
	text_put(&entry, ENTRY_NAME, name);
	message_put(m, field, &entry);
}

static void packet_write(struct perfetto *perfetto, struct message *packet, u32 flags)
{
	struct message head;

	head.size = 0;
	number_put(packet, PACKET_SEQUENCE, SEQUENCE);
	number_put(packet, PACKET_FLAGS, flags);
	varint_put(&head, TRACE_PACKET << 3 | FORM_BYTES);
	varint_put(&head, packet->size);
	if (fwrite(head.bytes, head.size, 1, perfetto->file.out) != 1 ||
	    fwrite(packet->bytes, packet->size, 1, perfetto->file.out) != 1)
		fresh_failed(&perfetto->file);
}

/* Drop what the file has, now that there is something to replace it. */
static void begin(struct perfetto *perfetto)
{
	static const char *const categories[] = {
		[PERFETTO_CALL] = "call",
		[PERFETTO_SEEN] = "seen",
		[PERFETTO_GOES_ON] = "goes-on",
		[PERFETTO_LOST] = "lost",
		[PERFETTO_INLINED] = "inlined",
	};
	struct message packet = { .size = 0 }, interned = { .size = 0 };
	u32 i;

	if (!fresh_begin(&perfetto->file))
		return;
	for (i = 1; i <= PERFETTO_INLINED; i++)
		entry_put(&interned, INTERNED_CATEGORIES, i, categories[i]);
	message_put(&packet, PACKET_INTERNED, &interned);
	packet_write(perfetto, &packet, NAMES_BEGIN);
}

struct perfetto *perfetto_create(const char *path)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto) {
		say_errno(ENOMEM, "cannot make %s", path);
		return NULL;
	}
	if (fresh_open(&perfetto->file, path))
		return perfetto;
	free(perfetto);
	return NULL;
}

/* What the track is of, in the field that is for it. */
static void subject_put(struct message *m, const struct perfetto_track *track)
{
	struct message subject = { .size = 0 };

	switch (track->kind) {
	case PERFETTO_PROCESS:
		number_put(&subject, PROCESS_PID, track->pid);
		text_put(&subject, PROCESS_NAME, track->name);
		message_put(m, TRACK_PROCESS, &subject);
		break;
	case PERFETTO_THREAD:
		number_put(&subject, THREAD_PID, track->pid);
		number_put(&subject, THREAD_TID, track->tid);
		text_put(&subject, THREAD_NAME, track->name);
		message_put(m, TRACK_THREAD, &subject);
		break;
	case PERFETTO_COUNTER:
		number_put(&subject, COUNTER_UNIT, UNIT_COUNT);
		message_put(m, TRACK_COUNTER, &subject);
		break;
	case PERFETTO_PLAIN:
		break;
	}
}

void perfetto_track(struct perfetto *perfetto, const struct perfetto_track *track)
{
	struct message packet = { .size = 0 }, descriptor = { .size = 0 };

	if (!perfetto->file.begun)
		begin(perfetto);
	if (perfetto->file.failed)
		return;
	number_put(&descriptor, TRACK_UUID, track->uuid);
	if (track->parent)
		number_put(&descriptor, TRACK_PARENT, track->parent);
	if (track->kind == PERFETTO_PLAIN || track->kind == PERFETTO_COUNTER)
		text_put(&descriptor, TRACK_NAME, track->name);
	subject_put(&descriptor, track);
	message_put(&packet, PACKET_TRACK, &descriptor);
	packet_write(perfetto, &packet, NAMES_NEEDED);
}

void perfetto_event(struct perfetto *perfetto, const struct perfetto_event *event)
{
	struct message packet, interned, body;

	if (perfetto->file.failed)
		return;
	packet.size = 0;
	interned.size = 0;
	body.size = 0;
	number_put(&packet, PACKET_TIMESTAMP, event->time);
	if (event->number && event->name) {
		entry_put(&interned, INTERNED_NAMES, event->number, event->name);
		message_put(&packet, PACKET_INTERNED, &interned);
	}
	number_put(&body, EVENT_TYPE, event->type);
	number_put(&body, EVENT_TRACK, event->track);
	if (event->category)
		number_put(&body, EVENT_CATEGORY_IID, event->category);
	if (event->number)
		number_put(&body, EVENT_NAME_IID, event->number);
	else if (event->name)
		text_put(&body, EVENT_NAME, event->name);
	if (event->type == PERFETTO_VALUE)
		number_put(&body, EVENT_VALUE, event->value);
	if (event->flow)
		fixed_put(&body, event->flow_ends ? EVENT_FLOW_END : EVENT_FLOW,
			  event->flow);
	message_put(&packet, PACKET_EVENT, &body);
	packet_write(perfetto, &packet, NAMES_NEEDED);
}

bool perfetto_close(struct perfetto *perfetto, bool whole)
{
	bool ok;

	if (!perfetto)
		return true;
	if (whole && !perfetto->file.begun)
		begin(perfetto);
	ok = fresh_close(&perfetto->file);
	free(perfetto);
	return ok;
}
